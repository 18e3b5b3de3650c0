"""What a table says of a pod: its status, its containers and their restarts, as kubectl does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from plinian.engine.state.extract import extract_fact
from plinian.engine.state.facts import PodFact

RUNS, READY = {"running": {}}, {"ready": True, "state": {"running": {}}}
SIDECAR = {"name": "proxy", "restartPolicy": "Always"}


def fact_of(status: dict[str, Any], *init: dict[str, Any]) -> PodFact:
    spec = {"containers": [{"name": "main"}], "initContainers": init}
    pod = {"metadata": {"name": "a"}, "spec": spec, "status": {"phase": "Running", **status}}
    fact = extract_fact("", "Pod", msgspec.json.encode(pod))
    assert isinstance(fact, PodFact)
    return fact


def condition(kind: str, status: str = "True", reason: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason}


def test_a_sidecar_that_has_started_is_a_container_of_the_pod() -> None:
    proxy = {"name": "proxy", "ready": True, "started": True, "restartCount": 2, "state": RUNS}
    main = {"name": "main", "restartCount": 1, **READY}
    fact = fact_of({"initContainerStatuses": [proxy], "containerStatuses": [main]}, SIDECAR)
    assert (fact.status, fact.ready, fact.containers, fact.restarts) == ("Running", 2, 2, 3)


def test_a_sidecar_that_has_not_started_holds_up_the_pod() -> None:
    proxy = {"name": "proxy", "started": False, "restartCount": 2, "state": RUNS}
    waits = {"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}
    statuses = {"initContainerStatuses": [proxy], "containerStatuses": [waits]}
    fact = fact_of({"phase": "Pending", **statuses}, SIDECAR)
    assert (fact.status, fact.ready, fact.containers, fact.restarts) == ("Init:0/1", 0, 2, 2)


def test_an_init_container_is_no_container_of_the_pod() -> None:
    done = {"name": "set-up", "restartCount": 4, "state": {"terminated": {"exitCode": 0}}}
    main = {"name": "main", "restartCount": 1, **READY}
    statuses = {"initContainerStatuses": [done], "containerStatuses": [main]}
    fact = fact_of(statuses, {"name": "set-up"})
    assert (fact.status, fact.ready, fact.containers, fact.restarts) == ("Running", 1, 1, 1)


def test_a_pod_with_scheduling_gates_says_so() -> None:
    gated = condition("PodScheduled", "False", "SchedulingGated")
    assert fact_of({"phase": "Pending", "conditions": [gated]}).status == "SchedulingGated"


@pytest.mark.parametrize(("ready", "status"), [("True", "Running"), ("False", "NotReady")])
def test_a_pod_of_which_a_container_has_ended_runs_if_it_is_ready(ready: str, status: str) -> None:
    ended = {"name": "once", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
    statuses = [ended, {"name": "main", **READY}]
    fact = fact_of({"containerStatuses": statuses, "conditions": [condition("Ready", ready)]})
    assert fact.status == status
