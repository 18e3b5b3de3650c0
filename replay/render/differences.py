"""Differences and histories of objects as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ...engine.events import Reference
from ...engine.kubernetes.amount_texts import in_one_unit
from ..histories.diff import Diff, DiffSide, Holding, HoldingChanged, ObjectThen
from ..moments.times import span_text
from ..objects.field_changes import FieldDifference
from .blocks import number_ref, object_ref
from .events import object_text
from .tables import NONE, PLAIN, Style, Table, cut, few_of, lines_of, paragraph

if TYPE_CHECKING:
    from ..histories.history import Happening, History

_NOT_KNOWN = "not known"
QUEUES_HEAD = "QUEUE+BELOW"
"""The head of the names of queues: each has what it and the queues below it hold."""

GONE = "gone"
"""What is written for a node or queue that does not exist any more."""

_LONGEST = 2_000
"""The most characters of a value on a terminal; a pipe shows all."""


FIRST_SEEN = "first seen; it may have existed before"

Made = Callable[[Reference, int | None], str]


def _no_actor(_object: Reference, _field: int | None) -> str:
    return ""


def diff_lines(
    diff: Diff, *, style: Style = PLAIN, events: bool = False, made: Made | None = None
) -> Iterator[str]:
    """Yield a difference for people: objects, fields, then the resources of nodes and queues.

    :param events: list Kubernetes's Event objects one by one; otherwise only their number.
    :param made: returns who made the difference of an object, or of its n-th changed field.
    """
    by = made or _no_actor
    yield from side_lines(diff)
    lone = list(_lone_lines(diff, style, by, events=events))
    yield from lone
    blocks = len(lone)
    for changed in diff.changed:
        if changed.object.kind == "Event" and not events:
            continue
        blocks += 1
        name = object_text(changed.object)
        yield style.changed(f"~ {name}") + by(changed.object, None) + "\n"
        # Makers are asked by the number of the field: one name may occur twice.
        for number, change in enumerate(changed.changes):
            line = f"    {_change_text(change, style)}{by(changed.object, number)}"
            yield from paragraph(line, style)
        if changed.stale[0] != changed.stale[1]:
            yield "    (a write with an unknown result followed this version)\n"
    if blocks:
        yield "\n"
    yield from _holding_lines("NODE", diff.nodes, style)
    yield from _holding_lines(QUEUES_HEAD, diff.queues, style)
    yield summary_line(diff, events=events)


def _lone_lines(diff: Diff, style: Style, by: Made, *, events: bool) -> Iterator[str]:
    """Yield the objects that exist at only one of the two moments."""
    for sign, mark, these in (
        ("+", style.added, diff.added),
        ("-", style.removed, diff.removed),
        ("?", style.changed, diff.first_seen),
    ):
        for lone in these:
            if events or lone.object.kind != "Event":
                name = f"{sign} {object_text(lone.object)}{remark_on(sign, lone)}"
                yield mark(name) + ("" if sign == "?" else by(lone.object, None)) + "\n"


def change_lines(
    fields: Sequence[FieldDifference], *, style: Style = PLAIN, indent: str
) -> Iterator[str]:
    """Yield ``path: old → new`` for each field; a terminal shows long ones in several lines."""
    for change in fields:
        yield from paragraph(f"{indent}{_change_text(change, style)}", style)


def _change_text(change: FieldDifference, style: Style) -> str:
    """Return a change in one line; a terminal shows the begin of a value of several pages."""
    most = None if style.width is None else _LONGEST
    old, new = (cut(value_text(value), most) for value in (change.old, change.new))
    return f"{change.path}: {style.removed(old)} → {style.added(new)}"


def value_text(value: Any) -> str:
    """Return a value in one line; a field that does not exist is ``<none>``."""
    if value is msgspec.UNSET:
        return NONE
    return msgspec.json.encode(value, order="sorted").decode()


def side_lines(diff: Diff) -> Iterator[str]:
    """Yield the two moments of a difference."""
    for word, side in (("from", diff.before), ("to  ", diff.after)):
        yield f"{word}  {side_text(side)}\n"
    yield "\n"


def side_text(side: DiffSide) -> str:
    """Return a moment of a difference, with its time."""
    time = f"  ({side.shown})" if side.shown and side.shown != side.point else ""
    return f"{side.point}{time}"


def remark_on(sign: str, one: ObjectThen) -> str:
    """Return what to add to the name of an object that only one moment has, if anything."""
    if sign == "?":
        return f"  ({FIRST_SEEN})"
    if not one.replaced:
        return ""
    if sign == "+":
        return "  (another object with this name existed before)"
    return "  (replaced by another object with this name)"


def _holding_lines(title: str, holdings: Sequence[HoldingChanged], style: Style) -> Iterator[str]:
    if holdings:
        yield from lines_of(holding_table(title, holdings), style=style)
        yield "\n"


def holding_table(title: str, holdings: Sequence[HoldingChanged]) -> Table:
    """Return what nodes or queues held before and after, as a table with this first head."""
    resources = sorted(
        {
            name
            for holding in holdings
            for side in (holding.before, holding.after)
            if side is not None
            for name in side.used
        },
        key=lambda name: (name not in ("cpu", "memory"), name),
    )
    says = {resource: _in_one_unit(resource, holdings) for resource in resources}
    kind, used = ("node", "used") if title == "NODE" else ("queue", "allocated")
    rows = []
    for holding in holdings:
        name = f"{kind}/{holding.name}"
        pods = number_ref(name, "pods", _pods(holding))
        amounts = (
            number_ref(name, f"{used}.{each}", _amounts(holding, each, says[each]))
            for each in resources
        )
        rows.append([object_ref(name, holding.name), pods, *amounts])
    headers = (title, "PODS", *(name.upper() for name in resources))
    return Table(headers, rows, keep=("PODS", "CPU", "MEMORY"))


def _absent(holding: HoldingChanged, side: Holding | None) -> str:
    """Return the text for a side without resources: the object does not exist, or is not known."""
    # The later side: it existed, and does not any more.
    if holding.after is side:
        return GONE
    return _NOT_KNOWN if holding.first_seen else NONE


def _pods(holding: HoldingChanged) -> str:
    before, after = (
        _absent(holding, side) if side is None else str(side.pods)
        for side in (holding.before, holding.after)
    )
    return before if before == after else f"{before} → {after}"


def _in_one_unit(resource: str, holdings: Sequence[HoldingChanged]) -> Callable[[float], str]:
    sides = (side for holding in holdings for side in (holding.before, holding.after) if side)
    amounts = (held.get(resource, 0.0) for side in sides for held in (side.used, side.allocatable))
    return in_one_unit(resource, amounts)


def _amounts(holding: HoldingChanged, resource: str, says: Callable[[float], str]) -> str:
    """Return ``2 → 4 of 8``; the total stands beside each amount that it is the total of.

    :param says: an amount, in the unit of the column.
    """
    before, after = (
        _absent(holding, side) if side is None else says(side.used.get(resource, 0.0))
        for side in (holding.before, holding.after)
    )
    old, new = (
        f" of {says(side.allocatable[resource])}"
        if side is not None and resource in side.allocatable
        else ""
        for side in (holding.before, holding.after)
    )
    # The total changed as well, so each side has the one that is its own.
    if old != new:
        return f"{before}{old} → {after}{new}"
    return f"{before if before == after else f'{before} → {after}'}{new}"


def summary_line(diff: Diff, *, events: bool) -> str:
    """Return how many objects differ, as one line.

    :param events: Event objects were listed one by one.
    """
    first = f"{len(diff.first_seen)} first seen, " if diff.first_seen else ""
    text = (
        f"{len(diff.added)} added, {first}{len(diff.removed)} removed, "
        f"{len(diff.changed)} changed, {diff.summary.same} the same"
    )
    if not events:
        references = [lone.object for lone in (*diff.added, *diff.first_seen, *diff.removed)]
        references += [changed.object for changed in diff.changed]
        hidden = sum(reference.kind == "Event" for reference in references)
        if hidden:
            text += f"; {hidden} of them are Event objects, shown with --kind events"
    return text + "\n"


def history_lines(history: History, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield a history for people: one paragraph per event, grouped by objects of the same name."""
    several = len(history.uids) > 1
    if several:
        yield f"{len(history.uids)} objects had this name, one after the other.\n\n"
    uid = ""
    for happening in history.happenings:
        # A head only where another object of the same name begins.
        if happening.uid and happening.uid != uid:
            yield style.bold(f"{object_text(history.object)}  uid {happening.uid}") + "\n"
            uid = happening.uid
        yield from _happening_lines(happening, style)


def version_table(found: Sequence[Happening]) -> Table:
    """Return the last versions of an object as a table: position, time, change, actor."""
    headers = ("POSITION", "VERSION", "TIME", "KIND", "WHO", "CHANGED")
    rows = [
        [
            f"@{happening.position}",
            happening.resource_version or NONE,
            span_text(happening.span),
            happening.kind,
            happening.actor or NONE,
            happening.note or few_of([each.path for each in happening.changes], 3) or NONE,
        ]
        for happening in found
    ]
    return Table(headers, rows, keep=("KIND", "CHANGED"), shorten=("WHO",))


def _happening_lines(happening: Happening, style: Style) -> Iterator[str]:
    version = f"rv:{happening.resource_version}" if happening.resource_version else ""
    who = f"by {happening.actor}" if happening.actor else ""
    head = "  ".join(
        part
        for part in (
            f"@{happening.position}",
            version,
            span_text(happening.span),
            happening.kind,
            who,
        )
        if part
    )
    mark = style.removed if happening.kind.endswith(".deleted") else style.changed
    yield f"  {mark(head)}\n"
    if happening.note:
        yield f"      {happening.note}\n"
    yield from change_lines(happening.changes, style=style, indent="      ")
