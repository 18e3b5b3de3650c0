"""Virtual GPUs as the releases count them."""

from __future__ import annotations

import numpy as np
import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.model.session_tables import NO_NODE, TaskStatus
from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.kube.node_map import node_map
from plinian.engine.session.nodes.node_views import NodeViews
from plinian.engine.session.plugins.deviceshare.deviceshare_plugin import DeviceShare
from sessions import TRIED_OUT, Document, document, group, node, opened, pod, queue, tasks

NUMBER, CORES, MEMORY = (f"volcano.sh/vgpu-{name}" for name in ("number", "cores", "memory"))
CONF = """
actions: allocate
tiers:
- plugins:
  - name: predicates
  - name: deviceshare
    arguments: {deviceshare.VGPUEnable: true}
"""

BINPACK = CONF.replace(
    "true}", "true, deviceshare.ScheduleWeight: 1, deviceshare.SchedulePolicy: binpack}"
)


def gpu_node(handshake: str = "Reported", **allocatable: str) -> Document:
    """Return a node with a card that takes two pods; the amounts are those of kubelet."""
    marks = {
        "volcano.sh/node-vgpu-register": "GPU-v,2,16384,NVIDIA-V100,true,hami-core:",
        "volcano.sh/node-vgpu-handshake": handshake,
    }
    amounts = {"number": "2", "cores": "200", "memory": "16k"} | allocatable
    more = {f"volcano.sh/vgpu-{name}": amount for name, amount in amounts.items() if amount}
    return node("n1", annotations=marks, more=more)


def session(
    release: str,
    on: Document,
    *others: Document,
    process: ProcessState | None = None,
    conf: str = CONF,
    cards: str = "1",
) -> Session:
    """Return a session with two pods that each ask for a part of a card, and one for too much.

    :param cards: of how many cards each pod asks for a part.
    """
    pods = []
    for name, memory in (("p1", "100"), ("p2", "100"), ("much", "100000")):
        limits = {NUMBER: cards, MEMORY: memory}
        pods.append(pod(name, "g"))
        pods[-1]["spec"]["containers"] = [{"name": "main", "resources": {"limits": limits}}]
    objects = (queue("default"), group("g", 2), on, *pods, *others)
    return opened(conf, *objects, release=release, process=process)[0]


def verdict(ssn: Session, name: str) -> str | None:
    """Return why the node does not take a pod; None if it does."""
    predicate = dict(ssn.registry.flat("Predicate"))["deviceshare"]
    verdicts = predicate.function(*tasks(ssn, name), np.array([0]))
    assert verdicts is not None
    said = ssn.reasons.objections(verdicts.item(0))
    return said[0].message if said else None


def takes(ssn: Session, name: str) -> bool:
    """Return whether the node has room for what a pod asks for."""
    return verdict(ssn, name) is None


def placed(ssn: Session, name: str) -> list[str]:
    """Place a pod on the node, and return what plugins object."""
    (task,) = tasks(ssn, name)
    assert voting.pre_predicate(ssn, task) is None
    return ssn.registry.notify_allocated(task, 0)


def has_cards(ssn: Session) -> bool:
    """Return whether the node has an account: it takes who asks for a part, and not for too much.

    Without, it takes nobody who asks, and later releases everybody.
    """
    return takes(ssn, "p1") and not takes(ssn, "much")


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
    assert has_cards(session(release, gpu_node(silent))) is not asks
    for gone in ({"number": "0"}, {"cores": "0"}, {"memory": ""}):
        assert has_cards(session(release, gpu_node(**gone))) is asks


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
    ssn.registry.notify_allocated(*tasks(ssn, "p1"), 0)
    assert takes(ssn, "p2") is once


@pytest.mark.parametrize(
    ("release", "told", "missing"),
    [
        ("v1.9.0", "not enough gpu fitted on this node", "device hamivgpu"),
        ("v1.10.0", "hami-vgpuDeviceSharing not enough gpu fitted on this node", "devicehamivgpu"),
        ("v1.12.0", "hami-vgpuDeviceSharing error", "devicehamivgpu"),
        ("v1.14.0", "hami-vgpuDeviceSharing error", None),
        ("v1.15.0", "hami-vgpuDeviceSharing error", None),
    ],
)
def test_what_a_pod_is_told_of_virtual_gpus(release: str, told: str, missing: str | None) -> None:
    assert verdict(session(release, gpu_node()), "much") == told
    without = verdict(session(release, node("n1")), "p1")
    assert without == (missing and f"node not initialized with {missing}")


