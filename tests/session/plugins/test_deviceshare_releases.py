"""Virtual GPUs as the releases count them."""

from __future__ import annotations

import numpy as np
import pytest

from plinian.engine.session.session import Session
from sessions import Document, group, node, opened, pod, queue, tasks

NUMBER, CORES, MEMORY = (f"volcano.sh/vgpu-{name}" for name in ("number", "cores", "memory"))
CONF = """
actions: allocate
tiers:
- plugins:
  - name: predicates
  - name: deviceshare
    arguments: {deviceshare.VGPUEnable: true}
"""


def gpu_node(handshake: str = "Reported", **allocatable: str) -> Document:
    """Return a node with a card that takes two pods; the amounts are those of kubelet."""
    marks = {
        "volcano.sh/node-vgpu-register": "GPU-v,2,16384,NVIDIA-V100,true,hami-core:",
        "volcano.sh/node-vgpu-handshake": handshake,
    }
    amounts = {"number": "2", "cores": "200", "memory": "16k"} | allocatable
    more = {f"volcano.sh/vgpu-{name}": amount for name, amount in amounts.items() if amount}
    return node("n1", annotations=marks, more=more)


def session(release: str, on: Document) -> Session:
    """Return a session with two pods that each ask for a part of a card."""
    pods = [pod(name, "g") for name in ("p1", "p2")]
    for each in pods:
        limits = {NUMBER: "1", MEMORY: "100"}
        each["spec"]["containers"] = [{"name": "main", "resources": {"limits": limits}}]
    return opened(CONF, queue("default"), group("g", 2), on, *pods, release=release)[0]


def takes(ssn: Session, name: str) -> bool:
    """Return whether the node has room for what a pod asks for."""
    predicate = dict(ssn.flat("Predicate"))["deviceshare"]
    verdicts = predicate.function(*tasks(ssn, name), np.array([0]))
    assert verdicts is not None
    return not verdicts.any()


@pytest.mark.parametrize(
    ("release", "asks"),
    [
        *(("v1.12.1", True), ("v1.14.2", True), ("v1.14.3", False)),
        *(("v1.15.0", True), ("v1.15.1", False)),
    ],
)
def test_a_node_has_cards_while_its_agent_answers_or_while_kubelet_says_so(
    release: str,
    asks: bool,  # noqa: FBT001
) -> None:
    silent = "Deleted_2025.11.21 13:59:59"
    assert takes(session(release, gpu_node(silent)), "p1") is not asks
    for gone in ({"number": "0"}, {"cores": "0"}, {"memory": ""}):
        assert takes(session(release, gpu_node(**gone)), "p1") is asks


@pytest.mark.parametrize(
    ("release", "once"),
    [
        *(("v1.11.2", True), ("v1.12.0", False), ("v1.12.2", False), ("v1.12.3", True)),
        *(("v1.13.0", False), ("v1.13.1", False), ("v1.13.2", True), ("v1.14.0", True)),
    ],
)
def test_a_pod_that_is_given_a_part_counts_once_or_twice(
    release: str,
    once: bool,  # noqa: FBT001
) -> None:
    ssn = session(release, gpu_node())
    ssn.tell_allocated(*tasks(ssn, "p1"), 0)
    assert takes(ssn, "p2") is once
