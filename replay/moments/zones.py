"""Time zones: in which people read times, and write those to which they add no zone.

Everything is calculated and stored in UTC. Text for people is the last step: there a time that is
written in UTC becomes the same time of a zone, with its offset, so that it can be pasted back.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

from ...engine.errors import UsageError
from ...engine.kubernetes.units import FIRST_TIME, LAST_TIME, SECOND_US, parse_time

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_DAY_US = 86_400 * SECOND_US
_LOCAL = "local"
_UNTIL_ZONE = len("2026-11-21T01:53:36")

_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")

_CLOCK = r"\d\d:\d\d:\d\d(?:\.\d{1,9})?"
_TIMES = re.compile(
    rf"(?<![\w.:-])(\d{{4}}-\d\d-\d\d)T({_CLOCK})Z(?:(\.\.| and )({_CLOCK})Z)?(?![\w:])", re.ASCII
)
"""A time in UTC; or two, as bounds are written: the second has no date if it is the same."""

_NO_ZONE = re.compile(rf"\d{{4}}-\d\d-\d\d[Tt ]{_CLOCK}", re.ASCII)
_WRITTEN = re.compile(rf"(\d{{4}}-\d\d-\d\dT)({_CLOCK})(Z|[+-]\d\d:\d\d)", re.ASCII)
_ZONED = re.compile(rf"({_CLOCK})(?:Z|[+-]\d\d:\d\d)", re.ASCII)


class Zone(NamedTuple):
    """A time zone. :param name: as it was given. :param info: None is that of this machine."""

    name: str
    info: tzinfo | None

    def moment(self, micros: int) -> datetime:
        """Return a time in this zone; one that is out of its range as in UTC."""
        moment = _EPOCH + micros * _MICROSECOND
        within = FIRST_TIME + _DAY_US < micros < LAST_TIME - _DAY_US
        return moment.astimezone(self.info) if within else moment

    def micros(self, date: str, time: int = 0) -> int:
        """Return a time of day of this zone, in microseconds since 1970.

        :param date: as in ``2026-11-21``. :param time: since midnight, microseconds.
        :raises ValueError: there is no such day.
        """
        naive = datetime.fromisoformat(date) + time * _MICROSECOND
        own = naive.astimezone() if self.info is None else naive.replace(tzinfo=self.info)
        return (own - _EPOCH) // _MICROSECOND

    def label(self, micros: int) -> str:
        """Return the name of the zone for a text that says it once; of ``local``, the offset."""
        if self.name != _LOCAL:
            return self.name
        return f"UTC{self.moment(micros).replace(microsecond=0).isoformat()[_UNTIL_ZONE:]}"


UTC_ZONE = Zone("UTC", UTC)


def zone_of(name: str) -> Zone:
    """Return a time zone by its name.

    :param name: as in ``Europe/Berlin``; ``local`` is that of this machine; or an offset, as in
        ``+01:00``.
    :raises UsageError: there is no such zone.
    """
    if name.upper() in {"UTC", "Z"}:
        return UTC_ZONE
    if name.lower() == _LOCAL:
        return Zone(_LOCAL, None)
    offset = _OFFSET.fullmatch(name)
    if offset is not None and int(offset[2]) < 24 and int(offset[3]) < 60:
        length = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return Zone(name, timezone(-length if offset[1] == "-" else length))
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones  # noqa: PLC0415

    try:
        return Zone(name, ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        from difflib import get_close_matches  # noqa: PLC0415 -- only a wrong name needs it

        known = sorted(available_timezones())
        ends = [zone for zone in known if zone.rpartition("/")[2].lower() == name.lower()]
        close = ends or get_close_matches(name, known, n=3)
        forms = "write a name such as Europe/Berlin, local, UTC, or an offset such as +01:00"
        if not known:
            forms = "this machine knows none: install its package tzdata, or write +01:00"
        guess = f"did you mean {' or '.join(close)}?" if close else forms
        raise UsageError(f"there is no time zone {name!r}", now=guess) from None


def time_of(text: str, zone: Zone) -> int:
    """Return an RFC 3339 time as microseconds since 1970; one without a zone is of this one.

    :raises ValueError: it is not such a time.
    """
    micros = parse_time(text)
    if zone == UTC_ZONE or not _NO_ZONE.fullmatch(text):
        return micros
    days, time = divmod(micros, _DAY_US)
    return zone.micros((_EPOCH + timedelta(days=days)).date().isoformat(), time)


def times_in(text: str, zone: Zone | None) -> str:
    """Return a text with all its times in a zone. :param zone: None changes nothing."""
    if zone is None or "Z" not in text:
        return text

    def in_zone(match: re.Match[str]) -> str:
        try:
            first = _in(zone, f"{match[1]}T{match[2]}Z")
            if match[3] is None:
                return first
            last = _in(zone, f"{match[1]}T{match[4]}Z")
        except ValueError:  # It only looks like a time, as 2026-13-41T00:00:00Z.
            return match[0]
        day = last[: len("2026-11-21T")]
        return f"{first}{match[3]}{last.removeprefix(day) if first.startswith(day) else last}"

    return _TIMES.sub(in_zone, text)


def _in(zone: Zone, text: str) -> str:
    """Return a time in a zone, as exact as it is written."""
    moment = zone.moment(parse_time(text))
    written = moment.replace(microsecond=0).isoformat()
    whole, offset = written[:_UNTIL_ZONE], written[_UNTIL_ZONE:]
    _, dot, fraction = text.rstrip("Z").partition(".")
    return f"{whole}{dot}{fraction}{offset}"


def time_of_day(text: str) -> str:
    """Return a time, or its bounds, without date and zone; as it is if the bounds have two dates.

    :param text: as :func:`.times.span_text` and :func:`times_in` write it.
    """
    days = {match[1] for match in _WRITTEN.finditer(text)}
    if len(days) != 1:
        return text
    return _ZONED.sub(r"\1", text.replace(days.pop(), ""))
