"""Points: the notations for a moment of a log, and their meaning.

- ``@1042``: what was known when position 1042 had been appended.
- ``rv:70915324``: when the cluster had reached this resourceVersion.
- ``2025-07-30T07:56:43Z``: at this time (any RFC 3339 time; seconds may be left out).
- ``2025-07-30``: when that day began.
- ``10:42:07``, ``10:42``: at this time of day, on the last day of the log that has it.
- ``session:12``: when the scheduler opened its 12th session in the log: what that session knew.
- ``now``: at the current time.
- ``-5m``, ``5 minutes ago``: this long before the last time in the log.
- ``yesterday 14:00``, ``today 14:00``: then, if the log ends today; without a time, when the day
  began.
- ``end``: everything.
- ``what-if@1042``, ``what-if``: the same on a branch.

Times without a zone are those of the zone of the log that is open: by default UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from ...engine.errors import PointMalformed, PointTooEarly, PointUnknown, UsageError
from ...engine.events.epochs import only_epochs
from ...engine.kubernetes.units import SECOND_US, format_time, parse_duration, parse_time
from ...engine.log.store import MAIN, LogStore
from ...engine.log.wall_clock import micros_now
from ...engine.state.clock import span_of_read
from ..moments.log_clock import clock_of, span_of_end
from ..moments.moment import Moment
from ..moments.slices import refuse_earlier
from ..moments.times import span_words
from ..moments.zones import UTC_ZONE, Zone, time_of

_POSITION = re.compile(r"(?:(?P<branch>[A-Za-z0-9][\w.-]*))?@(?P<position>[0-9]{1,4000})")
_DECIMAL = re.compile(r"[0-9]{1,4000}")  # Python does not convert more digits.
_LAST_REVISION = 2**63 - 1
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?Z?")
_AGO = re.compile(
    r"([0-9]{1,9}) ?(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?)?|d(?:ays?)?) ago"
)
_DAY_WORD = re.compile(rf"(today|yesterday)(?: ({_CLOCK.pattern}))?")
_MINUTES = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2})((?:[Zz]|[+-][0-9:]+)?)")
_DAY_US = 86_400 * SECOND_US
_UNIT_US = MappingProxyType(
    {"s": SECOND_US, "m": 60 * SECOND_US, "h": 3_600 * SECOND_US, "d": _DAY_US}
)
_FORMS = (
    "write @POSITION, rv:REVISION, a time such as 2025-07-30T07:56:43Z or 10:42:07, a date, a "
    "duration such as -5m or '5 minutes ago', 'yesterday 14:00', session:N, now, or end"
)

Point: TypeAlias = str | datetime | Moment
"""A moment: as on the command line, as an aware datetime, or already resolved."""


def only_cluster(store: LogStore, cluster: str | None) -> str:
    """Return the named cluster, or the log's only one; of its epochs, the last one.

    :raises UsageError: it is not in the log, or the log holds several and none was named.
    """
    clusters = store.clusters()
    if cluster is None:
        latest = only_epochs(clusters)
        if clusters and latest is None:
            raise UsageError(
                f"the log holds {len(clusters)} clusters: {', '.join(clusters)}",
                now="choose one with --cluster NAME",
            )
        return latest or "default"
    if clusters and cluster not in clusters:
        raise UsageError(
            f"the log holds no cluster {cluster!r}", now=f"there is: {', '.join(clusters)}"
        )
    return cluster


def resolve(
    store: LogStore,
    text: str,
    *,
    branch: str = MAIN,
    cluster: str | None = None,
    as_known_at: str | None = None,
    zone: Zone = UTC_ZONE,
) -> Moment:
    """Return the moment that a point names in a log.

    :param as_known_at: ``@POSITION``; ignore events appended later.
    :param zone: of times that have none.
    :raises PointMalformed: the point has none of the forms.
    :raises PointUnknown: it is outside the log.
    """
    text = text.strip()
    branches = {info.name: info.last for info in store.branches()}
    # The name of a branch alone means its end. "end" is a word of its form, whatever a branch is
    # called.
    if text in branches and text != "end":
        branch, text = text, "end"
    position = _POSITION.fullmatch(text)
    if position is not None and position["branch"]:
        branch = position["branch"]
    if branch not in branches:
        raise PointUnknown(
            f"there is no branch {branch!r}", now=f"branches: {', '.join(sorted(branches))}"
        )
    last = branches[branch]
    known = last
    if as_known_at is not None:
        known = _position(as_known_at.strip().removeprefix("@"), last)
    if position is not None:
        known = min(known, _position(position["position"], last))
        text = "end"
    refuse_earlier(store, position=known)
    name = only_cluster(store, cluster)
    moment = Moment(
        branch=branch,
        cluster=name,
        known=known,
        revision=None,
        time=None,
        label=f"@{known}" if branch == MAIN else f"{branch}@{known}",
    )
    if text == "end":
        return moment
    if text.startswith("rv:"):
        return _at_revision(store, moment, text)
    if text.startswith("session:"):
        from ..recorded.session_list import at_session  # noqa: PLC0415 -- few commands need it

        return at_session(store, moment, text)
    return _at_time(store, moment, text, zone)


def _position(digits: str, last: int) -> int:
    if not _DECIMAL.fullmatch(digits):
        raise PointMalformed(f"{digits!r} is not a position", now=_FORMS)
    position = int(digits)
    if position > last:
        raise PointUnknown(
            f"position @{position} is beyond the end of the log (last is @{last})",
            now=f"use @{last}, or end",
        )
    return position


def _at_revision(store: LogStore, moment: Moment, text: str) -> Moment:
    digits = text.removeprefix("rv:")
    if not _DECIMAL.fullmatch(digits):
        raise PointMalformed(f"{text!r}: a resourceVersion is a decimal number", now=_FORMS)
    # Positions and revisions have 64 bits in the log's tables; what is greater is past the end
    # anyway.
    revision = min(int(digits), _LAST_REVISION)
    extent = store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
    if extent.first_revision is not None and revision < extent.first_revision:
        raise PointTooEarly(
            f"rv:{revision} is before the log's first revision, rv:{extent.first_revision}",
            first=f"rv:{extent.first_revision}",
            now=f"use rv:{extent.first_revision}, or ingest older recordings",
        )
    refuse_earlier(store, revision=revision)
    label, last, note = f"rv:{revision}", extent.last_revision, ""
    if last is not None and revision > last:
        note = f"{label} is after the last known revision (rv:{last}): showing the end"
    return msgspec.structs.replace(moment, revision=revision, label=label, note=note)


def _at_time(store: LogStore, moment: Moment, text: str, zone: Zone) -> Moment:
    clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
    begins, first, last = clock.begins(), clock.first(), clock.last()
    if begins is None or first is None or last is None:
        raise PointUnknown(
            f"{text!r}: the log holds no change of an object with a time", now=_FORMS
        )
    time, note = _time_named(text, first, last, zone)
    if time < begins:
        raise PointTooEarly(
            f"{text} is before the log begins, at {format_time(begins)}",
            first=format_time(begins),
            now="choose a later time, or ingest older recordings",
        )
    refuse_earlier(store, revision=clock.revision_at(time), said=text)
    if time > last:
        note = f"{note}; it" if note else f"{text}"
        ends = span_words(span_of_end(clock))
        note += f" is after the last event of the log ({ends}): showing the end"
    return msgspec.structs.replace(
        moment,
        revision=clock.revision_at(time),
        time=time,
        unsure=clock.unsure_at(time),
        label=format_time(time),
        note=note,
    )


def _time_named(text: str, first: int, last: int, zone: Zone) -> tuple[int, str]:
    """Return the time that a text means, and how it was understood if that is not plain.

    :param first: and ``last``: the first and last time of the log. :param zone: of times without.
    :raises PointMalformed: it is not a time.
    """
    try:
        if text == "now":
            now = micros_now()
            return now, f"now is {format_time(now)}"
        if text.startswith("-"):
            return _before(last, parse_duration(text[1:])), ""
        if (ago := _AGO.fullmatch(text)) is not None:
            time = _before(last, int(ago[1]) * _UNIT_US[ago[2][0]])
            return time, f"{text} is read as {format_time(time)}, so long before the end of the log"
        if (day := _DAY_WORD.fullmatch(text)) is not None:
            return _on_day_of_end(text, last, day, zone)
        if _DATE.fullmatch(text):
            return zone.micros(text), f"{text} is the beginning of that day, in {zone.name}"
        if _CLOCK.fullmatch(text):
            return _on_a_day(text, first, last, UTC_ZONE if text.endswith("Z") else zone)
        minutes = _MINUTES.fullmatch(text)
        time = time_of(f"{minutes[1]}:00{minutes[2]}" if minutes else text, zone)
        # Only to check: what is read here may be too far away to be printed.
        format_time(time)
    except (ValueError, OverflowError, OSError) as fault:
        raise PointMalformed(f"invalid point {text!r}", now=_FORMS) from fault
    return time, ""


def _before(last: int, micros: int) -> int:
    """Return the time so long before the end of the log."""
    # A list of 17:40:00 ends the log with that second; ten minutes before is 17:30:00.
    return (span_of_read(last).earliest or last) - micros


def _on_day_of_end(text: str, last: int, day: re.Match[str], zone: Zone) -> tuple[int, str]:
    """Return a time of the day on which the log ends, or of the day before."""
    clock = day[2] or "00:00"
    zone = UTC_ZONE if clock.endswith("Z") else zone
    ends = last - (_DAY_US if day[1] == "yesterday" else 0)
    time = zone.micros(zone.moment(ends).date().isoformat(), _of_day(clock))
    return time, f"{text} is read as {format_time(time)}: today is the day on which the log ends"


def _of_day(clock: str) -> int:
    """Return the microseconds of a time of day."""
    seconds = clock if clock.count(":") > 1 else f"{clock.rstrip('Z')}:00"
    return parse_time(f"1970-01-01T{seconds.rstrip('Z')}Z")


def _on_a_day(text: str, first: int, last: int, zone: Zone) -> tuple[int, str]:
    """Return a time of day on the last day on which it is within the log."""
    own = _of_day(text)
    # On the last day, the time may be after the end of the log; then that of the day before is
    # meant.
    days = (zone.moment(end).date().isoformat() for end in (last, last - _DAY_US))
    times = [zone.micros(day, own) for day in days]
    time = next((time for time in times if first <= time <= last), times[0])
    return time, f"{text} is read as {format_time(time)}, the last such time in the log"


def point_text(at: object) -> str:
    """Return a point as text; that of a datetime is in UTC.

    :raises PointMalformed: it is a datetime without a time zone, or of another type.
    """
    if isinstance(at, str):
        return at
    if not isinstance(at, datetime):
        raise PointMalformed(
            f"{at!r} is not a moment",
            now="give a string as for --at, a datetime with a time zone, or a Moment",
        )
    if at.utcoffset() is None:
        raise PointMalformed(
            f"{at.isoformat()} has no time zone",
            now="write datetime(..., tzinfo=UTC); for a local time, use at.astimezone()",
        )
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
