"""Sessions for invariants: run on the state of a moment, without a change to the cache."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.snapshot import Snapshot
from ...engine.invariants.view import QueueLimits, SessionView
from ...engine.kubernetes.objects import Queue
from ...engine.model.queue import QueueInfo
from ...engine.session.framework.session_outcome import SessionResult
from ...engine.session.framework.trace import Trace, TraceStep
from ...engine.volcano.conf import SchedulerConf
from ...engine.volcano.session.behaviours import Behaviours
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..sessions.session_answer import SessionInputs, conf_of, scene_at, session_in
from ..sessions.tie_breaking import LEAST, TieBreaking

_LIMITING = ("capacity", "proportion")
_PLANS = frozenset({"allocate", "pipeline", "discard"})
"""Steps by which nodes are given, promised and taken back."""


class _ShortTrace(Trace):
    """Keeps the steps of the action ``enqueue``, and what pods are given or promised."""

    def __init__(self) -> None:
        super().__init__(scores=False)

    def keep(self, step: TraceStep) -> None:
        """Keep a step that an invariant reads."""
        if _is_read(step):
            super().keep(step)


def _is_read(step: TraceStep) -> bool:
    """Return whether an invariant reads a step."""
    return step.action == "enqueue" or step.what in _PLANS


class _FirstName:
    """Takes the first name. :ivar asked: there was a choice."""

    def __init__(self) -> None:
        self.asked = False

    def choose(self, what: str, about: str, equals: Sequence[str]) -> int:
        """Return 0."""
        del what, about, equals
        self.asked = True
        return 0


class _LastName:
    """Takes the last name."""

    def choose(self, what: str, about: str, equals: Sequence[str]) -> int:
        """Return the last index."""
        del what, about
        return len(equals) - 1


class CheckedSession:
    """The session of a moment; it can be run once more, with one thing changed.

    :param ran: what it decided, with its steps, if it was run already.
    """

    def __init__(
        self,
        scene: SessionInputs,
        behaviours: Behaviours,
        cache: SchedulerCache,
        ran: SessionResult | None = None,
    ) -> None:
        self._scene, self._behaviours, self._cache = scene, behaviours, cache
        self._ran, self._first = ran, _FirstName()
        self._last: SessionResult | None = None
        self._without: dict[str, SessionResult] = {}

    def result(self) -> SessionResult:
        """Return what the session decides, with the steps that invariants read."""
        if self._ran is None:
            return self._run()
        steps = [step for step in self._ran.trace if _is_read(step)]
        return msgspec.structs.replace(self._ran, trace=steps)

    def _run(self) -> SessionResult:
        chance = TieBreaking(self._first)
        return session_in(
            self._scene, self._behaviours, self._cache, into=_ShortTrace(), chance=chance
        ).result

    def with_last_names(self) -> SessionResult | None:
        """Take the last of equal nodes instead of the first; None if there was no choice."""
        if self._ran is not None:  # It was not noted whether there was a choice.
            self._ran = self._run()
        if self._first.asked and self._last is None:
            self._last = self._again(TieBreaking(_LastName()))
        return self._last

    def without_limits(self, queue: str) -> SessionResult:
        """Run it as if a queue had no capability, deserved resources or guarantee."""
        if queue not in self._without:
            snapshot = _without_limits(self._cache.snapshot(), queue)
            self._without[queue] = self._again(LEAST, snapshot)
        return self._without[queue]

    def _again(self, chance: TieBreaking, snapshot: Snapshot | None = None) -> SessionResult:
        return session_in(
            self._scene, self._behaviours, self._cache, chance=chance, snapshot=snapshot
        ).result


def _without_limits(snapshot: Snapshot, queue: str) -> Snapshot:
    queue_object = snapshot.queues[queue].queue
    none = Queue().spec
    spec = msgspec.structs.replace(
        queue_object.spec,
        capability=none.capability,
        deserved=none.deserved,
        guarantee=none.guarantee,
    )
    free = QueueInfo(msgspec.structs.replace(queue_object, spec=spec))
    return snapshot._replace(queues={**snapshot.queues, queue: free})


def session_view(
    log: Log,
    moment: Moment,
    behaviours: Behaviours,
    cache: SchedulerCache,
    *,
    conf: ConfText | None = None,
    ran: SessionResult | None = None,
) -> SessionView:
    """Run a session at a moment, and return what invariants look at.

    :param conf: a configuration instead of the log's.
    :param ran: what the session decided, with its steps, if it was run already.
    """
    scene = scene_at(log, moment, conf)
    run = CheckedSession(scene, behaviours, cache, ran)
    result = run.result()
    in_force = conf_of(scene.confs, behaviours).conf
    names = frozenset(option.name for tier in in_force.tiers for option in tier)
    return SessionView(result, _limits(in_force, behaviours), names, run)


def _limits(conf: SchedulerConf, behaviours: Behaviours) -> QueueLimits:
    options = {option.name: option for tier in conf.tiers for option in tier}
    if not any(name in options for name in _LIMITING):
        return QueueLimits.NOTHING
    capacity = options.get("capacity")
    if capacity is not None and capacity.enabled_hierarchy and behaviours.root_queue:
        return QueueLimits.TREE
    return QueueLimits.FLAT
