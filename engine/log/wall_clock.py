"""The clock of the machine, in the unit of a log. The core reads none: it takes the time."""

from __future__ import annotations

from time import time_ns


def micros_now() -> int:
    """Return the time in microseconds since 1970 UTC."""
    return time_ns() // 1000
