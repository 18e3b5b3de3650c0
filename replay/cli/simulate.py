"""``plinian simulate``: scenarios run as releases of Volcano would run them."""

from __future__ import annotations

import os
import sys
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .assumption import chosen
from .shell import guarded, note, say, shows_progress, style

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...engine.kubernetes.store import Document
    from ..simulate.batch import Outcome, Task

ALL = "all"

MANY = 50
"""From so many scenarios on, several processes are faster than one."""


@guarded
def simulate(
    cases: Annotated[
        list[Path],
        typer.Argument(metavar="CASE", help="Scenario files (.case.json, also .gz .xz .zst)."),
    ],
    release: Annotated[
        list[str],
        typer.Option(
            "--release",
            metavar="RELEASE",
            help="The release, as in v1.12.1, or hardened; all is every one of Volcano whose "
            "sessions can be run. Repeatable, to compare.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where results go, as NAME.RELEASE.json."),
    ] = None,
    show: Annotated[
        bool,
        typer.Option("--show", help="Print what each session did; so it is without --out."),
    ] = False,
    step: Annotated[
        int | None,
        typer.Option("--step", metavar="N", min=1, help="Print only what this session did."),
    ] = None,
    conf: Annotated[
        Path | None,
        typer.Option(
            "--conf",
            metavar="FILE",
            help="A volcano-scheduler.conf in place of the scenarios' own, in every session.",
        ),
    ] = None,
    patch: Annotated[
        list[str],
        typer.Option(
            "--patch",
            metavar="TYPE/NAME=JSON",
            help="Fields to be different in an object of the scenarios, from its first version on: "
            "a merge patch, as kubectl patch takes it. Repeatable.",
        ),
    ] = [],  # noqa: B006 -- typer copies it
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            min=0,
            help="Processes; 0 is one for each processor, and one alone for a few scenarios.",
        ),
    ] = 0,
    now: Annotated[
        str | None,
        typer.Option(
            "--now",
            metavar="TIME",
            help="The present of all sessions, in RFC 3339; otherwise a year after the newest "
            "time in the scenario.",
        ),
    ] = None,
    scores: Annotated[
        bool | None,
        typer.Option(
            "--scores/--no-scores",
            help="Keep what every node scored for every pod; otherwise only of small clusters.",
        ),
    ] = None,
    assume: options.Assume = False,
) -> None:
    """Run scenarios as releases of Volcano would run them.

    Through a release's cache and sessions; shows or writes what each session did.

    Between two steps the cluster answers: what was bound runs, what was evicted is gone. A crash
    that the release would have is a result like any other, and its scheduler is started anew. The
    same scenario gives the same bytes, whenever and wherever it is run.

    With several releases, what they decide is printed side by side; those that do the same share a
    column. --conf and --patch ask what would be, had the configuration or an object been another.
    """
    from ...engine.errors import UsageError
    from ...engine.kubernetes.units import parse_time
    from ..moments.scheduler_confs import conf_file
    from ..render.progress import counting
    from ..simulate.batch import Task, run_all
    from ..simulate.what_if import WhatIf, parse_patch

    releases = _releases(_taken(release, assume=assume))
    try:
        present = None if now is None else parse_time(now)
    except ValueError as fault:
        raise UsageError(f"--now: {fault}", now="write 2025-07-30T07:56:43Z") from fault
    shown = show or out is None
    what_if = WhatIf(conf_file(conf).text if conf else None, [*map(parse_patch, patch)])
    tasks = [
        Task(path, name, out, present, scores, shown, what_if)
        for path in cases
        for name in releases
    ]
    if out is not None:
        _check_names(tasks)
        out.mkdir(parents=True, exist_ok=True)
    failed = dict.fromkeys(releases, 0)
    with counting("scenarios", visible=shows_progress()) as progress:
        outcomes = run_all(tasks, jobs=jobs or _processes(len(tasks)), progress=progress)
        for _, outcomes_of in groupby(outcomes, key=lambda outcome: outcome.path):
            some = list(outcomes_of)
            results = [one for one in _good(some, failed) if one is not None]
            if results:
                _warn_lacking(some)
                _show(results, step)
    for name, count in failed.items() if out is not None else ():
        sys.stdout.write(f"{len(cases) - count} of {len(cases)} scenarios run as {name}\n")
    if any(failed.values()):
        raise SystemExit(2)


def _releases(names: list[str]) -> list[str]:
    from ...engine.volcano.session.history import SUPPORTED, resolve

    every = [str(release) for release in SUPPORTED if not release.ours]
    asked = [every if name == ALL else [resolve(name).release] for name in names]
    return list(dict.fromkeys(chain.from_iterable(asked)))


def _taken(names: list[str], *, assume: bool) -> list[str]:
    """Return the names of releases, with the nearest for unknown ones if they are to be assumed."""
    return [name if name == ALL else chosen([name], assume=assume).names[0] for name in names]


def _check_names(tasks: list[Task]) -> None:
    """Refuse scenarios whose results would be one file."""
    from ...engine.errors import UsageError
    from ..simulate.batch import result_name

    names: dict[str, Path] = {}
    for task in tasks:
        name = result_name(task.path, task.release)
        if name in names:
            raise UsageError(
                f"{task.path} and {names[name]} have results of the same name",
                now="run them with different folders after --out",
            )
        names[name] = task.path


def _processes(tasks: int) -> int:
    """Return how many processes are worth their start."""
    return 1 if tasks < MANY else os.cpu_count() or 1


def _good(outcomes: Iterable[Outcome], failed: dict[str, int]) -> Iterator[Document | None]:
    """Yield the results of what was run; say and count what was not."""
    for outcome in outcomes:
        if outcome.fault is None:
            yield outcome.result
            continue
        say(outcome.fault)
        failed[outcome.release] += 1


def _warn_lacking(outcomes: Sequence[Outcome]) -> None:
    """Say on standard error, before its results, what a scenario does not have."""
    lacks = next((outcome.lacks for outcome in outcomes if outcome.fault is None), ())
    if lacks:
        note(f"warning: {outcomes[0].path} LACKS WHAT SESSIONS NEED:")
    for text in lacks:
        note(f"  - {text}")


def _show(results: Sequence[Document], step: int | None) -> None:
    from ..render.simulation import releases_lines, result_lines

    if len(results) == 1:
        lines = result_lines(results[0], step=step, style=style())
    else:
        lines = releases_lines(results, step=step, style=style())
    sys.stdout.writelines(lines)
