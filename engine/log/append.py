"""Appending: what is new of a batch, its place in the log, and the hashes that commit to it.

Everything happens in one transaction that holds the log alone, so positions are gap-free and in the
order of commits, and a crash leaves the whole batch or nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import NamedTuple, TypeVar

import msgspec

from ..errors import PositionConflict, UsageError
from ..events import KINDS, Effect, Event, canonical_json
from ..events.payloads import Payload, VersionAttributed, VersionTimed
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
from .derived import Derived
from .invalidation import drop_invalid_checkpoints
from .names import Names
from .packing import Packer, block_ends
from .store import Appended

Key = tuple[int, int, int] | tuple[int, bytes]
"""(revision, object, effect) of an event with a revision, else (effect, identity)."""

_K = TypeVar("_K")

_ATTRIBUTABLE = (Effect.VERSION, Effect.DELETED)
_TIMEABLE = (*_ATTRIBUTABLE, Effect.LISTED)


class _Held(NamedTuple):
    """What the log knows of an event that it holds."""

    actor: bool
    latest: bool


class Fresh(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The events that are to be appended, with what was found out about each, in columns."""

    events: Sequence[Event]
    effects: Sequence[int]
    objects: Sequence[int]
    keys: Sequence[Key]


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
    """Append what is new of some events; within the database's ``writing``.

    :raises PositionConflict: the branch does not end at ``expected``.
    :raises UsageError: an event's kind is not in the vocabulary.
    """
    head = head_of(database, branch)
    if expected is not None and expected != head.position:
        raise PositionConflict(expected=expected, last=head.position)
    fresh, indices = _select(database, names, events, branch=branch, head=head)
    if fresh.events:
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
    )


def _besides(
    stored: Sequence[Event], events: Sequence[Event], given: Sequence[int]
) -> dict[str, int]:
    """Return how many events were stored that are none of those given, by kind."""
    if len(stored) == len(given):
        return {}
    kinds = Counter(event.kind for event in stored)
    kinds.subtract(events[index].kind for index in given)
    return {kind: count for kind, count in sorted(kinds.items()) if count}


def _select(
    database: Database, names: Names, events: Sequence[Event], *, branch: str, head: Head
) -> tuple[Fresh, list[int]]:
    """Return the events to append, and which of the given ones they are.

    Of a known version only news is kept: who made it, or by when it had happened, each once.
    """
    effects = _effects(events)
    objects = names.object_ids([(event.cluster, event.reference) for event in events])
    keys = _keys(names, events, effects, objects)
    held = _held(database, keys, branch=branch, head=head)
    if not held and len(frozenset(keys)) == len(keys):  # Mostly everything is new.
        fresh = Fresh(events=events, effects=effects, objects=objects, keys=keys)
        return fresh, list(range(len(keys)))
    rows: list[tuple[Event, int, int, Key]] = []
    indices: list[int] = []
    for index, (event, key) in enumerate(zip(events, keys, strict=True)):
        effect, object_id = effects[index], objects[index]
        if key not in held:
            held[key] = _Held(actor=bool(event.actor), latest=event.latest is not None)
            indices.append(index)
            rows.append((event, effect, object_id, key))
            continue
        news = _news(event, effect, held[key])
        if news is not None and event.revision is not None:
            held[key] = _Held(actor=held[key].actor or bool(event.actor), latest=True)
            told = (event.revision, object_id, int(KINDS[news.kind].effect))
            if told not in held:
                held[told] = held[key]
                rows.append((news, told[2], object_id, told))
    columns = zip(*rows, strict=True) if rows else repeat(())
    return Fresh(**dict(zip(Fresh.__struct_fields__, columns, strict=False))), indices


def _effects(events: Sequence[Event]) -> list[int]:
    kinds = [event.kind for event in events]
    try:
        effects = {kind: int(KINDS[kind].effect) for kind in dict.fromkeys(kinds)}
    except KeyError as fault:
        raise UsageError(
            f"{fault.args[0]!r} is no kind of event", now="see plinian.engine.events.KINDS"
        ) from fault
    return list(map(effects.__getitem__, kinds))


def _keys(
    names: Names, events: Sequence[Event], effects: Sequence[int], objects: Sequence[int]
) -> list[Key]:
    """Return what each event is recognised by when it comes again."""
    revisions = [event.revision for event in events]
    keys: list[Key] = list(zip(revisions, objects, effects, strict=True))  # type: ignore[arg-type]
    if None not in revisions:
        return keys
    told = names.packed(objects)
    for index, event in enumerate(events):
        if event.revision is None:
            identity = event_identity(
                event.kind, told[objects[index]], event.observed_at, event.actor, event.payload
            )
            keys[index] = (effects[index], identity)
    return keys


