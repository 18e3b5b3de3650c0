"""Limits that a job does not expect: which plugin sets them, from what, and for which resources."""

from __future__ import annotations

from typing import Any

import pytest
from answer_worlds import NODES, Document

from sessions import document, group, node, pod, queue

GPU = "nvidia.com/gpu"
PLUGINS = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: {plugin}
"""
OVERCOMMIT = PLUGINS.format(plugin="overcommit")
TWICE = f"{OVERCOMMIT}    arguments:\n      overcommit-factor: 2\n"


def gpus(name: str, count: int, cpu: int = 16) -> Document:
    made = node(name, cpu)
    made["status"]["allocatable"] |= {GPU: str(count)} if count else {}
    return made


def holder(name: str, count: int, on: str, **spec: Any) -> tuple[Document, Document]:
    """Return a job that runs, and its pod with some GPUs."""
    least = {"cpu": "1", GPU: str(count)}
    held = pod(f"{name}-0", name, 1, on, requests={GPU: str(count)})
    return group(name, 1, "Running", minResources=least, **spec), held


def guaranteeing(count: int) -> tuple[Document, ...]:
    """Return a job of queue ``a`` without GPUs, and a queue that some GPUs are guaranteed to."""
    guarantee = {"resource": {GPU: str(count)}}
    return (
        gpus("n1", 8),
        queue("a"),
        queue("b", guarantee=guarantee),
        *holder("six", 6, "n1", queue="a"),
        group("cpu", 1, "Pending", queue="a", minResources={"cpu": "1"}),
    )


@pytest.mark.parametrize("plugin", ["proportion", "capacity"])
@pytest.mark.parametrize("release", ["v1.9.0", "v1.9.1"])
def test_a_job_that_asks_for_no_gpus_waits_for_the_gpus_of_its_queue(
    ask: Any, plugin: str, release: str
) -> None:
    conf = PLUGINS.format(plugin=plugin)
    found = ask("podgroup/cpu", conf, *guaranteeing(4), release=release)
    assert found.sentence == (
        f"podgroup ns/cpu waits because its queue a is over its limit (plugin {plugin}): 6 of 4 "
        "nvidia.com/gpu are held or reserved (podgroup ns/six holds 6); the job asks for no "
        f"nvidia.com/gpu, but {release} compares all resources, and so enqueues no job of queue a "
        "(as v1.8.0 to v1.9.1); its limit is 4 nvidia.com/gpu, as all nodes have 8 and 4 are "
        "guaranteed to queue b"
    )


def test_later_releases_compare_what_a_job_asks_for(ask: Any) -> None:
    conf = PLUGINS.format(plugin="proportion")
    assert ask("podgroup/cpu", conf, *guaranteeing(4), release="v1.10.0").cause == "next-session"


def test_a_limit_that_guarantees_of_others_make_says_so(ask: Any) -> None:
    wants = group("gpu", 1, "Pending", queue="a", minResources={GPU: "1"})
    conf = PLUGINS.format(plugin="proportion")
    found = ask("podgroup/gpu", conf, *guaranteeing(4)[:-1], wants, release="v1.12.1")
    assert found.sentence.endswith(
        "its queue a is full (plugin proportion): it wants 1 nvidia.com/gpu, and is 2 over its "
        "limit of 4 (podgroup ns/six holds 6); its limit is 4 nvidia.com/gpu, as all nodes have 8 "
        "and 4 are guaranteed to queue b"
    )


@pytest.mark.parametrize(
    ("conf", "factor", "left"),
    [(OVERCOMMIT, "1.2, the default", "3.6"), (TWICE, "2", "10")],
)
def test_the_limit_of_overcommit_names_its_argument(
    ask: Any, conf: str, factor: str, left: str
) -> None:
    wants = group("gpu", 1, "Pending", minResources={GPU: "16"})
    documents = (gpus("n1", 8), queue("default"), *holder("six", 6, "n1"), wants)
    found = ask("podgroup/gpu", conf, *documents)
    assert (
        f"(plugin overcommit, overcommit-factor {factor}): it wants 16 nvidia.com/gpu, {left} are "
        "left; all nodes together have 8"
    ) in found.sentence


@pytest.mark.parametrize("release", ["v1.8.0", "v1.12.1", "v1.15.1"])
class TestGpusOfNodes:
    """Nodes without GPUs, too small ones, full ones, and those that others got just before."""

    def test_kinds_of_nodes_are_counted(self, ask: Any, release: str) -> None:
        documents = (
            *(gpus(f"n{number}", count) for number, count in enumerate((0, 0, 2, 8))),
            queue("default"),
            *holder("six", 6, "n3"),
            group("pg"),
            pod("a", "pg", 1, requests={GPU: "4"}),
        )
        found = ask("pod/a", NODES, *documents, release=release)
        assert found.sentence.endswith(
            "4 nodes lack nvidia.com/gpu: 2 have none at all, 1 has too few even when empty and 1 "
            "has too few free (the nearest, n3, lacks 2 nvidia.com/gpu)"
        )

    def test_a_node_without_any(self, ask: Any, release: str) -> None:
        documents = (gpus("n1", 0), queue("default"), group("pg"))
        found = ask(
            "pod/a", NODES, *documents, pod("a", "pg", requests={GPU: "1"}), release=release
        )
        assert found.sentence.endswith(
            "n1 has no nvidia.com/gpu; no node has 1 nvidia.com/gpu, even when it is empty"
        )

    def test_what_the_session_gave_to_another_pod(self, ask: Any, release: str) -> None:
        pods = (pod(name, "pg", 1, requests={GPU: "5"}) for name in ("a", "b"))
        documents = (gpus("n1", 8), queue("default"), group("pg"), *pods)
        found = ask("pod/b", NODES, *documents, release=release)
        assert found.sentence.endswith(
            "n1 lacks 2 nvidia.com/gpu, which this session gives to pod ns/a"
        )


def launching(*roles: str) -> tuple[Document, ...]:
    """Return a job whose launcher does not tolerate the taint of the GPU node; its worker does."""
    tainted = gpus("g1", 4)
    tainted.setdefault("spec", {})["taints"] = [
        {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    ]
    marks = [{"volcano.sh/task-spec": role} for role in roles] or [{}, {}]
    launcher = pod("l", "pg", 10, annotations=marks[0])
    worker = pod("w", "pg", 1, requests={GPU: "4"}, annotations=marks[1])
    worker["spec"]["tolerations"] = [{"operator": "Exists"}]
    return tainted, node("n1", 200), queue("default"), group("pg", 2), launcher, worker


@pytest.mark.parametrize("release", ["v1.8.0", "v1.9.1"])
def test_what_was_found_for_another_pod_is_not_said_of_this_one(ask: Any, release: str) -> None:
    found = ask("pod/w", NODES, *launching(), release=release)
    assert (
        "g1 is not checked for it: it refused pod ns/l (has a taint that the pod does not tolerate "
        "(gpu=yes)), and the scheduler uses that for all pods of the job without a role (as v1.8.0 "
        "to v1.9.1, behaviour tasks_without_role_share_failures)"
    ) in found.sentence
    groups = [each for link in found.chain for each in getattr(link, "groups", ())]
    (shared,) = (each for each in groups if each.of)
    assert (shared.of, shared.nodes) == ("ns/l", ("g1",))
    assert shared.behaviour == "tasks_without_role_share_failures"


@pytest.mark.parametrize("release", ["v1.8.0", "v1.9.1", "v1.12.1"])
def test_pods_of_other_roles_get_their_own_results(ask: Any, release: str) -> None:
    found = ask("pod/w", NODES, *launching("launcher", "worker"), release=release)
    assert "is not checked for it" not in found.sentence


@pytest.mark.parametrize("release", ["v1.8.0", "v1.9.0", "v1.12.1", "v1.15.1"])
def test_all_releases_give_reasons_in_the_same_words(ask: Any, release: str) -> None:
    closed = node("n1", 4)
    closed.setdefault("spec", {})["unschedulable"] = True
    found = ask(
        "pod/a", NODES, closed, queue("default"), group("pg"), pod("a", "pg"), release=release
    )
    assert found.sentence == (
        "pod ns/a waits because the only node does not take it: n1 is cordoned, with room for it"
    )


SHARED = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: deviceshare
    arguments:
      deviceshare.VGPUEnable: true
"""
SIX = "GPU-0,10,6144,NVIDIA-Card,true,hami-core:"
LATER = "Requesting_2125.08.04 02:27:07"


