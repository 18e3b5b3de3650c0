"""Blocks as HTML: those of an answer, and what only a page has beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Protocol

from markupsafe import Markup, escape

from ..render.blocks import CHOSEN, Marked, Ref, Section, Words
from ..render.screen import one_line
from ..render.tables import NONE
from .templates import breakable, rendered, short_name

MOST_ROWS = 40
"""Rows of a table in a page without a server; it has no further pages."""

_ELEMENTS = ("code", "kbd", "time")


class PageLinks(Protocol):
    """Where words of a page lead."""

    def link(
        self, path: str = "", *, at: int | str | None = None, **query: str | int | None
    ) -> str:
        """Return the link to another page."""

    def here(self, *, at: int | str | None = None, **query: str | int | None) -> str:
        """Return the link to the same page with other values in its query."""


def blocks_html(
    sections: Iterable[Section],
    links: PageLinks | None = None,
    *,
    level: int = 2,
    most: int = MOST_ROWS,
) -> Markup:
    """Return sections as HTML.

    :param links: where their words lead; None in a page that stands alone.
    :param level: of their headings. :param most: as many rows are shown of a table.
    """
    return rendered(
        "blocks.html",
        sections=sections,
        level=level,
        most=most,
        form=lambda block: type(block).__name__,
        words=partial(words, links=links),
        cell=partial(cell, links=links),
    )


def words(text: str, links: PageLinks | None) -> Markup:
    """Return words as HTML, with their links."""
    if isinstance(text, Words):
        return Markup("").join(words(part, links) for part in text.parts)
    return _marked(text, escape(one_line(_said(text, links))), links)


def cell(text: str, links: PageLinks | None) -> Markup:
    """Return a cell of a table, which a browser may break after commas and slashes."""
    if isinstance(text, Words):
        return Markup("").join(cell(part, links) for part in text.parts)
    if text in {"", NONE}:
        return Markup('<span class="none">{}</span>').format(text)
    return _marked(text, breakable(_said(text, links)), links)


def _said(text: str, links: PageLinks | None) -> str:
    """Return a name as a page says it: a link has the whole as its hint, so it can be short."""
    return short_name(text) if isinstance(text, Ref) and links is not None else text


def _marked(text: str, shown: Markup, links: PageLinks | None) -> Markup:
    """Return words as a link, or set off, if they are."""
    if isinstance(text, Marked):
        tag, named = ("strong", text.look) if text.look else ("span", "")
        if text.look in _ELEMENTS:
            tag, named = text.look, ""
        time = str(text) if tag == "time" else ""
        attributes = _attributes({"class": named, "id": text.place, "datetime": time})
        return Markup("<{0}{1}>{2}</{0}>").format(tag, attributes, shown)
    if not isinstance(text, Ref) or links is None:
        return shown
    path, at, query = text.path, text.at, text.query
    if path is None:  # Without a query it is a place of this page, also in a page as one file.
        target = links.here(at=at, **query) if query or at is not None else ""
    else:
        target = links.link(path, at=at, **query)
    href = f"{target}#{text.place}" if text.place else target
    current = "true" if text.look == CHOSEN else ""
    attributes = _attributes(
        {
            "class": text.look,
            "data-key": text.key,
            "href": href,
            "title": text.hint or (text if short_name(text) != text else ""),
            "aria-current": current,
        }
    )
    return Markup("<a{}>{}</a>").format(attributes, shown)


def _attributes(values: Mapping[str, str]) -> Markup:
    """Return the attributes of an element; those without a value are left out."""
    texts = (Markup(' {}="{}"').format(*attribute) for attribute in values.items() if attribute[1])
    return Markup("").join(texts)
