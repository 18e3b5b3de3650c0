"""``plinian explore``: search among the possible orders of a cluster's steps."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from ...engine.kubernetes.counts import counted
from . import options
from .assumption import check_confs, chosen
from .command import command
from .shell import note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...engine.machine.state_search import Progress
    from ..explore.exploration import Exploration, SearchPlan
    from ..explore.explored_scenario import MachineCase
    from ..explore.scenario_world import ScenarioWorld
    from ..explore.story import Story

STRATEGIES = ("exhaustive", "pct", "random", "delay")
DELAYS = 1
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


def _one_of(*known: str) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    def check(_ctx: click.Context, option: click.Parameter, value: str | None) -> str | None:
        if value is not None and value not in known:
            raise click.BadParameter(f"no {option.name} {value!r}; choose {', '.join(known)}")
        return value

    return check


def _delays(_ctx: click.Context, _option: click.Parameter, value: str) -> int | None:
    if value == ALL:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 4):
        raise click.BadParameter(f"{value!r} is no number of delays; write a number, or {ALL}")
    return int(value)


_FILE = click.Path(path_type=Path)


@command("explore")
@click.argument(
    "case",
    required=False,
    type=_FILE,
    metavar="[CASE]",
    help="A scenario file with mode machine: what users write.",
)
@options.release
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after about so many turns (walks: steps): the same result on every machine.",
)
@click.option(
    "--budget",
    metavar="DURATION",
    help="Stop the search after this time, by default 60s, or 5m to try every order of a scenario; "
    "trying the other releases comes on top.",
)
@click.option(
    "--strategy",
    default="exhaustive",
    show_default=True,
    callback=_one_of(*STRATEGIES),
    metavar="|".join(STRATEGIES),
    help="Try every order, or pick orders.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="S",
    help="The seed of orders that are picked.",
)
@click.option(
    "--jobs",
    "-j",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="J",
    help="Number of processes: for releases, and for walks, each with its seed from --seed on.",
)
@click.option(
    "--invariant",
    "invariants",
    multiple=True,
    metavar="ID",
    help="Only violations of this invariant, as in I-04; repeatable.",
)
@click.option(
    "--prompt",
    default="none",
    show_default=True,
    metavar="NAMES",
    help="Components that are never late in an exhaustive search, with commas between.",
)
@click.option(
    "--delays",
    default=str(DELAYS),
    show_default=True,
    callback=_delays,
    metavar=f"N|{ALL}",
    help="Of an exhaustive search: hold at most so many steps up in an order; all tries every "
    "order.",
)
@click.option(
    "--faults",
    metavar="KINDS",
    help="What may fail besides, and how often in a run, as in watch,request=2: watch (a watch "
    "breaks), request (a request fails), restart (a process restarts), resync (an informer "
    "delivers everything again). By default as the scenario says, else nothing.",
)
@click.option(
    "--at",
    metavar="POINT",
    help="Begin at this moment of the log instead of with a scenario, with what existed then, and "
    "with what users wrote afterwards.",
)
@click.option(
    "--until",
    default=options.END,
    show_default=True,
    metavar="POINT",
    help="With --at: the last moment whose writes of users are taken.",
)
@click.option(
    "--object",
    "objects",
    multiple=True,
    metavar="KIND/NAME",
    help="With --at: only writes of users to this object, and what belongs to it; repeatable.",
)
@click.option(
    "--windows",
    is_flag=True,
    help="Search no orders: say how long after the write before it each write of a user ends "
    "badly, if nothing else is late.",
)
@click.option(
    "--replay",
    metavar="TOKEN",
    help="Run the order of a token again; as another release with --release.",
)
@click.option(
    "--out",
    type=_FILE,
    metavar="DIR",
    help="The folder for files about each anomaly: token, report, test, scenario.",
)
@click.option(
    "--evidence", type=_FILE, metavar="FILE", help="Write a report of the first anomaly, Markdown."
)
@click.option(
    "--pytest", type=_FILE, metavar="FILE", help="Write a test that runs the first anomaly again."
)
@click.option(
    "--scenario",
    type=_FILE,
    metavar="FILE",
    help="Write the scenario of the first anomaly, without writes that it does not need.",
)
@click.option(
    "--branch",
    metavar="NAME",
    help="Write the first anomaly, or the run of --replay, to the log as this new branch.",
)
@options.log
@click.option(
    "--model",
    callback=_one_of(*MODELS),
    metavar="|".join(MODELS),
    help="Explore a part of the scheduler's memory instead of a scenario, as --release says; all "
    "is every release. As compiled: only the order of words that Go's compiler chose.",
)
@options.assume
@options.text_wide_or_json
def explore(
    case: Path | None,
    release: str,
    steps: int | None,
    budget: str | None,
    strategy: str,
    seed: int,
    jobs: int,
    invariants: tuple[str, ...],
    prompt: str,
    delays: int | None,
    faults: str | None,
    at: str | None,
    until: str,
    objects: tuple[str, ...],
    windows: bool,
    replay: str | None,
    out: Path | None,
    evidence: Path | None,
    pytest: Path | None,
    scenario: Path | None,
    branch: str | None,
    log: str,
    model: str | None,
    assume: bool,
    output: str,
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

    seconds = budget_seconds(budget or default_budget(strategy, of_log=at is not None))
    if model is not None and release == ALL:
        name = ALL
    else:
        (name,) = chosen([release], assume=assume, pre_releases=True).names
    files = _Files(out, evidence, pytest, scenario, log, branch)
    if branch is not None:
        check_branch(log, branch)
    if _other((case, at), replay, model, name, output, files, windows=windows):
        return
    ids = asked_invariants(invariants)
    recorded = None if at is None else _Recorded(log, at, until, objects)
    read = _read(case, recorded, name, assume=assume)
    plan = SearchPlan(name, strategy, seed, (), ids, steps, jobs, delays)
    world, plan = prepared(read, plan, prompt, faults)
    if windows:
        _write_windows(world, output)
        return
    result = _searched(world, plan, seconds)
    if recorded is not None:
        result = recorded.compared(result)
    _write(world, result, output)
    _write_files(world, result, files)


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

    if recorded is not None:
        name, read = recorded.log, recorded.case(release)
    else:
        assert path is not None
        name, read = str(path), read_machine_case(path)
    for text in lacking(read):
        note(f"warning: {name} has {text}")
    if read.conf:
        check_confs([ConfText(read.conf, name)], [release], assume=assume)
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
    given = [name for name, one in ways if one is not None]
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

        if self._last is not None and self._last[1] > self._noted:
            self._noted = self._last[1]
            note(progress_line(self._plan, *self._last))


def _write(world: ScenarioWorld, result: Exploration, output: str) -> None:
    from ..explore.story import story_of
    from ..render.documents import json_text
    from ..render.race import anomaly_lines, summary_lines

    if output == "json":
        sys.stdout.write(json_text(result.document, indent=2) + "\n")
        return
    for anomaly in result.anomalies:
        write_lines(anomaly_lines(anomaly, story_of(world, anomaly.steps), style()))
        sys.stdout.write("\n")
    write_lines(summary_lines(result, style()))


def _write_windows(world: ScenarioWorld, output: str) -> None:
    from ..explore.window_words import windows_in
    from ..render.documents import json_text
    from ..render.windows import windows_document, windows_lines

    found = windows_in(world)
    if output == "json":
        sys.stdout.write(json_text(windows_document(world, found), indent=2) + "\n")
    else:
        write_lines(windows_lines(world, found, style()))


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
    from ..render.documents import json_text
    from ..render.race_replay import replay_lines

    again = replay(token, release)
    _write_branch(again.world, again.story, files)
    if output == "json":
        sys.stdout.write(json_text(again.document, indent=2) + "\n")
    else:
        write_lines(replay_lines(again, style()))


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
    from ..render.documents import json_text
    from ..render.tables import lines_of

    race = Race(as_compiled=model != MODELS[0])
    every = [str(one) for one in RELEASES if not one.ours]
    names = every if release == ALL else [release]
    found = [explore_device_list(cache_behaviours(name), race) for name in names]
    documents = [explored_document(one) for one in found]
    if output == "json":
        document = documents if release == ALL else documents[0]
        sys.stdout.write(json_text(document, indent=2) + "\n")
    elif release == ALL:
        write_lines(lines_of(releases_table(found), style=style()))
    else:
        write_lines(explored_lines(found[0], style()))
