"""Durations exactly as Go's ``time.ParseDuration`` reads them.

:mod:`.units` reads durations from users; this module reads them as the scheduler does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType

_UNITS = MappingProxyType(
    {
        "ns": 1,
        "us": 1_000,
        "µs": 1_000,  # U+00B5, the micro sign
        "μs": 1_000,  # U+03BC, the Greek letter
        "ms": 1_000_000,
        "s": 1_000_000_000,
        "m": 60_000_000_000,
        "h": 3_600_000_000_000,
    }
)
_PART = re.compile(r"(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)(?=[.0-9]|$)")
_MOST = 2**63 - 1
_LONGEST = 4000
"""The most characters; Go has no limit, but Python converts at most 4,300 digits."""
_DIGITS = 19
"""Of a fraction no more digits are read."""


@lru_cache(maxsize=4096)
def parse_go_duration(text: str) -> int:
    """Return the nanoseconds of a duration such as ``-1.5h`` or ``1h2m3s4ms``.

    :raises ValueError: Go refuses it.

    Source: Go's time/format.go ParseDuration.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"a text of {len(text)} characters is taken for no duration")
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    total = end = 0
    while match := _PART.match(rest, end):
        whole, fraction, unit = match.groups()
        total += int(whole or "0") * _UNITS[unit]
        if fraction:
            fraction = fraction[:_DIGITS]
            total += int(float(fraction) * (_UNITS[unit] / 10 ** len(fraction)))
        end = match.end()
    if not end or end != len(rest) or total > _MOST + negative:
        raise ValueError(f"{text!r} is not a duration that Go reads, such as 90s or 1h30m")
    return -total if negative else total


def go_duration(nanoseconds: int) -> str:
    """Return a duration of whole seconds, not negative, as Go prints it: ``10m0s``, ``45s``.

    Source: Go's time/time.go Duration.String.
    """
    minutes, seconds = divmod(nanoseconds // 1_000_000_000, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
