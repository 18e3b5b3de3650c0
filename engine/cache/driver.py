"""The one driver of a scheduler's cache: what informers deliver and workers do, as calls.

Everything that keeps a cache up to date goes through here: the belief that a log gives rise to, a
simulation, a rerun of recorded sessions, and recorded cases of the real cache. Nothing happens by
itself, and time moves with :meth:`CacheDriver.advance` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ..kubernetes.objects import KINDS, Object, Pod
from ..kubernetes.work_queue import WorkQueue
from .cache import SchedulerCache
from .requests import ApiServer
from .scheduler_flags import CacheOptions
from .writer import Writer

if TYPE_CHECKING:
    from ..volcano.cache.behaviours import CacheBehaviours
    from ..volcano.session.behaviours import Behaviours

_FIRST_LISTED = ("Node", "HyperNode", "PriorityClass", "Queue")
_LAST_LISTED = ("Pod", "PodGroup")

LISTING_ORDER = (
    *_FIRST_LISTED,
    *(kind for kind in KINDS if kind not in _FIRST_LISTED + _LAST_LISTED),
    *_LAST_LISTED,
)
"""The kinds in the order in which a process that starts sees what there is."""


class Worker(StrEnum):
    """A worker, by the name that its queue has in the scheduler."""

    NODES = "nodeQueue"
    HYPERNODES = "hyperNodesQueue"
    CLEANUP = "deletedJobs"
    RESYNC = "errTasks"


class Taken(NamedTuple):
    """An item that a worker took off its queue and is still to finish with."""

    worker: Worker
    item: Any


class CacheDriver:
    """Drives the cache of one scheduler process; a restart gives it a new one.

    :param own: what the release's cache does; by default as the release of ``behaviours`` does.
    :param api: carries out what the cache writes. Without one nothing is written or read again.
    :ivar cache: the cache of the present process.
    :ivar holds_cleanup: the worker that drops ended jobs rests (marks of a scenario say so).
    """

    def __init__(
        self,
        behaviours: Behaviours,
        options: CacheOptions | None = None,
        own: CacheBehaviours | None = None,
        api: ApiServer | None = None,
    ) -> None:
        self.cache = SchedulerCache(behaviours, options, own)
        self.holds_cleanup = False
        self._api = api
        self._in_hand: list[Taken] = []

    def connect(self, api: ApiServer) -> None:
        """Let what the cache writes and reads go to this API server from now on."""
        self._api = api

    def deliver(self, kind: str, item: Object) -> None:
        """Let the informer of a kind see that an object was added or modified.

        :raises Panic: the process ends there.
        """
        self.cache.deliver(kind, item)

    def deliver_deletion(self, kind: str, last: Object) -> None:
        """Let the informer of a kind see that an object was deleted.

        :param last: the version that the handlers get.
        :raises Panic: the process ends there.
        """
        self.cache.deliver_deletion(kind, last)

    def list_all(self, of: Callable[[str], Iterable[Object]]) -> None:
        """See all objects there are, as a process does that starts; every worker keeps up.

        :param of: gives the objects of a kind, by key in ascending order.
        :raises Panic: the process ends there.
        """
        for kind in LISTING_ORDER:
            for item in of(kind):
                self.deliver(kind, item)
                self.work()

    def restart(self, options: CacheOptions | None = None) -> None:
        """Let a new process begin, and see all that the informers of the old one held.

        :param options: its flags, if they are known; by default those of the old one.
        :raises Panic: the new process ends, too.
        """
        old = self.cache
        self.cache = SchedulerCache(old.behaviours, options or old.options, old.own)
        self._in_hand.clear()
        stores = old.stores
        self.list_all(lambda kind: [stores.get(kind, key) for key in sorted(stores.of(kind))])

    def sessions_may_start(self, *, handled: bool) -> bool:
        """Say whether the first session may start.

        :param handled: the handlers have taken in all that there was at the start.

        Source: cache.go Run, WaitForHandlerSync.
        """
        return handled or not self.cache.own.first_session_waits_for_handlers

    def writer(self, batch: int = 1) -> Writer:
        """Return what writes for the cache: it binds, evicts and sends what follows from that.

        :param batch: so many bindings are made together.
        """
        assert self._api is not None, "nothing carries out what the cache writes"
        return Writer(self.cache, self._api, batch)

    def work(self) -> None:
        """Let all delays be over, and every worker go once over what is queued.

        Tasks that are to be read again stay: that needs the API server.
        """
        self.cache.node_cache.run_workers()
        if not self.holds_cleanup:
            self.clean_up()

    def clean_up(self) -> None:
        """Let the worker of ended jobs go once over what is queued, though it is held."""
        self.cache.job_cache.clean_up()

    def begin_clean_up(self) -> None:
        """Let the worker of ended jobs take one, and get no further."""
        self.queue(Worker.CLEANUP).fire_all()
        taken = self.take(Worker.CLEANUP)
        if taken is not None:
            self._in_hand.append(taken)

    def end_clean_up(self) -> None:
        """Let the worker of ended jobs finish with what it has in hand."""
        while self._in_hand:
            self.finish(self._in_hand.pop(0))

    def queue(self, worker: Worker) -> WorkQueue[Any]:
        """Return the queue of a worker."""
        jobs, nodes = self.cache.job_cache, self.cache.node_cache
        queues: dict[Worker, WorkQueue[Any]] = {
            Worker.NODES: nodes.queue,
            Worker.HYPERNODES: nodes.hypernode_queue,
            Worker.CLEANUP: jobs.deleted_jobs,
            Worker.RESYNC: jobs.error_tasks,
        }
        return queues[worker]

    def next_due(self) -> int | None:
        """Return when the next delay is over, in microseconds of the queues' time; None if none."""
        return min(
            (due for each in Worker for due in self.queue(each).due().values()), default=None
        )

    def advance(self, now: int) -> None:
        """Move the time of all queues on: what is due by then is queued."""
        for worker in Worker:
            self.queue(worker).advance(now)

    def take(self, worker: Worker) -> Taken | None:
        """Let a worker take the first item of its queue; None if there is none."""
        queue = self.queue(worker)
        return Taken(worker, queue.take()) if len(queue) else None

    def finish(self, taken: Taken) -> None:
        """Let a worker finish with an item: it sees what happened since it took it.

        :raises Panic: the process ends there.
        """
        jobs, nodes = self.cache.job_cache, self.cache.node_cache
        if taken.worker is Worker.NODES:
            nodes.finish_sync(taken.item)
        elif taken.worker is Worker.HYPERNODES:
            nodes.finish_sync_hypernode(taken.item)
        elif taken.worker is Worker.CLEANUP:
            jobs.finish_clean_up(taken.item)
        else:
            jobs.finish_resync(taken.item, self._read_pod)

    def _read_pod(self, namespace: str, name: str) -> Pod | None:
        assert self._api is not None, "nothing answers what the cache reads"
        return self._api.read_pod(namespace, name)
