"""A form of output is no file: ``-o json`` of a command that writes a file is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

WRITERS = {
    ("report",): "report.html",
    ("pack",): "incident.plinian",
    ("plot", "queues"): "queues.svg",
    ("kubeconfig",): "past.kubeconfig",
}
FORMS = ("json", "yaml", "wide", "name", "text", "csv", "html", "jsonpath={.items}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", WRITERS, ids=" ".join)
def test_a_form_after_o_is_refused_where_a_file_is_written(
    run: Run, demo_log: Path, tmp_path: Path, command: tuple[str, ...], form: str
) -> None:
    result = run(*command, "-o", form, "--log", str(demo_log))
    assert result.exit_code == 2, result.output
    assert f"{form} is a form of output, and no file" in result.stderr
    assert f"-o {WRITERS[command]}" in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_an_export_to_the_name_of_a_form_is_refused(
    run: Run, demo_log: Path, tmp_path: Path
) -> None:
    result = run("export", "json", "--log", str(demo_log))
    assert result.exit_code == 2
    assert "plinian export events.ndjson" in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["report.json", "REPORT.PDF", "a/report.yaml"])
def test_a_report_is_not_written_to_a_file_of_another_sort(
    run: Run, demo_log: Path, tmp_path: Path, name: str
) -> None:
    result = run("report", "-o", name, "--log", str(demo_log))
    assert result.exit_code == 2
    assert "is not that of an HTML page" in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_this_name_in_a_folder_can_be_named(
    run: Run, demo_log: Path, tmp_path: Path
) -> None:
    result = run("export", "./json", "--log", str(demo_log))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "json").exists()
