"""An answer to ``why`` as a part of a page."""

from __future__ import annotations

from markupsafe import Markup

from ..answers.answer import Why
from ..coverage.coverage import reasons
from ..render.blocks import Folded, ItemList, ListedItem, Marked, Section, Sentence
from ..render.why import event_table, reasons_section, since_blocks
from .blocks import blocks_html
from .templates import rendered

MADE_BY = "Events that made it so"
RESTS_ON = "The last versions of the objects that the answer rests on"


def why_part(why: Why, name: str) -> Markup:
    """Return an answer as HTML.

    :param name: the id of the part in its page.
    """
    gaps = [ItemList([ListedItem(text) for text in reasons(why.not_known)], "gaps")]
    rests = event_table("RESTS ON", why.events, RESTS_ON)
    sections = [
        Section([Sentence(why.sentence, "sentence")]),
        *([reasons_section(why)] if why.chain else ()),
        Section(since_blocks(why), "Since when"),
        Section([event_table("MADE SO BY", why.made_by, MADE_BY)] if why.made_by else ()),
        Section([Folded("Events that the answer rests on", [rests])] if rests.rows else ()),
        Section(gaps if why.not_known else (), "Not known"),
    ]
    blocks = blocks_html(sections, level=4)
    asked = f"{why.asked.kind} {why.asked.name}"
    return rendered("why.html", name=name, asked=asked, badge=badge(why), blocks=blocks)


def badge(why: Why) -> Marked:
    """Return in a word or two whether an object waits."""
    if why.waits is None:
        return Marked("not known", "badge unknown")
    return Marked("waits", "badge waits") if why.waits else Marked("does not wait", "badge fine")
