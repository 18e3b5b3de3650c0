"""The page of a number: which events make it up, and which one changed it last."""

from __future__ import annotations

from typing import Any

import msgspec

from ...answers.blamed import Blame, Part
from ...facade.documents import document
from ...facade.log import Log
from .bounded import Some, number, some
from .look import Look
from .notes import filled_in, sentences
from .page import page


class Number(msgspec.Struct, frozen=True, kw_only=True):
    """A number, and what it is made of. :param name: of the object, as links name it."""

    name: str
    number: str
    parts: Some[Part]
    not_known: tuple[str, ...]
    blame: Blame


def _json(found: Number) -> Any:
    return document(found.blame)


@page("blame/{kind}/{key:path}", template="blame.html", title="Number", json=_json)
def blame(log: Log, look: Look, kind: str, key: str) -> Number:
    """Return what makes up the number that the query names, by default ``allocated.cpu``.

    :raises UsageError: the object has no such number. :raises ObjectNotFound: there is no object.
    """
    what = look.get("number") or ("used.cpu" if kind == "node" else "allocated.cpu")
    found = log.blame(f"{kind}/{key}", what, at=look.at)
    return Number(
        name=found.about,
        number=what,
        parts=some(found.parts, number(look, "skip")),
        not_known=(*sentences(found.not_known), *filled_in(log, log.moment(look.at))),
        blame=found,
    )


PAGES = (blame,)
