"""The page that finds: an object by the begin of its name, a page, or a moment.

The text is ``q`` of the query; a moment opens the page ``page`` of the query, from which a person
came. The palette of ``Ctrl+K`` shows the same.
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


class FoundObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object. :param name: as links name it, as in ``pod/ml/train-0``."""

    name: str
    link: str


class FoundPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the navigation."""

    name: str
    link: str


class FoundMoment(msgspec.Struct, frozen=True, kw_only=True):
    """A moment. :param time: of the state at the position; empty if it is not known."""

    position: int
    time: str
    link: str


class Find(msgspec.Struct, frozen=True, kw_only=True):
    """What a text may mean.

    :param moment: None if the text is no moment of the log.
    :param objects: whose names begin with the text. :param more: how many are not listed.
    :param gone: the objects do not exist at the moment of the page, but did or will at others.
    """

    text: str
    moment: FoundMoment | None
    pages: tuple[FoundPage, ...]
    objects: tuple[FoundObject, ...]
    more: int
    gone: bool


def find_among(pages: Sequence[Page]) -> Page:
    """Return the page that finds objects, moments, and these pages."""

    @page("find", template="find.html", title="Find")
    def find(log: Log, look: Look) -> Find:
        text = look.filter[:LONGEST]
        names, gone = _objects(log, look, text.lower()) if text else ([], False)
        listed = nsmallest(MOST_OBJECTS, names, key=lambda one: _rank(one, text.lower()))
        return Find(
            text=text,
            moment=_moment(log, look, text) if text else None,
            pages=tuple(_pages(pages, look, text.lower())),
            objects=tuple(
                FoundObject(name=name, link=look.object(name)) for name in map(object_text, listed)
            ),
            more=len(names) - len(listed),
            gone=gone,
        )

    return find


def _moment(log: Log, look: Look, text: str) -> FoundMoment | None:
    point = text.removeprefix("@")
    try:
        position = fixed_position(point, look.last)
        if position is None:
            position = position_of(log, point)
    except PlinianError:
        return None
    link = look.link(look.get("page").strip("/"), at=position)
    return FoundMoment(position=position, time=known_text(time_at(log, position)), link=link)


def _pages(pages: Sequence[Page], look: Look, text: str) -> Iterator[FoundPage]:
    for one in pages:
        if one.nav and text in f"{one.nav} {one.title}".lower():
            yield FoundPage(name=one.nav, link=look.link(one.path))


def _objects(log: Log, look: Look, text: str) -> tuple[list[Reference], bool]:
    """Return the objects that a text may mean, and whether none of them exists at the moment."""
    moment = log.moment(look.at)
    here = list(_fitting((one.reference for one in log.truth(moment).records()), text))
    if here:
        return here, False
    known = (one for kind in _FIRST for one in log.store.objects_of(*kind, cluster=moment.cluster))
    once = {object_text(one): one for one in _fitting(known, text)}
    return list(once.values()), bool(once)


def _fitting(references: Iterable[Reference], text: str) -> Iterator[Reference]:
    """Yield the objects whose name begins with a text; a kind or a namespace may come before."""
    place, _, name = text.rpartition("/")
    for one in references:
        if one.kind != "Event" and one.name.lower().startswith(name):
            kind = plain_name(one.group, one.kind)
            if place in {"", kind, one.namespace.lower(), f"{kind}/{one.namespace.lower()}"}:
                yield one


def _rank(one: Reference, text: str) -> tuple[bool, int, str, str]:
    pair = (one.group, one.kind)
    kind = _FIRST.index(pair) if pair in _FIRST else len(_FIRST)
    exact = one.name.lower() == text.rpartition("/")[2]
    return not exact, kind, one.name, one.namespace
