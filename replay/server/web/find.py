"""The page that finds: an object by the begin of its name, a page, or a moment.

The text is ``q`` of the query; a moment opens the page ``page`` of the query, from which a person
came. The palette of ``Ctrl+K`` shows the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from ....engine.errors import PlinianError
from ....engine.events import Reference
from ...facade.log import Log
from ...moments.times import known_text
from ...objects.kind_names import plain_name
from ...render.blocks import (
    Block,
    ItemList,
    ListedItem,
    Marked,
    Ref,
    Section,
    Sentence,
    Words,
    joined,
    object_ref,
)
from ...render.events import object_text
from .blocks import BlockPage
from .forms import FormField, form
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


class Find(NamedTuple):
    """What a text may mean.

    :param moment: None if the text is no moment of the log; ``time`` is that of the state there.
    :param objects: whose names begin with the text. :param more: how many are not listed.
    :param gone: the objects do not exist at the moment of the page, but did or will at others.
    """

    text: str
    moment: Ref | None
    time: str
    pages: Sequence[Ref]
    objects: Sequence[Ref]
    more: int
    gone: bool


def find_among(pages: Sequence[Page]) -> Page:
    """Return the page that finds objects, moments, and these pages."""

    @page("find", "Find")
    def find(log: Log, look: Look) -> BlockPage:
        text = look.filter[:LONGEST]
        names, gone = _objects(log, look, text.lower()) if text else ([], False)
        listed = nsmallest(MOST_OBJECTS, names, key=lambda one: _rank(one, text.lower()))
        position = _position(log, look, text) if text else None
        found = Find(
            text,
            None
            if position is None
            else Ref(f"@{position}", look.get("page").strip("/"), at=position),
            "" if position is None else known_text(time_at(log, position)),
            [
                Ref(one.nav, one.path)
                for one in pages
                if one.nav and text.lower() in f"{one.nav} {one.title}".lower()
            ],
            [object_ref(object_text(one)) for one in listed],
            len(names) - len(listed),
            gone,
        )
        return BlockPage("Find", lambda: _sections(found, look), _data(found, look))

    return find


def _data(found: Find, look: Look) -> Mapping[str, object]:
    """Return what the palette of a browser shows."""

    def linked(some: Sequence[Ref]) -> list[dict[str, str]]:
        return [{"name": str(one), "link": look.link(one.path or "")} for one in some]

    moment, at = None, found.moment
    if at is not None:
        moment = {"position": at.at, "time": found.time, "link": look.link(at.path or "", at=at.at)}
    pages, objects = linked(found.pages), linked(found.objects)
    listed = {"text": found.text, "moment": moment, "pages": pages, "objects": objects}
    return {**listed, "more": found.more, "gone": found.gone}


def _sections(found: Find, look: Look) -> Iterator[Section]:
    typed = {"size": "32", "spellcheck": "false", "autocomplete": "off", "autofocus": ""}
    field = FormField("Object, page or moment", "q", found.text, attributes=typed)
    searches = {"role": "search", "aria-label": "Find"}
    yield Section([form(look, "Find", [field], attributes=searches), Sentence(_HINT, "cut")])
    if found.moment is not None:
        yield Section([Sentence(Words(found.moment, f" {found.time}"))], "Moment")
    if found.text:
        blocks = _listed(found.objects, "No object has a name that begins so.")
        if found.more:
            blocks.append(Sentence(f"{found.more} more: type more of the name.", "cut"))
        yield Section(blocks, f"Objects{' of other moments' if found.gone else ''}")
    yield Section(_listed(found.pages, "No page has this name."), "Pages")


def _listed(some: Sequence[Ref], nothing: str) -> list[Block]:
    items = [ListedItem(one) for one in some]
    return [ItemList(items, "found") if items else Sentence(nothing, "blank")]


_HINT = Words(
    "The begin of a name, as in ",
    *joined((Marked("train", "code"), Marked("pod/train", "code"))),
    " or ",
    Marked("pod/ml/train", "code"),
    "; a page, as in ",
    Marked("queues", "code"),
    "; a moment, as in ",
    *joined((Marked("@1042", "code"), Marked("-90s", "code"))),
    " (before the end) or a time.",
)


def _position(log: Log, look: Look, text: str) -> int | None:
    """Return the position of a moment; None if it is none of the log."""
    point = text.removeprefix("@")
    try:
        position = fixed_position(point, look.last)
        return position_of(log, point) if position is None else position
    except PlinianError:
        return None


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
