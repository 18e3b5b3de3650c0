"""What makes up a number, as text."""

from __future__ import annotations

from collections.abc import Iterator

from ..answers.blamed import Blame
from .tables import NONE, PLAIN, Style, Table, lines_of, paragraph


def blame_lines(found: Blame, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines of an answer: the number, what changed it last, and its parts in order."""
    yield from paragraph(
        style.bold(f"{found.about} {found.number} is {found.value}: {found.how}"), style
    )
    last = found.last
    if last is not None:
        by = f" by {last.by}" if last.by else ""
        when = f" at {last.when}" if last.when else ""
        text = f"last changed by {last.kind} {last.about} @{last.position}{by}{when}"
        yield from paragraph(f"{text} ({found.changed})", style)
    if found.parts:
        yield "\n"
        yield from lines_of(_table(found), style=style)


def _table(found: Blame) -> Table:
    is_field = any(one.before for one in found.parts)
    rows = []
    for one in found.parts:
        event = one.event
        amount = [one.before, one.amount] if is_field else [one.amount]
        place = [f"@{event.position}", event.time, event.by or NONE]
        rows.append([*amount, one.about, event.kind, *place])
    heads = ["BEFORE", "AFTER"] if is_field else ["AMOUNT"]
    headers = [*heads, "OBJECT", "SINCE EVENT", "POSITION", "TIME", "BY"]
    return Table(headers, rows, keep=(*heads, "OBJECT", "SINCE EVENT"), shorten=("BY",))
