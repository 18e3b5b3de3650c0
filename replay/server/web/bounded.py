"""Long lists in pages: at most 200 rows at a time, and where the next ones are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec

from .look import Look

MOST_ROWS = 200
"""Rows that one page shows of a list."""

_NUMBER = re.compile(r"[0-9]{1,9}")

T = TypeVar("T")


class Some(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """Some rows of a list.

    :param skip: how many rows are before them. :param total: how many there are in all.
    """

    rows: tuple[T, ...]
    skip: int
    total: int

    @property
    def end(self) -> int:
        """The number of the last row."""
        return self.skip + len(self.rows)

    @property
    def previous(self) -> int | None:
        """What to skip for the rows before; None if there are none."""
        return max(0, self.skip - MOST_ROWS) if self.skip else None

    @property
    def next(self) -> int | None:
        """What to skip for the rows after; None if there are none."""
        return self.end if self.end < self.total else None


def some(rows: Sequence[T], skip: int) -> Some[T]:
    """Return the rows of a list after the first ones.

    :param skip: how many are left out; beyond the end, the last rows are shown.
    """
    begin = skip if skip < len(rows) else max(0, len(rows) - MOST_ROWS)
    return Some(rows=tuple(rows[begin : begin + MOST_ROWS]), skip=begin, total=len(rows))


def number(look: Look, name: str, usual: int = 0) -> int:
    """Return a whole number of the query; another one if it is none."""
    text = look.get(name)
    return int(text) if _NUMBER.fullmatch(text) else usual
