"""A scheduler that starts knows what its API server has, and nothing that an earlier process decided."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_cluster import RecordedCluster

import plinian
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import RequestAccepted
from sessions import document, group, node, pod, queue

EARLIER = "11111111-1111-4111-8111-111111111111"
SESSION = "22222222-2222-4222-8222-222222222222"
BRANCH = "tried"
RUNS = {"running": 1}
OF_JOB = {"volcano.sh/job-name": "j", "volcano.sh/job-namespace": "ns"}


def wrote_running(made: RecordedCluster, second: float) -> None:
    """Add what the session wrote at its end: the PodGroup runs as before."""
    why = "tasks in gang are ready to be scheduled"
    told = {"type": "Scheduled", "status": "True", "reason": why, "transitionID": SESSION}
    status = {**RUNS, "conditions": [told]}
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
    wrote_running(made, 20.05)
    with made.log(tmp_path / "log.db") as log:
        found = log.fidelity()
    assert [one.exact for one in found.sessions[1:]] == [bool(started)], found.sessions[1]


def test_a_controller_that_starts_makes_no_new_scheduler(tmp_path: Path) -> None:
    made = evicting()
    made.started(19, "controller")
    made.opened(SESSION, 20)
    wrote_running(made, 20.05)
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
    wrote_running(made, 20.05)


def bindings(log: plinian.Log) -> list[tuple[str, str]]:
    """Return the nodes that differ, as recorded and again."""
    return [(one.recorded, one.again) for one in log.fidelity().differences]


def test_a_branch_serves_no_service_that_only_a_request_shows(tmp_path: Path) -> None:
    """The recorded scheduler spreads the pods of the Service; that of the branch knows of none."""
    made = spread()
    there = len(made.events)
    scheduled(made)
    after, made.events = made.events[there:], made.events[:there]
    with made.log(tmp_path / "log.db") as log:
        log.store.create_branch(BRANCH, fork=log.store.last())
        log.store.append(after, branch=BRANCH)
    with plinian.open(tmp_path / "log.db", branch=BRANCH) as log:
        assert bindings(log) == []
    with_service = spread()
    scheduled(with_service)
    with with_service.log(tmp_path / "other.db") as log:
        assert bindings(log) == [("n1", "n2")]
