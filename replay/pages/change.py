"""A difference between two moments as parts of a page: the report's, and the server's.

A terminal has other lines for it, with a colour for each sign, and who made each change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from ...engine.events import Reference
from ...engine.kubernetes.resources import plural_of
from ..histories.diff import Diff, ObjectChanged
from ..histories.diff_counts import KindCount, counted_by_kind
from ..render.blocks import Block, Drawn, Folded, Ref, Section, Sentence, moment_ref, object_ref
from ..render.differences import (
    QUEUES_HEAD,
    holding_table,
    remark_on,
    side_text,
    summary_line,
    value_text,
)
from ..render.events import object_text
from ..render.tables import cut
from .blocks import PageLinks, blocks_html, words
from .templates import rendered

MOST_OBJECTS = 40
"""Objects of one kind that are listed one by one."""

FEW = 12
"""So many rows are shown at once; more are folded. So many fields of an object are shown."""

_LONGEST = 300

_FIRST = (
    *(("", "Node"), ("scheduling.volcano.sh", "Queue"), ("batch.volcano.sh", "Job")),
    *(("scheduling.volcano.sh", "PodGroup"), ("", "Pod")),
)
"""The kinds that matter most to scheduling, in the order of the page."""


class DifferingObject(NamedTuple):
    """An object that differs.

    :param sign: ``+``, ``-``, ``?`` or ``~``. :param word: what it stands for.
    :param position: of its version. :param fields: with the values before and after, as text.
    :param more: how many fields are left out.
    """

    sign: str
    word: str
    object: Reference
    position: int
    remark: str = ""
    fields: Sequence[tuple[str, str, str]] = ()
    more: int = 0


def change_part(diff: Diff, remarks: Iterable[str]) -> Markup:
    """Return a difference as HTML, for a report. :param remarks: on what was not compared."""
    sides = f"From {side_text(diff.before)} to {side_text(diff.after)}."
    first: list[Block] = [
        Sentence(summary_line(diff, events=False).strip(), "sentence"),
        Sentence(sides),
        *(Sentence(remark, "remark") for remark in remarks),
        *begun(diff),
        *holdings(diff),
    ]
    return blocks_html([Section(first), Section(list(_kinds(diff)), "Objects")], level=3)


def begun(diff: Diff) -> Iterator[Sentence]:
    """Yield which kinds are compared only from a later moment on, if any are."""
    kinds = ", ".join(
        f"{plural_of(begin.group, begin.kind)} from {begin.point}" for begin in diff.begun
    )
    if kinds:
        later = "Compared from a later moment on, as nothing is known before"
        yield Sentence(f"{later}: {kinds}.", "remark")


def holdings(diff: Diff) -> Iterator[Folded]:
    """Yield what queues and nodes held, if it differs."""
    sides = (("queues", QUEUES_HEAD, diff.queues), ("nodes", "NODE", diff.nodes))
    for plural, head, amounts in sides:
        if amounts:
            table = holding_table(head, amounts)._replace(title=f"What {plural} held")
            title = f"What {plural} held, before → after: {len(amounts)}"
            yield Folded(title, [table], is_open=len(amounts) <= FEW)


def objects_of(diff: Diff) -> Iterator[DifferingObject]:
    """Yield the objects that differ, by what happened to them."""
    lone = (("+", "added", diff.added), ("-", "removed", diff.removed))
    for sign, word, side in (*lone, ("?", "first seen", diff.first_seen)):
        for object_then in side:
            remark = remark_on(sign, object_then).strip()
            yield DifferingObject(sign, word, object_then.object, object_then.position, remark)
    yield from map(_changed, diff.changed)


def _changed(difference: ObjectChanged) -> DifferingObject:
    shown, more = difference.changes[:FEW], len(difference.changes[FEW:])
    fields = [(each.path, _short(each.old), _short(each.new)) for each in shown]
    return DifferingObject(
        "~", "changed", difference.object, difference.positions[1], "", fields, more
    )


def _short(value: object) -> str:
    return cut(value_text(value), _LONGEST)


def objects_drawn(objects: Sequence[DifferingObject], links: PageLinks | None) -> Drawn:
    """Return a list of objects: each with its sign, and its fields struck out and put in."""

    def link(ref: Ref) -> Markup:
        return words(ref, links)

    shown = [
        (
            differing_object,
            link(object_ref(object_text(differing_object.object))),
            link(moment_ref(differing_object.position)),
        )
        for differing_object in objects
    ]
    return Drawn(rendered("objects.html", objects=shown))


def _kinds(diff: Diff) -> Iterator[Block]:
    """Yield the objects of each kind."""
    counts = {
        (kind_count.group, kind_count.kind): kind_count for kind_count in counted_by_kind(diff)
    }
    rank = {pair: place for place, pair in enumerate(_FIRST)}
    every = list(objects_of(diff))
    for pair in sorted(counts, key=lambda pair: (rank.get(pair, len(rank)), pair)):
        plural = plural_of(*pair)
        title = f"{plural} {counts_text(counts[pair], named=True)}"
        if pair[1] == "Event":
            only = "Event objects are only counted; the command lists them with --kind events."
            yield Folded(title, [Sentence(only)])
            continue
        objects = [
            differing_object
            for differing_object in every
            if (differing_object.object.group, differing_object.object.kind) == pair
        ]
        more = len(objects[MOST_OBJECTS:])
        left = Sentence(f"{more} more {plural}: the command below prints them all.", "cut")
        blocks = [objects_drawn(objects[:MOST_OBJECTS], None), *([left] if more else ())]
        is_open = plural in {"nodes", "queues"} and len(objects) <= FEW
        yield Folded(title, blocks, is_open=is_open)


def counts_text(count: KindCount, *, named: bool = False) -> str:
    """Return how many objects of a kind differ, as in ``+3 ~2``. :param named: with words."""
    sides = (
        ("+", "added", count.added),
        ("−", "removed", count.removed),
        ("~", "changed", count.changed),
        ("?", "first seen", count.first_seen),
    )
    counts = (f"{sign}{many}{f' {word}' if named else ''}" for sign, word, many in sides if many)
    return " ".join(counts)
