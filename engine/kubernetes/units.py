"""Quantities, times and durations: parsed once on input, then in one unit.

Resources are in Volcano's units: cpu and every scalar resource in milli, memory in bytes. Times are
microseconds since 1970 UTC, as integers.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from functools import lru_cache
from types import MappingProxyType

SECOND_US = 1_000_000

_SUFFIX = MappingProxyType(
    {
        "n": Decimal("1e-9"),
        "u": Decimal("1e-6"),
        "m": Decimal("1e-3"),
        "": Decimal(1),
        "k": Decimal(10) ** 3,
        "M": Decimal(10) ** 6,
        "G": Decimal(10) ** 9,
        "T": Decimal(10) ** 12,
        "P": Decimal(10) ** 15,
        "E": Decimal(10) ** 18,
        "Ki": Decimal(2) ** 10,
        "Mi": Decimal(2) ** 20,
        "Gi": Decimal(2) ** 30,
        "Ti": Decimal(2) ** 40,
        "Pi": Decimal(2) ** 50,
        "Ei": Decimal(2) ** 60,
    }
)

_MOST = Decimal(2) ** 63
"""Larger amounts count as this (``maxAllowed`` in quantity.go, which is one less)."""

_QUANTITY = re.compile(
    r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]i?|Ki)?)", re.ASCII
)
_MOST_QUANTITY = 128
"""The most characters: three times as many as the largest and finest valid quantity needs."""


@lru_cache(maxsize=65536)
def parse_quantity(text: str | float) -> Decimal:
    """Return the value of a Kubernetes quantity: ``500m`` is 0.5, ``1Ki`` 1024.

    :raises ValueError: it is not a quantity.

    Source: k8s.io/apimachinery/pkg/api/resource/quantity.go ParseQuantity.
    """
    written = str(text).strip()
    match = _QUANTITY.fullmatch(written) if len(written) <= _MOST_QUANTITY else None
    if match is None:
        raise ValueError(f"{_short(text)} is not a quantity")
    number, exponent, suffix = match.groups()
    try:
        if exponent:
            return Decimal(number + exponent)
        return Decimal(number) * _SUFFIX[suffix or ""]
    except (InvalidOperation, KeyError) as fault:
        raise ValueError(f"{text!r} is not a quantity") from fault


@lru_cache(maxsize=65536)
def resource_amount(resource: str, quantity: str | float) -> float:
    """Return a resource's amount in Volcano's unit: memory in bytes, all else in milli.

    ``pods`` stays a count. Fractions of the unit are rounded up, as ``MilliValue`` does.

    :raises ValueError: it is not a quantity.

    Source: pkg/scheduler/api/resource_info.go NewResource.
    """
    value = max(-_MOST, min(parse_quantity(quantity), _MOST))
    if resource not in ("memory", "pods"):
        value *= 1000
    return float(value.to_integral_value(rounding=ROUND_CEILING))


def format_amount(resource: str, amount: float) -> str:
    """Return an amount in Kubernetes notation: 500 milli of cpu is ``500m``, bytes are ``4Gi``."""
    if resource == "memory":
        return _format_bytes(amount)
    if resource == "pods":
        return _format_number(amount)
    if in_bytes(resource):
        return _format_bytes(amount / 1000)
    whole, rest = divmod(amount, 1000)
    if rest:
        return f"{_format_number(amount)}m"
    return _format_number(whole)


def in_bytes(resource: str) -> bool:
    """Return whether quantities of a resource are bytes, as those of ``requests.memory`` are."""
    kind = resource.removeprefix("requests.").removeprefix("limits.")
    return kind in {"memory", "ephemeral-storage", "storage"} or kind.startswith("hugepages-")


def _format_number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _format_bytes(amount: float) -> str:
    for suffix in ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki"):
        unit = float(_SUFFIX[suffix])
        if amount and amount % unit == 0:
            return f"{int(amount // unit)}{suffix}"
    return _format_number(amount)


FIRST_TIME, LAST_TIME = -62_135_596_800 * SECOND_US, 253_402_300_800 * SECOND_US - 1
"""The first microsecond of the year 1 and the last of 9999: RFC 3339 has four digits of a year."""

_MOST_TIME = 64
"""The most characters; the longest valid time has 35."""

_UNTIL_ZONE = len("2026-01-02T03:04:05")
_CYCLE_YEARS, _CYCLE_SECONDS = 400, 146_097 * 86_400
"""After this many years the calendar repeats."""

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:([Zz])|([+-]\d\d):?(\d\d))?",
    re.ASCII,
)

_USUAL_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z", re.ASCII)
"""As Kubernetes writes times; Python reads these by itself, and quicker."""

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


class TimeOutOfRange(ValueError):
    """A time that is written correctly, but in UTC is before the year 1 or after 9999."""


@lru_cache(maxsize=65536)
def parse_time(text: str) -> int:
    """Return an RFC 3339 time as microseconds since 1970 UTC; without a zone it is UTC.

    Digits beyond microseconds are cut off.

    :raises ValueError: it is not such a time. :raises TimeOutOfRange: it is out of range in UTC.
    """
    if _USUAL_TIME.fullmatch(text):
        with suppress(ValueError):  # A leap second, or no such day.
            moment = datetime.fromisoformat(text)
            return (moment - _EPOCH) // _MICROSECOND
    match = _TIME.fullmatch(text) if len(text) <= _MOST_TIME else None
    if match is None:
        raise ValueError(f"{_short(text)} is not an RFC 3339 time")
    year, month, day, hour, minute, second, fraction, _, zone_hours, zone_minutes = match.groups()
    # A leap second counts as the one before it.
    moment = datetime(
        int(year), int(month), int(day), int(hour), int(minute), min(int(second), 59), tzinfo=UTC
    )
    micros = int(moment.timestamp()) * SECOND_US + int((fraction or "0").ljust(6, "0")[:6])
    if zone_hours:
        offset = int(zone_hours) * 60
        # The sign is that of the minutes too: in -00:30 the hours do not show it.
        offset += int(zone_minutes) if offset >= 0 and zone_hours[0] != "-" else -int(zone_minutes)
        micros -= offset * 60 * SECOND_US
    if not FIRST_TIME <= micros <= LAST_TIME:
        raise TimeOutOfRange(f"{text!r} is in UTC before the year 1 or after 9999")
    return micros


def _short(text: object) -> str:
    """Return a value for a message, at most a line long."""
    shown = repr(text)
    return shown if len(shown) <= _MOST_TIME else f"{shown[:_MOST_TIME]}…"


def format_time(micros: int) -> str:
    """Return microseconds since 1970 as RFC 3339 in UTC, with a fraction only if there is one.

    A time outside the years 1 to 9999 has a sign before its year, as in ISO 8601. No reader of
    times accepts that, but a log that holds such a time can be shown.
    """
    seconds, fraction = divmod(micros, SECOND_US)
    # Python has no year above 9999, so whole cycles of the calendar are taken off.
    cycles = 0
    if not FIRST_TIME <= micros <= LAST_TIME:
        cycles = seconds // _CYCLE_SECONDS
    moment = datetime.fromtimestamp(seconds - cycles * _CYCLE_SECONDS, UTC)
    text = moment.isoformat()[:_UNTIL_ZONE]
    if cycles:
        text = f"{moment.year + cycles * _CYCLE_YEARS:+05d}{text[4:]}"
    return f"{text}.{fraction:06d}Z" if fraction else f"{text}Z"


def year_of(micros: int) -> int:
    """Return the year, in UTC, of a time in microseconds since 1970."""
    cycles, seconds = divmod(micros // SECOND_US, _CYCLE_SECONDS)
    return datetime.fromtimestamp(seconds, UTC).year + cycles * _CYCLE_YEARS


def month_of(micros: int) -> int:
    """Return the month, in UTC, of a time in microseconds since 1970."""
    return datetime.fromtimestamp(micros // SECOND_US % _CYCLE_SECONDS, UTC).month


_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(d|h|ms|us|µs|m|s)", re.ASCII)
_MOST_DURATION = 64
"""Characters."""
_DURATION_US = MappingProxyType(
    {
        "d": 86_400_000_000,
        "h": 3_600_000_000,
        "m": 60_000_000,
        "s": SECOND_US,
        "ms": 1000,
        "us": 1,
        "µs": 1,
    }
)


def parse_duration(text: str) -> int:
    """Return a Go duration such as ``2h45m`` or ``90s`` (days allowed) in microseconds.

    :raises ValueError: it is not a duration.
    """
    total, end = 0.0, 0
    while end < len(text) <= _MOST_DURATION and (part := _DURATION_PART.match(text, end)):
        total += float(part[1]) * _DURATION_US[part[2]]
        end = part.end()
    if not text or end != len(text):
        raise ValueError(f"{_short(text)} is not a duration such as 90s or 2h45m")
    return round(total)


def format_age(micros: int) -> str:
    """Return a duration as kubectl prints ages: ``45s``, ``5m12s``, ``3h7m``, ``2d3h``, ``400d``.

    Source: k8s.io/apimachinery/pkg/util/duration/duration.go HumanDuration.
    """
    seconds = micros // SECOND_US
    if seconds < 0:
        return "<invalid>" if seconds < -1 else "0s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    if days < 365 * 2:
        return f"{days}d"
    years = days // 365
    if years < 8:
        return f"{years}y{days % 365}d" if days % 365 else f"{years}y"
    return f"{years}y"
