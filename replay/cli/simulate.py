"""``plinian simulate``: run scenarios as releases of Volcano would."""

from __future__ import annotations

import os
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..questions.fields import Field
from . import options
from .command import command
from .shell import note, say, shows_progress, style, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...engine.kubernetes.object_store import Document
    from ..simulate.batch import ScenarioOutcome, Task

MANY = 50
"""From this many scenarios on, several processes are faster than one."""


@command("simulate")
def simulate(
    cases: Annotated[
        tuple[Path, ...], Field("Scenario files (.case.json, also .gz .xz .zst).", "CASE...")
    ],
    *,
    release: Annotated[
        tuple[str, ...],
        Field(
            "The release, as in v1.12.1, or hardened; all is every release of Volcano whose "
            "sessions can be run. Repeatable, to compare.",
            "RELEASE",
        ),
    ],
    out: Annotated[
        Path | None, Field("The folder for results, as NAME.RELEASE.json.", "DIR")
    ] = None,
    show: Annotated[bool, Field("Print what each session did; the default without --out.")] = False,
    step: Annotated[int | None, Field("Print only what this session did.", "N", least=1)] = None,
    conf: Annotated[
        Path | None,
        Field("A volcano-scheduler.conf instead of the scenarios' own, in every session.", "FILE"),
    ] = None,
    patch: Annotated[
        tuple[str, ...],
        Field(
            "Change fields of an object of the scenarios, from its first version on: a "
            "merge patch, as for kubectl patch. Repeatable.",
            "TYPE/NAME=JSON",
        ),
    ] = (),
    jobs: Annotated[
        int,
        Field(
            "Number of processes; 0 is one per processor, or one for few scenarios.",
            "N",
            short="j",
            least=0,
        ),
    ] = 0,
    now: Annotated[
        str | None,
        Field(
            "The current time of all sessions, in RFC 3339; by default a year after the "
            "newest time in the scenario.",
            "TIME",
        ),
    ] = None,
    scores: Annotated[
        bool | None,
        Field("Keep every node's score for every pod; by default only of small clusters."),
    ] = None,
    assume: options.Assume = False,
) -> None:
    """Run scenarios as releases of Volcano would run them.

    Runs a release's cache and sessions; shows or writes what each session did.

    Between two steps the cluster reacts: bound pods run, evicted pods are gone. A crash that the
    release would have is a result too, and its scheduler is restarted. The same scenario always
    gives the same bytes.

    With several releases, their decisions are printed side by side; releases that decide the same
    share a column. --conf and --patch show what would happen with another configuration or object.
    """
    from ...engine.errors import UsageError
    from ..facade.cases import releases_of
    from ..logs.given_confs import conf_file
    from ..moments.zones import time_of
    from ..questions.question import taken
    from ..render.progress import counting
    from ..simulate.batch import Task, run_all
    from ..simulate.changed_scenario import ScenarioChanges
    from ..what_if.changed_names import checked_patches
    from .open_log import read_zone

    releases = releases_of(release, partial(taken, remark=note, assume=assume))
    try:
        present = None if now is None else time_of(now, read_zone())
    except ValueError as fault:
        raise UsageError(f"--now: {fault}", now="write 2025-07-30T07:56:43Z") from fault
    shown = show or out is None
    what_if = ScenarioChanges(conf_file(conf).text if conf else None, checked_patches(patch))
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
        # Tasks are in the order of scenarios, so the outcomes of one follow each other.
        for _, outcomes_of in groupby(outcomes, key=lambda outcome: outcome.path):
            of_scenario = list(outcomes_of)
            results = [document for document in _good(of_scenario, failed) if document is not None]
            if results:
                _warn_lacking(of_scenario)
                _show(results, step)
    for name, count in failed.items() if out is not None else ():
        write_lines([f"{len(cases) - count} of {len(cases)} scenarios run as {name}\n"])
    if any(failed.values()):
        raise SystemExit(2)


def _check_names(tasks: list[Task]) -> None:
    """Refuse scenarios whose results would go to the same file."""
    from ...engine.errors import UsageError
    from ..simulate.batch import result_name

    names: dict[str, Path] = {}
    for task in tasks:
        name = result_name(task.path, task.release)
        if name in names:
            raise UsageError(
                f"{task.path} and {names[name]} have results with the same file name",
                now="run them separately, with different folders after --out",
            )
        names[name] = task.path


def _processes(tasks: int) -> int:
    """Return how many processes are worth starting."""
    return 1 if tasks < MANY else os.cpu_count() or 1


def _good(outcomes: Iterable[ScenarioOutcome], failed: dict[str, int]) -> Iterator[Document | None]:
    """Yield the results of scenarios that ran; report and count those that did not."""
    for outcome in outcomes:
        if outcome.fault is None:
            yield outcome.result
            continue
        say(outcome.fault)
        failed[outcome.release] += 1


def _warn_lacking(outcomes: Sequence[ScenarioOutcome]) -> None:
    """Warn on standard error, before its results, of what a scenario lacks."""
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
    write_lines(lines)
