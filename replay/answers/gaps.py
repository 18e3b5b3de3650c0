"""Between which revisions a log does not know what sessions need, though it does again later.

The state there has only those versions that the later inputs happen to show. It is a mix of two
times that may never have existed, so no answer about it is said to have held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...engine.state.clock import span_of_read
from ...engine.state.log_coverage import UnknownCause
from ..coverage.coverage import SCHEDULING, unknown_between
from ..logs.log import Log
from ..moments.moment import Moment
from ..moments.unknown import Unknown


class Hole(msgspec.Struct, frozen=True):
    """A gap between two revisions that are both known.

    :param after, before: the last revision before it, and the first after it.
    :param seen: when the state before it was last seen, microseconds, by the first bound of that
        time; None if nothing says.
    """

    after: int
    before: int
    seen: int | None = None


def holes_of(log: Log, first: int, moment: Moment) -> tuple[Hole, ...]:
    """Return the gaps between a revision and a moment, ascending; those that overlap are one."""
    unknown = unknown_between(log, first, moment, SCHEDULING)
    holes = {hole for gap in unknown for hole in _hole(log, moment, gap)}
    return tuple(_joined(sorted(holes, key=lambda hole: (hole.after, hole.before, hole.seen or 0))))


def holds(hole: Hole, revision: int) -> bool:
    """Return whether a revision is within a gap."""
    return hole.after < revision < hole.before


def crossed(holes: Sequence[Hole], before: int, after: int | None) -> tuple[Hole, ...]:
    """Return the gaps of which any part is between two revisions; None is the end of the log."""
    return tuple(
        hole for hole in holes if hole.before > before and (after is None or hole.after < after)
    )


def _hole(log: Log, moment: Moment, unknown: Unknown) -> Iterator[Hole]:
    """Yield the gap of a kind, if it is one after which the kind is known again."""
    gap = unknown.gap
    if gap.why is not UnknownCause.HOLE or gap.after is None or gap.before is None:
        return
    namespace = next(iter(unknown.namespaces), None)
    span = log.coverage(moment).ending_at(unknown.pair, gap.after, namespace)
    times = () if span is None else span.listed_at
    seen = span_of_read(max(times)).earliest if times else None
    yield Hole(gap.after, gap.before, seen)


def _joined(holes: Sequence[Hole]) -> Iterator[Hole]:
    """Yield gaps of single kinds, ascending, with those that overlap as one."""
    now: Hole | None = None
    for hole in holes:
        if now is not None and hole.after < now.before:
            seen = now.seen
            # Of gaps that begin together, the state before them is as old as that of the kind seen
            # first.
            if now.after == hole.after and seen is not None:
                seen = None if hole.seen is None else min(seen, hole.seen)
            now = Hole(now.after, max(now.before, hole.before), seen)
            continue
        if now is not None:
            yield now
        now = hole
    if now is not None:
        yield now
