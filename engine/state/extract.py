"""From an object's payload to its fact: only the fields that are needed are decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec

from ..kubernetes.units import parse_time, resource_amount
from . import facts
from .pod_status import NO_INIT_CONTAINERS, DecodedPodStatus, InitContainers, pod_columns

Quantities = dict[str, str | float]
T = TypeVar("T")


class _Part(msgspec.Struct, rename="camel", gc=False):
    """Base of partial Kubernetes types; fields not named are skipped without being decoded."""


class _Metadata(_Part):
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Object(_Part):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Resources(_Part):
    requests: Quantities | None = None


class _Container(_Part):
    name: str | None = None
    resources: _Resources | None = None
    restart_policy: str | None = None


class _PodSpec(_Part):
    node_name: str | None = None
    scheduler_name: str | None = None
    priority: int | None = None
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None
    overhead: Quantities | None = None


class _Pod(_Object):
    spec: _PodSpec | None = None
    status: DecodedPodStatus | None = None


class _Phase(_Part):
    phase: str | None = None


class _UsingPod(_Object):
    spec: _PodSpec | None = None
    status: _Phase | None = None


class _Condition(_Part):
    type: str = ""
    status: str = ""


class _NodeInfo(_Part):
    kubelet_version: str | None = None


class _NodeSpec(_Part):
    unschedulable: bool | None = None


class _NodeStatus(_Part):
    allocatable: Quantities | None = None
    capacity: Quantities | None = None
    conditions: list[_Condition] | None = None
    node_info: _NodeInfo | None = None


class _Node(_Object):
    spec: _NodeSpec | None = None
    status: _NodeStatus | None = None


class _PodGroupSpec(_Part):
    min_member: int | None = None
    queue: str | None = None
    min_resources: Quantities | None = None
    priority_class_name: str | None = None


class _PodGroupStatus(_Part):
    phase: str | None = None
    running: int | None = None
    succeeded: int | None = None
    failed: int | None = None


class _PodGroup(_Object):
    spec: _PodGroupSpec | None = None
    status: _PodGroupStatus | None = None


class _Guarantee(_Part):
    resource: Quantities | None = None


class _QueueSpec(_Part):
    weight: int | None = None
    parent: str | None = None
    reclaimable: bool | None = None
    capability: Quantities | None = None
    deserved: Quantities | None = None
    guarantee: _Guarantee | None = None


class _QueueStatus(_Part):
    state: str | None = None
    allocated: Quantities | None = None
    pending: int | None = None
    running: int | None = None
    inqueue: int | None = None
    unknown: int | None = None
    completed: int | None = None


class _Queue(_Object):
    spec: _QueueSpec | None = None
    status: _QueueStatus | None = None


class _Task(_Part):
    replicas: int | None = None


class _JobSpec(_Part):
    min_available: int | None = None
    queue: str | None = None
    priority_class_name: str | None = None
    tasks: list[_Task] | None = None


class _JobState(_Part):
    phase: str | None = None


class _JobStatus(_Part):
    state: _JobState | None = None
    pending: int | None = None
    running: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    terminating: int | None = None
    unknown: int | None = None


class _Job(_Object):
    spec: _JobSpec | None = None
    status: _JobStatus | None = None


class _Involved(_Part):
    kind: str | None = None
    name: str | None = None


class _KubernetesEvent(_Object):
    type: str | None = None
    reason: str | None = None
    message: str | None = None
    note: str | None = None
    count: int | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    involved_object: _Involved | None = None
    regarding: _Involved | None = None


class _PriorityClass(_Object):
    value: int | None = None
    global_default: bool | None = None


def _time(text: str | None) -> int | None:
    """Return a time, in microseconds; None if there is none.

    :raises ValueError: it is malformed.
    """
    return parse_time(text) if text else None


def _base(metadata: _Metadata) -> dict[str, Any]:
    return {
        "created_at": _time(metadata.creation_timestamp),
        "deleting_at": _time(metadata.deletion_timestamp),
        "labels": metadata.labels or {},
    }


def _amounts(quantities: Quantities | None) -> facts.Resources:
    """Return resources in Volcano's units.

    :raises ValueError: one is no quantity.
    """
    if not quantities:
        return {}
    return {name: resource_amount(name, quantity) for name, quantity in quantities.items()}


def _add(total: facts.Resources, more: facts.Resources) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0.0) + amount


def _raise_to(total: facts.Resources, floor: facts.Resources) -> None:
    for name, amount in floor.items():
        if amount > total.get(name, 0.0):
            total[name] = amount


def _pod_requests(spec: _PodSpec) -> facts.Resources:
    """Return the effective request of a pod: of its containers, or of init containers if greater.

    Source: k8s.io/component-helpers/resource/helpers.go PodRequests.
    """
    total: facts.Resources = {}
    for container in spec.containers or ():
        if container.resources is not None:
            _add(total, _amounts(container.resources.requests))
    sidecars: facts.Resources = {}
    peak: facts.Resources = {}
    for container in spec.init_containers or ():
        asked = _amounts(container.resources.requests if container.resources else None)
        if container.restart_policy == "Always":
            _add(total, asked)
            _add(sidecars, asked)
            _raise_to(peak, sidecars)
        else:
            # It runs beside the sidecars that started before it.
            _add(asked, sidecars)
            _raise_to(peak, asked)
    _raise_to(total, peak)
    if spec.overhead:
        _add(total, _amounts(spec.overhead))
    return total


def _pod(pod: _Pod) -> facts.PodFact:
    spec = pod.spec or _PodSpec()
    status = pod.status or DecodedPodStatus()
    annotations = pod.metadata.annotations or {}
    init = _init_containers(spec)
    columns = pod_columns(status, init, deleting=bool(pod.metadata.deletion_timestamp))
    return facts.PodFact(
        **_base(pod.metadata),
        node=spec.node_name or "",
        phase=status.phase or "",
        status=columns.word,
        containers=len(spec.containers or ()) + len(init.sidecars),
        ready=columns.ready,
        restarts=columns.restarts,
        requests=_pod_requests(spec),
        scheduler=spec.scheduler_name or "",
        podgroup=annotations.get("scheduling.k8s.io/group-name", ""),
        priority=spec.priority,
        job=annotations.get("volcano.sh/job-name", ""),
        queue=annotations.get("volcano.sh/queue-name", ""),
    )


def _init_containers(spec: _PodSpec) -> InitContainers:
    containers = spec.init_containers
    if not containers:
        return NO_INIT_CONTAINERS
    sidecars = (c.name for c in containers if c.name and c.restart_policy == "Always")
    return InitContainers(len(containers), frozenset(sidecars))


def _using_pod(pod: _UsingPod) -> facts.PodFact:
    spec, annotations = pod.spec or _PodSpec(), pod.metadata.annotations or {}
    return facts.PodFact(
        node=spec.node_name or "",
        phase=(pod.status.phase or "") if pod.status else "",
        requests=_pod_requests(spec),
        podgroup=annotations.get("scheduling.k8s.io/group-name", ""),
        queue=annotations.get("volcano.sh/queue-name", ""),
    )


_ROLE = "node-role.kubernetes.io/"


def _node(node: _Node) -> facts.NodeFact:
    status = node.status or _NodeStatus()
    labels = node.metadata.labels or {}
    ready = [c.status for c in status.conditions or () if c.type == "Ready"]
    return facts.NodeFact(
        **_base(node.metadata),
        allocatable=_amounts(status.allocatable),
        capacity=_amounts(status.capacity),
        unschedulable=bool(node.spec and node.spec.unschedulable),
        ready=ready[0] if ready else "",
        roles=tuple(sorted(name[len(_ROLE) :] for name in labels if name.startswith(_ROLE))),
        version=(status.node_info.kubelet_version or "") if status.node_info else "",
    )


def _podgroup(group: _PodGroup) -> facts.PodGroupFact:
    spec = group.spec or _PodGroupSpec()
    status = group.status or _PodGroupStatus()
    return facts.PodGroupFact(
        **_base(group.metadata),
        phase=status.phase or "",
        min_member=spec.min_member or 0,
        queue=spec.queue or "",
        min_resources=_amounts(spec.min_resources),
        priority_class=spec.priority_class_name or "",
        running=status.running or 0,
        succeeded=status.succeeded or 0,
        failed=status.failed or 0,
    )


def _queue(queue: _Queue) -> facts.QueueFact:
    spec = queue.spec or _QueueSpec()
    status = queue.status or _QueueStatus()
    return facts.QueueFact(
        **_base(queue.metadata),
        weight=spec.weight or 0,
        parent=spec.parent or "",
        state=status.state or "",
        reclaimable=spec.reclaimable,
        capability=_amounts(spec.capability),
        deserved=_amounts(spec.deserved),
        guarantee=_amounts(spec.guarantee.resource if spec.guarantee else None),
        allocated=_amounts(status.allocated),
        pending=status.pending or 0,
        running=status.running or 0,
        inqueue=status.inqueue or 0,
        unknown=status.unknown or 0,
        completed=status.completed or 0,
    )


def _job(job: _Job) -> facts.JobFact:
    spec = job.spec or _JobSpec()
    status = job.status or _JobStatus()
    return facts.JobFact(
        **_base(job.metadata),
        phase=(status.state.phase or "") if status.state else "",
        min_available=spec.min_available or 0,
        queue=spec.queue or "",
        priority_class=spec.priority_class_name or "",
        replicas=sum(task.replicas or 0 for task in spec.tasks or ()),
        pending=status.pending or 0,
        running=status.running or 0,
        succeeded=status.succeeded or 0,
        failed=status.failed or 0,
        terminating=status.terminating or 0,
        unknown=status.unknown or 0,
    )


def _kubernetes_event(event: _KubernetesEvent) -> facts.OtherFact:
    about = event.involved_object or event.regarding or _Involved()
    return facts.OtherFact(
        **_base(event.metadata),
        summary=(
            event.last_timestamp or event.event_time or event.metadata.creation_timestamp or "",
            event.type or "",
            event.reason or "",
            f"{(about.kind or '').lower()}/{about.name or ''}",
            event.message or event.note or "",
            str(event.count or 1),
        ),
    )


def _priority_class(priority: _PriorityClass) -> facts.OtherFact:
    return facts.OtherFact(
        **_base(priority.metadata),
        summary=(str(priority.value or 0), str(bool(priority.global_default)).lower()),
    )


def _other(item: _Object) -> facts.OtherFact:
    return facts.OtherFact(**_base(item.metadata))


class _Extractor(Generic[T]):
    """From payloads of a kind to facts. :param shape: what is decoded of an object."""

    def __init__(self, shape: type[T], build: Callable[[T], facts.Fact]) -> None:
        self.shape, self.build = shape, build
        self._decode = msgspec.json.Decoder(shape).decode

    def __call__(self, payload: bytes) -> facts.Fact:
        """Return the fact of an object.

        :raises ValueError: something of it cannot be read.
        """
        return self.build(self._decode(payload))

    def without_faults(self, payload: bytes, empty: facts.Fact) -> facts.Fact:
        """Return the fact of an object without the fields that cannot be read.

        :param empty: if nothing can.
        """
        document = msgspec.json.decode(payload)
        try:
            # Few logs have such an object, and all objects of Kubernetes take 30 ms to define.
            from .misread_objects import readable, without_odd  # noqa: PLC0415

            fact = self.build(without_odd(readable(document, self.shape)))
        except ValueError:
            fact = empty
        return msgspec.structs.replace(fact, misread=True)


_EXTRACTORS: Mapping[tuple[str, str], _Extractor[Any]] = MappingProxyType(
    {
        ("", "Pod"): _Extractor(_Pod, _pod),
        ("", "Node"): _Extractor(_Node, _node),
        ("", "Event"): _Extractor(_KubernetesEvent, _kubernetes_event),
        ("events.k8s.io", "Event"): _Extractor(_KubernetesEvent, _kubernetes_event),
        ("scheduling.k8s.io", "PriorityClass"): _Extractor(_PriorityClass, _priority_class),
        ("scheduling.volcano.sh", "PodGroup"): _Extractor(_PodGroup, _podgroup),
        ("scheduling.volcano.sh", "Queue"): _Extractor(_Queue, _queue),
        ("batch.volcano.sh", "Job"): _Extractor(_Job, _job),
    }
)

_EXTRACT_OTHER = _Extractor(_Object, _other)
_EXTRACT_USE = _Extractor(_UsingPod, _using_pod)

_EMPTY: Mapping[tuple[str, str], facts.Fact] = MappingProxyType(
    {
        ("", "Pod"): facts.PodFact(),
        ("", "Node"): facts.NodeFact(),
        ("scheduling.volcano.sh", "PodGroup"): facts.PodGroupFact(),
        ("scheduling.volcano.sh", "Queue"): facts.QueueFact(),
        ("batch.volcano.sh", "Job"): facts.JobFact(),
    }
)


def extract_fact(group: str, kind: str, payload: bytes) -> facts.Fact:
    """Return the fact of an object of a kind.

    Of an object with a field of a type that no API server stores, the fact is ``misread`` and lacks
    what cannot be read: the log has the whole object, and one wrong field must not make a cluster
    unreadable.
    """
    extractor = _EXTRACTORS.get((group, kind), _EXTRACT_OTHER)
    try:
        return extractor(payload)
    except ValueError:
        empty = _EMPTY.get((group, kind), facts.OtherFact())
        return extractor.without_faults(payload, empty)


def extract_use(group: str, kind: str, payload: bytes) -> facts.Fact:
    """Return the fact of an object; of a pod only where it runs, its phase, and what it takes.

    That is its node, its requests, its PodGroup and its queue: a third of the work, if there are
    many pods. Of an object with a wrong field it is as :func:`extract_fact` says.
    """
    if (group, kind) != ("", "Pod"):
        return extract_fact(group, kind, payload)
    try:
        return _EXTRACT_USE(payload)
    except ValueError:
        return _EXTRACT_USE.without_faults(payload, _EMPTY[group, kind])


def misread_words(group: str, kind: str, payload: bytes) -> str:
    """Return what of an object tables cannot read, in words; empty if they can read it."""
    shape = _EXTRACTORS.get((group, kind), _EXTRACT_OTHER).shape
    from .misread_objects import faults_of  # noqa: PLC0415 -- only for objects with a fault

    return next(faults_of(msgspec.json.decode(payload), shape), "")
