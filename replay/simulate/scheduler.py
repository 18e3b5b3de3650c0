"""One scheduler's process in a simulation: its cache, its workers, and what it keeps to itself."""

from __future__ import annotations

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.scheduler_flags import CacheOptions
from ...engine.kubernetes.objects import KINDS, Queue, decode
from ...engine.kubernetes.store import Document, Store
from ...engine.model.job import JobInfo
from ...engine.session.framework.outcome import SessionResult
from ...engine.session.framework.process import ProcessState
from ...engine.session.run import SessionInput, run_session
from ...engine.volcano.conf import SchedulerConf
from ...engine.volcano.session.behaviours import Behaviours

FIRST_LISTED = ("Node", "HyperNode", "PriorityClass", "Queue")
LAST_LISTED = ("Pod", "PodGroup")

SCORED_NODES = 64
"""A result with the scores of more nodes is too large for anybody to read."""


class Scheduler:
    """A process: it begins with nothing, and sees what is delivered to it."""

    def __init__(self, behaviours: Behaviours, options: CacheOptions) -> None:
        self.behaviours = behaviours
        self.cache = SchedulerCache(behaviours, options)
        self.process = ProcessState(from_start=True)
        self.holds_cleanup = False
        self._in_hand: list[JobInfo] = []

    def see(self, verb: str, document: Document) -> None:
        """Let an informer deliver a change, and every worker take what is queued then, once.

        :raises EventMalformed: Go could not decode the object.
        """
        kind = KINDS.get(document["kind"])
        if kind is None:
            return
        item = decode(kind, document)
        if verb == "deleted":
            self.cache.deliver_deletion(kind.__name__, item)
            if isinstance(item, Queue):
                self.process.gauges.pop(item.name, None)
        else:
            self.cache.deliver(kind.__name__, item)
        self.work()

    def list_all(self, store: Store) -> None:
        """See all objects of a store, as a process does that starts."""
        others = [kind for kind in store.kinds() if kind not in FIRST_LISTED + LAST_LISTED]
        for kind in (*FIRST_LISTED, *others, *LAST_LISTED):
            for _, document in store.of(kind):
                self.see("created", document)

    def work(self) -> None:
        """Let every worker take what is queued, once; what waits for a retry is due."""
        self.cache.node_cache.run_workers()
        if not self.holds_cleanup:
            self.clean_up()

    def clean_up(self) -> None:
        """Let the worker of deleted jobs take what is queued, once."""
        self.cache.job_cache.clean_up()

    def begin_clean_up(self) -> None:
        """Let the worker of deleted jobs take one, and get no further."""
        queue = self.cache.job_cache.deleted_jobs
        queue.fire_all()
        if len(queue):
            self._in_hand.append(queue.take())

    def end_clean_up(self) -> None:
        """Let the worker of deleted jobs finish with what it has in hand."""
        while self._in_hand:
            self.cache.job_cache.finish_clean_up(self._in_hand.pop(0))

    def run(self, conf: SchedulerConf, now: int, *, scores: bool | None) -> SessionResult:
        """Run one session on what the cache holds.

        :param scores: keep what every node scored for every pod; None keeps it of clusters of up
            to :data:`SCORED_NODES` nodes. Decisions are the same.
        """
        result = run_session(
            SessionInput(
                snapshot=self.cache.snapshot(),
                conf=conf,
                behaviours=self.behaviours,
                now=now,
                process=self.process,
                cache=self.cache,
                trace=len(self.cache.nodes) <= SCORED_NODES if scores is None else scores,
            )
        )
        for name, queue in result.queues.items():
            # The session has the cache's own queues, but for the root, of which it writes a copy.
            if queue.written and queue.deserved is None:
                self.cache.note_queue_status(name, queue.allocated)
        return result

    def out_of_sync(self) -> list[str]:
        """Return the nodes that the cache keeps out of sessions, or marks to be passed over."""
        return sorted(
            name for name, node in self.cache.nodes.items() if node.reason or node.skipped
        )
