"""Requests as Go's controllers queue them: by pointer, so that no two of them are ever equal.

A queue drops an item that it has already. Where items are pointers, each request is another one:
two equal requests are worked on one after the other, and fail by themselves.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, NamedTuple, TypeVar

from ..kubernetes import work_queue
from ..kubernetes.work_queue import Item, WorkQueue

MAX_REQUEUES = 15
"""How often a request is tried again before it is given up (``--max-requeue-num``)."""

R = TypeVar("R", bound=Hashable)


class Numbered(NamedTuple, Generic[R]):
    """A request that is equal only to itself."""

    number: int
    request: R


class Requests(Generic[R]):
    """A queue of requests.

    :param merged: equal requests wait once, as Go queues values.
    :ivar queue: the work queue.
    """

    def __init__(self, *, merged: bool = False) -> None:
        self._merged = merged
        self._next = 0
        self.queue = WorkQueue[Numbered[R]]()

    def __len__(self) -> int:
        return len(self.queue)

    def add(self, request: R) -> None:
        """Queue a request."""
        self.queue.add(Numbered(self._next, request))
        if not self._merged:
            self._next += 1

    def take(self) -> Numbered[R]:
        """Give a worker the first request.

        :raises IndexError: there is none.
        """
        return self.queue.take()

    def kept(self) -> work_queue.WorkQueueState[Numbered[R]]:
        """Return all that is queued; requests are numbered in the order in which they wait."""
        state = self.queue.kept()
        if self._merged:
            return state
        waiting = (*state.delayed, *state.taken, *state.failures)
        items = dict.fromkeys((*state.ready, *(item for item, _ in waiting)))
        numbers = {item: Numbered(number, item.request) for number, item in enumerate(items)}
        return state.of(numbers.__getitem__)

    def restore(self, kept: work_queue.WorkQueueState[Numbered[R]]) -> None:
        """Queue what another queue had, and nothing else."""
        self.queue.restore(kept)
        # kept() numbers from 0 without gaps, so the next free number is how many there are.
        self._next = 0 if self._merged else len({*kept.ready, *_items(kept)})


def try_again(queue: WorkQueue[Item], item: Item) -> bool:
    """Queue an item that failed for later; say whether it is not given up."""
    if queue.failures().get(item, 0) < MAX_REQUEUES:
        queue.add_rate_limited(item)
        return True
    queue.forget(item)
    return False


def next_due(*queues: WorkQueue[Any]) -> int | None:
    """Return in how many microseconds the first delay in any queue is over, or None."""
    delays = (due - queue.now for queue in queues for due in queue.due().values())
    return min(delays, default=None)


def _items(kept: work_queue.WorkQueueState[Item]) -> list[Item]:
    return [item for item, _ in (*kept.delayed, *kept.taken, *kept.failures)]
