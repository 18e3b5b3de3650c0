"""Which groups of nodes a queue's pods may run on, and which they prefer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plinian.engine.kubernetes.objects import Pod, decode
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.nodes.node_selection import NodeSelection, Purpose
from plinian.engine.session.plugins.nodegroup import NOT_SATISFIED, QueueGroupAffinity, pod_queue
from plinian.engine.session.reasons.statuses import PASS, NodeRefusal, StatusCode
from sessions import Document, group, node, opened, pod, queue, tasks

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
GROUPS = ("", "a", "b", "c", "d")
NODES = [
    node(f"n{number}", labels={"volcano.sh/nodegroup-name": name} if name else {})
    for number, name in enumerate(GROUPS)
]


def affinity(**rules: list[str]) -> dict[str, Any]:
    """Return the affinity of a queue's spec."""
    return {
        "nodeGroupAffinity": {
            REQUIRED: rules.get("required", []),
            PREFERRED: rules.get("preferred", []),
        },
        "nodeGroupAntiAffinity": {
            REQUIRED: rules.get("anti_required", []),
            PREFERRED: rules.get("anti_preferred", []),
        },
    }


def asked(*documents: Document, of: str = "q") -> tuple[list[bool], list[float], Session]:
    """Return which nodes take a pod of a queue, in order of their groups, and their scores."""
    marked = pod("p", "g", annotations={"volcano.sh/queue-name": of} if of else {})
    ssn, _ = opened("nodegroup", *NODES, *documents, queue("default"), group("g"), marked)
    (task,), rows = tasks(ssn, "p"), np.arange(len(NODES))
    ((_, predicate),) = ssn.registry.flat("Predicate")
    ((_, order),) = ssn.registry.flat("NodeOrder")
    verdicts = predicate.function(task, rows)
    if verdicts is None:
        verdicts = np.zeros(len(rows), dtype=np.int32)
    for verdict in set(verdicts.tolist()) - {PASS}:
        assert ssn.reasons.statuses(verdict) == (
            NodeRefusal(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, NOT_SATISFIED),
        )
    return (verdicts == PASS).tolist(), order.function(task, rows).tolist(), ssn


def test_groups_that_are_required_or_preferred_are_taken_and_no_others() -> None:
    taken, scores, _ = asked(queue("q", affinity=affinity(required=["a"], preferred=["a", "b"])))
    assert taken == [False, True, True, False, False]
    assert scores == [0, 150, 50, 0, 0]


def test_what_must_be_avoided_beats_what_is_required() -> None:
    rules = affinity(required=["a", "b"], anti_required=["b", "c"])
    assert asked(queue("q", affinity=rules))[0] == [False, True, False, False, False]


def test_what_should_be_avoided_is_taken_whatever_else_is_said_but_scored_down() -> None:
    rules = affinity(required=["a", "b"], anti_required=["c"], anti_preferred=["b", "c", "d"])
    taken, scores, _ = asked(queue("q", affinity=rules))
    assert taken == [False, True, True, True, True]
    assert scores == [0, 100, -1, -1, -1]


def test_a_queue_without_affinity_takes_no_node() -> None:
    assert asked(queue("q"))[:2] == ([False] * 5, [0.0] * 5)


def test_a_queue_that_there_is_not_takes_no_node() -> None:
    assert asked(of="gone")[:2] == ([False] * 5, [0.0] * 5)


def test_a_pod_that_names_no_queue_runs_anywhere() -> None:
    assert asked(queue("q"), of="")[:2] == ([True] * 5, [0.0] * 5)


@pytest.mark.parametrize(
    ("labels", "annotations", "name"),
    [
        ({"volcano.sh/queue-name": "l"}, {"volcano.sh/queue-name": "a"}, "l"),
        ({}, {"volcano.sh/queue-name": "a", "scheduling.volcano.sh/queue-name": "b"}, "a"),
        ({}, {"scheduling.volcano.sh/queue-name": "b"}, "b"),
        ({"scheduling.volcano.sh/queue-name": "l"}, {}, ""),
        ({"volcano.sh/queue-name": ""}, {"volcano.sh/queue-name": "a"}, ""),
    ],
)
def test_the_queue_is_what_the_pod_says(
    labels: dict[str, str], annotations: dict[str, str], name: str
) -> None:
    said = {"metadata": {"name": "p", "labels": labels, "annotations": annotations}}
    assert pod_queue(decode(Pod, said)) == name


def test_no_affinity_takes_nothing() -> None:
    assert not QueueGroupAffinity.of(None).takes("")


@pytest.mark.parametrize(
    ("plugins", "release", "found"),
    [
        ("nodegroup predicates", "v1.9.1", []),
        ("nodegroup predicates", "v1.10.0", [0]),
        ("nodegroup predicates", "v1.10.2", [0]),
        ("nodegroup predicates", "v1.11.0", []),
        ("predicates nodegroup", "v1.10.0", []),
    ],
)
def test_in_v1_10_plugins_after_it_filter_nothing(
    plugins: str, release: str, found: list[int]
) -> None:
    picky = pod("p", "g")
    picky["spec"]["nodeSelector"] = {"disk": "ssd"}
    seen = (node("n0"), queue("default"), group("g"), picky)
    ssn, _ = opened(plugins, *seen, release=release)
    (task,) = tasks(ssn, "p")
    assert voting.pre_predicate(ssn, task) is None
    rows, _ = NodeSelection(ssn).predicate(task, np.arange(1), Purpose.ALLOCATE, None)
    assert rows.tolist() == found
