"""The events table: real rows around the position, or those that a filter lets through."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ....engine.errors import PlinianError
from ....engine.events import KINDS
from ....engine.log import Query
from ...facade.log import Log
from ...logs.event_filters import about, known_kinds
from ...moments.actors import AttributedEvent, short_actor
from ...moments.read_events import read_events
from ...moments.times import exact_text, span_of_day, span_text
from ...render.events import event_rows, object_text
from .look import Look, seconds

HALF = 30
"""Rows before the position, and after it."""

LONGEST = 300_000
"""In a log of more events, a text that no actor has would be looked for too long."""

MOST_READ = 500
"""So many events are looked at for who caused them."""

_NAMED = re.compile(r"(kind|object|namespace|ns|name|source|uid|actor|by):(.+)")


class ShownEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event.

    :param object: as in ``pod/ml/train-0``; empty if it has none. :param subject: what it is about
        in words, if it has no object. :param time: as tables print it; ``of_day`` without the date.
    :param exact: for programs, empty if it is not one time. :param earliest: and ``latest``: its
        bounds. :param actor: in short; ``actor_name`` is the whole.
    """

    position: int
    time: str
    of_day: str
    exact: str
    earliest: str
    latest: str
    kind: str
    noun: str
    object: str
    subject: str
    version: str
    actor: str
    actor_name: str


class EventRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows around a position.

    :param filter: in words; empty if none. :param fault: why the filter cannot be used.
    :param before: and ``after``: the positions to go to for earlier and later rows; None if there
        are none.
    """

    rows: list[ShownEvent]
    filter: str
    fault: str
    before: int | None
    after: int | None


def rows_around(log: Log, look: Look) -> EventRows:
    """Return the events around a position, at most ``2 * HALF``."""
    try:
        fields = fields_of(log, look.filter)
    except PlinianError as error:
        fault = f"{error.what}{f'; {error.now}' if error.now else ''}"
        return EventRows(rows=[], filter=look.filter, fault=fault, before=None, after=None)
    # One more on each side than is shown: it says whether there are more, and where they are.
    earlier = list(log.events(**fields, until=look.position, newest_first=True, limit=HALF + 1))
    later = list(log.events(**fields, after=look.position, limit=HALF + 1))
    shown = [*reversed(earlier[:HALF]), *later[:HALF]]
    return EventRows(
        rows=list(map(_row, shown, event_rows(shown, wide=False))),
        filter=look.filter,
        fault="",
        before=earlier[HALF].position if len(earlier) > HALF else None,
        after=later[HALF].position if len(later) > HALF else None,
    )


def fields_of(log: Log, text: str) -> dict[str, Any]:
    """Return the fields of a query for the text of the filter box.

    Words narrow one after another: ``pod.bound`` or ``pod.*`` are kinds of events, ``pod/ml/a`` is
    an object, ``pods`` a kind of objects, ``namespace:ml`` a namespace, ``evicted`` all kinds of
    events that end so, ``by:admin`` who caused them; others are names, or else who caused them.

    :raises UsageError: a word names nothing.
    :raises ObjectNotFound: the log never held the object.
    """
    fields: dict[str, Any] = {}
    kinds: list[str] = []
    objects: list[str] = []
    for word in text.split():
        named = _NAMED.fullmatch(word)
        name, value = (named[1], named[2]) if named else _guessed(log, word)
        if name == "kind":
            kinds.append(value)
        elif name == "object":
            objects.append(value)
        else:
            fields[{"ns": "namespace", "by": "actor"}.get(name, name)] = value
    if kinds:
        fields["kinds"] = known_kinds(kinds)
    return fields | about(log, objects)


def _guessed(log: Log, word: str) -> tuple[str, str]:
    """Return what a word of the filter is about, and its value."""
    if "/" in word:
        return "object", word
    noun = word.partition(".")[0]
    if "." in word and (noun in {kind.partition(".")[0] for kind in KINDS} or "*" in word):
        return "kind", word
    if any(kind.partition(".")[2] == word for kind in KINDS):
        return "kind", f"*.{word}"
    try:
        log.kind(word)
    except PlinianError:
        named = Query(branch=log.branch, cluster=log.cluster, name=word, limit=1)
        is_name = any(True for _ in log.store.read(named))
        return ("name" if is_name or not actors_like(log, word) else "actor"), word
    return "object", word


def actors_like(log: Log, text: str) -> list[str]:
    """Return who caused some of the last events, of those whose name has a text.

    In a long log they are not looked for.
    """
    if log.store.last(log.branch) > LONGEST:
        return []
    query = Query(
        branch=log.branch, cluster=log.cluster, actor=text, newest_first=True, limit=MOST_READ
    )
    return list(dict.fromkeys(recorded.event.actor for recorded in log.store.read(query)))


def _row(recorded: AttributedEvent, row: list[str]) -> ShownEvent:
    event, named = recorded.event, object_text(recorded.event.reference)
    has_name = bool(event.reference.name)
    return ShownEvent(
        position=recorded.position,
        time=span_text(recorded.span),
        of_day=span_of_day(recorded.span),
        exact=exact_text(recorded.span),
        earliest=seconds(recorded.span.earliest),
        latest=seconds(recorded.span.latest),
        kind=event.kind,
        noun=event.kind.partition(".")[0],
        object=named if has_name else "",
        subject="" if has_name else row[2],
        version=row[3],
        actor=short_actor(recorded.actor),
        actor_name=recorded.actor,
    )


def next_position(log: Log, look: Look, fields: dict[str, Any], *, forwards: bool) -> int | None:
    """Return the position of the next or the previous event of a query; None if there is none."""
    bounds: dict[str, Any] = (
        {"after": look.position} if forwards else {"until": look.position - 1, "newest_first": True}
    )
    query = Query(branch=log.branch, cluster=log.cluster, limit=1, **bounds, **fields)
    events = read_events(log.store, log.moment(), query)
    return next((event.position for event in events), None)
