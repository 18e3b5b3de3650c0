"""Join the spans that one growing watch left one after the other.

A watch that is read while it grows leaves a span each time that somebody asks for it. Stored one by
one they would be more than the changes of a quiet cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ...events import Event, canonical_json
from ...events.payloads import WatchFollowed
from .watch_span import RESUMED

FOLLOWED = "watch.followed"

Placed = tuple[int, Event]
"""The first revision that an event is about, and the event."""

_DECODE = msgspec.json.Decoder(WatchFollowed).decode


def joined_spans(placed: Iterable[Placed]) -> Iterator[Placed]:
    """Yield the events that a document left, with spans joined that continue each other.

    :param placed: of one document, in the order in which it left them.
    """
    held: tuple[int, Event, WatchFollowed] | None = None
    for revision, event in placed:
        if event.kind != FOLLOWED:
            yield revision, event
            continue
        span = _DECODE(event.payload)
        if held is not None and _continues(held[2], span):
            span = msgspec.structs.replace(span, since=held[2].since, begin=held[2].begin)
            held = held[0], event, span
            continue
        if held is not None:
            yield _made(*held)
        held = revision, event, span
    if held is not None:
        yield _made(*held)


def _continues(before: WatchFollowed, span: WatchFollowed) -> bool:
    return (
        span.begin == RESUMED
        and span.since == before.until
        and not before.interrupted
        and (span.group, span.listed, span.namespaces)
        == (before.group, before.listed, before.namespaces)
    )


def _made(revision: int, event: Event, span: WatchFollowed) -> Placed:
    return revision, msgspec.structs.replace(event, payload=canonical_json(span))