def test_more_cards_than_there_are() -> None:
    ssn = session("v1.10.0", gpu_node(), cards="2")
    assert verdict(ssn, "much") == "hami-vgpuDeviceSharing no enough gpu cards on node n1"


def test_agents_tell_no_mode_before_v1_12() -> None:
    on = gpu_node()
    marks = on["metadata"]["annotations"]
    marks["volcano.sh/node-vgpu-register"] = "GPU-v,2,16384,NVIDIA-V100,true:"
    assert has_cards(session("v1.11.0", on))
    assert not has_cards(session("v1.12.0", on))


@pytest.mark.parametrize("release", ["v1.9.0", "v1.13.0", "v1.14.0", "v1.15.0"])
def test_a_node_without_cards_crashes_the_scheduler_before_v1_15(release: str) -> None:
    ssn = session(release, node("n1"))
    if release != "v1.15.0":
        with pytest.raises(Panic, match="nil pointer"):
            placed(ssn, "p1")
    else:
        assert placed(ssn, "p1") == []


@pytest.mark.parametrize(("release", "heeds"), [("v1.14.4", False), ("v1.15.0", True)])
def test_a_part_that_turns_out_not_to_be_free_is_an_error_or_only_logged(
    release: str,
    heeds: bool,  # noqa: FBT001
) -> None:
    ssn = session(release, gpu_node())
    refusal = "not enough gpu fitted on this node"
    assert placed(ssn, "much") == ([refusal] if heeds else [])
    assert ssn.errors == [f"AllocateToPod failed {refusal}"]


@pytest.mark.parametrize(("release", "late"), [("v1.13.2", False), ("v1.14.0", True)])
def test_a_process_learns_of_cards_when_nodes_change(
    release: str,
    late: bool,  # noqa: FBT001
) -> None:
    watched = ProcessState(from_start=True)
    assert takes(session(release, gpu_node(), process=watched), "much") is late
    # The node of another session is another version of it.
    assert not takes(session(release, gpu_node(), process=watched), "much")
    assert not takes(session(release, gpu_node(), process=ProcessState()), "much")


@pytest.mark.parametrize("name", ["p1", "much"])
def test_filters_and_scores_see_only_pods_that_got_their_part(name: str) -> None:
    ssn = session("v1.14.4", gpu_node())
    placed(ssn, name)
    assert (node_map(ssn).on.item(*tasks(ssn, name)) == 0) is (name == "p1")


@pytest.mark.parametrize("release", ["v1.12.1", "v1.13.0"])
def test_a_score_that_is_thrown_away_crashes_on_a_node_without_cards_too(release: str) -> None:
    ssn = session(release, node("n1"), conf=BINPACK)
    score = dict(ssn.registry.flat("NodeOrder"))["deviceshare"].function
    with pytest.raises(Panic, match="nil pointer"):
        score(*tasks(ssn, "p1"), np.array([0]))


def test_a_score_is_thrown_away_before_v1_13() -> None:
    ssn = session("v1.12.1", gpu_node(), conf=BINPACK)
    score = dict(ssn.registry.flat("NodeOrder"))["deviceshare"].function
    assert score(*tasks(ssn, "p1"), np.array([0])).tolist() == [0]


@pytest.mark.parametrize(("release", "taken"), [("v1.9.0", True), ("v1.11.0", False)])
def test_a_card_of_which_more_is_used_than_there_is_is_free_in_v1_9(
    release: str,
    taken: bool,  # noqa: FBT001
) -> None:
    given = {"volcano.sh/vgpu-ids-new": "GPU-v,NVIDIA,20000,0:"}
    ssn = session(release, gpu_node(), pod("q", "g", on="n1", annotations=given))
    assert takes(ssn, "much") is taken


