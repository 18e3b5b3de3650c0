"""Pages of clusters that are unusual: hostile names, no times, nothing that waits, a panic."""

from __future__ import annotations

from pathlib import Path

import pytest
from answer_worlds import NODES, listing, watched_log
from answer_worlds import log_of as made_log
from html_pages import Page

import plinian
from plinian.replay.facade.log import Log
from sessions import group, node, pod, queue
from tree import ROOT

EVIL = "<script>alert(1)</script>"
QUOTED = "\"'><img src=x onerror=alert(1)>{{ 7*7 }}"
ESCAPE = "\x1b[2J\u202ered"


@pytest.fixture
def text(tmp_path: Path) -> str:
    """Write a report on a cluster whose names are markup, templates and control characters."""
    tainted = node("n1", 1, labels={"zone": EVIL})
    tainted["spec"] = {"taints": [{"key": EVIL, "value": QUOTED, "effect": "NoSchedule"}]}
    waiting = group("pg", 1, "Inqueue", queue=QUOTED)
    waiting["status"]["conditions"] = [
        {"type": "Unschedulable", "status": "True", "message": f"{EVIL}{ESCAPE}", "reason": "x"}
    ]
    world = (tainted, queue(QUOTED), queue(EVIL), queue(ESCAPE), waiting, pod(EVIL, "pg", 4))
    with made_log(tmp_path, NODES, *world):
        pass
    with plinian.open(tmp_path / "log.db") as log:
        return log.report(why=["podgroup/ns/pg"])


def test_names_are_never_markup(text: str) -> None:
    page = Page(text)
    assert {"script", "img"}.isdisjoint(tag for tag, _ in page.elements)
    assert EVIL in page.text
    assert "{{ 7*7 }}" in page.text
    assert "<script" not in text


def test_control_characters_are_spelled_out(text: str) -> None:
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\u001b[2J\\u202ered" in text


def test_a_log_without_times_has_a_page_without_a_timeline(tmp_path: Path) -> None:
    with plinian.open(tmp_path / "empty.db", create=True) as log:
        (tmp_path / "none.json").write_bytes(listing([]))
        log.ingest(tmp_path / "none.json")
        page = Page(log.report())
    assert "The log holds no times, so there is no timeline." in page.text
    assert "Nothing waits at this moment." in page.text
    assert "The log holds no queue, job, PodGroup or node at this moment." in page.text


def test_a_quiet_log_says_that_nothing_waits(tmp_path: Path) -> None:
    with watched_log(tmp_path, NODES, ("ADDED", node("n1")), ("ADDED", queue("default"))) as log:
        place = tmp_path / "log.db"
        assert log.store.last() > 0
    with plinian.open(place) as opened:
        assert isinstance(opened, Log)
        page = Page(opened.report())
    assert "Nothing waits at this moment." in page.text
    assert "The log records no session from this moment on." in page.text
    assert page.tables["Nodes"][1][0] == "n1"


def test_a_long_table_is_cut_and_says_so(tmp_path: Path) -> None:
    world = [node(f"n{number:03}") for number in range(50)]
    with made_log(tmp_path, NODES, queue("default"), *world):
        pass
    with plinian.open(tmp_path / "log.db") as log:
        page = Page(log.report())
    assert len(page.tables["Nodes 40 of 50 rows"]) == 41


def test_a_panic_is_an_answer(tmp_path: Path) -> None:
    story = ROOT / "docs" / "articles" / "000-allocatable-shrinks.case.json"
    with plinian.open(tmp_path / "log.db", create=True) as log:
        log.ingest(story)
        page = Page(log.report(at="session:2", release="v1.8.2"))
    assert "The scheduler panics: resource is not sufficient to do operation" in page.text
    assert "1970" not in page.text.partition("What the cluster's scheduler did next")[0]
    assert "at api.(*Resource).Sub < api.(*NodeInfo).FutureIdle" in page.text
