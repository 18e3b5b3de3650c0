"""What took something away from a number, where only complete lists and requests tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubectl_lists import (
    Document,
    audited,
    listed,
    pod_on,
    small_cluster,
    take,
    take_audit,
    without,
)

import plinian
from plinian import Log
from plinian.replay.answers.blame_losses import ASKED
from plinian.replay.answers.blamed import Blame

FIRST, AT, LATER = "2026-05-04T10:00:00Z", "2026-05-04T10:01:00Z", "2026-05-04T10:10:00Z"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with plinian.open(tmp_path / "a.db", create=True) as opened:
        take(opened, tmp_path / "list.json", cluster(), FIRST)
        yield opened


def cluster() -> list[Document]:
    """Return a queue below another one, with pods that were there in the order of their names."""
    inside = listed("Queue", "q", 20, spec={"weight": 1, "parent": "top"})
    top = listed("Queue", "top", 19, spec={"weight": 1})
    waits = {"queue": "q", "minMember": 1, "minResources": {"cpu": "2"}}
    enqueued = listed("PodGroup", "h", 31, spec=waits, status={"phase": "Inqueue"})
    return [*without(small_cluster(), "q"), top, inside, enqueued]


def later(log: Log, folder: Path, *gone: str) -> int:
    """Take a list without some objects; return the position of the list of pods."""
    take(log, folder / "later.json", without(cluster(), *gone), LATER)
    lists = log.events(kinds=["list.observed"])
    return max(one.position for one in lists if one.event.reference.kind == "Pod")


def last(found: Blame) -> tuple[str, str, int, str]:
    """Return what changed a number last: event, object, position, and how."""
    assert found.last is not None
    return found.last.kind, found.last.about, found.last.position, found.changed


@pytest.mark.parametrize(
    ("named", "number", "change"),
    [
        ("queue/q", "allocated.cpu", "-1"),
        ("queue/q", "pods", "-1"),
        ("queue/top", "allocated.cpu", "-1"),
        ("node/n1", "used.cpu", "-1"),
        ("node/n1", "idle.cpu", "+1"),
        ("podgroup/ml/g", "members.Running", "-1"),
    ],
)
def test_the_list_that_lacks_a_pod_took_it_away(
    log: Log, tmp_path: Path, named: str, number: str, change: str
) -> None:
    at = later(log, tmp_path, "a")
    assert last(log.blame(named, number)) == ("list.observed", "pod/ml/a", at, change)
    assert log.blame(named, number, at=FIRST).changed == change.translate({43: 45, 45: 43})


def test_the_request_before_the_list_says_who_and_when(log: Log, tmp_path: Path) -> None:
    take_audit(log, tmp_path / "audit.log", [audited("delete", "pods", "a", AT)])
    (request,) = log.events(kinds=["request.accepted"])
    assert log.blame("node/n1", "used.cpu").changed == "+1"  # Nothing shows that it went.
    later(log, tmp_path, "a")
    for named, number, change in (("node/n1", "used.cpu", "-1"), ("node/n1", "idle.cpu", "+1")):
        found = log.blame(named, number)
        assert last(found) == ("request.accepted", "pod/ml/a", request.position, change)
        assert found.last is not None
        assert found.last.by == "alice"


def test_a_request_before_a_list_that_still_has_the_pod_is_not_the_cause(
    log: Log, tmp_path: Path
) -> None:
    early = audited("delete", "pods", "a", "2026-05-04T09:59:00Z")
    take_audit(log, tmp_path / "audit.log", [early])
    at = later(log, tmp_path, "a")
    assert last(log.blame("node/n1", "used.cpu")) == ("list.observed", "pod/ml/a", at, "-1")


def test_a_deletion_without_a_revision_took_it_away(log: Log, tmp_path: Path) -> None:
    line = audited("delete", "pods", "a", AT)
    line["responseStatus"] = {"code": 200, "status": "Success"}
    take_audit(log, tmp_path / "audit.log", [line])
    (gone,) = log.events(kinds=["pod.deleted"])
    expected = ("pod.deleted", "pod/ml/a", gone.position, "-1")
    assert last(log.blame("queue/q", "allocated.cpu")) == expected


def test_an_addition_after_it_is_the_last_change(log: Log, tmp_path: Path) -> None:
    more = [*without(cluster(), "a"), pod_on("n1", "e", 60)]
    take(log, tmp_path / "later.json", more, LATER)
    take(log, tmp_path / "last.json", [*more, pod_on("n1", "f", 70)], "2026-05-04T10:20:00Z")
    found = log.blame("node/n1", "used.cpu")
    assert (found.value, last(found)[1], found.changed) == ("3", "pod/ml/f", "+1")


def test_an_enqueued_podgroup_that_a_list_lacks_took_its_amount_away(
    log: Log, tmp_path: Path
) -> None:
    later(log, tmp_path, "h")
    kind, about, _, change = last(log.blame("queue/q", "inqueue.cpu"))
    assert (kind, about, change) == ("list.observed", "podgroup/ml/h", "-2")


def test_of_very_many_pods_the_last_that_went_is_found(log: Log, tmp_path: Path) -> None:
    many = [pod_on("n1", f"p{number}", 100 + number) for number in range(2 * ASKED)]
    take(log, tmp_path / "1.json", [*cluster(), *many], "2026-05-04T10:10:00Z")
    left = [*cluster(), many[0], many[ASKED + 1]]
    take(log, tmp_path / "2.json", left, "2026-05-04T10:20:00Z")
    take(log, tmp_path / "3.json", [*cluster(), many[0]], "2026-05-04T10:30:00Z")
    take(log, tmp_path / "4.json", cluster(), "2026-05-04T10:40:00Z")
    found = log.blame("node/n1", "used.cpu")
    assert (found.value, last(found)[1], found.changed) == ("2", "pod/ml/p0", "-1")
