"""When events happened, by the clock: bounds, the best estimate, and how to print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...engine.events import KINDS, Effect, Recorded
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.state.clock import Clock, Span

AT_ONCE = 1000
"""The number of events whose times are looked up together."""

_EXACT_US = SECOND_US // 10
_MILLI_US = 1000

UNKNOWN = "<none>"


def with_spans(events: Sequence[Recorded], clock: Clock) -> Iterator[tuple[Recorded, Span]]:
    """Yield events with the bounds of their times."""
    undated = clock.loose_spans(
        [each.position for each in events if each.event.revision is None and _counts(each)]
    )
    for recorded in events:
        yield recorded, _span(recorded, clock, undated)


def _counts(recorded: Recorded) -> bool:
    return KINDS[recorded.event.kind].effect is not Effect.NONE


def _span(recorded: Recorded, clock: Clock, undated: dict[int, tuple[Span, int]]) -> Span:
    event = recorded.event
    if recorded.position in undated:
        return undated[recorded.position][0]
    if event.revision is not None and recorded.position <= clock.known:
        found = clock.spans([event.revision])[0]
        if found.estimate is not None:
            return found
    return own_span(recorded)


def own_span(recorded: Recorded) -> Span:
    """Return what an event itself says about its time."""
    event = recorded.event
    low, high = event.earliest, event.latest
    if low is None or high is None:
        return Span(low, high, high if low is None else low)
    return Span(low, high, low + (high - low) // 2)


def span_text(span: Span) -> str:
    """Return a time as tables show it: RFC 3339 in UTC, with ``~`` if it is not certain.

    It is printed to the millisecond if it is known to a tenth of a second, and to the second if
    both bounds are in the same one.
    """
    low, high, estimate = span.earliest, span.latest, span.estimate
    if estimate is None:
        return UNKNOWN
    if low is None or high is None:
        return f"~{time_text(estimate - estimate % SECOND_US)}"
    if high - low <= _EXACT_US:
        return time_text(estimate)
    whole = time_text(estimate - estimate % SECOND_US)
    if low // SECOND_US == high // SECOND_US:
        return whole
    return f"~{whole}"


def time_text(micros: int) -> str:
    """Return a time, with milliseconds if it has any."""
    text = format_time(micros - micros % SECOND_US)
    fraction = micros % SECOND_US // _MILLI_US
    return f"{text[:-1]}.{fraction:03d}Z" if fraction else text
