"""Colours of pictures on light and on dark paper; with any colour blindness they stay distinct.

The hues are those of Okabe and Ito, "Color Universal Design" (2008), darker or lighter so that
lines have a contrast of 3 and text of 4.5 on their paper. No line is known by its colour alone:
each has its dashes, and each surface its place in the legend.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

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


_LIGHT = Colours(
    paper="#fdfefe",
    ink="#1f2530",
    soft="#5a6475",
    grid="#dde3ea",
    mark="#a4460a",
    marked="#f8e7c9",
    lines=MappingProxyType(
        {
            Role.ALLOCATED: "#0072b2",
            Role.DESERVED: "#00805c",
            Role.CAPABILITY: "#d55e00",
            Role.GUARANTEE: "#a8497f",
            Role.NEEDED: "#1f2531",
            Role.CHANGED: "#6a3d9a",
        }
    ),
    surfaces=MappingProxyType(
        {
            Role.ALLOCATED: "#c9e0f0",
            Role.PENDING: "#c07800",
            Role.BOUND: "#56b4e9",
            Role.RUNNING: "#00629a",
            Role.FINISHED: "#b4bdc9",
            Role.LOGGED: "#4a90c2",
            Role.INFERRED: "#d3a03a",
            Role.LONGEST: "#8a7fb5",
            Role.EVICTED: "#cf5f10",
            Role.SAME: "#7fb0d4",
            Role.EXPLAINED: "#e0a92e",
            Role.DIFFERENT: "#a3341c",
        }
    ),
    levels=("#eef2f6", "#cfe1f2", "#93c3df", "#4a97c9", "#1764ab", "#083370", "#d4570a"),
    cordoned="#e6a000",
    not_ready="#b03a7a",
)

_DARK = Colours(
    paper="#14181f",
    ink="#e4e9f0",
    soft="#9aa6b5",
    grid="#2a323d",
    mark="#f0a35e",
    marked="#463414",
    lines=MappingProxyType(
        {
            Role.ALLOCATED: "#56b4e9",
            Role.DESERVED: "#2fc79b",
            Role.CAPABILITY: "#f28c45",
            Role.GUARANTEE: "#e094c4",
            Role.NEEDED: "#e4e9f1",
            Role.CHANGED: "#c4a0ee",
        }
    ),
    surfaces=MappingProxyType(
        {
            Role.ALLOCATED: "#1c4460",
            Role.PENDING: "#f5cf6b",
            Role.BOUND: "#5fb2e6",
            Role.RUNNING: "#2b7fc0",
            Role.FINISHED: "#556070",
            Role.LOGGED: "#4d9bd0",
            Role.INFERRED: "#d9ad55",
            Role.LONGEST: "#9c92cc",
            Role.EVICTED: "#f08a44",
            Role.SAME: "#3a6e96",
            Role.EXPLAINED: "#e3b34f",
            Role.DIFFERENT: "#ff7d5c",
        }
    ),
    levels=("#1e2630", "#1f3f59", "#27618c", "#3f8cc2", "#83bde6", "#d6ebfa", "#f58b42"),
    cordoned="#eab544",
    not_ready="#e38fc0",
)

COLOURS: Mapping[str, Colours] = MappingProxyType({LIGHT: _LIGHT, DARK: _DARK})


def pairs() -> dict[str, str]:
    """Return the dark colour for each light one."""
    return dict(zip(_all(_LIGHT), _all(_DARK), strict=True))


def _all(colours: Colours) -> list[str]:
    return [
        *colours[:6],
        *(colours.lines[role] for role in Role if role in colours.lines),
        *(colours.surfaces[role] for role in Role if role in colours.surfaces),
        *colours.levels,
        colours.cordoned,
        colours.not_ready,
    ]
