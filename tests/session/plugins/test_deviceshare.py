"""Shared GPUs: by memory, whole, and virtual."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plinian.engine.kubernetes.objects import Node, Pod, decode
from plinian.engine.model.panic import Panic
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.plugins.deviceshare.gpu_share import SharedGpus, gpu_index, most_of
from plinian.engine.session.plugins.deviceshare.mig import (
    Geometry,
    Instance,
    MigUsage,
    decode_instance,
    find_match,
    geometries_of,
    use,
)
from plinian.engine.session.plugins.deviceshare.vgpu import (
    ASSIGNED,
    NO_USE_TYPE,
    USE_TYPE,
    GivenCard,
    Sharing,
    VirtualGpus,
    decode_given,
    encode_given,
    type_matches,
)
from plinian.engine.session.plugins.deviceshare.vgpu_request import CardRequest, requests_of
from plinian.engine.volcano.session.devices import VirtualGpuUse
from sessions import NOW, Document, group, node, opened, pod, queue, tasks

MEMORY = "volcano.sh/gpu-memory"
INDEX, TIME = "volcano.sh/gpu-index", "volcano.sh/predicate-time"
NUMBER = "volcano.sh/gpu-number"


def limited(name: str, *limits: dict[str, str], on: str = "", **annotations: str) -> Document:
    """Return a pod whose containers have these limits."""
    given = pod(name, "g", on=on, annotations=annotations)
    given["spec"]["containers"] = [
        {"name": f"c{index}", "resources": {"limits": each}} for index, each in enumerate(limits)
    ]
    return given


def as_pod(document: Document) -> Pod:
    """Return a pod as an object."""
    return decode(Pod, document)


def gpu_node(name: str = "n1", cards: int = 2, memory: int = 20, **annotations: str) -> Document:
    """Return a node with GPUs to be shared."""
    capacity = {NUMBER: str(cards), MEMORY: str(memory)}
    given = node(name, more=capacity, annotations=annotations)
    given["status"]["capacity"] = given["status"]["allocatable"]
    return given


def cards(**rest: Any) -> SharedGpus:
    """Return the cards of such a node."""
    made = SharedGpus.of(decode(Node, gpu_node(**rest)))
    assert made is not None
    return made


def test_a_pod_asks_for_all_its_containers_or_for_its_greediest_init_container() -> None:
    asking = limited("p", {MEMORY: "3"}, {MEMORY: "4"})
    assert most_of(as_pod(asking), MEMORY) == 7
    asking["spec"]["initContainers"] = [{"name": "i", "resources": {"limits": {MEMORY: "9"}}}]
    assert most_of(as_pod(asking), MEMORY) == 9


@pytest.mark.parametrize(("text", "index"), [("0", [0]), ("0,2", [0, 2]), ("", []), ("0,x", [])])
def test_the_cards_of_a_pod_stand_in_its_annotation(text: str, index: list[int]) -> None:
    assert gpu_index({"volcano.sh/gpu-index": text}) == index


def test_memory_is_that_of_each_card_and_sick_cards_are_left_out() -> None:
    made = cards(cards=3, memory=20, **{"volcano.sh/gpu-unhealthy-ids": "1,x"})
    assert (made.memory, list(made.pods)) == (6, [0, 2])


def test_a_node_without_number_or_memory_of_cards_has_none() -> None:
    assert SharedGpus.of(decode(Node, node("n1", more={NUMBER: "2"}))) is None
    empty = gpu_node()
    empty["status"]["capacity"] = {NUMBER: "0", MEMORY: "0"}
    assert SharedGpus.of(decode(Node, empty)) is None


def test_memory_must_be_free_on_one_card() -> None:
    made = cards(cards=2, memory=20)
    small, large = (as_pod(limited(f"p{n}", {MEMORY: str(n)})) for n in (6, 11))
    assert made.by_memory(small) == [0, 1]
    made.add(small, {"volcano.sh/gpu-index": "0"})
    assert made.by_memory(small) == [1]
    assert made.filter(large, sharing=True, number=False) == (
        "GpuShare",
        "no enough gpu memory on node n1",
    )


def test_a_card_that_is_overdrawn_seems_to_have_no_end_of_memory() -> None:
    made = cards(cards=1, memory=10)
    made.add(as_pod(limited("p11", {MEMORY: "11"})), {"volcano.sh/gpu-index": "0"})
    assert made.by_memory(as_pod(limited("p", {MEMORY: "1000"}))) == [0]


def test_whole_cards_must_be_empty() -> None:
    made = cards(cards=3, memory=30)
    made.add(as_pod(limited("one", {NUMBER: "1"})), {"volcano.sh/gpu-index": "1"})
    two, three = (as_pod(limited(f"p{n}", {NUMBER: str(n)})) for n in (2, 3))
    assert made.by_number(two) == [0, 2]
    assert made.filter(three, sharing=False, number=True) == (
        "GpuNumber",
        "no enough gpu number on node n1",
    )


def test_finished_pods_use_no_memory() -> None:
    made = cards(cards=1, memory=10)
    done = limited("done", {MEMORY: "10"})
    done["status"]["phase"] = "Succeeded"
    made.add(as_pod(done), {"volcano.sh/gpu-index": "0"})
    assert made.by_memory(as_pod(limited("p", {MEMORY: "10"}))) == [0]


def device_session(
    *documents: Document, process: ProcessState | None = None, **on: bool
) -> Session:
    """Return a session with the plugin, its switches set, beside ``predicates``."""
    switches = "".join(
        f"      deviceshare.{key}: {str(value).lower()}\n" for key, value in on.items()
    )
    conf = (
        "actions: allocate\ntiers:\n- plugins:\n  - name: predicates\n  - name: deviceshare\n"
        f"    arguments:\n{switches}"
    )
    return opened(conf, queue("default"), group("g", 2), *documents, process=process)[0]


def reasons(ssn: Session, name: str) -> list[str]:
    """Return why each node does not take a pod; an empty text says that it does."""
    predicate = dict(ssn.registry.flat("Predicate"))["deviceshare"]
    verdicts = predicate.function(*tasks(ssn, name), np.arange(len(ssn.nodes)))
    if verdicts is None:
        return [""] * len(ssn.nodes)
    return [
        " ".join(one.message for one in ssn.reasons.objections(verdict))
        for verdict in verdicts.tolist()
    ]


def test_a_node_without_cards_does_not_take_a_pod_that_asks_for_them() -> None:
    ssn = device_session(
        gpu_node("n1"),
        node("n2"),
        limited("p", {MEMORY: "5"}),
        pod("q", "g"),
        GPUSharingEnable=True,
    )
    assert reasons(ssn, "p") == ["", "node not initialized with deviceGpuShare"]
    assert reasons(ssn, "q") == ["", ""]


def test_nothing_is_asked_of_a_node_while_the_switch_is_off() -> None:
    ssn = device_session(node("n1"), limited("p", {MEMORY: "5"}), GPUNumberEnable=True)
    assert reasons(ssn, "p") == [""]


def test_a_switch_stays_as_it_was_set_before() -> None:
    process = ProcessState()
    documents = (node("n1"), limited("p", {MEMORY: "5"}))
    device_session(*documents, process=process, GPUSharingEnable=True)
    later = device_session(*documents, process=process, NodeLockEnable=False)
    assert reasons(later, "p") == ["node not initialized with deviceGpuShare"]


def test_what_a_session_gives_is_taken_there_and_in_the_next_one() -> None:
    process = ProcessState()
    documents = (gpu_node("n1"), *(limited(f"p{n}", {MEMORY: "8"}) for n in (1, 2, 3)))
    ssn = device_session(*documents, process=process, GPUSharingEnable=True)
    for name in ("p1", "p2"):
        assert reasons(ssn, name) == [""]
        ssn.registry.notify_allocated(*tasks(ssn, name), 0)
    assert reasons(ssn, "p3") == ["GpuShare no enough gpu memory on node n1"]
    bound = [dict(each) for each in documents]
    for each in bound[1:3]:
        each["spec"] = {**each["spec"], "nodeName": "n1"}
        each["status"] = {"phase": "Running"}
    later = device_session(*bound, process=process, GPUSharingEnable=True)
    assert reasons(later, "p3") == ["GpuShare no enough gpu memory on node n1"]


def test_cards_are_taken_back_only_if_the_pod_itself_names_them() -> None:
    ssn = device_session(
        gpu_node("n1", cards=1, memory=10),
        limited("p1", {MEMORY: "10"}, on="n1", **{INDEX: "0", TIME: "1"}),
        limited("p2", {MEMORY: "10"}),
        limited("p3", {MEMORY: "10"}),
        GPUSharingEnable=True,
    )
    one, two = tasks(ssn, "p1", "p2")
    assert reasons(ssn, "p3") != [""]
    ssn.registry.notify_deallocated(one, 0)
    assert reasons(ssn, "p3") == [""]
    ssn.registry.notify_allocated(two, 0)
    ssn.registry.notify_deallocated(two, 0)
    assert reasons(ssn, "p3") != [""]


@pytest.mark.parametrize(
    "switches",
    [
        {"GPUSharingEnable": True, "GPUNumberEnable": True},
        {"GPUSharingEnable": True, "VGPUEnable": True},
        {"GPUNumberEnable": True, "VGPUEnable": True},
    ],
)
def test_switches_that_exclude_each_other_end_the_process(switches: dict[str, bool]) -> None:
    with pytest.raises(Panic):
        device_session(node("n1"), **switches)


A100 = "GPU-a,10,40960,NVIDIA-A100,true,hami-core"
V100 = "GPU-v,2,16384,NVIDIA-V100,true,hami-core"


def vgpu_node(*cards: str, handshake: str = "Reported", name: str = "n1") -> Document:
    """Return a node whose agent registered cards."""
    marks = {
        "volcano.sh/node-vgpu-register": "".join(f"{card}:" for card in cards),
        "volcano.sh/node-vgpu-handshake": handshake,
    }
    return node(name, annotations=marks)


def virtual(*cards: str, **config: Any) -> VirtualGpus:
    """Return the cards of such a node."""
    made = VirtualGpus.of(decode(Node, vgpu_node(*cards)), config, NOW)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("handshake", "there"),
    [
        ("Reported_2025.11.21 13:00:00", True),
        ("Requesting_2025.11.21 13:59:00", True),
        ("Requesting_2025.11.21 13:58:59", False),
        ("Requesting_soon", False),
        ("Deleted_2025.11.21 13:59:59", False),
    ],
)
def test_an_agent_answers_within_a_minute_or_is_gone(
    handshake: str,
    there: bool,  # noqa: FBT001
) -> None:
    asked = decode(Node, vgpu_node(A100, handshake=handshake))
    assert (VirtualGpus.of(asked, {}, NOW) is not None) is there


@pytest.mark.parametrize("text", ["", "GPU-a,1,2,NVIDIA,true", "GPU-a,1,2:", "none:"])
def test_a_registration_that_is_none(text: str) -> None:
    told = vgpu_node()
    told["metadata"]["annotations"]["volcano.sh/node-vgpu-register"] = text
    assert VirtualGpus.of(decode(Node, told), {}, NOW) is None


def vgpu(
    number: str = "", memory: str = "", percentage: str = "", cores: str = ""
) -> dict[str, str]:
    """Return the limits of a container that asks for virtual GPUs."""
    told = {"number": number, "memory": memory, "memory-percentage": percentage, "cores": cores}
    return {f"volcano.sh/vgpu-{key}": value for key, value in told.items() if value}


@pytest.mark.parametrize(
    ("limits", "request_"),
    [
        (vgpu("2", "1000", cores="50"), CardRequest(2, 1000, 101, 50)),
        (vgpu("1"), CardRequest(1, 0, 100, 0)),
        (vgpu(memory="1k"), CardRequest(1, 1000, 101, 0)),
        (vgpu("1", percentage="50"), CardRequest(1, 0, 50, 0)),
        (vgpu("500m", "1000m"), CardRequest(0, 0, 100, 0)),
    ],
)
def test_what_a_container_asks_for(limits: dict[str, str], request_: CardRequest) -> None:
    assert list(requests_of(as_pod(limited("p", limits)))) == [request_]


def fit(
    made: VirtualGpus, *limits: dict[str, str], **annotations: str
) -> list[list[GivenCard]] | None:
    """Return what a pod would be given."""
    found = made.clone().fit(as_pod(limited("p", *limits, **annotations)))
    return None if found is None else found.given


def test_the_last_cards_are_given_first() -> None:
    made = virtual(A100, V100)
    assert fit(made, vgpu("1", "1000")) == [[GivenCard("GPU-v", 1000, 0)]]
    assert fit(made, vgpu("2", "1000")) == [
        [GivenCard("GPU-v", 1000, 0), GivenCard("GPU-a", 1000, 0)]
    ]
    assert fit(made, vgpu("3", "1000")) is None
    assert fit(made, vgpu("1", "20000"), vgpu("1", "20000")) == [
        [GivenCard("GPU-a", 20000, 0)],
        [GivenCard("GPU-a", 20000, 0)],
    ]


def test_all_memory_is_that_of_the_first_card_looked_at() -> None:
    assert fit(virtual(A100, V100), vgpu("2")) == [
        [GivenCard("GPU-v", 16384, 0), GivenCard("GPU-a", 16384, 0)]
    ]


def test_a_percentage_below_100_comes_to_nothing() -> None:
    assert fit(virtual(A100), vgpu("1", percentage="99")) == [[GivenCard("GPU-a", 0, 0)]]


@pytest.mark.parametrize(
    ("held", "asked", "fits"),
    [
        ((1000, 60), vgpu("1", "1000", cores="40"), True),
        ((1000, 60), vgpu("1", "1000", cores="41"), False),
        ((1000, 0), vgpu("1", "1000", cores="100"), False),
        ((1000, 100), vgpu("1", "1000"), False),
        ((40000, 0), vgpu("1", "961"), False),
        ((40000, 0), vgpu("1", "960"), True),
    ],
)
def test_memory_and_cores_must_be_free(
    held: tuple[int, int],
    asked: dict[str, str],
    fits: bool,  # noqa: FBT001
) -> None:
    made = virtual(A100)
    made.add("other", {ASSIGNED: encode_given([[GivenCard("GPU-a", *held)]])})
    assert (fit(made, asked) is not None) is fits


def test_a_card_is_shared_by_so_many_only() -> None:
    made = virtual(V100)
    for uid in ("one", "two"):
        assert fit(made, vgpu("1", "1")) is not None
        made.add(uid, {ASSIGNED: encode_given([[GivenCard("GPU-v", 1, 0)]])})
    assert fit(made, vgpu("1", "1")) is None


@pytest.mark.parametrize(
    ("annotations", "matches"),
    [
        ({}, True),
        ({USE_TYPE: "a100"}, True),
        ({USE_TYPE: "V100,A100"}, True),
        ({USE_TYPE: "V100"}, False),
        ({NO_USE_TYPE: "V100"}, True),
        ({NO_USE_TYPE: "V100,A100"}, False),
        ({USE_TYPE: "A100", NO_USE_TYPE: "A100"}, True),
    ],
)
def test_types_of_cards(annotations: dict[str, str], matches: bool) -> None:  # noqa: FBT001
    assert type_matches(annotations, "NVIDIA-A100") is matches


def test_a_pod_may_insist_on_a_way_of_sharing() -> None:
    assert fit(virtual(A100), vgpu("1", "1"), **{"volcano.sh/vgpu-mode": "mig"}) is None
    assert fit(virtual(A100), vgpu("1", "1"), **{"volcano.sh/vgpu-mode": "hami-core"}) is not None


def test_what_was_given_reads_as_it_was_written() -> None:
    given = [[GivenCard("GPU-a", 1, 2), GivenCard("GPU-b", 3, 4)], [], [GivenCard("GPU-c", 5, 6)]]
    assert list(decode_given(encode_given(given))) == [each for part in given for each in part]
    with pytest.raises(Panic, match=r"index out of range \[3\] with length 3"):
        list(decode_given("GPU-a,NVIDIA,1:"))


def test_a_pod_counts_once_for_a_card_when_it_is_added_and_again_when_it_is_given() -> None:
    process = ProcessState()
    documents = (vgpu_node(V100), limited("p1", vgpu("1", "100")), limited("p2", vgpu("1", "100")))
    ssn = device_session(*documents, process=process, VGPUEnable=True)
    assert reasons(ssn, "p1") == [""]
    ssn.registry.notify_allocated(*tasks(ssn, "p1"), 0)
    # The card takes two, and the one pod counts for two until the node is looked at anew.
    assert reasons(ssn, "p2") == ["hami-vgpuDeviceSharing error"]
    bound = dict(documents[1])
    bound["spec"] = {**bound["spec"], "nodeName": "n1"}
    bound["status"] = {"phase": "Running"}
    later = device_session(documents[0], bound, documents[2], process=process, VGPUEnable=True)
    assert reasons(later, "p2") == [""]


def test_a_part_that_is_not_free_is_an_error_and_no_more() -> None:
    ssn = device_session(vgpu_node(V100), limited("p", vgpu("1", "20000")), VGPUEnable=True)
    ssn.registry.notify_allocated(*tasks(ssn, "p"), 0)
    assert ssn.errors == ["AllocateToPod failed not enough gpu fitted on this node"]


GEOMETRIES = (
    Geometry("g1", (Instance("1g", 10, 2),)),
    Geometry("g2", (Instance("3g", 40, 1), Instance("2g", 20, 3))),
)
CONFIG = {
    "nvidia": {
        "knownMigGeometries": [
            {
                "models": ["A100"],
                "allowedGeometries": [
                    {
                        "group": geometry.group,
                        "geometries": [
                            {"name": each.name, "memory": each.memory, "count": each.count}
                            for each in geometry.instances
                        ],
                    }
                    for geometry in GEOMETRIES
                ],
            }
        ]
    }
}


def test_geometries_are_those_of_the_type_of_card() -> None:
    assert geometries_of(CONFIG, "NVIDIA-A100-80GB") == GEOMETRIES
    assert geometries_of(CONFIG, "NVIDIA-V100") is None
    assert geometries_of({}, "NVIDIA-A100") is None


def test_the_first_geometry_with_an_instance_that_is_large_enough() -> None:
    assert find_match("GPU-a", 5, MigUsage(), GEOMETRIES) == ("GPU-a[g1-0]", 10)
    assert find_match("GPU-a", 15, MigUsage(), GEOMETRIES) == ("GPU-a[g2-1]", 20)
    assert find_match("GPU-a", 30, MigUsage(), GEOMETRIES) == ("GPU-a[g2-0]", 40)
    assert find_match("GPU-a", 50, MigUsage(), GEOMETRIES) is None


def test_a_card_that_is_cut_stays_so_and_gives_kinds_in_use_only() -> None:
    usage = MigUsage()
    assert use(usage, GEOMETRIES, "g2", 2) == 20
    assert find_match("GPU-a", 5, usage, GEOMETRIES) == ("GPU-a[g2-1]", 20)
    assert find_match("GPU-a", 30, usage, GEOMETRIES) is None
    for position in (1, 3):
        use(usage, GEOMETRIES, "g2", position)
    assert find_match("GPU-a", 5, usage, GEOMETRIES) is None


@pytest.mark.parametrize(
    ("name", "instance"),
    [("GPU-a[g2-3]", ("g2", 3)), ("GPU-a", None), ("GPU-a[g2]", None), ("GPU-a[g2-x]", None)],
)
def test_names_of_instances(name: str, instance: tuple[str, int] | None) -> None:
    assert decode_instance(name) == instance


def test_cards_are_cut_only_if_it_is_known_how() -> None:
    card = "GPU-a,7,81920,NVIDIA-A100,true,mig"
    assert virtual(card).mode == "hami-core"
    made = virtual(card, **CONFIG)
    assert made.mode == "mig"
    assert fit(made, vgpu("1", "15")) == [[GivenCard("GPU-a[g2-1]", 15, 0)]]
    made.add("other", {ASSIGNED: "GPU-a[g2-1],NVIDIA,15,0:"})
    assert made.cards[0].used_memory == 20


@pytest.mark.parametrize(
    ("sharing", "left", "known"),
    [
        (Sharing(use=VirtualGpuUse.BY_POLICY), 0, ()),
        (Sharing(use=VirtualGpuUse.BY_SHARE), 5, ("p",)),
    ],
)
def test_an_instance_of_a_pod_that_goes_is_free(
    sharing: Sharing, left: int, known: tuple[str, ...]
) -> None:
    """From v1.15 on its memory is given back in full; before that, what the annotation says."""
    made = virtual("GPU-a,7,81920,NVIDIA-A100,true,mig", **CONFIG)
    made.sharing = sharing
    (card,) = made.cards
    annotations = {ASSIGNED: "GPU-a[g2-1],NVIDIA,15,0:"}
    made.add("p", annotations)
    made.remove("p", annotations)
    assert (card.used_number, card.used_memory, card.mig.used) == (0, left, {})
    assert tuple(card.pods) == known
    assert find_match("GPU-a", 30, card.mig, card.geometries) == ("GPU-a[g2-0]", 40)


@pytest.mark.parametrize("name", ["GPU-a", "GPU-a[g3-0]", "GPU-a[g2-0]"])
def test_an_instance_that_is_not_in_use_frees_no_other(name: str) -> None:
    made = virtual("GPU-a,7,81920,NVIDIA-A100,true,mig", **CONFIG)
    made.sharing = Sharing(use=VirtualGpuUse.BY_POLICY)
    made.add("p", {ASSIGNED: "GPU-a[g2-1],NVIDIA,15,0:"})
    made.remove("p", {ASSIGNED: f"{name},NVIDIA,15,0:"})
    assert made.cards[0].mig.used == {"2g": [0]}
    assert made.cards[0].used_memory == 20
