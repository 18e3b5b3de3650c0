"""Matches audited requests whose answer has no version with the versions that they made; pure.

At levels Metadata and Request the audit log has the time and the user of a write, but not the
version; so it is at every level for bindings, evictions and most deletions. If a watch or a list
has the version, request and version are one change. They are matched by object, by what the request
does (creates, binds or deletes the object), and by time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np

from ..events import NO_TIME, Effect, Reference
from ..kubernetes.units import SECOND_US
from .bounds import EVER, TOLERANCE_US, Bounds, Mask
from .event_columns import EventColumns, EventTimes, Int32s, Int64s
from .marks import VersionMark

_TELLING = (Effect.ATTRIBUTED, Effect.TIMED)
"""What an event does that says more of a version."""

UNPAIRED = -1
"""In columns of rows: no partner is known."""

_Range = tuple[int, int, int]
"""The row of a request, and the range of versions that it may have made; the end is excluded."""

References = Callable[[Sequence[int]], Mapping[int, Reference]]


class Pairing:
    """Matches requests with versions; each round matches more, as bounds get tighter.

    ``partners`` has for each row the row of the version that it made, or ``UNPAIRED``;
    ``floors`` has pairs of a version and a request that came before it.

    :param places: for each row the index of its revision.
    :param references: gives the objects of ids.
    """

    def __init__(
        self, columns: EventColumns, times: EventTimes, places: Int32s, references: References
    ) -> None:
        self.partners = np.full(len(columns), UNPAIRED, np.int64)
        self._columns, self._times, self._places = columns, times, places
        self._references = references
        loose = (columns.revisions < 0) & (times.latest != NO_TIME)
        self._loose = np.flatnonzero(loose & (times.earliest != NO_TIME))
        if len(self._loose):
            self._times = _with_all_inputs(columns, times, places)
        self.floors: list[tuple[int, int]] = []
        self._taken = self._written() if len(self._loose) else np.zeros(len(columns), np.bool_)
        self._numbers: dict[int, int] = {}
        self._named: dict[int, int] = {}
        self._only: dict[int, int] = {}
        if len(self._loose):
            self._number_names()

    def _written(self) -> Mask:
        """Mark rows of versions that the audit log has with their write."""
        dated = self._columns.revisions >= 0
        audited = dated & ((self._times.marks & VersionMark.AUDITED) != 0)
        written = np.zeros(int(self._places.max(initial=0)) + 1, np.bool_)
        written[self._places[audited]] = True
        rows: Mask = dated & written[self._places]
        return rows

    @cached_property
    def _rows(self) -> Int64s:
        """Return the rows of all versions and deletions, by object and revision."""
        columns = self._columns
        shown = np.isin(columns.effects, (Effect.VERSION, Effect.DELETED))
        rows = np.flatnonzero((columns.revisions >= 0) & shown)
        order = np.lexsort((columns.effects[rows], columns.revisions[rows], columns.objects[rows]))
        in_order: Int64s = rows[order]
        return in_order

    def first_showing(self, mark: VersionMark) -> list[tuple[Reference, int]]:
        """Return the versions that are the first of their object to show something.

        :return: of each the object, and the index of its revision.
        """
        rows = self._rows[self._first_with(mark)]
        numbers = self._columns.objects[rows].tolist()
        references = self._references(sorted(set(numbers)))
        return [
            (references[number], int(place))
            for number, place in zip(numbers, self._places[rows], strict=True)
        ]

    def pair_definite(self, bounds: Bounds) -> None:
        """Match creations, bindings, evictions and deletions: an object has one of each.

        Only within the bounds: an object of the same name may have been created and deleted within
        a second.
        """
        self._pair_definite(bounds, 0)

    def pair_disagreeing(self, bounds: Bounds) -> None:
        """Match the same with a tolerance for clocks, if nothing fits without it."""
        self._pair_definite(bounds, TOLERANCE_US)

    def _pair_definite(self, bounds: Bounds, tolerance: int) -> None:
        if not len(self._loose):
            return
        marks, effects = self._times.marks, self._columns.effects
        deleted = effects[self._rows] == Effect.DELETED
        created = (marks[self._rows] & VersionMark.CREATED) != 0
        ending = self._first_with(VersionMark.ENDING)
        gone = effects[self._loose] == Effect.DELETED

        def match(mark: VersionMark, versions: Mask, among: Mask | None = None) -> None:
            self._match(mark, self._rows[versions], bounds, tolerance, among)

        match(VersionMark.CREATE, created)
        # It depends on no bounds, so another round would find the same.
        if tolerance == 0:
            self._pair_first_seen()
        match(VersionMark.BIND, self._first_with(VersionMark.BOUND))
        match(VersionMark.EVICT, ending)
        # A deletion that ended its object is not the one that marked it; of others that is unknown.
        match(VersionMark.DELETE, deleted, gone)
        match(VersionMark.DELETE, ending | deleted, ~gone)

    def _pair_first_seen(self) -> None:
        """Match creations with the first seen version of an object, if no earlier one existed.

        That is so if all its stamps are of the second of creation, and no other request for the
        object can have come between. Otherwise it is only known to be later than the creation.
        """
        objects, times = self._columns.objects, self._times
        first = np.ones(len(self._rows), np.bool_)
        first[1:] = objects[self._rows][1:] != objects[self._rows][:-1]
        seen = self._rows[first]
        seen = seen[(times.created[seen] != NO_TIME) & ~self._taken[seen]]
        others = self._others()
        for requests, versions in self._groups(self._open(VersionMark.CREATE, None), seen):
            for version in versions:
                created = int(times.created[version])
                fits = [row for row in requests if self._in_second(row, created)]
                # Of several creations in that second, none is known to be the one.
                if len(fits) != 1 or self.partners[fits[0]] != UNPAIRED or self._taken[version]:
                    continue
                request = fits[0]
                fresh = int(times.earliest[version]) == created
                asked = int(times.latest[request])
                later = others.get(self._group(request), [])
                if fresh and not any(asked < at <= created + SECOND_US for at in later):
                    self._join(request, version)
                else:
                    self.floors.append((version, request))

    def _in_second(self, request: int, stamp: int) -> bool:
        """Say whether a stamp can have been set by a request."""
        earliest = int(self._times.earliest[request])
        return earliest - earliest % SECOND_US <= stamp <= int(self._times.latest[request])

    def _others(self) -> dict[int, list[int]]:
        """Return the times of requests other than creations, by object or name."""
        times: dict[int, list[int]] = {}
        marks = self._times.marks[self._loose]
        for row in self._loose[(marks & VersionMark.CREATE) == 0].tolist():
            times.setdefault(self._group(row), []).append(int(self._times.earliest[row]))
        return times

    def _group(self, row: int) -> int:
        number = int(self._columns.objects[row])
        named = self._numbers.get(number)
        return number if named is None else self._only.get(named, -named)

    def pair_updates(self, bounds: Bounds) -> None:
        """Match updates that fit only one way, in order for each object.

        An update may change nothing, and other writes may not be recorded. So one request and one
        version match if the version's stamp was set in the second of the request; and several
        match if there are as many requests as versions.
        """
        if not len(self._loose):
            return
        times, rows = self._times, self._rows
        updated = (
            times.marks[rows] & (VersionMark.UPDATED | VersionMark.AUDITED)
        ) == VersionMark.UPDATED
        updated &= times.earliest[rows] != NO_TIME
        own = times.latest[rows] - times.earliest[rows] < SECOND_US
        for mask, most in ((updated & own, 1), (updated, len(rows))):
            versions = rows[mask & ~self._taken[rows]]
            pairs = [
                pair
                for requests, candidates in self._groups(
                    self._open(VersionMark.UPDATE, None), versions
                )
                for pair in self._equal_pairs(requests, candidates, bounds, most)
            ]
            claims = Counter(version for _, version in pairs)
            for request, version in pairs:
                if claims[version] == 1:
                    self._join(request, version)

    def _equal_pairs(
        self, requests: list[int], versions: list[int], bounds: Bounds, most: int
    ) -> Iterator[tuple[int, int]]:
        """Yield requests and versions of groups that fit only each other, if they are as many.

        :param most: the greatest size of a group.
        """
        times = self._times
        requests.sort(key=lambda row: (int(times.earliest[row]), row))
        versions.sort(key=lambda row: (int(self._columns.revisions[row]), row))
        places = self._places[versions]
        # Bounds rise with revisions, so the versions that a request may have made are neighbours.
        begins = np.searchsorted(bounds.latest[places], times.earliest[requests]).tolist()
        ends = np.searchsorted(bounds.earliest[places], times.latest[requests], "right").tolist()
        ranges = [
            candidate
            for candidate in zip(requests, begins, ends, strict=True)
            if candidate[1] < candidate[2]
        ]
        for group in _hanging_together(ranges):
            first, last = min(begin for _, begin, _ in group), max(end for _, _, end in group)
            fits = all(
                begin <= first + number < end for number, (_, begin, end) in enumerate(group)
            )
            if len(group) == last - first <= most and fits:
                for number, (request, _, _) in enumerate(group):
                    yield request, versions[first + number]

    def _match(
        self,
        mark: VersionMark,
        versions: Int64s,
        bounds: Bounds,
        tolerance: int,
        among: Mask | None,
    ) -> None:
        """Match requests of one type with versions, both in order, within each object or name."""
        free = versions[~self._taken[versions]]
        for requests, versions_of in self._groups(self._open(mark, among), free):
            requests.sort(key=lambda row: (int(self._times.earliest[row]), row))
            candidates = [row for row in versions_of if not self._taken[row]]
            candidates.sort(key=lambda row: (int(self._columns.revisions[row]), row))
            place = 0
            for request in requests:
                while place < len(candidates) and self._is_before(
                    candidates[place], request, bounds, tolerance
                ):
                    place += 1
                if place == len(candidates):
                    break
                if self._may_be(request, candidates[place], bounds, tolerance):
                    self._join(request, candidates[place])
                    place += 1

    def _join(self, request: int, version: int) -> None:
        assert not self._taken[version], "one request made a version"
        self.partners[request] = version
        self._taken[version] = True

    def _is_before(self, version: int, request: int, bounds: Bounds, tolerance: int) -> bool:
        latest = int(bounds.latest[self._places[version]])
        return latest < int(self._times.earliest[request]) - tolerance

    def _may_be(self, request: int, version: int, bounds: Bounds, tolerance: int) -> bool:
        place = self._places[version]
        return bool(
            bounds.earliest[place] <= self._times.latest[request] + tolerance
            and bounds.latest[place] >= self._times.earliest[request] - tolerance
        )

    def _open(self, mark: VersionMark, among: Mask | None) -> Int64s:
        rows = self._loose if among is None else self._loose[among]
        wanted = (self._times.marks[rows] & mark) != 0
        unpaired: Int64s = rows[wanted & (self.partners[rows] == UNPAIRED)]
        return unpaired

    def _first_with(self, mark: VersionMark) -> Mask:
        """Mark the versions that are the first of their object to show something.

        The first version of an object in the log does not count: an earlier one is not known.
        """
        objects = self._columns.objects[self._rows]
        shows = (self._times.marks[self._rows] & mark) != 0
        first = np.zeros(len(self._rows), np.bool_)
        first[1:] = shows[1:] & ~shows[:-1] & (objects[1:] == objects[:-1])
        return first

    def _groups(self, requests: Int64s, versions: Int64s) -> list[tuple[list[int], list[int]]]:
        """Return requests and versions by object if its uid is known, else by its name."""
        groups: dict[int, tuple[list[int], list[int]]] = {}
        for row in requests.tolist():
            groups.setdefault(self._group(row), ([], []))[0].append(row)
        if not groups:
            return []
        for row, number in zip(
            versions.tolist(), self._columns.objects[versions].tolist(), strict=True
        ):
            if number in groups:
                groups[number][1].append(row)
            name = self._named.get(number)
            if name is not None and -name in groups:
                groups[-name][1].append(row)
        # Those with a uid first: a version is in both groups if several objects had its name.
        ordered = sorted(groups.items(), key=lambda group: (group[0] < 0, group[0]))
        return [pair for _, pair in ordered if pair[1]]

    def _number_names(self) -> None:
        """Give numbers to the names of objects, for requests without a uid.

        ``_numbers`` has them by the ids of these objects, ``_named`` by those of all others. If
        only one object had the name, ``_only`` has its id: requests without a uid are about it.
        """
        loose = np.unique(self._columns.objects[self._loose]).tolist()
        names: dict[tuple[str, str, str, str], int] = {}
        for number, reference in self._references(loose).items():
            if not reference.uid:
                self._numbers[number] = names.setdefault(name_of(reference), len(names) + 1)
        if names:
            dated = np.unique(self._columns.objects[self._rows]).tolist()
            for number, reference in self._references(dated).items():
                if name_of(reference) in names:
                    self._named[number] = names[name_of(reference)]
            several = Counter(self._named.values())
            self._only = {
                name: number for number, name in self._named.items() if several[name] == 1
            }


def _with_all_inputs(columns: EventColumns, times: EventTimes, places: Int32s) -> EventTimes:
    """Return times in which a version has what other inputs say of it: what happened, and when.

    A log keeps a version from the input that came first, and what later ones add as events of
    their own. Both together must not depend on which came first.
    """
    dated = columns.revisions >= 0
    shown = np.flatnonzero(dated & (columns.effects == Effect.VERSION))
    dated_rows = np.flatnonzero(dated & np.isin(columns.effects, _TELLING))
    if not len(dated_rows):
        return times
    count = int(places.max()) + 1
    # Objects without a resourceVersion share a revision: no event says which of them is meant.
    alone = np.bincount(places[shown], minlength=count) == 1
    dated_rows = dated_rows[alone[places[dated_rows]]]
    marks, low = np.zeros(count, np.int64), np.full(count, NO_TIME)
    high = np.full(count, EVER)
    np.bitwise_or.at(
        marks,
        places[dated_rows],
        times.marks[dated_rows] & (VersionMark.CREATED | VersionMark.UPDATED),
    )
    stamped = dated_rows[(times.marks[dated_rows] & (VersionMark.AUDITED | VersionMark.FLOOR)) == 0]
    np.maximum.at(low, places[stamped], times.earliest[stamped])
    over = stamped[times.latest[stamped] != NO_TIME]
    np.minimum.at(high, places[over], times.latest[over])
    at = places[shown]
    earliest, latest, own = times.earliest.copy(), times.latest.copy(), times.marks.copy()
    own[shown] |= marks[at].astype(own.dtype)
    earliest[shown] = np.maximum(earliest[shown], low[at])
    known = np.where(latest[shown] == NO_TIME, EVER, latest[shown])
    least = np.minimum(known, high[at])
    latest[shown] = np.where(least == EVER, NO_TIME, least)
    return msgspec.structs.replace(times, earliest=earliest, latest=latest, marks=own)


def _hanging_together(ranges: Sequence[_Range]) -> Iterator[list[_Range]]:
    """Yield groups of ranges that overlap, directly or through others of the group."""
    group: list[_Range] = []
    reach = 0
    for span in ranges:
        if group and span[1] >= reach:
            yield group
            group, reach = [], 0
        group.append(span)
        reach = max(reach, span[2])
    if group:
        yield group


def name_of(reference: Reference) -> tuple[str, str, str, str]:
    """Return what objects have in common that have one name, one after another."""
    return (reference.group, reference.kind, reference.namespace, reference.name)
