"""``plinian explore``: search among the possible orders of a cluster's steps."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import click

from ...engine.kubernetes.counts import counted
from ..questions.defaults import DEFAULT_RELEASE
from ..questions.fields import Field
from . import options
from .answers import write_answer, write_json
from .command import command
from .shell import note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from ...engine.machine.state_search import Progress
    from ..explore.exploration import Exploration, SearchPlan
    from ..explore.explored_scenario import MachineCase
    from ..explore.scenario_world import ScenarioWorld
    from ..explore.story import Story

STRATEGIES = ("exhaustive", "pct", "random", "delay")
MODELS = ("device-list", "device-list-as-compiled")
ALL = "all"
_EVERY_SECONDS = 5.0


class _Files(NamedTuple):
    """Where to write what was found: files, and a branch of a log."""

    out: Path | None
    evidence: Path | None
    pytest: Path | None
    scenario: Path | None
    log: str
    branch: str | None


@command("explore")
def explore(
    case: Annotated[
        Path | None, Field("A scenario file with mode machine: what users write.", "[CASE]")
    ] = None,
    *,
    release: options.Release = DEFAULT_RELEASE,
    steps: Annotated[
        int | None,
        Field(
            "Stop after about so many turns (walks: steps): the same result on every machine.",
            "N",
            least=1,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        Field(
            "Stop the search after this time, by default 60s, or 5m to try every order of a "
            "scenario; trying the other releases comes on top.",
            "DURATION",
        ),
    ] = None,
    strategy: Annotated[
        str, Field("Try every order, or pick orders.", "|".join(STRATEGIES), choices=STRATEGIES)
    ] = "exhaustive",
    seed: Annotated[int, Field("The seed of orders that are picked.", "S", least=0)] = 0,
    jobs: Annotated[
        int,
        Field(
            "Number of processes: for releases, and for walks, each with its seed from --seed on.",
            "J",
            short="j",
            least=1,
        ),
    ] = 1,
    invariants: Annotated[
        tuple[str, ...],
        Field("Only violations of this invariant, as in I-04; repeatable.", "ID", name="invariant"),
    ] = (),
    prompt: Annotated[
        str,
        Field(
            "Components that are never late in an exhaustive search, with commas between.", "NAMES"
        ),
    ] = "none",
    delays: Annotated[
        str,
        Field(
            "Of an exhaustive search: hold at most so many steps up in an order; all tries every "
            "order.",
            f"N|{ALL}",
        ),
    ] = "1",
    faults: Annotated[
        str | None,
        Field(
            "What may fail besides, and how often in a run, as in watch,request=2: watch (a watch "
            "breaks), request (a request fails), restart (a process restarts), resync (an informer "
            "delivers everything again). By default as the scenario says, else nothing.",
            "KINDS",
        ),
    ] = None,
    at: Annotated[
        str | None,
        Field(
            "Begin at this moment of the log instead of with a scenario, with what existed then, "
            "and with what users wrote afterwards.",
            "POINT",
        ),
    ] = None,
    until: Annotated[
        str, Field("With --at: the last moment whose writes of users are taken.", "POINT")
    ] = options.END,
    objects: Annotated[
        tuple[str, ...],
        Field(
            "With --at: only writes of users to this object, and what belongs to it; repeatable.",
            "KIND/NAME",
            name="object",
        ),
    ] = (),
    windows: Annotated[
        bool,
        Field(
            "Search no orders: say how long after the write before it each write of a user ends "
            "badly, if nothing else is late."
        ),
    ] = False,
    replay: Annotated[
        str | None,
        Field("Run the order of a token again; as another release with --release.", "TOKEN"),
    ] = None,
    out: Annotated[
        Path | None,
        Field("The folder for files about each anomaly: token, report, test, scenario.", "DIR"),
    ] = None,
    evidence: Annotated[
        Path | None, Field("Write a report of the first anomaly, Markdown.", "FILE")
    ] = None,
    pytest: Annotated[
        Path | None, Field("Write a test that runs the first anomaly again.", "FILE")
    ] = None,
    scenario: Annotated[
        Path | None,
        Field(
            "Write the scenario of the first anomaly, without writes that it does not need.", "FILE"
        ),
    ] = None,
    branch: Annotated[
        str | None,
        Field(
            "Write the first anomaly, or the run of --replay, to the log as this new branch.",
            "NAME",
        ),
    ] = None,
    log: options.LogPlace = options.DEFAULT_LOG,
    model: Annotated[
        str | None,
        Field(
            "Explore a part of the scheduler's memory instead of a scenario, as --release says; "
            "all is every release. As compiled: only the order of words that Go's compiler chose.",
            "|".join(MODELS),
            choices=MODELS,
        ),
    ] = None,
    assume: options.Assume = False,
    output: options.TextWideOrJson = "text",
) -> None:
    """Search for an order of a cluster's steps that ends badly.

    A scenario says what users write, and in which order. Everything else can happen in any order:
    informers deliver, workers take items, sessions run, pods start and end. An order that ends in
    the violation of an invariant is an anomaly: it is shrunk to what matters, tried as every
    release, and printed with a token that runs it again anywhere.

    Ctrl-C prints what was found so far.
    """
    from ..budget import budget_seconds
    from ..explore.exploration import SearchPlan
    from ..explore.explore_task import asked_invariants, default_budget, prepared
    from ..explore.written_branch import check_branch
    from ..questions.question import taken

    held_up = _number_of(delays)
    seconds = budget_seconds(budget or default_budget(strategy, of_log=at is not None))
    if model is not None and release == ALL:
        name = ALL
    else:
        name = taken(release, note, assume=assume, pre_releases=True)
    files = _Files(out, evidence, pytest, scenario, log, branch)
    # Before the search: a name that cannot be used must not cost minutes.
    if branch is not None:
        check_branch(log, branch)
    if _other((case, at), replay, model, name, output, files, windows=windows):
        return
    ids = asked_invariants(invariants)
    recorded = None if at is None else _Recorded(log, at, until, objects)
    read = _read(case, recorded, name, assume=assume)
    plan = SearchPlan(name, strategy, seed, (), ids, steps, jobs, held_up)
    world, plan = prepared(read, plan, prompt, faults)
    if windows:
        _write_windows(world, output)
        return
    result = _searched(world, plan, seconds)
    if recorded is not None:
        result = recorded.compared(result)
    _write(world, result, output)
    _write_files(world, result, files)


def _number_of(delays: str) -> int | None:
    """Return how many steps are held up in an order, at most; None is all.

    :raises UsageError: it is no number.
    """
    from ...engine.errors import UsageError

    if delays == ALL:
        return None
    if not (delays.isascii() and delays.isdigit() and len(delays) < 4):
        raise UsageError(f"{delays!r} is no number of delays", now=f"write a number, or {ALL}")
    return int(delays)


class _Recorded(NamedTuple):
    """Which part of a log to begin with."""

    log: str
    at: str
    until: str
    objects: tuple[str, ...]

    def case(self, release: str) -> MachineCase:
        """Return a scenario of it; what had to be assumed is noted."""
        from ..explore.recorded_orders import case_at
        from .open_log import opened

        with opened(self.log, read_only=True) as log:
            recorded = case_at(log, self.at, release, until=self.until, objects=self.objects)
        for text in recorded.assumed:
            note(f"assumed: {text}")
        return recorded.case

    def compared(self, result: Exploration) -> Exploration:
        """Return a result that says what of it the end of the log shows."""
        from ..explore.in_log import compared_with_log
        from ..logs.log import opened

        release = result.plan.release
        with opened(self.log, read_only=True) as log:
            told = compared_with_log(log, self.at, release, result.anomalies)
        return replace(result, anomalies=told)


def _read(
    path: Path | None, recorded: _Recorded | None, release: str, *, assume: bool
) -> MachineCase:
    """Read a scenario, whose configuration the release must take."""
    from ..explore.explored_scenario import lacking, read_machine_case
    from ..logs.logged_confs import ConfText
    from ..sessions.assumed import accepted_conf

    if recorded is not None:
        name, read = recorded.log, recorded.case(release)
    else:
        assert path is not None
        name, read = str(path), read_machine_case(path)
    for text in lacking(read):
        note(f"warning: {name} has {text}")
    if read.conf:
        accepted_conf(ConfText(read.conf, name), [release], assume=assume, remark=note)
    return read


def _other(
    begin: tuple[Path | None, str | None],
    replay: str | None,
    model: str | None,
    release: str,
    output: str,
    files: _Files,
    *,
    windows: bool,
) -> bool:
    """Do what needs no search in a scenario, if that is wanted."""
    from ...engine.errors import UsageError

    case, at = begin
    ways = (("CASE", case), ("--at", at), ("--replay", replay), ("--model", model))
    given = [name for name, value in ways if value is not None]
    if len(given) != 1:
        raise UsageError(
            f"{' and '.join(given)} are different things to explore" if given else "no scenario",
            now="name one scenario; or give a moment of a log after --at, a token after --replay, "
            "or a model after --model",
        )
    if windows and case is None and at is None:
        raise UsageError(
            f"--windows needs writes of a user, and {given[0]} has none to put off",
            now="name a scenario, or a moment of a log after --at",
        )
    if replay is not None:
        # A token has its release; only an option that was written replaces it.
        _replay(replay, release if _is_named("release") else None, output, files)
    if model is not None:
        _device_list(model, release, output)
    return replay is not None or model is not None


def _searched(world: ScenarioWorld, plan: SearchPlan, seconds: float) -> Exploration:
    from ...engine.machine.natural import StateViolation
    from ..explore.explore_task import SearchWatcher, explore_world
    from ..render.progress import counting
    from ..render.race import limits_line

    if plan.strategy == "exhaustive":
        note(limits_line(plan, world.case.faults))
    pace = _Pace(plan)

    def found(violation: StateViolation) -> None:
        note(f"found {violation.invariant}: {violation.sentence}")

    def searching(processes: int, passed: float) -> None:
        note(f"{passed:.0f} s: {processes} processes search, each with its own seed")

    with counting("releases", visible=shows_progress()) as releases:
        result = explore_world(
            world, plan, seconds, SearchWatcher(pace, found, releases, searching)
        )
    pace.end()
    return result


class _Pace:
    """Notes now and then how far a search is, and how fast."""

    def __init__(self, plan: SearchPlan) -> None:
        self._plan = plan
        self._noted = 0.0
        self._last: tuple[Progress, float] | None = None

    def __call__(self, now: Progress, passed: float) -> None:
        self._last = now, passed
        if passed - self._noted >= _EVERY_SECONDS:
            self.end()

    def end(self) -> None:
        """Note how far the search came."""
        from ..render.race import progress_line

        # The end of a search is noted only if no note said so already.
        if self._last is not None and self._last[1] > self._noted:
            self._noted = self._last[1]
            note(progress_line(self._plan, *self._last))


def _write(world: ScenarioWorld, result: Exploration, output: str) -> None:
    from ..explore.story import story_of
    from ..render.race import anomaly_lines, summary_lines

    if output == "json":
        write_json(result.document, indent=2)
        return
    for anomaly in result.anomalies:
        write_lines(anomaly_lines(anomaly, story_of(world, anomaly.steps), style()))
        sys.stdout.write("\n")
    write_lines(summary_lines(result, style()))


def _write_windows(world: ScenarioWorld, output: str) -> None:
    from ..explore.window_words import windows_in
    from ..render.race import windows_document, windows_lines

    writes = windows_in(world)
    lines = windows_lines(world, writes, style())
    write_answer(windows_document(world, writes), lines, output, indent=2)


def _write_files(world: ScenarioWorld, result: Exploration, files: _Files) -> None:
    from ..explore.story import story_of
    from ..render.race_files import files_of

    wanted = {"md": files.evidence, "py": files.pytest, "case.json": files.scenario}
    if not result.anomalies:
        branch = files.branch and f"branch {files.branch}"
        for path in filter(None, (*wanted.values(), files.out, branch)):
            note(f"nothing was found, so {path} is not written")
        return
    if files.branch is not None:
        _write_branch(world, story_of(world, result.anomalies[0].steps), files)
    for kind, text in files_of(world, result, result.anomalies[0]).items():
        if (place := wanted.get(kind)) is not None:
            place.write_text(text, "utf-8")
    if files.out is None:
        return
    files.out.mkdir(parents=True, exist_ok=True)
    for number, anomaly in enumerate(result.anomalies, start=1):
        for kind, text in files_of(world, result, anomaly).items():
            prefix = "test_" if kind == "py" else ""
            name = f"{prefix}{anomaly.violation.invariant}-{number}.{kind}"
            (files.out / name).write_text(text, "utf-8")


def _is_named(option: str) -> bool:
    """Say whether an option stands on the command line, and is not its default."""
    source = click.get_current_context().get_parameter_source(option)
    return source is not click.core.ParameterSource.DEFAULT


def _replay(token: str, release: str | None, output: str, files: _Files) -> None:
    from ..explore.replaying import replay
    from ..render.race import replay_lines

    again = replay(token, release)
    _write_branch(again.world, again.story, files)
    write_answer(again.document, replay_lines(again, style()), output, indent=2)


def _write_branch(world: ScenarioWorld, story: Story, files: _Files) -> None:
    if files.branch is None:
        return
    from ..explore.written_branch import write_branch

    written = write_branch(files.log, files.branch, world, story)
    events = counted(written.events, "event")
    note(f"branch {written.branch.name} of {files.log} has {events} of this run")


def _device_list(model: str, release: str, output: str) -> None:
    from ...engine.machine.device_race import Race, explore_device_list
    from ...engine.volcano.releases import RELEASES
    from ...engine.volcano.table import cache_behaviours
    from ..render.device_list import explored_document, explored_lines, releases_table
    from ..render.tables import lines_of

    race = Race(as_compiled=model != MODELS[0])
    every = [str(known) for known in RELEASES if not known.ours]
    names = every if release == ALL else [release]
    explored = [explore_device_list(cache_behaviours(name), race) for name in names]
    documents = [explored_document(result) for result in explored]
    if release == ALL:
        lines = lines_of(releases_table(explored), style=style())
        write_answer(documents, lines, output, indent=2)
    else:
        write_answer(documents[0], explored_lines(explored[0], style()), output, indent=2)
