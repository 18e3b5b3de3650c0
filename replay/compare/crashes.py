"""Crashes of the scheduler that a log records, and the releases that have them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ...engine.events.payloads import ProcessPanicked
from ...engine.log.store import Query
from ...engine.model.panic import Panic
from ...engine.session.framework.trace import Trace
from ...engine.state.clock import TimeSpan
from ...engine.volcano.releases import Release
from ...engine.volcano.session.history import resolve
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..moments.times import own_span
from ..parallel import Progress
from ..recorded.recorded_sessions import BELOW, of_scheduler
from ..sessions.session_moments import at_revision
from .subjects import LogSubject

_WORD = re.compile(r"[^\s<>,]+")

TRIED = 3
"""The most crashes at which releases are tried."""


class LoggedCrash(NamedTuple):
    """A crash of the scheduler, from its log.

    :param position: of the event. :param span: between which times it happened.
    :param revision: the last revision before it; None if not known.
    :param message: of the panic. :param stack: as Go prints it; may be empty.
    """

    position: int
    span: TimeSpan
    revision: int | None
    message: str
    stack: str


class PanickingReleases(NamedTuple):
    """Releases whose session panics where the log records a crash.

    :param same: they panic with the same message.
    """

    crash: LoggedCrash
    releases: tuple[Release, ...]
    same: bool


def recorded_crashes(log: Log, end: Moment) -> list[LoggedCrash]:
    """Return the crashes of the scheduler by a moment, in the order of the log."""
    query = Query(
        branch=end.branch, cluster=end.cluster, until=end.known, kinds=("process.panicked",)
    )
    crashes: list[LoggedCrash] = []
    clock = log.clock(end)
    for recorded in log.store.read(query):
        event = recorded.event
        panic_event = msgspec.json.decode(event.payload, type=ProcessPanicked)
        if not of_scheduler(panic_event):
            continue
        revision = None
        if event.observed_at is not None:
            revision = clock.revision_at(event.observed_at)
            # A time before the first event.
            revision = revision if revision >= 0 else None  # No event is known to precede it.
        if end.revision is None or (revision is not None and revision <= end.revision):
            crashes.append(
                LoggedCrash(
                    recorded.position,
                    own_span(recorded),
                    revision,
                    panic_event.message,
                    panic_event.stack,
                )
            )
    return crashes


def panicking_at(
    log: Log,
    end: Moment,
    crashes: Sequence[LoggedCrash],
    releases: Sequence[Release],
    *,
    conf: ConfText | None = None,
    progress: Progress | None = None,
) -> PanickingReleases | None:
    """Return the releases that panic where a crash is recorded; None if none does.

    The first crashes are tried in turn until any release panics at one. Releases with the same
    stack *and* message are preferred to those with only one of them.

    :param progress: called with (sessions run, maximum).
    """
    tried = [crash for crash in crashes if crash.revision is not None][:TRIED]
    for number, crash in enumerate(tried):
        # The session that crashed began with about this state.
        subject = LogSubject(log, at_revision(end, crash.revision or 0), conf)
        alike: dict[int, list[Release]] = {}
        for place, release in enumerate(releases):
            panic = subject.traced(resolve(str(release)), Trace(on=False)).result.panic
            if panic is not None:
                alike.setdefault(likeness(panic, crash), []).append(release)
            if progress is not None:
                progress(number * len(releases) + place + 1, len(tried) * len(releases))
        best = max(alike, default=0)
        if best:
            return PanickingReleases(crash, tuple(alike[best]), best == _SAME)
    return None


_SAME = 2


def likeness(panic: Panic, crash: LoggedCrash) -> int:
    """Return 2 if a crash has the recorded place and message, 1 if one of them, else 0.

    Amounts are printed in no fixed order, so only the set of words is compared.
    """
    # Each counts one.
    return (bool(crash.stack) and _passes(panic, crash.stack)) + (
        same_words(panic.message, crash.message)
    )


def same_words(one: str, other: str) -> bool:
    """Return whether two messages of panics have the same words, in whatever order."""
    return sorted(_WORD.findall(one)) == sorted(_WORD.findall(other))


def _passes(panic: Panic, stack: str) -> bool:
    """Return whether a stack has the functions of a crash, in order."""
    rest = 0
    # In this order; others of the stack that Go prints may stand between them.
    for function in panic.place:
        at = stack.find(f"{BELOW}{function}(", rest)
        if at < 0:
            return False
        rest = at + 1
    return bool(panic.place)