@pytest.mark.parametrize(
    ("annotations", "why"),
    [
        (
            {"hami.io/node-nvidia-register": SIX},
            (
                "has no annotation volcano.sh/node-vgpu-register; the scheduler does not read "
                "hami.io/node-nvidia-register, which it has"
            ),
        ),
        (
            {"volcano.sh/node-vgpu-register": SIX},
            "has no annotation volcano.sh/node-vgpu-handshake",
        ),
        (
            {
                "volcano.sh/node-vgpu-register": "GPU-0,10,6144,NVIDIA-Card,true:",
                "volcano.sh/node-vgpu-handshake": LATER,
            },
            (
                "has a malformed annotation volcano.sh/node-vgpu-register: card "
                '"GPU-0,10,6144,NVIDIA-Card,true" has 5 fields, and v1.12.1 reads cards with 6'
            ),
        ),
        (
            {
                "volcano.sh/node-vgpu-register": "none",
                "volcano.sh/node-vgpu-handshake": LATER,
            },
            'names no card in its annotation volcano.sh/node-vgpu-register: "none"',
        ),
        (
            {
                "volcano.sh/node-vgpu-register": SIX,
                "volcano.sh/node-vgpu-handshake": "Deleted_2025.08.04 02:27:07",
            },
            (
                "has an agent that does not answer: its annotation "
                "volcano.sh/node-vgpu-handshake is "
                '"Deleted_2025.08.04 02:27:07"'
            ),
        ),
    ],
)
def test_why_a_node_has_no_virtual_gpus(ask: Any, annotations: dict[str, str], why: str) -> None:
    found = ask("pod/a", SHARED, *sharing(annotations), release="v1.12.1")
    assert found.sentence == (f"pod ns/a waits because the only node does not take it: n1 {why}")


