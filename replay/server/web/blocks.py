"""Blocks on a page of the server: with links, and long tables a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec
from markupsafe import Markup

from ....engine.errors import PlinianError
from ...pages.blocks import blocks_html, words
from ...pages.templates import rendered
from ...render.blocks import Block, Drawn, Marked, Ref, Section, Sentence, Words
from ...render.tables import Table
from .bounded import MOST_ROWS, Some, number, some
from .look import Look
from .sorting import Columns, no_such_column, sort_heads, sorted_rows, sorting_of

T = TypeVar("T")


class BlockPage(NamedTuple):
    """A page of blocks: the template ``answer.html`` shows it.

    :param sections: returns what it says. :param data: its twin: a result, or plain data.
    :param when: stands beside the heading; None is the moment of the page, and ``badge`` after it.
    :param assumed: and ``not_known``: what it must say beside its answer, as sentences.
    """

    heading: str
    sections: Callable[[], Iterable[Section]]
    data: Any
    when: str | None = None
    badge: Marked | None = None
    assumed: Sequence[str] = ()
    not_known: Sequence[str] = ()


def page_blocks(look: Look, sections: Iterable[Section], *, level: int = 2) -> Markup:
    """Return sections as HTML. :param level: of their headings."""
    shown = (
        msgspec.structs.replace(
            section, blocks=[part for block in section.blocks for part in _paged(look, block)]
        )
        for section in sections
    )
    return blocks_html(shown, look, level=level, most=MOST_ROWS)


def _paged(look: Look, block: Block) -> Iterator[Block]:
    if not isinstance(block, Table) or not block.pages:
        yield block
        return
    columns = {head: itemgetter(place) for place, head in enumerate(block.headers)}
    shown, pager = paged(look, block.rows, block.pages, columns=columns)
    heads = sort_heads(look, columns, block.pages, shown.total)
    yield block._replace(rows=shown.rows, headers=heads)
    yield pager


def paged(
    look: Look,
    rows: Sequence[T],
    what: str,
    *,
    name: str = "",
    usual: int = 0,
    columns: Columns[T] = MappingProxyType({}),
) -> tuple[Some[T], Drawn]:
    """Return some rows, and links to those before and after.

    :param name: in the query, of how many are before them; by default it is what they are.
    :param usual: how many are before them, if the query does not say it.
    :param columns: by which the query may sort all rows, before some are chosen.
    """
    name = name or what
    by = sorting_of(look, name)
    fault = no_such_column(columns, by) if columns else ""
    begin = number(look, name, 0 if by.column else usual)
    shown = some(sorted_rows(rows, columns, by), begin)
    return shown, drawn(look, "pager.html", rows=shown, what=what, name=name, fault=fault)


def drawn(look: Look, template: str, **values: Any) -> Drawn:
    """Return a part that has a template, in which ``words`` makes links."""
    return Drawn(rendered(template, look=look, words=partial(words, links=look), **values))


def nothing(look: Look, what: str) -> Sentence:
    """Say that something does not exist at the moment, and where to look now."""
    if not look.last:
        return Sentence(f"There is no {what}: the log is empty. plinian ingest fills it.", "blank")
    other = Ref("Look at the end of the log", None, at=look.last)
    if look.position == look.last:
        other = Ref("Look at what was removed since the begin of the log", "diff", vs="@1")
    return Sentence(Words(f"There is no {what} at this moment. ", other, "."), "blank")


def fault_sentence(fault: PlinianError) -> Sentence:
    """Return why there is no answer, and what to do."""
    return Sentence(Words(Marked(fault.what, "bad"), f" {fault.now}"), "panic")


def fault_data(fault: PlinianError) -> dict[str, dict[str, str]]:
    """Return the same for the twin of a page."""
    return {"error": {"now": fault.now, "what": fault.what}}