@pytest.mark.parametrize(
    ("release", "status"), [("v1.14.4", TaskStatus.ALLOCATED), ("v1.15.1", TaskStatus.PENDING)]
)
def test_a_pod_without_its_part_does_not_stay_on_its_node_when_a_plan_is_repeated(
    release: str, status: TaskStatus
) -> None:
    """Discarding does not free shared cards: the scheduler's pod does not name them yet."""
    amounts = {"volcano.sh/gpu-memory": "10", "volcano.sh/gpu-number": "1"}
    host = node("n1", more=amounts)
    host["status"]["capacity"] = host["status"]["allocatable"]
    asking = pod("p", "g", requests={"volcano.sh/gpu-memory": "8"})
    resources = asking["spec"]["containers"][0]["resources"]
    resources["limits"] = resources["requests"]
    unbound = "predicates\n    arguments: {predicate.VolumeBindingEnable: false}"
    conf = CONF.replace("VGPUEnable", "GPUSharingEnable").replace("predicates", unbound)
    ssn = opened(conf, queue("default"), group("g"), host, asking, release=release)[0]
    (task,) = tasks(ssn, "p")
    plan = Statement(ssn)
    assert plan.allocate(task, 0) is None
    saved = plan.save_operations()
    plan.discard()
    refused = Statement(ssn).recover_operations(saved)
    assert (refused is None) is (status is TaskStatus.ALLOCATED)
    assert ssn.tasks.status.item(task) == status


WHOLE = CONF.replace("VGPUEnable", "GPUNumberEnable")
OF_CARD = {"volcano.sh/gpu-index": "0", "volcano.sh/predicate-time": "1"}


@pytest.mark.parametrize("release", ["v1.10.2", "v1.12.1", "v1.15.1"])
@pytest.mark.parametrize(("marks", "on"), [({}, 0), (OF_CARD, NO_NODE)])
def test_to_filters_a_pod_stays_whose_card_cannot_be_released(
    release: str, marks: dict[str, str], on: int
) -> None:
    """Who did not place it by its annotations cannot remove them: the API server refuses that."""
    amounts = {"volcano.sh/gpu-number": "2", "volcano.sh/gpu-memory": "20"}
    host = node("n1", more=amounts)
    host["status"]["capacity"] = host["status"]["allocatable"]
    had = pod("had", "g", on="n1", annotations=marks, requests={"volcano.sh/gpu-number": "1"})
    resources = had["spec"]["containers"][0]["resources"]
    resources["limits"] = resources["requests"]
    objects = (queue("default"), group("g"), host, had)
    ssn, _ = opened(WHOLE, *objects, release=release)
    (gone,) = tasks(ssn, "had")
    Statement(ssn).evict(gone, "preempt")
    assert node_map(ssn).on.item(gone) == on
    told = "Device GpuShare release failed for pod ns/had"
    assert any(error.startswith(told) for error in ssn.errors) is (on != NO_NODE)


SHARED = (
    f"{TRIED_OUT}  - name: deviceshare\n    arguments: {{deviceshare.GPUSharingEnable: true}}\n"
)
HOST = "kubernetes.io/hostname"
BESIDE = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": HOST}


@pytest.mark.parametrize(("release", "left"), [("v1.13.0", 0), ("v1.14.2", 0), ("v1.15.1", 1)])
def test_before_v1_15_a_victim_that_is_tried_out_leaves_its_card(release: str, left: int) -> None:
    """``comes`` must be beside ``lies``, so it is no use to evict that."""
    host = node("n1", labels={HOST: "n1"}, more={"volcano.sh/gpu-memory": "20"})
    host["status"]["capacity"] = {"volcano.sh/gpu-number": "2", "volcano.sh/gpu-memory": "20"}
    asks = {"volcano.sh/gpu-memory": "6"}
    lies = pod("lies", "old", on="n1", labels={"app": "x"}, annotations=OF_CARD, requests=asks)
    lies["spec"]["priority"] = 1
    resources = lies["spec"]["containers"][0]["resources"]
    resources["limits"] = resources["requests"]
    comes = pod("comes", "new", priority=10)
    wanted = {"requiredDuringSchedulingIgnoredDuringExecution": [BESIDE]}
    comes["spec"]["affinity"] = {"podAffinity": wanted}
    important = document("PriorityClass", "high", value=10)
    groups = group("old"), group("new", priorityClassName="high")
    objects = (queue("default"), host, important, *groups, lies, comes)
    ssn, plugins = opened(SHARED, *objects, release=release)
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert not ssn.evictions
    share = plugins["deviceshare"]
    assert isinstance(share, DeviceShare)
    cards = share._ledger.shared(0)
    assert cards is not None
    assert len(cards.pods[0]) == left
