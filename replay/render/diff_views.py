"""Other views of a difference: counts, and who made it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from ...engine.events import Reference
from ...engine.kubernetes.resources import plural_of
from ..histories.diff import Diff
from ..histories.diff_actors import UNKNOWN_MAKER, Maker, Who
from ..histories.diff_counts import counted_by_kind
from ..moments.times import span_text
from ..tabular.record_columns import Time
from .blocks import Block, Section, block_lines, first_rows
from .differences import Made, side_lines, summary_line
from .documents import plain
from .tables import PLAIN, Style, Table

_FIELDS_SHOWN = 10
NOT_KNOWN = "not known"


def counts_lines(diff: Diff, who: Who | None = None, *, style: Style = PLAIN) -> Iterator[str]:
    """Yield counts of a difference: objects by kind, fields by frequency, actors if requested."""
    kinds = counted_by_kind(diff)
    blocks: list[Sequence[Block]] = []
    if kinds:
        # Objects that are first seen are rare: no column of zeros for them.
        sides = [side for side in _COUNTED if side != "first_seen" or diff.first_seen]
        rows = [
            (
                plural_of(kind_count.group, kind_count.kind),
                *(str(getattr(kind_count, side)) for side in sides),
            )
            for kind_count in kinds
        ]
        blocks.append([Table(("KIND", *(_head(side) for side in sides)), rows)])
    for kind in kinds:
        if kind.fields:
            fields = [(field.path, str(field.objects)) for field in kind.fields]
            title = f"FIELD OF {plural_of(kind.group, kind.kind).upper()}"
            blocks.append(
                first_rows(Table((title, "OBJECTS"), fields, keep=("OBJECTS",)), _FIELDS_SHOWN)
            )
    if who is not None and (actors := _actor_rows(diff, who)):
        rows = [(row["actor"] or NOT_KNOWN, *(str(row[side]) for side in _SIDES)) for row in actors]
        headers = ("ACTOR", *map(_head, _SIDES))
        blocks.append([Table(headers, rows, shorten=("ACTOR",))])
    blocks.append([summary_line(diff, events=True).rstrip("\n")])
    yield from side_lines(diff)
    yield from block_lines(map(Section, blocks), style=style)


def _head(side: str) -> str:
    return side.upper().replace("_", " ")


def counts_json(diff: Diff, who: Who | None = None) -> dict[str, Any]:
    """Return the counts as ``diff --summary -o json`` prints them."""
    whole = plain(diff)
    return {
        **{name: whole[name] for name in ("apiVersion", "from", "to", "summary", "not_known")},
        "kind": "DiffSummary",
        "kinds": counted_by_kind(diff),
        **({} if who is None else {"actors": _actor_rows(diff, who)}),
    }


def who_json(diff: Diff, who: Who) -> dict[str, Any]:
    """Return a difference for JSON, with ``who`` in every object and every change."""
    whole: dict[str, Any] = plain(diff)
    for side, these in (("added", diff.added), ("removed", diff.removed)):
        # Documents and records are in the same order.
        for document, lone in zip(whole[side], these, strict=True):
            document["who"] = _maker_json(who.objects.get(lone.object, UNKNOWN_MAKER))
    for document, changed in zip(whole["changed"], diff.changed, strict=True):
        makers = who.fields[changed.object]
        for change, maker in zip(document["changes"], makers, strict=True):
            change["who"] = _maker_json(maker)
        if not makers:
            document["who"] = _maker_json(who.objects.get(changed.object, UNKNOWN_MAKER))
    return whole


def made_by(who: Who) -> Made:
    """Return a function that names who made a difference, for the lines of a diff.

    If one event changed all fields of an object, it is named once, beside the object.
    """

    def text(changed: Reference, field: int | None) -> str:
        fields = who.fields.get(changed, ())
        # One event mostly changes all fields at once: its maker is not repeated.
        alike = len(set(fields)) == 1
        if field is not None:
            return "" if alike else f"  {maker_text(fields[field])}"
        if not fields:
            return f"  {maker_text(who.objects.get(changed, UNKNOWN_MAKER))}"
        return f"  {maker_text(fields[0])}" if alike else ""

    return text


def maker_text(maker: Maker) -> str:
    """Return the actor of a difference, and the event that records it."""
    parts = [f"by {maker.actor}" if maker.actor else "by an unknown actor"]
    if maker.perhaps:
        parts = [f"by an unknown actor, perhaps {maker.perhaps} (@{maker.asked})"]
    if maker.position:
        parts += [f"@{maker.position}", span_text(maker.span)]
    return "  ".join(parts)


def _maker_json(maker: Maker) -> dict[str, Any]:
    span = maker.span
    return {
        "actor": maker.actor or None,
        "position": maker.position or None,
        "event": maker.kind or None,
        "time": Time.of(span.estimate),
        "earliest": Time.of(span.earliest),
        "latest": Time.of(span.latest),
        **({"perhaps": maker.perhaps, "asked": maker.asked} if maker.perhaps else {}),
    }


def _actor_rows(diff: Diff, who: Who) -> list[dict[str, Any]]:
    """Return how many objects each actor added, removed and changed, by name."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for side, these in (("added", diff.added), ("removed", diff.removed)):
        for lone in these:
            counts[who.objects.get(lone.object, UNKNOWN_MAKER).actor][side] += 1
    for changed in diff.changed:
        # Each actor counts once for an object, however many fields it changed.
        for actor in {maker.actor for maker in who.fields[changed.object]}:
            counts[actor]["changed"] += 1
    return [
        {"actor": actor or None, **{side: counts[actor][side] for side in _SIDES}}
        for actor in sorted(counts)
    ]


_SIDES = ("added", "removed", "changed")
_COUNTED = ("added", "first_seen", "removed", "changed")
