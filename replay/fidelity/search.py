"""Search what informers had delivered to a recorded session, the nearest first.

First all informers are moved together, then each alone. What comes out differently in another order
of Go's maps is found before: no delivery explains it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from ...engine.cache.snapshot import Snapshot
from ...engine.session.framework.map_orders import SeededOrders
from .attempts import Aspect, Attempt
from .deliveries import Cut, Deliveries, concerns


class Limits(NamedTuple):
    """How long to search for one session.

    :param together: runs with all informers moved. :param alone: runs for each kind moved alone.
    :param rounds: how often every kind is tried. :param orders: other orders of maps that are run.
    """

    together: int = 32
    alone: int = 8
    rounds: int = 2
    orders: int = 12


QUICK_ORDERS = 3
"""Other orders of maps that show which decisions depend on them."""


class Found(NamedTuple):
    """The run that is nearest to the record.

    :param first: the run on what the clock says was delivered. :param start: its cut.
    :param best: the nearest run. :param cut: what was delivered to it.
    :param by_order: names of pods and PodGroups that another order of maps changes, and whether
        one of these orders gives what was recorded.
    :param runs: how many runs it took.
    """

    first: Attempt
    start: Cut
    best: Attempt
    cut: Cut
    by_order: dict[str, bool]
    runs: int


class Run(Protocol):
    """Runs the session once."""

    def __call__(self, snapshot: Snapshot, orders: SeededOrders | None = None) -> Attempt:
        """Run it on a snapshot, with maps walked in ascending order or in another."""
        ...


class Search:
    """The search for one session.

    :param place: up to which everything was delivered, by the clock.
    """

    def __init__(self, deliveries: Deliveries, place: int, run: Run, limits: Limits) -> None:
        self._deliveries, self._run_once, self._limits = deliveries, run, limits
        self._start = place
        self._runs = 0
        self._by_order: dict[str, bool] = {}

    def nearest(self) -> Found:
        """Return the nearest run."""
        start = Cut(self._start)
        first = self._run(self._deliveries.snapshot(self._start))
        best, cut = first, start
        if first.differing:
            self._note_orders(first, self._deliveries.snapshot(self._start), QUICK_ORDERS)
            best, cut = self._together(first)
            for _ in range(self._limits.rounds):
                before = cut
                best, cut = self._alone(best, cut)
                if cut == before or self._settled(best):
                    break
            if best.differing:
                self._note_orders(best, self._snapshot(cut), self._limits.orders)
        by_order = {name: how for name, how in self._by_order.items() if name in best.names}
        return Found(first, start, best, cut, by_order, self._runs)

    def _run(self, snapshot: Snapshot, orders: SeededOrders | None = None) -> Attempt:
        self._runs += 1
        return self._run_once(snapshot, orders)

    def _settled(self, attempt: Attempt) -> bool:
        """Return whether nothing differs but what depends on the order of maps."""
        return attempt.names <= self._by_order.keys()

    def _is_nearer(self, one: Attempt, other: Attempt) -> bool:
        ignored = self._by_order
        return (one.distance(ignored), one.distance()) < (other.distance(ignored), other.distance())

    def _together(self, first: Attempt) -> tuple[Attempt, Cut]:
        """Move all informers together, to the nearest place first."""
        best, cut = first, Cut(self._start)
        if self._settled(first):
            return best, cut
        for place in self._places(first)[: self._limits.together]:
            attempt = self._run(self._deliveries.snapshot(place))
            if self._is_nearer(attempt, best):
                best, cut = attempt, Cut(place)
            if self._settled(attempt):
                break
        return best, cut

    def _places(self, first: Attempt) -> list[int]:
        """Return the places to try, in order.

        If only PodGroups differ, those just beside changes of them or of their pods come first.
        """
        start = self._start
        places = [place for place in self._deliveries.places() if place != start]
        nearest = sorted(places, key=lambda place: (abs(place - start), place))
        if any(one.aspect in {Aspect.BINDING, Aspect.EVICTION} for one in first.differing):
            return nearest
        beside = {place for place in places if self._is_beside(place, first)}
        return sorted(nearest, key=lambda place: place not in beside)

    def _is_beside(self, place: int, attempt: Attempt) -> bool:
        """Return whether the change that a place adds or withholds concerns what differs."""
        arrivals = self._deliveries.arrivals
        if place > self._start:
            return concerns(arrivals[place - 1], attempt.names)
        following = (one for one in arrivals[place:] if one.tells)
        arrival = next(following, None)
        return arrival is not None and concerns(arrival, attempt.names)

    def _alone(self, best: Attempt, cut: Cut) -> tuple[Attempt, Cut]:
        """Move the informer of one kind after the other, those that concern most first."""
        names = best.names
        for kind in sorted(self._deliveries.kinds(), key=lambda kind: -self._concerned(kind, names)):
            if self._settled(best):
                break
            places = self._own_places(kind, cut, best)
            for moved, snapshot in self._deliveries.along(cut, kind, places):
                attempt = self._run(snapshot)
                if self._is_nearer(attempt, best):
                    best, cut = attempt, moved
                if self._settled(attempt):
                    break
        return best, cut

    def _concerned(self, kind: str, names: frozenset[str]) -> int:
        arrivals = self._deliveries.arrivals
        return sum(one.kind == kind and concerns(one, names) for one in arrivals)

    def _own_places(self, kind: str, cut: Cut, best: Attempt) -> list[int]:
        """Return the nearest places for a kind's informer beside changes that concern something."""
        here = cut.place(kind)
        numbers = [
            number
            for number, one in enumerate(self._deliveries.arrivals)
            if one.kind == kind and concerns(one, best.names)
        ]
        # Before a change that was delivered, or after one that was not.
        places = {number if number < here else number + 1 for number in numbers}
        return sorted(sorted(places, key=lambda one: (abs(one - here), one))[: self._limits.alone])

    def _snapshot(self, cut: Cut) -> Snapshot:
        """Return what a session sees at a cut."""
        if not cut.own:
            return self._deliveries.snapshot(self._deliveries.settled(cut.common))
        kind, place = cut.own[0]
        return next(self._deliveries.along(cut, kind, [place]))[1]

    def _note_orders(self, attempt: Attempt, snapshot: Snapshot, count: int) -> None:
        """Run with other orders of maps, until each difference is the record's in one of them."""
        if not _has_victims(attempt):
            return
        for seed in range(1, count + 1):
            if all(self._by_order.get(name) for name in attempt.names):
                return
            other = self._run(snapshot, SeededOrders(seed))
            for name in attempt.names:
                if name not in other.names:
                    self._by_order[name] = True
                elif _of(other, name) != _of(attempt, name):
                    self._by_order.setdefault(name, False)
            for name in other.names - attempt.names:
                self._by_order.setdefault(name, True)


def _has_victims(attempt: Attempt) -> bool:
    """Return whether victims were chosen: without them the order of maps changes nothing."""
    evicted = any(one.aspect is Aspect.EVICTION for one in attempt.differing)
    return evicted or bool(attempt.result.evictions)


def _of(attempt: Attempt, name: str) -> Sequence[object]:
    return [one for one in attempt.differing if one.name == name]
