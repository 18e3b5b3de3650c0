"""Go's sort of short slices, for inconsistent orders.

Where a ``less`` is no order (of two elements both come first), the result depends on which pairs
are compared; up to 12 elements Go compares neighbours, as here. Of longer ones it compares others.

Source: Go's sort/zsortfunc.go insertionSort_func.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def insertion_sort(items: list[T], less: Callable[[T, T], bool]) -> list[T]:
    """Sort a list in place, and return it."""
    for end in range(1, len(items)):
        at = end
        while at > 0 and less(items[at], items[at - 1]):
            items[at], items[at - 1] = items[at - 1], items[at]
            at -= 1
    return items
