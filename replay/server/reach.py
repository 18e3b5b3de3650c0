"""Questions that take minutes: they are refused at once, with what to do about it.

Where a scheduler's cache is not stored near a moment, all events before it must be read. Some
questions are about the whole log. In a long log both take minutes, so a server says so instead of
working until the time is over.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...engine.errors import PlinianError
from ...engine.log.store import NO_REVISION, FoldWindow
from ...engine.volcano.session.history import resolve
from ..belief.stored_belief import version_of
from ..facade.options import release_of
from ..logs.log import Log
from ..moments.log_clock import last_revision
from ..moments.moment import Moment

MOST_REPLAYED = 200_000
"""Events from a stored cache to a moment; some 15 s of work."""

MOST_READ = 500_000
"""Events of a log that is read whole for an answer; some 15 s of work."""


class OutOfReach(PlinianError):
    """An answer would take longer than people wait."""


def reach_cache(log: Log, moment: Moment, releases: Iterable[str]) -> None:
    """Make sure that the scheduler's cache at a moment is soon found.

    :param releases: whose caches are needed.
    :raises OutOfReach: it is not.
    """
    for release in sorted(set(releases)):
        if is_out_of_reach(log, moment, release):
            raise OutOfReach(
                f"no cache of the scheduler is stored near {moment.label}, and to build it, more "
                f"than {MOST_REPLAYED:,} events would be read",
                now=f"{advice(release)}; then ask again",
            )


def reach_all(log: Log, what: str, terminal: str) -> None:
    """Make sure that the log is short enough to be read whole for an answer.

    :param what: the answer, as in ``the sessions``. :param terminal: a command that gives it.
    :raises OutOfReach: it is not.
    """
    last = log.store.last(log.branch)
    if last > MOST_READ:
        raise OutOfReach(
            f"{what} are found by reading all {last:,} events of the log: too long here",
            now=f"ask in a terminal: {terminal}",
        )


def advice(release: str) -> str:
    """Return how caches are stored."""
    return f"store it once, in some minutes, with: plinian checkpoint build --release {release}"


def is_out_of_reach(log: Log, moment: Moment, release: str) -> bool:
    """Return whether the cache of a release at a moment is not soon found."""
    # Even without a stored cache so few events are soon read.
    if moment.known <= MOST_REPLAYED:
        return False
    window = FoldWindow(
        branch=moment.branch, cluster=moment.cluster, known=moment.known, until=moment.revision
    )
    behaviours = resolve(release_of(release, assume=True, pre_releases=True))
    checkpoint = log.store.nearest_checkpoint(window, version_of(behaviours))
    after = NO_REVISION if checkpoint is None else checkpoint.revision
    # At the moment of a position, what the log holds later does not count.
    between = msgspec.structs.replace(window, after=after, until=last_revision(log.store, moment))
    return log.store.revision_after(between, MOST_REPLAYED) is not None
