"""The page that finds: an object by the begin of its name, a page, or a moment.

The text is ``q`` of the query; a moment opens the page ``page`` of the query, from which a person
came. It has a template: its links are those of its twin, which the palette of ``Ctrl+K`` shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest

import msgspec

from ....engine.errors import PlinianError
from ....engine.events import Reference
from ...facade.log import Log
from ...moments.times import known_text
from ...objects.kind_names import plain_name
from ...render.events import object_text
from .look import Look
from .notes import JOB, NODE, POD, PODGROUP, QUEUE
from .page import Page, page
from .positions import fixed_position, position_of, time_at

MOST_OBJECTS = 30
"""Objects that are listed."""

LONGEST = 300
"""Characters of a question that are read."""

_FIRST = (JOB, PODGROUP, QUEUE, NODE, POD)
"""Kinds in the order in which people look for them; others follow."""


class Find(msgspec.Struct, frozen=True, kw_only=True):
    """What a text may mean; each meaning has a link.

    :param moment: its position and the time of the state there; None if it is none of the log.
    :param pages: and ``objects``: with their names. :param more: objects that are not listed.
    :param gone: the objects do not exist at the moment of the page, but did or will at others.
    """

    text: str
    moment: dict[str, str | int] | None
    pages: list[dict[str, str]]
    objects: list[dict[str, str]]
    more: int
    gone: bool


def find_among(pages: Sequence[Page]) -> Page:
    """Return the page that finds objects, moments, and these pages."""

    @page("find", "Find", template="find.html")
    def find(log: Log, look: Look) -> Find:
        text = look.filter[:LONGEST]
        names, gone = _objects(log, look, text.lower()) if text else ([], False)
        listed = nsmallest(
            MOST_OBJECTS, names, key=lambda reference: _rank(reference, text.lower())
        )
        return Find(
            text=text,
            moment=_moment(log, look, text) if text else None,
            pages=[
                {"name": known_page.nav, "link": look.link(known_page.path)}
                for known_page in pages
                if known_page.nav and text.lower() in f"{known_page.nav} {known_page.title}".lower()
            ],
            objects=[
                {"name": name, "link": look.object(name)} for name in map(object_text, listed)
            ],
            more=len(names) - len(listed),
            gone=gone,
        )

    return find


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
            kind = plain_name(reference.group, reference.kind)
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
