"""A scheduler that starts knows what its API server has, and nothing of an earlier process."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded_cluster import RecordedCluster

import plinian
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import PodBound, RequestAccepted
from sessions import document, group, node, pod, queue

EARLIER = "11111111-1111-4111-8111-111111111111"
SESSION = "22222222-2222-4222-8222-222222222222"
BRANCH = "tried"
RUNS = {"running": 1}
OF_JOB = {"volcano.sh/job-name": "j", "volcano.sh/job-namespace": "ns"}


def wrote_running(made: RecordedCluster, second: float, running: int = 0) -> None:
    """Add what the session wrote at its end: the PodGroup runs, and so many of its pods."""
    why = "tasks in gang are ready to be scheduled"
    told = {"type": "Scheduled", "status": "True", "reason": why, "transitionID": SESSION}
    status = {"running": running, "conditions": [told]} if running else {"conditions": [told]}
    made.saw(second, group("g", phase="Running", status=status), verb="updated")
    made.closed(SESSION, second + 0.05)


def evicting() -> RecordedCluster:
    """Return a cluster whose scheduler decided to evict the last pod, and wrote nothing of it."""
    made = RecordedCluster()
    made.saw(
        1,
        queue("default"),
        node("n1"),
        group("g", phase="Running", status=RUNS),
        pod("p", "g", on="n1"),
    )
    made.opened(EARLIER, 10)
    made.decided(EARLIER, "evict", 10.1, task="ns/p", reason="reclaim")
    return made


@pytest.mark.parametrize("started", ["scheduler", ""])
def test_a_new_process_takes_over_nothing_that_an_earlier_one_decided(
    tmp_path: Path, started: str
) -> None:
    made = evicting()
    if started:
        made.started(19, started)
    made.opened(SESSION, 20)
    wrote_running(made, 20.05, running=1)
    with made.log(tmp_path / "log.db") as log:
        found = log.fidelity()
    assert [one.exact for one in found.sessions[1:]] == [bool(started)], found.sessions[1]


def test_a_controller_that_starts_makes_no_new_scheduler(tmp_path: Path) -> None:
    made = evicting()
    made.started(19, "controller")
    made.opened(SESSION, 20)
    wrote_running(made, 20.05, running=1)
    with made.log(tmp_path / "log.db") as log:
        found = log.fidelity()
    assert [one.exact for one in found.sessions[1:]] == [False]


def spread() -> RecordedCluster:
    """Return a cluster with a job whose Service only a request shows, and a pod of it on n1."""
    made = RecordedCluster()
    hosts = [
        node(name, cpu, labels={"kubernetes.io/hostname": name})
        for name, cpu in (("n1", 8), ("n2", 4))
    ]
    plugins = {"spec": {"plugins": {"svc": []}}}
    made.saw(1, queue("default"), *hosts, group("g", phase="Running"))
    made.saw(1, document("Job", "j", "ns", **plugins))
    asked = RequestAccepted(verb="create")
    at = made.events[-1].latest
    made.events.append(
        Event(
            kind="request.accepted",
            reference=Reference("", "Service", "ns", "j"),
            payload=canonical_json(asked),
            source="recorded",
            line=99,
            earliest=at,
            latest=at,
        )
    )
    made.saw(2, pod("there", "g", on="n1", labels=OF_JOB), pod("p", "g", labels=OF_JOB))
    return made


def scheduled(made: RecordedCluster) -> None:
    """Add a process, and its session that binds the pod to the node of the other one."""
    made.started(19)
    made.opened(SESSION, 20)
    made.decided(SESSION, "allocate", 20.02, task="ns/p", node="n1")
    made.bound(pod("p", "g", labels=OF_JOB), "n1", 20.03)
    wrote_running(made, 20.05, running=1)


def bindings(log: plinian.Log) -> list[tuple[str, str]]:
    """Return the nodes that differ, as recorded and again."""
    return [(one.recorded, one.again) for one in log.fidelity().differences]


def branched(made: RecordedCluster, there: int, place: Path) -> None:
    """Make a log of the first events, and a branch of it with the others."""
    after, made.events = made.events[there:], made.events[:there]
    with made.log(place) as log:
        log.store.create_branch(BRANCH, fork=log.store.last())
        log.store.append(after, branch=BRANCH)


def test_a_new_process_has_the_node_of_a_pod_that_only_a_binding_shows(tmp_path: Path) -> None:
    """The branch begins between the binding and the version that it made."""
    made = RecordedCluster()
    made.saw(1, queue("default"), node("n1"), group("g", phase="Running"), pod("p", "g"))
    made.bound(pod("p", "g"), "", 11)
    made.events[-1] = replace(made.events[-1], payload=canonical_json(PodBound(node="n1")))
    there = len(made.events)
    made.started(19)
    made.opened(SESSION, 20)
    wrote_running(made, 20.05)
    branched(made, there, tmp_path / "log.db")
    with plinian.open(tmp_path / "log.db", branch=BRANCH) as log:
        assert log.fidelity().differences == ()


@pytest.mark.parametrize(("handled", "on"), [(1, "n1"), (2, "n2")])
def test_the_first_session_has_the_nodes_that_were_handled_by_then(
    tmp_path: Path, handled: int, on: str
) -> None:
    """Before v1.12.4 a process may open a session while handlers still get the first objects."""
    made = RecordedCluster()
    made.saw(1, queue("default"), node("n1", 2), node("n2", 8), group("g"), pod("p", "g"))
    made.started(19)
    made.opened(SESSION, 20, nodes=handled)
    made.decided(SESSION, "allocate", 20.02, task="ns/p", node=on)
    made.bound(pod("p", "g"), on, 20.03)
    wrote_running(made, 20.05)
    made.opened(EARLIER, 25, nodes=2)
    made.closed(EARLIER, 25.1)
    with made.log(tmp_path / "log.db") as log:
        found = log.fidelity()
    assert [one.exact for one in found.sessions] == [True, True], found.differences
    assert [one.runs for one in found.sessions] == [1, 1]


def test_a_branch_serves_no_service_that_only_a_request_shows(tmp_path: Path) -> None:
    """The recorded scheduler spreads the pods of the Service; that of the branch knows of none."""
    made = spread()
    there = len(made.events)
    scheduled(made)
    branched(made, there, tmp_path / "log.db")
    with plinian.open(tmp_path / "log.db", branch=BRANCH) as log:
        assert bindings(log) == []
    with_service = spread()
    scheduled(with_service)
    with with_service.log(tmp_path / "other.db") as log:
        assert bindings(log) == [("n1", "n2")]
