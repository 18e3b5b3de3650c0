"""Problems of a cluster at a moment, as records, and what was done shortly before."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from ..moments.unknown import Unknown


class ProblemKind(StrEnum):
    """What is wrong. The order is that of harm: an overview begins with the first kinds."""

    CRASH = "crash"
    """The scheduler panics in this session."""
    STOP = "stop"
    """Scheduling stops in every queue."""
    NODE = "node"
    """A node is not ready, or pods on it request more than it has."""
    WAITING = "waiting"
    """Jobs or pods wait."""
    QUEUE = "queue"
    """A queue is full, holds more than it deserves, or is not open."""
    VIOLATION = "violation"
    """An invariant is violated."""
    DRIFT = "drift"
    """The scheduler's cache differs from the API server."""
    LINT = "lint"
    """An object or the configuration has an error."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong.

    :param kind: one of :class:`ProblemKind`.
    :param text: a sentence; of several objects, about the first of them.
    :param objects: as in ``job/ml/train``, those that suffer longest first; at most
        :data:`MOST_NAMED`.
    :param count: how many objects it is about.
    :param since: since when, RFC 3339; empty if that is not known.
    :param between: where only bounds of that time are known, these, as tables print them.
    :param at_least: ``since`` is when the pods of a queue or a node began to hold together at least
        what its limit is at the moment. Others may have held as much before, and the limit may have
        been another then.
    :param command: what to ask next.
    """

    kind: str
    text: str
    objects: tuple[str, ...]
    count: int
    since: str = ""
    between: str = ""
    at_least: bool = False
    command: str = ""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody did shortly before.

    :param time: of the last of its changes, as printed; ``<none>`` if it is not known.
    :param of_day: the same without the date; empty if it is not known.
    :param position: of the event that shows it; 0 if none does.
    :param actor: empty if the log does not say.
    :param text: what was done, without the actor, as in ``deletes 3 pods``; of one object, what
        comes before its name, as in ``cordons``.
    :param objects: as of :class:`Problem`. :param count: how many.
    """

    time: str
    of_day: str
    position: int
    actor: str
    text: str
    objects: tuple[str, ...]
    count: int


class OverviewAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What an overview is of.

    :param at: the moment, as printed. :param time: as RFC 3339; empty if it is not known.
    :param since: from when on acts are listed, as printed; empty if none are.
    :param conf: the source of the configuration.
    :param assumed: what was assumed, as sentences.
    """

    at: str
    time: str
    since: str
    release: str
    conf: str
    assumed: tuple[str, ...] = ()


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong at a moment.

    :param sentence: what is wrong in one sentence, the worst first.
    :param problems: the worst first.
    :param waiting: how many jobs and pods without a job wait, in all.
    :param placed: how many of them this session starts.
    :param acts: what was done shortly before, the newest first; people before components.
    :param acts_left_out: how many more there are.
    :param not_checked: what was not looked at, and why, as sentences.
    :param not_known: which kinds of objects the log does not fully know then.
    """

    asked: OverviewAsked
    sentence: str
    problems: tuple[Problem, ...]
    waiting: int
    placed: int
    acts: tuple[Act, ...] = ()
    acts_left_out: int = 0
    not_checked: tuple[str, ...] = ()
    not_known: tuple[Unknown, ...] = ()


MOST_NAMED = 20
"""How many objects a problem or an act names."""


def by_harm(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return problems with the worst kinds first; those of one kind stay in their order."""
    ranks = {kind: rank for rank, kind in enumerate(ProblemKind)}
    return tuple(sorted(problems, key=lambda problem: ranks[ProblemKind(problem.kind)]))
