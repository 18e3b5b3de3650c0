"""Releases of Volcano and their behaviours, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..compare.releases import BehaviourDiff, ReleaseBehaviour, ReleaseLine, Unproven
from .tables import NONE, Style, Table, lines_of

_KEPT = ("VALUE", "MEANING", "WHAT CHANGES", "REASON")
"""Columns that even a narrow terminal shows."""

ORIGIN = ("PULL REQUEST", "SOURCE")
"""The additional columns of the wide form."""


def release_lines(found: Sequence[ReleaseLine], style: Style) -> Iterator[str]:
    """Yield the releases, with what each changed in each part of Volcano."""
    rows: list[tuple[str, ...]] = []
    for line in found:
        changed = [
            (str(part), ", ".join(_marked(line, name) for name in names))
            for part, names in line.changed.items()
            if names
        ]
        rows += [(line.name, *each) for each in changed or [(NONE, NONE)]]
    headers = ("RELEASE", "PART", "DIFFERENCES FROM THE RELEASE ABOVE")
    yield from lines_of(Table(headers, rows, _KEPT), style=style)


def _marked(line: ReleaseLine, name: str) -> str:
    lacks = line.lacking.get(name)
    return name if lacks is None else f"{name} (as before {lacks})"


def behaviour_lines(found: Sequence[ReleaseBehaviour], style: Style) -> Iterator[str]:
    """Yield the behaviours of a release; wide with what each is about, and where it comes from."""
    headers: tuple[str, ...] = ("BEHAVIOUR", "PART", "VALUE", "SINCE", "MEANING")
    rows: list[tuple[str, ...]] = [
        (one.behaviour, one.part, one.value, ",".join(one.since), one.why) for one in found
    ]
    if style.wide:
        headers = (*headers, "SUBJECT", "PROOF", *ORIGIN)
        more = [(one.subject, one.proof or NONE, one.pull or NONE, one.source) for one in found]
        rows = [(*row, *each) for row, each in zip(rows, more, strict=True)]
    yield from lines_of(Table(headers, rows, _KEPT), style=style)


def difference_lines(
    found: Sequence[BehaviourDiff], one: str, other: str, style: Style
) -> Iterator[str]:
    """Yield the behaviours in which two releases differ; wide as :func:`behaviour_lines`."""
    headers: tuple[str, ...] = ("BEHAVIOUR", "PART", one, other, "WHAT CHANGES")
    rows = [(each.behaviour, each.part, *each.values, each.why) for each in found]
    if style.wide:
        headers = (*headers, "SUBJECT", "SINCE", *ORIGIN)
        more = [
            (each.subject, ",".join(each.since), each.pull or NONE, each.source) for each in found
        ]
        rows = [(*row, *each) for row, each in zip(rows, more, strict=True)]
    yield from lines_of(Table(headers, rows, (*_KEPT, one, other)), style=style)


def unproven_lines(found: Sequence[Unproven], style: Style) -> Iterator[str]:
    """Yield the behaviours that no recorded decision proves, and why."""
    headers = ("BEHAVIOUR", "PART", "VALUE", "SINCE", "REASON")
    rows = [(one.behaviour, one.part, one.value, ",".join(one.since), one.lack) for one in found]
    yield from lines_of(Table(headers, rows, _KEPT), style=style)
