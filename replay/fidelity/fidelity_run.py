"""Run all sessions of a log again, in several processes, and report how they came out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ...engine.log import open_log
from ...engine.session.nodes.sampling import MIN_NODES_TO_FIND
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ..coverage.coverage import SCHEDULING, unknown_between
from ..logs.log import Log
from ..logs.logged_confs import confs_at, has_no_conf
from ..moments.unknown import Unknown
from ..parallel import run_beside
from ..recorded.recorded_sessions import HowKnown, RecordedSession, recorded_sessions
from ..sessions.session_answer import conf_of
from .fidelity_scope import FidelityQuestion, numbered, only_requested
from .known_inputs import UNRECORDED, is_doubtful, is_unrecorded
from .report import Fidelity, SessionFidelity
from .rerun import RerunSession, planned_sessions, rerun_sessions
from .session_report import fidelity_of_session


class TakenSessions(NamedTuple):
    """The sessions that processes have taken; some sessions take a hundred times as long as others.

    :param folder: of these processes: an empty file for each session that one of them has taken.
    """

    folder: str

    def take(self, number: int) -> bool:
        """Take a session; return whether no other process had taken it."""
        with suppress(FileExistsError):
            # To create a file is one step for all processes: exactly one of them succeeds.
            os.close(os.open(Path(self.folder, str(number)), os.O_CREAT | os.O_EXCL))
            return True
        return False

    def taken(self) -> int:
        """Return how many sessions were taken."""
        return sum(1 for _ in Path(self.folder).iterdir())


Progress = Callable[[int, int], None]

_REMEMBERING = frozenset(
    {"deviceshare", "network-topology-aware", "numaaware", "numa-aware", "rescheduling", "tdm"}
)
"""Plugins that remember earlier sessions: these must run one after the other."""


def fidelity(
    log: Log, question: FidelityQuestion, *, jobs: int = 1, progress: Progress | None = None
) -> Fidelity:
    """Run the sessions of a log again, and return how they came out.

    :param jobs: processes. :param progress: called with (sessions run, total).
    """
    store, end = log.store, question.end
    every = recorded_sessions(store, end)
    numbers = numbered(every, question)
    planned = planned_sessions(store, end, every)
    asked = [plan for plan in planned if id(plan.recorded) in numbers]
    source, alone = _conf(log, question, resolve(question.release))
    # A plugin that remembers needs all sessions in one process.
    count = 1 if alone else max(1, min(jobs, len(asked)))
    with TemporaryDirectory(prefix="plinian-fidelity-") as folder:
        claims = TakenSessions(folder)
        counted = None if progress is None else lambda: progress(claims.taken(), len(asked))
        part = _Part(question, every, claims)
        done = run_beside(lambda: _run(log, part, counted), _run_part, [part] * (count - 1))
    sessions = sorted(chain.from_iterable(done), key=lambda session: session.number)
    first = asked[0].nominal if asked else None
    unknown = unknown_between(log, first, end, SCHEDULING) if asked else []
    left_out = len(numbers) - len(asked)
    return Fidelity(
        release=question.release,
        conf=source,
        recorded=len(numbers),
        left_out=left_out,
        sessions=tuple(sessions),
        not_known=tuple(unknown),
        requested=only_requested(every, question),
    )


class _Part(NamedTuple):
    """What each process gets.

    :param every: the sessions of the log. :param claims: where they agree who runs which.
    """

    question: FidelityQuestion
    every: Sequence[RecordedSession]
    claims: TakenSessions


def _conf(log: Log, question: FidelityQuestion, behaviours: Behaviours) -> tuple[str, bool]:
    """Return the source of the configuration, and whether its plugins remember sessions."""
    given = question.conf
    confs = confs_at(log.store, question.end) if given is None else [given]
    in_force = conf_of(confs, behaviours)
    plugins = {option.name for tier in in_force.conf.tiers for option in tier}
    return in_force.source, bool(plugins & _REMEMBERING) or behaviours.device_quotas


def _lacks(session: RerunSession, unknown: Sequence[Unknown], *, bare: bool) -> str:
    """Return what the log does not know of what a session needs, as a sentence."""
    if is_doubtful(unknown, session.revision, session.recorded.opened):
        return "the log does not know all objects that the session needs"
    if bare:
        return "the log has no configuration of the scheduler: the built-in one is assumed"
    if session.recorded.how is HowKnown.INFERRED:
        return "the session is inferred: when it began, and what else it tried, is not known"
    if is_unrecorded(unknown, session.revision, session.recorded.opened):
        return UNRECORDED
    return ""


def _run_part(part: _Part) -> list[SessionFidelity]:
    end = part.question.end
    # Processes cannot share a connection to a database.
    with open_log(part.question.place, read_only=True) as store:
        log = Log(store, branch=end.branch, cluster=end.cluster)
        return _run(log, part)


def _run(
    log: Log, part: _Part, progress: Callable[[], None] | None = None
) -> list[SessionFidelity]:
    """Run the sessions that no other process has taken, and say how each came out."""
    question = part.question
    numbers = numbered(part.every, question)
    unknown = unknown_between(log, 0, question.end, SCHEDULING)
    bare = question.conf is None and has_no_conf(log, question.end)
    done: list[SessionFidelity] = []

    def add(session: RerunSession) -> None:
        lacks = _lacks(session, unknown, bare=bare)
        number, sampled = numbers[id(session.recorded)], session.nodes > MIN_NODES_TO_FIND
        done.append(fidelity_of_session(session, number, lacks=lacks, sampled=sampled))
        if progress is not None:
            progress()

    rerun_sessions(
        log.store,
        question.end,
        resolve(question.release),
        conf=question.conf,
        sessions=part.every,
        take=lambda session: id(session) in numbers and part.claims.take(numbers[id(session)]),
        limits=question.limits,
        done=add,
    )
    return done
