"""The scheduler's priority queue: a binary heap that moves its elements exactly as Go's does.

The order of equal elements, and of elements whose rank changed while they lay in the heap, is a
matter of which swaps are done; Python's ``heapq`` does others.

Source: ``pkg/scheduler/util/priority_queue.go`` and Go's ``container/heap``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PriorityQueue(Generic[T]):
    """A heap of items under ``less(left, right)``: whether the left one comes out first."""

    def __init__(self, less: Callable[[T, T], bool]) -> None:
        self._less = less
        self._items: list[T] = []

    def __len__(self) -> int:
        return len(self._items)

    def push(self, item: T) -> None:
        """Put an item in."""
        items, less = self._items, self._less
        items.append(item)
        child = len(items) - 1
        while child > 0:
            parent = (child - 1) // 2
            if not less(items[child], items[parent]):
                break
            items[parent], items[child] = items[child], items[parent]
            child = parent

    def pop(self) -> T:
        """Take the first item out.

        :raises IndexError: the queue is empty.
        """
        items = self._items
        last = len(items) - 1
        items[0], items[last] = items[last], items[0]
        self._down(last)
        return items.pop()

    def clone(self) -> PriorityQueue[T]:
        """Return a queue with the same items, pushed in the order in which they lie here."""
        other = PriorityQueue(self._less)
        for item in self._items:
            other.push(item)
        return other

    def _down(self, size: int) -> None:
        items, less = self._items, self._less
        parent = 0
        while (child := 2 * parent + 1) < size:
            right = child + 1
            if right < size and less(items[right], items[child]):
                child = right
            if not less(items[child], items[parent]):
                break
            items[parent], items[child] = items[child], items[parent]
            parent = child
