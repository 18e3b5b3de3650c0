"""Reads the stored headers of events, which verification hashes again.

Most events have one of few combinations of kind, schema, effect and source, and no actor. If all
events of a page do, the query returns each combination as one number, because each fetched column
costs as much as hashing a hundred bytes.
"""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

import msgspec

from ..events import KINDS
from .chain import Header, event_identity
from .database import Database
from .event_reading import resource_version
from .log_ids import Names

_SOURCE, _KIND, _SCHEMA = 1 << 32, 1 << 16, 1 << 8
"""Factors of the parts of a combination; that of the effect is 1."""

_USUAL = (
    "SELECT position, revision, earliest, latest, object_id, line,"
    f" CASE WHEN kind_id BETWEEN 0 AND {_SOURCE // _KIND - 1}"
    f" AND schema BETWEEN 0 AND {_KIND // _SCHEMA - 1} AND effect BETWEEN 0 AND {_SCHEMA - 1}"
    " AND actor_id IS NULL AND resource_version IS NULL AND identity IS NULL"
    f" THEN source_id * {_SOURCE} + kind_id * {_KIND} + schema * {_SCHEMA} + effect END"
    " FROM event WHERE branch_id = ? AND position BETWEEN ? AND ? ORDER BY position"
)
_ALL = (
    "SELECT position, effect, schema, revision, earliest, latest, object_id, kind_id, source_id,"
    " line, actor_id, resource_version, identity"
    " FROM event WHERE branch_id = ? AND position BETWEEN ? AND ? ORDER BY position"
)


class Usual(NamedTuple):
    """Rows of ``event`` by column, all of the usual form: with a revision, without actor."""

    positions: Sequence[int]
    revisions: Sequence[int]
    earliest: Sequence[int | None]
    latest: Sequence[int | None]
    objects: Sequence[int]
    lines: Sequence[int]
    combinations: Sequence[int]

    @property
    def identified(self) -> bool:
        """Whether a row has an identity, or should have one: never."""
        return False


class Stored(NamedTuple):
    """Rows of ``event``, by column."""

    positions: Sequence[int]
    effects: Sequence[int]
    schemas: Sequence[int]
    revisions: Sequence[int | None]
    earliest: Sequence[int | None]
    latest: Sequence[int | None]
    objects: Sequence[int]
    kinds: Sequence[int]
    sources: Sequence[int]
    lines: Sequence[int]
    actors: Sequence[int | None]
    odd_versions: Sequence[str | None]
    identities: Sequence[bytes | None]

    @property
    def identified(self) -> bool:
        """Whether a row has an identity, or should have one."""
        return None in self.revisions or self.identities.count(None) < len(self.identities)


