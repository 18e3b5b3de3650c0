"""Objects that may be gone at a moment: a request deleted them whose result no input shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ...engine.events import Recorded
from ...engine.events.payloads import ListObserved
from ...engine.log.store import Query
from ...engine.state.clock import UNDATED, TimeSpan, span_of_read
from ...engine.state.fold import FoldRecord
from ...engine.state.log_coverage import KnownGap, Pair, UnknownCause
from ..moments.moment import Moment
from ..moments.times import own_span
from ..moments.unknown import Unknown

if TYPE_CHECKING:
    from ..truth.log_states import LogStates

_Deletions = Mapping[tuple[Pair, int], Sequence[FoldRecord]]
"""Objects by kind, and by the position of the request."""


def maybe_deleted(
    log: LogStates, moment: Moment, places: Mapping[Pair, str | None]
) -> list[Unknown]:
    """Return the objects that may be gone at a moment, by request.

    One that exists at the end of what is known existed at the moment, as a uid never comes back.
    """
    # The cheap questions first: most logs have no such request.
    if not log.clock(moment).open_writes or not log.may_delete(places, moment):
        return []
    deletions = _deletions(log, moment, places)
    positions = tuple(sorted({position for _, position in deletions}))
    query = Query(branch=moment.branch, positions=positions)
    read = log.store.read(query) if positions else ()
    requests = {event.position: event for event in read}
    return [
        unknown
        for (pair, position), records in sorted(deletions.items(), key=lambda item: item[0])
        for unknown in _unknown(log, moment, pair, (requests[position], records))
    ]


def _deletions(log: LogStates, moment: Moment, places: Mapping[Pair, str | None]) -> _Deletions:
    deletions: dict[tuple[Pair, int], list[FoldRecord]] = {}
    for record in log.truth(moment).records():
        pair = (record.reference.group, record.reference.kind)
        if record.ending and pair in places and places[pair] in {None, record.reference.namespace}:
            deletions.setdefault((pair, record.ending), []).append(record)
    return deletions


def _unknown(
    log: LogStates, moment: Moment, pair: Pair, asked: tuple[Recorded, Sequence[FoldRecord]]
) -> Iterator[Unknown]:
    """Yield what a request may have deleted: what is gone later, and what no later input shows."""
    request, records = asked
    end = msgspec.structs.replace(moment, revision=None, time=None)
    later = {record.object: record for record in log.truth(end).records()}
    gone = [record for record in records if record.object not in later]
    open_ = [record for record in records if record.object in later and later[record.object].ending]
    for doubted, gone_at in ((gone, _shown_gone(log, end, pair, (request, gone))), (open_, None)):
        if doubted:
            yield Unknown(
                pair=pair,
                namespaces=tuple(sorted({record.reference.namespace for record in doubted} - {""})),
                gap=KnownGap(
                    why=UnknownCause.DELETION, after=max(record.revision for record in doubted)
                ),
                after=request.event.latest,
                after_within=own_span(request),
                shown_gone=gone_at,
                objects=tuple(sorted(record.reference.full_name for record in doubted)),
                actor=request.event.actor,
            )


def _shown_gone(
    log: LogStates, end: Moment, pair: Pair, asked: tuple[Recorded, Sequence[FoldRecord]]
) -> TimeSpan:
    """Return when the first list after a request was made that lacks all of some objects.

    If no list does, events show that they are gone.
    """
    from ..truth.absences import lists_of  # noqa: PLC0415 -- only if something was deleted so

    request, records = asked
    uids = {record.reference.uid for record in records}
    places = {record.reference.namespace for record in records}
    for recorded in lists_of(log.store, end, pair) if records else ():
        listed_at, since = recorded.event.latest, request.event.earliest
        # A list from before the request cannot show what it did.
        if listed_at is None or (since is not None and listed_at < since):
            continue
        listing = msgspec.json.decode(recorded.event.payload, type=ListObserved)
        covers = not listing.namespaces or places <= {*listing.namespaces}
        if covers and uids.isdisjoint(listing.uids):
            return span_of_read(listed_at)
    return UNDATED
