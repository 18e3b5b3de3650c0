"""Reads events: selects the rows of a query, and turns them into events."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat

import msgspec

from ..errors import LogCorrupt
from ..events import KINDS, Event, Recorded, Reference
from ..events.upcast import upcast
from .branches import Segment, lineage
from .database import Database, Row
from .log_ids import Names
from .payload_store import Payloads
from .store import Query

PAGE = 1000
"""Rows in memory at a time."""

_NEAR = 4
"""Positions are read as a range if it has at most so many for each needed one."""

MANY_OBJECTS = 1000
"""A query for more objects than this scans the log instead of their index."""

MANY_SCOPES = 100_000
"""The same for kinds in namespaces; each has few events."""

MANY_POSITIONS = 500_000
"""The same for a range of revisions with more events than this."""

Upcast = Callable[[Event], Event]

_COLUMNS = (
    "e.position, e.schema, e.revision, e.earliest, e.latest, e.object_id, e.kind_id, e.source_id,"
    " e.line, e.actor_id, e.resource_version"
)


_TIME = "coalesce(e.latest, e.earliest)"
"""The time by which an event without revision is compared."""


class _Filter(msgspec.Struct):
    """SQL conditions on rows of ``event e`` with their parameters."""

    conditions: list[str] = []
    parameters: list[object] = []

    def add(self, condition: str, *parameters: object) -> None:
        self.conditions.append(condition)
        self.parameters += parameters

    def sql(self) -> str:
        return "".join(f" AND {condition}" for condition in self.conditions)


class EventReader:
    """Reads the events of one log."""

    def __init__(
        self, database: Database, names: Names, payloads: Payloads, *, upcast: Upcast = upcast
    ) -> None:
        self._database = database
        self._names = names
        self._stored = payloads
        self._upcast = upcast

    def read(self, query: Query) -> Iterator[Recorded]:
        """Yield matching events in order of position, page by page."""
        left = query.limit
        filters = self._filters(query)
        if filters is None or (left is not None and left <= 0):
            return
        parts = lineage(self._database, query.branch, after=query.after, until=query.until)
        for part in reversed(parts) if query.newest_first else parts:
            for rows in self._pages(part, query, filters):
                taken = rows if left is None else rows[:left]
                yield from self._recorded(taken, part, bare=query.bare)
                if left is not None:
                    left -= len(taken)
                    if left <= 0:
                        return

    def payloads(self, positions: Sequence[int], branch: str) -> Mapping[int, bytes]:
        """Return the payloads at the given positions, in the newest schema of their kinds."""
        lifted: dict[int, bytes] = {}
        for part in lineage(self._database, branch):
            mine = sorted(p for p in positions if part.first <= p <= part.last)
            if len(mine) == 1:
                payloads = [self._stored.one(part.branch_id, mine[0])]
                lifted |= self._lifted(part, mine, payloads)
                continue
            for start in range(0, len(mine), PAGE):
                page = mine[start : start + PAGE]
                lifted |= self._lifted(part, page, self._stored.at(part.branch_id, page))
        missing = min(set(positions) - lifted.keys(), default=None)
        if missing is not None:
            raise LogCorrupt("the log has no event here", position=missing)
        return lifted

    def _lifted(
        self, part: Segment, positions: Sequence[int], payloads: Iterable[bytes]
    ) -> dict[int, bytes]:
        headers = self._schemas(part, positions)
        newest = {header for header in frozenset(headers.values()) if self._is_newest(*header)}
        lifted: dict[int, bytes] = {}
        for position, payload in zip(positions, payloads, strict=True):
            header = headers.get(position)
            if header in newest:
                lifted[position] = payload
            elif header is not None:
                kind, schema = header
                event = Event(kind=kind, reference=_NOTHING, payload=payload, schema=schema)
                lifted[position] = self._upcast(event).payload
        return lifted

    def _schemas(self, part: Segment, positions: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return kind and schema at some rising positions, and perhaps at others in between."""
        low, high = positions[0], positions[-1]
        select = "SELECT e.position, e.schema, e.kind_id FROM event e WHERE e.branch_id = ?"
        # If most positions in between are needed, one scan is cheaper than a search for each.
        if high - low < _NEAR * len(positions):
            rows = self._database.rows(
                f"{select} AND e.position BETWEEN ? AND ?", (part.branch_id, low, high)
            )
        else:
            rows = self._database.rows(
                f"{select} AND {self._database.any_of('e.position')}",
                (part.branch_id, self._database.listed(positions)),
            )
        kinds = self._names.texts(row[2] for row in rows)
        return {position: (kinds.get(kind, ""), schema) for position, schema, kind in rows}

    def _is_newest(self, kind: str, schema: int) -> bool:
        """Return whether payloads of a kind and schema need no upcast."""
        info = KINDS.get(kind)
        return info is not None and schema == info.schema and self._upcast is upcast

    def _pages(self, part: Segment, query: Query, filters: _Filter) -> Iterator[list[Row]]:
        positions = self._indexed(part, query, filters)
        if positions is None:
            yield from self._walk(part, query, filters)
            return
        positions.sort(reverse=query.newest_first)
        # All of these match, so the limit counts before their rows are read.
        if query.limit is not None:
            positions = positions[: query.limit]
        for start in range(0, len(positions), PAGE):
            rows = self._rows_at(part, positions[start : start + PAGE])
            yield rows[::-1] if query.newest_first else rows

    def _walk(self, part: Segment, query: Query, filters: _Filter) -> Iterator[list[Row]]:
        """Read a segment in order of position."""
        low, high = part.first, part.last
        order = "DESC" if query.newest_first else "ASC"
        page = PAGE if query.limit is None else min(PAGE, query.limit)
        sql = (
            f"SELECT {_COLUMNS} FROM event e WHERE e.branch_id = ? AND e.position BETWEEN ? AND ?"
            f"{filters.sql()} ORDER BY e.position {order} LIMIT {page}"
        )
        while rows := self._database.rows(sql, (part.branch_id, low, high, *filters.parameters)):
            yield rows
            if query.newest_first:
                high = rows[-1][0] - 1
            else:
                low = rows[-1][0] + 1
            if len(rows) < page:
                return

    def _indexed(self, part: Segment, query: Query, filters: _Filter) -> list[int] | None:
        """Return the matching positions by an index; None if the segment must be scanned."""
        if query.positions:
            return [position for position in query.positions if part.first <= position <= part.last]
        low, high = query.revisions
        conditions, parameters = "", []
        if _names_objects(query):
            most = MANY_SCOPES if query.about_kinds else MANY_OBJECTS
            objects = self._objects(query, limit=most + 1)
            if len(objects) <= most:
                conditions = f" AND {self._database.any_of('e.object_id')}"
                parameters = [self._database.listed(objects)]
        # Too many objects for their index: that of revisions may do.
        if not conditions and low is not None and high is not None:
            conditions = " AND e.revision BETWEEN ? AND ?"
            parameters = [low, high]
            if self._count(part, low, high) > MANY_POSITIONS:
                return None
        if not conditions:
            return None
        rows = self._database.rows(
            f"SELECT e.position FROM event e WHERE e.branch_id = ?{conditions}"
            f" AND +e.position BETWEEN ? AND ?{filters.sql()}",
            (part.branch_id, *parameters, part.first, part.last, *filters.parameters),
        )
        return [row[0] for row in rows]

    def _count(self, part: Segment, low: int, high: int) -> int:
        return int(
            self._database.rows(
                "SELECT count(*) FROM (SELECT 1 FROM event WHERE branch_id = ?"
                f" AND revision BETWEEN ? AND ? LIMIT {MANY_POSITIONS + 1}) AS found",
                (part.branch_id, low, high),
            )[0][0]
        )

    def _rows_at(self, part: Segment, positions: Sequence[int]) -> list[Row]:
        return self._database.rows(
            f"SELECT {_COLUMNS} FROM event e WHERE e.branch_id = ?"
            f" AND {self._database.any_of('e.position')} ORDER BY e.position",
            (part.branch_id, self._database.listed(positions)),
        )

    def _filters(self, query: Query) -> _Filter | None:
        """Return the conditions on rows; None if no row can meet them."""
        filters = _Filter(conditions=[], parameters=[])
        for column, numbers in self._named(query):
            if not numbers:
                return None  # Nothing is called so; without this all would be looked at.
            self._add_ids(filters, column, numbers)
        low, high = query.revisions
        if low is not None:
            filters.add("e.revision >= ?", low)
        if high is not None:
            filters.add("e.revision <= ?", high)
        for sign, cut in zip((">=", "<="), query.happened, strict=True):
            if cut is not None:
                filters.add(
                    f"(e.revision {sign} ? OR (e.revision IS NULL AND {_TIME} {sign} ?))",
                    *(cut.revision, cut.time),
                )
        if _names_objects(query) or query.cluster is not None or query.namespace is not None:
            condition, parameters = self._object_condition(query)
            filters.add(
                f"EXISTS (SELECT 1 FROM object o WHERE o.id = e.object_id{condition})",
                *parameters,
            )
        return filters

    def _named(self, query: Query) -> Iterator[tuple[str, list[int]]]:
        """Yield columns of texts with the ids of those that a query names."""
        if query.kinds:
            named = _kinds_like(tuple(query.kinds))
            yield "e.kind_id", [number for kind in named for number in self._names.symbols_of(kind)]
        if query.source is not None:
            yield "e.source_id", self._names.symbols_ending(query.source)
        if query.actor is not None:
            yield "e.actor_id", self._names.symbols_with(query.actor)

    def _add_ids(self, filters: _Filter, column: str, numbers: Sequence[int]) -> None:
        filters.add(self._database.any_of(f"+{column}"), self._database.listed(numbers))

    def _objects(self, query: Query, *, limit: int) -> list[int]:
        condition, parameters = self._object_condition(query)
        rows = self._database.rows(
            f"SELECT o.id FROM object o WHERE 1 = 1{condition} LIMIT {limit}",
            parameters,
        )
        return [row[0] for row in rows]

    def _object_condition(self, query: Query) -> tuple[str, list[object]]:
        terms = _Filter(conditions=[], parameters=[])
        if query.name is not None:
            terms.add("o.key BETWEEN ? AND ?", *self._names.range_of_name(query.name))
            terms.add("o.name = ?", query.name)
        if query.about_kinds:  # Some events have no kind either: the lines of a log.
            terms.add("o.key BETWEEN ? AND ?", *self._names.range_of_name(""))
            terms.add("o.name = ''")
            nothing = self._names.symbols_of("")
            terms.add(f"NOT {self._database.any_of('o.kind_id')}", self._database.listed(nothing))
        if query.uid is not None:
            terms.add("o.uid = ?", query.uid)
        if query.namespace is not None:
            self._add_ids(terms, "o.namespace_id", self._names.symbols_of(query.namespace))
        if query.cluster is not None:
            number = self._names.find_cluster(query.cluster)
            # No row has the number -1, so an unknown cluster matches nothing.
            terms.add("o.cluster_id = ?", -1 if number is None else number)
        if query.objects:
            pairs = [
                (g, k)
                for group, kind in query.objects
                for g in self._names.symbols_of(group)
                for k in self._names.symbols_of(kind)
            ]
            # An OR of nothing is no SQL, and must match nothing.
            either = " OR ".join(["(o.group_id = ? AND o.kind_id = ?)"] * len(pairs)) or "1 = 0"
            terms.add(f"({either})", *(number for pair in pairs for number in pair))
        return terms.sql(), terms.parameters

    def _recorded(self, rows: Sequence[Row], part: Segment, *, bare: bool) -> Iterator[Recorded]:
        if not rows:
            return
        objects = self._names.objects(row[5] for row in rows)
        texts = self._names.texts(
            number for row in rows for number in (row[6], row[7], row[9]) if number is not None
        )
        times = self._times(part, min(rows[0][0], rows[-1][0]), max(rows[0][0], rows[-1][0]))
        payloads: Iterable[bytes] = repeat(b"", len(rows))
        if not bare:
            payloads = self._stored.at(part.branch_id, [row[0] for row in rows])
        for row, payload in zip(rows, payloads, strict=True):
            position = row[0]
            try:
                cluster, reference = objects[row[5]]
                actor = "" if row[9] is None else texts[row[9]]
                event = Event(
                    kind=texts[row[6]],
                    reference=reference,
                    payload=payload,
                    resource_version=resource_version(row[2], row[10]),
                    revision=row[2],
                    earliest=row[3],
                    latest=row[4],
                    actor=actor,
                    source=texts[row[7]],
                    line=row[8],
                    schema=row[1],
                    cluster=cluster,
                )
            except KeyError as fault:
                raise LogCorrupt(
                    f"the event refers to {fault}, which is not in the log",
                    position=position,
                    now="restore a copy, or ingest the inputs again into a new log",
                ) from fault
            yield Recorded(
                position=position,
                branch=part.branch,
                recorded_at=times(position),
                event=event if bare else self._upcast(event),
            )

    def _times(self, part: Segment, low: int, high: int) -> Callable[[int], int]:
        """Return a function from position to the time at which it was appended."""
        batches = self._database.rows(
            # The index on the last positions gives both ends: without, all later batches are read.
            "SELECT first, last, recorded_at FROM batch WHERE branch_id = ? AND last >= ?"
            " AND last <= coalesce((SELECT min(last) FROM batch WHERE branch_id = ?"
            " AND last >= ?), ?) ORDER BY last",
            (part.branch_id, low, part.branch_id, high, high),
        )
        firsts = [row[0] for row in batches]

        def time_of(position: int) -> int:
            index = bisect_right(firsts, position) - 1
            if index < 0 or batches[index][1] < position:
                raise LogCorrupt("no batch holds this position", position=position)
            return int(batches[index][2])

        return time_of


_NOTHING = Reference()


def resource_version(revision: int | None, stored: str | None) -> str:
    """Return a row's resourceVersion: stored only where it is not the revision's digits."""
    if stored is not None:
        return stored
    return "" if revision is None else str(revision)


def _names_objects(query: Query) -> bool:
    named = query.name is not None or query.uid is not None
    return named or bool(query.objects) or query.about_kinds


@lru_cache(maxsize=64)
def _kinds_like(wanted: tuple[str, ...]) -> Sequence[str]:
    """Return the kinds that a query names, some by their beginning, as in ``pod.*``; sorted."""
    begins = tuple(kind[:-1] for kind in wanted if kind.endswith("*"))
    return sorted({*wanted, *(kind for kind in KINDS if begins and kind.startswith(begins))})
