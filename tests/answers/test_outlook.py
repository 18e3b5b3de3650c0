"""What is said of pods for which a session keeps nodes: only what the next sessions do."""

from __future__ import annotations

from typing import Any

import pytest
from answer_worlds import Document

from sessions import group, node, pod, queue

CONF = """
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
    enableReclaimable: false
  - name: conformance
  - name: capacity
  - name: deviceshare
    arguments:
      deviceshare.VGPUEnable: true
- plugins:
  - name: predicates
  - name: nodeorder
"""
HELD = "GPU-0,NVIDIA,15000,0:"
AGENT = {
    "volcano.sh/node-vgpu-handshake": "Requesting_2025.11.21 13:59:50",
    "volcano.sh/node-vgpu-register": "GPU-0,10,98304,NVIDIA-H20,true,hami-core:",
}


def _part(memory: str) -> Document:
    return {"volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-memory": memory}


def one_card(deserved: int) -> list[Document]:
    """Return a card of which six pods of queue low have a part, and a pod that wants most of it.

    :param deserved: how many parts queue low keeps.
    """
    there = {"volcano.sh/vgpu-number": "10", "volcano.sh/vgpu-memory": "98304"}
    made = [
        node("n1", 64, "512Gi", more={**there, "volcano.sh/vgpu-cores": "100"}, annotations=AGENT),
        queue("low", deserved={"volcano.sh/vgpu-number": str(deserved), "cpu": "64"}),
        queue("high", deserved={"volcano.sh/vgpu-number": "5", "cpu": "64"}),
        group("big", 1, queue="high"),
        _limited(pod("big-0", "big"), "80000"),
    ]
    for number in range(6):
        marks = {
            "volcano.sh/vgpu-ids-new": f"{HELD};",
            "volcano.sh/devices-to-allocate": HELD,
            "volcano.sh/vgpu-node": "n1",
        }
        name = f"low{number}"
        made.append(group(name, 1, "Running", queue="low"))
        made.append(_limited(pod(f"{name}-0", name, on="n1", annotations=marks), "15000"))
    return made


def _limited(document: Document, memory: str) -> Document:
    resources = document["spec"]["containers"][0]["resources"]
    resources["limits"] = _part(memory)
    resources["requests"] |= _part(memory)
    return document


def test_a_pod_that_never_starts_does_not_wait_until_the_evicted_pod_is_gone(ask: Any) -> None:
    found = ask("pod/big-0", CONF, *one_card(deserved=3))
    assert found.sentence.startswith(
        "pod ns/big-0 waits: this session keeps node n1 for it and evicts pod ns/low"
    )
    assert "none of the next" in found.sentence
    assert "which also evict pods ns/low" in found.sentence
    assert "hami-vgpuDeviceSharing error" in found.sentence
    assert ask("podgroup/big", CONF, *one_card(deserved=3)).cause == "releasing"


def test_a_pod_that_starts_after_several_sessions_says_how_many(ask: Any) -> None:
    found = ask("podgroup/big", CONF, *one_card(deserved=1))
    assert "waits for 5 more sessions" in found.sentence
    assert "session 5 after it binds it to node n1" in found.sentence


@pytest.mark.parametrize("deleted", [False, True])
def test_a_pod_waits_for_pods_that_are_evicted_or_deleted_where_the_next_session_binds_it(
    ask: Any, *, deleted: bool
) -> None:
    conf = CONF.replace("allocate, reclaim", "allocate, reclaim, backfill")
    holder = pod("low-0", "low", 6, on="n1")
    if deleted:
        holder["metadata"]["deletionTimestamp"] = "2025-11-21T14:00:00Z"
    some = [
        node("n1", 8),
        queue("low", deserved={"cpu": "0"}),
        queue("high", deserved={"cpu": "8"}),
        group("low", 1, "Running", queue="low"),
        group("big", 1, queue="high"),
        holder,
        pod("big-0", "big", 4),
    ]
    found = ask("pod/big-0", conf, *some)
    going = "which is being deleted," if deleted else "which this session evicts,"
    assert found.sentence == (
        f"pod ns/big-0 waits until pod ns/low-0, {going} frees resources: it will go to node n1"
    )


def test_what_the_cluster_wrote_is_shown_beside_an_answer_that_it_contradicts(ask: Any) -> None:
    waiting = pod("a", "g", 1)
    waiting["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "message": "0/1 nodes are unavailable"}
    ]
    some = (node("n1", 8), queue("default"), group("g"), waiting)
    for named in ("pod/a", "podgroup/g"):
        found = ask(named, CONF, *some)
        assert "waits only for the next session" in found.sentence
        assert any("0/1 nodes are unavailable" in link.text for link in found.chain)
