"""One scheduler's process in a simulation: its cache, its workers, and its own state."""

from __future__ import annotations

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.driver import CacheDriver
from ...engine.cache.scheduler_flags import CacheOptions
from ...engine.kubernetes.object_store import Document, Store
from ...engine.kubernetes.objects import KINDS, Queue, decode
from ...engine.session.framework.process_parts import ProcessState
from ...engine.session.framework.session_outcome import SessionResult
from ...engine.session.session_run import SessionInput, run_session
from ...engine.volcano.conf import SchedulerConf
from ...engine.volcano.session.behaviours import Behaviours

SCORED_NODES = 64
"""A result with the scores of more nodes is too large to read."""


class Scheduler:
    """A process: it starts empty, and gets the events that are delivered to it.

    :ivar driver: drives its cache. :ivar process: the state that it keeps between sessions.
    """

    def __init__(self, behaviours: Behaviours, options: CacheOptions) -> None:
        self.behaviours = behaviours
        self.driver = CacheDriver(behaviours, options)
        self.process = ProcessState(from_start=True)

    @property
    def cache(self) -> SchedulerCache:
        """The process's cache."""
        return self.driver.cache

    def see(self, verb: str, document: Document) -> None:
        """Deliver a change to the informer, and let each worker process its queue once.

        :raises EventMalformed: Go could not decode the object.
        """
        kind = KINDS.get(document["kind"])
        if kind is None:
            return
        item = decode(kind, document)
        if verb == "deleted":
            self.driver.deliver_deletion(kind.__name__, item)
            if isinstance(item, Queue):
                self.process.gauges.pop(item.name, None)
        else:
            self.driver.deliver(kind.__name__, item)
        self.driver.work()

    def list_all(self, store: Store) -> None:
        """Deliver all objects of a store, as at the start of a process."""
        self.driver.list_all(
            lambda kind: (decode(KINDS[kind], document) for _, document in store.of(kind))
        )

    def run(self, conf: SchedulerConf, now: int, *, scores: bool | None) -> SessionResult:
        """Run one session on what the cache holds.

        :param scores: keep the scores of every node for every pod; None keeps them for clusters of
            up to :data:`SCORED_NODES` nodes. Decisions are the same.
        """
        cache = self.cache
        result = run_session(
            SessionInput(
                snapshot=cache.snapshot(),
                conf=conf,
                behaviours=self.behaviours,
                now=now,
                process=self.process,
                cache=cache,
                trace=len(cache.nodes) <= SCORED_NODES if scores is None else scores,
            )
        )
        for name, queue in result.queues.items():
            # The session uses the cache's own queues, except for the root, of which it has a copy.
            if queue.written and queue.deserved is None:
                cache.note_queue_status(name, queue.allocated)
        return result

    def out_of_sync(self) -> list[str]:
        """Return the nodes that the cache leaves out of sessions, or marks to be skipped."""
        return sorted(
            name for name, node in self.cache.nodes.items() if node.reason or node.skipped
        )
