"""Freed memory goes back to the system, as far as its C library can be asked for that."""

from __future__ import annotations

import ctypes
import gc
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENAS = -1, -3, -8
"""Numbers of ``mallopt`` in malloc.h of glibc."""

_LARGE = 256 << 10


def keep_little() -> None:
    """Let the C library keep little of what is freed; to be called before threads start.

    Each thread would have an own pool, of which nothing serves other threads, although only one
    thread of Python works at a time. What is large is returned at once when it is freed.
    """
    glibc = _glibc()
    if glibc is not None:
        glibc.mallopt(_ARENAS, 1)
        glibc.mallopt(_MMAP_THRESHOLD, _LARGE)
        glibc.mallopt(_TRIM_THRESHOLD, 4 * _LARGE)


def return_memory() -> None:
    """Return what was freed."""
    glibc = _glibc()
    if glibc is not None:
        glibc.malloc_trim(0)


def leave_out_what_is_loaded() -> None:
    """Let no later collection look at what is in memory by now: modules, and they stay.

    They are nine tenths of what a collection would look at, and one follows each long answer.
    """
    gc.collect()
    gc.freeze()


@cache
def _glibc() -> ctypes.CDLL | None:
    """Return the C library; None if it is another one, or this is another system."""
    try:
        glibc = ctypes.CDLL(None)
        glibc.mallopt, glibc.malloc_trim  # noqa: B018 -- raises if they are not there
    except (AttributeError, OSError, TypeError):
        return None
    return glibc
