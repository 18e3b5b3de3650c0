"""Search what informers had delivered to a recorded session, and in which order maps were walked.

First all informers are moved together: to just before or after changes of what differs, then to
other places, the nearest first. Where that does not explain all, some other orders of Go's maps are
tried at the best places. Then each informer is moved alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from ...engine.cache.snapshot import Snapshot
from ...engine.model.panic import Panic
from ...engine.session.framework.map_orders import SeededOrders
from .attempts import Aspect, Attempt, DifferingResult
from .deliveries import Deliveries, DeliveryCut, concerns
from .one_run import OneRun, RunBound


class SearchLimits(NamedTuple):
    """How long to search for one session.

    :param together: runs with all informers moved together.
    :param alone: runs for each kind whose informer is moved alone. :param rounds: of these.
    :param orders: other orders of maps at the best place; ``quick``: at the best few places.
    :param places: how many are the best few.
    """

    together: int = 24
    alone: int = 6
    rounds: int = 2
    orders: int = 8
    quick: int = 3
    places: int = 3


PROBE_AFTER = 4
"""After so many places in a row that bring nothing, other orders of maps are tried, unless binds
still differ."""

LEADS_AWAY = 2
"""After so many stopped runs in a row on one side of the start, the other side comes first."""

GIVEN_UP = 6
"""After so many stopped runs in a row on one side of the start, the rest of it is left out."""


class RunInputs(NamedTuple):
    """What a run was given.

    :param order: the seed of the orders in which maps are walked; 0 is the ascending order.
    """

    cut: DeliveryCut
    order: int = 0


class NearestRun(NamedTuple):
    """The run that is nearest to the record.

    :param first: the run on what the clock says was delivered. :param start: its place.
    :param best: the nearest run. :param state: what it was given.
    :param by_order: pods and PodGroups that come out otherwise in another order of maps, and
        whether one of these orders gives what was recorded.
    :param runs: how many runs it took.
    """

    first: Attempt
    start: int
    best: Attempt
    state: RunInputs
    by_order: dict[str, bool]
    runs: int


class _Places:
    """Places to try, in order, as far as their side does not lead away from the record.

    :param start: between the two sides: the earlier and the later places.
    """

    def __init__(self, places: Sequence[int], start: int) -> None:
        self._left, self._start = list(places), start
        self._stopped = {False: 0, True: 0}

    def __iter__(self) -> Iterator[int]:
        while self._left:
            yield self._left.pop(0)

    def note(self, place: int, *, stopped: bool) -> None:
        """Note whether the run at a place was stopped, as it led away."""
        later = place > self._start
        self._stopped[later] = self._stopped[later] + 1 if stopped else 0
        if self._stopped[later] == LEADS_AWAY:
            self._left.sort(key=lambda candidate: (candidate > self._start) is later)
        elif self._stopped[later] == GIVEN_UP:
            self._left = [
                candidate for candidate in self._left if (candidate > self._start) is not later
            ]


class SessionSearch:
    """The search for one session.

    :param place: up to which everything was delivered, by the clock.
    """

    def __init__(
        self, deliveries: Deliveries, place: int, run: OneRun, limits: SearchLimits
    ) -> None:
        self._deliveries, self._run_once, self._limits = deliveries, run, limits
        self._start = place
        self._runs = 0
        self._by_order: dict[str, bool] = {}
        self._best: tuple[Attempt, RunInputs] | None = None
        self._done: dict[RunInputs, Attempt] = {}
        self._tried: list[tuple[tuple[int, ...], int, int]] = []

    def nearest(self) -> NearestRun:
        """Return the nearest run."""
        first = self._run(self._deliveries.seen(self._start), RunInputs(DeliveryCut(self._start)))
        assert first is not None, "only a run that has one to beat is stopped"
        if not self._is_settled():
            self._together(first)
        if not self._is_settled():
            self._reorder_best_places(self._limits.places, self._limits.quick)
        for _ in range(self._limits.rounds):
            before = self._state
            if not self._is_settled():
                self._alone()
            if self._state == before:
                break
        # Also where no order is nearer: what varies with the order is explained by it.
        if self._attempt.differing:
            self._reorder(self._seen_at(self._state.cut), self._state.cut, self._limits.orders)
        self._combine()
        return NearestRun(
            first, self._start, self._attempt, self._state, self._by_order, self._runs
        )

    @property
    def _attempt(self) -> Attempt:
        assert self._best is not None, "the first run is the best at first"
        return self._best[0]

    @property
    def _state(self) -> RunInputs:
        assert self._best is not None, "the first run is the best at first"
        return self._best[1]

    def _run(self, seen: Snapshot | Panic, state: RunInputs) -> Attempt | None:
        """Run once, and keep the run if it is the nearest so far; None if it was stopped."""
        attempt = self._done.get(state) or self._run_anew(seen, state)
        if attempt is None:
            return None
        self._done[state] = attempt
        if self._best is None or self._key(attempt) < self._key(self._best[0]):
            self._best = attempt, state
        if not state.cut.own and not state.order:
            place = state.cut.common
            self._tried.append((self._key(attempt)[1], abs(place - self._start), place))
        return attempt

    def _run_anew(self, seen: Snapshot | Panic, state: RunInputs) -> Attempt | None:
        self._runs += 1
        orders = SeededOrders(state.order) if state.order else None
        return self._run_once(seen, orders, self._to_beat())

    def _to_beat(self) -> RunBound | None:
        """Return the run to beat; an equal one is run to its end, as it may show what varies."""
        if self._best is None:
            return None
        pods, binds, *_ = self._attempt.distance(self._by_order)
        return RunBound(pods, binds, self._by_order)

    def _key(self, attempt: Attempt) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return a key to compare runs: what does not depend on the order of maps counts first."""
        return attempt.distance(self._by_order), attempt.distance()

    def _is_settled(self) -> bool:
        """Return whether in the best run nothing differs but what depends on the order of maps."""
        return self._attempt.names <= self._by_order.keys()

    def _together(self, first: Attempt) -> None:
        """Move all informers together, to one place after the other."""
        places, vain, probed = _Places(self._places(first), self._start), 0, False
        for place in islice(places, self._limits.together):
            if vain >= PROBE_AFTER and not probed and not _binds_differ(self._attempt):
                self._reorder_best_places(1, self._limits.orders)
                probed = True
            if self._is_settled():
                return
            before = self._best
            attempt = self._run(self._deliveries.seen(place), RunInputs(DeliveryCut(place)))
            vain = vain + 1 if self._best is before else 0
            places.note(place, stopped=attempt is None)

    def _places(self, first: Attempt) -> list[int]:
        """Return the places to try, the nearest first.

        Those just beside changes of what differs, or of its pods, come before all others, and first
        of all the one before all changes of pods that only the run binds.
        """
        start = self._start
        places = [place for place in self._deliveries.places() if place != start]
        beside = {place for place in places if self._is_beside(place, first)}
        unseen = self._before(
            frozenset(
                differing_result.name
                for differing_result in first.differing
                if differing_result.is_invented
            )
        )

        def key(place: int) -> tuple[bool, bool, int, int]:
            return place != unseen, place not in beside, abs(place - start), place

        return sorted(places, key=key)

    def _before(self, pods: Collection[str]) -> int | None:
        """Return the last place before all changes of pods; None if the start is before them."""
        changes = enumerate(self._deliveries.arrivals)
        first = next(
            (
                at
                for at, arrival in changes
                if arrival.tells and any(name in pods for name in arrival.about)
            ),
            self._start,
        )
        earlier = (place for place in self._deliveries.places() if place <= first)
        return max(earlier, default=None) if first < self._start else None

    def _is_beside(self, place: int, attempt: Attempt) -> bool:
        """Return whether the change that a place adds or withholds concerns what differs."""
        arrivals = self._deliveries.arrivals
        if place > self._start:
            return concerns(arrivals[place - 1], attempt.names)
        arrival = next((change for change in arrivals[place:] if change.tells), None)
        return arrival is not None and concerns(arrival, attempt.names)

    def _reorder_best_places(self, places: int, orders: int) -> None:
        """Try other orders of maps where all informers together came nearest to the record."""
        for _, _, place in sorted(self._tried)[:places]:
            if self._is_settled():
                return
            self._reorder(self._deliveries.seen(place), DeliveryCut(place), orders)

    def _reorder(self, seen: Snapshot | Panic, cut: DeliveryCut, count: int) -> None:
        """Run with other orders of maps, until each difference is as recorded in one of them."""
        before = self._done.get(RunInputs(cut))
        for seed in range(1, count + 1):
            if all(self._by_order.get(name) for name in self._attempt.names):
                return
            reordered = self._run(seen, RunInputs(cut, seed))
            if reordered is not None and before is not None:
                self._note(reordered, before)
            before = reordered or before

    def _note(self, attempt: Attempt, other: Attempt) -> None:
        """Note what differs between two orders, and whether one of them is as recorded."""
        for name in sorted(attempt.names | other.names):
            if name in attempt.names and name in other.names:
                if _of(attempt, name) != _of(other, name):
                    self._by_order.setdefault(name, False)
            # Only one of the two orders gives what was recorded.
            else:
                self._by_order[name] = True

    def _alone(self) -> None:
        """Move the informer of one kind after the other, those that concern most first."""
        names = self._attempt.names
        for kind in sorted(
            self._deliveries.kinds(), key=lambda kind: -self._concerned(kind, names)
        ):
            state = self._state
            places = self._own_places(kind, state.cut, self._attempt)
            for moved, seen in self._deliveries.along(state.cut, kind, places):
                if self._is_settled():
                    return
                self._run(seen, RunInputs(moved, state.order))

    def _combine(self) -> None:
        """Try other orders of maps also at the places next to the best one."""
        here = self._state.cut.common
        places = sorted(self._deliveries.places(), key=lambda place: (abs(place - here), place))
        for place in places[: 2 * self._limits.places]:
            for seed in range(1, self._limits.quick + 1):
                if not self._attempt.differing:
                    return
                self._run(self._deliveries.seen(place), RunInputs(DeliveryCut(place), seed))

    def _concerned(self, kind: str, names: frozenset[str]) -> int:
        arrivals = self._deliveries.arrivals
        return sum(arrival.kind == kind and concerns(arrival, names) for arrival in arrivals)

    def _own_places(self, kind: str, cut: DeliveryCut, best: Attempt) -> list[int]:
        """Return the nearest places for a kind's informer beside changes that concern something."""
        here = cut.place(kind)
        numbers = [
            number
            for number, arrival in enumerate(self._deliveries.arrivals)
            if arrival.kind == kind and concerns(arrival, best.names)
        ]
        # Before a change that was delivered, or after one that was not.
        places = {number if number < here else number + 1 for number in numbers}
        return sorted(
            sorted(places, key=lambda place: (abs(place - here), place))[: self._limits.alone]
        )

    def _seen_at(self, cut: DeliveryCut) -> Snapshot | Panic:
        """Return what a session sees at a cut."""
        if not cut.own:
            return self._deliveries.seen(self._deliveries.settled(cut.common))
        # The other informers are where the cut has them.
        kind, place = cut.own[0]
        return next(self._deliveries.along(cut, kind, [place]))[1]


def _binds_differ(attempt: Attempt) -> bool:
    return any(differing_result.aspect is Aspect.BINDING for differing_result in attempt.differing)


def _of(attempt: Attempt, name: str) -> list[DifferingResult]:
    return [
        differing_result for differing_result in attempt.differing if differing_result.name == name
    ]
