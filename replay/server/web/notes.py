"""What a page must say beside its answer: gaps of the log, and what was assumed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from ....engine.kubernetes.resources import GroupKind
from ....engine.state.facts import Fact, JobFact, NodeFact, PodFact, PodGroupFact, QueueFact
from ...coverage.coverage import reasons, unknown_at
from ...facade.log import Log
from ...logs.assumptions import assumptions_at
from ...moments.moment import Moment
from ...moments.unknown import Unknown

JOB: GroupKind = ("batch.volcano.sh", "Job")
PODGROUP: GroupKind = ("scheduling.volcano.sh", "PodGroup")
QUEUE: GroupKind = ("scheduling.volcano.sh", "Queue")
NODE: GroupKind = ("", "Node")
POD: GroupKind = ("", "Pod")

ASKABLE = frozenset({"pod", "job", "podgroup", "queue", "node"})
"""The kinds that ``why`` answers about, as links name them."""


_WAITS = "Why does it wait?"

WAITING = frozenset({"", "Pending", "Inqueue"})
"""Phases of PodGroups and jobs that wait."""


def question_of(fact: Fact) -> str:
    """Return what ``why`` can be asked about an object; empty if there is nothing to ask."""
    if isinstance(fact, NodeFact | QueueFact):
        return "What does it hold up?"
    if isinstance(fact, PodFact):
        waits = not fact.node and fact.phase in WAITING and fact.deleting_at is None
        return _WAITS if waits else ""
    if isinstance(fact, PodGroupFact | JobFact):
        running = {"Running": "Does anything of it wait?"}
        return _WAITS if fact.phase in WAITING else running.get(fact.phase, "")
    return ""


def gaps(log: Log, moment: Moment, kinds: Sequence[GroupKind]) -> tuple[str, ...]:
    """Return what the log does not fully know of some kinds at a moment, as sentences.

    What was filled in when they were ingested is among them.
    """
    return *sentences(unknown_at(log, moment, kinds)), *filled_in(log, moment, kinds)


def filled_in(
    log: Log, moment: Moment, kinds: Sequence[GroupKind] | None = None
) -> tuple[str, ...]:
    """Return what objects of some kinds lacked, and was filled in, as sentences.

    :param kinds: None is all.
    """
    return tuple(f"assumed: {assumption}" for assumption in assumptions_at(log, moment, kinds))


def sentences(unknown: Iterable[Unknown]) -> tuple[str, ...]:
    """Return gaps as sentences."""
    return tuple(reasons(tuple(unknown)))


def file_name(source: str) -> str:
    """Return the name of a configuration without the folders of the machine that ingested it."""
    return PurePath(source).name if source.startswith("/") else source