def _held(database: Database, keys: Sequence[Key], *, branch: str, head: Head) -> dict[Key, _Held]:
    """Return which of the keys the branch holds."""
    held: dict[Key, _Held] = {}
    # Beyond the greatest revision of the branch nothing can be known: no need to look.
    versions = _unique(key[:2] for key in keys if len(key) == 3 and key[0] <= head.revision)
    identities = _unique(key for key in keys if len(key) == 2)
    if (versions or identities) and head.position:
        for part in lineage(database, branch, until=head.position):
            for revision, object_id, effect, actor, latest in database.versions(
                part.branch_id, part.last, versions
            ):
                known = _Held(actor=actor is not None, latest=latest is not None)
                held[revision, object_id, effect] = known
            for effect, identity in database.identities(part.branch_id, part.last, identities):
                held[effect, bytes(identity)] = _Held(actor=True, latest=True)
    return held


def _unique(keys: Iterable[_K]) -> list[_K]:
    return list(dict.fromkeys(keys))


def _news(event: Event, effect: int, known: _Held) -> Event | None:
    """Return the event that adds what a known version now comes with; None if that is nothing."""
    payload: Payload
    if event.actor and not known.actor and effect in _ATTRIBUTABLE:
        kind, payload = "version.attributed", VersionAttributed(verb=event.kind.rpartition(".")[2])
    elif event.latest is not None and not known.latest and effect in _TIMEABLE:
        kind, payload = "version.timed", VersionTimed()
    else:
        return None
    return msgspec.structs.replace(event, kind=kind, schema=1, payload=canonical_json(payload))


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
    """Insert a batch: its events, their payloads, the row that commits to them, the new head."""
    first, last = head.position + 1, head.position + len(fresh.events)
    batch = _Batch(names, packer, fresh, branch=branch, head=head)
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
        database.tell(branch, last)


class _Batch:
    """The rows of a batch, made column by column, and the hashes that commit to them."""

    def __init__(
        self, names: Names, packer: Packer, fresh: Fresh, *, branch: str, head: Head
    ) -> None:
        self._packer = packer
        self._fresh = fresh
        self._branch = branch
        self._branch_id = head.branch_id
        self._first = head.position + 1
        columns = zip(*map(msgspec.structs.astuple, fresh.events), strict=True)
        self._columns = dict(zip(Event.__struct_fields__, columns, strict=True))
        kinds, sources, actors = (self._columns[name] for name in ("kind", "source", "actor"))
        self._symbols = names.symbol_ids(chain(kinds, sources, actors))
        self._objects = names.packed(fresh.objects)
        self.marks = b""
        self.leaves: list[bytes] = []
        self.block_rows: list[Row] = []

    @property
    def revision(self) -> int:
        """The greatest revision of the batch, -1 if none has any."""
        revisions = self._columns["revision"]
        return max((revision for revision in revisions if revision is not None), default=-1)

    def event_rows(self) -> Iterator[Row]:
        """Return the rows of ``event``."""
        column, symbols, fresh = self._columns, self._symbols, self._fresh
        count = len(fresh.events)
        actors = {**symbols, "": None}
        return zip(
            *(repeat(self._branch_id, count), fresh.effects, column["schema"]),
            *(range(self._first, self._first + count), column["revision"]),
            *(column["earliest"], column["latest"], fresh.objects),
            *(map(symbols.__getitem__, column[name]) for name in ("kind", "source")),
            column["line"],
            map(actors.__getitem__, column["actor"]),
            _odd_versions(column["resource_version"], column["revision"]),
            (key[1] if len(key) == 2 else None for key in fresh.keys),
            strict=True,
        )

    def hash_and_pack(self) -> None:
        """Fill ``marks``, ``leaves`` and ``block_rows``."""
        payloads = self._columns["payload"]
        sizes = list(map(len, payloads))
        headers = self._headers(sizes)
        found: list[int] = []
        begin = 0
        for end in block_ends(sizes):
            # All that is done with a payload is done while the processor's caches hold it.
            some, told = payloads[begin:end], headers[begin:end]
            joined = b"".join(some)
            found += marks(told, some)
            self.leaves.append(leaf_hash(b"".join(told), joined))
            block = self._packer.pack(self._first + begin, sizes[begin:end], joined)
            self.block_rows.append((self._branch_id, *msgspec.structs.astuple(block)))
            begin = end
        assert begin == len(payloads), "every payload of a batch lies in one of its blocks"
        self.marks = packed_marks(found)

    def _headers(self, sizes: Sequence[int]) -> list[bytes]:
        column, count = self._columns, len(sizes)
        return packed_headers(
            zip(
                *(repeat(self._branch, count), range(self._first, self._first + count)),
                *(column["kind"], column["schema"]),
                map(self._objects.__getitem__, self._fresh.objects),
                *(column["resource_version"], column["revision"]),
                *(column["earliest"], column["latest"]),
                *(column["actor"], column["source"], column["line"], sizes),
                strict=True,
            )
        )


def _odd_versions(versions: Iterable[str], revisions: Iterable[int | None]) -> list[str | None]:
    """Return the resourceVersions that are not the digits of their revisions."""
    return [
        None if version == ("" if revision is None else str(revision)) else version
        for version, revision in zip(versions, revisions, strict=True)
    ]
