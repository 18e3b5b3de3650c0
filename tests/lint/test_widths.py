"""On a terminal nothing that a person needs of a finding is left out, and no name is shortened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from linting import job, queue, task

from plinian.replay.lint.lint_task import LintTask, Report, check
from plinian.replay.lint.manifest_reading import read_files
from plinian.replay.render.lint import lint_lines
from plinian.replay.render.tables import Style

LONG = "research-and-development-of-large-models"
WORLD = (
    queue(LONG, capability={"cpu": "8"}, parrent="x"),
    queue("training", parent=LONG, capability={"cpu": "12"}),
    job("short", task("w", 2, "2x"), queue=LONG, minAvailable=9),
)
WIDTHS = (40, 60, 80, 120, 200)


@pytest.fixture(name="report")
def made_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text("\n".join(map(json.dumps, WORLD)), "utf-8")
    return check(LintTask(read_files(["a.json"])), [])


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_fact_of_a_finding_is_there_in_any_width(
    report: Report, width: int, *, wide: bool
) -> None:
    lines = list(lint_lines(report, wide=wide, style=Style(width=width, whole=wide)))
    text = " ".join("".join(lines).split())
    assert "…" not in text
    assert "columns not shown" not in text
    for finding in report.findings:
        issue = finding.issue
        facts = [finding.severity, str(issue.subject.place), str(issue.subject), finding.rule]
        facts += [issue.field, issue.effect, issue.now] if wide else []
        words = {word for fact in facts for word in fact.split()}
        assert words <= {*text.split()}, finding
    too_long = [line for line in lines if len(line.rstrip("\n")) > width]
    assert all(len(line.split()) == 1 for line in too_long), "only a word that is longer"


def test_a_table_that_fits_is_a_table(report: Report) -> None:
    plain = list(lint_lines(report))
    widest = max(map(len, plain))
    assert list(lint_lines(report, style=Style(width=widest))) == plain
    narrow = list(lint_lines(report, style=Style(width=60)))
    assert narrow[0].startswith("error  a.json:")
    assert not narrow[0].startswith("WHERE")


def test_of_a_sentence_no_word_is_lost(report: Report) -> None:
    for width in WIDTHS:
        text = " ".join("".join(lint_lines(report, style=Style(width=width))).split())
        if not text.startswith("WHERE"):
            assert all(finding.message in text for finding in report.findings)
