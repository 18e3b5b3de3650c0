"""Since when an answer holds, if the log has gaps: nothing is said to have held within one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubectl_lists import Document, listed, take

import plinian
from plinian import Log
from plinian.replay.answers.answer import Why
from plinian.replay.answers.gaps import Hole, crossed
from plinian.replay.render.why import why_lines

FIRST, SECOND = "2026-05-04T10:00:00Z", "2026-05-04T10:10:00Z"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with plinian.open(tmp_path / "a.db", create=True) as opened:
        yield opened


def node(revision: int, cpu: int) -> Document:
    amounts = {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}
    ready = [{"type": "Ready", "status": "True"}]
    return listed(
        "Node",
        "n1",
        revision,
        status={"allocatable": amounts, "capacity": amounts, "conditions": ready},
    )


def pod(name: str, revision: int, cpu: int, on: str = "") -> Document:
    containers = [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}]
    spec = {
        "schedulerName": "volcano",
        "containers": containers,
        **({"nodeName": on} if on else {}),
    }
    status = {"phase": "Running" if on else "Pending"}
    found = listed("Pod", name, revision, spec=spec, status=status)
    found["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": name}
    return found


def group(name: str, revision: int, phase: str) -> Document:
    spec = {"queue": "q", "minMember": 1}
    return listed("PodGroup", name, revision, spec=spec, status={"phase": phase})


def cluster() -> list[Document]:
    """Return a node that a pod fills, and a pod that waits for it."""
    return [
        node(10, 8),
        listed("Queue", "q", 20, spec={"weight": 1}, status={"state": "Open"}),
        *(group("big", 30, "Running"), group("p", 31, "Inqueue")),
        *(pod("big", 41, 6, "n1"), pod("p", 42, 4)),
    ]


def grown() -> list[Document]:
    """Return a list of later: the node had more room at rv:60, and has two more pods."""
    same = [one for one in cluster() if one["kind"] != "Node"]
    more = [group("x", 65, "Running"), pod("x", 70, 8, "n1")]
    return [*same, node(60, 16), *more]


def asked(log: Log, folder: Path, second: list[Document], at: str = "end") -> Why:
    for number, (items, time) in enumerate(((cluster(), FIRST), (second, SECOND))):
        take(log, folder / f"{number}.json", items, time)
    return log.why("pod/ml/p", at=at)


def asked_json(found: Why) -> list[dict[str, Any]]:
    stages: list[dict[str, Any]] = plinian.document(found)["stages"]
    return stages


def test_an_answer_within_a_gap_is_no_stage(log: Log, tmp_path: Path) -> None:
    found = asked(log, tmp_path, grown())
    assert [one.cause for one in found.stages] == [found.cause], "at rv:60 the log knows a mix"
    assert found.stages[0].gaps == ((42, 70),)
    assert "or earlier, not known between rv:42 and rv:70: for the" in "".join(why_lines(found))
    assert [one["gaps"] for one in asked_json(found)] == [[[42, 70]]]


def test_an_answer_that_began_in_a_gap_has_the_bounds_of_the_gap(log: Log, tmp_path: Path) -> None:
    found = asked(log, tmp_path, [*grown()[:-2], group("y", 80, "Inqueue"), pod("y", 81, 1)])
    first, last = found.stages
    assert (first.cause, last.cause) == ("queue-full q", "next-session")
    assert (last.since.at, last.since.not_at, last.since.gap) == (found.asked.at, "rv:42", True)
    assert not last.since.exact
    when = "a time between 2026-05-04T10:00:00Z and 10:10:00Z"
    lines = "".join(why_lines(found))
    assert (
        f"from between rv:42 and {last.since.at}, where the log has a gap ({when}): for the"
        in lines
    )
    since = asked_json(found)[-1]["since"]
    assert (since["earliest"], since["latest"]) == (FIRST, "2026-05-04T10:10:00.999999Z")
    assert (since["gap"], since["not_at"]) == (True, "rv:42")


def test_an_answer_that_is_asked_within_a_gap_began_in_it(log: Log, tmp_path: Path) -> None:
    found = asked(log, tmp_path, grown(), at="rv:60")
    assert found.not_known, "and that is said first"
    assert [one.since.at for one in found.stages] == ["rv:42", "rv:60"]
    assert found.stages[-1].since.gap


def test_gaps_between_two_revisions_are_those_with_any_part_there() -> None:
    holes = (Hole(10, 20), Hole(30, 40))
    assert crossed(holes, 10, 20) == holes[:1]
    assert crossed(holes, 20, 30) == ()
    assert crossed(holes, 15, None) == holes
    assert crossed(holes, 1, 10) == ()
