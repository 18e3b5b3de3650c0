"""When events happened, by the clock: bounds, the best estimate, and how to print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...engine.events import KINDS, Effect, Recorded
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.state.clock import Clock, TimeSpan

AT_ONCE = 1000
"""The number of events whose times are looked up together."""

_EXACT_US = SECOND_US // 10
_MILLI_US = 1000

_DATE = len("2006-01-02T")

UNKNOWN = "<none>"


def with_spans(events: Sequence[Recorded], clock: Clock) -> Iterator[tuple[Recorded, TimeSpan]]:
    """Yield events with the bounds of their times."""
    # One pass over the clock's blocks finds all of them.
    undated = clock.loose_spans(
        [each.position for each in events if each.event.revision is None and _counts(each)]
    )
    for recorded in events:
        yield recorded, _span(recorded, clock, undated)


def _counts(recorded: Recorded) -> bool:
    return KINDS[recorded.event.kind].effect is not Effect.NONE


def _span(recorded: Recorded, clock: Clock, undated: dict[int, tuple[TimeSpan, int]]) -> TimeSpan:
    event = recorded.event
    if recorded.position in undated:
        return undated[recorded.position][0]
    # The clock was built before an event that is waited for, and knows nothing of its revision.
    if event.revision is not None and recorded.position <= clock.known:
        span = clock.spans([event.revision])[0]
        if span.estimate is not None:
            return span
    return own_span(recorded)


def own_span(recorded: Recorded) -> TimeSpan:
    """Return what an event itself says about its time."""
    event = recorded.event
    low, high = event.earliest, event.latest
    if low is None or high is None:
        return TimeSpan(low, high, high if low is None else low)
    return TimeSpan(low, high, low + (high - low) // 2)


class Ends(NamedTuple):
    """The bounds of a time as text, RFC 3339 in UTC; empty where nothing says.

    Both are the same if the time is known as exactly as it is printed.
    """

    first: str
    last: str

    @property
    def certain(self) -> bool:
        """Whether it is one time."""
        return self.first == self.last != ""


def ends_of(span: TimeSpan) -> Ends:
    """Return the bounds of a time. A bound in whole seconds is some time in that second.

    A time is one to the millisecond if it is known to a tenth of a second, and one to the second
    if both bounds are in the same one. Bounds less than a second apart have milliseconds.
    """
    low, high = span.earliest, span.latest
    text = _one_time(span)
    if text:
        return Ends(text, text)
    near = low is not None and high is not None and high - low < SECOND_US
    unit = _MILLI_US if near else SECOND_US
    return Ends(
        "" if low is None else time_text(low - low % unit),
        "" if high is None else time_text(high - high % unit),
    )


def _one_time(span: TimeSpan) -> str:
    """Return a time that is known as exactly as times are printed; empty if it is not."""
    low, high = span.earliest, span.latest
    if low is None or high is None or not is_one_time(span):
        return ""
    if high - low <= _EXACT_US:
        return time_text(low if span.estimate is None else span.estimate)
    return time_text(low - low % SECOND_US)


def is_one_time(span: TimeSpan) -> bool:
    """Return whether a time is known as exactly as times are printed."""
    low, high = span.earliest, span.latest
    if low is None or high is None:
        return False
    return high - low <= _EXACT_US or low // SECOND_US == high // SECOND_US


def first_time(span: TimeSpan) -> int | None:
    """Return the first time at which something may have been, as exactly as times are printed."""
    return span.earliest if is_uncertain(span) and span.earliest is not None else span.estimate


def last_time(span: TimeSpan) -> int | None:
    """Return the last time at which something may have been, as exactly as times are printed."""
    return span.latest if is_uncertain(span) and span.latest is not None else span.estimate


def is_known(span: TimeSpan) -> bool:
    """Return whether anything is known about a time."""
    return span.earliest is not None or span.latest is not None


def is_uncertain(span: TimeSpan) -> bool:
    """Return whether only bounds of a time are known, or one of them."""
    return is_known(span) and not is_one_time(span)


def span_text(span: TimeSpan) -> str:
    """Return a time as tables show it: one time, ``FIRST..LAST``, ``after FIRST``, ``before LAST``.

    The date is written once if both have it.
    """
    text = _one_time(span)  # Most times are one, and a list of events prints one in each line.
    if text:
        return text
    ends = ends_of(span)
    return _worded(ends, "{}..{}") if ends.first or ends.last else UNKNOWN


def known_text(span: TimeSpan) -> str:
    """Return a time as :func:`span_text`; empty if nothing is known about it."""
    return span_text(span) if is_known(span) else ""


def exact_text(span: TimeSpan) -> str:
    """Return a time for programs, with milliseconds; empty if it is not one time."""
    return time_text(span.estimate) if is_one_time(span) and span.estimate is not None else ""


def span_words(span: TimeSpan) -> str:
    """Return a time as sentences have it: ``a time between FIRST and LAST`` if it is not one."""
    ends = ends_of(span)
    if not ends.first and not ends.last:
        return "an unknown time"
    return _worded(ends, "between {} and {}", of="a time ")


def span_of_day(span: TimeSpan) -> str:
    """Return a time as :func:`span_text`, without the date; empty if it is not known.

    If the bounds are of two days, the dates are there.
    """
    ends = ends_of(span)
    days = {text[:_DATE] for text in ends if text}
    if len(days) == 1:
        ends = Ends(*(text[_DATE:].rstrip("Z") for text in ends))
    return _worded(ends, "{}..{}") if days else ""


def place_text(revision: int | None, span: TimeSpan | None) -> str:
    """Return a revision with its time, as far as that is known: ``rv:9 (TIME)``."""
    known = span is not None and span_text(span) != UNKNOWN
    return f"rv:{revision} ({span_text(span)})" if span and known else f"rv:{revision}"


def _worded(ends: Ends, both: str, *, of: str = "") -> str:
    """Return bounds as text. :param both: how two are written. :param of: before each but one."""
    first, last = ends
    if ends.certain:
        return first
    if not first or not last:
        return f"{of}after {first}" if first else f"{of}before {last}"
    shared = "T" in first and first[:_DATE] == last[:_DATE]
    return of + both.format(first, last[_DATE:] if shared else last)


def time_text(micros: int) -> str:
    """Return a time, with milliseconds if it has any."""
    text = format_time(micros - micros % SECOND_US)
    fraction = micros % SECOND_US // _MILLI_US
    return f"{text[:-1]}.{fraction:03d}Z" if fraction else text
