"""Races: how fast orders are tried, how soon a race is found and shrunk, and what a state costs.

The scenario is that of the forgotten PodGroup (a Deployment scaled 1, 0, 1), as
``docs/corpus/b02-podgroup-forgotten.case.json`` has it. All is CPU time of one process, from a
machine that has worked nothing out yet.
"""

from __future__ import annotations

import itertools
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from plinian.engine.machine.delays import DelaySearch
from plinian.engine.machine.shrink import Shrinker
from plinian.engine.machine.state_search import EachStep, Exhaustive, Progress
from plinian.engine.machine.turns import Turns
from plinian.engine.machine.walks import WalkPlan, Walks, WalkStrategy
from plinian.replay.explore.explored_scenario import parse_machine_case, read_machine_case
from plinian.replay.explore.scenario_world import ScenarioWorld, world_of

from .measure import Result, clock

CASE = Path(__file__).parent.parent / "docs" / "corpus" / "b02-podgroup-forgotten.case.json"
BREAKS, HOLDS = "v1.8.2", "v1.9.0"
FORGOTTEN = ("I-01",)
WALKING = 60.0
"""Seconds of walks at scale 1."""

TWO_PODS = b"""{"name": "pods", "mode": "machine", "conf": "", "steps": [{"events": [
{"type": "ADDED", "object": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
 "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}}},
{"type": "ADDED", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
 "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "image": "i"}]}}},
{"type": "ADDED", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"},
 "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "image": "i"}]}}}]}]}"""


def run(folder: Path, *, scale: float) -> list[Result]:  # noqa: ARG001 # nothing is stored
    """Walk, find and shrink, try all orders, and compare a reduced search with all steps."""
    return [*_walking(WALKING * scale), *_finding(), *_all_orders(), _reduced()]


def _case_as(release: str, invariants: tuple[str, ...] = ()) -> ScenarioWorld:
    return world_of(read_machine_case(CASE), release, invariants)


def _for_seconds(seconds: float) -> Callable[[Progress], bool]:
    end = time.process_time() + seconds
    return lambda _: time.process_time() >= end


def _walking(seconds: float) -> list[Result]:
    """Walk in the natural order with delays; the last quarter shows where the speed goes to."""
    world = _case_as(HOLDS)
    walks = Walks(world.machine, world.start, world.check, WalkPlan(WalkStrategy.DELAY, seed=1))
    figures = []
    for part, share in (("from the start", 0.75), ("the last quarter", 0.25)):
        made, walked = walks.made, walks.walked
        with clock() as reading:
            for _ in walks.run(_for_seconds(seconds * share)):
                pass
        figures.append(
            (part, (walks.made - made) / reading.cpu, (walks.walked - walked) / reading.cpu)
        )
    note = f"{walks.made:,} steps, {walks.seen:,} states, {seconds:.0f} s"
    return [
        _result(f"{what} a second, {part}", rate, unit, limit=limit, better="more", note=note)
        for part, steps, interleavings in figures
        for what, rate, unit, limit in (
            ("steps of walks", steps, "steps/s", 200_000.0),
            ("interleavings", interleavings, "walks/s", 5_000.0),
        )
    ]


def _finding() -> list[Result]:
    """Find the narrow form from a cold start, and shrink it."""
    with clock() as finding:
        world = _case_as(BREAKS, FORGOTTEN)
        walks = Walks(world.machine, world.start, world.check, WalkPlan(WalkStrategy.DELAY, seed=1))
        found = next(iter(walks.run(_for_seconds(300))))
    with clock() as shrinking:
        less = Shrinker(world.machine, world.start, world.check).shrink(found)
    return [
        _result("the forgotten PodGroup of v1.8.2 found, cold", finding.cpu, "s", limit=10.0),
        _result(
            "the same, shrunk",
            finding.cpu + shrinking.cpu,
            "s",
            limit=30.0,
            note=f"{len(found.steps)} steps became {len(less.steps)}",
        ),
    ]


def _all_orders() -> list[Result]:
    """Try all orders with one delay in the release that is cured."""
    world = _case_as(HOLDS, FORGOTTEN)
    before = _peak()
    search = DelaySearch(world.machine, world.start, world.check)
    with clock() as reading:
        found = list(search.run(lambda _: False))
    assert search.complete
    states = len(search.reached)
    note = f"{states:,} states, {search.made:,} steps, {len(found)} forgotten PodGroups"
    return [
        _result("all orders of v1.9.0 with one delay", reading.cpu, "s", limit=300.0, note=note),
        _result(
            "memory of that search for each state, with all that was worked out",
            (_peak() - before) / states,
            "bytes",
            limit=300.0,
            note=note,
        ),
    ]


def _reduced() -> Result:
    """Compare turns with single steps, where both can be searched to the end."""
    world = world_of(parse_machine_case(TWO_PODS), BREAKS)
    searches = [
        Exhaustive(space, world.start, world.check)
        for space in (EachStep(world.machine), Turns(world.machine))
    ]
    for search in searches:
        list(itertools.islice(search.run(lambda _: False), 100))
        assert search.complete
    each, turns = (len(search.reached) for search in searches)
    return _result(
        "states of a search by turns, of a search by single steps",
        turns / each,
        "×",
        note=f"two pods created: {each:,} states, {turns:,} by turns",
    )


def _peak() -> int:
    """Return the peak memory of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _result(
    figure: str,
    value: float,
    unit: str,
    *,
    limit: float | None = None,
    better: str = "less",
    note: str = "",
) -> Result:
    return Result(
        benchmark="races",
        figure=figure,
        value=value,
        unit=unit,
        limit=limit,
        better=better,
        note=note,
    )
