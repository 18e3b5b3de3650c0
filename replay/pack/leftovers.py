"""Searches the bytes of a file for names that must not be in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

SHORTEST = 4
"""Shorter names are not searched: they occur by accident."""


def left_over(path: Path, names: Iterable[str], known: str) -> list[str]:
    """Return which of some names occur anywhere in a file, sorted.

    :param known: words that stay in the file; names that are part of one are not searched.
    """
    data = path.read_bytes()
    wanted = {name.encode() for name in names if _is_searched(name, known)}
    there = _starts(data)
    likely = [name for name in wanted if _quick(name) <= there]
    return sorted(name.decode() for name in likely if name in data)


def _is_searched(name: str, known: str) -> bool:
    """Return whether a name would not occur by accident: numbers do, and parts of known words."""
    is_number = name.strip("0123456789.:-") == ""
    return len(name.encode()) >= SHORTEST and not is_number and name not in known


def _starts(data: bytes) -> set[int]:
    """Return every run of four bytes in some bytes, as a number."""
    if len(data) < SHORTEST:
        return set()
    found = np.frombuffer(data, np.uint8).astype(np.uint32)
    runs = (found[:-3] << 24) | (found[1:-2] << 16) | (found[2:-1] << 8) | found[3:]
    return set(np.unique(runs).tolist())


def _quick(name: bytes) -> set[int]:
    """Return the first and the last four bytes of a name, each as a number."""
    return {int.from_bytes(name[:SHORTEST]), int.from_bytes(name[-SHORTEST:])}
