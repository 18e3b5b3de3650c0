"""The position that a point of a URL means: links have positions, which never move."""

from __future__ import annotations

import re

from ....engine.errors import PointUnknown
from ....engine.log import Cut, Query
from ...moments.log import Log
from ...moments.moment import Moment

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
    """Return the last position of what had happened by a point.

    :param text: as for ``--at``, without ``@``; a time may follow ``t:``.
    :raises PointUnknown: it is not a moment of the log.
    """
    moment = log.moment(text.removeprefix(_PREFIX))
    if moment.revision is None:
        return moment.known
    found = list(log.store.read(_last_by(moment)))
    return found[0].position if found else 0


def _last_by(moment: Moment) -> Query:
    by = {"branch": moment.branch, "cluster": moment.cluster, "newest_first": True, "limit": 1}
    if moment.time is None:
        return Query(**by, until=moment.known, revisions=(None, moment.revision))
    return Query(**by, until=moment.known, happened=(None, Cut(moment.revision or 0, moment.time)))
