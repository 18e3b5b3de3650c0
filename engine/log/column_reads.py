"""Reads events as columns for the fold, and ranges of revisions without reading all events.

Each block of the fact sidecar says which revisions it covers. So only the tail of the log, which
has no blocks yet, is read row by row.
"""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import LogCorrupt
from ..events import NO_TIME
from .branches import Segment, lineage
from .database import Database, Row
from .derived_rows import Derived
from .log_ids import Names
from .payload_store import Payloads
from .store import NO_REVISION, Chunk, Extent, FoldWindow

CHUNK_ROWS = 4096

_SPARSE = 8
"""If a window spans less than this fraction (1/n) of all revisions, the index on them is used."""

_COLUMNS = (
    "e.position, e.effect, e.object_id, e.revision, e.earliest, e.latest,"
    " e.actor_id IS NOT NULL, e.source_id, e.kind_id"
)


def scan(
    database: Database, names: Names, payloads: Payloads, window: FoldWindow, *, after_position: int
) -> Iterator[Chunk]:
    """Yield the events of a window that have an effect on truth, in position order."""
    cluster_id = names.find_cluster(window.cluster)
    if cluster_id is None:
        return
    only = _only(names, cluster_id)
    for part in lineage(database, window.branch, after=after_position, until=window.known):
        pages = (
            _sparse_pages(database, part, window, only)
            if _is_sparse(database, part, window)
            else _dense_pages(database, part, window, only)
        )
        for rows in pages:
            yield _chunk(rows, names, payloads, part.branch_id)


def extent(
    database: Database, names: Names, derived: Derived, *, known: int, cluster: str, branch: str
) -> Extent:
    """Return the first and last revision of events that have an effect on truth."""
    cluster_id = names.find_cluster(cluster)
    reaches: list[Row] = []
    if cluster_id is not None:
        for part in lineage(database, branch, until=known):
            reaches += _reaches(database, names, part, cluster_id, derived.reaches(part, cluster))
    low, high = ([row[column] for row in reaches if row[column] is not None] for column in range(2))
    return Extent(first_revision=min(low, default=None), last_revision=max(high, default=None))


def last_noted(
    database: Database, names: Names, *, known: int, cluster: str, branch: str
) -> int | None:
    """Return the latest time of events without an effect on truth, such as lines of a log.

    Those with a revision do not count: they repeat the time of the version that they are made of.

    :raises LogCorrupt: a stored time is no number.
    """
    cluster_id = names.find_cluster(cluster)
    if cluster_id is None:
        return None
    times = [
        row[0]
        for part in lineage(database, branch, until=known)
        for row in database.rows(
            "SELECT max(coalesce(e.latest, e.earliest)) FROM event e WHERE e.branch_id = ?"
            " AND e.effect = 0 AND e.identity IS NOT NULL"  # The index of identities has them.
            f" AND +e.position BETWEEN ? AND ?{_only(names, cluster_id)}",
            (part.branch_id, part.first, part.last),
        )
        if row[0] is not None
    ]
    if not all(isinstance(time, int) for time in times):
        raise LogCorrupt("the time of an event is no number", position=1)
    return max(times, default=None)


def revision_after(database: Database, window: FoldWindow, events: int) -> int | None:
    """Return the revision after this many events with a revision; None if there are fewer."""
    condition, bounds = ("", []) if window.until is None else (" AND revision < ?", [window.until])
    revisions = [
        row[0]
        for part in lineage(database, window.branch, until=window.known)
        # In the order of the index, so that the database can stop at the row.
        for row in database.rows(
            "SELECT revision FROM event WHERE branch_id = ? AND revision > ?"
            f"{condition} ORDER BY branch_id, revision LIMIT 1 OFFSET {events - 1}",
            (part.branch_id, window.after, *bounds),
        )
    ]
    return min(revisions, default=None)


def least_list(
    database: Database, names: Names, *, branch: str, cluster: str, known: int
) -> int | None:
    """Return the least revision of a complete list, None if there is none."""
    cluster_id = names.find_cluster(cluster)
    # The object of a list has neither name nor uid. Few such objects exist, so this is cheap.
    low, high = names.range_of_name("")
    revisions = [
        row[0]
        for part in lineage(database, branch, until=known)
        for row in database.rows(
            # Effect 4 is that of a complete list.
            "SELECT min(e.revision) FROM object o JOIN event e ON e.object_id = o.id"
            " WHERE o.key BETWEEN ? AND ? AND o.cluster_id = ? AND e.branch_id = ?"
            " AND e.position <= ? AND e.effect = 4",
            (low, high, cluster_id, part.branch_id, part.last),
        )
        if row[0] is not None
    ]
    return min(revisions, default=None)


def _only(names: Names, cluster_id: int) -> str:
    """Return SQL that keeps one cluster's events; empty while there is only one cluster."""
    if names.cluster_count() < 2:
        return ""
    return f" AND (SELECT o.cluster_id FROM object o WHERE o.id = e.object_id) = {cluster_id}"


