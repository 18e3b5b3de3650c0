"""Sessions for invariants: run on the state of a moment, without a change to the cache."""

from __future__ import annotations

from ...engine.cache.cache import SchedulerCache
from ...engine.invariants.view import QueueLimits, SessionView
from ...engine.session.framework.trace import Trace, TraceStep
from ...engine.volcano.conf import SchedulerConf
from ...engine.volcano.session.behaviours import Behaviours
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.scheduler_confs import ConfText
from ..sessions.session import conf_of, scene_at, session_in

_LIMITING = ("capacity", "proportion")


class _EnqueueTrace(Trace):
    """Keeps the steps of the action ``enqueue`` alone."""

    def __init__(self) -> None:
        super().__init__(scores=False)

    def keep(self, step: TraceStep) -> None:
        """Keep a step of ``enqueue``."""
        if step.action == "enqueue":
            super().keep(step)


def session_view(
    log: Log,
    moment: Moment,
    behaviours: Behaviours,
    cache: SchedulerCache,
    conf: ConfText | None = None,
) -> SessionView:
    """Run a session at a moment, and return what invariants look at.

    :param conf: a configuration instead of the log's.
    """
    scene = scene_at(log, moment, conf)
    answer = session_in(scene, behaviours, cache, into=_EnqueueTrace())
    return SessionView(answer.result, _limits(conf_of(scene.confs, behaviours).conf, behaviours))


def _limits(conf: SchedulerConf, behaviours: Behaviours) -> QueueLimits:
    options = {option.name: option for tier in conf.tiers for option in tier}
    if not any(name in options for name in _LIMITING):
        return QueueLimits.NOTHING
    capacity = options.get("capacity")
    if capacity is not None and capacity.enabled_hierarchy and behaviours.root_queue:
        return QueueLimits.TREE
    return QueueLimits.FLAT
