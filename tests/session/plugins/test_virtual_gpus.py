"""Virtual GPUs since v1.13: resources like others, scored, shared by percentage and by policy."""

from __future__ import annotations

import numpy as np
import pytest

from plinian.engine.kubernetes.objects import Node, Pod, decode
from plinian.engine.model.panic import Panic
from plinian.engine.session.close import close
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.nodes.node_selection import Purpose
from plinian.engine.session.nodes.node_views import NodeViews
from plinian.engine.session.plugins.deviceshare.vgpu import (
    ASSIGNED,
    GANG_POLICY,
    Card,
    GivenCard,
    Sharing,
    VirtualGpus,
    gang_of,
)
from plinian.engine.session.plugins.deviceshare.vgpu_request import CardNames, names_of, requests_of
from plinian.engine.volcano.session.devices import VirtualGpuUse
from sessions import Document, group, node, opened, pod, queue, tasks

FREE = "Requesting_2099.01.01 00:00:00"
PREFIX = "volcano.sh/vgpu-"


def limited(name: str, of: str = "g", on: str = "", **limits: str) -> Document:
    """Return a pod that asks for virtual GPUs."""
    named = {f"{PREFIX}{key.replace('_', '-')}": value for key, value in limits.items()}
    made = pod(name, of, on=on, requests=named)
    made["spec"]["containers"][0]["resources"]["limits"] = named
    return made


def as_pod(document: Document) -> Pod:
    """Return a pod as an object."""
    return decode(Pod, document)


def gpu_node(name: str, *memory: int) -> Document:
    """Return a node with a card for each amount of memory."""
    cards = "".join(
        f"{name}-{number},9,{amount},NVIDIA-X,true,hami-core:"
        for number, amount in enumerate(memory)
    )
    told = {"volcano.sh/node-vgpu-register": cards, "volcano.sh/node-vgpu-handshake": FREE}
    has = {f"{PREFIX}number": "99", f"{PREFIX}memory": "99k", f"{PREFIX}cores": "999"}
    return node(name, annotations=told, more=has)


def shared(*memory: int, use: VirtualGpuUse, policy: str = "") -> VirtualGpus:
    """Return cards of these amounts of memory."""
    cards = [Card(f"c{number}", 9, amount, "NVIDIA") for number, amount in enumerate(memory)]
    return VirtualGpus("n", "hami-core", cards, Sharing(use, policy))


def session(
    *documents: Document, release: str, policy: str = "binpack", weight: int = 1
) -> Session:
    """Return a session that scores by GPUs."""
    conf = (
        "actions: allocate\ntiers:\n- plugins:\n  - name: predicates\n  - name: deviceshare\n"
        "    arguments:\n      deviceshare.VGPUEnable: true\n"
        f"      deviceshare.SchedulePolicy: {policy}\n      deviceshare.ScheduleWeight: {weight}\n"
    )
    return opened(conf, queue("default"), group("g"), *documents, release=release)[0]


def seek(ssn: Session, *names: str) -> None:
    """Ask the nodes whether they have room for pods, one after the other."""
    for name in names:
        (task,) = tasks(ssn, name)
        NodeViews(ssn).selection.predicate(task, ssn.all_rows, Purpose.ALLOCATE, None)


def scores(ssn: Session, name: str) -> list[float]:
    """Return what the nodes score for a pod, once they have been asked."""
    entry = dict(ssn.registry.flat("NodeOrder"))["deviceshare"]
    found: list[float] = entry.function(*tasks(ssn, name), np.arange(len(ssn.nodes))).tolist()
    return found


def uses(made: VirtualGpus) -> list[int]:
    """Return how much memory of each card is used."""
    return [card.used_memory for card in made.cards]


@pytest.mark.parametrize(
    ("use", "given"),
    [
        (VirtualGpuUse.COUNTED, [GivenCard("c1", 0, 0), GivenCard("c0", 0, 0)]),
        (VirtualGpuUse.BY_SHARE, [GivenCard("c1", 500, 0), GivenCard("c0", 1000, 0)]),
    ],
)
def test_a_percentage_is_that_of_each_card_since_v1_14(
    use: VirtualGpuUse, given: list[GivenCard]
) -> None:
    asking = as_pod(limited("p", number="2", memory_percentage="50"))
    found = shared(2000, 1000, use=use).fit(asking)
    assert found is not None
    assert found.given == [given]


