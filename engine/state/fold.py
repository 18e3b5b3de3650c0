"""The fold: computes from events what the API server held, in the order of revisions.

Truth depends only on *which* events are known: not on the order of their positions, not on batches,
not on where a fold began. Three rules ensure this:

* An event with a revision happens at that revision. An event without one (an audited deletion whose
  answer was a Status, a binding) gets its place among them from the clock (:mod:`.clock`). If the
  log has the version that it made, that version counts and the event does not.
* Of each object the last version or deletion counts. A binding counts while no version shows a
  node; a write with an unknown result marks the object as touched until the next version.
* A complete list shows that the objects in its scope that it lacks do not exist: each was deleted
  at some time between its last version and the list. An object with a later version existed when
  the list was made, as a uid never comes back: the list was not complete, and shows nothing of
  it. If the revision of the list is a lower bound, the list may be younger than that version:
  then the object is doomed, and does not exist after its last version. A generated uid may come
  back: its later versions are of another object of the name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ..events import NO_TIME, Effect, Reference, may_come_back
from ..events.complete_lists import LastList, is_older, lacked_by
from ..events.payloads import ListObserved
from .event_columns import NO_ORIGIN, EventColumns, Int64s, distinct

NameKey = tuple[str, str, str, str]
_BOUND, _COLLECTED = int(Effect.BOUND), int(Effect.COLLECTED)
_WEAK = (_BOUND, int(Effect.TOUCHED), _COLLECTED)
ListShape = tuple[str, str, tuple[str, ...]]


class FoldRecord(msgspec.Struct, kw_only=True, array_like=True, gc=False):
    """One existing object in a fold.

    :param object: the store's id. :param key: order of its last version (twice the revision).
    :param bound: position of a binding after the last version, 0 if none.
    :param touched: key of the last write with an unknown result after the last version, -1 if none.
    :param absent: a list with a revision lacks it, and no later version shows it.
    :param doomed: a list whose revision is a lower bound lacks it.
    :param origin: where the fact is in the sidecar, or NO_ORIGIN.
    :param fact: the fact as encoded in a checkpoint, if it came from one.
    :param touches: positions of the writes with an unknown result after the last version.
    :param ending: position of the last of them that deletes the object, 0 if none does or if that
        was not looked up: a fold does not read these writes.
    """

    object: int
    reference: Reference
    position: int
    key: int
    revision: int
    bound: int = 0
    touched: int = -1
    absent: bool = False
    doomed: bool = False
    origin: int = NO_ORIGIN
    fact: bytes = b""
    touches: tuple[int, ...] = ()
    ending: int = 0

    @property
    def stale(self) -> bool:
        """Whether a write with an unknown result came after the last version."""
        return self.touched >= 0

    @property
    def resource_version(self) -> str:
        """The version as Kubernetes writes it."""
        return str(self.revision) if self.revision >= 0 else ""


class PlacedEvents(msgspec.Struct, frozen=True, kw_only=True):
    """The events without revision that count in a window, sorted by ``positions``.

    :param keys: their places among twice the revisions. :param times: microseconds, for their order
        at one place.
    """

    positions: Int64s
    keys: Int64s
    times: Int64s


def in_order(window: EventColumns, placed: PlacedEvents) -> tuple[EventColumns, Int64s, Int64s]:
    """Return the rows in their order of happening, their keys, and the times of undated rows.

    :param placed: the events without revision that count; others of the window are left out.
    """
    # Twice the revision: between two of them is room for a list, and for events without one.
    keys = window.revisions * 2 + (window.effects == Effect.LISTED)
    times = np.full(len(window), NO_TIME, np.int64)
    undated = np.flatnonzero(window.revisions < 0)
    keep = np.ones(len(window), np.bool_)
    if len(undated):
        assert (np.diff(placed.positions) >= 0).all(), "a search needs positions in order"
        positions = window.positions[undated]
        rows = np.searchsorted(placed.positions, positions)
        rows = np.minimum(rows, max(len(placed.positions) - 1, 0))
        known = (
            placed.positions[rows] == positions
            if len(placed.positions)
            else np.zeros(len(undated), np.bool_)
        )
        keep[undated] = known
        if known.any():
            keys[undated[known]] = placed.keys[rows[known]]
            times[undated[known]] = placed.times[rows[known]]
    counted, keys, times = window.select(keep), keys[keep], times[keep]
    # Never by position: truth must not depend on the order in which a log learned of events.
    ordered = np.lexsort((counted.effects, counted.objects, times, keys))
    return counted.select(ordered), keys[ordered], times[ordered]


def with_lists_in_order(
    rows: EventColumns,
    keys: Int64s,
    lists: Int64s,
    references: Callable[[Sequence[int]], Mapping[int, Reference]],
    payload: Callable[[int], bytes],
) -> EventColumns:
    """Return rows in which lists of one scope at one place are in the order of their content.

    Otherwise they would be in the order in which the log learned them.

    :param rows: in order of ``keys``. :param lists: which rows are lists.
    """
    if len(lists) < 2 or not (keys[lists][1:] == keys[lists][:-1]).any():
        return rows
    about = references(distinct(rows.objects[lists]).tolist())
    alike: dict[tuple[int, str, str, str], list[int]] = {}
    for row, key, number in zip(
        lists.tolist(), keys[lists].tolist(), rows.objects[lists].tolist(), strict=True
    ):
        reference = about[number]
        alike.setdefault((key, reference.group, reference.kind, reference.namespace), []).append(
            row
        )
    order = np.arange(len(rows))
    for same_place in alike.values():
        if len(same_place) > 1:
            contents = {row: payload(int(rows.positions[row])) for row in same_place}
            order[same_place] = sorted(same_place, key=lambda row: _DECODE(contents[row]).order)
    return rows.select(order)


_DECODE = msgspec.json.Decoder(ListObserved).decode


class Fold:
    """Builds truth from windows of events with rising revisions.

    :param references: gives the objects of ids.
    :param payload: gives the payload at a position; called for lists only.
    """

    def __init__(
        self,
        *,
        references: Callable[[Sequence[int]], Mapping[int, Reference]],
        payload: Callable[[int], bytes],
        records: Iterable[FoldRecord] = (),
        listed: Mapping[ListShape, LastList] | None = None,
    ) -> None:
        self._references = references
        self._payload = payload
        self.records: dict[int, FoldRecord] = {record.object: record for record in records}
        self.listed: dict[ListShape, LastList] = dict(listed or {})
        self._by_name: dict[NameKey, int] = {
            _name_key(record.reference): record.object for record in self.records.values()
        }
        self._known: dict[int, Reference] = {}
        self._bound_at: dict[int, tuple[int, int]] = {}

    def advance(self, window: EventColumns, placed: PlacedEvents) -> None:
        """Fold in the events of a window: all with a revision above those folded before.

        :param placed: the events without revision that come after those folded before.
        """
        keyed, keys, times = in_order(window, placed)
        assert (keys[1:] >= keys[:-1]).all(), "rows are folded in their order of happening"
        lists = np.flatnonzero(keyed.effects == Effect.LISTED)
        keyed = with_lists_in_order(keyed, keys, lists, self._references, self._payload)
        start = 0
        # A list is about what exists when it is made, so it cuts the window: rows before it are
        # folded first.
        for row in [*lists.tolist(), len(keyed)]:
            self._apply(keyed.select(np.arange(start, row)), keys[start:row], times[start:row])
            if row < len(keyed):
                self._apply_list(int(keyed.positions[row]))
            start = row + 1
        assert len(self._by_name) == len(self.records), "no two live objects have the same name"

    def _apply(self, rows: EventColumns, keys: Int64s, times: Int64s) -> None:
        """Fold rows without lists among them: per object, only the last strong row counts."""
        strong = (rows.effects == Effect.VERSION) | (rows.effects == Effect.DELETED)
        self._learn_references(rows)
        # A dict keeps the last of equal keys, and rows are in order, so the last row counts.
        picked = np.flatnonzero(strong)
        winners = dict(zip(rows.objects[picked].tolist(), picked.tolist(), strict=True))
        by_name = []
        ordered = sorted(winners.items(), key=lambda winner: winner[1])
        chosen = np.array([row for _, row in ordered], np.int64)
        places = zip(
            ordered,
            (rows.effects[chosen] == Effect.DELETED).tolist(),
            keys[chosen].tolist(),
            rows.positions[chosen].tolist(),
            rows.revisions[chosen].tolist(),
            rows.origins[chosen].tolist(),
            strict=True,
        )
        for (number, _), deleted, key, position, revision, origin in places:
            reference = self._known[number]
            if deleted and not reference.uid:
                by_name.append((key, reference))
            elif deleted:
                self._delete(number, reference, key)
            else:
                record = FoldRecord(
                    object=number,
                    reference=reference,
                    position=position,
                    key=key,
                    revision=revision,
                    origin=origin,
                )
                self._put(record)
        self._bound_at = {}
        weak = np.flatnonzero(np.isin(rows.effects, _WEAK))
        for effect, number, position, key, time in zip(
            rows.effects[weak].tolist(),
            rows.objects[weak].tolist(),
            rows.positions[weak].tolist(),
            keys[weak].tolist(),
            times[weak].tolist(),
            strict=True,
        ):
            if effect == _COLLECTED:
                self._collect(self._known[number], position, key)
            else:
                self._apply_weak(number, position, (key, time), bound=effect == _BOUND)
        for key, reference in by_name:
            self._delete_by_name(reference, key)

    def _learn_references(self, rows: EventColumns) -> None:
        numbers = distinct(rows.objects).tolist()
        records = self.records
        missing = [number for number in numbers if number not in records]
        self._known = {number: records[number].reference for number in numbers if number in records}
        self._known.update(self._references(missing))

    def _put(self, record: FoldRecord) -> None:
        number = record.object
        before = self.records.get(number)
        if before is not None:  # It already has the name.
            record.doomed = before.doomed and not may_come_back(record.reference.uid)
            self.records[number] = record
            return
        name = _name_key(record.reference)
        namesake = self._by_name.get(name, number)
        if namesake != number:
            holder = self.records[namesake]
            if holder.key > record.key or (
                holder.key == record.key and may_come_back(record.reference.uid)
            ):
                return  # A newer object has the name: the deletion of this one was not seen.
            self._remove(namesake)
        self.records[number] = record
        self._by_name[name] = number

    def _remove(self, number: int) -> None:
        record = self.records.pop(number, None)
        if record is not None:
            name = _name_key(record.reference)
            if self._by_name.get(name) == number:
                del self._by_name[name]

    def _delete(self, number: int, reference: Reference, key: int) -> None:
        """Remove an object, and an older one of its name whose deletion was not seen."""
        self._remove(number)
        self._delete_by_name(reference, key)

    def _delete_by_name(self, reference: Reference, key: int) -> None:
        """Remove the object that had the name before ``key``, if there is one."""
        # A newer object of the name may be there already: rows are not folded one by one.
        record = self.records.get(self._by_name.get(_name_key(reference), -1))
        if record is not None and record.key < key:
            self._remove(record.object)

    def _apply_weak(
        self, number: int, position: int, moment: tuple[int, int], *, bound: bool
    ) -> None:
        # Strong rows are folded before: it counts only if it comes after its object's last one.
        record = self.records.get(number)
        if record is None and not self._known[number].uid:
            record = self.records.get(self._by_name.get(_name_key(self._known[number]), -1))
        if record is None or record.key >= moment[0]:
            return
        if not bound:
            record.touched, record.touches = moment[0], (*record.touches, position)
            return
        tied = self._bound_at.get(number) == moment
        if tied and self._payload(position) < self._payload(record.bound):
            return  # Two bindings at the same time: their content decides, not their order.
        self._bound_at[number] = moment
        record.bound = position

    def _collect(self, about: Reference, position: int, key: int) -> None:
        """Touch the objects that the deletion of a collection selects, or may select."""
        from .collections import collection_of  # noqa: PLC0415 -- few logs have such a deletion

        chosen = collection_of(self._payload(position))
        for record in self.records.values():
            reference = record.reference
            if (reference.group, reference.kind) != (about.group, about.kind):
                continue
            inside = about.namespace in {"", reference.namespace}
            if inside and record.key < key and chosen.may_select(record.position, self._payload):
                record.touched, record.touches = key, (*record.touches, position)

    def _apply_list(self, position: int) -> None:
        """Mark existing objects that a complete list lacks; see :func:`.lacked_by`."""
        listing = _DECODE(self._payload(position))
        shape = (listing.group, listing.listed, listing.namespaces)
        before = self.listed.get(shape)
        lacked = lacked_by(listing, before)
        for record in self.records.values():
            reference = record.reference
            if (reference.group, reference.kind) == shape[:2] and lacked(
                reference.namespace, reference.uid
            ):
                record.absent = record.absent or listing.exact
                record.doomed = record.doomed or not listing.exact
        if not listing.exact and (before is None or not is_older(listing, before)):
            self.listed[shape] = LastList(frozenset(listing.uids), listing.answered)

    def alive(self, has_later: Callable[[FoldRecord], bool]) -> Collection[FoldRecord]:
        """Return the records of the objects that exist at the end.

        :param has_later: says whether an object that a list lacks has later versions.
        """
        return [
            record
            for record in self.records.values()
            if not (record.absent or record.doomed)
            or (has_later(record) and not may_come_back(record.reference.uid))
        ]


def _name_key(reference: Reference) -> NameKey:
    return (reference.group, reference.kind, reference.namespace, reference.name)
