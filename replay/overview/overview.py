"""What is wrong at a moment: one session, and what else answers say of that moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ...engine.volcano.session.history import resolve
from ..answers.amounts import joined
from ..answers.answering_session import Run
from ..answers.job_reasons import panics
from ..coverage.coverage import SCHEDULING, unknown_at
from ..logs.earlier_moments import shortly_before, time_at
from ..logs.log import Log, Progress
from ..logs.logged_confs import has_no_conf, runs_built_in
from ..logs.moment_commands import MomentCommands, commands_at
from ..moments.times import time_text
from ..moments.unknown import Unknown
from ..sessions.step_words import stop_text
from . import waiting_jobs as waiting
from .failed_checks import failed_checks
from .overview_task import OverviewTask
from .pressed_queues import queue_problems
from .problems import Overview, OverviewAsked, Problem, ProblemKind, by_harm
from .recent_acts import acts_between
from .sick_nodes import node_problems

MOST_ACTS = 12


def overview_at(log: Log, task: OverviewTask, progress: Progress | None = None) -> Overview:
    """Return what is wrong at a moment, the worst first, and what was done shortly before.

    One session is run, with which all jobs are asked; then invariants, the scheduler's cache and
    the rules of lint are checked.

    :param progress: called with (parts done, all).
    """
    tell = progress or _silent
    moment, truth = task.moment, log.truth(task.moment)
    run, jobs = waiting.waiting_at(log, moment, task.release, task.conf)
    tell(1, _PARTS)
    conf = None if task.conf is None else task.conf.source
    commands = commands_at(log, moment, task.release, conf)
    problems = [
        *_of_session(run, jobs, commands),
        *node_problems(log, moment, truth, commands),
        *queue_problems(log, run, truth, commands),
    ]
    tell(2, _PARTS)
    found, not_checked = failed_checks(log, task, run, commands)
    problems += found
    tell(3, _PARTS)
    before = shortly_before(log, moment, task.recent)
    acts = [] if before is None else acts_between(log, before, moment)
    tell(_PARTS, _PARTS)
    now, not_known = time_at(log, moment), tuple(unknown_at(log, moment, SCHEDULING))
    placed = len(waiting.starting(jobs))
    ranked = by_harm(problems)
    return Overview(
        asked=OverviewAsked(
            at=moment.label,
            time="" if now is None else time_text(now),
            since="" if before is None else before.label,
            release=resolve(task.release).release,
            conf=run.answer.conf,
            assumed=(*task.assumed, *_assumed(log, task)),
        ),
        sentence=_sentence(ranked, len(jobs) - placed, not_known),
        problems=ranked,
        waiting=len(jobs),
        placed=placed,
        acts=tuple(acts[:MOST_ACTS]),
        acts_left_out=max(0, len(acts) - MOST_ACTS),
        not_checked=not_checked,
        not_known=not_known,
    )


_PARTS = 4


def _silent(_done: int, _total: int) -> None:
    """Show no progress."""


def _assumed(log: Log, task: OverviewTask) -> list[str]:
    if task.conf is None and has_no_conf(log, task.moment):
        return [runs_built_in(task.release)]
    return []


def _of_session(
    run: Run, jobs: Sequence[waiting.WaitingJob], commands: MomentCommands
) -> Iterator[Problem]:
    """Yield that the session crashes or stops, or else why jobs wait."""
    crash, stopped = panics(run), run.answer.result.stopped
    command = commands.of_session("session")
    # The panic keeps all jobs waiting, so their single reasons do not matter now.
    if crash is not None:
        yield Problem(
            kind=ProblemKind.CRASH,
            text=crash.because,
            objects=(),
            count=len(jobs),
            command=command,
        )
        return
    if stopped is not None:
        text = f"scheduling stops in every queue: {stop_text(stopped)}: {stopped.error}"
        yield Problem(
            kind=ProblemKind.STOP, text=text, objects=(), count=len(jobs), command=command
        )
    yield from waiting.problems_of(run, jobs, commands)


def _sentence(problems: Sequence[Problem], waits: int, not_known: Sequence[Unknown]) -> str:
    """Return what is wrong in one sentence."""
    if not problems:
        lacks = joined(unknown.name for unknown in not_known)
        known = f"nothing is wrong in what the log knows, but it does not fully know {lacks}"
        return known if not_known else "nothing is wrong in what was checked"
    counts = Counter(problem.kind for problem in problems)
    said = {
        ProblemKind.CRASH: "the scheduler panics",
        ProblemKind.STOP: "scheduling stops in every queue",
        ProblemKind.WAITING: f"{counted(waits, 'job waits', 'jobs wait')}",
    }
    parts = [
        said.get(kind) or counted(counts[kind], *_NOUNS[kind])
        for kind in ProblemKind
        if counts[kind]
    ]
    return joined(parts)


_NOUNS: Mapping[ProblemKind, tuple[str, str]] = MappingProxyType(
    {
        ProblemKind.NODE: ("node has a problem", "nodes have a problem"),
        ProblemKind.QUEUE: (
            "queue is full or over its share",
            "queues are full or over their share",
        ),
        ProblemKind.VIOLATION: ("invariant is violated", "invariants are violated"),
        ProblemKind.DRIFT: (
            "object differs in the scheduler's cache",
            "objects differ in the scheduler's cache",
        ),
        ProblemKind.LINT: ("error is in objects", "errors are in objects"),
    }
)