@pytest.mark.parametrize("release", ["v1.12.1", "v1.15.1"])
@pytest.mark.parametrize(
    ("asked", "register", "says"),
    [
        (("2", "10"), SIX, ""),
        (("1", "7000"), SIX, ": GPU-0 has 6144 memory free of the 7000 that are wanted"),
        (
            ("1", "10"),
            SIX.replace("NVIDIA", "100"),
            ': GPU-0 is of a type that the pod may not use ("100-Card")',
        ),
    ],
)
def test_cards_without_room_are_no_room(
    ask: Any, release: str, asked: tuple[str, str], register: str, says: str
) -> None:
    marks = {"volcano.sh/node-vgpu-register": register, "volcano.sh/node-vgpu-handshake": LATER}
    documents = sharing(marks, *asked)
    found = ask("pod/a", SHARED, *documents, release=release)
    assert found.sentence == (
        "pod ns/a waits because the only node does not take it: n1 has no cards that take the "
        f"virtual GPUs of the pod (plugin deviceshare){says}"
    )


def sharing(
    annotations: dict[str, str], cards: str = "1", memory: str = "10"
) -> tuple[Document, ...]:
    """Return a node that has such annotations, and pod ``a``, which asks for virtual GPUs."""
    names = ("volcano.sh/vgpu-number", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores")
    made = node("n1", 4)
    made["status"]["allocatable"] |= dict.fromkeys(names, "10000")
    made["metadata"]["annotations"] = annotations
    asks = {"volcano.sh/vgpu-number": cards, "volcano.sh/vgpu-memory": memory}
    wants = pod("a", "pg", 1, requests=asks)
    wants["spec"]["containers"][0]["resources"]["limits"] = asks
    return made, queue("default"), group("pg"), wants


ZONE = (
    PLUGINS.format(plugin="tdm")
    + """    arguments:
      tdm.revocable-zone.rz1: "00:00-23:59"
"""
)
GROUPS = PLUGINS.format(plugin="nodegroup")
WINDOWS = (
    PLUGINS.format(plugin="tdm")
    + """    arguments:
      tdm.revocable-zone.night: "22:00-23:00"
      tdm.revocable-zone.wrong: "22:00"
"""
)


@pytest.mark.parametrize("release", ["v1.8.0", "v1.12.1", "v1.15.1"])
@pytest.mark.parametrize(
    ("zone", "why"),
    [
        (
            "night",
            (
                "is in the revocable zone night, which is open at 22:00-23:00 UTC, and the session "
                "runs at {now} UTC"
            ),
        ),
        (
            "other",
            ("is in the revocable zone other, which no argument opens (tdm.revocable-zone.other)"),
        ),
        (
            "wrong",
            "is in a revocable zone whose window '22:00' cannot be read, as 10:00-21:00 can",
        ),
    ],
)
def test_a_closed_zone_is_named_with_its_window_and_the_time_that_was_compared(
    ask: Any, release: str, zone: str, why: str
) -> None:
    made = node("n1", 4)
    made["metadata"]["labels"] = {"volcano.sh/revocable-zone": zone}
    wants = pod("a", "pg", annotations={"volcano.sh/revocable-zone": "*"})
    found = ask("pod/a", WINDOWS, made, queue("default"), group("pg"), wants, release=release)
    said = why.format(now="13:00:00")
    assert found.sentence == (
        "pod ns/a waits because the only node does not take it: "
        f"n1 {said} (plugin tdm), with room for it"
    )


@pytest.mark.parametrize(
    ("release", "conf", "label", "why"),
    [
        *(
            (
                release,
                ZONE,
                "volcano.sh/revocable-zone=rz1",
                "is in a revocable zone (plugin tdm), and the pod is not revocable",
            )
            for release in ("v1.8.0", "v1.9.0", "v1.12.1", "v1.15.1")
        ),
        (
            "v1.15.1",
            GROUPS,
            "some=label",
            (
                "is in no node group (label volcano.sh/nodegroup-name), and plugin nodegroup wants "
                "one"
            ),
        ),
        (
            "v1.15.1",
            GROUPS,
            "volcano.sh/nodegroup-name=g1",
            "is in a node group, and the queue names none (spec.affinity, plugin nodegroup)",
        ),
    ],
)
def test_nodes_that_a_plugin_keeps_for_others(
    ask: Any, release: str, conf: str, label: str, why: str
) -> None:
    made = node("n1", 4)
    name, _, value = label.partition("=")
    made["metadata"]["labels"] = {name: value}
    documents = (made, queue("default"), group("pg"), pod("a", "pg"))
    found = ask("pod/a", conf, *documents, release=release)
    assert found.sentence == (
        f"pod ns/a waits because the only node does not take it: n1 {why}, with room for it"
    )


@pytest.mark.parametrize("labels", [{}, {"volcano.sh/nodegroup-name": "g1"}])
def test_a_queue_without_affinity_allows_no_group_and_is_not_said_to_exclude_one(
    ask: Any, labels: dict[str, str]
) -> None:
    made = node("n1", 4)
    made["metadata"]["labels"] = labels
    wants = pod("a", "pg", annotations={"volcano.sh/queue-name": "default"})
    documents = (made, queue("default"), group("pg"), wants)
    found = ask("pod/a", GROUPS, *documents, release="v1.12.1")
    assert found.sentence == (
        "pod ns/a waits because the only node does not take it: n1 is closed to queue "
        "default, whose spec.affinity allows no node group (plugin nodegroup), with room for it"
    )


@pytest.mark.parametrize("release", ["v1.8.0", "v1.9.0", "v1.12.1", "v1.15.1"])
def test_a_claim_that_does_not_exist_is_named_in_all_releases(ask: Any, release: str) -> None:
    wants = pod("a", "pg")
    wants["spec"]["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    other = document("PersistentVolumeClaim", "other", "ns", spec={}, status={"phase": "Bound"})
    documents = (node("n1", 4), queue("default"), group("pg"), other, wants)
    found = ask("pod/a", NODES, *documents, release=release)
    assert "its PersistentVolumeClaim ns/data does not exist" in found.sentence
    assert found.cause == "no-claim"
