"""Races from Python: search in a scenario, and run the order of a token again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from ...engine.log import BranchInfo
from ...engine.machine.delays import ONE_DELAY
from ...engine.machine.device_race import Explored, Race, explore_device_list
from ...engine.volcano.table import cache_behaviours
from ..budget import budget_seconds
from ..explore import replaying
from ..explore.exploration import EXHAUSTIVE, Anomaly, Exploration, SearchPlan
from ..explore.explore_task import (
    QUIET,
    SearchWatcher,
    asked_invariants,
    default_budget,
    explore_world,
    prepared,
)
from ..explore.explored_scenario import MachineCase, parse_machine_case, read_machine_case
from ..explore.hand_walk import Walk
from ..explore.in_log import compared_with_log
from ..explore.order_token import decoded, is_token
from ..explore.recorded_orders import case_at
from ..explore.replaying import Replay
from ..explore.scenario_world import world_of
from ..explore.window_words import ToldWrite, windows_in
from ..explore.written_branch import write_branch
from ..logs.log import Log, opened
from ..questions.defaults import DEFAULT_RELEASE
from ..questions.fields import Names, several
from ..render.race_files import files_of
from .cases import Document
from .options import FilePath, release_of


def explore(
    case: FilePath | Document,
    *,
    release: str = DEFAULT_RELEASE,
    steps: int | None = None,
    budget: str | None = None,
    strategy: str = EXHAUSTIVE,
    seed: int = 0,
    jobs: int = 1,
    invariants: Names = (),
    prompt: str = "none",
    delays: int | None = ONE_DELAY.delays,
    faults: str | None = None,
    assume: bool = False,
    progress: Callable[[int, int], None] | None = None,
    watcher: SearchWatcher = QUIET,
) -> Exploration:
    """Search for orders of a cluster's steps that end badly, and try them as every release.

    :param case: a scenario file with ``"mode": "machine"``, or the content of one.
    :param steps: stop after about so many turns; then the result is the same on every machine.
    :param budget: stop the search after this time; by default after 60 s, or 5 minutes to try every
        order of a scenario.
    :param strategy: ``exhaustive``, or ``pct``, ``random``, ``delay``, which pick orders.
    :param seed: of what is picked. :param jobs: processes. With more than one, guard the program's
        start with ``if __name__ == "__main__":``.
    :param invariants: only violations of these, as in ``I-04``.
    :param prompt: components that are never late, with commas between, or ``none``.
    :param delays: of an exhaustive search: so many steps are held up in an order, at most; None is
        every order.
    :param faults: what may fail besides, and how often in a run, as in ``watch,request=2``; by
        default as the scenario says. See :mod:`plinian.engine.machine.machine_faults`.
    :param assume: use the nearest release for an unknown one.
    :param progress: called with (releases tried, all releases).
    :param watcher: what else is called while it runs.
    :raises InputError: there is no such file, or it is no scenario of a machine.
    :raises UsageError: a release, a component, an invariant or the strategy is not known.
    """
    seconds = budget_seconds(budget or default_budget(strategy, of_log=False))
    ids = asked_invariants(several(invariants))
    name = release_of(release, assume=assume, pre_releases=True)
    plan = SearchPlan(name, strategy, seed, (), ids, steps, jobs, delays)
    world, plan = prepared(_read(case), plan, prompt, faults)
    watcher = watcher._replace(releases=progress or watcher.releases)
    return explore_world(world, plan, seconds, watcher)


def explore_log(
    log: FilePath,
    at: str,
    *,
    until: str = "end",
    objects: Names = (),
    release: str = DEFAULT_RELEASE,
    steps: int | None = None,
    budget: str | None = None,
    strategy: str = EXHAUSTIVE,
    seed: int = 0,
    jobs: int = 1,
    invariants: Names = (),
    prompt: str = "none",
    delays: int | None = ONE_DELAY.delays,
    faults: str | None = None,
    assume: bool = False,
) -> Exploration:
    """Search from a moment of a log: what existed then, and what users wrote afterwards.

    ``result.case.about`` says what had to be assumed. Anomalies that the end of the log shows come
    first, with ``in_log``. The other parameters are those of :func:`explore`.

    :param log: its path or URL. :param at: the moment, as for ``--at`` of the command line.
    :param until: the last moment whose writes of users are taken.
    :param objects: as in ``deployment/web``: only these, and what belongs to them.
    :raises UsageError: users wrote nothing then, or there is no such point or object.
    """
    with opened(str(log), read_only=True) as recorded:
        return explore_in(
            recorded,
            at,
            until=until,
            objects=objects,
            release=release,
            steps=steps,
            budget=budget,
            strategy=strategy,
            seed=seed,
            jobs=jobs,
            invariants=invariants,
            prompt=prompt,
            delays=delays,
            faults=faults,
            assume=assume,
        )


def explore_in(
    recorded: Log,
    at: str,
    *,
    until: str = "end",
    objects: Names = (),
    release: str = DEFAULT_RELEASE,
    budget: str | None = None,
    strategy: str = EXHAUSTIVE,
    assume: bool = False,
    **options: Any,
) -> Exploration:
    """Search from a moment of an open log; parameters and errors are those of :func:`explore_log`.

    :param options: the other ones of :func:`explore`.
    """
    name = release_of(release, assume=assume, pre_releases=True)
    case = case_at(recorded, at, name, until=until, objects=several(objects)).case
    result = explore(
        # As JSON, the form in which a scenario from Python is checked, too.
        msgspec.json.decode(msgspec.json.encode(case.document())),
        release=release,
        budget=budget or default_budget(strategy, of_log=True),
        strategy=strategy,
        assume=assume,
        **options,
    )
    told = compared_with_log(recorded, at, result.plan.release, result.anomalies)
    return replace(result, anomalies=told)


def windows(
    case: FilePath | Document, *, release: str = DEFAULT_RELEASE, invariants: Names = ()
) -> tuple[ToldWrite, ...]:
    """Return how long after the write before it each write of a user ends badly.

    Nothing else is late. Times are in microseconds; 0 is when all has been done that follows from
    the write before and needs no time.

    :param case: a scenario file with ``"mode": "machine"``, or the content of one.
    :param invariants: only violations of these, as in ``I-04``.
    :raises InputError: there is no such file, or it is no scenario of a machine.
    :raises UsageError: the release or an invariant is not known.
    """
    return windows_in(world_of(_read(case), release, asked_invariants(several(invariants))))


def replay_token(token: str, *, release: str | None = None) -> Replay:
    """Run the order of a token again, and return what it comes to.

    :param release: another one than the token's: steps that it cannot make are skipped.
    :raises UsageError: the text is no token that this Plinian reads, or the release is not known.
    :raises PlinianError: the run ends otherwise than when the token was made.
    """
    return replaying.replay(token, release)


def write_run(token: str, log: FilePath, branch: str) -> BranchInfo:
    """Write the run of a token to a log, as a new branch that other commands read.

    :param log: its path or URL; it is created if there is none.
    :raises UsageError: there is such a branch, or the text is no token that this Plinian reads.
    """
    again = replaying.replay(token)
    return write_branch(str(log), branch, again.world, again.story).branch


def anomaly_files(result: Exploration, anomaly: Anomaly) -> dict[str, str]:
    """Return the texts of files about an anomaly, by their suffix.

    ``token``; ``md``, a report; ``py``, a test for pytest; ``case.json``, the scenario.
    """
    return files_of(world_of(result.case, result.plan.release), result, anomaly)


def step(run: FilePath | Document, *, release: str | None = None) -> Walk:
    """Return a run of a scenario or a token, to be made by hand, forward and back.

    :raises InputError: there is no such file, or it is no scenario of a machine.
    :raises UsageError: the release or the token is not known.
    """
    if isinstance(run, str) and is_token(run):
        token = decoded(run)
        return Walk(world_of(token.case, release or token.release), token.steps)
    return Walk(world_of(_read(run), release or DEFAULT_RELEASE))


def explore_device_model(*, release: str = DEFAULT_RELEASE, as_compiled: bool = False) -> Explored:
    """Search every order in which the scheduler's list of ignored devices is written and read.

    :param as_compiled: only the order of words that Go's compiler chose.
    :raises UsageError: the release is not known.
    """
    return explore_device_list(cache_behaviours(release), Race(as_compiled=as_compiled))


def _read(case: FilePath | Document) -> MachineCase:
    if isinstance(case, str | PathLike):
        return read_machine_case(Path(case))
    return parse_machine_case(msgspec.json.encode(case))
