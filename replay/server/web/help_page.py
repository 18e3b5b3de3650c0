"""The page of help: what each page answers, and what the words mean."""

from __future__ import annotations

from types import MappingProxyType

import msgspec

from ...facade.log import Log
from .look import Look
from .page import page

WORDS = MappingProxyType(
    {
        "position": "The number of an event in the log. A link has a position, so it always shows "
        "the same.",
        "truth": "What the API server held: all objects, after the events up to the position.",
        "belief": "What the scheduler's cache held after the same events, as a release builds it.",
        "drift": "Where the scheduler's cache differs from the API server.",
        "session": "One run of the scheduler over a snapshot of its cache. Plinian runs it again, "
        "as the release that is chosen above.",
        "step": "One thing that a session did, with the numbers that it compared.",
        "release": "A version of Volcano. Each has its behaviours, and a session runs with them.",
        "behaviour": "One effect in which releases differ, dated by the release that changed it.",
        "assumed": "What an answer needed and the log did not have.",
        "not known": "What the log does not hold completely: the answer may be otherwise.",
    }
)
"""What the words of the pages mean."""


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """A word, and what it means."""

    word: str
    meaning: str


class Help(msgspec.Struct, frozen=True, kw_only=True):
    """The words of the pages."""

    words: tuple[Word, ...]


@page("help", template="help.html", title="Help", nav="Help", key="h")
def help_page(log: Log, look: Look) -> Help:  # noqa: ARG001 -- it is the same everywhere
    """Return the words of the pages."""
    return Help(words=tuple(Word(word=word, meaning=text) for word, text in WORDS.items()))


PAGES = (help_page,)
