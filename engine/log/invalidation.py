"""Which checkpoints an append makes untrue; they are dropped in the append's own transaction.

A checkpoint says what was true at a revision, from everything known by a position. It becomes
untrue when something is learnt that happened at or before its revision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import msgspec

from ..events import Effect, Event
from .branches import Head, lineage
from .columns import greatest_revision, least_list, revision_at
from .database import Database
from .names import Names


class _Reach(TypedDict):
    known: int
    cluster: str
    branch: str


def drop_invalid_checkpoints(
    database: Database,
    names: Names,
    events: Sequence[Event],
    effects: Sequence[int],
    *,
    branch: str,
    head: Head,
) -> None:
    """Drop the branch's checkpoints that the new events contradict."""
    rows = database.rows(
        "SELECT c.name, k.cluster_id, max(k.revision) FROM checkpoint k"
        " JOIN cluster c ON c.id = k.cluster_id WHERE k.branch_id = ?"
        " GROUP BY c.name, k.cluster_id",
        (head.branch_id,),
    )
    for cluster, cluster_id, newest in rows:
        news = [
            (event, effect)
            for event, effect in zip(events, effects, strict=True)
            if effect != Effect.NONE and event.cluster == cluster
        ]
        least = (
            _least_untrue(
                database, names, news, branch=branch, head=head, cluster=cluster, newest=newest
            )
            if news
            else None
        )
        if least is not None and least <= newest:
            database.run(
                "DELETE FROM checkpoint WHERE branch_id = ? AND cluster_id = ? AND revision >= ?",
                (head.branch_id, cluster_id, least),
            )


def _least_untrue(
    database: Database,
    names: Names,
    news: Sequence[tuple[Event, int]],
    *,
    branch: str,
    head: Head,
    cluster: str,
    newest: int,
) -> int | None:
    """Return the least revision at which truth may differ from before; None if at none."""
    unplaced = any(event.revision is None for event, _ in news) or _holds_unplaced(
        database, branch, cluster, names, head
    )
    reach = _Reach(known=head.position, cluster=cluster, branch=branch)
    greatest = greatest_revision(database, names, **reach)
    untrue: list[int] = []
    late: list[int] = []
    for event, effect in news:
        revision, observed = event.revision, event.observed_at
        if revision is None:
            # Its place follows from its time; without one it may belong anywhere.
            untrue.append(
                -1 if observed is None else revision_at(database, names, observed, **reach)
            )
            continue
        if effect != Effect.ATTRIBUTED:
            untrue.append(revision)
            late += [revision] if revision <= newest else []
        if unplaced and revision <= greatest:
            # A version's time decides where events without revision before it belong.
            untrue.append(revision - 1)
    if unplaced:
        # Events later than every version stand at the end, and the end moves.
        untrue.append(greatest)
    first_list = (
        _least_list(database, names, news, branch=branch, head=head, cluster=cluster)
        if late
        else None
    )
    if first_list is not None and first_list <= max(late):
        untrue.append(first_list)
    return min(untrue, default=None)


def _least_list(
    database: Database,
    names: Names,
    news: Sequence[tuple[Event, int]],
    *,
    branch: str,
    head: Head,
    cluster: str,
) -> int | None:
    held = least_list(database, names, branch=branch, cluster=cluster, known=head.position)
    found = [] if held is None else [held]
    for event, effect in news:
        if effect == Effect.LISTED and event.revision is not None:
            exact = msgspec.json.decode(event.payload).get("exact", True)
            found += [] if exact else [event.revision]
    return min(found, default=None)


def _holds_unplaced(
    database: Database, branch: str, cluster: str, names: Names, head: Head
) -> bool:
    cluster_id = names.find_cluster(cluster)
    return any(
        database.rows(
            "SELECT 1 FROM event e JOIN object o ON o.id = e.object_id"
            " WHERE e.branch_id = ? AND e.effect > 0 AND e.identity IS NOT NULL"
            " AND e.position <= ? AND o.cluster_id = ? LIMIT 1",
            (part.branch_id, part.last, cluster_id),
        )
        for part in lineage(database, branch, until=head.position)
    )
