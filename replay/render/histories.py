"""Histories of objects as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..histories.history import Happening, History
from ..moments.times import span_text
from ..objects.field_changes import FieldDifference
from .differences import change_lines
from .events import object_text
from .tables import NONE, PLAIN, Style, Table


def history_lines(found: History, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield a history for people: one paragraph per event, grouped by objects of the same name."""
    several = len(found.uids) > 1
    if several:
        yield f"{len(found.uids)} objects had this name, one after the other.\n\n"
    uid = ""
    for one in found.happenings:
        if one.uid and one.uid != uid:
            yield style.bold(f"{object_text(found.object)}  uid {one.uid}") + "\n"
            uid = one.uid
        yield from _happening_lines(one, style)


def version_table(found: Sequence[Happening]) -> Table:
    """Return the last versions of an object as a table: position, time, change, actor."""
    headers = ("POSITION", "VERSION", "TIME", "KIND", "WHO", "CHANGED")
    rows = [
        [
            f"@{one.position}",
            one.resource_version or NONE,
            span_text(one.span),
            one.kind,
            one.actor or NONE,
            one.note or _paths(one.changes),
        ]
        for one in found
    ]
    return Table(headers, rows, keep=("KIND", "CHANGED"), shorten=("WHO",))


def _paths(fields: Sequence[FieldDifference]) -> str:
    paths = [change.path for change in fields]
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more or NONE


def _happening_lines(one: Happening, style: Style) -> Iterator[str]:
    version = f"rv:{one.resource_version}" if one.resource_version else ""
    who = f"by {one.actor}" if one.actor else ""
    head = "  ".join(
        part for part in (f"@{one.position}", version, span_text(one.span), one.kind, who) if part
    )
    mark = style.removed if one.kind.endswith(".deleted") else style.changed
    yield f"  {mark(head)}\n"
    if one.note:
        yield f"      {one.note}\n"
    yield from change_lines(one.changes, style=style, indent="      ")
