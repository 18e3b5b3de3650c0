"""CPUs of containers as a node's kubelet would choose them, and nodes that would admit a pod."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from plinian.engine.kubernetes.objects import Container, Numatopology, decode
from plinian.engine.model.panic import Panic
from plinian.engine.session.framework import immediate
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.plugins.numaaware.cpu_assignment import take_by_topology
from plinian.engine.session.plugins.numaaware.cpu_topology import CpuDetails, parse_cpu_set
from plinian.engine.session.plugins.numaaware.hints import (
    BEST_EFFORT,
    RESTRICTED,
    SINGLE_NUMA_NODE,
    Hint,
    admit,
    assign_cpus,
    best_hint,
    cpu_hints,
)
from plinian.engine.session.plugins.numaaware.scheduler_numa import SchedulerNuma
from sessions import Document, document, group, node, opened, pod, queue, tasks

NUMA_POLICY = "volcano.sh/numa-topology-policy"


def report(
    name: str = "n1",
    free: str = "0-7",
    policy: str = SINGLE_NUMA_NODE,
    manager: str = "static",
    **spec: Any,
) -> Document:
    """Return the report of a node with two sockets, each a NUMA node of two cores of two threads.

    CPU 0 and 1 are the first core's.
    """
    detail = {
        str(cpu): {"numa": cpu // 4, "socket": cpu // 4, "core": cpu // 2} for cpu in range(8)
    }
    return document(
        "Numatopology",
        name,
        spec={
            "policies": {"CPUManagerPolicy": manager, "TopologyManagerPolicy": policy},
            "numares": {"cpu": {"allocatable": free, "capacity": 8}},
            "cpuDetail": detail,
            **spec,
        },
    )


def topology(**rest: Any) -> Numatopology:
    """Return the report as an object."""
    return decode(Numatopology, report(**rest))


DETAILS = CpuDetails.of(topology())
ALL = DETAILS.cpus


def container(cpu: str) -> Container:
    """Return a container that asks for CPUs."""
    return decode_container({"name": "c", "resources": {"requests": {"cpu": cpu}}})


def decode_container(given: dict[str, Any]) -> Container:
    """Return a container."""
    return msgspec.convert(given, Container)


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", set()),
        ("3", {3}),
        ("0-2,5", {0, 1, 2, 5}),
        ("2-1", set()),
        ("a", set()),
        ("-1", set()),
        ("1,,2", set()),
    ],
)
def test_lists_of_cpus(text: str, cpus: set[int]) -> None:
    assert parse_cpu_set(text) == cpus


@pytest.mark.parametrize(
    ("available", "needed", "taken"),
    [
        ("0-7", 0, ""),
        ("0-7", 2, "0-1"),
        ("0-7", 3, "0-2"),
        ("0-7", 4, "0-3"),
        ("0-7", 8, "0-7"),
        ("1-7", 1, "1"),
        ("1-7", 2, "2-3"),
        # A core counts as whole if a CPU of its number is free: core 1 (CPU 3), not core 2.
        ("1,3,4-7", 2, "1,3"),
        ("1,3,5", 2, "1,3"),
        ("4-7", 4, "4-7"),
    ],
)
def test_whole_sockets_then_whole_cores_then_what_fills_cores(
    available: str, needed: int, taken: str
) -> None:
    assert take_by_topology(DETAILS, parse_cpu_set(available), needed) == parse_cpu_set(taken)


def test_too_few_cpus_are_none() -> None:
    assert take_by_topology(DETAILS, parse_cpu_set("0-2"), 4) is None


def test_hints_are_all_sets_of_numa_nodes_that_have_enough() -> None:
    assert cpu_hints(container("2"), DETAILS, ALL) == [
        Hint(0b01, True),
        Hint(0b10, True),
        Hint(0b11, False),
    ]
    assert cpu_hints(container("2"), DETAILS, parse_cpu_set("0,4-7")) == [
        Hint(0b10, True),
        Hint(0b11, False),
    ]
    assert cpu_hints(container("5"), DETAILS, ALL) == [Hint(0b11, True)]
    # Two would do on one NUMA node if it were free: to have both is not preferred.
    assert cpu_hints(container("2"), DETAILS, parse_cpu_set("0,4")) == [Hint(0b11, False)]
    assert cpu_hints(container("2"), DETAILS, parse_cpu_set("0")) == []


@pytest.mark.parametrize("cpu", ["1500m", "0"])
def test_a_container_without_whole_cpus_does_not_care(cpu: str) -> None:
    assert cpu_hints(container(cpu), DETAILS, ALL) is None


def test_the_narrowest_preferred_hint_is_best_and_of_equals_the_lesser_numbers() -> None:
    numa_nodes = [0, 1]
    assert best_hint(numa_nodes, [Hint(0b11, True), Hint(0b10, True), Hint(0b01, True)]) == Hint(
        0b01, True
    )
    assert best_hint(numa_nodes, [Hint(0b01, False), Hint(0b11, True)]) == Hint(0b11, True)
    assert best_hint(numa_nodes, [Hint(0b100, True)]) == Hint(0b11, False)
    assert best_hint(numa_nodes, []) == Hint(0b11, False)
    assert best_hint(numa_nodes, [Hint(None, True)]) == Hint(0b11, True)


SPLIT = [Hint(0b11, False)]


@pytest.mark.parametrize(
    ("policy", "hints", "admitted"),
    [
        ("none", SPLIT, True),
        (BEST_EFFORT, SPLIT, True),
        (BEST_EFFORT, [], True),
        (RESTRICTED, SPLIT, False),
        (RESTRICTED, [], False),
        (RESTRICTED, None, True),
        (RESTRICTED, [Hint(0b11, True)], True),
        (SINGLE_NUMA_NODE, [Hint(0b11, True)], False),
        (SINGLE_NUMA_NODE, [Hint(0b10, True), Hint(0b11, False)], True),
        (SINGLE_NUMA_NODE, None, True),
    ],
)
def test_what_each_policy_admits(
    policy: str,
    hints: list[Hint] | None,
    admitted: bool,  # noqa: FBT001
) -> None:
    assert admit(policy, [0, 1], hints)[1] is admitted


def test_cpus_are_given_from_the_hints_numa_nodes_first() -> None:
    assert assign_cpus(container("2"), Hint(0b10, True), DETAILS, ALL) == {4, 5}
    assert assign_cpus(container("5"), Hint(0b10, True), DETAILS, ALL) == {4, 5, 6, 7, 0}
    assert assign_cpus(container("9"), Hint(0b11, True), DETAILS, ALL) == frozenset()


def test_a_report_of_no_less_is_taken_over_and_one_of_less_where_it_leaves_less() -> None:
    numa = SchedulerNuma.of(topology(free="0-7"))
    numa.free["cpu"] -= {0, 1, 2}
    assert numa.refresh(topology(free="0-7")) is numa
    # Six are free by the report, five by the scheduler's account.
    assert numa.refresh(topology(free="2-7")).free["cpu"] == {3, 4, 5, 6, 7}
    assert numa.refresh(topology(free="4-7")).free["cpu"] == {4, 5, 6, 7}
    assert numa.refresh(topology(free="0-7")).free["cpu"] == ALL


def test_a_new_resource_in_a_report_of_less_is_taken_over_or_fatal() -> None:
    numa = SchedulerNuma.of(topology(free="0-7"))
    less = topology(free="2-7")
    more = msgspec.structs.replace(
        less,
        spec=msgspec.structs.replace(
            less.spec, numares={**less.spec.numares, "gpu": less.spec.numares["cpu"]}
        ),
    )
    with pytest.raises(Panic, match="nil pointer") as caught:
        numa.refresh(more, crashes=True)
    assert caught.value.place[0] == "api.(*NodeInfo).RefreshNumaSchedulerInfoByCrd"
    numa = SchedulerNuma.of(topology(free="0-7"))
    assert set(numa.refresh(more).free) == {"cpu", "gpu"}


def task(name: str, cpu: str = "2", policy: str = SINGLE_NUMA_NODE, **rest: Any) -> Document:
    """Return a guaranteed pod."""
    amounts = {"cpu": cpu, "memory": "1Gi"}
    given = pod(name, "g", annotations={NUMA_POLICY: policy} if policy else {}, **rest)
    given["spec"]["containers"] = [
        {"name": "main", "resources": {"requests": amounts, "limits": amounts}}
    ]
    return given


def numa_session(
    *documents: Document, process: ProcessState | None = None, release: str = "v1.12.1"
) -> Session:
    """Return a session with the plugin."""
    objects = (*documents, queue("default"), group("g"))
    return opened("numa-aware", *objects, process=process, release=release)[0]


def reasons(ssn: Session, name: str) -> list[str]:
    """Return why each node does not take a pod; an empty text says that it does."""
    verdicts = None
    for _, predicate in ssn.registry.flat("Predicate"):
        verdicts = predicate.function(*tasks(ssn, name), np.arange(len(ssn.nodes)))
    if verdicts is None:
        return [""] * len(ssn.nodes)
    return [
        " ".join(one.message for one in ssn.reasons.objections(verdict))
        for verdict in verdicts.tolist()
    ]


def preempted_on(ssn: Session, name: str) -> list[bool]:
    """Return whether nodes are preempted on for a pod."""
    ((_, predicate),) = ssn.registry.flat("Predicate")
    verdicts = predicate.function(*tasks(ssn, name), np.arange(len(ssn.nodes)))
    return [not ssn.reasons.stops_preemption(verdict) for verdict in verdicts.tolist()]


def scores(ssn: Session, name: str) -> list[float] | None:
    """Return the scores of the nodes for a pod that was filtered just before."""
    ((_, batch),) = ssn.registry.flat("BatchNodeOrder")
    scored = batch.function(*tasks(ssn, name), np.arange(len(ssn.nodes)))
    return None if scored is None else scored.tolist()


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        ([], "numa info is empty"),
        ([report(manager="none")], "cpu manager policy isn't static"),
        (
            [report(policy=RESTRICTED)],
            "task topology policy[single-numa-node] is different with node[restricted]",
        ),
        ([report(free="")], "cpu allocatable map is empty"),
        ([report(free="0,4")], "container main cannot be assigned by numa"),
        ([report()], ""),
    ],
)
def test_a_pod_with_a_policy_needs_a_node_with_the_same(
    documents: list[Document], reason: str
) -> None:
    assert reasons(numa_session(node("n1"), *documents, task("p")), "p") == [reason]


@pytest.mark.parametrize(("release", "word"), [("v1.11.2", "polocy"), ("v1.12.0", "policy")])
def test_what_was_misspelt(release: str, word: str) -> None:
    ssn = numa_session(node("n1"), report(policy=RESTRICTED), task("p"), release=release)
    why = f"task topology {word}[single-numa-node] is different with node[restricted]"
    assert reasons(ssn, "p") == [why]


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        ("v1.8.2", "plugin numa-aware predicates failed for task p container main on node n1"),
        ("v1.9.1", "plugin numa-aware predicates failed for task p container main on node n1"),
        ("v1.10.0", "container main cannot be assigned by numa"),
    ],
)
def test_who_is_not_admitted_was_told_the_plugin_the_task_and_the_node(
    release: str, reason: str
) -> None:
    ssn = numa_session(node("n1"), report(free="0,4"), task("p"), task("q"), release=release)
    assert reasons(ssn, "p") == [reason]
    assert reasons(ssn, "q") == [reason.replace("task p", "task q")]
    assert preempted_on(ssn, "p") == [False]


@pytest.mark.parametrize(
    ("release", "there"),
    [("v1.8.2", [False]), ("v1.9.0", [True]), ("v1.9.1", [True]), ("v1.10.0", [False])],
)
def test_only_v1_9_preempts_on_a_node_that_cannot_serve_a_policy(
    release: str, there: list[bool]
) -> None:
    ssn = numa_session(node("n1"), report(policy=RESTRICTED), task("p"), release=release)
    assert preempted_on(ssn, "p") == there


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        ([], ""),
        ([report(manager="none", free="")], ""),
        ([report(policy="none", free="")], ""),
        ([report(free="0,4")], "container main cannot be assigned by numa"),
    ],
)
def test_a_pod_without_a_policy_must_only_be_admitted(
    documents: list[Document], reason: str
) -> None:
    assert reasons(numa_session(node("n1"), *documents, task("p", policy="")), "p") == [reason]


def test_pods_that_are_not_guaranteed_are_left_alone() -> None:
    burstable = pod("p", "g", annotations={NUMA_POLICY: SINGLE_NUMA_NODE})
    assert reasons(numa_session(node("n1"), burstable), "p") == [""]


def test_where_neither_nodes_nor_pods_have_policies_nothing_is_asked() -> None:
    ssn = numa_session(node("n1"), task("p", policy="none"))
    assert (
        ssn.registry.flat("Predicate")
        == ssn.registry.flat("BatchNodeOrder")
        == ssn.registry.event_handlers
        == []
    )


def test_what_the_system_keeps_is_not_given() -> None:
    kept = report(free="0-3", resReserved={"cpu": "2500m"})
    ssn = numa_session(node("n1"), kept, task("p", "2"))
    assert reasons(ssn, "p") == ["container main cannot be assigned by numa"]
    unknown = report(free="0-3", resReserved={"cpu": "2500m", "pods": "1"})
    assert reasons(numa_session(node("n1"), unknown, task("p", "2")), "p") == [""]


def test_nodes_that_need_fewer_numa_nodes_score_higher() -> None:
    ssn = numa_session(
        *(node(name) for name in ("n1", "n2")),
        report("n1", policy=BEST_EFFORT, free="0,1,4,5"),
        report("n2", policy=BEST_EFFORT),
        task("p", "4", BEST_EFFORT),
        task("q", "4", ""),
    )
    assert reasons(ssn, "p") == ["", ""]
    assert scores(ssn, "p") == [0, 50]
    assert reasons(ssn, "q") == ["", ""]
    assert scores(ssn, "q") is None


def test_scoring_a_node_without_a_report_beside_one_that_admits_is_a_crash() -> None:
    nodes = (node(name) for name in ("n1", "n2"))
    ssn = numa_session(*nodes, report("n2"), task("p"), release="v1.9.1")
    assert preempted_on(ssn, "p") == [True, True]
    with pytest.raises(Panic, match="nil pointer dereference") as caught:
        scores(ssn, "p")
    assert caught.value.fatal, "it happens in a goroutine"


def test_cpus_that_were_given_are_taken_until_the_placing_is_undone() -> None:
    ssn = numa_session(node("n1"), report(free="0-3"), task("p", "3"), task("q", "2"))
    one, two = tasks(ssn, "p", "q")
    assert reasons(ssn, "p") == [""]
    immediate.pipeline(ssn, one, 0)
    assert reasons(ssn, "q") == ["container main cannot be assigned by numa"]
    ssn.registry.notify_deallocated(one, 0)
    assert reasons(ssn, "q") == [""]
    assert two != one


def test_what_was_given_is_kept_from_session_to_session() -> None:
    process = ProcessState()
    documents = (node("n1"), report(free="0-3"), task("p", "3"), task("q", "2"))
    ssn, plugins = opened("numa-aware", *documents, queue("default"), group("g"), process=process)
    assert reasons(ssn, "p") == [""]
    immediate.pipeline(ssn, *tasks(ssn, "p"), 0)
    plugins["numa-aware"].on_session_close(ssn)
    later = numa_session(*documents, process=process)
    assert reasons(later, "q") == ["container main cannot be assigned by numa"]


def test_running_tasks_that_come_back_are_given_nothing() -> None:
    running = task("p", "3", on="n1")
    ssn = numa_session(node("n1"), report(free="0-3"), running, task("q", "3"))
    ssn.registry.notify_allocated(*tasks(ssn, "p"), 0)
    assert reasons(ssn, "q") == [""]
