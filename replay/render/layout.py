"""Which columns of a table a terminal shows, how wide, and where a cell goes on in the next line.

A word is never broken. Cells go on in the next line between words, and after the comma of a list; a
name that is too long is shortened in its middle, since names mostly differ at their ends. What does
not fit then is left out: columns that say nothing, and then the last ones first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

Long = Callable[[str, int], list[str]]
"""Returns the lines of a word that is longer than so many characters."""

NONE = "<none>"
"""The text of an empty cell."""

GAP = "   "
_GAPS = (3, 2)
"""How many spaces stand between columns; fewer if the terminal is narrow."""

_FEW = 3
"""Fewer columns than these are never shown one after the other."""

_SENTENCE = 24
"""Characters of a line at which a cell of several words still reads well."""

_SHORTENED = 24
"""Characters that a word of a column to be shortened keeps before a column is left out."""

_LEAST = 8
"""Characters that a shortened word keeps in any case."""

_END = re.compile(r"(?!(?<=\d),\d{3}(?!\d))[,;]+|(?= )|$")
"""Where text ends that is not broken if it can be helped: at a space, and after a comma."""

_JOINT = re.compile(r"[/=]+(?![\d/=])")
"""Where a long word may be broken: after ``/`` and ``=``, but not before a number."""

_NUMBER = re.compile(r"[@~<+-]?(?:rv:)?(?![0-9a-f]{8}-[0-9a-f]{4}-)[0-9][0-9A-Za-z:.+/%-]*[,;]?")
"""Text that is never shortened: a number with its unit, a position, a time; but not a uid."""


class Layout(msgspec.Struct, frozen=True):
    """How a table is laid out.

    :param places: which columns are shown. :param widths: how wide each of them is.
    :param whole: nothing is shortened; what is too long reaches into the next column.
    """

    places: Sequence[int]
    widths: Sequence[int]
    gap: str = GAP
    whole: bool = False

    def of(self, row: Sequence[str]) -> Sequence[str]:
        """Return the cells of a row that are shown."""
        return row if len(self.places) == len(row) else [row[place] for place in self.places]

    def holds(self, cells: Sequence[str]) -> bool:
        """Return whether each of the cells fits its column."""
        return all(len(cell) <= width for cell, width in zip(cells, self.widths, strict=True))


class _Column(msgspec.Struct, frozen=True):
    """The widths that a column can have, from the widest to the narrowest.

    :param full: of its longest cell. :param easy: so that it reads well.
    :param words: so that no word is broken. :param parts: so that words are only broken at a joint.
    :param named: with words shortened, but for those of the first column, which are names.
    :param least: with words shortened.
    """

    full: int
    easy: int
    words: int
    parts: int
    named: int
    least: int
    blank: bool


def laid_out(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    full: Sequence[int],
    room: int,
    *,
    keep: Collection[str] = (),
    shorten: Collection[str] = (),
) -> list[Layout]:
    """Return the layout of a table on a terminal, with the columns for which there is room.

    If there is none even for those that are kept, they are shown one after the other, as
    :func:`in_blocks` does.

    :param full: how wide each column is without a terminal. :param room: how wide the terminal is.
    :param keep: columns that are shown in any case, as is the first one if it says something.
    :param shorten: columns whose words are shortened before a column is left out.
    """
    columns = _columns(headers, rows, full, shorten)
    places = _chosen(columns, _least_first(headers, columns, keep), room)
    # From the widths that read best to those for which there is most often room.
    for measure in ("easy", "words", "parts", "named", "least"):
        layout = _fit(columns, places, room, measure)
        if layout is not None:
            return [layout]
    return _blocks(columns, places, room)


def in_blocks(
    headers: Sequence[str], rows: Sequence[Sequence[str]], full: Sequence[int], room: int
) -> list[Layout]:
    """Return layouts that show all columns of a table, one after the other if there are several.

    Each has the first column, and shortens nothing.
    """
    columns = _columns(headers, rows, full, ())
    whole = _whole(columns, list(range(len(headers))), room)
    return [whole] if whole is not None else _blocks(columns, range(len(headers)), room)


def _blocks(columns: Sequence[_Column], shown: Sequence[int], room: int) -> list[Layout]:
    """Return layouts that show columns one after the other, each time with the first one."""
    if len(shown) < _FEW:
        return [Layout(shown, [columns[place].full for place in shown], whole=True)]
    first, *rest = shown
    blocks: list[Layout] = []
    places = [first]
    for place in rest:
        wider = _fit(columns, [*places, place], room, "easy")
        if wider is None and len(places) > 1:
            blocks.append(_block(columns, places, room))
            places = [first]
        places = [*places, place]
    return [*blocks, _block(columns, places, room)]


def _whole(columns: Sequence[_Column], places: list[int], room: int) -> Layout | None:
    """Return a layout in which nothing is shortened; None if there is no room for one."""
    for measure in ("easy", "words", "parts"):
        layout = _fit(columns, places, room, measure)
        if layout is not None:
            return msgspec.structs.replace(layout, whole=True)
    return None


def _block(columns: Sequence[_Column], places: list[int], room: int) -> Layout:
    full = [columns[place].full for place in places]
    return _whole(columns, places, room) or Layout(places, full, whole=True)


def _columns(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    full: Sequence[int],
    shorten: Collection[str],
) -> list[_Column]:
    cells = zip(*rows, strict=True) if rows else ([] for _ in headers)
    return [
        _column(header, set(column), width, short=header in shorten, names=place == 0)
        for place, (header, column, width) in enumerate(zip(headers, cells, full, strict=True))
    ]


def _column(header: str, cells: Collection[str], full: int, *, short: bool, names: bool) -> _Column:
    words = {word for cell in cells for word in _words(cell)}
    longest = max(map(len, words), default=0)
    number = max((len(word) for word in words if _NUMBER.fullmatch(word)), default=0)
    parts = max((len(part) for word in words for part in _parts(word)), default=0)
    head_word = max(map(len, _words(header)), default=0)
    several = any(" " in cell for cell in cells)
    head = len(header) if len(header) <= _SENTENCE else head_word
    easy = max(head, longest, min(full, _SENTENCE) if several else 0)
    if short:
        easy = max(head, number, min(easy, _SHORTENED))
    whole = min(full, max(head_word, min(longest, easy)))
    least = min(full, max(head_word, number, min(parts, _LEAST)))
    return _Column(
        full=full,
        easy=min(full, easy),
        words=whole,
        parts=min(full, max(head_word, min(parts, easy))),
        named=whole if names else least,
        least=least,
        blank=all(cell in {"", NONE} for cell in cells),
    )


def _least_first(
    headers: Sequence[str], columns: Sequence[_Column], keep: Collection[str]
) -> list[int]:
    """Return which columns may be left out, the least important one first."""
    open_to = [
        place
        for place, header in enumerate(headers)
        # The first column names the row: it is left out only if it says nothing.
        if (place or (columns[0].blank and keep)) and header and header not in keep
    ]
    return sorted(open_to, key=lambda place: (not columns[place].blank, -place))


def _chosen(columns: Sequence[_Column], least_first: Sequence[int], room: int) -> list[int]:
    """Return the columns for which there is room: all, or without the least important ones."""
    places, left_out = list(range(len(columns))), []
    for place in least_first:
        if _fit(columns, places, room, "easy") is not None:
            break
        places.remove(place)
        left_out.append(place)
    for place in reversed(left_out):  # A wide column may have made room for a narrow one.
        more = sorted([*places, place])
        if not columns[place].blank and _fit(columns, more, room, "easy") is not None:
            places = more
    return places


def _fit(columns: Sequence[_Column], places: list[int], room: int, measure: str) -> Layout | None:
    """Return a layout in which no column is narrower than a measure; None if there is no room."""
    shown = [columns[place] for place in places]
    least = [getattr(column, measure) for column in shown]
    for gap in _GAPS:
        free = room - gap * (len(shown) - 1)
        if sum(least) <= free:
            return Layout(
                places, _shared(least, [column.full for column in shown], free), " " * gap
            )
    return None


def _shared(least: Sequence[int], full: Sequence[int], free: int) -> list[int]:
    """Return widths between the least and the full ones, so that the widest give up the most."""
    if sum(full) <= free:
        return [*full[:-1], free - sum(full[:-1])]  # Later rows may need more in the last one.
    cap = max(full)
    while True:
        widths = [max(low, min(cap, wide)) for low, wide in zip(least, full, strict=True)]
        if sum(widths) <= free:
            return widths
        cap -= 1


def pieces(text: str, width: int, *, long: Long | None = None) -> Iterator[str]:
    """Yield the lines of a text: no word is broken, and none is longer if that can be.

    :param long: what becomes of a word that is longer than a line; None shortens it.
    """
    if len(text) <= width:
        yield text
        return
    lines_of = _shortened if long is None else long
    line = ""
    for spaces, word in _spaced(text):
        if line and len(line) + len(spaces) + len(word) <= width:
            line += spaces + word
            continue
        if line:
            yield line
        *lines, line = [word] if len(word) <= width else lines_of(word, width)
        yield from lines
    yield line


def kept(word: str, _width: int) -> list[str]:
    """Leave a long word as it is: it is longer than the line, and can be copied."""
    return [word]


def broken(word: str, width: int) -> list[str]:
    """Part a long word after ``/`` and ``=``; the parts may still be too long."""
    lines = [""]
    for part in _parts(word):
        if len(lines[-1]) + len(part) <= width:
            lines[-1] += part
        else:
            lines.append(part)
    return [line for line in lines if line]


def _parts(word: str) -> Iterator[str]:
    """Yield the parts of a long word, which may be broken between them."""
    begin = 0
    for joint in _JOINT.finditer(word):
        if joint.start() > begin:
            yield word[begin : joint.end()]
            begin = joint.end()
    if begin < len(word):
        yield word[begin:]


def _shortened(word: str, width: int) -> list[str]:
    return [shortened_word(line, width) for line in broken(word, width)]


def shortened_word(word: str, width: int) -> str:
    """Return a word with an ellipsis in its middle, if it is longer than so many characters."""
    if len(word) <= width:
        return word
    tail = (width - 1) // 2
    return f"{word[: max(width, 1) - 1 - tail]}…{word[len(word) - tail :]}"


def _spaced(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a text, each with the spaces before it."""
    at = 0
    while at < len(text):
        begin = at
        while at < len(text) and text[at] == " ":
            at += 1
        match = _END.search(text, at)
        end = len(text) if match is None or match.end() == at else match.end()
        if end > at:
            yield text[begin:at], text[at:end]
        at = end


def _words(text: str) -> Iterator[str]:
    for _, word in _spaced(text):
        yield word
