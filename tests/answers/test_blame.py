"""What a number is made of, in the order in which it came about, and what changed it last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import NODES, watched_log

from plinian.engine.errors import UsageError
from plinian.engine.state.truth_tables import node_table, queue_table
from plinian.replay.answers.blame import blame_at
from plinian.replay.answers.blamed import Blame
from plinian.replay.logs.log import Log
from plinian.replay.questions.diff import DiffQuestion
from sessions import group, node, pod, queue


def done(name: str, of: str) -> Any:
    """Return a pod that has ended."""
    return pod(name, of, 4, "n1", status={"phase": "Succeeded"})


EVENTS: list[tuple[str, Any]] = [
    ("ADDED", queue("top", capability={"cpu": "8"})),
    ("ADDED", queue("leaf", parent="top")),
    ("ADDED", node("n1", 16, more={"nvidia.com/gpu": "4"})),
    ("ADDED", group("a", 1, "Inqueue", queue="leaf", minResources={"cpu": "3"})),
    ("ADDED", group("b", 1, "Running", queue="top")),
    ("ADDED", pod("early", "b", 4)),
    ("ADDED", pod("waits", "a", 3)),
    ("MODIFIED", pod("early", "b", 4, "n1")),
    ("ADDED", pod("late", "b", 2, "n1", requests={"nvidia.com/gpu": "1"})),
    ("MODIFIED", done("early", "b")),
    ("MODIFIED", queue("top", capability={"cpu": "6"})),
]
"""Revisions 1 to 11: at 8 and 9 pods get a node, at 10 one of them ends."""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with watched_log(tmp_path, NODES, *EVENTS) as made:
        yield made


def asked(log: Log, named: str, number: str, at: str = "end") -> Blame:
    return blame_at(log, log.object(named), number, at, namespace="ns")


def parts(found: Blame) -> list[tuple[str, str, int | None]]:
    """Return the parts: amount, object, revision."""
    return [(one.amount, one.about, one.event.revision) for one in found.parts]


def test_the_pods_that_a_queue_has_allocated_in_the_order_in_which_they_got_a_node(
    log: Log,
) -> None:
    found = asked(log, "queue/top", "allocated.cpu", "rv:9")
    assert found.value == "6"
    assert parts(found) == [("4", "pod/ns/early", 8), ("2", "pod/ns/late", 9)]
    assert found.last is not None
    assert (found.last.revision, found.changed) == (9, "+2")


def test_a_pod_that_ended_is_what_changed_the_number_last(log: Log) -> None:
    found = asked(log, "queue/top", "allocated.cpu")
    assert found.value == "2"
    assert parts(found) == [("2", "pod/ns/late", 9)]
    assert found.last is not None
    assert (found.last.revision, found.last.about, found.changed) == (10, "pod/ns/early", "-4")


def test_sums_are_those_that_get_shows(log: Log) -> None:
    for at in ("rv:8", "rv:9", "rv:11"):
        truth = log.truth(at)
        queues, nodes = queue_table(truth), node_table(truth)
        row = queues.names.index("top")
        cpu = queues.resources.index("cpu")
        assert asked(log, "queue/top", "allocated.cpu", at).value == str(
            int(queues.allocated[row, cpu] / 1000)
        )
        assert asked(log, "queue/top", "pods", at).value == str(queues.pods[row])
        used = nodes.used[0, nodes.resources.index("cpu")]
        assert asked(log, "node/n1", "used.cpu", at).value == str(int(used / 1000))


def test_what_is_idle_on_a_node_is_what_it_has_less_what_pods_take(log: Log) -> None:
    found = asked(log, "node/n1", "idle.nvidia.com/gpu")
    assert found.value == "3"
    assert parts(found) == [("4", "node/n1", 3), ("-1", "pod/ns/late", 9)]
    assert found.last is not None
    assert (found.last.revision, found.changed) == (9, "-1")
    assert asked(log, "node/n1", "idle.cpu").changed == "+4"


def test_what_is_reserved_for_enqueued_jobs_of_queues_below(log: Log) -> None:
    found = asked(log, "queue/top", "inqueue.cpu")
    assert (found.value, parts(found)) == ("3", [("3", "podgroup/ns/a", 4)])
    assert found.how == (
        "minResources of the PodGroups of queue top and of the 1 queue below it in phase Inqueue"
    )


def test_get_describe_and_diff_count_the_pods_of_queues_below_as_well(tmp_path: Path) -> None:
    inside = pod("inside", "a", 3, "n1")
    with watched_log(tmp_path, NODES, *EVENTS, ("ADDED", inside)) as more:
        for queue, cpu, pods in (("top", "5", 2), ("leaf", "3", 1)):
            assert asked(more, f"queue/{queue}", "allocated.cpu").value == cpu
            table = queue_table(more.truth("end"))
            row = table.names.index(queue)
            assert table.allocated[row, table.resources.index("cpu")] == int(cpu) * 1000
            assert table.pods[row] == pods
        changed = {one.name: one for one in DiffQuestion("rv:11").ask(more).queues}
        assert sorted(changed) == ["leaf", "top"]


@pytest.mark.parametrize("number", ["capability.cpu", "spec.capability.cpu"])
def test_a_field_has_the_history_of_its_values(log: Log, number: str) -> None:
    found = asked(log, "queue/top", number)
    assert found.value == "6"
    assert [(one.before, one.amount, one.event.revision) for one in found.parts] == [
        ("<none>", "8", 1),
        ("8", "6", 11),
    ]
    assert found.changed == "8 → 6"


def test_a_field_with_dots_in_its_name(log: Log) -> None:
    assert asked(log, "node/n1", "allocatable.nvidia.com/gpu").value == "4"


@pytest.mark.parametrize(
    ("named", "number", "advice"),
    [
        ("queue/top", "nonsense", "allocated"),
        ("queue/top", "allocated", "write allocated.cpu"),
        ("queue/top", "pods.cpu", "write pods"),
        ("queue/top", "deserved.cpu", "sessions compute it; see it with: plinian why queue/top -v"),
    ],
)
def test_a_number_that_does_not_exist(log: Log, named: str, number: str, advice: str) -> None:
    with pytest.raises(UsageError) as caught:
        asked(log, named, number)
    assert advice in caught.value.now


def test_what_a_podgroup_holds_is_that_of_its_pods(log: Log) -> None:
    found = asked(log, "podgroup/b", "allocated.cpu", "rv:9")
    assert (found.value, parts(found)) == ("6", [("4", "pod/ns/early", 8), ("2", "pod/ns/late", 9)])
    assert asked(log, "podgroup/b", "pods").value == "1"
    assert asked(log, "podgroup/a", "allocated.cpu").value == "0"


def test_the_members_of_a_podgroup_with_a_status_since_they_have_it(log: Log) -> None:
    found = asked(log, "podgroup/b", "members.Succeeded")
    assert (found.value, parts(found)) == ("1", [("1", "pod/ns/early", 10)])
    waiting = asked(log, "podgroup/a", "members.Pending")
    assert (waiting.value, parts(waiting)) == ("1", [("1", "pod/ns/waits", 7)])


def test_what_a_node_gets_back_is_that_of_pods_that_are_being_deleted(tmp_path: Path) -> None:
    going = pod("late", "b", 2, "n1")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    with watched_log(tmp_path, NODES, *EVENTS, ("MODIFIED", going)) as log:
        found = asked(log, "node/n1", "releasing.cpu")
        assert (found.value, parts(found)) == ("2", [("2", "pod/ns/late", 12)])
        assert asked(log, "node/n1", "releasing.cpu", "rv:11").value == "0"


@pytest.mark.parametrize(
    ("named", "number", "named_instead"),
    [
        ("podgroup/a", "weight", "members, minMember, minResources"),
        ("node/n1", "deserved.cpu", "idle, pods, releasing"),
        ("queue/top", "nonsense", "allocated, capability, deserved"),
    ],
)
def test_an_unknown_number_names_those_of_the_kind(
    log: Log, named: str, number: str, named_instead: str
) -> None:
    with pytest.raises(UsageError) as fault:
        asked(log, named, number)
    assert named_instead in fault.value.now


def test_a_field_that_the_object_does_not_have(log: Log) -> None:
    with pytest.raises(UsageError) as fault:
        asked(log, "podgroup/b", "minResources.cpu")
    assert fault.value.what == "no version of podgroup/ns/b in the log sets minResources.cpu"


@pytest.mark.parametrize("number", ["allocated.nvidia.com/gpu", r"allocated.nvidia\.com/gpu"])
def test_a_dot_in_a_name_may_be_escaped(log: Log, number: str) -> None:
    assert asked(log, "queue/top", number).value == "1"
    assert asked(log, "node/n1", number.replace("allocated", "allocatable")).value == "4"


@pytest.mark.parametrize(
    ("named", "number", "what", "advice"),
    [
        ("queue/top", "allocated.foo", "has a resource 'foo'", "there are: cpu, memory, nvidia"),
        ("queue/top", "inqueue.foo", "has a resource 'foo'", "there are: cpu"),
        ("node/n1", "idle.gpu", "has a resource", "did you mean idle.nvidia.com/gpu?"),
        ("node/n1", "idle.nvidia.com/gpus", "has a resource", "did you mean idle.nvidia.com/gpu?"),
        ("podgroup/b", "allocated.foo", "has a resource 'foo'", "there are: cpu"),
        ("queue/top", "capability.foo", "has a resource 'foo'", "there are: cpu"),
        ("queue/top", "allocted.cpu", "has no number", "did you mean allocated?"),
        ("queue/top", "spec.capabilty.cpu", "sets spec.capabilty", "mean spec.capability?"),
        ("queue/top", "spec.capability.foo", "sets spec.capability.foo", "there are: cpu"),
        ("node/n1", "status.allocatble.cpu", "sets status", "mean status.allocatable?"),
        ("podgroup/b", "members.Runing", "status 'Runing'", "did you mean members.Running?"),
    ],
)
def test_a_name_that_is_unknown_is_an_error_that_lists_what_there_is(
    log: Log, named: str, number: str, what: str, advice: str
) -> None:
    with pytest.raises(UsageError) as fault:
        asked(log, named, number)
    assert what in fault.value.what
    assert advice in fault.value.now


def test_what_is_there_and_not_used_is_0(log: Log) -> None:
    assert asked(log, "queue/leaf", "allocated.nvidia.com/gpu").value == "0"
    assert asked(log, "podgroup/a", "members.Running").value == "0"
