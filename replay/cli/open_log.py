"""Open a log for a command; remarks about a moment go to standard error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .doubts import REMARK, doubt
from .shell import shown_zone

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..moments.zones import Zone


def opened(place: str, **options: Any) -> Log:
    """Open a log as :func:`plinian.replay.logs.log.opened` does; remarks are printed."""
    from ..logs.log import opened as open_log

    return open_log(place, remark=lambda line: doubt(REMARK, line), zone=read_zone(), **options)


def read_zone() -> Zone:
    """Return the zone of times that are written without one."""
    from ..moments.zones import UTC_ZONE

    return shown_zone() or UTC_ZONE


def without_zone(log: Log, point: str) -> str:
    """Return a point for a server, which does not know of this command's zone.

    A time becomes one that says its zone; another point stays, as -5m moves with the log's end.
    """
    is_time = (":" in point and not point.startswith(("rv:", "session:"))) or "-" in point[1:]
    moment = log.moment(point) if shown_zone() is not None and is_time else None
    return point if moment is None or moment.time is None else moment.label


@contextmanager
def opened_or_read(
    place: str,
    inputs: Sequence[str],
    *,
    branch: str,
    cluster: str | None,
    as_known_at: str | None = None,
) -> Iterator[Log]:
    """Open a log to read it; or read inputs into one that exists only for this question.

    :param inputs: files, folders and archives; without any, the log at the place is opened.
    """
    if inputs:
        from ..ingest.one_off import log_of

        with log_of(inputs) as one_off:
            one_off.as_known_at = as_known_at
            one_off.zone = read_zone()
            yield one_off
        return
    narrowed = {"branch": branch, "cluster": cluster, "as_known_at": as_known_at}
    with opened(place, read_only=True, **narrowed) as log:
        yield log
