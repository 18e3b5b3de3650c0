"""Explore a scenario within a budget: search, shrink, and try every release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

from ...engine.errors import UsageError
from ...engine.machine.checks import checked_ids
from ...engine.machine.natural import StateViolation
from ...engine.machine.state_search import Progress
from ..invariants.check_task import chosen_invariants
from ..parallel import run_all
from .anomaly_releases import in_all_releases
from .exploration import EXHAUSTIVE, Anomaly, Exploration, SearchPlan
from .explore_search import Notice, Search, parsed_prompt
from .explored_scenario import MachineCase, parsed_faults
from .scenario_world import ScenarioWorld, world_of
from .step_coverage import bound_together, together

OWN = ("I-05", "I-19")
"""Invariants that only a search checks: no process panics, and a cluster comes to rest."""


class SearchWatcher(NamedTuple):
    """What is called while a search runs.

    :param progress: with states, turns and seconds. :param notice: with each anomaly.
    :param releases: with (releases tried, all releases).
    :param searching: with (processes, seconds) now and then, while several processes search.
    """

    progress: Callable[[Progress, float], None] | None = None
    notice: Notice | None = None
    releases: Callable[[int, int], None] | None = None
    searching: Callable[[int, float], None] | None = None


QUIET = SearchWatcher()


class _Walk(NamedTuple):
    case: MachineCase
    plan: SearchPlan
    seconds: float


BUDGET, BUDGET_OF_ALL = "60s", "5m"
"""How long to search if nothing else is asked; and to try every order of a scenario."""


def default_budget(strategy: str, *, of_log: bool) -> str:
    """Return how long to search by default.

    :param of_log: from a moment of a log: its cluster is seldom so small that a search ends.
    """
    return BUDGET_OF_ALL if strategy == EXHAUSTIVE and not of_log else BUDGET


def asked_invariants(names: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of invariants that a search can check.

    :raises UsageError: there is no such invariant, or no state of a machine shows it.
    """
    known = checked_ids()
    ids = []
    for name in names:
        given = name.upper() if name.upper() in OWN else chosen_invariants([name])[0].id
        if given not in known:
            raise UsageError(
                f"a search does not check {given}: the state in which a cluster comes to rest "
                "does not show it",
                now=f"it checks {', '.join(known)}",
            )
        ids.append(given)
    return tuple(dict.fromkeys(ids))


def prepared(
    case: MachineCase, plan: SearchPlan, prompt: str, faults: str | None = None
) -> tuple[ScenarioWorld, SearchPlan]:
    """Return the machine of a scenario, and a plan with the components that are never late.

    :param prompt: their names with commas, or ``none``.
    :param faults: how often what may fail, as in ``watch,request=2``; None is as the scenario says.
    :raises UsageError: the release or a component is not known.
    :raises InputError: ``faults`` says nothing that can fail.
    """
    if faults is not None:
        case = case._replace(faults=parsed_faults(faults))
    world = world_of(case, plan.release, plan.invariants)
    given = parsed_prompt(prompt, world) if plan.strategy == EXHAUSTIVE else ()
    has = tuple(name for name in given if name in world.machine.layout.names)
    return world, plan._replace(release=world.release, prompt=has)


def explore_world(
    world: ScenarioWorld, plan: SearchPlan, seconds: float, watcher: SearchWatcher = QUIET
) -> Exploration:
    """Search, and try each order that was found as every release.

    What was found is returned also if an interrupt ends the search.
    """
    if plan.jobs > 1 and plan.strategy != EXHAUSTIVE:
        return _in_parallel(world.case, plan, seconds, watcher)
    search = Search(world, plan)
    search.run(_until(seconds, watcher), watcher.notice)
    anomalies = search.anomalies
    if not search.interrupted:
        anomalies, search.interrupted = _in_releases(
            world.case, world.release, anomalies, plan.jobs, watcher
        )
    return search.result(anomalies)


def _in_releases(
    case: MachineCase, release: str, anomalies: list[Anomaly], jobs: int, watcher: SearchWatcher
) -> tuple[list[Anomaly], bool]:
    """Return anomalies as all releases have them, and whether an interrupt ended that.

    Then they are returned as they were found.
    """
    try:
        tried = in_all_releases(case, release, anomalies, jobs=jobs, progress=watcher.releases)
    except KeyboardInterrupt:
        return anomalies, True
    return tried, False


def _until(seconds: float, watcher: SearchWatcher) -> Callable[[Progress], bool]:
    begin = monotonic()

    def until(now: Progress) -> bool:
        passed = monotonic() - begin
        if watcher.progress is not None:
            watcher.progress(now, passed)
        return passed >= seconds

    return until


def _in_parallel(
    case: MachineCase, plan: SearchPlan, seconds: float, watcher: SearchWatcher
) -> Exploration:
    """Search with one seed after the other in several processes, and put the results together."""
    walks = [
        _Walk(case, plan._replace(jobs=1, seed=plan.seed + at), seconds) for at in range(plan.jobs)
    ]
    results: list[Exploration] = []
    interrupted = False
    begin = monotonic()

    def waiting() -> None:
        if watcher.searching is not None:
            watcher.searching(plan.jobs, monotonic() - begin)

    try:
        for exploration in run_all(_walked, walks, jobs=plan.jobs, waiting=waiting):
            results.append(exploration)
            if watcher.notice is not None:
                for each in exploration.anomalies:
                    watcher.notice(each.violation)
    except KeyboardInterrupt:
        interrupted = True
    anomalies: dict[StateViolation, Anomaly] = {}
    for result in results:
        for each in result.anomalies:
            anomalies.setdefault(each.violation, each)
    merged = list(anomalies.values())
    if not interrupted:
        merged, interrupted = _in_releases(case, plan.release, merged, plan.jobs, watcher)
    return Exploration(
        case=case,
        plan=plan,
        anomalies=tuple(merged),
        states=sum(result.states for result in results),
        turns=sum(result.turns for result in results),
        ends=sum(result.ends for result in results),
        complete=False,
        interrupted=interrupted,
        coverage=together(result.coverage for result in results),
        bound=bound_together(result.bound for result in results),
        more=sum(result.more for result in results),
    )


def _walked(walk: _Walk) -> Exploration:
    world = world_of(walk.case, walk.plan.release, walk.plan.invariants)
    search = Search(world, walk.plan)
    search.run(_until(walk.seconds, QUIET))
    return search.result(search.anomalies)
