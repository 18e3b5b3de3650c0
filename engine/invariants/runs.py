"""Invariants of a component's log: sessions go on, and retries end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..kubernetes.counts import counted
from ..kubernetes.units import SECOND_US
from .invariant import PODGROUP, RUNS, Invariant, Needs, Severity, Violation, no_violations

LONGEST_PAUSE_US = 60 * SECOND_US
"""A scheduler begins a session every second by default; a long one takes seconds.

A PreBind that hung kept all sessions waiting for up to 600 s (volcano-sh/volcano #4692).
"""

_ALIVE_US = 30 * SECOND_US
"""So long a PodGroup exists before it counts that its cleanup is still retried."""

_RETRIES = 3
_LONG_US = 5 * SECOND_US
"""So many retries of its cleanup count, over so long a time: clocks of inputs differ a little."""


class LoggedMark(NamedTuple):
    """Something that a component logged. :param time: in microseconds since 1970."""

    position: int
    time: int


class ObjectLife(NamedTuple):
    """The time in which an object existed. :param end: None if it still exists."""

    begin: int
    end: int | None


class ViolationSpan(NamedTuple):
    """A violation between two marks."""

    begin: LoggedMark
    end: LoggedMark
    violation: Violation


def pauses(opened: Iterable[LoggedMark], scheduler: str) -> Iterator[ViolationSpan]:
    """Yield the times in which the scheduler began no session.

    :param opened: the sessions by time.
    """
    for before, after in pairwise(opened):
        pause = after.time - before.time
        if pause > LONGEST_PAUSE_US:
            message = f"no session began for {pause / SECOND_US:.0f}s, until @{after.position}"
            violation = Violation("Scheduler", scheduler, message, f"@{before.position}")
            yield ViolationSpan(before, after, violation)


def needless_retries(
    retried: Mapping[str, Sequence[LoggedMark]], lives: Mapping[str, Sequence[ObjectLife]]
) -> Iterator[ViolationSpan]:
    """Yield PodGroups that exist, and whose cleanup from the cache goes on.

    :param retried: by ``namespace/name``, the retries by time. :param lives: when each existed.
    """
    for key in sorted(retried):
        for life in lives.get(key, ()):
            late = [
                logged_mark
                for logged_mark in retried[key]
                if logged_mark.time >= life.begin + _ALIVE_US
                and (life.end is None or logged_mark.time < life.end)
            ]
            if len(late) >= _RETRIES and late[-1].time - late[0].time >= _LONG_US:
                message = (
                    f"the scheduler retried {counted(len(late), 'time')} to remove it "
                    "from its cache, although it exists"
                )
                violation = Violation("PodGroup", key, message, f"@{late[0].position}")
                yield ViolationSpan(late[0], late[-1], violation)


INVARIANTS = (
    Invariant(
        id="I-19",
        name="liveness",
        severity=Severity.HIGH,
        statement="The scheduler begins a session at least every 60 seconds.",
        needs=Needs.LOG,
        unit=RUNS,
        kinds=(),
        settles=False,
        check=no_violations,
        ranged=True,
    ),
    Invariant(
        id="I-19b",
        name="retries-end",
        severity=Severity.MEDIUM,
        statement="The scheduler does not go on removing a PodGroup from its cache that exists.",
        needs=Needs.LOG,
        unit=RUNS,
        kinds=(PODGROUP,),
        settles=False,
        check=no_violations,
        ranged=True,
    ),
)
"""The invariants of this module."""
