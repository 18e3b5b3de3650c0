"""Appends a batch: selects its new events, gives them positions, hashes and stores them.

All of it is one transaction that locks the log. So positions have no gaps and follow the order of
commits, and a crash leaves the whole batch or nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar

import msgspec
from blake3 import blake3

from ..errors import PositionConflict, UsageError
from ..events import KINDS, Effect, Event, Reference, canonical_json
from ..events.payloads import VersionAttributed, VersionTimed
from .branches import Head, head_of, lineage
from .chain import (
    batch_hash,
    event_identity,
    leaf_hash,
    marks,
    merkle_root,
    packed_headers,
    packed_marks,
)
from .database import Database, Row
from .derived_rows import Derived
from .event_packing import Packer, block_ends
from .invalidation import drop_invalid_checkpoints
from .log_ids import Names
from .store import Appended


class VersionKey(NamedTuple):
    """What identifies an event that has a revision."""

    revision: int
    object_id: int
    effect: int


class ContentKey(NamedTuple):
    """What identifies an event without a revision: the hash of its content."""

    effect: int
    identity: bytes


Key: TypeAlias = VersionKey | ContentKey

_K = TypeVar("_K")

_OBSERVED, _TIMED = ".observed", "version.timed"
_ATTRIBUTABLE = (Effect.VERSION, Effect.DELETED)
_TIMEABLE = (*_ATTRIBUTABLE, Effect.LISTED)


class _Known(NamedTuple):
    """What the log knows of an event that it has.

    :param actor: whether it has one. :param kind: ends as that of the event.
    :param position: in the log; 0 if it came with the same batch. :param place: in that batch.
    """

    actor: bool
    earliest: int | None
    latest: int | None
    kind: str
    position: int = 0
    place: int = 0

    @classmethod
    def of(cls, event: Event, place: int) -> _Known:
        """Return what a new event tells."""
        return cls(bool(event.actor), event.earliest, event.latest, event.kind, 0, place)

    def lacks_times_of(self, event: Event) -> bool:
        """Return whether an event without an actor bounds the time closer, or says what happened.

        A version with an actor has the times of its request, which are closer than all others.
        """
        if self.actor:
            return False
        low, high = event.earliest, event.latest
        sooner = high is not None and (self.latest is None or high < self.latest)
        later = low is not None and (self.earliest is None or low > self.earliest)
        only_seen = self.kind.endswith(_OBSERVED) and not event.kind.endswith(_OBSERVED)
        return sooner or later or only_seen


class Fresh(NamedTuple):
    """The events to append, with the effect, object and key of each, in columns."""

    events: list[Event]
    effects: list[int]
    objects: list[int]
    keys: list[Key]

    def add(self, event: Event, effect: int, object_id: int, key: Key) -> None:
        """Add one event."""
        self.events.append(event)
        self.effects.append(effect)
        self.objects.append(object_id)
        self.keys.append(key)

    def add_part(self, other: Fresh, begin: int, end: int | None) -> None:
        """Add the events of another one from one place to before another; None is its end."""
        self.events.extend(other.events[begin:end])
        self.effects.extend(other.effects[begin:end])
        self.objects.extend(other.objects[begin:end])
        self.keys.extend(other.keys[begin:end])


class _Selection(NamedTuple):
    """What is to be appended of a batch.

    :param places: of the new events in the batch.
    :param met: versions that the log has: by their place in the batch, the position.
    :param repeated: versions that the batch has twice: by their place in it, that of the first.
    """

    fresh: Fresh
    places: list[int]
    met: Mapping[int, int] = MappingProxyType({})
    repeated: Mapping[int, int] = MappingProxyType({})


def append(
    database: Database,
    names: Names,
    packer: Packer,
    derived: Derived,
    events: Sequence[Event],
    *,
    branch: str,
    expected: int | None,
    clock: Callable[[], int],
) -> Appended:
    """Append those events that are new; within the database's ``writing``.

    :raises PositionConflict: the branch does not end at ``expected``.
    :raises UsageError: an event's kind is not in the vocabulary.
    """
    head = head_of(database, branch)
    # Within the transaction that locks the log: nothing comes in between.
    if expected is not None and expected != head.position:
        raise PositionConflict(expected=expected, last=head.position)
    fresh, indices, met, repeated = _select(database, names, events, branch=branch, head=head)
    if fresh.events:
        # Before they are stored: what the log had until now decides which checkpoints are wrong.
        drop_invalid_checkpoints(
            database, names, fresh.events, fresh.effects, derived, branch=branch, head=head
        )
        _store(database, names, packer, fresh, branch=branch, head=head, now=clock())
    return Appended(
        first=head.position + 1,
        last=head.position + len(fresh.events),
        appended=indices,
        known=len(events) - len(indices),
        besides=_besides(fresh.events, events, indices),
        met=met,
        repeated=repeated,
    )


def _besides(
    stored: Sequence[Event], events: Sequence[Event], given: Sequence[int]
) -> dict[str, int]:
    """Return how many events were stored besides those given, by kind."""
    if len(stored) == len(given):
        return {}
    kinds = Counter(event.kind for event in stored)
    kinds.subtract(events[index].kind for index in given)
    return {kind: count for kind, count in sorted(kinds.items()) if count}


def _select(
    database: Database, names: Names, events: Sequence[Event], *, branch: str, head: Head
) -> _Selection:
    """Return what to append; a known event that brings an actor or closer times gives another."""
    effects = _effects(events)
    objects = names.object_ids([(event.cluster, event.reference) for event in events])
    keys = _keys(names, events, effects, objects)
    known = _known(database, names, keys, branch=branch, head=head)
    if not known and len(frozenset(keys)) == len(keys):  # Most batches are all new.
        return _Selection(Fresh(list(events), effects, objects, keys), list(range(len(keys))))
    fresh = Fresh([], [], [], [])
    places: list[int] = []
    met: dict[int, int] = {}
    repeated: dict[int, int] = {}
    timed: list[tuple[int, Event]] = []
    for place, (event, effect, object_id, key) in enumerate(
        zip(events, effects, objects, keys, strict=True)
    ):
        if key not in known:
            known[key] = _Known.of(event, place)
            places.append(place)
            fresh.add(event, effect, object_id, key)
            continue
        if effect == Effect.VERSION:
            before = known[key]
            (met if before.position else repeated)[place] = before.position or before.place
        news = _news(event, effect, known[key])
        if news is not None and news.kind == _TIMED:
            # Whether the log has this time already is looked up once for all of them.
            timed.append((len(fresh.events), news))
        elif news is not None and event.revision is not None:
            # From here on this batch has an actor for it, so another one brings nothing new.
            known[key] = known[key]._replace(actor=True)
            news_key = VersionKey(event.revision, object_id, int(KINDS[news.kind].effect))
            if news_key not in known:
                known[news_key] = known[key]
                fresh.add(news, news_key.effect, object_id, news_key)
    if timed:
        fresh = _with_times(database, names, fresh, timed, branch=branch, head=head)
    return _Selection(fresh, places, met, repeated)


def _with_times(
    database: Database,
    names: Names,
    fresh: Fresh,
    timed: Sequence[tuple[int, Event]],
    *,
    branch: str,
    head: Head,
) -> Fresh:
    """Return the events with the times of known versions, those that the log does not have.

    Each stands where its input brings it, so positions do not depend on how large batches are.

    :param timed: times, each with the place in ``fresh`` before which it stands, in order.
    """
    objects = names.object_ids([(event.cluster, event.reference) for _, event in timed])
    keys = [
        VersionKey(event.revision or 0, number, int(Effect.TIMED))
        for (_, event), number in zip(timed, objects, strict=True)
    ]
    known = dict.fromkeys(_known(database, names, keys, branch=branch, head=head))
    merged, done = Fresh([], [], [], []), 0
    for (place, event), number, key in zip(timed, objects, keys, strict=True):
        if key in known:
            continue
        known[key] = None
        merged.add_part(fresh, done, place)
        merged.add(event, key.effect, number, key)
        done = place
    merged.add_part(fresh, done, None)
    return merged


def _effects(events: Sequence[Event]) -> list[int]:
    kinds = [event.kind for event in events]
    try:
        effects = {kind: int(KINDS[kind].effect) for kind in dict.fromkeys(kinds)}
    except KeyError as fault:
        raise UsageError(
            f"{fault.args[0]!r} is not a kind of event", now="see plinian.engine.events.KINDS"
        ) from fault
    return list(map(effects.__getitem__, kinds))


def _keys(
    names: Names, events: Sequence[Event], effects: Sequence[int], objects: Sequence[int]
) -> list[Key]:
    """Return the keys by which events are recognised when they come again."""
    unversioned = [
        object_id
        for event, object_id in zip(events, objects, strict=True)
        if event.revision is None
    ]
    packed = names.packed(unversioned)
    return [
        VersionKey(event.revision, object_id, effect)
        if event.revision is not None
        else ContentKey(effect, _identity(event, packed[object_id]))
        for event, object_id, effect in zip(events, objects, effects, strict=True)
    ]


def _identity(event: Event, packed: msgspec.Raw) -> bytes:
    return event_identity(event.kind, packed, event.observed_at, event.actor, event.payload)


def _known(
    database: Database, names: Names, keys: Sequence[Key], *, branch: str, head: Head
) -> dict[Key, _Known]:
    """Return the events of the branch that have one of the keys."""
    known: dict[Key, _Known] = {}
    # The branch has nothing beyond its greatest revision: no need to look.
    versions = _unique(
        (key.revision, key.object_id)
        for key in keys
        if isinstance(key, VersionKey) and key.revision <= head.revision
    )
    contents = _unique(key for key in keys if isinstance(key, ContentKey))
    if (versions or contents) and head.position:
        for part in lineage(database, branch, until=head.position):
            rows = database.versions(part.branch_id, part.last, versions)
            kinds = names.texts(row[-2] for row in rows)
            for *identifiers, actor, latest, earliest, kind, position in rows:
                known[VersionKey(*identifiers)] = _Known(
                    actor is not None, earliest, latest, kinds.get(kind, ""), position
                )
            # Equal in all that identifies them, so nothing new can come with them.
            for effect, identity in database.identities(part.branch_id, part.last, contents):
                known[ContentKey(effect, bytes(identity))] = _Known(True, None, None, "")
    return known


def _unique(keys: Iterable[_K]) -> list[_K]:
    return list(dict.fromkeys(keys))


def _news(event: Event, effect: int, known: _Known) -> Event | None:
    """Return the event that says what is new about a known one; None if nothing is."""
    verb = event.kind.rpartition(".")[2]
    if event.actor and not known.actor and effect in _ATTRIBUTABLE:
        attributed = canonical_json(VersionAttributed(verb=verb))
        return msgspec.structs.replace(
            event, kind="version.attributed", schema=1, payload=attributed
        )
    if effect == Effect.LISTED:  # A list was asked for after its revision, or before.
        event = msgspec.structs.replace(event, earliest=None)
    if effect not in _TIMEABLE or event.actor or not known.lacks_times_of(event):
        return None
    # Several inputs may each bound the time closer, and all of them count: so no order matters.
    about = event.reference
    own = blake3(f"{about.uid} {verb} {event.earliest} {event.latest}".encode())
    return msgspec.structs.replace(
        event,
        kind=_TIMED,
        schema=1,
        payload=canonical_json(VersionTimed(verb=verb)),
        reference=Reference(about.group, about.kind, about.namespace, "", own.hexdigest(length=8)),
    )


def _store(
    database: Database,
    names: Names,
    packer: Packer,
    fresh: Fresh,
    *,
    branch: str,
    head: Head,
    now: int,
) -> None:
    """Insert a batch: its events and payloads, its row with their hash, and the new head."""
    first, last = head.position + 1, head.position + len(fresh.events)
    batch = _Batch(names, packer, fresh, branch=branch, head=head)
    # The database stores rows while this process hashes and compresses.
    with database.inserting("event", batch.event_rows()):
        batch.hash_and_pack()
    database.insert("payload_block", batch.block_rows)
    recorded_at = max(now, head.recorded_at)  # a clock that steps back must not reorder batches
    root = merkle_root(batch.leaves)
    digest = batch_hash(
        previous=head.hash,
        branch=branch,
        number=head.batch + 1,
        first=first,
        last=last,
        recorded_at=recorded_at,
        root=root,
        marks=batch.marks,
    )
    with database.together():
        database.run(
            "INSERT INTO batch (branch_id, number, first, last, recorded_at, merkle_root, previous,"
            " hash, marks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(head.branch_id, head.batch + 1, first, last, recorded_at),
                *(root, head.hash, digest, batch.marks),
            ),
        )
        database.run(
            "UPDATE head SET position = ?, revision = ?, batch = ?, recorded_at = ?, hash = ?"
            " WHERE branch_id = ?",
            (
                *(last, max(head.revision, batch.revision), head.batch + 1),
                *(recorded_at, digest, head.branch_id),
            ),
        )
        database.notify(branch, last)


class _Columns(NamedTuple):
    """The fields of events, one list a field."""

    kind: list[str]
    schema: list[int]
    payload: list[bytes]
    resource_version: list[str]
    revision: list[int | None]
    earliest: list[int | None]
    latest: list[int | None]
    actor: list[str]
    source: list[str]
    line: list[int]

    @classmethod
    def of(cls, events: Sequence[Event]) -> _Columns:
        """Return the columns of some events."""
        return cls(
            kind=[event.kind for event in events],
            schema=[event.schema for event in events],
            payload=[event.payload for event in events],
            resource_version=[event.resource_version for event in events],
            revision=[event.revision for event in events],
            earliest=[event.earliest for event in events],
            latest=[event.latest for event in events],
            actor=[event.actor for event in events],
            source=[event.source for event in events],
            line=[event.line for event in events],
        )


class _Batch:
    """The rows of a batch, built column by column, and their hashes."""

    def __init__(
        self, names: Names, packer: Packer, fresh: Fresh, *, branch: str, head: Head
    ) -> None:
        self._packer = packer
        self._fresh = fresh
        self._branch = branch
        self._branch_id = head.branch_id
        self._first = head.position + 1
        self._columns = columns = _Columns.of(fresh.events)
        self._symbols = names.symbol_ids(chain(columns.kind, columns.source, columns.actor))
        self._objects = names.packed(fresh.objects)
        self.marks = b""
        self.leaves: list[bytes] = []
        self.block_rows: list[Row] = []

    @property
    def revision(self) -> int:
        """The greatest revision of the batch, -1 if none has any."""
        revisions = self._columns.revision
        return max((revision for revision in revisions if revision is not None), default=-1)

    def event_rows(self) -> Iterator[Row]:
        """Return the rows of ``event``."""
        columns, symbols, fresh = self._columns, self._symbols, self._fresh
        count = len(fresh.events)
        # No actor is stored as null, not by the id of an empty text.
        actors = {**symbols, "": None}
        return zip(
            *(repeat(self._branch_id, count), fresh.effects, columns.schema),
            *(range(self._first, self._first + count), columns.revision),
            *(columns.earliest, columns.latest, fresh.objects),
            *(map(symbols.__getitem__, names) for names in (columns.kind, columns.source)),
            columns.line,
            map(actors.__getitem__, columns.actor),
            _odd_versions(columns.resource_version, columns.revision),
            (key.identity if isinstance(key, ContentKey) else None for key in fresh.keys),
            strict=True,
        )

    def hash_and_pack(self) -> None:
        """Fill ``marks``, ``leaves`` and ``block_rows``."""
        payloads = self._columns.payload
        sizes = list(map(len, payloads))
        headers = self._headers(sizes)
        batch_marks: list[int] = []
        begin = 0
        for end in block_ends(sizes):
            # Each block is hashed and packed while the caches of the processor hold it.
            block_payloads, block_headers = payloads[begin:end], headers[begin:end]
            joined = b"".join(block_payloads)
            batch_marks += marks(block_headers, block_payloads)
            self.leaves.append(leaf_hash(b"".join(block_headers), joined))
            block = self._packer.pack(self._first + begin, sizes[begin:end], joined)
            self.block_rows.append((self._branch_id, *msgspec.structs.astuple(block)))
            begin = end
        assert begin == len(payloads), "every payload of a batch is in one of its blocks"
        self.marks = packed_marks(batch_marks)

    def _headers(self, sizes: Sequence[int]) -> list[bytes]:
        columns, count = self._columns, len(sizes)
        return packed_headers(
            zip(
                *(repeat(self._branch, count), range(self._first, self._first + count)),
                *(columns.kind, columns.schema),
                map(self._objects.__getitem__, self._fresh.objects),
                *(columns.resource_version, columns.revision),
                *(columns.earliest, columns.latest),
                *(columns.actor, columns.source, columns.line, sizes),
                strict=True,
            )
        )


def _odd_versions(versions: Iterable[str], revisions: Iterable[int | None]) -> list[str | None]:
    """Return the resourceVersions that are not the digits of their revisions."""
    return [
        None if version == ("" if revision is None else str(revision)) else version
        for version, revision in zip(versions, revisions, strict=True)
    ]
