"""Blocks on a page of the server: with links, and long tables a page at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from markupsafe import Markup

from ...pages.blocks import blocks_html
from ...pages.templates import rendered
from ...render.blocks import Block, Drawn, Marked, Section
from ...render.tables import Table
from .bounded import MOST_ROWS, number, some
from .look import Look

T = TypeVar("T")


def answer(
    look: Look,
    heading: str,
    sections: Iterable[Section],
    *,
    badge: Marked | None = None,
    when: str = "",
) -> dict[str, Any]:
    """Return what the template ``answer.html`` shows.

    :param badge: stands beside the heading. :param when: stands there instead of the moment.
    """
    blocks = page_blocks(look, sections)
    return {"heading": heading, "badge": badge, "when": when or f"at {look.at}", "blocks": blocks}


def page_blocks(look: Look, sections: Iterable[Section]) -> Markup:
    """Return sections as HTML."""
    shown = (
        section._replace(blocks=[part for one in section.blocks for part in _paged(look, one)])
        for section in sections
    )
    return blocks_html(shown, look, most=MOST_ROWS)


def _paged(look: Look, block: Block) -> Iterator[Block]:
    if not isinstance(block, Table) or not block.pages:
        yield block
        return
    rows, pager = paged(look, block.rows, block.pages)
    yield block._replace(rows=rows)
    yield pager


def paged(look: Look, rows: Sequence[T], what: str) -> tuple[Sequence[T], Drawn]:
    """Return some rows, and links to those before and after; the query says which by their name."""
    shown = some(rows, number(look, what))
    return shown.rows, Drawn(rendered("pager.html", look=look, rows=shown, what=what))
