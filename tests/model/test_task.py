"""A task is what the scheduler makes of a pod; equal pods are of one class."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.kubernetes.objects import (
    LabelSelector,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    decode,
)
from plinian.engine.model.resizes import as_resized
from plinian.engine.model.resource import Resource
from plinian.engine.model.task import TaskBuilder, TaskInfo, TaskRules, pod_request
from plinian.engine.model.task_classes import TaskClasses
from plinian.engine.model.task_status import TaskStatus, status_of
from plinian.engine.model.volumes import ClaimMissing, attach_limit_key, csi_volumes
from plinian.engine.volcano.session.history import resolve


def pod(name: str = "p", *, meta: Any = None, status: Any = None, **spec: Any) -> Pod:
    """Return a pod in namespace ``n``."""
    document = {
        "metadata": {"name": name, "namespace": "n", "uid": f"n-{name}", **(meta or {})},
        "spec": spec,
        "status": status or {"phase": "Pending"},
    }
    return decode(Pod, document)


def container(cpu: str, *, always: bool = False) -> dict[str, Any]:
    """Return a container that asks for so much; a sidecar if it is to be restarted always."""
    made: dict[str, Any] = {"resources": {"requests": {"cpu": cpu}}}
    return {**made, "restartPolicy": "Always"} if always else made


def task(of: Pod) -> TaskInfo:
    """Return the task of a pod."""
    return TaskBuilder(TaskClasses()).task(of)


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container("1"), container("500m")]}, 1500),
        ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, 1250),
        ({"containers": [container("1")], "initContainers": [container("3")]}, 3000),
        (
            {
                "containers": [container("1")],
                "initContainers": [container("3")],
                "overhead": {"cpu": "250m"},
            },
            3000,
        ),
        ({"containers": [container("1")], "initContainers": [container("3", always=True)]}, 4000),
        # A sidecar counts for what starts after it, not before.
        (
            {
                "containers": [container("1")],
                "initContainers": [container("2", always=True), container("3")],
            },
            5000,
        ),
        (
            {
                "containers": [container("1")],
                "initContainers": [container("3"), container("2", always=True)],
            },
            3000,
        ),
    ],
)
def test_a_request_is_the_most_that_any_phase_needs(spec: dict[str, Any], cpu: float) -> None:
    assert pod_request(pod(**spec)) == Resource(cpu, 0, {"pods": 1})


def test_a_pod_that_asks_for_nothing_is_best_effort() -> None:
    made = task(pod(containers=[{}]))
    assert made.best_effort
    assert made.request.scalars == {"pods": 1}


@pytest.mark.parametrize(
    ("phase", "deleting", "node", "expected"),
    [
        ("Pending", False, "", TaskStatus.PENDING),
        ("Pending", False, "a", TaskStatus.BOUND),
        ("Pending", True, "", TaskStatus.RELEASING),
        ("Running", False, "a", TaskStatus.RUNNING),
        ("Running", True, "a", TaskStatus.RELEASING),
        ("Succeeded", True, "a", TaskStatus.SUCCEEDED),
        ("Failed", True, "a", TaskStatus.FAILED),
        ("Unknown", False, "a", TaskStatus.UNKNOWN),
        ("", False, "a", TaskStatus.UNKNOWN),
    ],
)
def test_the_status_follows_the_pod(
    phase: str, *, deleting: bool, node: str, expected: TaskStatus
) -> None:
    meta = {"deletionTimestamp": "2025-01-01T00:00:00Z"} if deleting else {}
    assert status_of(pod(meta=meta, status={"phase": phase}, nodeName=node)) is expected


@pytest.mark.parametrize(
    ("annotations", "labels", "preemptable", "zone"),
    [
        ({}, {}, True, ""),
        ({"volcano.sh/preemptable": "true"}, {}, True, "*"),
        ({"volcano.sh/preemptable": "false"}, {"volcano.sh/preemptable": "true"}, False, ""),
        ({"volcano.sh/preemptable": "yes"}, {}, False, ""),
        ({}, {"volcano.sh/preemptable": "0"}, False, ""),
        ({"volcano.sh/revocable-zone": "*"}, {}, True, "*"),
        ({"volcano.sh/revocable-zone": "a", "volcano.sh/preemptable": "1"}, {}, True, ""),
    ],
)
def test_who_may_be_preempted_and_run_on_revocable_nodes(
    annotations: dict[str, str], labels: dict[str, str], *, preemptable: bool, zone: str
) -> None:
    made = task(pod(meta={"annotations": annotations, "labels": labels}))
    assert (made.preemptable, made.revocable_zone) == (preemptable, zone)


@pytest.mark.parametrize(
    ("spec", "annotation", "priority"),
    [
        (None, None, 1),
        (0, None, 0),
        (5, "-7", -7),
        (5, "7.0", 5),
        (5, "2147483648", 5),
        (5, "", 5),
    ],
)
def test_the_priority_of_an_annotation_wins_if_it_is_one(
    spec: int | None, annotation: str | None, priority: int
) -> None:
    meta = {} if annotation is None else {"annotations": {"volcano.sh/task-priority": annotation}}
    assert task(pod(meta=meta, priority=spec)).priority == priority


def test_job_role_and_gates() -> None:
    made = task(
        pod(
            meta={
                "annotations": {"scheduling.k8s.io/group-name": "g"},
                "labels": {"volcano.sh/task-spec": "w"},
            },
            schedulingGates=[{"name": "x"}],
        )
    )
    assert (made.job, made.role, made.gated, made.key) == ("n/g", "w", True, "n/p")
    assert task(pod()).job == ""


def test_a_clone_has_its_own_status() -> None:
    made = task(pod())
    other = made.clone()
    other.status = TaskStatus.BINDING
    assert (made.status, other.request) == (TaskStatus.PENDING, made.request)


def test_what_devices_count_is_left_out_of_tasks_made_later() -> None:
    builder = TaskBuilder(TaskClasses())
    gpu = pod(containers=[{"resources": {"requests": {"volcano.sh/vgpu-cores": 5}}}])
    assert builder.task(gpu).request.get("volcano.sh/vgpu-cores") == 5000
    builder.ignore(frozenset({"volcano.sh/vgpu-cores"}))
    assert builder.task(gpu).request.get("volcano.sh/vgpu-cores") == 0


NAMES = st.sampled_from(["a", "b"])


@given(NAMES, NAMES, st.sampled_from(["1", "2"]), st.sampled_from(["1", "2"]))
def test_pods_are_of_one_class_when_only_who_they_are_differs(
    left: str, right: str, cpu: str, other: str
) -> None:
    classes = TaskClasses()
    one = classes.of(
        pod(
            left,
            meta={"annotations": {"scheduling.k8s.io/group-name": left}, "uid": left},
            containers=[container(cpu)],
            nodeName=left,
            volumes=[{"name": f"token-{left}", "projected": {}}],
        )
    )
    two = classes.of(
        pod(
            right,
            meta={"annotations": {"scheduling.k8s.io/group-name": right}, "uid": right},
            containers=[container(other)],
            nodeName=right,
            volumes=[{"name": f"token-{right}", "projected": {}}],
        )
    )
    assert (one == two) is (cpu == other)


@pytest.mark.parametrize(
    "differs",
    [
        {"priority": 5},
        {"nodeSelector": {"a": "b"}},
        {"tolerations": [{"key": "a"}]},
        {"hostNetwork": True},
        {"volumes": [{"persistentVolumeClaim": {"claimName": "c"}}]},
        {"meta": {"labels": {"volcano.sh/preemptable": "false"}}},
        {"meta": {"annotations": {"volcano.sh/preemptable": "false"}}},
        {
            "meta": {
                "ownerReferences": [
                    {"kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}
                ]
            }
        },
    ],
)
def test_pods_that_a_plugin_tells_apart_are_of_two_classes(differs: dict[str, Any]) -> None:
    classes = TaskClasses()
    assert classes.of(pod()) != classes.of(pod(**differs))


INDEX = "volcano.sh/task-index"


def finer(classes: TaskClasses, pods: list[Pod]) -> list[int]:
    """Return the numbers of pods as a snapshot has them."""
    return [classes.finer(classes.of(each), each) for each in pods]


def test_labels_matter_once_a_selector_names_them() -> None:
    classes = TaskClasses()
    pods = [pod(str(i), meta={"labels": {INDEX: str(i), "app": "x"}}) for i in range(3)]
    pods.append(pods[0])
    assert len(set(finer(classes, pods))) == 1
    classes.select([LabelSelector(match_labels={INDEX: "0"})])
    assert finer(classes, pods) == [0, 1, 2, 0]
    other = pod("other", meta={"labels": {INDEX: "0", "app": "y"}})
    assert finer(classes, [other]) == [0]
    classes.select([{"app": "x"}])
    assert len(set(finer(classes, [*pods, other]))) == 4


def test_a_pod_that_spreads_by_a_label_makes_it_matter() -> None:
    classes = TaskClasses()
    pods = [
        pod(
            str(i),
            meta={"labels": {INDEX: str(i)}},
            topologySpreadConstraints=[{"matchLabelKeys": [INDEX]}],
        )
        for i in range(2)
    ]
    numbers = [classes.of(each) for each in pods]
    assert len({classes.finer(klass, each) for klass, each in zip(numbers, pods, strict=True)}) == 2


CLAIMS = {
    "n/c": decode(PersistentVolumeClaim, {"spec": {"volumeName": "v"}}),
    "n/waiting": decode(PersistentVolumeClaim, {"spec": {"storageClassName": "fast"}}),
    "n/lost": decode(
        PersistentVolumeClaim, {"spec": {"volumeName": "gone", "storageClassName": "fast"}}
    ),
    "n/plain": decode(PersistentVolumeClaim, {"spec": {"volumeName": "local"}}),
    "n/p-scratch": decode(
        PersistentVolumeClaim,
        {
            "metadata": {"ownerReferences": [{"uid": "n-p", "controller": True}]},
            "spec": {"storageClassName": "named"},
        },
    ),
}
VOLUMES = {
    "v": decode(PersistentVolume, {"spec": {"csi": {"driver": "d"}}}),
    "local": decode(PersistentVolume, {}),
}
CLASSES = {
    "fast": decode(StorageClass, {"provisioner": "d"}),
    "named": decode(
        StorageClass,
        {"provisioner": "x", "parameters": {"csi.storage.k8s.io/csi-driver-name": "e"}},
    ),
}


def claims(*names: str) -> Pod:
    """Return a pod that mounts claims."""
    return pod(volumes=[{"name": n, "persistentVolumeClaim": {"claimName": n}} for n in names])


def test_volumes_are_counted_by_the_driver_of_the_volume_or_of_its_class() -> None:
    counts = csi_volumes(claims("c", "waiting", "lost", "plain"), CLAIMS, VOLUMES, CLASSES)
    assert counts == {"attachable-volumes-csi-d": 3}
    own = pod(volumes=[{"name": "scratch", "ephemeral": {}}])
    assert csi_volumes(own, CLAIMS, VOLUMES, CLASSES) == {"attachable-volumes-csi-e": 1}
    assert not csi_volumes(claims("waiting"), CLAIMS, VOLUMES, CLASSES, frozenset({"d"}))


def test_volumes_are_part_of_the_request() -> None:
    mounting = claims("c")
    counts = csi_volumes(mounting, CLAIMS, VOLUMES, CLASSES)
    made = TaskBuilder(TaskClasses()).task(mounting, counts)
    assert made.request.scalars == {"pods": 1, "attachable-volumes-csi-d": 1}
    assert not made.best_effort


@pytest.mark.parametrize(
    ("mounting", "text"),
    [
        (claims("none"), 'looking up PVC n/none: persistentvolumeclaim "none" not found'),
        (claims(""), "PersistentVolumeClaim had no name"),
        (
            pod("q", volumes=[{"name": "s", "ephemeral": {}}]),
            "PVC n/q-s was not created for pod n/q (pod is not owner)",
        ),
    ],
)
def test_a_missing_claim_says_so(mounting: Pod, text: str) -> None:
    known = {**CLAIMS, "n/q-s": PersistentVolumeClaim()}
    with pytest.raises(ClaimMissing) as caught:
        csi_volumes(mounting, known, VOLUMES, CLASSES)
    assert str(caught.value) == text


def test_a_long_name_of_a_driver_is_hashed() -> None:
    assert attach_limit_key("d" * 39) == "attachable-volumes-csi-" + "d" * 39
    long = attach_limit_key("d" * 40)
    assert long.startswith("attachable-volumes-csi-" + "d" * 23)
    assert len(long) == 62


def running(requests: dict[str, str], has: dict[str, str] | None, **rest: Any) -> Pod:
    """Return a pod of one container with a status."""
    resources = None if has is None else {"requests": has}
    status = {"name": "c", "resources": resources, "allocatedResources": rest.pop("given", {})}
    made = {
        "metadata": {"name": "p", "namespace": "n"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]},
        "status": {"containerStatuses": [status], **rest},
    }
    return decode(Pod, made)


INFEASIBLE = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]


@pytest.mark.parametrize(
    ("pod", "cpu"),
    [
        (running({"cpu": "1"}, {"cpu": "2"}), 2000),
        (running({"cpu": "2"}, {"cpu": "1"}), 2000),
        (running({"cpu": "1"}, {"cpu": "1000m"}, given={"cpu": "3"}), 3000),
        (running({"cpu": "4"}, {"cpu": "1"}, conditions=INFEASIBLE), 1000),
        (running({"cpu": "1"}, {"cpu": "0.5"}, conditions=INFEASIBLE), 500),
        (running({"cpu": "1"}, None, given={"cpu": "3"}), 1000),
    ],
)
def test_a_container_that_was_resized_counts_with_the_most_of_what_it_has(
    pod: Pod, cpu: int
) -> None:
    requests = pod.spec.containers[0].resources.requests
    for counts in (True, False):
        builder = TaskBuilder(TaskClasses(), rules=TaskRules(in_place_resizes_counted=counts))
        wanted = float(str(requests["cpu"])) * 1000
        assert builder.task(pod).request.cpu == (cpu if counts else wanted)


def test_only_sidecars_among_init_containers_are_resized() -> None:
    has = {"requests": {"cpu": "5"}}
    names = ("init", "sidecar")
    pod = decode(
        Pod,
        {
            "metadata": {"name": "p", "namespace": "n"},
            "spec": {
                "containers": [{"name": "c"}],
                "initContainers": [
                    {"name": "init"},
                    {"name": "sidecar", "restartPolicy": "Always"},
                ],
            },
            "status": {"initContainerStatuses": [{"name": n, "resources": has} for n in names]},
        },
    )
    init, sidecar = as_resized(pod).spec.init_containers
    assert (init.resources.requests, sidecar.resources.requests) == ({}, {"cpu": "5"})
    assert as_resized(decode(Pod, {"metadata": {"name": "p"}})).spec.containers == ()


def test_which_releases_heed_resizes() -> None:
    heeds = [resolve(name).in_place_resizes_counted for name in ("v1.13.3", "v1.14.0", "v1.15.1")]
    assert heeds == [False, True, True]
