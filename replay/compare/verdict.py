"""The verdict: what another release changes for users of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .decisions import BIND, CRASH, ENQUEUE, EVICT, PHASE, PIPELINE, STOP
from .upgrade import ChangedDecision, Upgrade

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


class VerdictEffect(NamedTuple):
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
    if changed.kind in _TEXTS and None not in changed.values:
        return UNNOTICED
    return _LEVELS[changed.kind]


def verdict_of(found: Upgrade) -> Verdict:
    """Return the verdict on all differences."""
    every = [changed for group in found.groups for changed in group.changed]
    effects = tuple(
        _effect(level, some)
        for level in (*NOTICED, UNNOTICED)
        if (some := [changed for changed in every if level_of(changed) == level])
    )
    level = effects[0].level if effects else NOTHING
    if level not in NOTICED and not found.sure:
        level = UNKNOWN
    return Verdict(level, effects)


def _effect(level: str, some: Iterable[ChangedDecision]) -> VerdictEffect:
    some = list(some)
    return VerdictEffect(
        level,
        len(some),
        len({changed.about for changed in some if changed.about}),
        len({changed.at for changed in some}),
        len({changed.at for changed in some if not changed.known}),
    )
