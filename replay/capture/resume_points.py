"""From where a recorder continues: what the log says that its streams cover."""

from __future__ import annotations

import msgspec

from ...engine.events.payloads import WatchFollowed
from ...engine.ingest.watch.grown_spans import FOLLOWED
from ...engine.log import LogStore, Query
from .recording_stream import StreamPlan


def resumed(store: LogStore, plan: StreamPlan, *, cluster: str, branch: str) -> StreamPlan:
    """Return a plan with the revision up to which the log has everything of its stream."""
    query = Query(
        branch=branch,
        cluster=cluster,
        kinds=(FOLLOWED,),
        objects=(plan.kind.pair,),
        source=plan.source,
        about_kinds=True,
        newest_first=True,
        limit=1,
    )
    for recorded in store.read(query):
        span = msgspec.json.decode(recorded.event.payload, type=WatchFollowed)
        return plan._replace(since=span.until)
    return plan
