"""Which plot shows the answer to why something waits."""

from __future__ import annotations

from ...engine.errors import UsageError
from ...engine.kubernetes.units import SECOND_US, format_time
from ..answers.answer import Why
from ..answers.records import Link, PodGroupState, QueuePath, QueueTree
from ..logs.log import Log
from ..moments.moment import Moment
from ..truth.points import Point
from .asked import GANG, NODES, QUEUES, PlotRequest

_LEAST_US = 60 * SECOND_US


def plot_of_why(log: Log, found: Why, moment: Moment) -> PlotRequest:
    """Return what to draw.

    Of a queue its shares, of a node its use. Of a pod, a job or a PodGroup the queue that is full,
    if that is the answer, and else how its gang comes together. The picture ends at the moment. It
    begins with the log, or as long before the object began to wait as it has waited.

    :raises UsageError: the object is a pod without a PodGroup, or the log has one time only.
    """
    clock = log.clock(moment)
    if clock.first() == clock.last():
        raise UsageError(
            "the log has one time only", now="ingest a watch or an audit log to see it over time"
        )
    kind, name = found.asked.kind, found.asked.name
    full = _full([link for link in found.chain if link.blocks])
    if kind == "node":
        return PlotRequest(NODES, (name,), None, moment)
    if kind == "queue":
        return PlotRequest(QUEUES, (name,), None, moment, full[1] if full is not None else None)
    if full is not None:
        return PlotRequest(QUEUES, full[:1], _begin(log, found, moment), moment, full[1])
    if kind == "pod":
        groups = [link.podgroup for link in found.chain if isinstance(link, PodGroupState)]
        kind, name = "podgroup", groups[0] if groups else ""
    namespace, _, name = name.rpartition("/")
    if not name:
        raise UsageError(
            f"pod {found.asked.name} has no PodGroup, so it has no gang to draw",
            now="plinian plot queues draws all queues",
        )
    return PlotRequest(GANG, (f"{kind}/{name}",), None, moment, None, namespace or None)


def _full(blocking: list[Link]) -> tuple[str, str] | None:
    """Return the queue that keeps an object waiting, and the resource that it lacks."""
    queues = [link for link in blocking if isinstance(link, (QueuePath, QueueTree))]
    last = queues[-1] if queues else None
    if isinstance(last, QueueTree) and last.exceeded:
        return last.queue, last.exceeded[0]
    if isinstance(last, QueuePath):
        for account in last.accounts:
            if account.checked and account.exceeded:
                return account.queue, account.exceeded[0]
    return None


def _begin(log: Log, found: Why, moment: Moment) -> Point | None:
    clock = log.clock(moment)
    revision = None if found.began is None else found.began.revision
    began = None if revision is None else clock.time_of(revision)
    first, last = clock.first(), moment.time or clock.time_of(moment.revision)
    if began is None or first is None or last is None:
        return None
    begin = began - max(last - began, _LEAST_US)
    return format_time(begin) if begin > first else None
