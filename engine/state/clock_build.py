"""Builds the clock from all evidence of a log, in a few passes over columns; pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from ..events import NO_TIME, Effect, may_come_back
from .asked_lists import AskedList, ListFloors, floors_of_lists
from .bounds import Bounds, Mask, Remark, TimeEvidence, bounds_of, estimates_of
from .decision_evidence import LoggedDecision, floors_of
from .event_columns import EventColumns, EventTimes, Int32s, Int64s, distinct
from .marks import VersionMark
from .pairing import UNPAIRED, Pairing, References, name_of

_WRITTEN = (Effect.VERSION, Effect.DELETED, Effect.ATTRIBUTED)
_WRITES = (Effect.TOUCHED, Effect.COLLECTED)

END_KEY = 2**62
"""Key of events after all known revisions."""


class ClockTables(msgspec.Struct, frozen=True, kw_only=True):
    """The tables of a clock: of each revision, and of each event without one.

    Revisions rise, and so do their times. The events without revision are sorted by ``keys``, their
    place among twice the revisions, and ``loose_estimates``. ``partners`` are the positions of the
    versions that they made, 0 if unknown. ``open_writes`` counts accepted writes whose result is
    not known. ``misread`` are the positions of versions of which a field cannot be decoded.
    """

    revisions: Int64s
    earliest: Int64s
    latest: Int64s
    estimates: Int64s
    keys: Int64s
    positions: Int64s
    loose_earliest: Int64s
    loose_latest: Int64s
    loose_estimates: Int64s
    partners: Int64s
    remarks: tuple[Remark, ...] = ()
    open_writes: int = 0
    misread: tuple[int, ...] = ()


def build_clock(
    columns: EventColumns,
    times: EventTimes,
    references: References,
    decisions: Sequence[LoggedDecision] = (),
    lists: Sequence[AskedList] = (),
) -> ClockTables:
    """Build the clock of one cluster on one branch from all its events with an effect on truth.

    :param references: gives the objects of ids. :param decisions: the logged decisions.
    :param lists: those without a revision, with the time of their request.
    """
    dated = columns.revisions >= 0
    revisions, places = _placed(columns.revisions, dated)
    count = len(revisions)
    stored = _dated_evidence(columns, times, places, dated, count)
    if lists:
        stored = _after_lists(stored, revisions, floors_of_lists(lists, columns, references))
    evidence = stored
    bounds = bounds_of(count, stored)
    pairing = Pairing(columns, times, places, references)
    for look in (pairing.pair_definite, pairing.pair_disagreeing, pairing.pair_updates):
        # Each round uses what the one before has shown: a request that has its version bounds the
        # times of others.
        before = int((pairing.partners != UNPAIRED).sum()) + len(pairing.floors)
        look(bounds)
        if int((pairing.partners != UNPAIRED).sum()) + len(pairing.floors) > before:
            evidence = _with_pairs(stored, pairing, times, places)
            bounds = bounds_of(count, evidence)
    if decisions:
        bounds = _after_decisions(bounds, evidence, pairing, decisions)
    return _tables(columns, times, revisions, (bounds, pairing), references)


def _placed(revisions: Int64s, dated: Mask) -> tuple[Int64s, Int32s]:
    """Return all revisions in order, once each, and the index of each row's revision among them.

    :param dated: which rows have a revision.
    """
    places = np.zeros(len(revisions), np.int32)
    known = revisions[dated]
    if (known[1:] >= known[:-1]).all():  # Most logs are in order; sorting a large one is costly.
        new = np.ones(len(known), np.bool_)
        new[1:] = known[1:] != known[:-1]
        places[dated] = np.cumsum(new, dtype=np.int32) - np.int32(1)
        return known[new], places
    distinct_revisions, inverse = np.unique(known, return_inverse=True)
    places[dated] = inverse
    return distinct_revisions, places


def _dated_evidence(
    columns: EventColumns, times: EventTimes, places: Int32s, dated: Mask, count: int
) -> TimeEvidence:
    """Return the evidence of events with a revision about its time."""
    timed = dated & ((times.earliest != NO_TIME) | (times.latest != NO_TIME))
    timed &= ~_told_better(columns, times, places, count)
    rows: Int64s | slice = slice(None) if timed.all() else np.flatnonzero(timed)
    listed = columns.effects[rows] == Effect.LISTED
    about, earliest, latest = places[rows], times.earliest[rows], times.latest[rows]
    # A change that a list lacks came after the request of the list: so did the next revision.
    marks, sources = times.marks[rows], times.sources[rows]
    asked = (
        listed & (earliest != NO_TIME) & (about + 1 < count) & ((marks & VersionMark.UNPLACED) == 0)
    )
    written = (marks & (VersionMark.CREATED | VersionMark.UPDATED | VersionMark.AUDITED)) != 0
    seen = listed | ((columns.effects[rows] == Effect.VERSION) & ~written)
    marks = marks | np.where(seen, np.int16(VersionMark.SEEN), np.int16(0))
    if not listed.any():
        return _sorted(about, earliest, latest, marks, sources)
    nothing = np.full(int(asked.sum()), NO_TIME, np.int64)
    floors = np.full(len(nothing), int(VersionMark.FLOOR))
    return _sorted(
        np.concatenate([about, about[asked] + 1]),
        np.concatenate([np.where(listed, NO_TIME, earliest), earliest[asked]]),
        np.concatenate([latest, nothing]),
        np.concatenate([marks, floors]),
        np.concatenate([sources, sources[asked]]),
    )


def _told_better(columns: EventColumns, times: EventTimes, places: Int32s, count: int) -> Mask:
    """Return which rows are not needed, as an audit log tells who wrote the version, and when.

    A log does not keep them if the audit log comes first. So they do not count if it comes last.
    """
    audited = (times.marks & VersionMark.AUDITED) != 0
    written = audited & (columns.revisions >= 0) & np.isin(columns.effects, _WRITTEN)
    is_written = np.zeros(count, np.bool_)
    is_written[places[written]] = True
    about = np.isin(columns.effects, (*_WRITTEN, Effect.TIMED)) & ~audited
    better: Mask = about & is_written[places] if count else about
    return better


def _with_pairs(
    stored: TimeEvidence, pairing: Pairing, times: EventTimes, places: Int32s
) -> TimeEvidence:
    """Add the times of requests to the versions that they made, or that are later."""
    rows = np.flatnonzero(pairing.partners != UNPAIRED)
    versions = pairing.partners[rows]
    above = np.array([version for version, _ in pairing.floors], np.int64)
    below = np.array([request for _, request in pairing.floors], np.int64)
    marks = VersionMark.AUDITED | np.where(
        (times.marks[rows] & VersionMark.CREATE) != 0, int(VersionMark.CREATED), 0
    )
    return _sorted(
        np.concatenate([stored.places, places[versions], places[above]]),
        np.concatenate([stored.earliest, times.earliest[rows], times.earliest[below]]),
        np.concatenate([stored.latest, times.latest[rows], np.full(len(below), NO_TIME)]),
        np.concatenate(
            [
                _marks(stored),
                marks,
                np.full(len(below), int(VersionMark.AUDITED | VersionMark.FLOOR)),
            ]
        ),
        np.concatenate([stored.sources, times.sources[rows], times.sources[below]]),
    )


def _after_lists(evidence: TimeEvidence, revisions: Int64s, floors: ListFloors) -> TimeEvidence:
    """Add that changes which lists without a revision lack are later than their requests."""
    more = len(floors.times)
    if not more:
        return evidence
    return _sorted(
        np.concatenate([evidence.places, np.searchsorted(revisions, floors.revisions)]),
        np.concatenate([evidence.earliest, floors.times]),
        np.concatenate([evidence.latest, np.full(more, NO_TIME)]),
        np.concatenate([_marks(evidence), np.full(more, int(VersionMark.FLOOR))]),
        np.concatenate([evidence.sources, np.full(more, -1)]),
    )


def _after_decisions(
    bounds: Bounds, evidence: TimeEvidence, pairing: Pairing, decisions: Sequence[LoggedDecision]
) -> Bounds:
    """Return bounds that include the evidence of schedulers' logs."""
    shown = {mark: pairing.first_showing(mark) for mark in (VersionMark.BOUND, VersionMark.ENDING)}
    floors = floors_of(decisions, shown, bounds)
    count, more = len(bounds.earliest), len(floors.places)
    if more:
        bounds = bounds_of(
            count,
            _sorted(
                np.concatenate([evidence.places, floors.places]),
                np.concatenate([evidence.earliest, floors.times]),
                np.concatenate([evidence.latest, np.full(more, NO_TIME)]),
                np.concatenate([_marks(evidence), np.full(more, int(VersionMark.FLOOR))]),
                np.concatenate([evidence.sources, np.full(more, -1)]),
            ),
        )
    return msgspec.structs.replace(bounds, remarks=(*bounds.remarks, *floors.remarks))


