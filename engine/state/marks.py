"""Marks: what the clock needs of an event besides its times, as bits of one integer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntFlag
from types import MappingProxyType

import msgspec

from ..events import KINDS, Effect
from .facts import Fact, PodFact


class VersionMark(IntFlag):
    """What a version shows, or the type of a request without a revision."""

    CREATED = 1
    """The first version of the object."""
    UPDATED = 2
    BOUND = 4
    """A pod that has a node."""
    ENDING = 8
    """The object has a deletionTimestamp."""
    AUDITED = 16
    """The times come from the API server's audit log: of the request and of the answer."""
    CREATE = 32
    UPDATE = 64
    DELETE = 128
    EVICT = 256
    BIND = 512
    FLOOR = 1024
    """The earliest time is of an event before the write, and not its stamp."""
    SEEN = 2048
    """It existed at the latest time; it may have been written long before."""
    UNPLACED = 4096
    """A list without a revision: a later revision may be older."""
    MISREAD = 8192
    """A field of the version cannot be decoded."""


_REQUESTS = MappingProxyType(
    {
        "create": VersionMark.CREATE,
        "update": VersionMark.UPDATE,
        "patch": VersionMark.UPDATE,
        "delete": VersionMark.DELETE,
    }
)
_VERBS = MappingProxyType(
    {"created": VersionMark.CREATED, "updated": VersionMark.UPDATED, "observed": VersionMark.SEEN}
)
"""What an event says that adds to a version."""

_VERSIONS = MappingProxyType({"created": VersionMark.CREATED, "updated": VersionMark.UPDATED})
_BORDERS = MappingProxyType({"slice.began": VersionMark.FLOOR, "slice.ended": VersionMark.SEEN})
"""Bounds that follow from events outside a slice."""

_BY_EFFECT = MappingProxyType({Effect.DELETED: VersionMark.DELETE, Effect.BOUND: VersionMark.BIND})


class _Request(msgspec.Struct):
    verb: str = ""
    subresource: str = ""


_DECODE = msgspec.json.Decoder(_Request).decode
_LOWER_BOUND = b'"exact":false'


_ENDING, _BOUND, _AUDITED = (
    int(VersionMark.ENDING),
    int(VersionMark.BOUND),
    int(VersionMark.AUDITED),
)
_MISREAD = int(VersionMark.MISREAD)


def marks_of(
    kinds: Sequence[str],
    audited: Sequence[int],
    facts: Sequence[Fact | None],
    payload: Callable[[int], bytes],
) -> list[int]:
    """Return the marks of some events.

    :param kinds: of the events, as in ``pod.updated``. :param audited: 1 where the actor is known.
    :param facts: of the objects of versions, else None.
    :param payload: gives the payload of the event with an index; called for requests only.
    """
    own = {kind: _own_mark(kind) for kind in dict.fromkeys(kinds)}
    marks = []
    for index, (kind, fact) in enumerate(zip(kinds, facts, strict=True)):
        mark = own[kind]
        if mark is None:
            mark = _mark_of_content(kind, payload(index))
        if fact is not None:
            # Plain integers: this runs for every event, and flags are slow.
            if fact.deleting_at is not None:
                mark |= _ENDING
            if type(fact) is PodFact and fact.node:
                mark |= _BOUND
            if fact.misread:
                mark |= _MISREAD
        marks.append(mark | _AUDITED if audited[index] else mark)
    return marks


def _mark_of_content(kind: str, payload: bytes) -> int:
    """Return the marks of a request or a complete list."""
    effect = KINDS[kind].effect
    if effect is Effect.LISTED:
        return int(VersionMark.UNPLACED) if _LOWER_BOUND in payload else 0
    if effect is not Effect.TOUCHED:
        return int(_VERBS.get(_DECODE(payload).verb, 0))
    return int(_REQUESTS.get(_DECODE(payload).verb, 0))


def _own_mark(kind: str) -> int | None:
    """Return the marks by an event's kind alone; None if its payload is needed."""
    if kind in _BORDERS:
        return int(_BORDERS[kind])
    effect = KINDS[kind].effect if kind in KINDS else Effect.NONE
    if effect is Effect.VERSION:
        return int(_VERSIONS.get(kind.rpartition(".")[2], 0))
    if effect is Effect.TOUCHED:
        return int(VersionMark.EVICT) if kind == "pod.evicted" else None
    if effect in {Effect.LISTED, Effect.ATTRIBUTED} or kind == "version.timed":
        return None
    return int(_BY_EFFECT.get(effect, 0))
