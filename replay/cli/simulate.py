"""``plinian simulate``: scenarios run as a release of Volcano would run them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from .shell import guarded, say, shows_progress


@guarded
def simulate(
    cases: Annotated[
        list[Path],
        typer.Argument(metavar="CASE", help="Scenario files (.case.json, also .gz .xz .zst)."),
    ],
    release: Annotated[
        str,
        typer.Option("--release", metavar="RELEASE", help="The release of Volcano: v1.12.1."),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Where results go, as NAME.RELEASE.json."),
    ],
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", min=0, help="Processes; 0 is one for each processor."
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
) -> None:
    """Run scenarios through a release's cache and sessions, and write what each session did.

    Between two steps the cluster answers: what was bound runs, what was evicted is gone. A crash
    that the release would have is a result like any other, and its scheduler is started anew. The
    same scenario gives the same bytes, whenever and wherever it is run.
    """
    from ...engine.errors import UsageError
    from ...engine.units import parse_time
    from ...engine.volcano.history import resolve
    from ..render.progress import counting
    from ..simulation.batch import Task, result_name, run_all

    resolved = resolve(release)
    try:
        present = None if now is None else parse_time(now)
    except ValueError as fault:
        raise UsageError(f"--now: {fault}", now="write 2025-07-30T07:56:43Z") from fault
    names: dict[str, Path] = {}
    for path in cases:
        name = result_name(path, resolved.release)
        if name in names:
            raise UsageError(
                f"{path} and {names[name]} have results of the same name",
                now="run them with different folders after --out",
            )
        names[name] = path
    out.mkdir(parents=True, exist_ok=True)
    tasks = [Task(path, resolved.release, out, present, scores) for path in cases]
    failed = 0
    with counting("scenarios", visible=shows_progress()) as progress:
        for outcome in run_all(tasks, jobs=jobs or os.cpu_count() or 1, progress=progress):
            if outcome.fault is not None:
                failed += 1
                say(outcome.fault)
    sys.stdout.write(f"{len(tasks) - failed} of {len(tasks)} scenarios run as {resolved.release}\n")
    if failed:
        raise SystemExit(2)
