"""When violations began and ended, as far as it is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kubectl_lists import Document, listed, pod_on, small_cluster, take, without

import plinian
from plinian.engine.kubernetes.units import parse_time
from plinian.replay.cli.main import app

FIRST, SECOND = "2026-05-04T10:00:00Z", "2026-05-04T10:10:00Z"


def test_the_begin_and_the_end_of_a_violation_have_both_bounds(demo_log: str) -> None:
    words = ["check", "--log", demo_log, "--settle", "0s", "-o", "json"]
    found = json.loads(CliRunner().invoke(app, words).stdout)["violations"]
    places = [place for one in found for place in (one["since"], one["until"]) if place]
    assert all(one["earliest"] <= one["time"] <= one["latest"] for one in places)
    assert any(one["earliest"] < one["latest"] for one in places)
    words = ["events", "--log", demo_log, "--kind", "pod.*", "-o", "json"]
    events = json.loads(CliRunner().invoke(app, words).stdout)
    versions = {one["position"]: one for one in events["items"]}
    known = [one for one in places if one["position"] in versions]
    assert known
    for one in known:
        version = versions[one["position"]]
        assert (one["earliest"], one["latest"]) == (version["earliest"], version["latest"])


def running(group_of: int = 4) -> list[Document]:
    """Return a cluster whose PodGroup says that it runs, with four of its pods on nodes."""
    spec, status = {"queue": "q", "minMember": group_of}, {"phase": "Running"}
    later = listed("Queue", "r", 50, spec={"weight": 1})
    group = listed("PodGroup", "g", 30, spec=spec, status=status)
    return [*without(small_cluster(), "g"), group, later, pod_on("n2", "e", 51)]


def added(item: Document) -> Document:
    """Return an object that was created between the lists."""
    item["metadata"]["creationTimestamp"] = "2026-05-04T10:08:00Z"
    return item


def violations(
    folder: Path, *lists: list[Document], revisions: tuple[str, ...] = ("", "")
) -> list[dict[str, Any]]:
    """Return what lists show that were fetched ten minutes after each other.

    :param revisions: of the lists; those of kubectl have none.
    """
    folder.mkdir(exist_ok=True)
    place = folder / "a.db"
    with plinian.open(place, create=True) as log:
        for items, at, revision in zip(lists, (FIRST, SECOND), revisions, strict=False):
            take(log, folder / f"{at[:16]}.json", items, at, revision)
    words = ["check", "--log", str(place), "--invariant", "I-12", "--settle", "0s", "-o", "json"]
    found: list[dict[str, Any]] = json.loads(CliRunner().invoke(app, words).stdout)["violations"]
    return found


def bounds(one: dict[str, Any]) -> tuple[float, float]:
    """Return between which lengths a violation lasted by the end of the log."""
    end = one["until"] or {"earliest": SECOND, "latest": SECOND.replace("00Z", "00.999999Z")}
    times = [end["earliest"], one["since"]["latest"], end["latest"], one["since"]["earliest"]]
    first, second, third, fourth = map(parse_time, times)
    return max(0, first - second) / 1e6, (third - fourth) / 1e6


def test_what_a_later_list_shows_did_not_last_since_before_the_earlier_one(tmp_path: Path) -> None:
    sound = running()
    broken = [*without(sound, "a", "b"), added(listed("Queue", "s", 90, spec={"weight": 1}))]
    (found,) = violations(tmp_path, sound, broken, revisions=("60", "95"))
    assert found["since"]["earliest"] >= FIRST
    least, most = bounds(found)
    assert least <= found["lasted_seconds"] <= most <= 601


def test_what_ended_between_two_lists_lasted_until_it_was_last_seen(tmp_path: Path) -> None:
    broken = without(running(), "a", "b")
    mended = [*broken, added(pod_on("n1", "x", 80)), added(pod_on("n1", "y", 81))]
    (alone,) = violations(tmp_path / "1", broken)
    (found,) = violations(tmp_path / "2", broken, mended)
    assert found["until"] is not None
    assert found["lasted_seconds"] == pytest.approx(alone["lasted_seconds"])
