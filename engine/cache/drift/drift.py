"""Where the scheduler's cache differs from the API server, by object and field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ...kubernetes.objects import Node, Object, Pod, PodGroup
from ...kubernetes.units import format_amount
from ...model.node import NodeInfo
from ...model.resource import Resource
from ...model.task import pod_request
from ...model.task_status import COMPLETED_STATUS, STATUS_NAMES, TaskStatus, status_of
from ..cache import SchedulerCache
from ..informers import Stores
from ..job_cache import job_of
from ..node_sync import with_volume_limits

ABSENT = None
"""A side of a difference without the object or value."""

DEFAULT = ""
"""Used as the name of a class: the priority of jobs without a class."""

_MOST_REQUESTS = 4096
"""Requests of pods that are kept for further ones."""

Unit = tuple[str, str]
"""Kind and name of a unit of comparison: a PodGroup includes the pods that name it."""

Place = tuple[str, str, str]


class CacheMismatch(NamedTuple):
    """One value in which the scheduler's cache differs from the API server.

    :param kind: of the object: Node, Pod, PodGroup, Queue or PriorityClass.
    :param name: ``namespace/name``, or the name if there is no namespace.
    :param field: the field that differs; empty for the object itself.
    :param truth: what the API server has. :param belief: what the scheduler's cache has.
    """

    kind: str
    name: str
    field: str
    truth: str | None
    belief: str | None

    @property
    def place(self) -> Place:
        """What differs, whatever the values."""
        return self[:3]

    @property
    def object(self) -> str:
        """The object as links name it, as in ``pod/ml/train-0``."""
        return f"{self.kind.lower()}/{self.name}"


class PodIndex:
    """The existing pods, by node and by job, with their requests.

    :param uncounted: resources that the release does not count.
    """

    def __init__(self, pods: Iterable[Pod] = (), uncounted: frozenset[str] = frozenset()) -> None:
        self._uncounted = uncounted
        self._requests: dict[tuple[int, ...], tuple[tuple[object, ...], Resource]] = {}
        self._pods: dict[str, tuple[Pod, Resource]] = {}
        self._by_node: dict[str, dict[str, None]] = {}
        self._by_job: dict[str, dict[str, None]] = {}
        for pod in pods:
            self.put(pod)

    def put(self, pod: Pod) -> Resource:
        """Add a pod, or a new version of one; return its request."""
        key = pod.metadata.key
        self.remove(key)
        request = self._request_of(pod)
        self._pods[key] = (pod, request)
        for index, name in self._places(pod):
            index.setdefault(name, {})[key] = None
        return request

    def _request_of(self, pod: Pod) -> Resource:
        """Return the request of a pod; those that share their parts share it."""
        spec = pod.spec
        parts = (spec.containers, spec.init_containers, spec.overhead)
        place = tuple(map(id, parts))
        known = self._requests.get(place)
        if known is None:
            if len(self._requests) >= _MOST_REQUESTS:
                self._requests.clear()
            # The parts are held too, so that no others get their ids.
            known = self._requests[place] = (parts, pod_request(pod, self._uncounted))
        return known[1]

    def remove(self, key: str) -> tuple[Pod, Resource] | tuple[None, None]:
        """Remove a pod; return it with its request, or None if there is none of that name."""
        pod, request = self._pods.pop(key, (None, None))
        if pod is None or request is None:
            return None, None
        for index, name in self._places(pod):
            del index[name][key]
        return pod, request

    def all(self) -> Iterable[tuple[Pod, Resource]]:
        """Return all pods with their requests."""
        return self._pods.values()

    def _places(self, pod: Pod) -> tuple[tuple[dict[str, dict[str, None]], str], ...]:
        return (self._by_node, pod.spec.node_name), (self._by_job, job_of(pod))

    def get(self, key: str) -> Pod | None:
        """Return the pod of that ``namespace/name``, or None."""
        entry = self._pods.get(key)
        return None if entry is None else entry[0]

    def on(self, node: str) -> list[tuple[Pod, Resource]]:
        """Return the pods of a node with their requests."""
        return [self._pods[key] for key in self._by_node.get(node, ())]

    def of(self, job: str) -> list[Pod]:
        """Return the pods that name a PodGroup."""
        return [self._pods[key][0] for key in self._by_job.get(job, ())]


class CacheComparison:
    """Compares a cache with the objects of the API server."""

    def __init__(self, cache: SchedulerCache, truth: Stores, pods: PodIndex | None = None) -> None:
        self._cache = cache
        self._truth = truth
        if pods is None:
            pods = PodIndex(truth.of("Pod").values(), cache.node_cache.uncounted)
        self._pods = pods

    def units(self) -> list[Unit]:
        """Return the units of comparison, in order."""
        cache, truth = self._cache, self._truth
        named = {job_of(pod) for pod in truth.of("Pod").values()} - {""}
        names = (
            ("Node", {*cache.nodes, *truth.of("Node")}),
            ("PodGroup", {*cache.jobs, *truth.of("PodGroup"), *named}),
            ("PriorityClass", {*cache.priority_classes, *truth.of("PriorityClass"), DEFAULT}),
            ("Queue", {*cache.queues, *truth.of("Queue")}),
        )
        return [(kind, name) for kind, of_kind in names for name in sorted(of_kind)]

    def of(self, unit: Unit) -> list[CacheMismatch]:
        """Return what differs about one unit."""
        kind, name = unit
        if kind == "Node":
            return self._node(name)
        if kind == "PodGroup":
            return self._job(name)
        if kind == "Queue":
            return self._queue(name)
        return self._default_priority() if name == DEFAULT else self._priority_class(name)

    def all(self) -> list[CacheMismatch]:
        """Return everything that differs, by kind and name."""
        return sorted(
            (mismatch for unit in self.units() for mismatch in self.of(unit)),
            key=lambda mismatch: mismatch.place,
        )

    def _node(self, name: str) -> list[CacheMismatch]:
        """Return what differs in a node: its existence, version, account and pods."""
        node: Node | None = self._truth.get("Node", name)
        info = self._cache.nodes.get(name)
        if node is not None and not self._cache.node_cache.chooses(node):
            # The option --node-selector leaves this node out, so the cache rightly lacks it.
            node = None
        believed = None if info is None else info.node
        mismatches = list(_identity("Node", name, node, believed))
        if node is None or info is None or believed is None:
            return mismatches
        counted = [entry for entry in self._pods.on(name) if self._counts(entry[0])]
        # The handlers' own code makes the expected amounts: what it rounds or ignores is no drift.
        expected = NodeInfo(name, self._cache.node_cache.ignored)
        limits = self._truth.get("CSINode", name)
        expected.set_node(with_volume_limits(node, limits), self._cache.node_cache.ignored)
        used, releasing = Resource(), Resource()
        for pod, request in counted:
            used.add(request)
            if status_of(pod) == TaskStatus.RELEASING:
                releasing.add(request)
        mismatches += _amounts(name, "allocatable", expected.allocatable, info.allocatable)
        mismatches += _amounts(name, "used", used, info.used)
        mismatches += _amounts(name, "releasing", releasing, info.releasing)
        mismatches += _on_node(info, [pod for pod, _ in counted])
        return mismatches

    def _counts(self, pod: Pod) -> bool:
        """Return whether a pod counts on its node."""
        return self._cache.job_cache.handles(pod) and status_of(pod) not in COMPLETED_STATUS

    def _job(self, key: str) -> list[CacheMismatch]:
        """Return what differs in a PodGroup and the pods that name it."""
        info = self._cache.jobs.get(key)
        believed = None if info is None else info.pod_group
        group: PodGroup | None = self._truth.get("PodGroup", key)
        mismatches = list(_identity("PodGroup", key, group, believed))
        # Another version of the PodGroup explains other minima, so only equal versions are
        # compared.
        if info is not None and group is not None and not mismatches:
            mismatches += _minima(key, group.spec.min_task_member, info.task_min_available)
        pods = {pod.uid: pod for pod in self._pods.of(key) if self._cache.job_cache.handles(pod)}
        tasks = {} if info is None else info.tasks
        for uid in sorted({*pods, *tasks}):
            pod, task = pods.get(uid), tasks.get(uid)
            if task is None:
                assert pod is not None
                mismatches.append(CacheMismatch("Pod", pod.key, "", _identity_of(pod), ABSENT))
            elif pod is None:
                mismatches.append(
                    CacheMismatch("Pod", task.key, "", ABSENT, _identity_of(task.pod))
                )
            else:
                pairs = (
                    ("status", STATUS_NAMES[status_of(pod)], STATUS_NAMES[task.status]),
                    ("node", pod.spec.node_name or ABSENT, task.node_name or ABSENT),
                )
                mismatches += [
                    CacheMismatch("Pod", pod.key, field, true, believed)
                    for field, true, believed in pairs
                    if true != believed
                ]
        return mismatches

    def _queue(self, name: str) -> list[CacheMismatch]:
        """Return what differs about a queue."""
        info = self._cache.queues.get(name)
        queue = self._truth.get("Queue", name)
        mismatches = list(_identity("Queue", name, queue, None if info is None else info.queue))
        if info is not None and queue is not None:
            ignored = self._cache.node_cache.ignored
            allocated = Resource.of(queue.status.allocated, ignored)
            mismatches += _amounts(name, "allocated", allocated, info.allocated, kind="Queue")
        return mismatches

    def _priority_class(self, name: str) -> list[CacheMismatch]:
        """Return what differs about a priority class."""
        believed = self._cache.priority_classes.get(name)
        return list(
            _identity("PriorityClass", name, self._truth.get("PriorityClass", name), believed)
        )

    def _default_priority(self) -> list[CacheMismatch]:
        """Return a difference of the default priority of jobs."""
        defaults = [
            priority_class.value
            for priority_class in self._truth.of("PriorityClass").values()
            if priority_class.global_default
        ]
        believed = self._cache.default_priority
        # With several default classes the last one added wins. Which one that was is not known
        # here, so each of them is right.
        if not self._cache.options.priority_classes or believed in (defaults or [0]):
            return []
        truth = str(defaults[-1]) if defaults else "0"
        return [CacheMismatch("PriorityClass", "", "default", truth, str(believed))]


def same_version(true: Object | None, held: Object | None) -> bool:
    """Return whether two objects are the same version of one object, or both are missing."""
    if true is None or held is None:
        return true is held
    return true.uid == held.uid and (
        true.metadata.resource_version == held.metadata.resource_version
    )


def _identity(
    kind: str, name: str, true: Object | None, believed: Object | None
) -> Iterator[CacheMismatch]:
    """Yield a difference if an object is missing, has another uid, or another version."""
    if true is None or believed is None:
        if true is not believed:
            yield CacheMismatch(kind, name, "", _identity_of(true), _identity_of(believed))
        return
    pairs = (
        ("uid", true.uid, believed.uid),
        ("resourceVersion", true.metadata.resource_version, believed.metadata.resource_version),
    )
    for field, left, right in pairs:
        if left != right:
            yield CacheMismatch(kind, name, field, left, right)


def _identity_of(item: Object | None) -> str | None:
    return ABSENT if item is None else item.uid or item.name


def _amounts(
    name: str, field: str, true: Resource, believed: Resource, *, kind: str = "Node"
) -> list[CacheMismatch]:
    names = ["cpu", "memory", *sorted({*(true.scalars or ()), *(believed.scalars or ())})]
    return [
        CacheMismatch(
            kind,
            name,
            f"{field}.{resource}",
            format_amount(resource, true.get(resource)),
            format_amount(resource, believed.get(resource)),
        )
        for resource in names
        if true.get(resource) != believed.get(resource)
    ]


def _minima(key: str, true: Mapping[str, int], believed: Mapping[str, int]) -> list[CacheMismatch]:
    """Return the roles of which a cached PodGroup has another minimum than its object."""
    return [
        CacheMismatch(
            "PodGroup",
            key,
            f"minTaskMember[{role}]",
            str(true[role]) if role in true else ABSENT,
            str(believed[role]) if role in believed else ABSENT,
        )
        for role in sorted({*true, *believed})
        if true.get(role) != believed.get(role)
    ]


def _on_node(info: NodeInfo, pods: list[Pod]) -> list[CacheMismatch]:
    """Return the pods of a node that its cached account lacks, or has wrongly."""
    true = {pod.key: pod.uid for pod in pods}
    believed = {key: noted.task.uid for key, noted in info.tasks.items()}
    return [
        CacheMismatch("Node", info.name, f"pods[{key}]", true.get(key), believed.get(key))
        for key in sorted({*true, *believed})
        if true.get(key) != believed.get(key)
    ]
