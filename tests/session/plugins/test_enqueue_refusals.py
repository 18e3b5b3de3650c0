"""What the Event of a job says that a plugin keeps out of its queue, release by release."""

from __future__ import annotations

import pytest

from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from sessions import Document, document, group, job, node, opened, pod, queue

BEFORE, SINCE, WITH_DEVICES = "v1.12.4", "v1.13.0", "v1.15.0"
GPU, NPU = "nvidia.com/gpu", "huawei.com/npu"
OVERCOMMIT = """
actions: "enqueue"
tiers:
- plugins:
  - name: overcommit
    arguments:
      overcommit-factor: 1
"""
TREE = """
actions: "enqueue"
tiers:
- plugins:
  - name: capacity
    enableHierarchy: true
"""
QUOTA = "queue resource quota insufficient"
OVERUSED = "resource in cluster is overused"
MORE = {"pods": "500", GPU: "3", NPU: "2", "memory": "4Gi", "cpu": "9"}
"""More than the queue may use of all but memory."""


def refused(conf: str, release: str, *documents: Document) -> list[str]:
    """Return the messages of the Events of the job ``j``, which is refused."""
    ssn, _ = opened(conf, queue("default"), *documents, release=release)
    assert not voting.job_enqueueable(ssn, job(ssn, "j"), "ns/j")
    return messages(ssn)


def messages(ssn: Session) -> list[str]:
    """Return what was recorded of the job ``j``."""
    assert {(about, reason) for about, reason, _ in ssn.events} == {
        (job(ssn, "j"), "Unschedulable")
    }
    return [message for *_, message in ssn.events]


@pytest.mark.parametrize(
    ("release", "named"),
    [(BEFORE, ""), (SINCE, f"cpu {NPU} {GPU}"), ("v1.15.1", f"cpu {NPU} {GPU}")],
)
@pytest.mark.parametrize(
    ("conf", "text", "verb"),
    [
        ("proportion", QUOTA, "insufficient"),
        ("capacity", QUOTA, "insufficient"),
        (OVERCOMMIT, OVERUSED, "overused"),
    ],
    ids=["proportion", "capacity", "overcommit"],
)
def test_the_event_names_what_is_short(
    conf: str, text: str, verb: str, release: str, named: str
) -> None:
    """Of the names, cpu comes first; pods are not compared, and there is enough memory."""
    host = node("n1", more={GPU: "2", NPU: "1"})
    wanting = group("j", phase="Pending", minResources=MORE)
    listed = ", ".join(f"{verb} {name}" for name in named.split())
    assert refused(conf, release, host, wanting) == [f"{text}: {listed}" if listed else text]


def test_memory_comes_after_cpu() -> None:
    wanting = group("j", phase="Pending", minResources={"memory": "99Gi", "cpu": "99"})
    assert refused("proportion", SINCE, node("n1"), wanting) == [
        f"{QUOTA}: insufficient cpu, insufficient memory"
    ]


def test_only_what_the_job_asks_for_is_named() -> None:
    """The queue holds more cpu than it may, but the job asks for none."""
    assert refused(
        "capacity",
        SINCE,
        node("n1", more={GPU: "1"}),
        queue("q", capability={"cpu": "1", GPU: "1"}),
        group("old", queue="q", phase="Running"),
        pod("old-0", "old", 4, on="n1"),
        group("j", queue="q", phase="Pending", minResources={GPU: "2"}),
    ) == [f"{QUOTA}: insufficient {GPU}"]


def test_in_a_tree_the_first_full_queue_from_the_leaf_up_says_what_it_lacks() -> None:
    assert refused(
        TREE,
        SINCE,
        node("n1"),
        queue("root", capability={"cpu": "8", "memory": "16Gi"}),
        queue("top", parent="root", capability={"cpu": "2", "memory": "1Gi"}),
        queue("leaf", parent="top", capability={"cpu": "1", "memory": "1Gi"}),
        group("j", queue="leaf", phase="Pending", minResources={"cpu": "3", "memory": "1Gi"}),
    ) == [f"{QUOTA}: insufficient cpu"]


@pytest.mark.parametrize(
    ("wanted", "named"),
    [({"cpu": "1"}, "dra-resource-exceeded"), ({"cpu": "99"}, "cpu")],
    ids=["resources are enough", "resources are compared first"],
)
def test_devices_are_named_as_one(wanted: dict[str, str], named: str) -> None:
    devices = "gpu.example.com"
    exact = {"deviceClassName": devices, "allocationMode": "ExactCount", "count": 3}
    claim = document(
        "ResourceClaim",
        "c",
        "ns",
        spec={"devices": {"requests": [{"name": "r", "exactly": exact}]}},
    )
    claiming = pod("j-0", "j")
    claiming["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimName": "c"}]
    assert refused(
        "capacity",
        WITH_DEVICES,
        node("n1"),
        queue("q", capability={f"deviceclass/{devices}": "2"}),
        group("j", queue="q", phase="Pending", minResources=wanted),
        claim,
        claiming,
    ) == [f"{QUOTA}: insufficient {named}"]
