"""Run many scenarios in several processes, independent of each other."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ...engine.errors import PlinianError
from ...engine.kubernetes.object_store import Document
from ...engine.volcano.session.history import resolve
from .. import parallel
from .changed_scenario import NOTHING, ScenarioChanges, changed
from .results import case_result
from .scenario_cases import case_name, lacking, read_case
from .simulation import simulate


class ScenarioOutcome(NamedTuple):
    """The outcome of one scenario: its result, the file with the result, or the error.

    :param result: None if it was not requested.
    :param lacks: what sessions need and the scenario does not have, as text.
    """

    path: Path
    release: str
    written: Path | None = None
    result: Document | None = None
    fault: PlinianError | None = None
    lacks: tuple[str, ...] = ()


class Task(NamedTuple):
    """One scenario to run as one release; all that a worker process needs.

    :param folder: where the result is written; None writes none.
    :param shown: whether to return the result.
    :param what_if: what to change in the scenario.
    """

    path: Path
    release: str
    folder: Path | None = None
    now: int | None = None
    scores: bool | None = None
    shown: bool = False
    what_if: ScenarioChanges = NOTHING


def run_task(task: Task) -> ScenarioOutcome:
    """Run one scenario, and write its result; an error is part of the outcome."""
    try:
        behaviours = resolve(task.release)
        read = read_case(task.path)
        case = changed(read.case, task.what_if)
        steps = simulate(case, behaviours, now=task.now, scores=task.scores)
    except PlinianError as fault:
        return ScenarioOutcome(task.path, task.release, fault=fault)
    except Exception as fault:
        if os.environ.get("PLINIAN_TRACEBACK"):
            raise
        return ScenarioOutcome(task.path, task.release, fault=_unforeseen(task.path, fault))
    result = case_result(read.case.name or read.name, behaviours.release, steps)
    target = None
    if task.folder is not None:
        target = task.folder / result_name(task.path, behaviours.release)
        target.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", "utf-8")
    lacks = tuple(lacking(case))
    return ScenarioOutcome(
        task.path, task.release, target, result if task.shown else None, lacks=lacks
    )


def _unforeseen(path: Path, fault: Exception) -> PlinianError:
    return PlinianError(
        f"internal error of Plinian: {type(fault).__name__}: {fault}",
        where=str(path),
        now="please report it, with the output under PLINIAN_TRACEBACK=1",
    )


def result_name(path: Path, release: str) -> str:
    """Return the name of the file that holds the result of a scenario's file."""
    return f"{case_name(path)}.{release}.json"


def run_all(
    tasks: Sequence[Task], *, jobs: int, progress: parallel.Progress | None = None
) -> Iterator[ScenarioOutcome]:
    """Yield the outcomes in the order of the tasks; see :func:`.parallel.run_all`.

    :param jobs: processes; 1 runs all in this one.
    """
    return parallel.run_all(run_task, tasks, jobs=jobs, progress=progress)
