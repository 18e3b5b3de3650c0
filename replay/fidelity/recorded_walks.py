"""On which of several equal nodes a recorded session tried to preempt: its victims show it."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.cache.cache import SchedulerCache
from ...engine.session.framework.map_orders import MapWalk
from ..recorded.recorded_sessions import RecordedSession

_PREEMPT = "preempt"


def recorded_walks(
    session: RecordedSession, cache: SchedulerCache
) -> Mapping[MapWalk, tuple[str, ...]]:
    """Return the nodes on which a session tried to preempt for each pod, in order.

    The scheduler logs every pod that it tries as a victim, and for which pod.
    """
    jobs = cache.jobs.values()
    node_of = {task.key: task.node_name for job in jobs for task in job.tasks.values()}
    found: dict[MapWalk, dict[str, None]] = {}
    for preemptor, victim in session.victims.get(_PREEMPT, ()):
        node = node_of.get(victim)
        if node:
            found.setdefault(MapWalk(_PREEMPT, preemptor), {})[node] = None
    return {walk: tuple(names) for walk, names in found.items()}
