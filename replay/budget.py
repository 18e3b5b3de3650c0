"""How long a command may work: durations of ``--budget``, and what still fits into them."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from ..engine.errors import UsageError
from ..engine.kubernetes.units import SECOND_US, parse_duration


def budget_seconds(text: str) -> float:
    """Return the seconds of a budget.

    :raises UsageError: it is no duration, or nothing can be found in it.
    """
    try:
        seconds = parse_duration(text) / SECOND_US
    except ValueError as fault:
        raise UsageError(f"--budget: {fault}", now="write a duration, such as 60s or 5m") from fault
    if seconds <= 0:
        raise UsageError(
            "a budget of zero: nothing can be searched in no time",
            now="write a duration, such as 60s or 5m",
        )
    return seconds


def within(budget: str) -> Callable[[], bool]:
    """Return a function to call before each piece of work: whether it fits into a budget.

    The budget runs from now on. A piece is expected to take as long as the longest one before.

    :raises UsageError: as :func:`budget_seconds`.
    """
    end, longest = monotonic() + budget_seconds(budget), 0.0
    last: float | None = None

    def fits() -> bool:
        nonlocal longest, last
        now = monotonic()
        if last is not None:
            longest = max(longest, now - last)
        last = now
        return now + longest < end

    return fits
