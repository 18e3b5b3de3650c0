"""What another release would decide differently, as text and JSON, by cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..comparison.upgrade import Changed, Group, Upgrade
from .comparison import behaviour_lines, cause_text, value_text
from .tables import NONE, PLAIN, Style, Table, lines_of

_SHOWN = 5
"""Decisions of a group that the text shows; JSON has all."""


def upgrade_lines(found: Upgrade, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines: how much differs, why, and for every cause where to look."""
    one, other = found.releases
    of = "logged sessions" if found.logged else "moments of a change"
    yield (
        f"{found.differing} of {found.sessions} sessions decide differently as {other} than as "
        f"{one} ({of}; {found.known} in the log).\n"
    )
    if not found:
        return
    rows = [
        (
            cause_text(group.causes),
            str(len(group.changed)),
            str(group.sessions),
            group.changed[0].at,
        )
        for group in found.groups
    ]
    yield "\n"
    yield from lines_of(
        Table(("BECAUSE OF", "DECISIONS", "SESSIONS", "FIRST AT"), rows), style=style
    )
    for group in found.groups:
        yield from _group_lines(group, found.releases, style)
    named = {name for group in found.groups for cause in group.causes for name in cause}
    behaviours = [row for row in found.behaviours if row.behaviour in named]
    if behaviours:
        yield "\n"
        yield from behaviour_lines(behaviours, found.releases, style=style)


def _group_lines(group: Group, releases: tuple[str, str], style: Style) -> Iterator[str]:
    yield f"\n{style.bold(cause_text(group.causes))}\n"
    rows = [_row(changed) for changed in group.changed[:_SHOWN]]
    yield from lines_of(Table(("AT", "EVENT", "DECISION", "OF", *releases), rows), style=style)
    if len(group.changed) > _SHOWN:
        yield f"({len(group.changed) - _SHOWN} more: -o json)\n"


def _row(changed: Changed) -> tuple[str, ...]:
    values = map(value_text, changed.values)
    return changed.at, f"@{changed.position}", changed.kind, changed.about or NONE, *values


def upgrade_document(found: Upgrade) -> dict[str, Any]:
    """Return the answer as JSON has it; values are in the order of the releases."""
    return {
        "releases": list(found.releases),
        "differ": bool(found),
        "logged": found.logged,
        "sessions": found.sessions,
        "known": found.known,
        "differing": found.differing,
        "groups": [
            {
                "causes": [list(cause) for cause in group.causes],
                "sessions": group.sessions,
                "decisions": [
                    {
                        "at": each.at,
                        "position": each.position,
                        "kind": each.kind,
                        "about": each.about,
                        "values": list(each.values),
                    }
                    for each in group.changed
                ],
            }
            for group in found.groups
        ],
        "behaviours": [row._asdict() for row in found.behaviours],
    }
