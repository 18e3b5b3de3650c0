"""Decode a scheduler's cache from the bytes of :mod:`.stored`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from sys import intern
from typing import TYPE_CHECKING, Any

import msgspec
import zstandard

from ..errors import LogCorrupt
from ..events.complete_lists import LastList, Listing
from ..events.payloads import ListObserved
from ..kubernetes.objects import KINDS, Object, Pod, ResourceQuotaStatus, decode_known
from ..kubernetes.work_queue import WaitingItems
from ..model.device_claims import TaskDeviceClaim
from ..model.device_log import DeviceChange, DeviceLog
from ..model.hypernode import HyperNodeInfo
from ..model.job import DisruptionBudget, JobInfo
from ..model.node import ImageState, NodeInfo, PlacedTask
from ..model.panic import Panic
from ..model.queue import QueueInfo
from ..model.resource import Resource
from ..model.task import TaskInfo
from ..model.task_status import TaskStatus
from .job_cache import job_of
from .node_sync import with_volume_limits
from .projector import Origin, Projector
from .queue_items import DeletedJob, FailedItem, FailedTask, JobName
from .scheduler_flags import CacheOptions
from .stored import (
    ACCOUNTS,
    JOB_FIELDS,
    NODE_FIELDS,
    NOTHING,
    QUEUE_AMOUNTS,
    Amounts,
    StoredBelief,
    StoredJob,
    StoredNode,
    StoredPanic,
)
from .stored_objects import KeptObjects

if TYPE_CHECKING:
    from ..volcano.session.behaviours import Behaviours

Payloads = Callable[[Sequence[int]], Mapping[int, bytes]]
"""Returns the payloads of events by their positions."""

Decoded = Callable[[type[Object], int], Object]
"""Returns the object of a kind whose event is at a position."""

_AT_ONCE = 1024
"""Payloads that are read together."""

_STATUSES = tuple(TaskStatus)
_DECODE = msgspec.msgpack.Decoder(StoredBelief).decode
_ENCODE = msgspec.msgpack.Encoder().encode
_STATUS_DECODE = msgspec.msgpack.Decoder(ResourceQuotaStatus).decode


def unpack(
    data: bytes, behaviours: Behaviours, payloads: Payloads, decoded: Decoded | None = None
) -> Projector:
    """Return the projector that :func:`.stored.pack` was given.

    :param decoded: instead of decoding payloads, where the same objects are restored many times.
    """
    return _Reader(_DECODE(data), behaviours, payloads, decoded).projector


def seen_by_sessions(data: bytes) -> bytes:
    """Return what sessions see of a packed projector: equal caches to them give equal bytes.

    That is all but what waits for the cache's workers.
    """
    none_waits = WaitingItems[Any]([], [], [], [], 0, 0)
    without = msgspec.structs.replace(
        _DECODE(data),
        past_jobs=[],
        deleted_jobs=none_waits,
        error_tasks=none_waits,
        node_queue=none_waits,
        hypernode_queue=none_waits,
    )
    return _ENCODE(without)


def decode_belief(
    data: bytes, behaviours: Behaviours, payloads: Payloads, kept: KeptObjects | None = None
) -> Projector:
    """Return the projector that :func:`.stored.encode_belief` encoded, ready to continue.

    :param behaviours: of its release.
    :param kept: objects whose payloads need not be read.
    :raises LogCorrupt: the bytes cannot be decoded; they must be dropped and rebuilt.
    """
    try:
        stored = _DECODE(zstandard.ZstdDecompressor().decompress(data))
        return _Reader(stored, behaviours, payloads, kept=kept).projector
    except (msgspec.DecodeError, zstandard.ZstdError, LookupError, ValueError) as fault:
        raise LogCorrupt(
            f"a stored belief cannot be read ({fault})",
            position=0,
            where="table checkpoint",
            now="the log itself is not concerned: plinian checkpoint drop, then build",
        ) from fault


class _Reader:
    """Rebuilds a projector, each part after the parts that it needs."""

    def __init__(
        self,
        stored: StoredBelief,
        behaviours: Behaviours,
        payloads: Payloads,
        decoded: Decoded | None = None,
        kept: KeptObjects | None = None,
    ) -> None:
        self._stored = stored
        self.projector = Projector(behaviours, _options(stored.options))
        self._cache = self.projector.cache
        self._payloads, self._known, self._kept = payloads, decoded, kept
        self._objects = self._found()
        self._begin()
        self._tasks = self._made_tasks()
        self._jobs: list[JobInfo] = []
        self._put_jobs()
        self._put_nodes()
        self._put_hypernodes()
        self._put_rest()

    def _found(self) -> dict[int, Any]:
        """Fill the informers' stores, and return all objects by number."""
        encoded = {number: (kind, raw) for number, kind, raw in self._stored.others}
        objects: dict[int, Any] = {}
        for kind, positions in self._stored.stores:
            if not positions:
                continue
            origins, store = self.projector.origins[kind], dict[str, Object]()
            of = KINDS[kind]
            read = self._decoded(of, positions)
            for number, position in enumerate(positions, len(objects)):
                item: Object
                if position:
                    item = next(read)
                    key = intern(item.metadata.key)
                    origins[key] = Origin(item, position)
                else:
                    item = _decoder(of).decode(encoded.pop(number)[1])
                    key = item.metadata.key
                objects[number] = store[key] = item
            self._cache.stores.fill(kind, store)
        for number, (kind, raw) in encoded.items():
            objects[number] = _decoder(KINDS[kind]).decode(raw)
        return objects

    def _decoded(self, kind: type[Object], positions: Sequence[int]) -> Iterator[Object]:
        """Yield the objects at the positions that are not 0, with few payloads in memory."""
        wanted = [position for position in positions if position]
        if self._known is not None:
            yield from (self._known(kind, position) for position in wanted)
            return
        kept = {} if self._kept is None else self._kept.found(kind, wanted)
        for start in range(0, len(wanted), _AT_ONCE):
            batch = wanted[start : start + _AT_ONCE]
            unread = sorted(position for position in batch if position not in kept)
            read = self._payloads(unread) if unread else {}
            for position in batch:
                found = kept.get(position)
                yield decode_known(kind, read[position]) if found is None else found

    def _object(self, number: int) -> Any:
        return None if number == NOTHING else self._objects[number]

    def _begin(self) -> None:
        """Restore the projector's own state, and what is needed to create tasks."""
        stored, projector = self._stored, self.projector
        self._cache.stores.undecoded.update(stored.undecoded)
        projector.crashes = [_panic(crash) for crash in stored.crashes]
        crash, projector.driver.is_down = stored.crash
        self._cache.crash = next(map(_panic, crash), None)
        projector.driver.holds_cleanup = stored.holds_cleanup
        projector.lists.doomed = dict.fromkeys(stored.doomed)
        lists = self._payloads([position for *_, position in stored.listed if position])
        for group, kind, namespaces, position in stored.listed:
            listing = msgspec.json.decode(lists[position], type=ListObserved)
            seen = LastList(frozenset(listing.uids), listing.answered)
            projector.lists.listed[group, kind, tuple(namespaces)] = Listing(seen, position)
        self._ignored = frozenset(stored.ignored)
        self._cache.node_cache.ignore(self._ignored)
        tasks = stored.tasks
        # A class is not stored itself: the pod of its first task makes it again.
        first: dict[int, int] = {}
        for number, klass in enumerate(tasks.classes):
            first.setdefault(klass, number)
        pods = [self._object(tasks.pods[first[klass]]) for klass in range(len(first))]
        self._cache.classes.begin(pods, stored.selected)

    def _made_tasks(self) -> list[TaskInfo]:
        stored = self._stored.tasks
        requests = [_resource(request) for request in stored.requests]
        columns = zip(stored.pods, stored.classes, stored.traits, stored.statuses, strict=True)
        tasks = [
            _task(self._objects[pod], klass, stored.known_traits[traits], status, requests)
            for pod, klass, traits, status in columns
        ]
        for number, node in stored.nodes.items():
            tasks[number].node_name = node
        for number, claims in stored.devices.items():
            tasks[number].devices = tuple(
                TaskDeviceClaim(key, tuple((name, count) for name, count in counts))
                for key, counts in claims
            )
        return tasks

    def _put_jobs(self) -> None:
        cache = self._cache.job_cache
        for stored in self._stored.jobs:
            cache.infos[stored.key] = self._job(stored)
        for stored in self._stored.past_jobs:
            self._job(stored)
        cache.deleted_jobs.hold(self._stored.deleted_jobs.of(self._deleted_job))
        cache.error_tasks.hold(self._stored.error_tasks.of(self._failed_item))

    def _deleted_job(self, item: int | list[str]) -> DeletedJob:
        return self._jobs[item] if isinstance(item, int) else JobName(*item)

    def _failed_item(self, item: int | str) -> FailedItem:
        return FailedTask(self._tasks[item]) if isinstance(item, int) else item

    def _job(self, stored: StoredJob) -> JobInfo:
        job = self._cache.job_cache.new_job(stored.key)
        self._jobs.append(job)
        for name, value in zip(JOB_FIELDS, stored.fields, strict=True):
            setattr(job, name, value)
        job.budget = DisruptionBudget(*job.budget)
        job.pod_group = self._object(stored.pod_group)
        least = stored.min_resources
        job.min_resources = None if least is None else _resource(least)
        job.allocated, job.total_request = map(_resource, (stored.allocated, stored.total_request))
        tasks = self._tasks
        for number in stored.tasks:
            task = tasks[number]
            job.tasks[task.uid] = task
            if stored.index is None:
                job.index.setdefault(task.status, {})[task.uid] = task
        for status, numbers in stored.index or ():
            job.index[_STATUSES[status]] = {tasks[number].uid: tasks[number] for number in numbers}
        return job

    def _put_nodes(self) -> None:
        cache, stored = self._cache.node_cache, self._stored
        names, sizes, of_nodes = stored.images
        cache.images.hold(
            {node: [names[image] for image in images] for node, images in of_nodes.items()},
            {name: size for name, size in zip(names, sizes, strict=True) if size >= 0},
        )
        for stored_node in stored.nodes:
            self._fill(cache.get_or_create(stored_node.name), stored_node)
        cache.csi_nodes = stored.csi_nodes
        cache.queue.hold(stored.node_queue)
        cache.hypernode_queue.hold(stored.hypernode_queue.of(tuple))

    def _fill(self, info: NodeInfo, stored: StoredNode) -> None:
        node = self._object(stored.node)
        if stored.limited:
            node = with_volume_limits(node, self._cache.stores.get("CSINode", stored.name))
        info.node = node
        info.ignore(self._ignored if stored.ignored is None else frozenset(stored.ignored))
        for name, value in zip(NODE_FIELDS, stored.fields, strict=True):
            setattr(info, name, value)
        for name, account in zip(ACCOUNTS, stored.accounts, strict=True):
            setattr(info, name, _resource(account))
        placed = zip(stored.tasks, stored.statuses, strict=True)
        for number, status in placed:
            task = self._tasks[number]
            info.tasks[task.key] = PlacedTask(task, _STATUSES[status])
        names = self._stored.images[0]
        info.images = {
            names[image]: ImageState(size, nodes)
            for image, size, nodes in zip(*stored.images, strict=True)
        }
        info.numatopology = self._object(stored.numatopology)
        info.devices = DeviceLog(
            [
                DeviceChange(came, self._object(pod), _STATUSES[status])
                for came, pod, status in stored.devices
            ]
        )

    def _put_hypernodes(self) -> None:
        tree, stored = self._cache.node_cache.hypernodes, self._stored.hypernodes
        for name, number, tier, parent, is_deleting in stored.infos:
            info = HyperNodeInfo(self._object(number), parent=parent, is_deleting=is_deleting)
            info.tier = tier
            tree.infos[name] = info
        tree.by_tier = {tier: dict.fromkeys(names) for tier, names in stored.by_tier}
        tree.real_nodes = {name: frozenset(nodes) for name, nodes in stored.real_nodes}
        tree.ready = stored.ready
        tree.building_failed_at = stored.building_failed_at
        tree.dangling = set(stored.dangling)

    def _put_rest(self) -> None:
        cache, stored = self._cache, self._stored
        for name, number, of_queue in stored.queues:
            queue = cache.queues[name] = QueueInfo(self._object(number))
            for field, amounts_read in zip(QUEUE_AMOUNTS, of_queue, strict=True):
                setattr(queue, field, _resource(amounts_read))
        for name, number in stored.priority_classes:
            cache.priority_classes[name] = self._object(number)
        cache.default_priority = stored.default_priority
        for namespace, name, raw in stored.quotas:
            cache.quotas.setdefault(namespace, {})[name] = _STATUS_DECODE(raw)


