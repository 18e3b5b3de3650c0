"""Runs of one recorded session on one snapshot or another."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.snapshot import Snapshot
from ...engine.model.task import TaskInfo
from ...engine.session.framework.map_orders import Ascending, RecordedOrders, SeededOrders
from ...engine.session.framework.process import ProcessState
from ...engine.session.run import SessionInput, run_session
from ...engine.volcano.conf import SchedulerConf
from ..moments.recorded_sessions import RecordedSession
from .attempts import Attempt, Following, compared
from .recorded_walks import recorded_walks

_ALLOCATE, _BACKFILL = "allocate", "backfill"
_BINDS_NOTHING_MORE = frozenset({"preempt", "reclaim", "shuffle", _BACKFILL})
"""Actions after which pods with requests are bound as they were before."""


class Bound(NamedTuple):
    """The run to beat: a run that is already farther from the record is stopped.

    :param pods: that were bound in one of the two only. :param binds: all that differ.
    :param ignored: names that do not count.
    """

    pods: int
    binds: int
    ignored: Collection[str] = ()


class _FartherAway(Exception):
    """The run binds other pods than recorded, more than the one to beat."""


@dataclass(slots=True)
class _AgreeingCache:
    """A cache that accepts every bind and eviction: the recording has their outcome."""

    bound: dict[str, str] = field(default_factory=dict)

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:  # noqa: ARG002
        """Bind."""
        self.bound[uid] = node
        return None

    def evict(self, job: str, uid: str, reason: str) -> str | None:
        """Evict."""


class SessionRun:
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
        self._tasks: Mapping[str, TaskInfo] = {
            uid: task for job in cache.jobs.values() for uid, task in job.tasks.items()
        }
        later = conf.actions[_last(conf, _ALLOCATE) + 1 :]
        self._stops = _ALLOCATE in conf.actions and _BINDS_NOTHING_MORE.issuperset(later)

    def __call__(
        self,
        snapshot: Snapshot,
        orders: SeededOrders | None = None,
        beat: Bound | None = None,
    ) -> Attempt | None:
        """Run the session; None if it is farther from the record than the run to beat.

        :param orders: of Go's maps, as far as the record does not show them; None is ascending.
        """
        session, cache = self._session, _AgreeingCache()
        following = Following(session.tried | session.binds)
        memory = deepcopy(self._process.memory)
        given = SessionInput(
            snapshot=snapshot,
            conf=self._conf,
            behaviours=self._behaviours,
            now=session.opened,
            process=ProcessState(memory=memory, caches=self._process.caches),
            cache=cache,
            chooser=following,
            map_orders=RecordedOrders(self._walks, orders or Ascending()),
        )

        def ended(action: str) -> None:
            if action == _ALLOCATE and beat is not None and self._is_farther(cache.bound, beat):
                raise _FartherAway

        try:
            result = run_session(given, ended)
        except _FartherAway:
            return None
        return compared(session, result, following.ties, writes_known=self._writes_known)

    def _is_farther(self, bound: Mapping[str, str], beat: Bound) -> bool:
        """Return whether the binds so far differ more than those of the run to beat.

        Pods without requests may still be bound by backfill.
        """
        if not self._stops:
            return False
        recorded, binds = self._session.binds, dict[str, str]()
        for uid, node in bound.items():
            task = self._tasks.get(uid)
            if task is not None and task.key not in beat.ignored:
                binds[task.key] = node
        firm = {
            task.key
            for uid in self._session.uids.values()
            if (task := self._tasks.get(uid)) is not None and not task.best_effort
        }
        missed = (recorded.keys() & firm) - binds.keys() - set(beat.ignored)
        pods = len(missed) + len(binds.keys() - recorded.keys())
        moved = sum(recorded[pod] not in {"", binds[pod]} for pod in binds.keys() & recorded.keys())
        return (pods, pods + moved) > (beat.pods, beat.binds)


def _last(conf: SchedulerConf, action: str) -> int:
    """Return the place of the last run of an action; -1 if it does not run."""
    return max((place for place, name in enumerate(conf.actions) if name == action), default=-1)
