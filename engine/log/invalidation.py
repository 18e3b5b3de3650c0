"""Drops checkpoints that an append contradicts, in the transaction of the append.

A checkpoint has the truth at a revision, from all events up to a position. It becomes wrong when an
event is appended that happened at or before its revision. Events without a revision are placed by
the clock; a reader of a checkpoint compares the clock that it was built with.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..events import Effect, Event
from .branches import Head
from .column_reads import least_list
from .database import Database
from .derived_rows import Derived
from .log_ids import Names

_TIMELESS = (Effect.ATTRIBUTED, Effect.TIMED)
"""Effects that add an actor or a time to a version, and change no state."""


def drop_invalid_checkpoints(
    database: Database,
    names: Names,
    events: Sequence[Event],
    effects: Sequence[int],
    derived: Derived,
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
    for cluster, _cluster_id, newest in rows:
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
            derived.drop_checkpoints(
                branch=branch, branch_id=head.branch_id, cluster=cluster, least=least
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
    untrue = [
        event.revision
        for event, effect in news
        if event.revision is not None and effect not in _TIMELESS
    ]
    late = [revision for revision in untrue if revision <= newest]
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
    stored = least_list(database, names, branch=branch, cluster=cluster, known=head.position)
    revisions = [] if stored is None else [stored]
    for event, effect in news:
        if effect == Effect.LISTED and event.revision is not None:
            exact = msgspec.json.decode(event.payload).get("exact", True)
            revisions += [] if exact else [event.revision]
    return min(revisions, default=None)
