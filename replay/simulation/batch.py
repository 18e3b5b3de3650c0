"""Many scenarios at once: read, run and written by several processes, independent of each other."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ...engine.errors import PlinianError
from ...engine.volcano.history import resolve
from .cases import case_name, read_case
from .results import case_result
from .simulation import simulate


class Outcome(NamedTuple):
    """What became of one scenario: the file with its result, or what was wrong."""

    path: Path
    written: Path | None
    fault: PlinianError | None = None


class Task(NamedTuple):
    """One scenario to be run as one release would, for a process that knows nothing else."""

    path: Path
    release: str
    folder: Path
    now: int | None = None
    scores: bool | None = None


def run_task(task: Task) -> Outcome:
    """Run one scenario and write its result; whatever goes wrong is part of the outcome."""
    try:
        behaviours = resolve(task.release)
        read = read_case(task.path)
        steps = simulate(read.case, behaviours, now=task.now, scores=task.scores)
    except PlinianError as fault:
        return Outcome(task.path, None, fault)
    except Exception as fault:
        if os.environ.get("PLINIAN_TRACEBACK"):
            raise
        return Outcome(task.path, None, _unforeseen(task.path, fault))
    result = case_result(read.case.name or read.name, behaviours.release, steps)
    target = task.folder / result_name(task.path, behaviours.release)
    target.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return Outcome(task.path, target)


def _unforeseen(path: Path, fault: Exception) -> PlinianError:
    return PlinianError(
        f"an unforeseen {type(fault).__name__}: {fault}",
        where=str(path),
        now="this is a fault of Plinian; with PLINIAN_TRACEBACK=1 it says where",
    )


def result_name(path: Path, release: str) -> str:
    """Return the name of the file that holds the result of a scenario's file."""
    return f"{case_name(path)}.{release}.json"


def run_all(
    tasks: Sequence[Task], *, jobs: int, progress: Callable[[int, int], None] | None = None
) -> Iterator[Outcome]:
    """Yield the outcomes in the order of the tasks, whichever is ready first.

    :param jobs: processes; 1 runs all in this one.
    """
    total = len(tasks)
    if jobs <= 1 or total <= 1:
        for done, task in enumerate(tasks, start=1):
            yield run_task(task)
            if progress is not None:
                progress(done, total)
        return
    # Spawned processes start from nothing, whatever threads and connections this one has.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, total), mp_context=context)
    try:
        with _without_interrupts():
            futures = [pool.submit(run_task, task) for task in tasks]
        for done, future in enumerate(futures, start=1):
            yield future.result()
            if progress is not None:
                progress(done, total)
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let processes that are started meanwhile take no interrupts: the one that waits decides."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