@pytest.mark.parametrize(
    ("policy", "first", "score"), [("", "c2", 0), ("binpack", "c1", 75), ("spread", "c0", 0)]
)
def test_cards_come_in_the_order_of_the_policy_since_v1_15(
    policy: str, first: str, score: float
) -> None:
    made = shared(1000, 1000, 1000, use=VirtualGpuUse.BY_POLICY, policy=policy)
    made.cards[1].count(500, 0)
    made.cards[2].count(250, 0)
    found = made.fit(as_pod(limited("p", number="1", memory="250")))
    assert found is not None
    assert (found.given[0][0].uuid, found.score) == (first, score)


@pytest.mark.parametrize(("used", "score"), [(0, 100), (1, 0)])
def test_spread_scores_cards_that_nobody_had_before_v1_15(used: int, score: float) -> None:
    made = shared(1000, use=VirtualGpuUse.BY_SHARE, policy="spread")
    made.cards[0].used_number = used
    found = made.fit(as_pod(limited("p", number="1", memory="1")))
    assert found is not None
    assert found.score == score


def test_pods_of_a_gang_may_refuse_cards_of_each_other() -> None:
    made = shared(1000, 1000, use=VirtualGpuUse.BY_POLICY)
    asking = limited("p", number="1", memory="1")
    asking["metadata"]["annotations"][GANG_POLICY] = "spread"
    for uid, card in (("a", "c1"), ("b", "c0")):
        found = made.fit(as_pod(asking))
        assert found is not None
        assert found.given == [[GivenCard(card, 1, 0)]]
        made.note(uid, found.given, gang_of(as_pod(asking)))
    assert made.fit(as_pod(asking)) is None
    assert gang_of(as_pod(asking)) == "ns/g"


@pytest.mark.parametrize(
    ("use", "used"),
    [
        (VirtualGpuUse.FROM_LAST, 300),
        (VirtualGpuUse.COUNTED, 400),
        (VirtualGpuUse.BY_SHARE, 400),
        (VirtualGpuUse.BY_POLICY, 300),
    ],
)
def test_containers_of_a_pod_on_one_card_count_each_in_v1_13_and_v1_14(
    use: VirtualGpuUse, used: int
) -> None:
    made = shared(1000, use=use)
    made.add("a", {ASSIGNED: "c0,NVIDIA,300,0:;c0,NVIDIA,100,0:"})
    assert uses(made) == [used]


def test_what_a_pod_had_is_taken_of_each_card_once() -> None:
    made = shared(1000, 1000, use=VirtualGpuUse.BY_POLICY)
    told = {ASSIGNED: "c0,NVIDIA,300,0:c1,NVIDIA,200,0:;c0,NVIDIA,100,0:"}
    made.add("a", told)
    assert uses(made) == [300, 200]
    made.remove("b", told)
    assert uses(made) == [300, 200]
    made.remove("a", told)
    assert uses(made) == [0, 0]


def test_the_configuration_names_the_resources() -> None:
    assert names_of({}) == CardNames(percentage="")
    named = names_of({"nvidia": {"resourceCountName": "x/gpu", "resourceCoreName": "x/cores"}})
    assert named == CardNames("x/gpu", "", "", "x/cores")
    asking = pod("p", "g")
    asking["spec"]["containers"][0]["resources"] = {"limits": {"x/gpu": "2", "x/cores": "30"}}
    (request,) = requests_of(as_pod(asking), named)
    assert (request.cards, request.cores) == (2, 30)


@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.4", "v1.15.1"])
def test_nodes_score_by_what_is_used_of_the_cards_that_a_pod_would_get(release: str) -> None:
    ssn = session(
        gpu_node("n1", 1000),
        gpu_node("n2", 600),
        limited("p", number="1", memory="300"),
        pod("q", "g"),
        release=release,
        weight=10,
    )
    seek(ssn, "p")
    assert scores(ssn, "p") == [300, 500]
    assert scores(ssn, "q") == [0, 0]


