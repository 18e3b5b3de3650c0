"""The end of a log: the latest time that any of its inputs vouches for; pure.

An input reaches further than the last change that it shows: a list shows all objects when it was
answered, a watch sends bookmarks, an audit log has read requests.
"""

from __future__ import annotations

import msgspec
import numpy as np

from ..events import NO_TIME, Effect, Recorded
from ..events.payloads import AuditCovered, WatchFollowed
from .event_columns import EventColumns, EventTimes
from .marks import VersionMark

_WRITTEN = VersionMark.CREATED | VersionMark.UPDATED | VersionMark.AUDITED


def reached_at(columns: EventColumns, times: EventTimes) -> int:
    """Return the latest time at which an input read something, or answered a request.

    Stamps do not count: they may be wrong, and the clock weighs them. ``NO_TIME`` if there is none.
    """
    shown = columns.effects == Effect.VERSION
    written = (times.marks & _WRITTEN) != 0
    audited = (times.marks & VersionMark.AUDITED) != 0
    # The latest time of a version that was written may be its stamp, unless an audit log has it.
    evidence = times.latest[~shown | ~written | audited]
    return int(np.max(evidence, initial=NO_TIME))


def vouched_by(recorded: Recorded) -> int:
    """Return until when a stream goes on, by the event that sums it up; ``NO_TIME`` if unknown."""
    event = recorded.event
    match event.kind:
        case "watch.followed":
            until = msgspec.json.decode(event.payload, type=WatchFollowed).until_at
            return NO_TIME if until is None else until
        case "audit.covered":
            return msgspec.json.decode(event.payload, type=AuditCovered).last_at
        case _:
            return NO_TIME
