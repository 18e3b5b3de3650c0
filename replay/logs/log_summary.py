"""What a log holds in a few words: how many events, of which cluster, and from when to when."""

from __future__ import annotations

import msgspec

from ...engine.events.epochs import only_epochs
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.resources import GroupKind, kind_plural
from ...engine.kubernetes.units import SECOND_US
from ...engine.log.location import log_name
from ...engine.state.clock import TimeSpan
from ..moments.log_clock import span_of_end
from ..moments.moment import Moment
from ..moments.times import is_one_time, known_text, time_text
from .log import Log

_EVERYDAY: tuple[GroupKind, ...] = (
    ("", "Node"),
    ("scheduling.volcano.sh", "Queue"),
    ("batch.volcano.sh", "Job"),
    ("scheduling.volcano.sh", "PodGroup"),
    ("", "Pod"),
)


class LogSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a log holds. :param name: of the log. :param events: how many.

    :param clusters: all that it holds. :param cluster: the one that the rest is about; empty if
        there are several, and none is chosen.
    :param first_time: and ``last_time``: as text; empty if no event has a time. :param seconds:
        between them, at least.
    """

    name: str
    events: int
    clusters: tuple[str, ...]
    cluster: str
    first_time: str = ""
    last_time: str = ""
    seconds: int = 0

    @property
    def sentence(self) -> str:
        """What it holds, in one sentence without a full stop."""
        events = counted(self.events, "event") if self.events else "no events"
        if not self.clusters:
            return f"{self.name}: {events}"
        if not self.cluster:
            return f"{self.name}: {events} of {len(self.clusters)} clusters"
        times = f", from {self.first_time} to {self.last_time}" if self.first_time else ""
        return f"{self.name}: {events} of cluster {self.cluster}{times}"


def summary_of(log: Log) -> LogSummary:
    """Return what a log holds; no state of it is read."""
    clusters = tuple(log.store.clusters())
    cluster = log.cluster or only_epochs(clusters) or ""
    last = log.store.last(log.branch)
    summary = LogSummary(name=log_name(log.place), events=last, clusters=clusters, cluster=cluster)
    if not cluster:
        return summary
    if len(clusters) > 1:
        given = log.store.sources(known=last, cluster=cluster, branch=log.branch)
        summary = msgspec.structs.replace(summary, events=sum(each.events for each in given))
    clock = log.clock()
    return msgspec.structs.replace(
        summary,
        first_time=_about(clock.span_of_first()),
        last_time=_about(span_of_end(clock)),
        seconds=max((clock.last() or 0) - (clock.first() or 0), 0) // SECOND_US,
    )


def _about(span: TimeSpan) -> str:
    """Return a time for a sentence in which bounds would be too much."""
    if span.estimate is None or is_one_time(span):
        return known_text(span)
    return f"about {time_text(span.estimate - span.estimate % SECOND_US)}"


def objects_at(log: Log, moment: Moment) -> tuple[str, ...]:
    """Return how many objects of the kinds of every day exist, as in ``5 nodes``."""
    truth = log.truth(moment)
    return tuple(
        counted(len(entries), kind.lower(), kind_plural(kind))
        for group, kind in _EVERYDAY
        if (entries := truth.of(group, kind))
    )
