"""Colours of pictures on light and on dark paper; with any colour blindness they stay distinct.

The hues are those of Okabe and Ito, "Color Universal Design" (2008), darker or lighter so that
lines have a contrast of 3 and text of 4.5 on their paper. No line is known by its colour alone:
each has its dashes, and each surface its place in the legend.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from ..render.state_looks import DONE, FAILED, PENDING, RUNNING, STATES, WAITING
from .picture import Role

LIGHT, DARK, AUTO = THEMES = ("light", "dark", "auto")


class Colours(NamedTuple):
    """The colours of one theme. No two of them are equal: see :func:`pairs`."""

    paper: str
    ink: str
    soft: str
    grid: str
    mark: str
    marked: str
    lines: Mapping[Role, str]
    surfaces: Mapping[Role, str]
    levels: tuple[str, ...]
    cordoned: str
    not_ready: str


_PLAIN: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "paper": ("#fdfefe", "#14181f"),
        "ink": ("#1f2530", "#e4e9f0"),
        "soft": ("#5a6475", "#9aa6b5"),
        "grid": ("#dde3ea", "#2a323d"),
        "mark": ("#a4460a", "#f0a35e"),
        "marked": ("#f8e7c9", "#463414"),
    }
)
_STATES: Mapping[Role, tuple[str, str]] = MappingProxyType(
    {
        role: (STATES[state].light, STATES[state].dark)
        for role, state in (
            (Role.PENDING, PENDING),
            (Role.BOUND, WAITING),
            (Role.RUNNING, RUNNING),
            (Role.FINISHED, DONE),
            (Role.EVICTED, FAILED),
        )
    }
)
"""Pods by state: as on pages."""

_LINES: Mapping[Role, tuple[str, str]] = MappingProxyType(
    {
        Role.ALLOCATED: ("#0072b2", "#56b4e9"),
        Role.DESERVED: ("#00805c", "#2fc79b"),
        Role.CAPABILITY: ("#d55e00", "#f28c45"),
        Role.GUARANTEE: ("#a8497f", "#e094c4"),
        Role.NEEDED: ("#1f2531", "#e4e9f1"),
        Role.CHANGED: ("#6a3d9a", "#c4a0ee"),
    }
)
_SURFACES: Mapping[Role, tuple[str, str]] = MappingProxyType(
    {
        Role.ALLOCATED: ("#c9e0f0", "#1c4460"),
        **_STATES,
        Role.LOGGED: ("#4a90c2", "#4d9bd0"),
        Role.INFERRED: ("#d3a03a", "#d9ad55"),
        Role.LONGEST: ("#8a7fb5", "#9c92cc"),
        Role.SAME: ("#7fb0d4", "#3a6e96"),
        Role.EXPLAINED: ("#e0a92e", "#e3b34f"),
        Role.DIFFERENT: ("#a3341c", "#ff7d5c"),
    }
)
_LEVELS = (
    ("#eef2f6", "#1e2630"),
    ("#cfe1f2", "#1f3f59"),
    ("#93c3df", "#27618c"),
    ("#4a97c9", "#3f8cc2"),
    ("#1764ab", "#83bde6"),
    ("#083370", "#d6ebfa"),
    ("#d4570a", "#f58b42"),
)
_CORDONED, _NOT_READY = ("#e6a000", "#eab544"), ("#b03a7a", "#e38fc0")


def _theme(place: int) -> Colours:
    paper, ink, soft, grid, mark, marked = (pair[place] for pair in _PLAIN.values())
    return Colours(
        *(paper, ink, soft, grid, mark, marked),
        lines=MappingProxyType({role: pair[place] for role, pair in _LINES.items()}),
        surfaces=MappingProxyType({role: pair[place] for role, pair in _SURFACES.items()}),
        levels=tuple(pair[place] for pair in _LEVELS),
        cordoned=_CORDONED[place],
        not_ready=_NOT_READY[place],
    )


COLOURS: Mapping[str, Colours] = MappingProxyType({LIGHT: _theme(0), DARK: _theme(1)})


def pairs() -> dict[str, str]:
    """Return the dark colour for each light one."""
    tables = (_PLAIN.values(), _LINES.values(), _SURFACES.values(), _LEVELS)
    return dict(chain(*tables, (_CORDONED, _NOT_READY)))
