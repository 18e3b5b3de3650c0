"""A dump of a real scheduler's cache, compared with the cache that is rebuilt for its moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ...engine.cache.drift.dump_drift import dump_mismatches
from ...engine.cache.drift.dumped_cache import read_dump
from ...engine.errors import UsageError
from ...engine.events.payloads import CacheDumped
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.log.store import LogStore, Query
from ...engine.state.clock import Clock
from ...engine.volcano.session.behaviours import Behaviours
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from .belief import belief_at
from .logged_drift import CacheDifference, Drift

_MOST_PARTS = 32
_BEFORE, _AFTER = 3 * SECOND_US, 2 * SECOND_US
"""Changes so long before and after a dump may not have been delivered, or have been. The name of a
dump says its second."""

_MOVING = (("", "Pod"), ("", "Node"), ("scheduling.volcano.sh", "PodGroup"))


class LoggedDump(NamedTuple):
    """A dump that is in the log. :param position: of its first part. :param at: when it was taken.

    :param parts: contents by name: nodes, jobs.
    """

    position: int
    at: int
    parts: Mapping[str, Any]


def last_dump(store: LogStore, moment: Moment) -> LoggedDump | None:
    """Return the last dump that was taken by a moment and can be compared; None if there is none.

    Dumps in the text of a log, and dumps without a time, cannot.
    """
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        kinds=("cache.dumped",),
        newest_first=True,
    )
    clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
    end = moment.time
    if end is None and moment.revision is not None:
        end = clock.time_of(moment.revision)
    found: LoggedDump | None = None
    for recorded in store.read(query):
        at = recorded.event.observed_at
        if at is None or (end is not None and at > end):
            continue
        if found is not None and (at != found.at or len(found.parts) > _MOST_PARTS):
            break
        dumped = msgspec.json.decode(recorded.event.payload, type=CacheDumped)
        if dumped.layout != "text":
            parts = {**(found.parts if found else {}), dumped.part: dumped.content}
            found = LoggedDump(recorded.position, at, parts)
    return found


def dump_drift(store: LogStore, moment: Moment, behaviours: Behaviours) -> tuple[Drift, Moment]:
    """Return where the last dump by a moment differs from the rebuilt cache, and its moment.

    ``truth`` of each difference is the dump, and ``since`` its position.

    :raises UsageError: the log has no dump that can be compared.
    """
    dump = last_dump(store, moment)
    parts = None if dump is None else read_dump(dump.parts)
    if dump is None or parts is None:
        raise UsageError(
            f"by {moment.label} the log has no dump of the scheduler's cache that can be compared",
            now="plinian record --scheduler-cache-dump 5m takes them; or ingest a snapshot-….json",
        )
    clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
    revision = clock.revision_at(dump.at + SECOND_US // 2)
    then = msgspec.structs.replace(moment, revision=revision, time=dump.at)
    cache = belief_at(store, then, behaviours)
    moving = _moving(store, moment, clock, dump.at)
    found, compared = dump_mismatches(parts, cache, lambda kind, name: (kind, name) in moving)
    drift = Drift(
        at=f"the dump of {format_time(dump.at)}",
        release=behaviours.release,
        differences=[CacheDifference(*mismatch, dump.position) for mismatch in found],
        crashes=[],
        compared=compared,
    )
    return drift, then


def _moving(store: LogStore, moment: Moment, clock: Clock, at: int) -> set[tuple[str, str]]:
    """Return the kinds and names of what changed about a time."""
    since, until = clock.revision_at(at - _BEFORE), clock.revision_at(at + _AFTER)
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        objects=_MOVING,
        revisions=(since + 1, until),
    )
    moving = set()
    for recorded in store.read(query):
        of = recorded.event.reference
        moving.add((of.kind, f"{of.namespace}/{of.name}" if of.namespace else of.name))
    return moving
