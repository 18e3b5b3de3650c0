"""Run all sessions of a log again, in several processes, and report how they came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ...engine.log import open_log
from ...engine.session.nodes.sampling import MIN_NODES_TO_FIND
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ..moments.coverage import SCHEDULING, doubtful, unknown_between
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.recorded_sessions import RecordedSession, recorded_sessions
from ..moments.scheduler_confs import ConfText, confs_at
from ..parallel import run_all
from ..sessions.session import conf_of
from .report import Fidelity, SessionFidelity, fidelity_of_session
from .rerun import Planned, RerunSession, planned_sessions, rerun_sessions
from .search import Limits

Progress = Callable[[int, int], None]

_REMEMBERING = frozenset(
    {"deviceshare", "network-topology-aware", "numaaware", "numa-aware", "rescheduling", "tdm"}
)
"""Plugins that remember earlier sessions: these must run one after the other."""


class FidelityQuestion(NamedTuple):
    """What to run.

    :param place: of the log, for processes that open it. :param end: sessions up to this moment.
    :param since: only sessions from this time on, microseconds; None is the first.
    :param until: only sessions up to this time; None is the last.
    :param conf: a configuration instead of the log's.
    """

    place: str
    end: Moment
    release: str
    conf: ConfText | None = None
    since: int | None = None
    until: int | None = None
    limits: Limits = Limits()

    def includes(self, session: RecordedSession) -> bool:
        """Return whether a session is in the range."""
        early = self.since is not None and session.opened < self.since
        late = self.until is not None and session.opened > self.until
        return not early and not late


class _Batch(NamedTuple):
    """Sessions that one process runs: those that were opened between two times, inclusive."""

    question: FidelityQuestion
    first: int
    last: int


def fidelity(
    log: Log, question: FidelityQuestion, *, jobs: int = 1, progress: Progress | None = None
) -> Fidelity:
    """Run the sessions of a log again, and return how they came out.

    :param jobs: processes. :param progress: called with (sessions run, total).
    """
    store, end = log.store, question.end
    behaviours = resolve(question.release)
    every = recorded_sessions(store, end)
    planned = planned_sessions(store, end, every)
    asked = [plan for plan in planned if question.includes(plan.recorded)]
    wanted = [one for one in every if question.includes(one)]
    source, alone = _conf(log, question, behaviours)
    if jobs <= 1 or alone or len(asked) < 2:
        sessions = _run(log, question, every, lambda _: True, progress, len(asked))
    else:
        batches = _batches(question, asked, jobs)
        sessions = []
        for done in run_all(_run_batch, batches, jobs=jobs):
            sessions += done
            if progress is not None:
                progress(len(sessions), len(asked))
    first = asked[0].nominal if asked else None
    unknown = unknown_between(log, first, end, SCHEDULING) if asked else []
    left_out = len(wanted) - len(asked)
    return Fidelity(question.release, source, len(wanted), left_out, tuple(sessions), tuple(unknown))


def _conf(log: Log, question: FidelityQuestion, behaviours: Behaviours) -> tuple[str, bool]:
    """Return the source of the configuration, and whether its plugins remember sessions."""
    given = question.conf
    confs = confs_at(log.store, question.end) if given is None else [given]
    in_force = conf_of(confs, behaviours)
    plugins = {option.name for tier in in_force.conf.tiers for option in tier}
    return in_force.source, bool(plugins & _REMEMBERING) or behaviours.device_quotas


def _batches(
    question: FidelityQuestion, asked: Sequence[Planned], jobs: int
) -> list[_Batch]:
    """Return the sessions in parts, each run by a process that reads the log from its beginning."""
    count = min(jobs, len(asked))
    cuts = [len(asked) * number // count for number in range(count + 1)]
    return [
        _Batch(question, asked[start].recorded.opened, asked[stop - 1].recorded.opened)
        for start, stop in zip(cuts, cuts[1:], strict=False)
    ]


def _run_batch(batch: _Batch) -> list[SessionFidelity]:
    end = batch.question.end
    with open_log(batch.question.place, read_only=True) as store:
        log = Log(store, branch=end.branch, cluster=end.cluster)
        every = recorded_sessions(store, end)
        return _run(log, batch.question, every, partial(_is_within, batch))


def _is_within(batch: _Batch, session: RecordedSession) -> bool:
    return batch.first <= session.opened <= batch.last


def _run(
    log: Log,
    question: FidelityQuestion,
    every: Sequence[RecordedSession],
    within: Callable[[RecordedSession], bool],
    progress: Progress | None = None,
    total: int = 0,
) -> list[SessionFidelity]:
    """Run the sessions that are asked about, and say how each came out."""
    numbers = {id(one): number for number, one in enumerate(every, start=1)}
    unknown = unknown_between(log, 0, question.end, SCHEDULING)
    done: list[SessionFidelity] = []

    def add(one: RerunSession) -> None:
        sure = not doubtful(unknown, one.revision, one.recorded.opened)
        number, sampled = numbers[id(one.recorded)], one.nodes > MIN_NODES_TO_FIND
        done.append(fidelity_of_session(one, number, complete=sure, sampled=sampled))
        if progress is not None:
            progress(len(done), total)

    rerun_sessions(
        log.store,
        question.end,
        resolve(question.release),
        conf=question.conf,
        sessions=every,
        only=lambda one: question.includes(one) and within(one),
        limits=question.limits,
        done=add,
    )
    return done
