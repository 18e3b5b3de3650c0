"""What can be exported of a log: its events, the state over time or at a moment, a timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import BinaryIO, NamedTuple

from ...engine.errors import UsageError
from ...engine.events import Recorded
from ...engine.kubernetes.units import parse_duration
from ...engine.log import Query
from .. import export as writers
from ..logs.log import Log
from ..moments.read_events import read_events
from ..truth.points import Point
from .series_tables import TABLES, rows
from .series_writing import write_rows
from .snapshots import SNAPSHOTS, SUFFIXES, write_snapshot
from .trace_timeline import write_timeline

EVENTS, TIMELINE = "events", "timeline"

Count = Callable[[int], None]


class Export(NamedTuple):
    """One export, ready to be written.

    :param unit: what it counts, as in ``rows``. :param form: the format.
    :param every: microseconds between two samples of a table.
    :param at: the moment of a snapshot.
    """

    what: str
    unit: str
    form: str
    every: int
    at: Point = "end"

    def write(
        self,
        log: Log,
        out: BinaryIO,
        *,
        progress: Count | None = None,
        remark: Callable[[str], None] | None = None,
    ) -> int:
        """Write it, and return how many of its units were written.

        :param remark: called with each thing that a snapshot cannot carry.
        """
        if self.what == TIMELINE:
            return write_timeline(log, out)
        if self.what in SNAPSHOTS:
            return write_snapshot(log, log.moment(self.at), self.what, out, remark)
        if self.what != EVENTS:
            shape, _ = TABLES[self.what]
            return write_rows(rows(log, self.what, self.every), shape, self.form, out)
        write = {
            writers.NDJSON: writers.write_ndjson,
            writers.CSV: writers.write_csv,
            writers.PARQUET: writers.write_parquet,
        }[self.form]
        return write(_events(log), out, progress=progress)


def _events(log: Log) -> Iterator[Recorded]:
    """Return all events, with the kinds that ``events`` prints; those of several clusters, too."""
    query = Query(branch=log.branch, cluster=log.cluster)
    # A moment is of one cluster, so with several the kinds stay as they are stored.
    if log.cluster is None and len(log.store.clusters()) > 1:
        return log.store.read(query)
    return read_events(log.store, log.moment(), query)


def export_of(
    what: str, file: str, *, form: str | None, every: str, at: Point | None = None
) -> Export:
    """Return the export that options name.

    :param what: events, timeline, a table, or a snapshot. :param file: its suffix chooses the
        format. :param at: of a snapshot; None is the end.
    :raises UsageError: there is no such table or format, ``every`` is no duration, or a moment is
        given and it is no snapshot.
    """
    known = (EVENTS, *TABLES, TIMELINE, *SNAPSHOTS)
    if what not in known:
        raise UsageError(f"cannot export {what!r}", now=f"choose from: {', '.join(known)}")
    try:
        time = parse_duration(every)
    except ValueError as fault:
        raise UsageError(f"invalid --every: {fault}", now="write it as in 10s or 1m") from fault
    if what in SNAPSHOTS:
        return _snapshot(what, file, form, "end" if at is None else at)
    if at is not None:
        raise UsageError(
            f"{what} has no moment: --at is for {' and '.join(SNAPSHOTS)}", now="leave it out"
        )
    if what == TIMELINE:
        if form is not None or PurePath(file).suffix not in {".json", ""}:
            raise UsageError(
                "a timeline is JSON", where=file, now="name a .json file, without --format"
            )
        return Export(what, "spans", "json", time)
    unit = "events" if what == EVENTS else "rows"
    return Export(what, unit, writers.format_of(file, form), time)


def _snapshot(what: str, file: str, form: str | None, at: Point) -> Export:
    suffixes = SUFFIXES[what]
    if form is not None or PurePath(file).suffix not in {*suffixes, ""}:
        raise UsageError(
            f"a snapshot for {what} is {suffixes[0][1:].upper()}",
            where=file,
            now=f"name a {suffixes[0]} file, without --format",
        )
    return Export(what, "objects", suffixes[0][1:], 0, at)