def _options(stored: list[Any]) -> CacheOptions:
    names, queue, selectors, provisioners, classes, filters = stored
    return CacheOptions(
        tuple(names), queue, frozenset(selectors), frozenset(provisioners), classes, filters
    )


def _task(
    pod: Pod, klass: int, traits: tuple[Any, ...], status: int, requests: Sequence[Resource]
) -> TaskInfo:
    request, role, priority, best_effort, preemptable, zone, numa, gated, restartable = traits
    metadata = pod.metadata
    return TaskInfo(
        uid=metadata.uid,
        namespace=metadata.namespace,
        name=metadata.name,
        key=intern(metadata.key),
        job=job_of(pod),
        role=role,
        request=requests[request],
        priority=priority,
        best_effort=best_effort,
        preemptable=preemptable,
        revocable_zone=zone,
        numa_policy=numa,
        gated=gated,
        has_restartable_init_container=restartable,
        created=metadata.created,
        pod=pod,
        klass=klass,
        status=_STATUSES[status],
        node_name=pod.spec.node_name,
    )


@cache
def _decoder(kind: type[Object]) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)


def _resource(stored: Amounts) -> Resource:
    return Resource(*stored)


def _panic(stored: StoredPanic) -> Panic:
    message, place, fatal, during = stored
    return Panic(message, tuple(place), fatal=fatal, during=during)
