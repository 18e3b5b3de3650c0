"""When a zone of revocable nodes is open: a window of the day, in UTC.

Source: pkg/scheduler/plugins/tdm/tdm.go (``parseRevocableZone``, ``availableRevocableZone``).
"""

from __future__ import annotations

import re

import msgspec

from ...reasons.objections import NodeCode

_DAY = 24 * 60 * 60
_HOUR = re.compile(r"[0-9]{1,2}")
_MINUTE = re.compile(r"[0-9]{2}")


class Closed(msgspec.Struct, frozen=True):
    """Why a zone is closed: the scheduler's text, and what it means."""

    text: str
    code: NodeCode


def why_closed(zone: str, window: str | None, now: int) -> Closed | None:
    """Return why a zone is closed at a moment, or ``None`` if it is open.

    A window that ends where it begins, or before, ends on the next day; it counts from the
    current day's midnight, so that after midnight yesterday's window is over.

    :param window: ``10:00-21:00``; ``None`` if the zone is not configured.
    :param now: microseconds since 1970.
    """
    if window is None:
        return Closed(f"revocable zone {zone} not support", NodeCode.ZONE_WITHOUT_WINDOW)
    ends = window.strip().split("-")
    if len(ends) != 2:
        return Closed(f"revocable zone {window} format error", NodeCode.ZONE_UNREADABLE)
    try:
        start, end = map(_time_of_day, ends)
    except ValueError as fault:
        return Closed(str(fault), NodeCode.ZONE_UNREADABLE)
    if start >= end:
        end += _DAY
    if start <= now // 1_000_000 % _DAY <= end:
        return None
    text = f"current time beyond revocable zone {zone}:{window}"
    return Closed(text, NodeCode.ZONE_CLOSED)


def _time_of_day(text: str) -> int:
    """Return the seconds since midnight of ``15:04``.

    :raises ValueError: it is malformed; the message is Go's.

    Source: Go's time/format.go Parse.
    """
    hour = _HOUR.match(text)
    if hour is None:
        raise _unreadable(text, text, "15")
    rest = text[hour.end() :]
    if int(hour[0]) >= 24:
        raise ValueError(f'parsing time "{text}": hour out of range')
    if not rest.startswith(":"):
        raise _unreadable(text, rest, ":")
    minute = _MINUTE.match(rest, 1)
    if minute is None:
        raise _unreadable(text, rest[1:], "04")
    if int(minute[0]) >= 60:
        raise ValueError(f'parsing time "{text}": minute out of range')
    extra = rest[minute.end() :]
    if extra:
        raise ValueError(f'parsing time "{text}": extra text: "{extra}"')
    return int(hour[0]) * 3600 + int(minute[0]) * 60


def _unreadable(text: str, rest: str, part: str) -> ValueError:
    return ValueError(f'parsing time "{text}" as "15:04": cannot parse "{rest}" as "{part}"')
