"""A recorder as metrics of Prometheus: how much each stream brings, and how far the log is behind.

Labels are kinds of objects: never pods, jobs or namespaces, whose number has no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..capture.recorder import Recording
from ..capture.stream_state import StreamPhase, StreamState

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

PREFIX = "plinian_record_"


class StreamMetric(NamedTuple):
    """A metric of each stream. :param of: its value of the streams of one kind; None if unknown.

    :param grows: it is a counter.
    """

    name: str
    about: str
    of: Callable[[Sequence[StreamState], int], float | None]
    grows: bool = True


def _total(field: str) -> Callable[[Sequence[StreamState], int], float]:
    return lambda states, _: sum(getattr(state, field) for state in states)


def _silent(states: Sequence[StreamState], now: int) -> float | None:
    """Return for how long the most silent of some streams is; those without a kind say nothing."""
    heard = [state.heard_at for state in states if state.phase is not StreamPhase.ABSENT]
    return (now - min(heard)) / 1e6 if all(heard) and heard else None


def _revision(states: Sequence[StreamState], _now: int) -> float | None:
    reached = [state.revision for state in states if state.revision is not None]
    return min(reached) if len(reached) == len(states) else None


def _watched(states: Sequence[StreamState], _now: int) -> float:
    return all(state.phase is StreamPhase.WATCHING for state in states)


OF_STREAMS = (
    StreamMetric("events", "Events that a stream delivered.", _total("events")),
    StreamMetric("received_bytes", "Bytes that a stream received.", _total("bytes")),
    StreamMetric(
        "silent_seconds", "Seconds since the server last sent anything.", _silent, grows=False
    ),
    StreamMetric(
        "revision", "The revision up to which a stream has everything.", _revision, grows=False
    ),
    StreamMetric(
        "watched", "1 while a stream is watched, else 0: it lists, waits, or has no kind.",
        _watched, grows=False,
    ),
    StreamMetric("holes", "Holes of which changes stayed unseen.", _total("holes")),
    StreamMetric("repaired_holes", "Holes that were filled whole.", _total("repaired")),
    StreamMetric("reconnects", "Watches that ended, by any cause.", _total("reconnects")),
    StreamMetric("expired", "Watches that ended with 410.", _total("expired")),
    StreamMetric("malformed", "Objects that could not be read.", _total("malformed")),
)  # fmt: skip
"""Metrics of streams, with the label ``stream``; several namespaces of a kind are summed up."""


class LogMetric(NamedTuple):
    """A metric of the writer."""

    name: str
    about: str
    of: Callable[[Recording], float]
    grows: bool = False


OF_LOG = (
    LogMetric("commits", "Commits to the log.", lambda one: one.committed.commits, grows=True),
    LogMetric(
        "appended_events", "Events appended to the log.",
        lambda one: one.committed.appended, grows=True,
    ),
    LogMetric(
        "known_events", "Events that the log had before.",
        lambda one: one.committed.known, grows=True,
    ),
    LogMetric("position", "The position at which the log ends.", lambda one: one.committed.last),
    LogMetric(
        "lag_seconds", "Seconds that the oldest event of the last commit had waited.",
        lambda one: one.committed.lag,
    ),
    LogMetric("waiting_events", "Events that wait to be stored.", lambda one: one.waiting),
    LogMetric("waiting_bytes", "Bytes that wait to be stored.", lambda one: one.bytes_waiting),
    LogMetric("waiting_seconds", "Seconds that the oldest of them waits.", lambda one: one.oldest),
    LogMetric(
        "log_unwritable", "1 while the log cannot be written.",
        lambda one: one.fault is not None,
    ),
)  # fmt: skip
"""Metrics of the writer, without labels."""

STREAM_NAMES = MappingProxyType({one.name: f"{PREFIX}stream_{one.name}" for one in OF_STREAMS})
LOG_NAMES = MappingProxyType({one.name: f"{PREFIX}{one.name}" for one in OF_LOG})


class _RecorderCollector:
    """Makes metrics of what a recorder has done, whenever they are scraped."""

    def __init__(self, look: Callable[[], Recording], now: Callable[[], int]) -> None:
        self._look, self._now = look, now

    def describe(self) -> Iterable[Metric]:
        """Return nothing: what there is, is known when it is scraped."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        from prometheus_client.core import (  # noqa: PLC0415 -- of the extra
            CounterMetricFamily,
            GaugeMetricFamily,
        )

        recording, now = self._look(), self._now()
        in_order = sorted(recording.streams, key=lambda state: state.resource)
        by_kind = [
            (resource, list(states))
            for resource, states in groupby(in_order, lambda state: state.resource)
        ]
        for metric in OF_STREAMS:
            make = CounterMetricFamily if metric.grows else GaugeMetricFamily
            family = make(STREAM_NAMES[metric.name], metric.about, labels=["stream"])
            for resource, states in by_kind:
                value = metric.of(states, now)
                if value is not None:
                    family.add_metric([resource], value)
            yield family
        for one in OF_LOG:
            made = CounterMetricFamily if one.grows else GaugeMetricFamily
            yield made(LOG_NAMES[one.name], one.about, value=one.of(recording))


def registry_of(look: Callable[[], Recording], now: Callable[[], int]) -> CollectorRegistry:
    """Return the metrics of a recorder, and of the process that it runs in.

    :param look: returns what the recorder did so far. :param now: microseconds since 1970.
    """
    from prometheus_client import CollectorRegistry, ProcessCollector  # noqa: PLC0415

    registry = CollectorRegistry()
    registry.register(_RecorderCollector(look, now))
    ProcessCollector(registry=registry)
    return registry
