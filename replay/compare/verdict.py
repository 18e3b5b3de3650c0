"""What another release changes for those who use a cluster, in a word; and what is not felt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .decisions import BIND, CRASH, ENQUEUE, EVICT, PHASE, PIPELINE
from .upgrade import Changed, Upgrade

CRASHES, PLACEMENTS, EVICTIONS, PHASES, UNFELT, NOTHING, UNKNOWN = LEVELS = (
    *("crashes", "placements", "evictions", "phases"),
    *("unfelt", "nothing", "unknown"),
)
"""Verdicts, the gravest first:

==========  ===============================================================================
crashes     the scheduler dies as one release only
placements  a pod is bound as one release only, or to another node
evictions   a pod is evicted as one release only
phases      only phases of PodGroups differ, or which of them are enqueued
unfelt      only texts differ, or to which node a pod is promised that has to wait
nothing     nothing differs
unknown     nothing was seen to change, and no session could be compared on all that it needs
==========  ===============================================================================
"""

FELT = (CRASHES, PLACEMENTS, EVICTIONS, PHASES)

_LEVELS: Mapping[str, str] = MappingProxyType(
    {
        CRASH: CRASHES,
        BIND: PLACEMENTS,
        EVICT: EVICTIONS,
        ENQUEUE: PHASES,
        PHASE: PHASES,
        PIPELINE: UNFELT,
    }
)
_TEXTS = frozenset({CRASH, EVICT})
"""Decisions whose value is a text: if both releases take them, only the text is another."""


class Effect(NamedTuple):
    """All differences of one level.

    :param objects: pods or PodGroups that have any; of crashes 0.
    :param sessions: that have any.
    """

    level: str
    decisions: int
    objects: int
    sessions: int


class Verdict(NamedTuple):
    """The gravest level that any difference has, and all levels that any has, gravest first."""

    level: str
    effects: tuple[Effect, ...]

    @property
    def felt(self) -> bool:
        """Whether anybody who uses the cluster would notice."""
        return self.level in FELT


def level_of(changed: Changed) -> str:
    """Return how grave a difference is: one of :data:`FELT`, or ``unfelt``."""
    if changed.kind in _TEXTS and None not in changed.values:
        return UNFELT
    return _LEVELS[changed.kind]


def verdict_of(found: Upgrade) -> Verdict:
    """Return the verdict on all that differs."""
    every = [changed for group in found.groups for changed in group.changed]
    effects = tuple(
        _effect(level, some)
        for level in (*FELT, UNFELT)
        if (some := [changed for changed in every if level_of(changed) == level])
    )
    level = effects[0].level if effects else NOTHING
    if level not in FELT and not found.sure:
        level = UNKNOWN
    return Verdict(level, effects)


def _effect(level: str, some: Iterable[Changed]) -> Effect:
    some = list(some)
    return Effect(
        level,
        len(some),
        len({changed.about for changed in some if changed.about}),
        len({changed.at for changed in some}),
    )