def _is_sparse(database: Database, part: Segment, window: FoldWindow) -> bool:
    if window.after <= NO_REVISION and window.until is None:
        return False
    bounds = [
        database.rows(
            "SELECT revision FROM event WHERE branch_id = ? AND revision IS NOT NULL"
            f" ORDER BY branch_id {order}, revision {order} LIMIT 1",
            (part.branch_id,),
        )
        for order in ("ASC", "DESC")
    ]
    if not bounds[0]:
        return False
    low, high = bounds[0][0][0], bounds[1][0][0]
    wanted = min(high, high if window.until is None else window.until) - max(low - 1, window.after)
    return bool(wanted * _SPARSE < high - low)


def _dense_pages(
    database: Database, part: Segment, window: FoldWindow, only: str
) -> Iterator[list[Row]]:
    """Read the rows in order of position."""
    condition, bounds = _revisions(window)
    sql = (
        f"SELECT {_COLUMNS} FROM event e WHERE e.branch_id = ? AND e.position > ?"
        f" AND e.position <= ? AND e.effect > 0{condition}{only}"
        f" ORDER BY e.position LIMIT {CHUNK_ROWS}"
    )
    # Each page begins after the last one: an OFFSET would read all rows before it again.
    after = part.first - 1
    while rows := database.rows(sql, (part.branch_id, after, part.last, *bounds)):
        yield rows
        after = rows[-1][0]
        if len(rows) < CHUNK_ROWS:
            return


def _sparse_pages(
    database: Database, part: Segment, window: FoldWindow, only: str
) -> Iterator[list[Row]]:
    """Find the positions through the indexes first, then fetch the rows in order."""
    # The plus sign makes the planner use the index, and not scan all positions.
    within = " AND +e.position BETWEEN ? AND ?"
    condition, bounds = (
        ("", []) if window.until is None else (" AND e.revision <= ?", [window.until])
    )
    rows = database.rows(
        "SELECT e.position FROM event e WHERE e.branch_id = ? AND e.revision > ?"
        f"{condition}{within} AND e.effect > 0{only}",
        (part.branch_id, window.after, *bounds, part.first, part.last),
    )
    if window.loose is None:
        rows += database.rows(
            "SELECT e.position FROM event e WHERE e.branch_id = ? AND e.effect > 0"
            f" AND e.identity IS NOT NULL{within}{only}",
            (part.branch_id, part.first, part.last),
        )
    positions = [row[0] for row in rows]
    positions += [
        position for position in window.loose or () if part.first <= position <= part.last
    ]
    positions.sort()
    for start in range(0, len(positions), CHUNK_ROWS):
        yield database.rows(
            f"SELECT {_COLUMNS} FROM event e WHERE e.branch_id = ?"
            f" AND {database.any_of('e.position')} ORDER BY e.position",
            (part.branch_id, database.listed(positions[start : start + CHUNK_ROWS])),
        )


def _revisions(window: FoldWindow) -> tuple[str, list[int]]:
    if window.after <= NO_REVISION and window.until is None:
        return "", []
    if window.until is None:
        return " AND (e.revision IS NULL OR e.revision > ?)", [window.after]
    return (
        " AND (e.revision IS NULL OR (e.revision > ? AND e.revision <= ?))",
        [window.after, window.until],
    )


def _chunk(rows: Sequence[Row], names: Names, payloads: Payloads, branch_id: int) -> Chunk:
    positions, effects, objects, revisions, earliest, latest, audited, sources, kinds = zip(
        *rows, strict=True
    )
    texts = names.texts(dict.fromkeys(kinds))
    return Chunk(
        positions=np.array(positions, np.int64),
        effects=np.array(effects, np.int64),
        objects=np.array(objects, np.int64),
        revisions=np.array([NO_REVISION if r is None else r for r in revisions], np.int64),
        earliest=np.array([NO_TIME if t is None else t for t in earliest], np.int64),
        latest=np.array([NO_TIME if t is None else t for t in latest], np.int64),
        audited=np.array(audited, np.int64),
        sources=np.array(sources, np.int64),
        kinds=[texts.get(kind, "") for kind in kinds],
        load=payloads.at(branch_id, positions),
    )


def _reaches(
    database: Database, names: Names, part: Segment, cluster_id: int, blocks: Sequence[Row]
) -> list[Row]:
    """Return (least, greatest revision) of the pieces of a segment."""
    if not blocks:
        return [_row_reach(database, names, part, cluster_id)]
    revised = [(low, high) for _, _, low, high in blocks if high >= 0]
    rest = _uncovered(part, blocks[0][0], blocks[-1][1])
    return [*revised, *(_row_reach(database, names, piece, cluster_id) for piece in rest)]


def _row_reach(database: Database, names: Names, part: Segment, cluster_id: int) -> Row:
    return database.rows(
        "SELECT min(e.revision), max(e.revision) FROM event e"
        " WHERE e.branch_id = ? AND e.position BETWEEN ? AND ?"
        f" AND e.effect > 0{_only(names, cluster_id)}",
        (part.branch_id, part.first, part.last),
    )[0]


def _uncovered(part: Segment, first: int, last: int) -> list[Segment]:
    """Return the pieces of a segment before and after positions ``first`` to ``last``."""
    if first > last:
        return [part]
    pieces = [(part.first, min(part.last, first - 1)), (max(part.first, last + 1), part.last)]
    return [
        Segment(branch_id=part.branch_id, branch=part.branch, first=low, last=high)
        for low, high in pieces
        if low <= high
    ]
