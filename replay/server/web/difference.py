"""The page of two moments: which objects and fields differ, and what queues and nodes hold."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import msgspec

from ....engine.kubernetes.resources import plural_of
from ...facade.documents import document
from ...facade.log import Log
from ...histories.diff import Diff, ObjectChanged, ObjectThen
from ...histories.diff_counts import counted_by_kind
from ...render.differences import QUEUES_HEAD, holding_table, remark_on, value_text
from ...render.events import object_text
from ...render.tables import Table, cut
from .bounded import MOST_ROWS, Some, number, some
from .look import Look
from .notes import filled_in, sentences
from .page import page

BEFORE = 100
"""How many positions before the moment the other one is, if none is chosen."""

MOST_FIELDS = 12
LONGEST = 300

ADDED, REMOVED, FIRST_SEEN, CHANGED = "added", "removed", "first seen", "changed"
_SIGNS = MappingProxyType({ADDED: "+", REMOVED: "-", FIRST_SEEN: "?"})


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """A field that differs, with its values as text."""

    path: str
    old: str
    new: str


class Differing(msgspec.Struct, frozen=True, kw_only=True):
    """An object that differs. :param object: as links name it. :param position: of its version.

    :param more: how many fields are left out.
    """

    change: str
    kind: str
    object: str
    remark: str
    position: int
    fields: tuple[Field, ...]
    more: int


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """How many objects of a kind differ. :param chosen: only they are shown."""

    plural: str
    added: int
    removed: int
    changed: int
    first_seen: int
    chosen: bool


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue or node held, before → after. :param object: as links name it."""

    object: str
    cells: tuple[str, ...]


class Holdings(msgspec.Struct, frozen=True, kw_only=True):
    """What queues or nodes held, if it differs. :param more: how many are left out."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[Held, ...]
    more: int


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """What differs. :param chosen: the other moment was chosen, else it is a little before.

    :param begun: kinds that are known only from a later moment on, and from when.
    """

    before: int
    after: int
    before_time: str
    after_time: str
    chosen: bool
    kind: str
    kinds: tuple[Kind, ...]
    same: int
    holdings: tuple[Holdings, ...]
    objects: Some[Differing]
    events: int
    begun: tuple[str, ...]
    not_known: tuple[str, ...]
    diff: Diff


def _json(found: Difference) -> Any:
    """Return the difference as the command prints it."""
    return document(found.diff)


@page("diff", template="difference.html", title="What changed", nav="Diff", key="d", json=_json)
def difference(log: Log, look: Look) -> Difference:
    """Return what differs between the moment and the one of ``vs``, whichever comes first."""
    other = max(0, look.position - BEFORE) if look.versus is None else look.versus
    low, high = sorted((look.position, other))
    found = log.diff(f"@{low}", f"@{high}")
    kind = look.get("kind")
    every = list(_objects(found))
    listed = [one for one in every if one.kind == (kind or one.kind) and _listed(one, kind)]
    return Difference(
        before=low,
        after=high,
        before_time=found.before.shown or "",
        after_time=found.after.shown or "",
        chosen=look.versus is not None,
        kind=kind,
        kinds=tuple(_kinds(found, kind)),
        same=found.same,
        holdings=tuple(_holdings(found)),
        objects=some(listed, number(look, "skip")),
        events=sum(one.kind == "events" for one in every),
        begun=tuple(f"{plural_of(one.group, one.kind)} from {one.point}" for one in found.begun),
        not_known=(*sentences(found.not_known), *filled_in(log, log.moment(f"@{high}"))),
        diff=found,
    )


def _listed(one: Differing, kind: str) -> bool:
    """Return whether an object is listed: those of kind Event only if they are chosen."""
    return kind == "events" or one.kind != "events"


def _kinds(found: Diff, chosen: str) -> Iterator[Kind]:
    for one in counted_by_kind(found):
        plural = plural_of(one.group, one.kind)
        yield Kind(
            plural=plural,
            added=one.added,
            removed=one.removed,
            changed=one.changed,
            first_seen=one.first_seen,
            chosen=plural == chosen,
        )


def _objects(found: Diff) -> Iterator[Differing]:
    for word, side in (
        (ADDED, found.added),
        (REMOVED, found.removed),
        (FIRST_SEEN, found.first_seen),
    ):
        yield from (_then(word, one) for one in side)
    yield from map(_changed, found.changed)


def _then(word: str, one: ObjectThen) -> Differing:
    return Differing(
        change=word,
        kind=plural_of(one.object.group, one.object.kind),
        object=object_text(one.object),
        remark=remark_on(_SIGNS[word], one).strip(),
        position=one.position,
        fields=(),
        more=0,
    )


def _changed(one: ObjectChanged) -> Differing:
    return Differing(
        change=CHANGED,
        kind=plural_of(one.object.group, one.object.kind),
        object=object_text(one.object),
        remark="",
        position=one.positions[1],
        fields=tuple(
            Field(
                path=each.path,
                old=cut(value_text(each.old), LONGEST),
                new=cut(value_text(each.new), LONGEST),
            )
            for each in one.changes[:MOST_FIELDS]
        ),
        more=len(one.changes[MOST_FIELDS:]),
    )


def _holdings(found: Diff) -> Iterator[Holdings]:
    sides: tuple[tuple[str, str, Table], ...] = (
        ("What queues held", "queue", holding_table(QUEUES_HEAD, found.queues)),
        ("What nodes held", "node", holding_table("NODE", found.nodes)),
    )
    for title, kind, table in sides:
        if table.rows:
            yield Holdings(
                title=title,
                heads=tuple(table.headers),
                rows=tuple(
                    Held(object=f"{kind}/{row[0]}", cells=tuple(row[1:]))
                    for row in table.rows[:MOST_ROWS]
                ),
                more=len(table.rows[MOST_ROWS:]),
            )


PAGES = (difference,)
