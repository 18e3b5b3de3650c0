"""Objects that may be gone at a moment: a request deleted them whose result no input shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ...engine.events import Recorded
from ...engine.events.payloads import ListObserved
from ...engine.log.store import Query
from ...engine.state.clock import UNDATED, TimeSpan
from ...engine.state.fold import FoldRecord
from ...engine.state.log_coverage import KnownGap, Pair, UnknownCause
from ..moments.log_clock import span_of_read
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
    if not log.clock(moment).open_writes or not log.may_delete(places, moment):
        return []
    deletions = _deletions(log, moment, places)
    positions = tuple(sorted({position for _, position in deletions}))
    query = Query(branch=moment.branch, positions=positions)
    read = log.store.read(query) if positions else ()
    requests = {event.position: event for event in read}
    return [
        unknown
        for (pair, position), some in sorted(deletions.items(), key=lambda item: item[0])
        for unknown in _unknown(log, moment, pair, (requests[position], some))
    ]


def _deletions(log: LogStates, moment: Moment, places: Mapping[Pair, str | None]) -> _Deletions:
    found: dict[tuple[Pair, int], list[FoldRecord]] = {}
    for record in log.truth(moment).records():
        pair = (record.reference.group, record.reference.kind)
        if record.ending and pair in places and places[pair] in {None, record.reference.namespace}:
            found.setdefault((pair, record.ending), []).append(record)
    return found


def _unknown(
    log: LogStates, moment: Moment, pair: Pair, asked: tuple[Recorded, Sequence[FoldRecord]]
) -> Iterator[Unknown]:
    """Yield what a request may have deleted: what is gone later, and what no later input shows."""
    request, records = asked
    end = msgspec.structs.replace(moment, revision=None, time=None)
    later = {record.object: record for record in log.truth(end).records()}
    gone = [one for one in records if one.object not in later]
    open_ = [one for one in records if one.object in later and later[one.object].ending]
    for some, gone_at in ((gone, _shown_gone(log, end, pair, (request, gone))), (open_, None)):
        if some:
            yield Unknown(
                pair=pair,
                namespaces=tuple(sorted({one.reference.namespace for one in some} - {""})),
                gap=KnownGap(why=UnknownCause.DELETION, after=max(one.revision for one in some)),
                after=request.event.latest,
                after_within=own_span(request),
                shown_gone=gone_at,
                objects=tuple(sorted(one.reference.full_name for one in some)),
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
    places = {one.reference.namespace for one in records}
    for recorded in lists_of(log.store, end, pair) if records else ():
        made, since = recorded.event.latest, request.event.earliest
        if made is None or (since is not None and made < since):
            continue
        listing = msgspec.json.decode(recorded.event.payload, type=ListObserved)
        covers = not listing.namespaces or places <= {*listing.namespaces}
        if covers and uids.isdisjoint(listing.uids):
            return span_of_read(made)
    return UNDATED