@pytest.mark.parametrize(
    ("release", "asked", "score"),
    [
        ("v1.14.4", ["p", "much"], 30),
        ("v1.14.4", ["p", "r", "same"], 30),
        ("v1.14.4", ["p", "elsewhere"], 30),
        ("v1.14.4", ["p", "nothing"], 30),
        ("v1.13.2", ["p", "nothing"], 0),
        ("v1.13.2", ["nothing", "p"], 30),
    ],
)
def test_a_node_without_room_scores_as_for_the_last_pod_that_its_cards_were_asked_about(
    release: str, asked: list[str], score: float
) -> None:
    elsewhere = limited("elsewhere", number="1", memory="500")
    elsewhere["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1000"
    ssn = session(
        gpu_node("n1", 1000),
        *(limited(name, number="1", memory="300") for name in ("p", "same")),
        limited("r", number="1", memory="500"),
        limited("much", number="1", memory="5000"),
        elsewhere,
        pod("nothing", "g"),
        release=release,
    )
    seek(ssn, *asked)
    assert scores(ssn, "much") == [score]


@pytest.mark.parametrize(("release", "weight"), [("v1.12.1", 10), ("v1.13.0", 0)])
def test_releases_before_v1_13_and_no_weight_score_nothing(release: str, weight: int) -> None:
    documents = (gpu_node("n1", 1000), limited("p", number="1", memory="300"))
    ssn = session(*documents, release=release, weight=weight)
    assert not dict(ssn.registry.flat("NodeOrder")) or scores(ssn, "p") == [0]


def test_a_node_without_cards_that_comes_to_be_scored_crashes() -> None:
    ssn = session(node("n1"), limited("p", number="1"), release="v1.15.1")
    with pytest.raises(Panic, match="nil pointer"):
        scores(ssn, "p")


@pytest.mark.parametrize(("release", "counted"), [("v1.12.1", False), ("v1.13.0", True)])
def test_memory_of_virtual_gpus_is_a_resource_since_v1_13(release: str, *, counted: bool) -> None:
    ssn = session(gpu_node("n1", 1000), limited("p", number="1", memory="1"), release=release)
    (task,) = tasks(ssn, "p")
    assert (f"{PREFIX}memory" in (ssn.tasks.info[task].request.scalars or {})) is counted


@pytest.mark.parametrize(("release", "free"), [("v1.14.4", False), ("v1.15.1", True)])
def test_what_is_taken_back_is_free_at_once_since_v1_15(release: str, *, free: bool) -> None:
    ssn = session(
        gpu_node("n1", 1000),
        limited("p", number="1", memory="800"),
        limited("q", number="1", memory="800"),
        release=release,
    )
    first, second = tasks(ssn, "p", "q")
    predicate = dict(ssn.registry.flat("Predicate"))["deviceshare"]
    voting.pre_predicate(ssn, first)
    ssn.registry.notify_allocated(first, 0)
    assert predicate.function(second, np.array([0])).tolist() != [0]
    ssn.registry.notify_deallocated(first, 0)
    assert (predicate.function(second, np.array([0])).tolist() == [0]) is free


@pytest.mark.parametrize(("release", "free"), [("v1.14.4", False), ("v1.15.1", True)])
def test_cards_of_a_pod_that_is_evicted_are_free_until_that_is_taken_back(
    release: str, *, free: bool
) -> None:
    runs = limited("p", number="1", memory="800", on="n1")
    runs["metadata"]["annotations"][ASSIGNED] = "n1-0,NVIDIA,800,0:"
    asks = limited("q", number="1", memory="800")
    ssn = session(gpu_node("n1", 1000), runs, asks, release=release)
    first, second = tasks(ssn, "p", "q")
    predicate = dict(ssn.registry.flat("Predicate"))["deviceshare"]
    assert predicate.function(second, np.array([0])).tolist() != [0]
    statement = Statement(ssn)
    statement.evict(first, "test")
    assert (predicate.function(second, np.array([0])).tolist() == [0]) is free
    statement.discard()
    assert predicate.function(second, np.array([0])).tolist() != [0]


@pytest.mark.parametrize(("release", "told"), [("v1.12.1", None), ("v1.13.0", "400")])
def test_statuses_of_queues_tell_what_pods_were_given(release: str, told: str | None) -> None:
    given = limited("p", number="1", memory="300", on="n1")
    given["metadata"]["annotations"][ASSIGNED] = "n1-0,NVIDIA,400,0:other,NVIDIA,9,9:"
    ssn = session(gpu_node("n1", 1000), given, release=release)
    result = SessionResult()
    close(ssn, result)
    assert result.queues["default"].allocated.get(f"{PREFIX}memory") == told


def test_cards_are_as_they_are_told() -> None:
    made = VirtualGpus.of(decode(Node, gpu_node("n1", 5, 6)), {}, 0)
    assert made is not None
    assert [card.memory for card in made.cards] == [5, 6]
