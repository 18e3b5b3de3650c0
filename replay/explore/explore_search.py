"""A search in a scenario: which orders of its steps end in something wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from ...engine.errors import UsageError
from ...engine.machine.cluster_machine import WORKLOAD_CONTROLLERS
from ...engine.machine.delays import DelayLimits, DelaySearch
from ...engine.machine.natural import StateViolation
from ...engine.machine.shrink import Shrinker
from ...engine.machine.state_search import Exhaustive, FaultyState, Progress
from ...engine.machine.turns import Turns
from ...engine.machine.walks import WalkBound, WalkPlan, Walks, WalkStrategy
from .exploration import (
    EXHAUSTIVE,
    Anomaly,
    Exploration,
    SearchPlan,
    Verdicts,
)
from .order_token import Token, encoded
from .scenario_world import ScenarioWorld, digest_of, run_steps, steps_of
from .step_coverage import coverage_of

WALKS_FIRST = 1_000
"""So many walks come before an exhaustive search: they find most races in seconds."""

MOST_ANOMALIES = 10
"""So many distinct anomalies of a search are shrunk and reported; more are counted."""


Until = Callable[[Progress], bool]
Notice = Callable[[StateViolation], None]


class _Searching(Protocol):
    """A search that can be asked how far it is."""

    def run(self, until: Until) -> Iterator[FaultyState]:
        """Yield what is found."""

    def amounts(self) -> tuple[int, int, int]:
        """Return distinct states, steps or turns made, and ends that were checked."""

    @property
    def complete(self) -> bool:
        """Whether every order within the search's limits was seen."""

    @property
    def steps_made(self) -> set[int]:
        """The numbers of the distinct steps that were made."""

    @property
    def bound(self) -> WalkBound | None:
        """What walks promise, if they do."""


class _FewDelays(DelaySearch):
    """An exhaustive search of the orders that hold few steps up."""

    bound = None

    def amounts(self) -> tuple[int, int, int]:
        """Return distinct states, steps made, and ends that were checked."""
        return len(self.reached), self.made, self.ended


class _AllOrders(Exhaustive):
    """An exhaustive search by turns."""

    bound = None

    def amounts(self) -> tuple[int, int, int]:
        """Return distinct states, turns made, and ends that were checked."""
        return len(self.reached), self.made, self.ended


class _PickedOrders(Walks):
    """Walks; they see no end of what they could pick."""

    complete = False

    def amounts(self) -> tuple[int, int, int]:
        """Return distinct states, steps made, and walks."""
        return self.seen, self.made, self.walked


def _searching(world: ScenarioWorld, plan: SearchPlan) -> _Searching:
    if plan.strategy == EXHAUSTIVE:
        prompt = prompt_in(world, plan.prompt)
        if plan.delays is None:
            return _AllOrders(Turns(world.machine, prompt), world.start, world.check)
        limits = DelayLimits(delays=plan.delays)
        return _FewDelays(world.machine, world.start, world.check, limits, prompt)
    how = WalkPlan(WalkStrategy(plan.strategy), plan.seed)
    return _PickedOrders(world.machine, world.start, world.check, how)


def _walks_first(world: ScenarioWorld, plan: SearchPlan) -> _PickedOrders | None:
    """Return the walks before an exhaustive search, if it allows delays."""
    if plan.strategy != EXHAUSTIVE or plan.delays == 0:
        return None
    prompt = frozenset(prompt_in(world, plan.prompt))
    how = WalkPlan(WalkStrategy.DELAY, plan.seed, prompt=prompt)
    return _PickedOrders(world.machine, world.start, world.check, how)


def _length(anomaly: Anomaly) -> int:
    return len(anomaly.steps)


