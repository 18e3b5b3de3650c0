"""Objects are decoded as leniently and as strictly as Go decodes them."""

from __future__ import annotations

import gc
from typing import Any

import msgspec
import pytest

from plinian.engine.errors import EventMalformed
from plinian.engine.kubernetes import objects
from plinian.engine.kubernetes.objects import KINDS, decode

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "namespace": "default",
        "uid": "u",
        "creationTimestamp": "2025-07-30T07:56:43Z",
        "ownerReferences": [
            {"kind": "Job", "name": "j", "uid": "1"},
            {"kind": "ReplicaSet", "name": "r", "uid": "2", "controller": True},
        ],
    },
    "spec": {
        "containers": [
            {
                "name": "c",
                "env": [{"name": "A", "value": "b"}],
                "resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": 1}},
                "ports": [{"hostPort": 80, "containerPort": 80, "hostIP": "10.0.0.1"}],
            }
        ],
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "zone", "labelSelector": {}}
                ]
            }
        },
        "priority": 0,
    },
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize("payload", [POD, msgspec.json.encode(POD)], ids=["dict", "bytes"])
def test_a_pod_is_decoded_from_values_and_from_bytes(payload: bytes) -> None:
    pod = decode(objects.Pod, payload)
    assert pod.key == "default/p"
    assert pod.metadata.created == 1753862203
    assert pod.metadata.controller == objects.OwnerReference(
        kind="ReplicaSet", name="r", uid="2", controller=True
    )
    container = pod.spec.containers[0]
    assert container.resources.requests == {"cpu": "500m", "nvidia.com/gpu": 1}
    assert container.ports[0].host_ip == "10.0.0.1"
    assert pod.spec.affinity is not None
    assert pod.spec.affinity.pod_anti_affinity is not None
    (term,) = pod.spec.affinity.pod_anti_affinity.required
    assert term.label_selector == objects.LabelSelector()
    assert term.namespace_selector is None
    assert (pod.spec.priority, pod.spec.preemption_policy) == (0, None)


def test_an_empty_object_has_zero_values() -> None:
    for kind in KINDS.values():
        made = decode(kind, b"{}")
        assert made == kind()
        assert (made.key, made.labels, made.metadata.created) == ("", {}, 0)


def test_null_is_nothing_but_in_a_map_of_texts_an_empty_text() -> None:
    payload = (
        b'{"metadata":{"name":"p","creationTimestamp":null,"labels":{"a":null,"b":"c"}},'
        b'"spec":{"containers":[null,{"name":"c"}],"tolerations":null},"status":null}'
    )
    pod = decode(objects.Pod, payload)
    assert pod.labels == {"a": "", "b": "c"}
    assert [container.name for container in pod.spec.containers] == ["c"]
    assert pod.status == objects.PodStatus()


def test_a_field_of_a_wrong_type_is_refused_with_its_place() -> None:
    broken = {"metadata": {"name": "p", "namespace": "n"}, "spec": {"priority": "high"}}
    with pytest.raises(EventMalformed) as caught:
        decode(objects.Pod, broken)
    assert str(caught.value).startswith("n/p: a Pod that Go cannot decode")
    assert "spec.priority" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (objects.Pod, {"spec": {"containers": [{"resources": {"requests": {"cpu": "much"}}}]}}),
        (objects.Pod, {"spec": {"initContainers": [{"resources": {"limits": {"cpu": ""}}}]}}),
        (objects.Pod, {"spec": {"overhead": {"memory": "1Kib"}}}),
        (objects.Node, {"status": {"allocatable": {"pods": "1e"}}}),
        (objects.PodGroup, {"spec": {"minResources": {"cpu": "1 2"}}}),
        (objects.Queue, {"spec": {"guarantee": {"resource": {"cpu": "x"}}}}),
        (objects.ResourceQuota, {"status": {"hard": {"requests.cpu": "x"}}}),
        (objects.PersistentVolumeClaim, {"spec": {"resources": {"requests": {"storage": "x"}}}}),
        (objects.PersistentVolume, {"spec": {"capacity": {"storage": "x"}}}),
    ],
)
def test_what_is_no_quantity_refuses_the_whole_object(
    kind: type[objects.Object], parts: dict[str, Any]
) -> None:
    with pytest.raises(EventMalformed, match=r"that Go cannot decode: .* not a quantity"):
        decode(kind, {"metadata": {"name": "o"}, **parts})


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (objects.Node, {"metadata": {"creationTimestamp": "yesterday"}}),
        (objects.Node, {"metadata": {"deletionTimestamp": ""}}),
        (objects.Pod, {"metadata": {"creationTimestamp": "2025-13-01T00:00:00Z"}}),
        (objects.Pod, {"status": {"startTime": "x"}}),
        (objects.Pod, {"status": {"conditions": [{"lastTransitionTime": "x"}]}}),
        (objects.PodGroup, {"status": {"conditions": [{"lastTransitionTime": "x"}]}}),
    ],
)
def test_what_is_no_time_refuses_the_whole_object(
    kind: type[objects.Object], parts: dict[str, Any]
) -> None:
    with pytest.raises(EventMalformed, match="that Go cannot decode: "):
        decode(kind, parts)


@pytest.mark.parametrize(
    ("kind", "path", "bits"),
    [
        (objects.PodGroup, "spec.minMember", 32),
        (objects.PodGroup, "spec.minTaskMember.role", 32),
        (objects.PodGroup, "spec.networkTopology.highestTierAllowed", 64),
        (objects.Queue, "spec.weight", 32),
        (objects.Pod, "spec.priority", 32),
        (objects.HyperNode, "spec.tier", 64),
        (objects.PodDisruptionBudget, "spec.minAvailable", 32),
    ],
)
def test_a_number_that_does_not_fit_its_field_refuses_the_whole_object(
    kind: type[objects.Object], path: str, bits: int
) -> None:
    def with_number(number: int) -> dict[str, Any]:
        value: Any = number
        for name in reversed(path.split(".")):
            value = {name: value}
        return dict(value)

    most = 2 ** (bits - 1) - 1
    decode(kind, with_number(most))
    decode(kind, with_number(-most - 1))
    for number in (most + 1, -most - 2, 10**30):
        with pytest.raises(EventMalformed, match="that Go cannot decode: "):
            decode(kind, with_number(number))


def test_what_is_missing_and_what_is_empty_differ_where_volcano_tells_them_apart() -> None:
    group = decode(objects.PodGroup, b'{"spec":{"minResources":{}}}')
    assert group.spec.min_resources == {}
    assert objects.PodGroup().spec.min_resources is None
    queue = decode(objects.Queue, b'{"spec":{"reclaimable":false},"status":{"allocated":{}}}')
    assert (queue.spec.reclaimable, queue.status.allocated) == (False, {})
    assert (objects.Queue().spec.reclaimable, objects.Queue().status.allocated) == (None, None)


def test_the_garbage_collector_has_nothing_to_do_with_objects() -> None:
    pods = [decode(objects.Pod, POD) for _ in range(3)]
    assert not any(gc.is_tracked(pod) or gc.is_tracked(pod.spec) for pod in pods)
