"""Questions that cannot be asked so: the doors say why, and answer nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import plinian
from plinian.replay.cli.main import app


def said(*words: str) -> str:
    """Return what a command says that does not answer."""
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code in {1, 2}, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            "check --since @2000 --until @1000",
            "the range ends at @1000, before it begins at @2000 exchange --since and --until",
        ),
        (
            "fidelity --since rv:900 --until rv:800",
            "the range ends at rv:800, before it begins at rv:900",
        ),
        (
            "bisect --bound default/gpu-2-gpu-0 --at @1901",
            "--at has no effect on a search along the log",
        ),
        (
            "history node/node-4 --at @10",
            "it exists at another moment; see when: plinian history node/node-4",
        ),
        (
            "history job/gpu-2 --at @10",
            "it exists at another moment; see when: plinian history job/gpu-2 -n default",
        ),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(demo_log: str, words: str, text: str) -> None:
    assert text in said(*words.split(), "--log", demo_log)


def test_a_binary_file_is_called_binary_whatever_bytes_are_in_it(tmp_path: Path) -> None:
    place = tmp_path / "a.bin"
    place.write_bytes(b"\x00\x1b[0m\x1b[1m" * 100)
    text = said("why", "job/a", "-i", str(place))
    assert "cannot be ingested: it is binary" in text


def test_in_python_one_name_need_not_be_in_a_list(demo_log: str) -> None:
    with plinian.open(demo_log, read_only=True) as log:
        one, listed = (log.diff("@1901", "@2000", kinds=kinds) for kinds in ("pods", ["pods"]))
        assert one.changed == listed.changed


def test_in_python_a_wrong_parameter_is_named(demo_log: str) -> None:
    with plinian.open(demo_log, read_only=True) as log:
        with pytest.raises(TypeError, match=r"belief\(\).*'parts'"):
            log.belief(parts=["nodes"])  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=r"upgrade_check\(\): too many positional"):
            log.upgrade_check("v1.12.1", "v1.15.1")  # type: ignore[misc]
