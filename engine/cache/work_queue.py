"""A controller's work queue as data: nothing runs by itself, every step is a call.

Source: k8s.io/client-go/util/workqueue queue.go, delaying_queue.go, default_rate_limiters.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item", bound=Hashable)

BASE_DELAY_US = 5_000
LONGEST_DELAY_US = 1_000_000_000


class Waiting(NamedTuple, Generic[Item]):
    """All that a queue holds: what is ready, delayed and taken, and how often what failed."""

    ready: list[Item]
    delayed: list[Item]
    taken: list[tuple[Item, bool]]
    failures: list[tuple[Item, int]]


class WorkQueue(Generic[Item]):
    """Items wait once each, in the order of being added; failed ones wait apart until they are due.

    An item that is added while a worker has it is not queued at once but when the worker is done.
    """

    def __init__(self) -> None:
        self._ready: dict[Item, None] = {}
        self._delayed: dict[Item, None] = {}
        self._taken: dict[Item, bool] = {}
        self._failures: dict[Item, int] = {}

    def __len__(self) -> int:
        return len(self._ready)

    @property
    def idle(self) -> bool:
        """Whether a worker would find nothing, even if all delays were over."""
        return not (self._ready or self._delayed)

    def waiting(self) -> Waiting[Item]:
        """Return all that the queue holds."""
        return Waiting(
            [*self._ready], [*self._delayed], [*self._taken.items()], [*self._failures.items()]
        )

    def hold(
        self,
        ready: Iterable[Item],
        delayed: Iterable[Item],
        taken: Iterable[tuple[Item, bool]],
        failures: Iterable[tuple[Item, int]],
    ) -> None:
        """Hold what another queue held (:meth:`waiting`), and nothing else."""
        self._ready, self._delayed = dict.fromkeys(ready), dict.fromkeys(delayed)
        self._taken, self._failures = dict(taken), dict(failures)

    def ready(self) -> list[Item]:
        """Return what a worker can take now, first in first out."""
        return list(self._ready)

    def delayed(self) -> list[Item]:
        """Return what waits for its delay to pass, in the order of waiting."""
        return list(self._delayed)

    def taken(self) -> list[Item]:
        """Return what workers have in hand."""
        return list(self._taken)

    def delay(self, item: Item) -> int:
        """Return how long an item would wait that failed now, in microseconds.

        The bucket that all items share is left out: it matters above ten failures a second.
        """
        return min(BASE_DELAY_US << min(self._failures.get(item, 0), 40), LONGEST_DELAY_US)

    def add(self, item: Item) -> None:
        """Queue an item, unless it is queued already."""
        if item in self._taken:
            self._taken[item] = True
        else:
            self._ready[item] = None

    def add_rate_limited(self, item: Item) -> None:
        """Let an item wait, the longer the more often it failed, and then queue it."""
        self._failures[item] = self._failures.get(item, 0) + 1
        self._delayed[item] = None

    def forget(self, item: Item) -> None:
        """Forget how often an item failed."""
        self._failures.pop(item, None)

    def fire(self, item: Item) -> None:
        """Let the delay of one waiting item be over."""
        del self._delayed[item]
        self.add(item)

    def fire_all(self) -> None:
        """Let all delays be over."""
        for item in self.delayed():
            self.fire(item)

    def take(self) -> Item:
        """Give a worker the first item.

        :raises IndexError: there is none.
        """
        if not self._ready:
            raise IndexError("nothing is queued")
        item = next(iter(self._ready))
        del self._ready[item]
        self._taken[item] = False
        return item

    def done(self, item: Item) -> None:
        """Take an item back from its worker; it is queued if it was added meanwhile."""
        if self._taken.pop(item):
            self._ready[item] = None
