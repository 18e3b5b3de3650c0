"""Canonical bytes: what is stored and hashed for a payload and for an event's header."""

from __future__ import annotations

from typing import Any

import msgspec

from .kinds import Event

_ENCODER = msgspec.json.Encoder(order="sorted")
_HEADER = msgspec.msgpack.Encoder()


def canonical_json(value: Any) -> bytes:
    """Encode a value as JSON with sorted keys and no white space, so that equals have equal bytes.

    Specified in ``docs/storage.md``.
    """
    return _ENCODER.encode(value)


def header_bytes(event: Event, *, branch: str, position: int) -> bytes:
    """Encode what an event says besides its payload, for hashing: a msgpack array in fixed order.

    Specified in ``docs/storage.md``; a change here makes a new hash algorithm.
    """
    reference = event.reference
    return _HEADER.encode(
        (
            branch,
            position,
            event.kind,
            event.schema,
            event.cluster,
            reference.group,
            reference.kind,
            reference.namespace,
            reference.name,
            reference.uid,
            event.resource_version,
            event.revision,
            event.observed_at,
            event.actor,
            event.source,
            event.line,
        )
    )
