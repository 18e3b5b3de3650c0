"""Ages at a moment of which only bounds are known: they have bounds, too, behind every door."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from kubectl_lists import listed, take
from web_pages import pages_of

import plinian
from plinian.engine.kubernetes.units import parse_time
from plinian.engine.state.clock import UNDATED, TimeSpan, span_at
from plinian.replay.cli.main import app
from plinian.replay.logs.watch import Watch
from plinian.replay.render.amounts import age

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"

BORN = parse_time("2026-03-04T17:00:00Z")


def _at(text: str) -> int:
    return parse_time(f"2026-03-04T{text}Z")


@pytest.mark.parametrize(
    ("when", "shown"),
    [
        (span_at(_at("17:30:00")), "30m"),
        (TimeSpan(_at("17:30:00"), _at("17:40:00"), _at("17:35:00")), "30m-40m"),
        (TimeSpan(_at("17:30:01"), _at("17:30:41"), _at("17:30:21")), "30m"),
        (TimeSpan(_at("17:30:00"), None, _at("17:30:00")), ">30m"),
        (TimeSpan(None, _at("17:40:00"), _at("17:40:00")), "<40m"),
        (TimeSpan(_at("17:00:00"), _at("17:40:00"), _at("17:20:00")), "<40m"),
        (TimeSpan(_at("17:00:00"), None, _at("17:00:00")), "<unknown>"),
        (TimeSpan(_at("17:00:05"), _at("17:00:05.99"), _at("17:00:05.5")), "5s"),
        (UNDATED, "<unknown>"),
    ],
    ids=[
        *("exact", "bounds", "both round to the same", "no upper bound", "no lower bound"),
        *("made at the lower bound", "made there, no upper bound", "within a second", "nothing"),
    ],
)
def test_an_age_has_the_bounds_of_its_moment(when: TimeSpan, shown: str) -> None:
    assert age(when, BORN) == shown


def test_without_a_creation_there_is_no_age() -> None:
    assert age(span_at(BORN), None) == "<unknown>"


@pytest.fixture
def two_lists(tmp_path: Path) -> Path:
    """Return a log of two lists: a node changed at a time between them."""
    place = tmp_path / "log.db"
    node = listed("Node", "n1", 10, status={"allocatable": {"cpu": "8"}})
    later = listed("Node", "n1", 20, status={"allocatable": {"cpu": "4"}})
    group = listed("PodGroup", "g", 9, spec={"queue": "q", "minMember": 1})
    with plinian.open(place, create=True) as log:
        take(log, tmp_path / "first.json", [node, group], "2026-05-01T08:30:00Z")
        take(log, tmp_path / "second.json", [group, later], "2026-05-01T08:40:00Z")
    return place


BETWEEN = "30m-40m"


def printed(*arguments: str) -> str:
    """Return what a command prints."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_get_and_describe_print_the_bounds(two_lists: Path) -> None:
    table = printed("get", "nodes", "--at", "rv:20", "--log", str(two_lists))
    assert table.splitlines()[1].split()[3] == BETWEEN
    text = printed("describe", "node/n1", "--at", "rv:20", "--log", str(two_lists))
    assert f"({BETWEEN} before this moment)" in text
    ends = printed("get", "nodes", "--log", str(two_lists))
    assert ends.splitlines()[1].split()[3] == "40m", "the second list says when it was taken"


def test_a_watch_prints_the_bounds_of_each_change(two_lists: Path) -> None:
    with plinian.open(two_lists) as log:
        watch = Watch(log, ("", "Node"), log.moment("rv:10"), list)
        (seen,) = watch.changes(timeout=0)
    created = seen.entry.fact.created_at
    assert (seen.entry.revision, age(seen.when, created)) == (20, BETWEEN)


def test_servers_show_the_bounds(two_lists: Path) -> None:
    with pages_of(two_lists) as client:
        table = client.get("/at/rv:20/api/v1/nodes/n1", headers={"Accept": TABLE}).json()
        names = [one["name"] for one in table["columnDefinitions"]]
        assert table["rows"][0]["cells"][names.index("Age")] == BETWEEN
        groups = client.get("/@7/jobs.json").json()["data"]["lines"]["rows"]
        assert [one["age"] for one in groups] == [BETWEEN]
