"""The page that finds: an object by the begin of its name, a page, or a moment.

The text is ``q`` of the query; a moment opens the page ``page`` of the query, from which a person
came. It has a template: its links are those of its twin, which the palette of ``Ctrl+K`` shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest

import msgspec

from ....engine.errors import PlinianError
from ....engine.events import KINDS, Reference
from ...facade.log import Log
from ...moments.times import known_text
from ...objects.kind_names import plain_name
from ...render.events import object_text
from .look import Look
from .notes import ASKABLE, JOB, NODE, POD, PODGROUP, QUEUE
from .page import Page, page
from .positions import fixed_position, position_of, time_at
from .rows import actors_like

MOST_OBJECTS = 30
"""Objects that are listed."""

LONGEST = 300
"""Characters of a question that are read."""

SHORTEST = 3
"""Characters with which those who caused events are looked for."""

MOST_KINDS = 8
"""Kinds of events that are listed, and those who caused some."""

WHY = "why"
"""The word before an object that asks why it waits."""

_FIRST = (JOB, PODGROUP, QUEUE, NODE, POD)
"""Kinds in the order in which people look for them; others follow."""


class Find(msgspec.Struct, frozen=True, kw_only=True):
    """What a text may mean; each meaning has a link.

    :param moment: its position and the time of the state there; None if it is none of the log.
    :param why: the text begins with this word: objects lead to why they wait.
    :param pages: and ``objects``: with their names. :param more: objects that are not listed.
    :param events: kinds of events, and who caused some: they lead to these events.
    :param gone: the objects do not exist at the moment of the page, but did or will at others.
    """

    text: str
    moment: dict[str, str | int] | None
    why: bool
    events: list[dict[str, str]]
    pages: list[dict[str, str]]
    objects: list[dict[str, str]]
    more: int
    gone: bool


def find_among(pages: Sequence[Page]) -> Page:
    """Return the page that finds objects, moments, and these pages."""

    @page("find", "Find", template="find.html", takes=("q", "page"))
    def find(log: Log, look: Look) -> Find:
        text = look.filter[:LONGEST]
        first, *rest = text.split(maxsplit=1) or [""]
        why = first.lower() == WHY and bool(rest)
        name = rest[0] if why else text
        names, gone = _objects(log, look, name.lower()) if name else ([], False)
        if why:
            names = [reference for reference in names if _kind(reference) in ASKABLE]
        listed = nsmallest(
            MOST_OBJECTS, names, key=lambda reference: _rank(reference, name.lower())
        )
        return Find(
            text=text,
            moment=_moment(log, look, text) if text else None,
            pages=[
                {"name": known_page.nav, "link": look.link(known_page.path)}
                for known_page in pages
                if known_page.nav and text.lower() in f"{known_page.nav} {known_page.title}".lower()
            ],
            why=why,
            events=[] if why or not text else list(_events(log, look, text)),
            objects=[
                {"name": shown, "link": look.object(f"{WHY}/{shown}" if why else shown)}
                for shown in map(object_text, listed)
            ],
            more=len(names) - len(listed),
            gone=gone,
        )

    return find


def _kind(reference: Reference) -> str:
    return plain_name(reference.group, reference.kind)


def _events(log: Log, look: Look, text: str) -> Iterator[dict[str, str]]:
    """Yield kinds of events that have a text, and who caused some of the last events."""
    word = text.lower()
    for kind in [kind for kind in KINDS if word in kind][:MOST_KINDS]:
        yield {"name": kind, "what": "events", "link": look.link(q=kind)}
    for actor in actors_like(log, text)[:MOST_KINDS] if len(text) >= SHORTEST else ():
        yield {"name": actor, "what": "who did it", "link": look.link(q=f"by:{actor}")}


def _moment(log: Log, look: Look, text: str) -> dict[str, str | int] | None:
    point = text.removeprefix("@")
    try:
        position = fixed_position(point, look.last)
        if position is None:
            position = position_of(log, point)
    except PlinianError:
        return None
    link = look.link(look.get("page").strip("/"), at=position)
    return {"position": position, "time": known_text(time_at(log, position)), "link": link}


def _objects(log: Log, look: Look, text: str) -> tuple[list[Reference], bool]:
    """Return the objects that a text may mean, and whether none of them exists at the moment."""
    moment = log.moment(look.at)
    here = list(_fitting((record.reference for record in log.truth(moment).records()), text))
    if here:
        return here, False
    known = (
        reference
        for kind in _FIRST
        for reference in log.store.objects_of(*kind, cluster=moment.cluster)
    )
    once = {object_text(reference): reference for reference in _fitting(known, text)}
    return list(once.values()), bool(once)


def _fitting(references: Iterable[Reference], text: str) -> Iterator[Reference]:
    """Yield the objects whose name begins with a text; a kind or a namespace may come before."""
    place, _, name = text.rpartition("/")
    for reference in references:
        if reference.kind != "Event" and reference.name.lower().startswith(name):
            kind = _kind(reference)
            if place in {
                "",
                kind,
                reference.namespace.lower(),
                f"{kind}/{reference.namespace.lower()}",
            }:
                yield reference


def _rank(reference: Reference, text: str) -> tuple[bool, int, str, str]:
    pair = (reference.group, reference.kind)
    kind = _FIRST.index(pair) if pair in _FIRST else len(_FIRST)
    exact = reference.name.lower() == text.rpartition("/")[2]
    return not exact, kind, reference.name, reference.namespace
