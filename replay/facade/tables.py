"""Lists and streams of a log that are tables: objects, events, the state over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

from ...engine.errors import UsageError
from ...engine.kubernetes.units import parse_duration, parse_time
from ...engine.state.clock import TimeSpan
from ...engine.state.log_coverage import Pair
from ..export import Line, line_of
from ..logs.log import Log
from ..moments.actors import AttributedEvent
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from ..series.series_tables import TABLES, Row, rows, rows_at
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.html import ROWS
from ..tabular.record_columns import TimeColumn
from ..tabular.tabular import Records, Tabular


class ObjectRow(NamedTuple):
    """An object of Kubernetes. :param object: all of it, as JSON."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str
    created: TimeColumn | None
    object: dict[str, Any]


class UnknownRow(NamedTuple):
    """A gap in what the log knows of a kind."""

    group: str
    kind: str
    namespaces: tuple[str, ...]
    why: str
    after: int | None
    after_time: TimeColumn | None
    before: int | None
    before_time: TimeColumn | None
    after_earliest: TimeColumn | None
    after_latest: TimeColumn | None
    before_earliest: TimeColumn | None
    before_latest: TimeColumn | None


class Events(Iterator[AttributedEvent], Tabular):
    """Events, read from the log as they are used.

    A table has all events that were not used before. A notebook shows the first of them, and does
    not use them up.

    :param endless: it follows the log, and never ends.
    """

    def __init__(self, events: Iterable[AttributedEvent], *, endless: bool) -> None:
        self._events = iter(events)
        self._endless = endless

    def __next__(self) -> AttributedEvent:
        return next(self._events)

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the table of all events that are left, which uses them.

        :raises UsageError: there is no end.
        """
        self._refuse_endless()
        return {"events": table_of(Line, map(line_of, self._events))}

    def _repr_html_(self) -> str:
        if self._endless:
            return "<p>events as they come, without end</p>"
        # One more than is shown: it says whether there are more.
        first = list(islice(self._events, ROWS + 1))
        self._events = chain(first, self._events)
        shown = Records(first[:ROWS], "events", Line, line_of)
        more = f"the first {ROWS} events; " if len(first) > ROWS else ""
        return f"{shown._repr_html_()}<p>{more}to_pandas() reads all</p>"

    def _refuse_endless(self) -> None:
        if self._endless:
            raise UsageError("events that are followed have no end", now="leave out follow")


def unknowns(found: Iterable[Unknown]) -> Records[Unknown]:
    """Return gaps as a list that is a table."""
    return Records(found, "not_known", UnknownRow, _unknown_row)


def state_at(log: Log, what: str, moment: Moment) -> Records[Row]:
    """Return the rows of a table at a moment; errors are those of ``Log.state``."""
    shape = _shape_of(what)
    return Records(rows_at(log, what, moment), what, shape)


def series_of(log: Log, what: str, every: str) -> Records[Row]:
    """Return the rows of a table over time; errors are those of ``Log.series``."""
    shape = _shape_of(what)
    try:
        between = parse_duration(every)
    except ValueError as fault:
        raise UsageError(f"every: {fault}", now="write a duration, as in 10s") from fault
    return Records(rows(log, what, between), what, shape)


def _shape_of(what: str) -> type[Row]:
    if what not in TABLES:
        raise UsageError(f"no table {what!r}", now=f"choose from: {', '.join(TABLES)}")
    return TABLES[what][0]


def object_row(document: dict[str, Any]) -> ObjectRow:
    """Return what all kinds of objects have of one."""
    metadata = document.get("metadata", {})
    created = metadata.get("creationTimestamp")
    return ObjectRow(
        document.get("apiVersion", ""),
        document.get("kind", ""),
        metadata.get("namespace", ""),
        metadata.get("name", ""),
        metadata.get("uid", ""),
        metadata.get("resourceVersion", ""),
        _time_of(created),
        document,
    )


def _time_of(written: object) -> int | None:
    try:
        return parse_time(written) if isinstance(written, str) else None
    except ValueError:
        return None


def _unknown_row(unknown: Unknown) -> UnknownRow:
    pair: Pair = unknown.pair
    gap = unknown.gap
    return UnknownRow(
        *pair,
        unknown.namespaces,
        str(gap.why),
        gap.after,
        unknown.after,
        gap.before,
        unknown.before,
        *_ends(unknown.after_within),
        *_ends(unknown.before_within),
    )


def _ends(within: TimeSpan | None) -> tuple[int | None, int | None]:
    return (None, None) if within is None else (within.earliest, within.latest)
