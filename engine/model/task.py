"""Tasks: what a scheduler makes of a pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ..kubernetes.go.text import parse_bool, parse_int
from ..kubernetes.objects import Pod
from .device_claims import TaskDeviceClaim
from .resizes import as_resized
from .resource import Resource
from .resource_names import PODS
from .task_classes import TaskClasses, is_of_class_of
from .task_status import TaskStatus, status_of

GROUP_NAME = "scheduling.k8s.io/group-name"
TASK_SPEC = "volcano.sh/task-spec"
TASK_PRIORITY = "volcano.sh/task-priority"
PREEMPTABLE = "volcano.sh/preemptable"
REVOCABLE_ZONE = "volcano.sh/revocable-zone"
NUMA_POLICY = "volcano.sh/numa-topology-policy"


class TaskInfo(msgspec.Struct, gc=False):
    """One pod as the scheduler's cache holds it.

    Tasks of one class share ``request``: it must not be changed.

    :param key: ``namespace/name``, by which nodes know the task.
    :param job: ``namespace/name`` of its PodGroup; empty if it has none.
    :param role: the task of its job (``TaskRole``); empty if it has none.
    :param request: what it requests (``Resreq`` and ``InitResreq``).
    :param revocable_zone: ``*`` or empty.
    :param gated: it has scheduling gates (``SchGated``).
    :param created: creation of the pod, in seconds since 1970.
    :param klass: tasks of one class are the same for all plugins, except for labels that only
        selectors use (:meth:`.task_classes.TaskClasses.finer`).
    :param status: in the cache now; a session has a separate column.
    :param node_name: likewise.
    :param devices: its ResourceClaims, if the release counts them.
    """

    uid: str
    namespace: str
    name: str
    key: str
    job: str
    role: str
    request: Resource
    priority: int
    best_effort: bool
    preemptable: bool
    revocable_zone: str
    numa_policy: str
    gated: bool
    has_restartable_init_container: bool
    created: int
    pod: Pod
    klass: int
    status: TaskStatus
    node_name: str
    devices: tuple[TaskDeviceClaim, ...] = ()

    def clone(self) -> TaskInfo:
        """Return a copy with its own status and node."""
        return msgspec.structs.replace(self)


class Traits(NamedTuple):
    """What all tasks of a class have in common."""

    role: str
    request: Resource
    priority: int
    preemptable: bool
    revocable_zone: str
    numa_policy: str
    gated: bool
    has_restartable_init_container: bool


class TaskRules(NamedTuple):
    """What a release reads of pods."""

    scheduling_gates: bool = True
    role_by_label: bool = True
    sidecar_requests_counted: bool = True
    pod_level_requests_counted: bool = False
    in_place_resizes_counted: bool = False


class TaskBuilder:
    """Creates tasks from pods; values that a class shares are computed once.

    :param ignored: resources that shared devices count themselves (``IgnoredDevicesList``).
    """

    def __init__(
        self,
        classes: TaskClasses,
        ignored: frozenset[str] = frozenset(),
        rules: TaskRules = TaskRules(),  # noqa: B008 -- a tuple
    ) -> None:
        self.classes = classes
        self._rules = rules
        self._ignored = ignored
        self._traits: dict[int, Traits] = {}

    def ignore(self, names: frozenset[str]) -> None:
        """Ignore these resources from now on; existing tasks keep them."""
        if names != self._ignored:
            self._ignored = names
            self._traits.clear()

    def task(
        self, pod: Pod, volumes: Mapping[str, int] | None = None, *, before: TaskInfo | None = None
    ) -> TaskInfo:
        """Return the task of a pod.

        :param before: the old task of the pod; mostly of the same class.
        :param volumes: the number of volumes that it attaches, by resource name
            (:func:`.volumes.csi_volumes`).
        :raises ValueError: a quantity is malformed.

        Source: pkg/scheduler/api/job_info.go NewTaskInfo; pkg/scheduler/cache/event_handlers.go
        NewTaskInfo.
        """
        if self._rules.in_place_resizes_counted:
            pod = as_resized(pod)
        klass = (
            before.klass
            if before is not None and is_of_class_of(pod, before.pod)
            else self.classes.of(pod)
        )
        traits = self._traits.get(klass)
        if traits is None:
            traits = self._traits[klass] = traits_of(pod, self._ignored, self._rules)
        request = traits.request
        if volumes:
            request = request.clone()
            for name, count in volumes.items():
                request.add_scalar(name, float(count))
        metadata = pod.metadata
        group = metadata.annotations.get(GROUP_NAME)
        return TaskInfo(
            uid=metadata.uid,
            namespace=metadata.namespace,
            name=metadata.name,
            key=metadata.key,
            job=f"{metadata.namespace}/{group}" if group else "",
            role=traits.role,
            request=request,
            priority=traits.priority,
            best_effort=request.is_empty(),
            preemptable=traits.preemptable,
            revocable_zone=traits.revocable_zone,
            numa_policy=traits.numa_policy,
            gated=traits.gated,
            has_restartable_init_container=traits.has_restartable_init_container,
            created=metadata.created,
            pod=pod,
            klass=klass,
            status=status_of(pod),
            node_name=pod.spec.node_name,
        )


def traits_of(
    pod: Pod,
    ignored: frozenset[str] = frozenset(),
    rules: TaskRules = TaskRules(),  # noqa: B008 -- a tuple
) -> Traits:
    """Return the values that a pod shares with its class."""
    annotations = pod.annotations
    return Traits(
        role=annotations.get(TASK_SPEC)
        or (rules.role_by_label and pod.labels.get(TASK_SPEC))
        or "",
        request=pod_request(
            pod,
            ignored,
            sidecars=rules.sidecar_requests_counted,
            pod_requests=rules.pod_level_requests_counted,
        ),
        priority=_priority(pod),
        preemptable=_preemptable(pod),
        revocable_zone=_revocable_zone(annotations),
        numa_policy=annotations.get(NUMA_POLICY, ""),
        gated=rules.scheduling_gates and bool(pod.spec.scheduling_gates),
        has_restartable_init_container=any(
            container.restart_policy == "Always" for container in pod.spec.init_containers
        ),
    )


def pod_request(
    pod: Pod,
    ignored: frozenset[str] = frozenset(),
    *,
    sidecars: bool = True,
    pod_requests: bool = False,
) -> Resource:
    """Return the request of a pod: the sum of its containers, or an init phase if that needs more.

    Overhead counts with the containers and not in the init phase. Every pod requests one of
    ``pods``.

    :param sidecars: whether sidecars count with the containers.
    :param pod_requests: whether pod-level requests replace those of the containers; then overhead
        counts in both phases.

    Source: pkg/scheduler/api/pod_info.go GetPodResourceRequest,
    amendResourceAccordingToPodFeatures.
    """
    total = Resource()
    for container in pod.spec.containers:
        total.add(Resource.of(container.resources.requests, ignored))
    if pod.spec.overhead and not pod_requests:
        total.add(Resource.of(pod.spec.overhead, ignored))
    running, most = Resource(), Resource()
    for container in pod.spec.init_containers:
        request = Resource.of(container.resources.requests, ignored)
        if sidecars and container.restart_policy == "Always":
            total.add(request)
            running.add(request)
            most.set_max_resource(running)
        else:
            most.set_max_resource(request.add(running))
    total.set_max_resource(most)
    if PODS not in ignored:
        total.add_scalar(PODS, 1.0)
    if pod_requests:
        _amend(total, pod, ignored)
    return total


def _amend(total: Resource, pod: Pod, ignored: frozenset[str]) -> None:
    """Replace the sum of the containers by pod-level requests, and add the overhead."""
    whole = pod.spec.resources
    if whole is not None:
        own = Resource.of(whole.requests, ignored)
        # Kubernetes allows requests of a pod as a whole only for these resources.
        for name in whole.requests:
            if name in {"cpu", "memory"} or name.startswith("hugepages-"):
                total.set(name, own.get(name))
    if pod.spec.overhead:
        total.add(Resource.of(pod.spec.overhead, ignored))


def _priority(pod: Pod) -> int:
    """Source: pkg/scheduler/api/job_info.go NewTaskInfo."""
    annotated = parse_int(pod.annotations.get(TASK_PRIORITY, ""), 32)
    if annotated is not None:
        return annotated
    return 1 if pod.spec.priority is None else pod.spec.priority


def _preemptable(pod: Pod) -> bool:
    """Source: pkg/scheduler/api/pod_info.go GetPodPreemptable."""
    for texts in (pod.annotations, pod.labels):
        if PREEMPTABLE in texts:
            return bool(parse_bool(texts[PREEMPTABLE]))
    return True


def _revocable_zone(annotations: dict[str, str]) -> str:
    """Source: pkg/scheduler/api/pod_info.go GetPodRevocableZone."""
    if REVOCABLE_ZONE in annotations:
        return "*" if annotations[REVOCABLE_ZONE] == "*" else ""
    return "*" if parse_bool(annotations.get(PREEMPTABLE, "")) else ""
