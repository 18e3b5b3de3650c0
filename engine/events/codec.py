"""Canonical bytes: what is stored and hashed for a payload and for an event's header."""

from __future__ import annotations

from typing import Any

import msgspec

from .kinds import Event, Reference

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
    return packed_header(
        branch,
        position,
        event.kind,
        event.schema,
        event.cluster,
        event.reference,
        event.resource_version,
        event.revision,
        event.observed_at,
        event.actor,
        event.source,
        event.line,
    )


def packed_header(  # noqa: PLR0917 -- once for each event, keywords would cost
    branch: str,
    position: int,
    kind: str,
    schema: int,
    cluster: str,
    reference: Reference,
    resource_version: str,
    revision: int | None,
    observed_at: int | None,
    actor: str,
    source: str,
    line: int,
) -> bytes:
    """Encode a header from its parts, where there is no event (yet)."""
    return _HEADER.encode(
        (
            branch,
            position,
            kind,
            schema,
            cluster,
            reference.group,
            reference.kind,
            reference.namespace,
            reference.name,
            reference.uid,
            resource_version,
            revision,
            observed_at,
            actor,
            source,
            line,
        )
    )
