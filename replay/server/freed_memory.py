"""Freed memory goes back to the system, as far as its C library can be asked for that."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache


def return_memory() -> None:
    """Return what was freed; does nothing where the C library is not glibc."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # other C libraries, other systems
        return None
    return found
