"""A difference between two moments as a part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from ...engine.events import Reference
from ...engine.kubernetes.resources import plural_of
from ..histories.diff import Diff, ObjectChanged, ObjectThen
from ..histories.diff_counts import KindCount, counted_by_kind
from ..render.differences import QUEUES_HEAD, holding_table, remark_on, summary_line, value_text
from ..render.events import object_text
from ..render.tables import cut
from ..report.records import Change
from .templates import rendered

MOST_OBJECTS = 40
"""Objects of one kind that are listed one by one."""

_MOST_FIELDS = 12
_LONGEST = 160

_FIRST = (
    *(("", "Node"), ("scheduling.volcano.sh", "Queue"), ("batch.volcano.sh", "Job")),
    *(("scheduling.volcano.sh", "PodGroup"), ("", "Pod")),
)
"""The kinds that matter most to scheduling, in the order of the page."""


class Field(NamedTuple):
    """A field that differs, with its values as text."""

    path: str
    old: str
    new: str


class One(NamedTuple):
    """An object that differs.

    :param sign: ``+``, ``-``, ``?`` or ``~``. :param word: what it stands for.
    :param more: how many fields are left out.
    """

    sign: str
    word: str
    name: str
    fields: tuple[Field, ...] = ()
    more: int = 0


class Kind(NamedTuple):
    """The differences of a kind; of many objects only some.

    :param listed: Event objects are only counted, as by the command.
    """

    plural: str
    sides: KindCount
    objects: tuple[One, ...]
    more: int
    listed: bool


_WORDS = (("+", "added"), ("-", "removed"), ("?", "first seen"), ("~", "changed"))


def change_part(change: Change) -> Markup:
    """Return a difference as HTML."""
    found = change.diff
    held = (
        ("What queues held", holding_table(QUEUES_HEAD, found.queues)),
        ("What nodes held", holding_table("NODE", found.nodes)),
    )
    return rendered(
        "change.html",
        change=change,
        diff=found,
        summary=summary_line(found, events=False).strip(),
        kinds=_kinds(found),
        holdings=[
            (title, table.first(MOST_OBJECTS), len(table.rows))
            for title, table in held
            if table.rows
        ],
        begun=[f"{plural_of(one.group, one.kind)} from {one.point}" for one in found.begun],
    )


def _kinds(found: Diff) -> list[Kind]:
    counts = {(one.group, one.kind): one for one in counted_by_kind(found)}
    rank = {pair: place for place, pair in enumerate(_FIRST)}
    order = sorted(counts, key=lambda pair: (rank.get(pair, len(rank)), pair))
    return [_kind(found, pair, counts[pair]) for pair in order]


def _kind(found: Diff, pair: tuple[str, str], count: KindCount) -> Kind:
    listed = pair[1] != "Event"
    sides: Sequence[Sequence[ObjectThen]] = (found.added, found.removed, found.first_seen)
    objects: list[One] = []
    if listed:
        for (sign, word), side in zip(_WORDS[:3], sides, strict=True):
            objects += [_then(sign, word, one) for one in side if _is(one.object, pair)]
        objects += [_changed(one) for one in found.changed if _is(one.object, pair)]
    more = len(objects[MOST_OBJECTS:])
    return Kind(plural_of(*pair), count, tuple(objects[:MOST_OBJECTS]), more, listed)


def _is(reference: Reference, pair: tuple[str, str]) -> bool:
    return (reference.group, reference.kind) == pair


def _then(sign: str, word: str, one: ObjectThen) -> One:
    return One(sign, word, object_text(one.object) + remark_on(sign, one))


def _changed(one: ObjectChanged) -> One:
    sign, word = _WORDS[3]
    fields = [
        Field(
            change.path,
            cut(value_text(change.old), _LONGEST),
            cut(value_text(change.new), _LONGEST),
        )
        for change in one.changes[:_MOST_FIELDS]
    ]
    name = object_text(one.object)
    return One(sign, word, name, tuple(fields), len(one.changes[_MOST_FIELDS:]))
