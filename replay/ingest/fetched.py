"""When an input was fetched, as people write it: a time, or when it was asked for and answered."""

from __future__ import annotations

from ...engine.errors import UsageError
from ...engine.kubernetes.units import SECOND_US, format_time
from ..moments.zones import UTC_ZONE, Zone, time_of


def fetched(given: object, *, option: str, zone: Zone = UTC_ZONE) -> tuple[int, int]:
    """Return the earliest and the latest time of fetching; a whole second is a range.

    :param given: text, as in ``REQUESTED/ANSWERED``, or two times in microseconds since 1970.
    :param option: how messages call it. :param zone: of times without one.
    :raises UsageError: it is neither, or ends before it begins.
    """
    asked, answered = _times(given, option, zone)
    if answered < asked:
        raise UsageError(
            f"{option} {given!r} ends before it begins", now="write the time of the request first"
        )
    return asked, answered


def _times(given: object, option: str, zone: Zone) -> tuple[int, int]:
    match given:
        case (int(asked), int(answered)):
            return asked, answered
        case str(text):
            first, slash, last = text.partition("/")
            try:
                asked, answered = time_of(first, zone), time_of(last if slash else first, zone)
                # A time that can be read may still be too far away to be written.
                format_time(asked), format_time(answered)
            except (ValueError, OverflowError, OSError) as fault:
                raise _no_time(given, option) from fault
            return asked, answered + (0 if answered % SECOND_US else SECOND_US - 1)
    raise _no_time(given, option)


def _no_time(given: object, option: str) -> UsageError:
    return UsageError(
        f"{option} {given!r} is not a time",
        now="write 2025-07-30T07:56:43Z, or two such times as REQUESTED/ANSWERED",
    )
