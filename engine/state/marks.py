"""Marks: what the clock needs to know of an event besides its times, as bits of one integer."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag
from types import MappingProxyType

import msgspec

from ..events import Effect
from .facts import Fact, PodFact


class Mark(IntFlag):
    """What a version shows, and which request an event without revision was."""

    CREATED = 1
    """The version with which the object came into being."""
    UPDATED = 2
    BOUND = 4
    """A pod that has a node."""
    ENDING = 8
    """The object has a deletionTimestamp."""
    AUDITED = 16
    """The API server's audit log told the times: when it was asked, and when it had answered."""
    CREATE = 32
    UPDATE = 64
    DELETE = 128
    EVICT = 256
    BIND = 512


_REQUESTS = MappingProxyType(
    {"create": Mark.CREATE, "update": Mark.UPDATE, "patch": Mark.UPDATE, "delete": Mark.DELETE}
)
_VERSIONS = MappingProxyType({"created": Mark.CREATED, "updated": Mark.UPDATED})


class _Request(msgspec.Struct):
    verb: str = ""
    subresource: str = ""


_DECODE = msgspec.json.Decoder(_Request).decode


def marks_of(
    kind: str, effect: int, *, audited: bool, fact: Fact | None, payload: Callable[[], bytes]
) -> int:
    """Return the marks of an event.

    :param kind: of the event, as in ``pod.updated``. :param fact: of a version's object.
    :param payload: gives the event's payload; asked for requests only.
    """
    marks = Mark.AUDITED if audited else Mark(0)
    if effect == Effect.VERSION:
        marks |= _VERSIONS.get(kind.rpartition(".")[2], Mark(0))
        if fact is not None and fact.deleting_at is not None:
            marks |= Mark.ENDING
        if isinstance(fact, PodFact) and fact.node:
            marks |= Mark.BOUND
    elif effect == Effect.DELETED:
        marks |= Mark.DELETE
    elif effect == Effect.BOUND:
        marks |= Mark.BIND
    elif kind == "pod.evicted":
        marks |= Mark.EVICT
    elif effect == Effect.TOUCHED:
        marks |= _REQUESTS.get(_DECODE(payload()).verb, Mark(0))
    return int(marks)
