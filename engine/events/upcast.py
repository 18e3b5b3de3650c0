"""Upcasts payloads of older schemas when they are read; the log never changes.

An upcaster takes the decoded payload of schema *n* of a kind and returns that of schema *n + 1*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from ..errors import LogNewer
from .codec import canonical_json
from .kinds import KINDS, Event, KindInfo

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTERS: Mapping[tuple[str, int], Upcaster] = MappingProxyType({})
"""(kind, old schema) to the function; empty while every kind is at schema 1."""


def upcast(
    event: Event,
    *,
    kinds: Mapping[str, KindInfo] = KINDS,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
) -> Event:
    """Return the event with its payload in the newest schema of its kind.

    :raises LogNewer: the event's kind or schema is not known to this Plinian.
    """
    info = kinds.get(event.kind)
    if info is None or event.schema > info.schema:
        raise LogNewer(
            f"an event of kind {event.kind}, schema {event.schema} is newer than this Plinian",
            where=event.source,
            now="read this log with the Plinian that wrote it, or a newer one",
        )
    if event.schema == info.schema:
        return event
    payload = msgspec.json.decode(event.payload)
    # One step a schema, so a new one needs only an upcaster from the last.
    for schema in range(event.schema, info.schema):
        payload = upcasters[event.kind, schema](payload)
    return msgspec.structs.replace(event, schema=info.schema, payload=canonical_json(payload))
