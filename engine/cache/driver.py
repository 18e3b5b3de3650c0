"""The driver of a scheduler's cache: deliveries of informers and steps of workers, as calls.

Everything that keeps a cache up to date goes through here: the belief that a log gives rise to, a
simulation, a rerun of recorded sessions, and recorded cases of the real cache. Nothing happens by
itself, and time moves with :meth:`CacheDriver.advance` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ..kubernetes.objects import KINDS, Object, Pod
from ..kubernetes.work_queue import WorkQueue
from ..model.panic import Panic
from .cache import SchedulerCache
from .cache_requests import CacheRequests
from .scheduler_flags import CacheOptions
from .writer import CacheWriter

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
"""The kinds in the order in which a starting process gets their objects."""

assert sorted(LISTING_ORDER) == sorted(KINDS), "a process that starts lists each kind once"


class Worker(StrEnum):
    """A worker, by the name of its queue in the scheduler."""

    NODES = "nodeQueue"
    HYPERNODES = "hyperNodesQueue"
    CLEANUP = "deletedJobs"
    RESYNC = "errTasks"


class Taken(NamedTuple):
    """An item that a worker took from its queue and has not finished."""

    worker: Worker
    item: Any


class CacheDriver:
    """Drives the cache of one scheduler process; a restart gives it a new one.

    :param own: behaviours of the cache; by default those of the release of ``behaviours``.
    :param api: carries out the cache's writes. Without one nothing is written or read again.
    :ivar cache: the cache of the current process.
    :ivar holds_cleanup: the cleanup worker is paused, by a mark of a scenario.
    :ivar is_down: the last start failed. Informers then hold what is delivered, no handler runs,
        and a start is tried when workers would run.
    """

    def __init__(
        self,
        behaviours: Behaviours,
        options: CacheOptions | None = None,
        own: CacheBehaviours | None = None,
        api: CacheRequests | None = None,
    ) -> None:
        self.cache = SchedulerCache(behaviours, options, own)
        self.holds_cleanup = False
        self.is_down = False
        self._api = api
        self._in_hand: list[Taken] = []

    def connect(self, api: CacheRequests) -> None:
        """Let what the cache writes and reads go to this API server from now on."""
        self._api = api

    def deliver(self, kind: str, item: Object) -> None:
        """Deliver an added or modified object to the informer of its kind.

        :raises Panic: the process panics.
        """
        if self.is_down:
            self.cache.stores.put(kind, item)
        else:
            self.cache.deliver(kind, item)

    def deliver_deletion(self, kind: str, last: Object) -> None:
        """Deliver the deletion of an object to the informer of its kind.

        :param last: the version that the handlers get.
        :raises Panic: the process panics.
        """
        if self.is_down:
            self.cache.stores.remove(kind, last.key)
        else:
            self.cache.deliver_deletion(kind, last)

    def list_all(self, of: Callable[[str], Iterable[Object]]) -> None:
        """Deliver all existing objects, as at the start of a process; workers run after each.

        :param of: returns the objects of a kind, by key in ascending order.
        :raises Panic: the process panics.
        """
        for kind in LISTING_ORDER:
            for item in of(kind):
                try:
                    self.deliver(kind, item)
                    self.work()
                except Panic as panic:
                    does = f"it handles {kind} {item.key}, which it lists when it starts"
                    raise panic.while_it(does) from None

    def restart(
        self, options: CacheOptions | None = None, *, without: Collection[str] = ()
    ) -> None:
        """Start a new process, and deliver all objects that the informers of the old one held.

        :param options: its flags, if known; by default those of the old one.
        :param without: nodes that are not delivered.
        :raises Panic: the new process panics, too. Its informers then hold the objects all the
            same, so that another one can be started.
        """
        old = self.cache
        self.cache = SchedulerCache(old.behaviours, options or old.options, old.own)
        self._in_hand.clear()
        self.is_down = False
        stores = old.stores
        # No object stands for them: a list of all objects would lose that they exist.
        self.cache.stores.undecoded.update(stores.undecoded)

        def of(kind: str) -> Iterable[Object]:
            keys = sorted(stores.of(kind))
            left_out = without if kind == "Node" else ()
            return [stores.get(kind, key) for key in keys if key not in left_out]

        try:
            self.list_all(of)
        except Panic:
            self.is_down = True
            for kind in LISTING_ORDER:
                self.cache.stores.fill(kind, stores.of(kind))
            raise

    def sessions_may_start(self, *, handled: bool) -> bool:
        """Return whether the first session may start.

        :param handled: the handlers have handled all objects that existed at the start.

        Source: cache.go Run, WaitForHandlerSync.
        """
        return handled or not self.cache.own.first_session_waits_for_handlers

    def writer(self, batch: int = 1) -> CacheWriter:
        """Return the cache's writer, which binds, evicts and sends the requests.

        :param batch: how many bindings are made together.
        """
        assert self._api is not None, "nothing carries out what the cache writes"
        return CacheWriter(self.cache, self._api, batch)

    def work(self) -> None:
        """End all delays, and let every worker process its queue once.

        Tasks to resync stay: that needs the API server.

        :raises Panic: the process panics.
        """
        if self.is_down:
            self.restart()
            return
        self.cache.node_cache.run_workers()
        if not self.holds_cleanup:
            self.clean_up()

    def clean_up(self) -> None:
        """Let the cleanup worker process its queue once, even if it is paused."""
        self.cache.job_cache.clean_up()

    def begin_clean_up(self) -> None:
        """Let the cleanup worker take an item, without finishing it."""
        self.queue(Worker.CLEANUP).fire_all()
        taken = self.take(Worker.CLEANUP)
        if taken is not None:
            self._in_hand.append(taken)

    def end_clean_up(self) -> None:
        """Let the cleanup worker finish the item that it took."""
        while self._in_hand:
            self.finish(self._in_hand.pop(0))

    def queue(self, worker: Worker) -> WorkQueue[Any]:
        """Return the queue of a worker."""
        return self.queues()[worker]

    def queues(self) -> dict[Worker, WorkQueue[Any]]:
        """Return the queues of all workers, in the order of the workers."""
        jobs, nodes = self.cache.job_cache, self.cache.node_cache
        return {
            Worker.NODES: nodes.queue,
            Worker.HYPERNODES: nodes.hypernode_queue,
            Worker.CLEANUP: jobs.deleted_jobs,
            Worker.RESYNC: jobs.error_tasks,
        }

    def next_due(self) -> int | None:
        """Return when the next delay ends, in microseconds of the queues' time, or None."""
        return min(
            (due for queue in self.queues().values() for due in queue.due().values()), default=None
        )

    def advance(self, now: int) -> None:
        """Advance the time of all queues: items that are due are queued."""
        for queue in self.queues().values():
            queue.advance(now)

    def take(self, worker: Worker) -> Taken | None:
        """Let a worker take the first item of its queue; None if there is none."""
        queue = self.queue(worker)
        return Taken(worker, queue.take()) if len(queue) else None

    def finish(self, taken: Taken) -> None:
        """Let a worker finish an item: it uses the state of now, not of when it took the item.

        :raises Panic: the process panics.
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
