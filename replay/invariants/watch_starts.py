"""Versions in the order in which watches reported them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...engine.events import KINDS, Effect, Event, Recorded
from ...engine.invariants.invariant import Violation
from ...engine.invariants.version_invariants import WatchedVersion, going_back
from ...engine.log.store import Query
from ..logs.log import Log
from ..moments.moment import Moment

_VERSIONS = (Effect.VERSION, Effect.DELETED)


class _Metadata(msgspec.Struct):
    generation: int = 0


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_GENERATION = msgspec.json.Decoder(_Object)


def sources_of_watches(log: Log, moment: Moment) -> list[str]:
    """Return the inputs that are watches, by name."""
    source_infos = log.store.sources(
        known=moment.known, cluster=moment.cluster, branch=moment.branch
    )
    return sorted(
        source_info.source for source_info in source_infos if "watch.followed" in source_info.kinds
    )


def versions_going_back(log: Log, moment: Moment) -> Iterator[tuple[Recorded, Violation]]:
    """Yield versions that are older than one that the same watch had reported before."""
    query = Query(branch=moment.branch, cluster=moment.cluster, until=moment.known)
    for source in sources_of_watches(log, moment):
        narrowed = msgspec.structs.replace(query, source=source)
        reports: list[tuple[int, WatchedVersion]] = []
        for recorded in log.store.read(narrowed):
            event = recorded.event
            if KINDS[event.kind].effect in _VERSIONS and event.revision is not None:
                reports.append((event.line, _report(recorded.position, event)))
        # A watch reports in the order of its lines; positions may be in another one.
        reports.sort(key=lambda pair: pair[0])
        for report, violation in going_back(watched_version for _, watched_version in reports):
            (at,) = log.store.read(
                msgspec.structs.replace(query, after=report.position - 1, until=report.position)
            )
            yield at, violation


def _report(position: int, event: Event) -> WatchedVersion:
    reference = event.reference
    name = f"{reference.namespace}/{reference.name}" if reference.namespace else reference.name
    try:
        generation = _GENERATION.decode(event.payload).metadata.generation
    except msgspec.DecodeError:
        generation = 0
    return WatchedVersion(
        position, reference.kind, name, reference.uid, event.revision or 0, generation
    )
