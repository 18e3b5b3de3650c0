"""Counts the events of each input."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from .branches import lineage
from .database import Database
from .log_ids import Names
from .store import SourceInfo


def sources(
    database: Database, names: Names, *, known: int, cluster: str, branch: str
) -> list[SourceInfo]:
    """Return the events of one cluster by input, counted; reads the whole log."""
    number = names.find_cluster(cluster)
    only = len(database.rows("SELECT id FROM cluster")) <= 1
    join = "" if only else " JOIN object o ON o.id = e.object_id AND o.cluster_id = ?"
    parameters = () if only else (-1 if number is None else number,)
    counts: dict[int, dict[int, int]] = {}
    reach: dict[int, tuple[int | None, int | None]] = {}
    for part in lineage(database, branch, until=known):
        for source, kind, count, low, high in database.rows(
            "SELECT e.source_id, e.kind_id, count(*), min(e.revision), max(e.revision)"
            f" FROM event e{join} WHERE e.branch_id = ? AND e.position BETWEEN ? AND ?"
            " GROUP BY e.source_id, e.kind_id",
            (*parameters, part.branch_id, part.first, part.last),
        ):
            kinds = counts.setdefault(source, {})
            kinds[kind] = kinds.get(kind, 0) + count
            first, last = reach.get(source, (None, None))
            lows = [each for each in (first, low) if each is not None]
            highs = [each for each in (last, high) if each is not None]
            reach[source] = (min(lows, default=None), max(highs, default=None))
    texts = names.texts([*counts, *(kind for kinds in counts.values() for kind in kinds)])
    sources = [
        SourceInfo(
            source=texts[source],
            events=sum(kinds.values()),
            kinds={texts[kind]: count for kind, count in kinds.items()},
            first_revision=reach[source][0],
            last_revision=reach[source][1],
        )
        for source, kinds in counts.items()
    ]
    return sorted(sources, key=lambda source_info: source_info.source)
