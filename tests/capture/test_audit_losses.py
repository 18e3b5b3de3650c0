"""What a watch shows and an audit log does not is a suspected loss, after a while, and once."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.events import Event, Reference
from plinian.engine.events.payloads import AuditLacked
from plinian.replay.capture.audit_losses import AuditLosses


def change(revision: int | None, kind: str = "pod.updated", cluster: str = "c") -> Event:
    noun = "Pod" if kind.startswith("pod") else "Queue"
    return Event(
        kind=kind, reference=Reference("", noun), payload=b"{}", revision=revision, cluster=cluster
    )


class Compared:
    """Losses with a clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.losses = AuditLosses(lambda: self.now, source="audit", cluster="c", grace=60)

    def found(self, at: float) -> list[tuple[str, int, int, int]]:
        self.now = at
        lacked = [
            msgspec.json.decode(event.payload, type=AuditLacked) for event in self.losses.found()
        ]
        return [(each.listed, each.changes, each.first, each.last) for each in lacked]


def test_a_change_without_a_record_is_found_after_the_grace_and_once() -> None:
    compared = Compared()
    for revision in (10, 11, 12, 13):
        compared.losses.watched(change(revision))
    for revision in (10, 12):
        compared.losses.recorded(change(revision))
    assert compared.found(59) == []
    assert compared.found(60) == [("Pod", 2, 11, 13)]
    assert compared.found(300) == []


def test_a_record_that_comes_late_or_early_is_none() -> None:
    compared = Compared()
    compared.losses.recorded(change(10))
    compared.losses.recorded(change(11))
    compared.now = 50
    compared.losses.watched(change(11))
    compared.losses.watched(change(12))
    compared.now = 100
    compared.losses.recorded(change(12))
    assert compared.found(200) == []


def test_kinds_that_are_not_recorded_and_what_was_before_are_no_losses() -> None:
    compared = Compared()
    compared.losses.watched(change(5))
    compared.losses.recorded(change(10))
    compared.losses.watched(change(11, "queue.updated"))
    compared.losses.watched(change(12, "pod.observed"))
    compared.losses.watched(change(None, "watch.followed"))
    assert compared.found(100) == []


def test_a_record_of_an_epoch_that_ended_says_nothing_of_this_one() -> None:
    compared = Compared()
    compared.losses.recorded(change(10))
    compared.losses.watched(change(11))
    compared.losses.recorded(change(11, cluster="before"))
    assert compared.found(100) == [("Pod", 1, 11, 11)]


@given(
    st.sets(st.integers(2, 50)), st.sets(st.integers(2, 50)), st.sampled_from(["watch", "audit"])
)
def test_whatever_the_order(watched: set[int], recorded: set[int], first: str) -> None:
    compared = Compared()
    compared.losses.recorded(change(1))

    def watch() -> None:
        for revision in watched:
            compared.losses.watched(change(revision))

    if first == "watch":
        watch()
    for revision in recorded:
        compared.losses.recorded(change(revision))
    if first == "audit":
        watch()
    missing = watched - recorded
    expected = [("Pod", len(missing), min(missing), max(missing))] if missing else []
    assert compared.found(60) == expected
