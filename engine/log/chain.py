"""Hashes that cover every byte of the log; pure functions, specified in ``docs/storage.md``.

The hash is BLAKE3. A leaf begins with the four-byte length of its headers, which is below 16 MiB,
so its first byte is 0; an inner node begins with 1. So a leaf never has the hash of an inner node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import pack

import msgspec
from blake3 import blake3
from xxhash import xxh3_64_intdigest

from ..events import Reference

ALGORITHM = "blake3-256/3"
"""The name of this scheme of hashes; stored in the log when it is created."""

ARITY = 16
"""Children of an inner Merkle node; many, so that there are few inner hashes."""

HASH_BYTES = 32
"""Bytes of the hash of a batch."""

MARK_BYTES = 4
"""Bytes of an event's mark, stored with the batch: shows which event of a bad batch is bad."""

Header = tuple[
    str,  # branch
    int,  # position
    str | None,  # kind
    int,  # schema
    msgspec.Raw | None,  # object: see packed_object
    str | None,  # resourceVersion
    int | None,  # revision
    int | None,  # earliest
    int | None,  # latest
    str | None,  # actor
    str | None,  # source
    int,  # line
    int,  # bytes of payload
]
"""What an event says besides its payload, in the order in which it is packed.

None as kind, object, actor or source comes from a damaged row: no event has such a header.
"""

_PACK = msgspec.msgpack.Encoder()

_LONG_ARRAY = 16
"""From this many elements on, MessagePack writes an array's length in two more bytes."""


def packed_headers(headers: Iterable[Header]) -> list[bytes]:
    """Return the bytes of each header."""
    return list(map(_PACK.encode, headers))


def joined_headers(headers: Sequence[Header]) -> bytes:
    """Return the headers of one block, joined."""
    # In a packed array the elements follow its length, which takes 1 byte or 3.
    return _PACK.encode(headers)[1 if len(headers) < _LONG_ARRAY else 3 :]


def packed_object(cluster: str, reference: Reference) -> msgspec.Raw:
    """Return the object of a header, packed; it is the same for all events of the object."""
    group, kind, namespace = reference.group, reference.kind, reference.namespace
    return packed_fields((cluster, group, kind, namespace, reference.name, reference.uid))


def packed_fields(fields: tuple[str, str, str, str, str, str]) -> msgspec.Raw:
    """Return an object, packed, from its cluster, group, kind, namespace, name and uid."""
    return msgspec.Raw(_PACK.encode(fields))


def leaf_hash(headers: bytes, payloads: bytes) -> bytes:
    """Return the hash of the events of one block, of their headers and payloads, each joined."""
    digest = blake3(len(headers).to_bytes(4, "big") + headers)
    digest.update(payloads)  # joining headers and payloads would copy the payloads
    return digest.digest()


def marks(headers: Iterable[bytes], payloads: Iterable[bytes]) -> list[int]:
    """Return the mark of each event: half of XXH3 over its payload, seeded with its header."""
    seeds = map(xxh3_64_intdigest, headers)
    return [mark & 0xFFFFFFFF for mark in map(xxh3_64_intdigest, payloads, seeds)]


def packed_marks(found: Sequence[int]) -> bytes:
    """Return marks in the stored form."""
    return pack(f">{len(found)}I", *found)


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes; that of a single leaf is the leaf itself.

    :raises ValueError: there are no leaves.
    """
    if not leaves:
        raise ValueError("a batch has at least one event")
    level = list(leaves)
    while len(level) > 1:
        level = [
            blake3(b"\x01" + b"".join(level[start : start + ARITY])).digest()
            for start in range(0, len(level), ARITY)
        ]
    return level[0]


def batch_hash(
    *,
    previous: bytes,
    branch: str,
    number: int,
    first: int,
    last: int,
    recorded_at: int,
    root: bytes,
    marks: bytes,
) -> bytes:
    """Return the hash of a batch, which covers that of the batch before it."""
    fields = (previous, branch, number, first, last, recorded_at, root, marks)
    return blake3(_PACK.encode(fields)).digest()


def genesis_hash(*, name: str, parent: bytes, fork: int) -> bytes:
    """Return the hash that stands before a branch's first batch.

    :param parent: hash of the parent's batch that holds position ``fork`` (its genesis hash if
        ``fork`` is before its first batch); empty for a branch without parent.
    """
    return blake3(_PACK.encode(("plinian-branch", name, parent, fork))).digest()


def event_identity(
    kind: str, packed: msgspec.Raw, observed_at: int | None, actor: str, payload: bytes
) -> bytes:
    """Return the 16 bytes by which an event without revision is recognised when it comes again.

    :param packed: its object, see :func:`packed_object`.
    """
    header = _PACK.encode((kind, packed, observed_at, actor))
    return blake3(b"".join((len(header).to_bytes(4, "big"), header, payload))).digest(length=16)


def object_key(name: str, packed: msgspec.Raw) -> bytes:
    """Return the key of an object, 20 bytes: 8 of the hash of its name, 12 of that of all fields.

    The name comes first, so that all objects of one name are neighbours in the index.

    :param packed: see :func:`packed_object`.
    """
    return name_key(name) + blake3(packed).digest(length=12)


def name_key(name: str) -> bytes:
    """Return the first 8 bytes of the keys of all objects of this name."""
    return blake3(name.encode()).digest(length=8)
