"""Independent tasks in several processes, the only parallelism of commands."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from ..engine.errors import PlinianError

Task = TypeVar("Task")
Result = TypeVar("Result")

Progress = Callable[[int, int], None]

_EVERY_SECONDS = 5.0


def run_all(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int,
    progress: Progress | None = None,
    waiting: Callable[[], None] | None = None,
) -> Iterator[Result]:
    """Yield a function's result for each task, in the order of the tasks.

    :param work: a function of a module, which other processes can import; tasks and results must be
        picklable.
    :param jobs: processes; 1 does all in this one.
    :param progress: called with (tasks done, total).
    :param waiting: called every few seconds in which no task is done, with several processes.
    :raises PlinianError: of the first task that failed; tasks that have not begun are dropped.
    """
    total = len(tasks)
    if jobs <= 1 or total <= 1:
        for done, task in enumerate(tasks, start=1):
            yield work(task)
            if progress is not None:
                progress(done, total)
        return
    with _submitted(work, tasks, min(jobs, total)) as futures:
        for done, future in enumerate(futures, start=1):
            yield _awaited(future, waiting)
            if progress is not None:
                progress(done, total)


def _awaited(future: Future[Result], waiting: Callable[[], None] | None) -> Result:
    """Return a result, and call a function now and then until it is there."""
    while waiting is not None and not wait([future], timeout=_EVERY_SECONDS).done:
        waiting()
    return future.result()


def run_beside(
    own: Callable[[], Result],
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    finished: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """Do one's own part of some work in this process, and the rest in others at the same time.

    :param own: this process's part: it may report progress. :param work: as for :func:`run_all`.
    :param finished: called with the place of a task and its result, as soon as it is there, in any
        thread: what is finished is then known also if an interrupt ends the rest.
    :returns: the result of the own part, then those of the tasks.
    :raises PlinianError: of the first part that failed.
    """
    if not tasks:
        return [own()]
    with _submitted(work, tasks, len(tasks)) as futures:
        if finished is not None:
            for place, future in enumerate(futures):
                future.add_done_callback(partial(_passed_on, finished, place))
        return [own(), *(future.result() for future in futures)]


@contextmanager
def _submitted(
    work: Callable[[Task], Result], tasks: Sequence[Task], processes: int
) -> Iterator[list[Future[Result]]]:
    """Start processes, and give them all tasks; in the end they are gone."""
    # Spawned processes start fresh, whatever threads and connections this one has.
    context = multiprocessing.get_context("spawn")
    # They collect garbage as seldom as this one.
    collect = partial(gc.set_threshold, *gc.get_threshold())
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=collect)
    try:
        with _without_interrupts():
            futures = [pool.submit(partial(_sendable, work), task) for task in tasks]
        yield futures
    except KeyboardInterrupt:
        # Running tasks are not waited for; the command line ends the processes.
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _passed_on(finished: Callable[[int, Result], None], place: int, future: Future[Result]) -> None:
    if not future.cancelled() and future.exception() is None:
        finished(place, future.result())


def _sendable(work: Callable[[Task], Result], task: Task) -> Result:
    """Run a task; turn an error into one that can be sent to another process."""
    try:
        return work(task)
    except PlinianError as fault:
        raise PlinianError(fault.what, where=fault.where, now=fault.now) from None


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes without interrupts: only the waiting process handles them.

    They inherit that interrupts are blocked. An interrupt meanwhile is handled afterwards. Threads
    of libraries may not block interrupts, and Python passes theirs to this one: so it is noted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _frame: noted.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if handler is None else handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if noted:
            signal.raise_signal(signal.SIGINT)
