"""What was done shortly before a moment."""

from __future__ import annotations

from plinian.engine.events import Event, Reference
from plinian.engine.state.facts import NodeFact, QueueFact
from plinian.replay.moments.actors import AttributedEvent
from plinian.replay.overview.recent_acts import UNDATED, _changes, _of_process

CORE = 1000.0


def test_changes_of_a_node_are_words() -> None:
    before = NodeFact(ready="True", allocatable={"cpu": 8 * CORE, "memory": 2.0**30})
    after = NodeFact(ready="Unknown", unschedulable=True, allocatable={"cpu": 4 * CORE})
    assert list(_changes(before, after)) == [
        "cordons",
        "sets Ready from True to Unknown on",
        "sets allocatable cpu from 8 to 4 and memory from 1Gi to nothing on",
    ]
    assert "uncordons" in list(_changes(after, before))


def test_changes_of_a_queue_are_words_and_its_counts_are_none() -> None:
    before = QueueFact(weight=1, state="Open", running=1, allocated={"cpu": CORE})
    after = QueueFact(weight=3, state="Closing", parent="root", deserved={"cpu": 2 * CORE})
    assert list(_changes(before, after)) == [
        "sets state from Open to Closing on",
        "sets weight from 1 to 3 on",
        "sets parent from nothing to root on",
        "sets deserved cpu from nothing to 2 on",
    ]
    assert not list(_changes(before, QueueFact(weight=1, state="Open")))


def test_a_collection_is_named_by_the_plural_of_its_kind() -> None:
    about = Reference("scheduling.k8s.io", "PriorityClass")
    event = Event(kind="collection.deleted", reference=about, payload=b"{}")
    known = AttributedEvent(
        position=1, branch="main", recorded_at=0, event=event, span=UNDATED, actor="mary"
    )
    assert _of_process(known).verb == "deletes a collection of priorityclasses"
