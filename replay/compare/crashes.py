"""Crashes of the scheduler that a log tells of, and the releases that die of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ...engine.events.payloads import ProcessPanicked
from ...engine.log.store import Query
from ...engine.model.panic import Panic
from ...engine.session.framework.trace import Trace
from ...engine.volcano.releases import Release
from ...engine.volcano.session.history import resolve
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.scheduler_confs import ConfText
from ..parallel import Progress
from .places import at_revision
from .subjects import LogSubject

_SCHEDULER = "scheduler"
_BELOW = "pkg/scheduler/"
_WORD = re.compile(r"[^\s<>,]+")

TRIED = 3
"""Crashes at which releases are tried before none is said to die of them."""


class Crash(NamedTuple):
    """A crash of the scheduler, as its log has it.

    :param position: of the event. :param time: microseconds; None if not known.
    :param revision: what had happened by then; None if not known.
    :param message: of the panic. :param stack: as Go prints it; may be empty.
    """

    position: int
    time: int | None
    revision: int | None
    message: str
    stack: str


class Dying(NamedTuple):
    """Releases whose session dies where the log tells of a crash.

    :param same: they die of the same message.
    """

    crash: Crash
    releases: tuple[Release, ...]
    same: bool


def recorded_crashes(log: Log, end: Moment) -> list[Crash]:
    """Return the crashes of the scheduler by a moment, in the order of the log."""
    query = Query(
        branch=end.branch, cluster=end.cluster, until=end.known, kinds=("process.panicked",)
    )
    found: list[Crash] = []
    clock = log.clock(end)
    for recorded in log.store.read(query):
        event = recorded.event
        told = msgspec.json.decode(event.payload, type=ProcessPanicked)
        if not _of_scheduler(told):
            continue
        revision = None
        if event.observed_at is not None:
            revision = clock.revision_at(event.observed_at)
            revision = revision if revision >= 0 else None  # Nothing is known to come before it.
        if end.revision is None or (revision is not None and revision <= end.revision):
            found.append(
                Crash(recorded.position, event.observed_at, revision, told.message, told.stack)
            )
    return found


def _of_scheduler(told: ProcessPanicked) -> bool:
    """Say whether it was the scheduler; a log that does not name its component has the stack."""
    return told.component == _SCHEDULER or (not told.component and _BELOW in told.stack)


def dying(
    log: Log,
    end: Moment,
    crashes: Sequence[Crash],
    releases: Sequence[Release],
    *,
    conf: ConfText | None = None,
    progress: Progress | None = None,
) -> Dying | None:
    """Return the releases that die of a recorded crash, where it was recorded; None if none does.

    The first crashes are tried in turn until any release dies of one. Those whose stack *and*
    message are the crash's are preferred to those that share one of them only.

    :param progress: called with (sessions run, at most so many).
    """
    tried = [crash for crash in crashes if crash.revision is not None][:TRIED]
    for number, crash in enumerate(tried):
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
            return Dying(crash, tuple(alike[best]), best == _SAME)
    return None


_SAME = 2


def likeness(panic: Panic, crash: Crash) -> int:
    """Return 2 if a crash is of the recorded place and words, 1 if of one of them, else 0.

    Amounts are printed in no certain order, so that only which words there are is compared.
    """
    return (bool(crash.stack) and _passes(panic, crash.stack)) + (
        sorted(_WORD.findall(panic.message)) == sorted(_WORD.findall(crash.message))
    )


def _passes(panic: Panic, stack: str) -> bool:
    """Say whether a stack has the functions of a crash, in their order."""
    rest = 0
    for function in panic.place:
        found = stack.find(f"{_BELOW}{function}(", rest)
        if found < 0:
            return False
        rest = found + 1
    return bool(panic.place)
