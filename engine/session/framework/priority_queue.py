"""The scheduler's priority queue: a binary heap that moves its elements exactly as Go's does.

The order of equal elements, and of elements whose rank changed while they were in the heap, depends
on which swaps are done; Python's ``heapq`` does others. If neither happens, every heap
gives the same order, and :class:`KeyedQueue` is faster.

Source: ``pkg/scheduler/util/priority_queue.go`` and Go's ``container/heap``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
Key = Any
"""A value that can be compared: mostly a tuple."""


class ItemQueue(Protocol[T]):
    """Items, of which the first comes out."""

    def __len__(self) -> int:
        """Return how many items there are."""
        ...

    def push(self, item: T) -> None:
        """Put an item in."""
        ...

    def pop(self) -> T:
        """Take the first item out."""
        ...

    def clone(self) -> ItemQueue[T]:
        """Return a copy, whose items come out as those of this one would."""
        ...

    def pushed_again(self) -> ItemQueue[T]:
        """Return a queue into which the items were pushed in their current order."""
        ...


class KeyedQueue(Generic[T]):
    """A heap of items with distinct keys; the least comes out first.

    An item's key is computed once, when it is pushed, and must not change while it is queued.
    """

    def __init__(self, key: Callable[[T], Key], items: Iterable[T] = ()) -> None:
        self._key = key
        self._heap: list[tuple[Key, T]] = [(key(item), item) for item in items]
        heapify(self._heap)

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, item: T) -> None:
        """Put an item in."""
        heappush(self._heap, (self._key(item), item))

    def pop(self) -> T:
        """Take the first item out.

        :raises IndexError: the queue is empty.
        """
        return heappop(self._heap)[1]

    def clone(self) -> KeyedQueue[T]:
        """Return a copy with the same items and keys."""
        copy: KeyedQueue[T] = KeyedQueue(self._key)
        copy._heap = self._heap.copy()
        return copy

    def pushed_again(self) -> KeyedQueue[T]:
        """Return a copy: the keys are still the same."""
        return self.clone()


class PriorityQueue(Generic[T]):
    """A heap of items under ``less(left, right)``: whether the left one comes out first."""

    def __init__(self, less: Callable[[T, T], bool], items: Iterable[T] = ()) -> None:
        self._less = less
        self._items: list[T] = []
        for item in items:
            self.push(item)

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
        # As `heap.Pop`: the last item goes down from the top, and may so overtake its equals.
        items[0], items[last] = items[last], items[0]
        self._down(last)
        return items.pop()

    def clone(self) -> PriorityQueue[T]:
        """Return a copy of the heap as it is, also where ranks have changed since.

        Source: ``PriorityQueue.Clone`` since v1.14.
        """
        copy = PriorityQueue(self._less)
        copy._items = self._items.copy()
        return copy

    def pushed_again(self) -> PriorityQueue[T]:
        """Return a queue into which the items were pushed in their current order.

        Items whose ranks have changed are put where they belong.

        Source: ``PriorityQueue.Clone`` until v1.13.
        """
        return PriorityQueue(self._less, self._items)

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