def _marks(evidence: TimeEvidence) -> Int64s:
    audited: Int64s = np.where(evidence.audited, int(VersionMark.AUDITED), 0)
    created: Int64s = np.where(evidence.created, int(VersionMark.CREATED), 0)
    floors: Int64s = np.where(evidence.floors, int(VersionMark.FLOOR), 0)
    seen: Int64s = np.where(evidence.seen, int(VersionMark.SEEN), 0)
    return audited | created | floors | seen


def _sorted(
    places: Int32s, earliest: Int64s, latest: Int64s, marks: Int64s, sources: Int64s
) -> TimeEvidence:
    if (places[1:] < places[:-1]).any():  # Most logs are in order; copying a large one is costly.
        order = np.argsort(places, kind="stable")
        places, earliest, latest = places[order], earliest[order], latest[order]
        marks, sources = marks[order], sources[order]
    return TimeEvidence(
        places=places,
        earliest=earliest,
        latest=latest,
        audited=(marks & VersionMark.AUDITED) != 0,
        created=(marks & VersionMark.CREATED) != 0,
        floors=(marks & VersionMark.FLOOR) != 0,
        seen=(marks & VersionMark.SEEN) != 0,
        sources=sources,
    )


def _tables(
    columns: EventColumns,
    times: EventTimes,
    revisions: Int64s,
    results: tuple[Bounds, Pairing],
    references: References,
) -> ClockTables:
    bounds, pairing = results
    estimates = estimates_of(bounds)
    loose = np.flatnonzero(columns.revisions < 0)
    partners = pairing.partners[loose]
    paired = partners != UNPAIRED
    low, high = times.earliest[loose], times.latest[loose]
    low, high = np.where(low == NO_TIME, high, low), np.where(high == NO_TIME, low, high)
    own = low + (high - low) // 2
    following = np.searchsorted(estimates, own, side="right")
    following = np.maximum(following, _after_own_versions(columns, revisions, loose))
    # Odd, and so just before the revision that follows; the fold counts in twice the revision.
    keys = np.append(revisions, END_KEY // 2)[following] * 2 - 1
    keys = np.where(following == len(revisions), END_KEY, keys)
    # Without any time nothing places it, so it counts after all that is known.
    keys = np.where(low == NO_TIME, END_KEY, keys)
    # A request without its version is placed by time, but never behind another object of the name.
    alone = np.flatnonzero(~paired)
    keys[alone] = np.minimum(keys[alone], _before_next_objects(columns, loose[alone], references))
    keys[paired] = columns.revisions[partners[paired]] * 2 - 1
    order = np.lexsort((columns.positions[loose], own, keys))
    versions = np.where(paired, columns.positions[np.maximum(partners, 0)], 0)
    return ClockTables(
        revisions=revisions,
        earliest=bounds.earliest,
        latest=bounds.latest,
        estimates=estimates,
        keys=keys[order],
        positions=columns.positions[loose][order],
        loose_earliest=low[order],
        loose_latest=high[order],
        loose_estimates=own[order],
        partners=versions[order],
        remarks=bounds.remarks,
        open_writes=int((np.isin(columns.effects, _WRITES) & (pairing.partners == UNPAIRED)).sum()),
        misread=tuple(columns.positions[(times.marks & VersionMark.MISREAD) != 0].tolist()),
    )


def _after_own_versions(columns: EventColumns, revisions: Int64s, loose: Int64s) -> Int64s:
    """Return for each deletion the index after its object's last version: it cannot be earlier.

    For other rows 0. Objects are identified by uid; a deletion without uid has no versions.
    """
    following = np.zeros(len(loose), np.int64)
    ends = columns.effects[loose] == Effect.DELETED
    if not ends.any():
        return following
    objects = columns.objects[loose][ends]
    last = np.full(int(columns.objects.max()) + 1, -1, np.int64)
    shown = (columns.revisions >= 0) & (columns.effects == Effect.VERSION)
    np.maximum.at(last, columns.objects[shown], columns.revisions[shown])
    following[ends] = np.searchsorted(revisions, last[objects], side="right")
    return following


def _before_next_objects(columns: EventColumns, loose: Int64s, references: References) -> Int64s:
    """Return for each event the place just before the next object of its object's name came.

    An object cannot be deleted, bound or written to after another one has its name, whatever the
    times say. For objects without a next one, or without a version, the place is the end. An object
    without a uid in its input may be the same one.
    """
    places = np.full(len(loose), END_KEY, np.int64)
    dated = columns.revisions >= 0
    shown = dated & (columns.effects == Effect.VERSION)
    if not len(loose) or not shown.any():
        return places
    size = int(columns.objects.max()) + 1
    first, last = np.full(size, END_KEY, np.int64), np.full(size, -1, np.int64)
    np.maximum.at(last, columns.objects[shown], columns.revisions[shown])
    shown |= dated & (columns.effects == Effect.DELETED)
    np.minimum.at(first, columns.objects[shown], columns.revisions[shown])
    objects = columns.objects[loose]
    ended = [number for number in distinct(objects).tolist() if last[number] >= 0]
    nexts = _next_objects(ended, first, last, references)
    for row, number in enumerate(objects.tolist()):
        if number in nexts:
            places[row] = nexts[number] * 2 - 1
    return places


def _next_objects(
    ended: Sequence[int], first: Int64s, last: Int64s, references: References
) -> dict[int, int]:
    """Return the first revisions of the objects that followed others of the same name.

    :param ended: ids of the others. :param first: the revision at which each object was first seen,
        by id. :param last: that of its last version, -1 if none is known.
    """
    names = {
        number: name_of(reference)
        for number, reference in references(ended).items()
        if reference.uid
    }
    if not names:
        return {}
    wanted, firsts = set(names.values()), dict[tuple[str, ...], list[int]]()
    candidates = np.flatnonzero((first < END_KEY) & (first > last[list(names)].min()))
    for number, reference in references(candidates.tolist()).items():
        if name_of(reference) in wanted and not may_come_back(reference.uid):
            firsts.setdefault(name_of(reference), []).append(int(first[number]))
    later = {
        number: min(
            (revision for revision in firsts.get(name, ()) if revision > last[number]), default=0
        )
        for number, name in names.items()
    }
    return {number: revision for number, revision in later.items() if revision}
