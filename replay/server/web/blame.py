"""The page of a number: which events make it up, and which one changed it last."""

from __future__ import annotations

from collections.abc import Iterator

from ...answers.blamed import Blame
from ...facade.log import Log
from ...render.blocks import Section, Sentence, object_ref
from ...render.why import blame_sections
from .blocks import BlockPage
from .look import Look
from .notes import filled_in, sentences
from .page import page


@page("blame/{kind}/{key:path}", "Number", takes=("number", "parts", "sort_parts"))
def blame(log: Log, look: Look, kind: str, key: str) -> BlockPage:
    """Return what makes up the number that the query names, by default ``allocated.cpu``.

    :raises UsageError: the object has no such number. :raises ObjectNotFound: there is no object.
    """
    number = look.get("number") or ("used.cpu" if kind == "node" else "allocated.cpu")
    blamed = log.blame(f"{kind}/{key}", number, at=look.at)
    return BlockPage(
        f"{blamed.number} of {blamed.about}",
        lambda: _sections(blamed),
        blamed,
        not_known=(*sentences(blamed.not_known), *filled_in(log, log.moment(look.at))),
    )


def _sections(blamed: Blame) -> Iterator[Section]:
    first, *parts = blame_sections(blamed)
    yield first
    yield Section([Sentence(object_ref(blamed.about, f"All about {blamed.about}"))])
    nothing = Section([Sentence("Nothing adds to it at this moment.", "blank")])
    yield from parts or [nothing]
