"""Accounts of shared cards that a process keeps: what it counts twice, forgets, and crashes on.

All outcomes are those of the releases' own code, which was run on the same scenarios.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate
from sessions import Document, group, node, pod, queue

VOLCANO = {"apiVersion": "scheduling.volcano.sh/v1beta1"}
API = {kind: {"apiVersion": "v1"} for kind in ("Node", "Pod")}
API |= dict.fromkeys(("Queue", "PodGroup"), VOLCANO)
PREFIX = "volcano.sh/"
REGISTER, HANDSHAKE = PREFIX + "node-vgpu-register", PREFIX + "node-vgpu-handshake"
INDEX, TIME, IDS = PREFIX + "gpu-index", PREFIX + "predicate-time", PREFIX + "vgpu-ids-new"
NIL = "runtime error: invalid memory address or nil pointer dereference"
RESTART = {"type": "RESTART"}
Event = dict[str, Any]


def conf(switch: str = "") -> str:
    """Return a configuration; without a switch, ``deviceshare`` is not configured."""
    lines = ["actions: allocate", "tiers:", "- plugins:", "  - name: gang", "  - name: predicates"]
    if switch:
        lines += ["  - name: deviceshare", "    arguments:", f"      deviceshare.{switch}: true"]
    return "\n".join(lines) + "\n"


def scenario(switch: str, *steps: list[Event], confs: dict[int, str] | None = None) -> Document:
    """Return a scenario; ``confs`` are the configurations of later steps."""
    made = [{"events": events, "conf": (confs or {}).get(at)} for at, events in enumerate(steps)]
    return {"name": "cards", "conf": conf(switch), "steps": made}


def outcome(release: str, made: Document) -> list[dict[str, Any]]:
    """Return what each step decides."""
    return json.loads(json.dumps(simulate(parse_case(json.dumps(made).encode()), resolve(release))))


def added(*documents: Document, verb: str = "ADDED") -> list[Event]:
    """Return events of objects."""
    return [{"type": verb, "object": {**API[one["kind"]], **one}} for one in documents]


def seen_again(one: Document) -> list[Event]:
    """Return that an object is updated."""
    changed = deepcopy(one)
    changed["metadata"].setdefault("labels", {})["seen"] = "again"
    return added(changed, verb="MODIFIED")


def host(cards: int, name: str = "n1", **more: str) -> Document:
    """Return a node with cards of a memory of 10 each."""
    amounts = {PREFIX + "gpu-number": str(cards), PREFIX + "gpu-memory": str(10 * cards)}
    made = node(name, 16, more=amounts)
    made["status"]["capacity"] = dict(made["status"]["allocatable"])
    made["status"]["allocatable"] |= {PREFIX + key: amount for key, amount in more.items()}
    return made


def virtual_host(name: str = "n1", kind: str = "NVIDIA-A100", handshake: str = "") -> Document:
    """Return a node with a card of which pods get virtual GPUs."""
    marks = {
        REGISTER: f"GPU-{name},10,16000,{kind},true,hami-core:",
        HANDSHAKE: handshake or "Requesting_2125.01.01 00:00:00",
    }
    amounts = {f"{PREFIX}vgpu-{name}": n for name, n in VIRTUAL_AMOUNTS.items()}
    made = node(name, 16, annotations=marks, more=amounts)
    made["status"]["capacity"] = dict(made["status"]["allocatable"])
    return made


VIRTUAL_AMOUNTS = {"number": "10", "memory": "99k", "cores": "999"}


def asking(name: str, on: str = "", **limits: str) -> list[Document]:
    """Return a PodGroup with a pod that asks for parts of cards."""
    amounts = {PREFIX + key.replace("_", "-"): amount for key, amount in limits.items()}
    made = pod(name, f"of-{name}", "100m", on=on, requests=amounts)
    resources = made["spec"]["containers"][0]["resources"]
    resources["limits"] = resources["requests"]
    return [group(f"of-{name}", phase="Running" if on else "Inqueue"), made]


def holding(name: str, marks: dict[str, str], **limits: str) -> list[Document]:
    """Return the same with a pod that runs on ``n1`` and has a part of a card."""
    made = asking(name, "n1", **limits)
    made[1]["metadata"]["annotations"].update(marks)
    return made


def first(*documents: Document) -> list[Event]:
    """Return what is there at first."""
    return added(queue("default"), *documents)


AFTER_RESTART = scenario(
    "GPUSharingEnable",
    first(host(1, **{"gpu-memory": "40"}), *asking("a", gpu_memory="6")),
    [RESTART, *added(*asking("b", gpu_memory="6"))],
)


@pytest.mark.parametrize("release", ["v1.10.2", "v1.12.1"])
def test_a_pod_has_its_card_after_a_restart(release: str) -> None:
    """The session wrote it on the pod."""
    steps = outcome(release, AFTER_RESTART)
    assert [step["binds"] for step in steps] == [[["ns/a", "n1"]], []]


WHOLE = scenario(
    "GPUNumberEnable",
    first(
        host(2, **{"gpu-number": "4"}),
        *holding("a", {INDEX: "0", TIME: "1"}, gpu_number="1"),
        *holding("b", {INDEX: "1", TIME: "1"}, gpu_number="1"),
        *asking("c", gpu_number="1"),
    ),
)


@pytest.mark.parametrize(("release", "binds"), [("v1.10.2", [["ns/c", "n1"]]), ("v1.12.1", [])])
def test_whole_cards_of_running_pods_count_since_v1_12(
    release: str, binds: list[list[str]]
) -> None:
    assert outcome(release, WHOLE)[0]["binds"] == binds


def without_cards(switch: str = "GPUSharingEnable") -> Document:
    """Return a scenario in which a node loses the cards that pods have."""
    bare = node("n1", 16)
    bare["status"]["capacity"] = bare["status"]["allocatable"]
    return scenario(
        switch,
        first(host(1), *holding("a", {INDEX: "0", TIME: "1"}, gpu_memory="6")),
        added(bare, verb="MODIFIED"),
        [],
        [],
    )


@pytest.mark.parametrize(
    ("release", "crashes"),
    [
        ("v1.10.2", [False, True, True, True]),
        ("v1.12.1", [False, True, True, True]),
        ("v1.13.0", [False, True, False, True]),
        ("v1.15.1", [False, True, False, True]),
    ],
)
def test_a_node_that_lost_its_cards_crashes_the_scheduler(
    release: str, crashes: list[bool]
) -> None:
    """Since v1.13, a process that has just started does not look at cards until a session did."""
    steps = outcome(release, without_cards())
    assert [step["panic"] for step in steps] == [NIL if crash else None for crash in crashes]


COUNTED = scenario(
    "VGPUEnable",
    first(virtual_host()),
    [*seen_again(virtual_host()), *added(*asking("a", vgpu_number="1", vgpu_memory="6000"))],
    added(*asking("b", vgpu_number="1", vgpu_memory="6000")),
    seen_again(virtual_host()),
)


@pytest.mark.parametrize(
    ("release", "at"), [("v1.10.2", 3), ("v1.12.1", 3), ("v1.13.0", 3), ("v1.15.1", 2)]
)
def test_a_virtual_gpu_counts_twice_until_the_node_is_updated(release: str, at: int) -> None:
    """As long as a pod seems to have 12,000, no other gets 6,000 of 16,000."""
    steps = outcome(release, COUNTED)
    assert [step["binds"] for step in steps].index([["ns/b", "n1"]]) == at


ELSEWHERE = scenario(
    "VGPUEnable",
    first(virtual_host("n1", handshake="Deleted_2025.01.01 00:00:00")),
    added(*asking("a", vgpu_number="1")),
    confs={1: conf()},
)


@pytest.mark.parametrize("release", ["v1.10.2", "v1.12.1", "v1.13.0"])
def test_devices_are_given_though_the_plugin_is_no_longer_configured(release: str) -> None:
    """The switches keep their values, and no filter looks for a node with cards."""
    assert outcome(release, ELSEWHERE)[1]["panic"] == NIL


def unwanted(kinds: str) -> Document:
    """Return a scenario with a pod that does not want these types of GPU."""
    made = asking("a", vgpu_number="1", vgpu_memory="6000")
    made[1]["metadata"]["annotations"]["nvidia.com/nouse-gputype"] = kinds
    return scenario("VGPUEnable", first(virtual_host(), *made))


@pytest.mark.parametrize(
    ("release", "kinds", "taken"),
    [("v1.10.2", "A100", True), ("v1.10.2", "V100,A100", False), ("v1.12.1", "A100", False)],
)
def test_one_unwanted_type_of_gpu_is_given_all_the_same_before_v1_12(
    release: str,
    kinds: str,
    taken: bool,  # noqa: FBT001
) -> None:
    assert bool(outcome(release, unwanted(kinds))[0]["binds"]) is taken


def promised() -> Document:
    """Return a scenario with a pod that waits, and that an earlier session gave virtual GPUs."""
    made = asking("a", vgpu_number="1", vgpu_memory="2000")
    made[1]["metadata"]["annotations"][IDS] = "GPU-n1,NVIDIA,4000,30:"
    return scenario("VGPUEnable", first(virtual_host(), *made), [])


def test_queues_count_what_an_earlier_session_promised_a_pod() -> None:
    steps = outcome("v1.13.0", promised())
    assert steps[0]["binds"] == [["ns/a", "n1"]]
    assert steps[0]["queues"]["default"]["allocated"]["volcano.sh/vgpu-memory"] == "4k"


OVERFULL = scenario(
    "VGPUEnable",
    first(
        virtual_host(),
        *holding("a", {IDS: "GPU-n1,NVIDIA,10,60:"}, vgpu_number="1"),
        *holding("b", {IDS: "GPU-n1,NVIDIA,10,60:"}, vgpu_number="1"),
        *asking("c", vgpu_number="1", vgpu_memory="10", vgpu_cores="10"),
    ),
)


@pytest.mark.parametrize(("release", "taken"), [("v1.10.2", True), ("v1.12.1", False)])
def test_a_card_with_too_many_cores_in_use_has_very_many_free_before_v1_11(
    release: str,
    taken: bool,  # noqa: FBT001
) -> None:
    assert bool(outcome(release, OVERFULL)[0]["binds"]) is taken


def pair() -> list[Document]:
    """Return a gang of two pods of which each wants two whole cards."""
    pods = [asking(name, gpu_number="2")[1] for name in ("p1", "p2")]
    for one in pods:
        one["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "pair"
    return [group("pair", 2, phase="Inqueue"), *pods]


GANG_LEAVES = scenario(
    "GPUNumberEnable",
    first(host(2)),
    [*seen_again(host(2)), *added(*pair())],
    [*added(*pair(), verb="DELETED"), *added(*asking("c", gpu_number="2"))],
)


@pytest.mark.parametrize(("release", "binds"), [("v1.14.2", []), ("v1.15.1", [["ns/c", "n1"]])])
def test_whole_cards_that_a_gang_did_not_get_are_free_in_the_next_session_since_v1_15(
    release: str, binds: list[list[str]]
) -> None:
    """What is taken back of whole cards is not freed; since v1.15 that is forgotten."""
    assert [step["binds"] for step in outcome(release, GANG_LEAVES)] == [[], [], binds]
