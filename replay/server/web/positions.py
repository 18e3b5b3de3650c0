"""Points and positions: links have positions, which never move; the state at one has a time."""

from __future__ import annotations

import re

import msgspec

from ....engine.errors import PointUnknown
from ....engine.log import Query, TimeCut
from ....engine.state.clock import UNDATED, TimeSpan
from ...logs.log import Log
from ...moments.moment import Moment
from ...moments.times import with_spans

_DIGITS = re.compile(r"[0-9]{1,18}")
_PREFIX = "t:"


def fixed_position(text: str, last: int) -> int | None:
    """Return the position that digits name; None if the text is another sort of point.

    :raises PointUnknown: it is beyond the end of the log.
    """
    if not _DIGITS.fullmatch(text):
        return None
    position = int(text)
    if position > last:
        raise PointUnknown(
            f"position @{position} is beyond the end of the log (last is @{last})",
            now=f"go to @{last}",
        )
    return position


def position_of(log: Log, text: str) -> int:
    """Return the position at which the state is that of a point: that of its last version.

    :param text: as for ``--at``, without ``@``; a time may follow ``t:``.
    :raises PointUnknown: it is not a moment of the log.
    """
    moment = log.moment(text.removeprefix(_PREFIX))
    if moment.revision is None:
        return moment.known
    events = list(log.store.read(_last_by(moment)))
    return events[0].position if events else 0


def time_at(log: Log, position: int) -> TimeSpan:
    """Return between which times the last version by a position came to be.

    The lines of a scheduler's log that come before the position in the log may be later: they are
    no part of the state.
    """
    events = list(log.store.read(version_by(log.branch, log.cluster, position)))
    return next((span for _, span in with_spans(events, log.clock())), UNDATED)


def version_by(branch: str, cluster: str | None, position: int) -> Query:
    """Return the query for the last object version by a position."""
    return Query(
        branch=branch,
        cluster=cluster,
        until=position,
        revisions=(0, None),
        newest_first=True,
        limit=1,
    )


def _last_by(moment: Moment) -> Query:
    """Return the query for the last version by a moment, or for the last event if it has none."""
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        newest_first=True,
        limit=1,
    )
    if moment.revision is not None and moment.revision >= 0:
        return msgspec.structs.replace(query, revisions=(0, moment.revision))
    return msgspec.structs.replace(query, happened=(None, TimeCut(-1, moment.time or 0)))