class Search:
    """One search, which can be stopped at any time; what was found until then stays.

    :ivar anomalies: what was found, without the releases. :ivar interrupted: an interrupt ended it.
    """

    def __init__(self, world: ScenarioWorld, plan: SearchPlan) -> None:
        self._world = world
        self._plan = plan
        self._shrinker = Shrinker(world.machine, world.start, world.check)
        self._walks = _walks_first(world, plan)
        self._searching = _searching(world, plan)
        self.anomalies: list[Anomaly] = []
        self.interrupted = False
        self._more = 0

    def run(self, until: Until, notice: Notice | None = None) -> None:
        """Search until there is nothing left, or ``until`` says so, or an interrupt comes.

        :param notice: called with each anomaly as it is found.
        """
        limit = self._plan.steps

        def enough(now: Progress) -> bool:
            return until(now) or (limit is not None and now.steps >= limit)

        try:
            if self._walks is not None:
                walks = self._walks
                self._take_all(
                    walks.run(lambda now: walks.walked >= WALKS_FIRST or enough(now)), notice
                )
            self._take_all(self._searching.run(enough), notice)
        except KeyboardInterrupt:
            self.interrupted = True

    def _take_all(self, all_found: Iterator[FaultyState], notice: Notice | None) -> None:
        for faulty_state in all_found:
            if self._is_asked(faulty_state):
                self._take(faulty_state, notice)

    def _is_asked(self, faulty_state: FaultyState) -> bool:
        asked = self._plan.invariants
        return not asked or faulty_state.violation.invariant in asked

    def _take(self, faulty_state: FaultyState, notice: Notice | None) -> None:
        """Note what was found; of the same violation the shorter order."""
        for at, known in enumerate(self.anomalies):
            if known.violation == faulty_state.violation:
                self.anomalies[at] = min(known, self._anomaly(faulty_state), key=_length)
                return
        # To shrink an order is to run it many times, so what is beyond these is only counted.
        if len(self.anomalies) >= MOST_ANOMALIES:
            self._more += 1
            return
        self.anomalies.append(self._anomaly(faulty_state))
        if notice is not None:
            notice(self.anomalies[-1].violation)

    def result(self, anomalies: Sequence[Anomaly]) -> Exploration:
        """Return how far the search is, with these anomalies."""
        states, turns, ends = self._searching.amounts()
        return Exploration(
            case=self._world.case,
            plan=self._plan,
            anomalies=tuple(anomalies),
            states=states,
            turns=turns,
            ends=ends,
            complete=self._searching.complete,
            interrupted=self.interrupted,
            coverage=coverage_of(self._world, self._steps_made()),
            bound=self._searching.bound,
            more=self._more,
        )

    def _steps_made(self) -> set[int]:
        step_numbers = self._searching.steps_made
        return step_numbers if self._walks is None else step_numbers | self._walks.steps_made

    def _anomaly(self, faulty_state: FaultyState) -> Anomaly:
        world = self._world
        shrunk = self._shrinker.shrink(faulty_state)
        steps = steps_of(world, shrunk.steps)
        ran = run_steps(world, steps)
        digest = digest_of(world, ran.rest)
        # The shorter order may break the same invariant for another object: its sentence counts.
        violation = next(
            (
                violation
                for violation in ran.violations
                if violation.invariant == faulty_state.violation.invariant
            ),
            faulty_state.violation,
        )
        token = Token(world.case, world.release, steps, violation.invariant, digest)
        seed = None if self._plan.strategy == EXHAUSTIVE else self._plan.seed
        return Anomaly(
            violation=violation,
            steps=steps,
            found_in=len(faulty_state.steps),
            digest=digest,
            token=encoded(token),
            seed=seed,
            releases=Verdicts((world.release,), (), complete=False),
        )


def prompt_in(world: ScenarioWorld, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of some components that a machine has."""
    return tuple(name for name in names if name in world.machine.layout.names)


def parsed_prompt(text: str, world: ScenarioWorld) -> tuple[str, ...]:
    """Return the components that are never late, of a list with commas, or ``none``.

    :raises UsageError: there is no such component.
    """
    names = tuple(filter(None, (word.strip() for word in text.split(","))))
    if names == ("none",):
        return ()
    known = world.machine.layout.names
    for name in names:
        if name not in {*known, *WORKLOAD_CONTROLLERS}:
            raise UsageError(
                f"--prompt: no component {name!r}",
                now=f"the scenario has {', '.join(known)}; write none to let all of them lag",
            )
    return names
