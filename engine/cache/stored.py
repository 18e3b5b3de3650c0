"""A scheduler's cache as bytes, to continue from there instead of from a log's first event.

The whole cache is stored, with the state of its projector. An object that an event of the log holds
is stored as the position of that event. Nothing may depend on the bytes: the
format is private to one version of this package, and :mod:`.restored` reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import zstandard

from ..events import Reference
from ..kubernetes.objects import KINDS, Node, Object
from ..kubernetes.work_queue import WaitingItems
from ..model.job import JobInfo
from ..model.node import ImageState, NodeInfo
from ..model.panic import Panic
from ..model.queue import QueueInfo
from ..model.resource import Resource
from ..model.task import TaskInfo
from .informers import Undecoded
from .node_sync import with_volume_limits
from .projector import Projector
from .queue_items import DeletedJob, FailedItem, FailedTask, JobName

Amounts: TypeAlias = tuple[float, float, dict[str, float] | None, int]

StoredPanic: TypeAlias = tuple[str, list[str], bool, str]
"""A panic: its message, its place, whether it is fatal, and what the process did."""

NOTHING = -1
"""The number for a missing object."""

JOB_FIELDS = (
    *("uid", "revision", "namespace", "name", "queue", "min_available", "priority", "created"),
    *("task_min_available", "task_min_available_total", "waiting_time", "preemptable"),
    *("revocable_zone", "budget"),
)
"""What of a job is stored as it is."""

NODE_FIELDS = ("reason", "revocable_zone", "oversubscription_node", "offline_job_evicting")
ACCOUNTS = (
    *("allocatable", "capacity", "idle", "used", "releasing", "pipelined"),
    "oversubscription",
)
QUEUE_AMOUNTS = ("capability", "deserved", "guarantee", "allocated")


class StoredTasks(msgspec.Struct, array_like=True):
    """Tasks in columns.

    :param pods: numbers of objects. :param classes: of the tasks; each class is known by its first.
    :param traits: places in ``known_traits``, each of which begins with a place in ``requests``.
    :param statuses: a byte each. :param nodes: where they are not those of the pods.
    """

    pods: list[int]
    classes: list[int]
    traits: list[int]
    statuses: bytes
    nodes: dict[int, str]
    devices: dict[int, list[tuple[str, list[tuple[str, int]]]]]
    requests: list[Amounts]
    known_traits: list[tuple[Any, ...]]


class StoredJob(msgspec.Struct, array_like=True):
    """A job.

    :param index: tasks by status, if that differs from ``tasks``.
    """

    key: str
    fields: list[Any]
    pod_group: int
    min_resources: Amounts | None
    tasks: list[int]
    index: list[tuple[int, list[int]]] | None
    allocated: Amounts
    total_request: Amounts


class StoredNode(msgspec.Struct, array_like=True):
    """A node.

    :param limited: its Node includes the volume limits of the stored CSINode.
    :param images: the names, sizes and counts. :param ignored: None is what is ignored now.
    :param devices: the pods with shared devices that came and left: whether it came, its number,
        and its status.
    """

    name: str
    node: int
    limited: bool
    fields: list[Any]
    accounts: list[Amounts]
    tasks: list[int]
    statuses: bytes
    images: tuple[list[int], list[int], list[int]]
    numatopology: int
    ignored: list[str] | None
    devices: list[tuple[bool, int, int]]


class StoredHyperNodes(msgspec.Struct, array_like=True):
    """The tree: name, object, tier, parent of each HyperNode, and whether it is being deleted."""

    infos: list[tuple[str, int, int, str, bool]]
    by_tier: list[tuple[int, list[str]]]
    real_nodes: list[tuple[str, list[str]]]
    ready: bool
    building_failed_at: str
    dangling: list[str]


class StoredBelief(msgspec.Struct, array_like=True, kw_only=True):
    """All of a projector.

    :param crash: of the cache, if any; and whether the process is down.
    :param stores: by kind, the positions of the versions that informers hold, in their order; 0
        if no event holds the object.
    :param others: those objects, and others that only the cache has, by their numbers.
    :param listed: lists that are compared with later ones, and their positions.
    """

    options: list[Any]
    undecoded: list[tuple[tuple[str, str], Undecoded]]
    crashes: list[StoredPanic]
    crash: tuple[list[StoredPanic], bool]
    holds_cleanup: bool
    listed: list[tuple[str, str, list[str], int]]
    doomed: list[Reference]
    stores: list[tuple[str, list[int]]]
    others: list[tuple[int, str, msgspec.Raw]]
    selected: list[str]
    ignored: list[str]
    tasks: StoredTasks
    jobs: list[StoredJob]
    past_jobs: list[StoredJob]
    deleted_jobs: WaitingItems[Any]
    error_tasks: WaitingItems[Any]
    nodes: list[StoredNode]
    images: tuple[list[str], list[int], dict[str, list[int]]]
    csi_nodes: dict[str, dict[str, bool]]
    node_queue: WaitingItems[Any]
    hypernode_queue: WaitingItems[Any]
    hypernodes: StoredHyperNodes
    queues: list[tuple[str, int, list[Amounts]]]
    priority_classes: list[tuple[str, int]]
    default_priority: int
    quotas: list[tuple[str, str, msgspec.Raw]]


_ENCODE = msgspec.msgpack.Encoder().encode


def pack(projector: Projector) -> bytes:
    """Return all that a projector holds as bytes; :func:`.restored.unpack` reads them."""
    return _ENCODE(_Writer(projector).belief())


def encode_belief(projector: Projector) -> bytes:
    """Return all that a projector holds as bytes, compressed.

    Equal caches give equal bytes. Snapshots do not change them.
    """
    return zstandard.ZstdCompressor(level=3).compress(pack(projector))


class _Writer:
    """Numbers objects, tasks and jobs, by which they refer to each other."""

    def __init__(self, projector: Projector) -> None:
        self._projector = projector
        self._cache = projector.cache
        self._number: dict[int, int] = {}
        # This list grows while a belief is put together, and is encoded after that.
        self._others: list[tuple[int, str, msgspec.Raw]] = []
        self._kept: list[Object] = []
        self._stores = [(kind, self._positions(kind)) for kind in KINDS]
        in_stores = sum(len(positions) for _, positions in self._stores)
        assert len(self._number) == in_stores, (
            "objects in stores are numbered by their places there"
        )
        self._tasks = _Tasks()
        self._job_number: dict[int, int] = {}
        self._image_number: dict[str, int] = {}

    def _positions(self, kind: str) -> list[int]:
        origins = self._projector.origins[kind]
        positions = []
        for key, item in self._cache.stores.of(kind).items():
            number = self._number[id(item)] = len(self._number)
            origin = origins.get(key)
            if origin is not None and origin.item is item:
                positions.append(origin.position)
            else:
                positions.append(0)
                self._note(number, kind, item)
        return positions

    def _note(self, number: int, kind: str, item: Object) -> None:
        self._others.append((number, kind, msgspec.Raw(_ENCODE(item))))

    def number(self, item: Object | None) -> int:
        """Return the number of an object; it is stored separately if no informer holds it."""
        if item is None:
            return NOTHING
        known = self._number.get(id(item))
        if known is None:
            known = self._number[id(item)] = len(self._number)
            self._kept.append(item)  # so that no other object gets its id
            self._note(known, type(item).__name__, item)
        return known

    def belief(self) -> StoredBelief:
        """Return all of the projector."""
        projector, cache = self._projector, self._cache
        jobs, nodes = cache.job_cache, cache.node_cache
        # In this order: parts use the numbers that earlier ones gave to jobs and images.
        stored_jobs = [self._job(job) for job in cache.jobs.values()]
        deleted_jobs = jobs.deleted_jobs.waiting()
        past = self._past_jobs(deleted_jobs.items())
        error_tasks = jobs.error_tasks.waiting().of(self._failed_item)
        stored_nodes = [self._node(node) for node in cache.nodes.values()]
        queues = self._queues()
        classes = [(name, self.number(item)) for name, item in cache.priority_classes.items()]
        hypernodes = self._hypernodes()
        return StoredBelief(
            options=[
                sorted(option) if isinstance(option, frozenset) else option
                for option in cache.options
            ],
            undecoded=[*cache.stores.undecoded.items()],
            crashes=[_panic(crash) for crash in projector.crashes],
            crash=([_panic(cache.crash)] if cache.crash else [], projector.driver.is_down),
            holds_cleanup=projector.driver.holds_cleanup,
            listed=[
                (group, kind, list(namespaces), listing.position)
                for (group, kind, namespaces), listing in projector.lists.listed.items()
            ],
            doomed=[*projector.lists.doomed],
            stores=self._stores,
            others=self._others,
            selected=list(cache.classes.selected),
            ignored=sorted(nodes.ignored),
            tasks=self._tasks.stored(self.number),
            jobs=stored_jobs,
            past_jobs=past,
            deleted_jobs=deleted_jobs.of(self._deleted_job),
            error_tasks=error_tasks,
            nodes=stored_nodes,
            images=self._images(),
            csi_nodes=nodes.csi_nodes,
            node_queue=nodes.queue.waiting(),
            hypernode_queue=nodes.hypernode_queue.waiting(),
            hypernodes=hypernodes,
            queues=queues,
            priority_classes=classes,
            default_priority=cache.default_priority,
            quotas=[
                (namespace, name, msgspec.Raw(_ENCODE(status)))
                for namespace, quotas in cache.quotas.items()
                for name, status in quotas.items()
            ],
        )

    def _job(self, job: JobInfo) -> StoredJob:
        self._job_number[id(job)] = len(self._job_number)
        number = self._tasks.number
        tasks = [number(task) for task in job.tasks.values()]
        index = [
            (int(status), [number(task) for task in of_status.values()])
            for status, of_status in job.index.items()
        ]
        by_status: dict[int, list[int]] = {}
        # A task whose status changed goes to the end of its index, but keeps its place among the
        # tasks. Unless that happened, the tasks give the same index, so it need not be stored.
        for task, row in zip(job.tasks.values(), tasks, strict=True):
            by_status.setdefault(int(task.status), []).append(row)
        least = job.min_resources
        return StoredJob(
            key=job.key,
            fields=[getattr(job, name) for name in JOB_FIELDS],
            pod_group=self.number(job.pod_group),
            min_resources=None if least is None else amounts(least),
            tasks=tasks,
            index=None if index == [*by_status.items()] else index,
            allocated=amounts(job.allocated),
            total_request=amounts(job.total_request),
        )

    def _past_jobs(self, items: Sequence[DeletedJob]) -> list[StoredJob]:
        """Return the jobs in a worker's queue that the cache no longer has."""
        past = [
            item for item in items if isinstance(item, JobInfo) and id(item) not in self._job_number
        ]
        return [self._job(job) for job in {id(job): job for job in past}.values()]

    def _deleted_job(self, item: DeletedJob) -> int | JobName:
        return item if isinstance(item, JobName) else self._job_number[id(item)]

    def _failed_item(self, item: FailedItem) -> int | str:
        return self._tasks.number(item.task) if isinstance(item, FailedTask) else item

    def _node(self, info: NodeInfo) -> StoredNode:
        node, limited = self._limited(info)
        placed = info.tasks.values()
        ignored = info.ignored
        return StoredNode(
            name=info.name,
            node=self.number(node),
            limited=limited,
            fields=[getattr(info, name) for name in NODE_FIELDS],
            accounts=[amounts(getattr(info, name)) for name in ACCOUNTS],
            tasks=[self._tasks.number(task) for task, _ in placed],
            statuses=bytes(status for _, status in placed),
            images=self._states(info.images),
            numatopology=self.number(info.numatopology),
            ignored=None if ignored == self._cache.node_cache.ignored else sorted(ignored),
            devices=[
                (came, self.number(pod), int(status)) for came, pod, status in info.devices.changes
            ],
        )

    def _limited(self, info: NodeInfo) -> tuple[Node | None, bool]:
        """Return a node's Node, or the Node before the node worker changed it."""
        if info.node is None or id(info.node) in self._number:
            return info.node, False
        stores = self._cache.stores
        latest, limits = stores.get("Node", info.name), stores.get("CSINode", info.name)
        # The worker's copy differs from the informer's Node in the limits alone, so they need not
        # be stored: a restored cache adds them again.
        if latest is not None and with_volume_limits(latest, limits) == info.node:
            return latest, True
        return info.node, False

    def _states(self, images: Mapping[str, ImageState]) -> tuple[list[int], list[int], list[int]]:
        return (
            [self._image(name) for name in images],
            [state.size for state in images.values()],
            [state.nodes for state in images.values()],
        )

    def _queues(self) -> list[tuple[str, int, list[Amounts]]]:
        """Return the name, the number and the amounts of each queue."""
        return [
            (name, self.number(queue.queue), _queue_amounts(queue))
            for name, queue in self._cache.queues.items()
        ]

    def _image(self, name: str) -> int:
        return self._image_number.setdefault(name, len(self._image_number))

    def _images(self) -> tuple[list[str], list[int], dict[str, list[int]]]:
        """Return the names of all images, the sizes that are known, and the images of the nodes."""
        images = self._cache.node_cache.images
        of_nodes = {
            node: [self._image(name) for name in names] for node, names in images.of_nodes().items()
        }
        sizes = images.sizes()
        return [*self._image_number], [sizes.get(name, -1) for name in self._image_number], of_nodes

    def _hypernodes(self) -> StoredHyperNodes:
        tree = self._cache.node_cache.hypernodes
        return StoredHyperNodes(
            infos=[
                (name, self.number(info.hyper_node), info.tier, info.parent, info.is_deleting)
                for name, info in tree.infos.items()
            ],
            by_tier=[(tier, list(names)) for tier, names in tree.by_tier.items()],
            real_nodes=[(name, sorted(nodes)) for name, nodes in tree.real_nodes.items()],
            ready=tree.ready,
            building_failed_at=tree.building_failed_at,
            dangling=sorted(tree.dangling),
        )


