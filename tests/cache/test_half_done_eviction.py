"""An eviction writes a condition and deletes the pod; if only the first works, see N04."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_caches import run

READY = {"type": "Ready", "status": "True"}
TARGET = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "PreemptionByScheduler",
    "message": "volcano: preempting to accommodate a higher priority pod",
}
POD = {
    "kind": "Pod",
    "metadata": {
        "name": "a",
        "namespace": "default",
        "annotations": {"scheduling.k8s.io/group-name": "g"},
    },
    "spec": {"schedulerName": "volcano", "nodeName": "n1", "containers": []},
    "status": {"phase": "Running", "conditions": [READY]},
}
GROUP = {
    "kind": "PodGroup",
    "metadata": {"name": "g", "namespace": "default"},
    "spec": {"minMember": 1, "queue": "default"},
    "status": {"phase": "Running"},
}
NODE = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "8"}}}
EVICT = {"op": "evict", "task": "default/a"}


def requests(told: dict[str, Any]) -> list[str]:
    """Return what the cache sent in a step, but for reading the pod again."""
    return [one["do"] for one in told.get("api", ()) if not one["do"].startswith("get")]


@pytest.mark.parametrize(
    ("release", "target", "sent"),
    [
        ("v1.12.1", False, ["update pods/status default/a", "delete pods default/a"]),
        ("v1.13.0", True, []),
        ("v1.15.1", True, []),
    ],
)
def test_a_pod_whose_eviction_was_half_done_is_not_deleted(
    release: str, *, target: bool, sent: list[str]
) -> None:
    """A kubelet says again that the pod is ready, and leaves the other condition as it is."""
    conditions = [READY, TARGET] if target else [READY]
    case = {
        "steps": [
            {"create": NODE},
            {"create": GROUP},
            {"create": POD},
            {"fail": {"verb": "delete", "resource": "pods", "error": "timeout", "times": 1}},
            {**EVICT, "wait": 1},
            EVICT,
            {"status": {**POD, "status": {"phase": "Running", "conditions": conditions}}},
            EVICT,
        ]
    }
    *_, first, second, _, third = run(case, release)["steps"]
    assert requests(first) == ["update pods/status default/a", "delete pods default/a"]
    assert first["api"][1]["error"] == "timeout"
    assert requests(second) == []
    assert requests(third) == sent
