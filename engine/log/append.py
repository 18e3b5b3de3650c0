"""Appending: what is new of a batch, its place in the log, and the hashes that commit to it.

Everything happens in one transaction that holds the log alone, so positions are gap-free and in the
order of commits, and a crash leaves the whole batch or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from ..errors import PositionConflict, UsageError
from ..events import KINDS, Effect, Event, canonical_json, header_bytes
from ..events.payloads import VersionAttributed
from .branches import Head, head_of, lineage
from .chain import (
    MARK_BYTES,
    batch_hash,
    event_identity,
    leaf_hash,
    merkle_root,
)
from .database import Database, Row
from .invalidation import drop_invalid_checkpoints
from .names import Names
from .packing import Packer
from .store import Appended

Key = tuple[int, int, int] | tuple[int, bytes]
"""(revision, object, effect) of an event with a revision, else (effect, identity)."""

_K = TypeVar("_K")

_ATTRIBUTABLE = (Effect.VERSION, Effect.DELETED)


class Fresh(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An event that is to be appended, with what was found out about it."""

    event: Event
    effect: int
    object_id: int
    identity: bytes | None


def append(
    database: Database,
    names: Names,
    packer: Packer,
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
    fresh, indices, known = _select(database, names, events, branch=branch, head=head)
    if fresh:
        drop_invalid_checkpoints(database, names, fresh, branch=branch, head=head)
        _store(database, names, packer, fresh, branch=branch, head=head, now=clock())
    return Appended(
        first=head.position + 1,
        last=head.position + len(fresh),
        appended=indices,
        known=known,
        attributed=len(fresh) - len(indices),
    )


def _select(
    database: Database, names: Names, events: Sequence[Event], *, branch: str, head: Head
) -> tuple[list[Fresh], list[int], int]:
    """Return the events to append, which of the given ones they are, and how many were known.

    A known version that comes with an actor, when none was known, becomes an attribution.
    """
    effects = _effects(events)
    objects = names.object_ids(events)
    keys, held = _known(database, events, effects, objects, branch=branch, head=head)
    fresh: list[Fresh] = []
    indices: list[int] = []
    for index, event in enumerate(events):
        key, effect, object_id = keys[index], effects[index], objects[index]
        if key not in held:
            held[key] = bool(event.actor)
            indices.append(index)
            identity = key[1] if len(key) == 2 else None
            fresh.append(Fresh(event=event, effect=effect, object_id=object_id, identity=identity))
        elif len(key) == 3 and event.actor and not held[key] and effect in _ATTRIBUTABLE:
            held[key] = True
            attributed = (key[0], key[1], int(Effect.ATTRIBUTED))
            if attributed not in held:
                held[attributed] = True
                fresh.append(
                    Fresh(
                        event=_attribution(event),
                        effect=Effect.ATTRIBUTED,
                        object_id=object_id,
                        identity=None,
                    )
                )
    return fresh, indices, len(events) - len(indices)


def _effects(events: Sequence[Event]) -> list[int]:
    try:
        return [KINDS[event.kind].effect for event in events]
    except KeyError as fault:
        raise UsageError(
            f"{fault.args[0]!r} is no kind of event", now="see plinian.engine.events.KINDS"
        ) from fault


def _known(
    database: Database,
    events: Sequence[Event],
    effects: Sequence[int],
    objects: Sequence[int],
    *,
    branch: str,
    head: Head,
) -> tuple[list[Key], dict[Key, bool]]:
    """Return each event's key, and the keys that the branch holds: True if the actor is known."""
    keys: list[Key] = [
        (event.revision, object_id, effect)
        if event.revision is not None
        else (effect, event_identity(event))
        for event, effect, object_id in zip(events, effects, objects, strict=True)
    ]
    held: dict[Key, bool] = {}
    # Beyond the greatest revision of the branch nothing can be known: no need to look.
    versions = _unique(key[:2] for key in keys if len(key) == 3 and key[0] <= head.revision)
    identities = _unique(key for key in keys if len(key) == 2)
    if (versions or identities) and head.position:
        for part in lineage(database, branch, until=head.position):
            for revision, object_id, effect, actor in database.versions(
                part.branch_id, part.last, versions
            ):
                held[revision, object_id, effect] = actor is not None
            for effect, identity in database.identities(part.branch_id, part.last, identities):
                held[effect, bytes(identity)] = True
    return keys, held


def _unique(keys: Iterable[_K]) -> list[_K]:
    return list(dict.fromkeys(keys))


def _attribution(event: Event) -> Event:
    """Return the event that says who made a version that the log holds without an actor."""
    payload = VersionAttributed(verb=event.kind.rpartition(".")[2])
    return msgspec.structs.replace(
        event, kind="version.attributed", schema=1, payload=canonical_json(payload)
    )


def _store(
    database: Database,
    names: Names,
    packer: Packer,
    fresh: Sequence[Fresh],
    *,
    branch: str,
    head: Head,
    now: int,
) -> None:
    """Insert a batch: its events, the batch row that commits to them, and the new head."""
    first, last = head.position + 1, head.position + len(fresh)
    leaves: list[bytes] = []
    symbols = names.symbol_ids(
        text for row in fresh for text in (row.event.kind, row.event.source, row.event.actor)
    )
    database.insert_events(_rows(packer, symbols, fresh, leaves, branch=branch, head=head))
    root = merkle_root(leaves)
    recorded_at = max(now, head.recorded_at)  # a clock that steps back must not reorder batches
    digest = batch_hash(
        previous=head.hash,
        branch=branch,
        number=head.batch + 1,
        first=first,
        last=last,
        recorded_at=recorded_at,
        root=root,
    )
    marks = b"".join([leaf[:MARK_BYTES] for leaf in leaves])
    database.run(
        "INSERT INTO batch (branch_id, number, first, last, recorded_at, merkle_root, previous,"
        " hash, leaves) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (head.branch_id, head.batch + 1, first, last, recorded_at, root, head.hash, digest, marks),
    )
    revision = max(
        (row.event.revision for row in fresh if row.event.revision is not None), default=-1
    )
    database.run(
        "UPDATE head SET position = ?, revision = ?, batch = ?, recorded_at = ?, hash = ?"
        " WHERE branch_id = ?",
        (last, max(revision, head.revision), head.batch + 1, recorded_at, digest, head.branch_id),
    )
    database.tell(branch, last)


def _rows(
    packer: Packer,
    symbols: Mapping[str, int],
    fresh: Sequence[Fresh],
    leaves: list[bytes],
    *,
    branch: str,
    head: Head,
) -> Iterator[Row]:
    """Yield the rows to insert, and leave the hash of each in ``leaves``.

    One row is held at a time, so that the database works while the next is made.
    """
    branch_id, pack, add = head.branch_id, packer.pack, leaves.append
    for position, row in enumerate(fresh, head.position + 1):
        event = row.event
        revision, actor = event.revision, event.actor
        codec, dictionary, payload = pack(event.payload)
        add(leaf_hash(header_bytes(event, branch=branch, position=position), event.payload))
        usual = "" if revision is None else str(revision)
        yield (
            branch_id,
            row.effect,
            event.schema,
            codec,
            position,
            revision,
            event.observed_at,
            row.object_id,
            symbols[event.kind],
            symbols[event.source],
            event.line,
            symbols[actor] if actor else None,
            dictionary,
            None if event.resource_version == usual else event.resource_version,
            row.identity,
            payload,
        )
