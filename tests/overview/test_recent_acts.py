"""What was done shortly before a moment, also where only lists tell."""

from __future__ import annotations

from plinian.engine.events import Reference
from plinian.engine.state.facts import NodeFact, QueueFact
from plinian.replay.overview.recent_acts import _changes

NODE = Reference(kind="Node", name="n1")
QUEUE = Reference(group="scheduling.volcano.sh", kind="Queue", name="q")
CORE = 1000.0


def test_changes_of_a_node_are_words() -> None:
    before = NodeFact(ready="True", allocatable={"cpu": 8 * CORE, "memory": 2.0**30})
    after = NodeFact(ready="Unknown", unschedulable=True, allocatable={"cpu": 4 * CORE})
    assert list(_changes(before, after, NODE)) == [
        "cordons node n1",
        "sets Ready from True to Unknown on node n1",
        "sets allocatable on node n1: cpu from 8 to 4 and memory from 1Gi to nothing",
    ]
    assert "uncordons node n1" in list(_changes(after, before, NODE))


def test_changes_of_a_queue_are_words_and_its_counts_are_none() -> None:
    before = QueueFact(weight=1, state="Open", running=1, allocated={"cpu": CORE})
    after = QueueFact(weight=3, state="Closing", parent="root", deserved={"cpu": 2 * CORE})
    assert list(_changes(before, after, QUEUE)) == [
        "sets state from Open to Closing on queue q",
        "sets weight from 1 to 3 on queue q",
        "sets parent from nothing to root on queue q",
        "sets deserved on queue q: cpu from nothing to 2",
    ]
    assert not list(_changes(before, QueueFact(weight=1, state="Open"), QUEUE))