class _Tasks:
    """Tasks, numbered as they are met."""

    def __init__(self) -> None:
        self._number: dict[int, int] = {}
        self._tasks: list[TaskInfo] = []

    def number(self, task: TaskInfo) -> int:
        """Return the number of a task."""
        known = self._number.get(id(task))
        if known is None:
            known = self._number[id(task)] = len(self._tasks)
            self._tasks.append(task)
        return known

    def stored(self, number: Callable[[Object], int]) -> StoredTasks:
        """Return all tasks that were numbered; their pods are numbered with the other objects."""
        tasks = self._tasks
        requests: dict[int, int] = {}
        known: dict[tuple[Any, ...], int] = {}
        traits: dict[tuple[Any, ...], int] = {}
        classes: dict[int, int] = {}
        for task in tasks:
            request = task.request
            if id(request) not in requests:
                scalars = None if request.scalars is None else (*request.scalars.items(),)
                value = (request.cpu, request.memory, scalars, request.max_task_num)
                requests[id(request)] = known.setdefault(value, len(known))
            classes.setdefault(task.klass, len(classes))
        return StoredTasks(
            pods=[number(task.pod) for task in tasks],
            classes=[classes[task.klass] for task in tasks],
            traits=[
                traits.setdefault(
                    (
                        requests[id(task.request)],
                        *(task.role, task.priority, task.best_effort, task.preemptable),
                        *(task.revocable_zone, task.numa_policy, task.gated),
                        task.has_restartable_init_container,
                    ),
                    len(traits),
                )
                for task in tasks
            ],
            statuses=bytes(task.status for task in tasks),
            nodes={
                number: task.node_name
                for number, task in enumerate(tasks)
                if task.node_name != task.pod.spec.node_name
            },
            devices={
                number: [(claim.key, list(claim.counts)) for claim in task.devices]
                for number, task in enumerate(tasks)
                if task.devices
            },
            requests=[
                (cpu, memory, None if scalars is None else dict(scalars), count)
                for cpu, memory, scalars, count in known
            ],
            known_traits=[*traits],
        )


def amounts(resource: Resource) -> Amounts:
    """Return amounts as they are stored."""
    return (resource.cpu, resource.memory, resource.scalars, resource.max_task_num)


def _queue_amounts(queue: QueueInfo) -> list[Amounts]:
    return [amounts(getattr(queue, name)) for name in QUEUE_AMOUNTS]


def _panic(panic: Panic) -> StoredPanic:
    return panic.message, list(panic.place), panic.fatal, panic.during
