"""Blocks: what an answer says, before it is text or a page.

An answer yields sections, and a section holds sentences, lists, tables and commands.
:func:`block_lines` makes lines for a terminal of them, and ``replay/pages/blocks.py`` makes HTML.
So words, columns and their order stand once. Words that lead somewhere are a :class:`Ref`: on a
terminal they are text as any other, and a page links them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self, TypeAlias

import msgspec

from .tables import PLAIN, Style, Table, lines_of, paragraph

if TYPE_CHECKING:
    from markupsafe import Markup

CHOSEN = "chosen"
"""The style of a link that leads to what the page shows already."""

_MARK, _NO_MARK = "=>", "  "


class Ref(str):
    """Words that lead to a page of the log.

    :ivar path: of the page, as in ``pod/ml/train-0``; empty for the timeline; None is the same page
        with other values in its query.
    :ivar at: the point to look at; None stays at the same. :ivar query: of the page, by name.
    :ivar look: the style of the link. :ivar hint: what it shows. :ivar place: in the page.
    :ivar key: opens it.
    """

    __slots__ = ("at", "hint", "key", "look", "path", "place", "query")
    path: str | None
    at: int | str | None
    query: dict[str, str | None]
    look: str
    hint: str
    place: str
    key: str

    def __new__(
        cls,
        text: str,
        path: str | None = "",
        *,
        at: int | str | None = None,
        look: str = "",
        hint: str = "",
        place: str = "",
        key: str = "",
        **query: str | None,
    ) -> Self:
        """Make words that lead to a page."""
        ref = super().__new__(cls, text)
        ref.path, ref.at, ref.query = path, at, query
        ref.look, ref.hint, ref.place, ref.key = look, hint, place, key
        return ref


class Marked(str):
    """Words that stand out on a page.

    :ivar look: how, as in ``bad``; ``code``, ``kbd`` and ``time`` are elements of HTML.
    :ivar place: what a link to this place of the page names.
    """

    __slots__ = ("look", "place")
    look: str
    place: str

    def __new__(cls, text: str, look: str = "", place: str = "") -> Self:
        """Make words that stand out."""
        marked = super().__new__(cls, text)
        marked.look, marked.place = look, place
        return marked


class Words(str):
    """Text with such words in it. :ivar parts: what it is made of, in order."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Self:
        """Join the parts."""
        words = super().__new__(cls, "".join(parts))
        words.parts = parts
        return words


def joined(some: Iterable[str], by: str = ", ") -> list[str]:
    """Return words with others between them."""
    words = [part for word in some for part in (by, word)]
    return words[1:]


def object_ref(name: str, text: str = "") -> Ref:
    """Return words that lead to an object, as in ``pod/ml/train-0``."""
    return Ref(text or name, name, look="ref")


def moment_ref(position: int) -> Ref:
    """Return a position that leads to its moment."""
    return Ref(f"@{position}", at=position, look="at")


def number_ref(name: str, number: str, text: str) -> Ref:
    """Return a number of an object, which leads to the events that make it."""
    hint = f"which events make {number}"
    return Ref(text, f"blame/{name}", look="num", hint=hint, number=number)


def here_ref(text: str, look: str = "", place: str = "", **query: str | None) -> Ref:
    """Return words that lead to the same page with other values in its query."""
    ref = Ref(text, None, look=look, place=place)
    ref.query = query
    return ref


def chip(text: str, *, chosen: bool, **query: str | None) -> Ref:
    """Return words that choose what a page shows. :param chosen: it shows that."""
    ref = here_ref(text, CHOSEN if chosen else "")
    ref.query = query
    return ref


class Sentence(msgspec.Struct, frozen=True):
    """One or more sentences.

    :param look: ``sentence`` for the answer itself; else how a page sets it off, as in ``blank``.
    """

    text: str
    look: str = ""


class TerminalLine(msgspec.Struct, frozen=True):
    """A line that only a terminal shows, in a colour. :param look: a method of :class:`Style`."""

    text: str
    look: str = "bold"


class CommandLine(msgspec.Struct, frozen=True):
    """A command that a person can copy. :param before: what a page says before it."""

    text: str
    before: str = ""


class ListedItem(msgspec.Struct, frozen=True):
    """A line of a list, and the tables below it.

    :param lead: why it stands out; a terminal shows a mark instead.
    :param folds: a page hides the tables under this title, until a person opens them.
    """

    text: str
    lead: str = ""
    tables: Sequence[Table] = ()
    folds: str = ""


class ItemList(msgspec.Struct, frozen=True):
    """A list.

    :param look: ``chain`` for reasons, one after the other; ``links`` for terms, which lead; else
        its style.
    """

    items: Sequence[ListedItem]
    look: str


class Folded(msgspec.Struct, frozen=True):
    """Blocks that a page hides until a person opens them, unless they are open."""

    title: str
    blocks: Sequence[Block]
    is_open: bool = False


class Drawn(msgspec.Struct, frozen=True):
    """A picture or a form of a page, as HTML; a terminal shows nothing of it."""

    html: Markup


Block: TypeAlias = "str | TerminalLine | Sentence | CommandLine | ItemList | Table | Folded | Drawn"
"""A text alone is a line that only a terminal shows."""


class Section(msgspec.Struct, frozen=True):
    """Blocks that belong together, with a blank line before the next one.

    :param title: a page shows it, and not the titles of tables below it. :param id: its place in a
        page. :param captions: the titles of tables are shown, as nothing else says what they are.
    """

    blocks: Sequence[Block]
    title: str = ""
    id: str = ""
    captions: bool = True


def first_rows(
    table: Table, most: int | None, advice: str = "-o json"
) -> tuple[Table, *tuple[str, ...]]:
    """Return the first rows of a table, and how to see the others. :param most: None is all."""
    more = len(table.rows) - len(table.rows[:most])
    return (table.first(most), f"({more} more: {advice})") if more else (table,)


def block_lines(parts: Iterable[Section], *, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines of sections, with a blank line between two of them."""
    for number, part in enumerate(parts):
        yield from "\n" * (number > 0)
        for block in part.blocks:
            yield from _lines(block, style)


def _lines(block: Block, style: Style) -> Iterator[str]:
    match block:
        case str():
            yield f"{block}\n"
        case TerminalLine(text, look):
            yield f"{getattr(style, look)(text)}\n"
        case Sentence(text, look):
            yield from paragraph(style.bold(text) if look == "sentence" else text, style)
        case CommandLine(text=text):
            yield f"  {text}{style.option}\n"
        case ItemList(items, look):
            yield from _list_lines(items, style, marks=look == "chain")
        case Table():
            yield from lines_of(block, style=style)
        case Folded(blocks=blocks):
            for inner in blocks:
                yield from _lines(inner, style)


def _list_lines(items: Iterable[ListedItem], style: Style, *, marks: bool) -> Iterator[str]:
    """Yield the lines of a list, and what is below each, indented."""
    for item in items:
        line = f"{_MARK if item.lead else _NO_MARK} {item.text}" if marks else item.text
        yield from paragraph(style.removed(line) if item.lead else line, style)
        for table in item.tables:
            yield "\n"
            yield from (f"   {line}" for line in lines_of(table, style=style.narrower(3)))
        yield from "\n" * bool(item.tables)
