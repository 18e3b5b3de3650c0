"""A controller's work queue as data: nothing runs by itself, every step is a call.

Source: k8s.io/client-go/util/workqueue queue.go, delaying_queue.go, default_rate_limiters.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from .units import SECOND_US

Item = TypeVar("Item", bound=Hashable)

BASE_DELAY_US = 5_000
LONGEST_DELAY_US = 1_000_000_000
LONGEST_AFTER = 18
"""After this many failures the delay no longer grows."""

MOST_FAILURES = LONGEST_AFTER
"""More failures make no difference: delays grow no more, and limits of retries are lower."""

assert BASE_DELAY_US << (LONGEST_AFTER - 1) < LONGEST_DELAY_US < BASE_DELAY_US << LONGEST_AFTER


class TokenRate(NamedTuple):
    """How many failed items a queue accepts: a token bucket that all items share."""

    per_second: int
    at_once: int


CONTROLLER_RATE = TokenRate(10, 100)
"""What controllers of Kubernetes and Volcano use.

Source: k8s.io/client-go/util/workqueue default_rate_limiters.go DefaultControllerRateLimiter.
"""


class WaitingItems(NamedTuple, Generic[Item]):
    """All that a queue holds.

    :param ready: what a worker can take. :param delayed: with the times when it is due.
    :param taken: whether each was added again since. :param failures: the count by item.
    :param now: the queue's time. :param spent_until: until when tokens are used up.
    """

    ready: list[Item]
    delayed: list[tuple[Item, int]]
    taken: list[tuple[Item, bool]]
    failures: list[tuple[Item, int]]
    now: int
    spent_until: int

    def of(self, other: Callable[[Any], Any]) -> WaitingItems[Any]:
        """Return a copy with each item replaced."""
        return self._replace(
            ready=[other(item) for item in self.ready],
            delayed=[(other(item), due) for item, due in self.delayed],
            taken=[(other(item), again) for item, again in self.taken],
            failures=[(other(item), times) for item, times in self.failures],
        )

    def items(self) -> list[Item]:
        """Return all items, some of them more than once."""
        waiting = (*self.delayed, *self.taken, *self.failures)
        return [*self.ready, *(item for item, _ in waiting)]


class WorkQueueState(NamedTuple, Generic[Item]):
    """All that a queue holds, as a value that can be compared.

    :param ready: what a worker can take. :param delayed: with the times until it is due.
    :param taken: with whether it was added meanwhile. :param failures: how often what failed.
    :param spent_for: how long permits are spent for; negative if some are left.
    """

    ready: tuple[Item, ...]
    delayed: tuple[tuple[Item, int], ...]
    taken: tuple[tuple[Item, bool], ...]
    failures: tuple[tuple[Item, int], ...]
    spent_for: int

    def of(self, other: Callable[[Any], Any]) -> WorkQueueState[Any]:
        """Return the same with something else in place of each item, comparable as well."""
        return self._replace(
            ready=tuple(other(item) for item in self.ready),
            delayed=tuple((other(item), due) for item, due in self.delayed),
            taken=tuple(sorted((other(item), again) for item, again in self.taken)),
            failures=tuple(sorted((other(item), times) for item, times in self.failures)),
        )


class WorkQueue(Generic[Item]):
    """Items are queued once each, in the order of being added; failed ones are queued when due.

    An item that is added while a worker has it is queued when the worker finishes. The queue
    has a separate time, in microseconds, which begins at 0; only :meth:`advance` changes it.

    :param rate: limits how many items may fail in a second; None does not limit it.
    :param longest: a failed item waits no longer than this for its own sake, in microseconds.
    """

    def __init__(
        self, rate: TokenRate | None = CONTROLLER_RATE, longest: int = LONGEST_DELAY_US
    ) -> None:
        self.rate = rate
        self._longest = longest
        self.now = 0
        self._ready: dict[Item, None] = {}
        self._due: dict[Item, int] = {}
        self._taken: dict[Item, bool] = {}
        self._failures: dict[Item, int] = {}
        self._each = 0 if rate is None else SECOND_US // rate.per_second
        """How long it takes to refill one token; ``_bucket`` is the time to refill all."""
        self._bucket = 0 if rate is None else rate.at_once * self._each
        self._spent_until = -self._bucket
        """When the last used token is refilled; never earlier than for a full bucket."""

    def __len__(self) -> int:
        return len(self._ready)

    @property
    def idle(self) -> bool:
        """Whether the queue has no item, not even a delayed one."""
        return not (self._ready or self._due)

    def waiting(self) -> WaitingItems[Item]:
        """Return all that the queue holds."""
        return WaitingItems(
            [*self._ready],
            [*self._due.items()],
            [*self._taken.items()],
            [*self._failures.items()],
            self.now,
            self._spent_until,
        )

    def hold(self, waiting: WaitingItems[Item]) -> None:
        """Restore the state of another queue."""
        self._ready, self._due = dict.fromkeys(waiting.ready), dict(waiting.delayed)
        self._taken, self._failures = dict(waiting.taken), dict(waiting.failures)
        self.now, self._spent_until = waiting.now, waiting.spent_until

    def kept(self) -> WorkQueueState[Item]:
        """Return all that the queue holds, with times counted from now.

        Queues that will behave alike from now on give equal values: failures are counted up to
        :data:`MOST_FAILURES` only. Items must be comparable.
        """
        return WorkQueueState(
            tuple(self._ready),
            tuple(
                sorted(
                    ((item, due - self.now) for item, due in self._due.items()),
                    key=lambda waiting: waiting[1],
                )
            ),
            tuple(sorted(self._taken.items())),
            tuple(
                sorted((item, min(times, MOST_FAILURES)) for item, times in self._failures.items())
            ),
            max(self._spent_until - self.now, -self._bucket),
        )

    def restore(self, kept: WorkQueueState[Item]) -> None:
        """Hold what another queue held, and nothing else; the queue's time begins again at 0."""
        self._ready, self._due = dict.fromkeys(kept.ready), dict(kept.delayed)
        self._taken, self._failures = dict(kept.taken), dict(kept.failures)
        self.now, self._spent_until = 0, kept.spent_for

    def rebase(self) -> None:
        """Let the queue's time begin again at 0; what is due stays due in as long as before.

        Failures are counted up to :data:`MOST_FAILURES`.
        """
        self._due = {
            item: due - self.now
            for item, due in sorted(self._due.items(), key=lambda waiting: waiting[1])
        }
        self._failures = {item: min(times, MOST_FAILURES) for item, times in self._failures.items()}
        self._spent_until = max(self._spent_until - self.now, -self._bucket)
        self.now = 0

    def ready(self) -> list[Item]:
        """Return what a worker can take now, first in first out."""
        return list(self._ready)

    def delayed(self) -> list[Item]:
        """Return the delayed items, in order."""
        return list(self._due)

    def due(self) -> Mapping[Item, int]:
        """Return when each delayed item is due, in microseconds of the queue's time."""
        return MappingProxyType(self._due)

    def failures(self) -> Mapping[Item, int]:
        """Return how often each item failed; forgotten items are left out."""
        return MappingProxyType(self._failures)

    def taken(self) -> list[Item]:
        """Return what workers have in hand."""
        return list(self._taken)

    def delay(self, item: Item) -> int:
        """Return the delay of an item that fails now, without the shared limit, in microseconds."""
        times = self._failures.get(item, 0)
        return min(BASE_DELAY_US << min(times, LONGEST_AFTER), self._longest)

    def add(self, item: Item) -> None:
        """Queue an item, unless it is queued already."""
        if item in self._taken:
            self._taken[item] = True
        else:
            self._ready[item] = None

    def add_rate_limited(self, item: Item) -> None:
        """Queue an item after a delay, which grows with its failures.

        It also needs a token; an item that is already delayed keeps the earlier time.

        Source: golang.org/x/time/rate Limiter.Reserve.
        """
        due = self.now + self.delay(item)
        self._failures[item] = self._failures.get(item, 0) + 1
        # Both waits run at the same time: that of the item, and that for a token.
        if self._each:
            self._spent_until += self._each
            due = max(due, self._spent_until)
        self._delay_until(item, due)

    def add_after(self, item: Item, delay: int) -> None:
        """Queue an item after a delay in microseconds; one that is due earlier stays so."""
        if delay <= 0:
            self.add(item)
        else:
            self._delay_until(item, self.now + delay)

    def forget(self, item: Item) -> None:
        """Forget how often an item failed."""
        self._failures.pop(item, None)

    def _delay_until(self, item: Item, due: int) -> None:
        waiting = self._due.get(item)
        if waiting is None or due < waiting:
            self._due[item] = due

    def advance(self, now: int) -> None:
        """Advance the queue's time, and queue the items that are due, the earliest first.

        :param now: microseconds, not less than the current time.
        """
        assert now >= self.now, "time does not run backwards"
        self.now = now
        # A full bucket takes no more tokens.
        self._spent_until = max(self._spent_until, now - self._bucket)
        # What is due at the same time stays in its order.
        for item in sorted(self._due, key=self._due.__getitem__):
            if self._due[item] <= now:
                self.fire(item)

    def fire(self, item: Item) -> None:
        """Let the delay of one waiting item be over."""
        del self._due[item]
        self.add(item)

    def fire_all(self) -> None:
        """End all delays, in the order of the items, without advancing the time."""
        for item in self.delayed():
            self.fire(item)

    @property
    def all_delayed(self) -> bool:
        """Whether all that the queue holds waits for a delay."""
        return not self._ready and not self._taken

    def fail_all(self, rounds: int = 1) -> None:
        """End all delays, and let every item fail once more, in order; and that so many times.

        A round is the same as :meth:`fire_all`, and to take each item, add it again and be done
        with it. What is due then depends on the last round alone.
        """
        failures, now, each = self._failures, self.now, self._each
        spent = self._spent_until + each * len(self._due) * (rounds - 1)
        for place, item in enumerate(self._due, 1):
            failures[item] = failures.get(item, 0) + rounds - 1
            due = now + self.delay(item)
            failures[item] += 1
            self._due[item] = max(due, spent + each * place) if each else due
        self._spent_until += each * len(self._due) * rounds

    def take(self) -> Item:
        """Give a worker the first item.

        :raises IndexError: there is none.
        """
        if not self._ready:
            raise IndexError("nothing is queued")
        item = next(iter(self._ready))
        assert item not in self._taken, "an item is with one worker at a time"
        del self._ready[item]
        self._taken[item] = False
        return item

    def done(self, item: Item) -> None:
        """Mark an item as finished; it is queued if it was added again since."""
        assert item not in self._ready, "what a worker has waits until it is done with it"
        if self._taken.pop(item):
            self._ready[item] = None
