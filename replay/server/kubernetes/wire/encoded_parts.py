"""Encoded parts of lists, kept for the next client that asks for the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_BYTES = 80 << 20


class EncodedParts:
    """Parts of answers, the least used of which are dropped; threads share it."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._size = 0

    def part(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return what was kept, or make and keep it."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._size += len(made)
            while self._size > self._most:
                self._size -= len(self._kept.popitem(last=False)[1])
        return made
