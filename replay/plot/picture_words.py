"""Words of pictures: periods, durations and amounts, as people write them; and marks on axes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.units import SECOND_US, in_bytes
from ..moments.zones import Zone
from ..series.period import Period
from .picture import COUNT, DURATION

_MINUTE, _HOUR, _DAY = 60 * SECOND_US, 3600 * SECOND_US, 86_400 * SECOND_US
_TIMES = (
    *(unit * digit for unit in (1000, 10_000, 100_000) for digit in (1, 2, 5)),
    *(second * SECOND_US for second in (1, 2, 5, 10, 15, 30)),
    *(minute * _MINUTE for minute in (1, 2, 5, 10, 15, 30)),
    *(hour * _HOUR for hour in (1, 2, 3, 6, 12)),
    *(day * _DAY for day in (1, 2, 7, 14, 30, 91, 182, 365)),
)
_UNITS = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m"), (SECOND_US, "s"), (1000, "ms"), (1, "µs"))

_COARSE = (
    *(1000, 10_000, 100_000, SECOND_US, 10 * SECOND_US, _MINUTE, 10 * _MINUTE),
    *(_HOUR, 6 * _HOUR, _DAY, 7 * _DAY, 30 * _DAY, 365 * _DAY),
)
_FEW = 3
_MOST_STEPS = 3


def duration(micros: int) -> str:
    """Return a duration with at most two units, as ``1m30s``, ``250ms`` or ``0``."""
    if micros >= SECOND_US:
        micros -= micros % 100_000 if micros < 10 * SECOND_US else micros % SECOND_US
    for place, (size, name) in enumerate(_UNITS):
        if micros < size:
            continue
        whole, rest = divmod(micros, size)
        if name == "s" and rest:
            return f"{micros / SECOND_US:.1f}s"
        if name in {"ms", "µs"} or not rest:
            return f"{whole}{name}"
        lower, sign = _UNITS[place + 1]
        return f"{whole}{name}{rest // lower}{sign}" if rest >= lower else f"{whole}{name}"
    return "0"


def period_text(period: Period) -> str:
    """Return a period as ``2026-11-21 01:52:36 to 01:55:17 UTC``."""
    begin, end = (_plain(time, period.zone) for time in (period.begin, period.end))
    same_day = begin[:10] == end[:10]
    return f"{begin} to {end[11:] if same_day else end} {period.zone.label(period.begin)}"


def clock_text(time: int, zone: Zone, *, exact: int = SECOND_US) -> str:
    """Return the time of day; below a second only if the step that it is for is."""
    text = _plain(time, zone)[11:]
    return text if exact >= SECOND_US or not time % SECOND_US // 1000 else f"{text}{_milli(time)}"


def _milli(time: int) -> str:
    return f".{time % SECOND_US // 1000:03d}"


def _plain(time: int, zone: Zone) -> str:
    return zone.moment(time - time % SECOND_US).isoformat()[:19].replace("T", " ")


def times_on_axis(period: Period, most: int) -> list[tuple[int, str]]:
    """Return at most so many times to mark on an axis, with their texts."""
    length, zone = period.end - period.begin, period.zone
    step = next((size for size in _TIMES if length <= size * most), _TIMES[-1])
    # Marks are at round times of the zone: its midnight, and not that of UTC.
    ahead = (zone.moment(period.begin).utcoffset() or timedelta()) // timedelta(microseconds=1)
    first = -(-(period.begin + ahead) // step) * step - ahead
    times = range(first, period.end + 1, step)
    if step >= _DAY:
        return [(time, _plain(time, zone)[:10]) for time in times][: most + 1]
    return [(time, _of_day(time, step, zone)) for time in times]


def _of_day(time: int, step: int, zone: Zone) -> str:
    text = clock_text(time, zone, exact=step)
    return text if step % _MINUTE else text[:5]


def amounts_on_axis(unit: str, highest: float) -> list[tuple[float, str]]:
    """Return round amounts from 0 up to the highest, with their texts."""
    if highest <= 0:
        return [(0.0, "0")]
    if unit == DURATION:
        steps: Sequence[float] = _TIMES
    elif in_bytes(unit):
        scale = 1.0 if unit == "memory" else 1000.0
        steps = [scale * 2**power for power in range(62)]
    else:
        steps = [digit * 10**power for power in range(21) for digit in (1, 2, 5)]
    step = next((size for size in steps if highest <= size * _MOST_STEPS), steps[-1])
    count = int(highest // step)
    return [(step * place, amount_text(unit, step * place)) for place in range(count + 1)]


def amount_text(unit: str, amount: float) -> str:
    """Return an amount of a unit of :class:`.picture.Chart`."""
    if unit == DURATION:
        return duration(int(amount))
    return str(int(amount)) if unit == COUNT else short_amount(unit, amount)


def durations_on_axis(shortest: float, longest: float) -> list[int]:
    """Return durations to mark on a logarithmic axis, microseconds: few, but at least some."""
    coarse = [length for length in _COARSE if shortest <= length <= longest]
    if len(coarse) >= _FEW:
        return coarse
    return [time for time in _TIMES if shortest <= time <= longest]
