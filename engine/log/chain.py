"""Hashes that commit to every byte of the log; pure functions, specified in ``docs/storage.md``.

Everything is BLAKE2b. A leaf begins with the four-byte length of a header, which is below 16 MiB,
so its first byte is 0; an inner node begins with 1: neither can pass for the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from ..events import Event, Reference

ALGORITHM = "blake2b-256/1"
"""Name of all that is specified here; stored in the log when it is founded."""

ARITY = 16
"""Children of an inner Merkle node: few inner hashes, and proofs stay short."""

MARK_BYTES = 4
"""Bytes of each leaf that are kept beside the batch, to name the bad position in a bad batch."""

_PACK = msgspec.msgpack.Encoder()
_EMPTY_LEAF = blake2b(digest_size=32)


def leaf_hash(header: bytes, payload: bytes) -> bytes:
    """Return the hash of one event: its header (:func:`header_bytes`) and canonical payload."""
    digest = _EMPTY_LEAF.copy()  # cheaper than to set the parameters up anew
    digest.update(len(header).to_bytes(4, "big") + header)
    digest.update(payload)  # joining the two first would copy the payload
    return digest.digest()


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes; that of a single leaf is the leaf itself.

    :raises ValueError: there are no leaves.
    """
    if not leaves:
        raise ValueError("a batch has at least one event")
    level = list(leaves)
    while len(level) > 1:
        level = [
            blake2b(b"\x01" + b"".join(level[start : start + ARITY]), digest_size=32).digest()
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
) -> bytes:
    """Return the hash that chains a batch to the one before it."""
    fields = (previous, branch, number, first, last, recorded_at, root)
    return blake2b(_PACK.encode(fields), digest_size=32).digest()


def genesis_hash(*, name: str, parent: bytes, fork: int) -> bytes:
    """Return what a branch's first batch is chained to.

    :param parent: hash of the parent's batch that holds position ``fork`` (its genesis hash if
        ``fork`` is before its first batch); empty for a branch without parent.
    """
    fields = ("plinian-branch", name, parent, fork)
    return blake2b(_PACK.encode(fields), digest_size=32).digest()


def event_identity(event: Event) -> bytes:
    """Return the 16 bytes by which an event without revision is recognised when it comes again."""
    return identity_of(
        event.kind, event.cluster, event.reference, event.observed_at, event.actor, event.payload
    )


def identity_of(  # noqa: PLR0917 -- once for each event, keywords would cost
    kind: str,
    cluster: str,
    reference: Reference,
    observed_at: int | None,
    actor: str,
    payload: bytes,
) -> bytes:
    """Return an event's identity from its parts."""
    told = _PACK.encode(
        (
            kind,
            cluster,
            reference.group,
            reference.kind,
            reference.namespace,
            reference.name,
            reference.uid,
            observed_at,
            actor,
        )
    )
    return blake2b(b"".join((len(told).to_bytes(4, "big"), told, payload)), digest_size=16).digest()


def object_key(cluster: str, reference: Reference) -> bytes:
    """Return the 20 bytes that an object is found by: 8 of its name, 12 of all that it is.

    The name comes first, so that all objects of one name are neighbours in the index.
    """
    told = _PACK.encode(
        (
            cluster,
            reference.group,
            reference.kind,
            reference.namespace,
            reference.name,
            reference.uid,
        )
    )
    return name_key(reference.name) + blake2b(told, digest_size=12).digest()


def name_key(name: str) -> bytes:
    """Return the first 8 bytes of the keys of all objects of this name."""
    return blake2b(name.encode(), digest_size=8).digest()