class StoredHeaders:
    """Reads the headers of one branch's own events."""

    def __init__(self, database: Database, names: Names, *, branch_id: int, branch: str) -> None:
        self._database = database
        self._names = names
        self._branch_id = branch_id
        self._branch = branch

    def page(self, first: int, last: int) -> Usual | Stored:
        """Return the events between two positions, inclusive, as far as they exist."""
        rows = self._database.rows(_USUAL, (self._branch_id, first, last))
        if not rows:
            return Usual(*repeat((), 7))
        usual = Usual(*zip(*rows, strict=True))
        # A damaged column may have a fraction, and then so has the sum.
        if frozenset(map(type, usual.combinations)) == {int} and None not in usual.revisions:
            return usual
        return self.stored(first, last)

    def stored(self, first: int, last: int) -> Stored:
        """Return the events between two positions, with all columns."""
        rows = self._database.rows(_ALL, (self._branch_id, first, last))
        return Stored(*(zip(*rows, strict=True) if rows else repeat((), 13)))

    def headers(
        self, page: Usual | Stored, sizes: Sequence[int], payloads: Sequence[bytes]
    ) -> Iterator[Header]:
        """Return the headers of some rows; that of a damaged row matches no event.

        :param payloads: needed where the page is ``identified``.
        """
        if isinstance(page, Usual):
            return self._usual(page, sizes)
        return self._any(page, sizes, payloads)

    def _usual(self, page: Usual, sizes: Sequence[int]) -> Iterator[Header]:
        parts = [_parts(number) for number in dict.fromkeys(page.combinations)]
        texts = self._names.texts(
            sorted(frozenset(number for _, kind, _, source in parts for number in (kind, source)))
        )
        names: dict[int, str | None] = {}
        schemas: dict[int, int] = {}
        sources: dict[int, str | None] = {}
        for number, (effect, kind, schema, source) in zip(
            dict.fromkeys(page.combinations), parts, strict=True
        ):
            names[number] = texts.get(kind) if _fits(texts.get(kind), effect) else None
            schemas[number], sources[number] = schema, texts.get(source)
        packed = self._names.packed(page.objects)
        return zip(
            *(repeat(self._branch, len(sizes)), page.positions),
            *(map(names.get, page.combinations), map(schemas.__getitem__, page.combinations)),
            *(map(packed.get, page.objects), map(str, page.revisions)),
            *(page.revisions, page.earliest, page.latest, repeat("", len(sizes))),
            *(map(sources.get, page.combinations), page.lines, sizes),
            strict=True,
        )

    def _any(
        self, page: Stored, sizes: Sequence[int], payloads: Sequence[bytes]
    ) -> Iterator[Header]:
        there = frozenset(filter(None, page.actors))
        symbols = sorted(frozenset(page.kinds) | frozenset(page.sources) | there)
        # The header of an event without an actor has an empty one.
        texts: dict[int | None, str] = {None: ""}
        texts.update(self._names.texts(symbols).items())
        packed = self._names.packed(page.objects)
        names = list(map(texts.get, page.kinds))
        pairs = dict.fromkeys(zip(page.kinds, page.effects, strict=True))
        if not all(_fits(texts.get(kind), effect) for kind, effect in pairs):
            named = zip(names, page.effects, strict=True)
            names = [kind if _fits(kind, effect) else None for kind, effect in named]
        if page.identified:
            names = _identified(page, names, packed, texts, payloads)
        return zip(
            *(repeat(self._branch, len(sizes)), page.positions, names, page.schemas),
            *(
                map(packed.get, page.objects),
                map(resource_version, page.revisions, page.odd_versions),
            ),
            *(page.revisions, page.earliest, page.latest, map(texts.get, page.actors)),
            *(map(texts.get, page.sources), page.lines, sizes),
            strict=True,
        )


def _parts(combination: int) -> tuple[int, int, int, int]:
    """Return effect, kind, schema and source."""
    source, rest = divmod(combination, _SOURCE)
    kind, rest = divmod(rest, _KIND)
    schema, effect = divmod(rest, _SCHEMA)
    return effect, kind, schema, source


def _identified(
    page: Stored,
    names: Sequence[str | None],
    packed: Mapping[int, msgspec.Raw],
    texts: Mapping[int | None, str],
    payloads: Sequence[bytes],
) -> list[str | None]:
    """Return the kinds of events, None if the identity does not match the other fields."""
    kinds: list[str | None] = []
    for index, (identity, name) in enumerate(zip(page.identities, names, strict=True)):
        about = packed.get(page.objects[index])
        if name is None or about is None or page.revisions[index] is not None:
            own = None
        else:
            actor = texts.get(page.actors[index]) or ""
            time = page.earliest[index] if page.latest[index] is None else page.latest[index]
            own = event_identity(name, about, time, actor, payloads[index])
        kinds.append(name if own == identity else None)
    return kinds


def _fits(kind: str | None, effect: int) -> bool:
    """Say whether an event kind has this effect; an unknown kind may have any."""
    info = KINDS.get(kind) if kind is not None else None
    return info is None or info.effect == effect
