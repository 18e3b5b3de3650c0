"""The tables of docs/performance.md are what the file of figures holds."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import figures
from pages import text_of

MISSED = {
    "benchmark": "append",
    "figure": "ingest, CPU per event",
    "value": 27.34,
    "unit": "µs",
    "limit": 25.0,
    "better": "less",
    "note": "  of 200,000 lines",
}
KEPT = {**MISSED, "figure": "fold", "value": 91000.0, "unit": "events/s", "better": "more"}
REMARK = {**MISSED, "figure": "the machine is busy", "unit": ""}


def data() -> dict[str, Any]:
    return dict(json.loads(text_of("docs/benchmarks.json")))


def test_the_page_shows_the_figures_of_the_file() -> None:
    page = text_of("docs/performance.md")
    assert figures.page(page, data()) == page, "run: python tools/figures.py"


def test_every_table_of_the_file_is_on_the_page_once() -> None:
    marks = re.findall(r"<!-- figures (\S+) -->", text_of("docs/performance.md"))
    assert sorted(marks) == sorted({*data()["tables"], "machine"})


def test_the_sizes_on_the_page_of_limits_are_figures_of_the_page() -> None:
    (table,) = re.findall(
        r"<!-- sizes -->\n(.*?)<!-- end -->", text_of("docs/limits.md"), re.DOTALL
    )
    sizes = re.findall(r"^\| (?!what|---).* \| (.*) \|$", table, re.MULTILINE)
    assert len(sizes) > 8
    shown = text_of("docs/performance.md")
    assert [one for said in sizes for one in said.split("; ") if one not in shown] == []


def test_a_stale_page_is_noticed_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "DOCS", tmp_path)
    (tmp_path / "benchmarks.json").write_text(text_of("docs/benchmarks.json"), "utf-8")
    (tmp_path / "performance.md").write_text("<!-- figures log -->\n7 µs\n<!-- end -->\n", "utf-8")
    for arguments, status in ((["--check"], 1), ([], 0), (["--check"], 0)):
        monkeypatch.setattr(sys, "argv", ["figures.py", *arguments])
        assert figures.main() == status
    assert "| what | measured |" in (tmp_path / "performance.md").read_text("utf-8")


def test_a_run_replaces_the_rows_of_its_benchmarks_and_leaves_the_others() -> None:
    before = data()
    after = figures.with_run(before, [MISSED, KEPT, REMARK])["tables"]
    rows = {row["what"]: row for row in after["log"]["rows"] if row["benchmark"] == "append"}
    assert rows == {
        "ingest, CPU per event": {
            "benchmark": "append",
            "what": "ingest, CPU per event",
            "measured": "27.3 µs, of 200,000 lines",
            "limit": "25 µs",
            "kept": "missed",
        },
        "fold": {
            "benchmark": "append",
            "what": "fold",
            "measured": "91,000 events/s, of 200,000 lines",
            "limit": "25 events/s",
            "kept": "kept",
        },
    }
    assert after["session"] == before["tables"]["session"]
    others = [row for row in before["tables"]["log"]["rows"] if row["benchmark"] != "append"]
    assert [row for row in after["log"]["rows"] if row["benchmark"] != "append"] == others


def test_the_prose_of_the_page_names_no_times() -> None:
    """A figure in a sentence is forgotten when the benchmarks run again."""
    prose = re.sub(
        r"<!-- figures .*?<!-- end -->", "", text_of("docs/performance.md"), flags=re.DOTALL
    )
    assert re.findall(r"\d+(?:\.\d+)? (?:µs|ms|s CPU|events/s)\b", prose) == []
