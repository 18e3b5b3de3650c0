"""Where a branch forks: the position up to which a log holds what had happened at a moment."""

from __future__ import annotations

from ...engine.errors import UsageError
from ...engine.events import KINDS, Effect
from ...engine.log.store import LogStore, Query
from ..moments.moment import Moment
from ..truth.points import resolve
from .log import Log

_CHANGING = frozenset({Effect.VERSION, Effect.DELETED})


def fork_at(store: LogStore, point: str, *, branch: str) -> tuple[str, int]:
    """Return the branch and the position at which a branch forks that begins at a point.

    :raises PointUnknown: the log has no such moment.
    :raises UsageError: no position has the state of the moment.
    """
    # A position does not depend on the cluster; the first one makes this work with several.
    clusters = store.clusters()
    moment = resolve(store, point, branch=branch, cluster=clusters[0] if clusters else None)
    return moment.branch, fork_of(store, moment)


def fork_of(store: LogStore, moment: Moment) -> int:
    """Return the position at which a branch forks that begins at a moment.

    :raises UsageError: no position has the state of the moment.
    """
    revision = moment.revision
    if revision is None:
        return moment.known
    later = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        revisions=(revision + 1, None),
        limit=1,
    )
    first = next((recorded.position for recorded in store.read(later)), None)
    if first is None:
        return moment.known
    # What is later in the log but happened earlier: then no position divides the two.
    behind = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        after=first,
        until=moment.known,
        revisions=(None, revision),
    )
    for recorded in store.read(behind):
        if KINDS[recorded.event.kind].effect in _CHANGING:
            raise UsageError(
                f"no position of the log is {moment.label}: @{recorded.position} is an earlier "
                f"change, and @{first} a later one",
                now="fork at a position; plinian events shows them",
            )
    _check_same(store, moment, first - 1)
    return first - 1


def _check_same(store: LogStore, moment: Moment, position: int) -> None:
    """Compare the objects at a position with those at a moment.

    Events without a revision, such as a deletion that only an audit log shows, may be later than
    the moment, and be before the position all the same.
    """
    log = Log(store, branch=moment.branch, cluster=moment.cluster)
    there = resolve(store, f"@{position}", branch=moment.branch, cluster=moment.cluster)
    if log.digest(at=there) != log.digest(at=moment):
        raise UsageError(
            f"no position of the log is {moment.label}: at @{position} other objects exist",
            now=f"see plinian diff @{position} {moment.label}; fork at a position",
        )
