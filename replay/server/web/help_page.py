"""The page of help: what each page answers, and what the words mean.

It has a template: it shows the navigation of the site.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...facade.log import Log
from .look import Look
from .page import NavGroup, page

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


@page("help", "Help", template="help.html", nav="Help", group=NavGroup.HELP, key="h")
def help_page(log: Log, look: Look) -> Mapping[str, object]:  # noqa: ARG001 -- no log is read
    """Return the words of the pages."""
    return {"words": [{"word": word, "meaning": text} for word, text in WORDS.items()]}
