"""What people see in Python: what a log holds, tables of objects, and errors that help."""

from __future__ import annotations

import inspect
import pickle
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from html_pages import Page

import plinian
from plinian import Log


@pytest.fixture
def log(demo_log: str) -> Iterator[Log]:
    with plinian.open(demo_log) as opened:
        yield opened


def said(fault: BaseException) -> str:
    """Return what a person sees of an error, below the traceback."""
    return "".join(traceback.format_exception_only(fault))


def test_a_log_prints_what_it_holds(log: Log) -> None:
    assert repr(log).startswith("<plinian.Log demo.db: 4,450 events of cluster default, from ")
    assert repr(log).endswith(" to 2026-11-21T01:55:19.207Z>")


def test_a_notebook_shows_what_a_log_holds_and_its_inputs(log: Log) -> None:
    page = Page(log._repr_html_())
    assert "demo.db: 4,450 events of cluster default" in page.text
    assert "audit.log.xz" in page.text


def test_a_closed_log_can_still_be_printed(demo_log: str) -> None:
    with plinian.open(demo_log) as log:
        pass
    assert repr(log).startswith("<plinian.Log demo.db: ")
    assert "demo.db" in log._repr_html_()


def test_objects_are_a_table_with_the_columns_of_get(log: Log) -> None:
    found = log.get("pods", at="2026-11-21T01:53:36Z")
    (table,) = found.tables().values()
    names = [column.name for column in table.columns]
    assert names[:6] == ["namespace", "name", "ready", "status", "restarts", "age"]
    assert names[-2:] == ["created", "object"]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows()]
    assert [row["name"] for row in rows] == [one["metadata"]["name"] for one in found]
    waiting = next(row for row in rows if row["name"] == "gpu-2-gpu-0")
    assert (waiting["status"], waiting["node"], waiting["queue"]) == ("Pending", None, "gold")
    assert "status" in {column.name for column in log.get("nodes").tables()["objects"].columns}


def test_a_table_of_objects_outlives_its_log(demo_log: str) -> None:
    with plinian.open(demo_log) as log:
        found = log.get("queues")
    assert found.tables()["objects"].count == len(found) == 5


def test_options_may_have_the_names_of_the_command(log: Log) -> None:
    by_plural = [one.position for one in log.events(kinds="pod.bound")]
    assert [one.position for one in log.events(kind="pod.bound")] == by_plural
    assert [one.position for one in log.events(object="queue/gold")]
    assert log.why(object="job/gpu-3").sentence == log.why("job/gpu-3").sentence
    assert log.check(invariant="I-01").violations == log.check(invariants=["I-01"]).violations


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda log: log.events(kindz="pod.bound"), "events() has no option 'kindz'; it takes: kinds"),
    (lambda log: log.get("pods", wher="ml"), "get(): got an unexpected keyword argument 'wher'"),
    (lambda log: log.get(), "it takes: kind, name, at, namespace"),
    (lambda log: log.why("gpu-3", when=1), "it takes: named, namespace"),
    (lambda log: log.branches("main"), "branches(): too many positional arguments"),
]


@pytest.mark.parametrize(("ask", "text"), WRONG)
def test_an_error_about_parameters_says_which_there_are(
    log: Log, ask: Callable[[Any], Any], text: str
) -> None:
    with pytest.raises(TypeError) as refused:
        ask(log)
    assert text in said(refused.value)
    assert "; it takes" in said(refused.value)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda: plinian.open("x.db", creat=True), "open(): got an unexpected keyword argument"),
        (lambda: plinian.demo(folder="x"), "it takes: place"),
        (plinian.simulate, "simulate(): missing a required argument: 'case'; it takes"),
        (lambda: plinian.lint("x", relase="v1.12.1"), "it takes: files, conf, releases"),
        (lambda: plinian.why("a", "b", "c"), "why(): too many positional arguments; it takes: "),
        (lambda: plinian.behaviours("v1.12.1", part="x", of=1), "it takes: release"),
        (lambda: plinian.web_page("x.db"), "missing a required argument: 'page'; it takes: log"),
    ],
)
def test_so_does_an_error_of_a_function(ask: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError) as refused:
        ask()
    assert text in said(refused.value)


def test_functions_stay_the_same_and_can_be_sent_to_other_processes() -> None:
    assert plinian.simulate is plinian.simulate
    for function in (plinian.open, plinian.simulate, plinian.demo):
        assert inspect.signature(function).parameters
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__doc__


def test_an_error_says_below_the_traceback_what_there_is(log: Log) -> None:
    with pytest.raises(plinian.UsageError) as refused:
        log.state("jobs")
    assert said(refused.value).endswith(
        "no table 'jobs'\nchoose from: queues, nodes, pods, podgroups\n"
    )
    assert str(refused.value) == "no table 'jobs'"
