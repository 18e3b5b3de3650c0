"""Runs of one recorded session on one snapshot or another."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.snapshot import Snapshot
from ...engine.model.panic import Panic
from ...engine.session.framework.map_orders import (
    Ascending,
    MapWalk,
    RecordedOrders,
    SeededOrders,
    tasks_on,
)
from ...engine.session.framework.process_parts import ProcessState
from ...engine.session.framework.session_outcome import SessionResult
from ...engine.session.session_run import SessionInput, run_session
from ...engine.volcano.conf import SchedulerConf
from ..recorded.recorded_sessions import RecordedSession
from .attempts import Attempt, Following, compared


def recorded_walks(
    session: RecordedSession, cache: SchedulerCache
) -> Mapping[MapWalk, tuple[str, ...]]:
    """Return what a session came to first: nodes to evict on for each pod, and pods of nodes.

    The scheduler logs every pod that it tries as a victim, and for which pod.
    """
    jobs = cache.jobs.values()
    node_of = {task.key: task.node_name for job in jobs for task in job.tasks.values()}
    walks: dict[MapWalk, dict[str, None]] = {}
    for action, tried in session.victims.items():
        for evictor, victim in tried:
            if node := node_of.get(victim):
                walks.setdefault(MapWalk(action, tasks_on(node)), {})[victim] = None
                walks.setdefault(MapWalk(action, evictor), {})[node] = None
    return {walk: tuple(names) for walk, names in walks.items()}


_ALLOCATE, _BACKFILL = "allocate", "backfill"
_BINDS_NOTHING_MORE = frozenset({"preempt", "reclaim", "shuffle", _BACKFILL})
"""Actions after which pods with requests are bound as they were before."""


class RunBound(NamedTuple):
    """The run to beat: a run that is already farther from the record is stopped.

    :param pods: that were bound in one of the two only. :param binds: all that differ.
    :param ignored: names that do not count.
    """

    pods: int
    binds: int
    ignored: Collection[str] = ()


class _FartherAway(Exception):
    """The run binds other pods than recorded, more than the one to beat."""


class _AgreeingCache:
    """A cache that accepts every bind and eviction: the recording has their outcome.

    :param named: pods by uid. :param recorded: the node of each recorded bind.
    :param beat: the run to beat; None lets every run go to its end.
    """

    def __init__(
        self, named: Mapping[str, str], recorded: Mapping[str, str], beat: RunBound | None
    ) -> None:
        self._named, self._recorded, self._beat = named, recorded, beat
        self.bound: set[str] = set()
        self._invented = self._moved = 0

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:  # noqa: ARG002
        """Bind.

        :raises _FartherAway: too many binds differ.
        """
        pod = self._named.get(uid, "")
        self.bound.add(pod)
        if self._beat is None or pod in self._beat.ignored:
            return None
        recorded = self._recorded.get(pod)
        self._invented += recorded is None
        # An empty recorded node is not known: then any node is right.
        self._moved += recorded not in {None, "", node}
        self.compare(missed=0)
        return None

    def compare(self, missed: int) -> None:
        """Stop the run if it is farther from the record than the one to beat.

        :param missed: binds that cannot come any more.
        """
        pods = self._invented + missed
        beat = self._beat
        if beat is not None and (pods, pods + self._moved) > (beat.pods, beat.binds):
            raise _FartherAway

    def evict(self, job: str, uid: str, reason: str) -> str | None:
        """Evict."""


class OneRun:
    """Runs one session; the scheduler's cache and its process do not change.

    :param cache: of the scheduler when the session opened, or soon after.
    :param process: what the scheduler's process remembers by then.
    :param writes_known: the log has all statuses of PodGroups that the session wrote.
    """

    def __init__(
        self,
        session: RecordedSession,
        cache: SchedulerCache,
        conf: SchedulerConf,
        process: ProcessState,
        *,
        writes_known: bool,
    ) -> None:
        self._session, self._conf, self._process = session, conf, process
        self._behaviours = cache.behaviours
        self._walks = recorded_walks(session, cache)
        self._writes_known = writes_known
        tasks = {uid: task for job in cache.jobs.values() for uid, task in job.tasks.items()}
        self._named = {uid: task.key for uid, task in tasks.items()}
        # Pods without requests may still be bound by backfill.
        self._firm = frozenset(
            tasks[uid].key
            for uid in session.uids.values()
            if uid in tasks and not tasks[uid].best_effort
        )
        # If a later action may bind such pods, a bind that is missing could still come.
        later = conf.actions[_last(conf, _ALLOCATE) + 1 :]
        self._stops = _ALLOCATE in conf.actions and _BINDS_NOTHING_MORE.issuperset(later)

    def __call__(
        self,
        seen: Snapshot | Panic,
        orders: SeededOrders | None = None,
        beat: RunBound | None = None,
    ) -> Attempt | None:
        """Run the session; None if it is farther from the record than the run to beat.

        :param seen: the snapshot, or the panic that leaves none.
        :param orders: of Go's maps, as far as the record does not show them; None is ascending.
        """
        session, known = self._session, self._writes_known
        if isinstance(seen, Panic):
            ended = SessionResult(panic=seen, process=self._process)
            return compared(session, ended, {}, writes_known=known)
        cache = _AgreeingCache(self._named, session.binds, beat if self._stops else None)
        following = Following(session, seen.jobs)
        # Plugins change what the process remembers: each run begins with the same.
        memory = deepcopy(self._process.memory)
        given = SessionInput(
            snapshot=seen,
            conf=self._conf,
            behaviours=self._behaviours,
            now=session.opened,
            process=ProcessState(memory=memory, caches=self._process.caches),
            cache=cache,
            chooser=following,
            map_orders=RecordedOrders(self._walks, orders or Ascending()),
        )

        def after(action: str) -> None:
            if action == _ALLOCATE and beat is not None:
                cache.compare(len(self._firm - cache.bound - set(beat.ignored)))

        try:
            result = run_session(given, after)
        except _FartherAway:
            return None
        return compared(session, result, following.ties, writes_known=known)


def _last(conf: SchedulerConf, action: str) -> int:
    """Return the place of the last run of an action; -1 if it does not run."""
    return max((place for place, name in enumerate(conf.actions) if name == action), default=-1)
