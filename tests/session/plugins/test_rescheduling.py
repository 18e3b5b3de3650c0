"""Whom rescheduling would evict, and when."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.session.framework.process_parts import NodeUsage, ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.plugins.rescheduling import read_strategies, read_thresholds
from sessions import NOW, Document, group, names, node, opened, pod, queue

MINUTE = 60_000_000
CONF = """
actions: shuffle
tiers:
- plugins:
  - name: rescheduling
    arguments:
      interval: {interval}
      metricsPeriod: {period}
      strategies:
      - name: lowNodeUtilization
        params:
          thresholds: {{cpu: 20, memory: 20}}
          targetThresholds: {{cpu: {target}, memory: 50}}
"""
BUSY = (node("n1", cpu=10, memory="10Gi"), node("n2", cpu=10, memory="10Gi"))


def with_capacity(document: Document) -> Document:
    """Return a node whose capacity is what it allocates."""
    document["status"]["capacity"] = document["status"]["allocatable"]
    return document


def victims(
    *documents: Document,
    usage: dict[str, tuple[float, float]],
    interval: str = "0s",
    period: str = "10m",
    target: int = 50,
    process: ProcessState | None = None,
    now: int = NOW,
) -> list[str]:
    """Return the names of the pods to be evicted, given the use of cpu and memory in percent."""
    process = process or ProcessState()
    process.external.node_usage = {
        name: NodeUsage(NOW, {"10m": cpu}, {"10m": memory}) for name, (cpu, memory) in usage.items()
    }
    ssn, _ = opened(
        CONF.format(interval=interval, period=period, target=target),
        *map(with_capacity, BUSY),
        queue("default"),
        group("g"),
        *documents,
        process=process,
        now=now,
    )
    return evicted(ssn)


def evicted(ssn: Session) -> list[str]:
    """Return whom the plugins want evicted of the running pods."""
    running = [task for task, info in enumerate(ssn.tasks.info) if info.node_name]
    chosen = [
        task for _, fns in ssn.registry.flat("VictimTasks") for fn in fns for task in fn(running)
    ]
    return names(ssn, chosen)


PODS = tuple(
    pod(f"p{number}", "g", cpu=1, on="n1", requests={"memory": "1Gi"}, priority=number)
    for number in range(1, 5)
)


def test_pods_of_least_priority_go_until_the_node_is_below_its_target() -> None:
    # Each takes 10 percent of cpu and of memory.
    assert victims(*PODS, usage={"n1": (70, 0), "n2": (0, 0)}) == ["p1", "p2", "p3"]


def test_nobody_goes_where_no_node_is_idle_or_none_busy() -> None:
    assert victims(*PODS, usage={"n1": (70, 0), "n2": (20, 0)}) == []
    assert victims(*PODS, usage={"n1": (50, 50), "n2": (0, 0)}) == []
    assert victims(*PODS, usage={"n1": (19, 19), "n2": (0, 0)}) == []


def test_nobody_goes_when_the_idle_nodes_are_full_to_the_point() -> None:
    # n2 may take 2 cores until it is at 20 percent, its target: exactly two pods.
    chosen = victims(*PODS, usage={"n1": (70, 0), "n2": (0, 0)}, target=20)
    assert chosen == ["p1", "p2"]


def test_a_node_that_is_cordoned_is_not_idle() -> None:
    cordoned = {**BUSY[1], "spec": {"unschedulable": True}}
    assert victims(*PODS, cordoned, usage={"n1": (70, 0), "n2": (0, 0)}) == []


def test_of_equal_priority_the_lower_class_of_service_goes_first() -> None:
    guaranteed = pod("a", "g", on="n1")
    amounts = {"cpu": "1", "memory": "1Gi"}
    guaranteed["spec"]["containers"] = [
        {"name": "c", "resources": {"requests": amounts, "limits": amounts}}
    ]
    burstable = pod("b", "g", cpu=1, on="n1")
    best_effort = pod("c", "g", cpu=0, on="n1")
    documents = (guaranteed, burstable, best_effort)
    assert victims(*documents, usage={"n1": (90, 0), "n2": (0, 0)}) == ["c", "b", "a"]


def test_with_another_period_than_that_of_the_scheduler_all_nodes_are_idle() -> None:
    assert victims(*PODS, usage={"n1": (70, 0), "n2": (0, 0)}, period="5m") == []


def test_it_works_when_the_interval_has_passed() -> None:
    process = ProcessState()
    usage = {"n1": (70.0, 0.0), "n2": (0.0, 0.0)}

    def at(minutes: int) -> bool:
        now = NOW + minutes * MINUTE
        return bool(victims(*PODS, usage=usage, interval="5m", process=process, now=now))

    assert [at(minutes) for minutes in (0, 4, 5, 9, 10, 11)] == [
        *(False, False, True),
        *(False, False, True),
    ]


def test_an_interval_that_is_none_is_five_minutes() -> None:
    process = ProcessState()
    usage = {"n1": (70.0, 0.0), "n2": (0.0, 0.0)}
    assert not victims(*PODS, usage=usage, interval="soon", process=process)
    assert victims(*PODS, usage=usage, interval="soon", process=process, now=NOW + 5 * MINUTE)


def test_by_default_every_node_is_idle() -> None:
    ssn, _ = opened("rescheduling", *BUSY, queue("default"), now=NOW)
    assert ssn.registry.flat("VictimTasks") == []
    later, _ = opened(
        "rescheduling", *BUSY, queue("default"), process=ssn.process, now=NOW + 6 * MINUTE
    )
    assert evicted(later) == []
    assert later.errors == [
        "rescheduling: no usage of nodes was recorded; none is taken into account"
    ]


@pytest.mark.parametrize(
    ("given", "strategies"),
    [
        ({}, [("lowNodeUtilization", {})]),
        ({"strategies": []}, [("lowNodeUtilization", {})]),
        ({"strategies": "x"}, [("lowNodeUtilization", {})]),
        ({"strategies": [{"Name": "a", "params": {"b": 1}}]}, [("a", {"b": 1})]),
        ({"strategies": [{"name": 1}, "x", {"name": "a", "params": 1}, {}]}, [("", {})]),
    ],
)
def test_strategies(given: dict[str, Any], strategies: list[tuple[str, Any]]) -> None:
    assert read_strategies(given) == strategies


@pytest.mark.parametrize(
    ("given", "thresholds"),
    [({}, {}), ({"t": {"cpu": 5}}, {"cpu": 5}), ({"t": 5}, None)],
)
def test_thresholds(given: dict[str, Any], thresholds: dict[str, int] | None) -> None:
    assert read_thresholds(given, "t") == thresholds


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"t": {"cpu": 5.5}}, "interface conversion: interface {} is float64, not int"),
        ({"t": {5: 5}}, "interface conversion: interface {} is int, not string"),
        ({"t": {"cpu": "5"}}, "interface conversion: interface {} is string, not int"),
    ],
)
def test_thresholds_of_another_type_crash(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Panic) as caught:
        read_thresholds(given, "t")
    assert caught.value.message == message


def test_an_interval_that_is_no_text_crashes() -> None:
    with pytest.raises(Panic, match="is int, not string"):
        opened(CONF.format(interval=300, period="10m", target=50), queue("default"))
