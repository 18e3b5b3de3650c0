"""The page of a number: which events make it up, and which one changed it last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ...answers.blamed import Blame
from ...facade.documents import document
from ...facade.log import Log
from ...render.blame import blame_sections
from ...render.blocks import Section, Sentence, object_ref
from .blocks import answer
from .look import Look
from .notes import filled_in, sentences
from .page import page


class Number(msgspec.Struct, frozen=True, kw_only=True):
    """A number, and what it is made of."""

    not_known: tuple[str, ...]
    blame: Blame


def _json(found: Number) -> Any:
    return document(found.blame)


def _shown(found: Number, look: Look) -> Mapping[str, Any]:
    name = found.blame.about
    about = Section([Sentence(object_ref(name, f"All about {name}"))])
    nothing = Section([Sentence("Nothing adds to it at this moment.", "blank")])
    first, *parts = blame_sections(found.blame)
    sections = [first, about, *(parts or [nothing])]
    return answer(look, f"{found.blame.number} of {name}", sections)


@page("blame/{kind}/{key:path}", template="answer.html", title="Number", json=_json, show=_shown)
def blame(log: Log, look: Look, kind: str, key: str) -> Number:
    """Return what makes up the number that the query names, by default ``allocated.cpu``.

    :raises UsageError: the object has no such number. :raises ObjectNotFound: there is no object.
    """
    what = look.get("number") or ("used.cpu" if kind == "node" else "allocated.cpu")
    found = log.blame(f"{kind}/{key}", what, at=look.at)
    return Number(
        not_known=(*sentences(found.not_known), *filled_in(log, log.moment(look.at))),
        blame=found,
    )


PAGES = (blame,)
