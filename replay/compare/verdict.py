"""The verdict: what another release changes for users of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ...engine.state.clock import Unsure
from ..moments.unknown import Unknown
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import shown_as
from ..tabular.tabular import Tabular
from .causes import Cause
from .decisions import (
    BIND,
    CRASH,
    ENQUEUE,
    EVICT,
    PHASE,
    PIPELINE,
    STOP,
)
from .releases import BehaviourDiff

CRASHES, STOPS, PLACEMENTS, EVICTIONS, PHASES, UNNOTICED, NOTHING, UNKNOWN = LEVELS = (
    *("crashes", "stops", "placements", "evictions", "phases"),
    *("unfelt", "nothing", "unknown"),
)
"""Verdicts, most severe first:

- ``crashes``: the scheduler panics in one release only.
- ``stops``: scheduling stops in every queue in one release only.
- ``placements``: a pod is bound in one release only, or to another node.
- ``evictions``: a pod is evicted in one release only.
- ``phases``: only phases of PodGroups differ, or which of them are enqueued.
- ``unfelt``: only texts differ, or the node that a waiting pod is pipelined to.
- ``nothing``: nothing differs.
- ``unknown``: no difference was found, but the log lacks what sessions need at every moment.
"""

NOTICED = (CRASHES, STOPS, PLACEMENTS, EVICTIONS, PHASES)

_LEVELS: Mapping[str, str] = MappingProxyType(
    {
        CRASH: CRASHES,
        STOP: STOPS,
        BIND: PLACEMENTS,
        EVICT: EVICTIONS,
        ENQUEUE: PHASES,
        PHASE: PHASES,
        PIPELINE: UNNOTICED,
    }
)
_TEXTS = frozenset({CRASH, STOP, EVICT})
"""Decisions whose value is a text: if both releases take them, only the text differs."""


class VerdictEffect(msgspec.Struct, frozen=True):
    """All differences of one level.

    :param objects: the number of pods or PodGroups with any; 0 for crashes and stops.
    :param sessions: the number of sessions with any.
    :param doubtful: for how many of them the log lacks what they need.
    """

    level: str
    decisions: int
    objects: int
    sessions: int
    doubtful: int = 0


class Verdict(NamedTuple):
    """The most severe level of all differences, and all their levels, most severe first."""

    level: str
    effects: tuple[VerdictEffect, ...]

    @property
    def noticed(self) -> bool:
        """Whether users of the cluster would notice."""
        return self.level in NOTICED


def level_of(changed: ChangedDecision) -> str:
    """Return the level of a difference: one of :data:`NOTICED`, or ``unfelt``."""
    # Users notice what happens, not in which words a scheduler explains it.
    if changed.kind in _TEXTS and None not in changed.values:
        return UNNOTICED
    return _LEVELS[changed.kind]


def verdict_of(upgrade: Upgrade) -> Verdict:
    """Return the verdict on all differences."""
    every = [changed for group in upgrade.groups for changed in group.changed]
    effects = tuple(
        _effect(level, of_level)
        for level in (*NOTICED, UNNOTICED)
        if (of_level := [changed for changed in every if level_of(changed) == level])
    )
    level = effects[0].level if effects else NOTHING
    # A difference that was found is one, whatever the log lacks; only its absence is unsure.
    if level not in NOTICED and not upgrade.sure:
        level = UNKNOWN
    return Verdict(level, effects)


def _effect(level: str, decisions: Iterable[ChangedDecision]) -> VerdictEffect:
    decisions = list(decisions)
    return VerdictEffect(
        level,
        len(decisions),
        len({changed.about for changed in decisions if changed.about}),
        len({changed.at for changed in decisions}),
        len({changed.at for changed in decisions if not changed.known}),
    )


class JudgedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that differs in the other release.

    :param level: its level, as those of a verdict. :param values: by release, null if not taken.
    :param known: the log knows all that the session needs.
    """

    at: str
    position: int
    kind: str
    level: str
    about: str
    known: bool
    values: tuple[str | None, ...]


class JudgedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """All differences with one cause, and the number of sessions with any of them."""

    causes: tuple[Cause, ...]
    sessions: int
    decisions: list[JudgedDecision]


class UpgradeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What another release would decide differently.

    :param verdict: the most severe of the levels of ``effects``.
    """

    verdict: str
    effects: tuple[VerdictEffect, ...]
    releases: tuple[str, str]
    differ: bool
    unsure: Unsure | None
    not_known: tuple[Unknown, ...]
    logged: bool
    sessions: int
    known: int
    doubtful: int
    left_out: int
    unconfigured: bool
    differing: int
    groups: list[JudgedGroup]
    behaviours: tuple[BehaviourDiff, ...]


class ChangedDecision(NamedTuple):
    """A decision that differs in the other release.

    :param at: the point of the session. :param position: the event at that point.
    :param values: of the first and of the second release; None if not taken.
    :param causes: see :mod:`.causes`. :param known: the log knows all that the session needs.
    """

    at: str
    position: int
    kind: str
    about: str
    values: tuple[str | None, ...]
    causes: tuple[Cause, ...]
    known: bool = True


class CauseGroup(NamedTuple):
    """All differences with one cause.

    :param causes: behaviours, each of which alone removes them, or a smallest set.
    :param sessions: the number of sessions with any of them.
    """

    causes: tuple[Cause, ...]
    changed: tuple[ChangedDecision, ...]
    sessions: int


class DifferingRow(NamedTuple):
    """A decision that differs. :param old: as the first release; None if it does not take it.

    :param known: the log knows all that the session needs.
    """

    at: str
    position: int
    decision: str
    object: str
    old: str | None
    new: str | None
    causes: tuple[str, ...]
    known: bool


class CauseRow(NamedTuple):
    """A cause, and how much it changes. :param first_at: the point of its first session."""

    causes: tuple[str, ...]
    decisions: int
    sessions: int
    first_at: str


@dataclass(frozen=True, slots=True)
class Upgrade(Tabular):
    """The answer; true if anything differs.

    :param logged: the sessions are those that the log records; else changes of objects.
    :param sessions: moments at which both releases were run, out of ``known``.
    :param differing: at how many of them anything differs.
    :param behaviours: those in which the releases differ, with or without effect here.
    :param unsure: changes that may have happened before or after the last moment.
    :param not_known: what sessions need and the log does not know at these moments.
    :param doubtful: at how many of the moments any of it is not known.
    :param left_out: sessions before the first complete lists, which were not run.
    :param unconfigured: each release ran with its built-in configuration, as the log has none.
    :param whole: sessions of the whole log were asked for, not only those up to a moment.
    """

    releases: tuple[str, str]
    logged: bool
    sessions: int
    known: int
    differing: int
    groups: tuple[CauseGroup, ...]
    behaviours: tuple[BehaviourDiff, ...]
    unsure: Unsure | None = None
    not_known: tuple[Unknown, ...] = ()
    doubtful: int = 0
    left_out: int = 0
    unconfigured: bool = False
    whole: bool = True

    @property
    def sure(self) -> int:
        """The number of moments at which both releases were run and the log knows all they need."""
        return self.sessions - self.doubtful

    def __bool__(self) -> bool:
        return bool(self.groups)

    @property
    def document(self) -> UpgradeDocument:
        """What answers show of it."""
        judged = verdict_of(self)
        groups = [
            shown_as(
                JudgedGroup,
                group,
                decisions=[
                    shown_as(JudgedDecision, each, level=level_of(each)) for each in group.changed
                ],
            )
            for group in self.groups
        ]
        effects, differ = judged.effects, bool(self)
        return shown_as(
            UpgradeDocument,
            self,
            verdict=judged.level,
            effects=effects,
            differ=differ,
            groups=groups,
        )

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the decisions that differ, their causes, and the behaviours that differ."""
        return {
            "decisions": table_of(
                DifferingRow,
                (_row(each) for group in self.groups for each in group.changed),
            ),
            "causes": table_of(
                CauseRow,
                (
                    CauseRow(
                        _joined(cause_group.causes),
                        len(cause_group.changed),
                        cause_group.sessions,
                        cause_group.changed[0].at,
                    )
                    for cause_group in self.groups
                ),
            ),
            "behaviours": table_of(BehaviourDiff, self.behaviours),
        }


def _row(decision: ChangedDecision) -> DifferingRow:
    old, new = decision.values
    causes = _joined(decision.causes)
    return DifferingRow(
        decision.at,
        decision.position,
        decision.kind,
        decision.about,
        old,
        new,
        causes,
        decision.known,
    )


def _joined(some: Sequence[Cause]) -> tuple[str, ...]:
    """Return causes as texts: behaviours that make a difference together are one."""
    return tuple(" and ".join(cause) for cause in some)
