"""Releases of Volcano and their behaviours, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ..compare.releases import BehaviourDiff, ReleaseBehaviour, ReleaseLine, Unproven
from .tables import NONE, Style, Table, TextColumn, lines_of, table_of


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
    return lines_of(Table(headers, rows), style=style)


def _marked(line: ReleaseLine, name: str) -> str:
    lacks = line.lacking.get(name)
    return name if lacks is None else f"{name} (as before {lacks})"


_VALUE: Sequence[TextColumn[Any]] = (
    TextColumn("BEHAVIOUR", lambda row: row.behaviour),
    TextColumn("PART", lambda row: row.part),
    TextColumn("VALUE", lambda row: row.value, keep=True),
    TextColumn("SINCE", lambda row: ",".join(row.since)),
)
_MEANING: TextColumn[ReleaseBehaviour] = TextColumn(
    "MEANING", lambda behaviour: behaviour.why, keep=True
)
_REASON: TextColumn[Unproven] = TextColumn("REASON", lambda unproven: unproven.lack, keep=True)
_CHANGES: TextColumn[BehaviourDiff] = TextColumn("WHAT CHANGES", lambda diff: diff.why, keep=True)
_SUBJECT: TextColumn[Any] = TextColumn("SUBJECT", lambda row: row.subject, wide=True)
_PROOF: TextColumn[Any] = TextColumn("PROOF", lambda row: row.proof or NONE, wide=True)
_ORIGIN: Sequence[TextColumn[Any]] = (
    TextColumn("PULL REQUEST", lambda row: row.pull or NONE, wide=True),
    TextColumn("SOURCE", lambda row: row.source, wide=True),
)


def behaviour_lines(behaviours: Sequence[ReleaseBehaviour], style: Style) -> Iterator[str]:
    """Yield the behaviours of a release; wide with what each is about, and where it comes from."""
    columns = (*_VALUE, _MEANING, _SUBJECT, _PROOF, *_ORIGIN)
    return lines_of(table_of(columns, behaviours, wide=style.wide), style=style)


def difference_lines(
    diffs: Sequence[BehaviourDiff], one: str, other: str, style: Style
) -> Iterator[str]:
    """Yield the behaviours in which two releases differ; wide as :func:`behaviour_lines`."""
    values: Sequence[TextColumn[BehaviourDiff]] = (
        TextColumn(one, lambda each: each.values[0], keep=True),
        TextColumn(other, lambda each: each.values[-1], keep=True),
    )
    since = msgspec.structs.replace(_VALUE[-1], wide=True)
    columns = (*_VALUE[:2], *values, _CHANGES, _SUBJECT, since, *_ORIGIN)
    return lines_of(table_of(columns, diffs, wide=style.wide), style=style)


def unproven_lines(unprovens: Sequence[Unproven], style: Style) -> Iterator[str]:
    """Yield the behaviours that no recorded decision proves, and why."""
    return lines_of(table_of((*_VALUE, _REASON), unprovens), style=style)
