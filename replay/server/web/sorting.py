"""Tables with further pages are sorted by the server, as a browser has only some of their rows.

A table that a page shows whole is sorted in the browser, by ``tables.js``, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from ....engine.kubernetes.units import SECOND_US, parse_duration
from ...render.blocks import here_ref
from ...render.tables import NONE
from .bounded import MOST_ROWS
from .look import Look

DOWN = "-"
"""Before the name of a column: from the greatest to the least."""

SORTS, SORTED_UP, SORTED_DOWN = "sort", "sort up", "sort down"
"""Styles of the heads of columns."""

_NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(m|k|Ki|Mi|Gi|Ti|Pi)?%?(?=$|[ ,/])")
_LASTS = re.compile(
    r"[0-9]{1,9}[dhms](?:[0-9]{1,9}[hms])?(?:[0-9]{1,9}[ms])?(?:[0-9]{1,9}s)?(?![0-9a-z])"
)
_DIGITS = re.compile(r"([0-9]+)")
_BEFORE = "@≥>~< "
"""Signs before a number."""

_DURATIONS = ("AGE", "LASTS", "SINCE", "FOR")
"""Heads of columns in which ``5m`` is five minutes, and no five thousandths."""

_UNITS: Mapping[str, float] = MappingProxyType(
    {"m": 1e-3, "k": 1e3, **{unit: 2.0 ** (10 * (n + 1)) for n, unit in enumerate("KMGTP")}}
)

T = TypeVar("T")

Columns = Mapping[str, Callable[[T], str]]
"""By the head of a column, what its cell says of a row."""


class Sorting(NamedTuple):
    """How a table is sorted. :param name: in the query. :param column: empty as the rows come."""

    name: str
    column: str
    down: bool


def sorting_of(look: Look, pages: str) -> Sorting:
    """Return how a table is sorted. :param pages: the name in the query of its further pages."""
    name = "sort" if pages == "skip" else f"sort_{pages}"
    wanted = look.get(name)
    return Sorting(name, wanted.removeprefix(DOWN), wanted.startswith(DOWN))


def sorted_rows(rows: Sequence[T], columns: Columns[T], by: Sorting) -> Sequence[T]:
    """Return the rows in the order of a column; those whose cell is empty are last."""
    cell = columns.get(by.column)
    if cell is None:
        return rows
    lasts = any(word in by.column for word in _DURATIONS)
    cells = [(cell(row), row) for row in rows]
    keyed = [(_key(text, lasts=lasts), row) for text, row in cells if text not in _EMPTY]
    keyed.sort(key=lambda pair: pair[0], reverse=by.down)
    return [*(row for _, row in keyed), *(row for text, row in cells if text in _EMPTY)]


_EMPTY = frozenset({"", NONE})


def _key(text: str, *, lasts: bool) -> tuple[int, float, Sequence[int | str]]:
    bare = text.lstrip(_BEFORE)
    if lasts and (lasting := _LASTS.match(bare)):
        return 0, parse_duration(lasting[0]) / SECOND_US, ()
    if number := _NUMBER.match(bare):
        return 0, float(number[1]) * _UNITS.get((number[2] or "").removesuffix("i"), 1.0), ()
    # Texts are compared with the numbers in them: n2 is before n10.
    parts = _DIGITS.split(text.casefold())
    return 1, 0.0, [int(part) if odd % 2 else part for odd, part in enumerate(parts)]


def sort_heads(
    look: Look,
    columns: Iterable[str],
    pages: str,
    total: int,
    texts: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Return the heads of columns; of a table with further pages, links that sort by them.

    :param total: how many rows the table has. :param texts: of heads that are not the column.
    """
    by, linked = sorting_of(look, pages), []
    for column in columns:
        text, is_this = texts.get(column, column), column == by.column
        if total <= MOST_ROWS and not by.column:
            linked.append(text)
            continue
        style = (SORTED_DOWN if by.down else SORTED_UP) if is_this else SORTS
        wanted = f"{DOWN}{column}" if is_this and not by.down else column
        head = here_ref(text, style)
        head.query = {by.name: wanted, pages: None}
        linked.append(head)
    return linked


def no_such_column(columns: Columns[T], by: Sorting) -> str:
    """Return that no column has the name by which a table is sorted; empty if one has."""
    if not by.column or by.column in columns:
        return ""
    return f"There is no column {by.column} to sort by; there is {', '.join(columns)}."
