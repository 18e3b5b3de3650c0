"""Bounds of answers: long lists in pages, and no answer larger than a number of bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from ....engine.errors import UsageError

DEFAULT_LIMIT, MOST_LIMIT = 200, 1_000
"""How many members of a list an answer has."""

MOST_BYTES = 4 << 20
"""The largest answer."""

CURSOR = r"([0-9]{1,18})-([0-9]{1,4})@([0-9]{1,18})"
_CURSOR = re.compile(CURSOR)


class AnswerTooLarge(UsageError):
    """An answer has more bytes than the server sends."""


class ListPageSize(NamedTuple):
    """A part of every list that is longer than a limit.

    :param offset: how many members come before it. :param known: the position of the log that the
        first page was read at; None on the first page.
    """

    limit: int = DEFAULT_LIMIT
    offset: int = 0
    known: int | None = None

    @property
    def end(self) -> int:
        """Return the offset of the next page."""
        return self.offset + self.limit

    def cursor(self, offset: int, known: int) -> str:
        """Return the cursor of a page.

        :param known: the position of the log that this page was read at.
        """
        return f"{offset}-{self.limit}@{known}"


class ListPart(NamedTuple):
    """A part of a list that is read page by page.

    :param document: the part. :param first: the index of its first member, and ``total``: the
        length of the list; None if members are not counted.
    :param next: the offset of the next page; None if there is none.
    """

    document: list[Any]
    first: int | None
    total: int | None
    next: int | None


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """A list of the answer that is not shown whole: the next page continues it.

    One inside of another that is cut begins on every page: a larger limit shows more of it.

    :param field: where it is in the result, as in ``sides.0.binds``; empty is the result itself.
    :param first: the index of its first member that is shown, and ``total``: its length; null if
        members are not counted.
    """

    field: str
    first: int | None
    shown: int
    total: int | None


def page_of(limit: int | None, cursor: str | None) -> ListPageSize:
    """Return the page that a request asks for.

    :raises UsageError: the cursor is not one of this server.
    """
    if cursor is None:
        return ListPageSize(limit or DEFAULT_LIMIT)
    match = _CURSOR.fullmatch(cursor)
    if match is None or not 1 <= int(match[2]) <= MOST_LIMIT:
        raise UsageError(f"{cursor!r} is not a cursor", now="give the field next of an answer")
    return ListPageSize(int(match[2]), int(match[1]), int(match[3]))


def bounded(value: Any, page: ListPageSize) -> tuple[Any, list[Cut], int]:
    """Return a document with its long lists cut to a page, which ones, and the longest's length.

    Lists that are not longer than a page are whole on every page. Those inside of a list that is
    cut begin on every page, and do not count as the longest: the rest of them is on no page.
    """
    cuts: list[tuple[Cut, bool]] = []
    found = _bounded(value, page, (), cuts, inside=False)
    longest = max((cut.total or 0 for cut, inside in cuts if not inside), default=0)
    return found, [cut for cut, _ in cuts], longest


def _bounded(
    value: Any,
    page: ListPageSize,
    path: tuple[str, ...],
    cuts: list[tuple[Cut, bool]],
    *,
    inside: bool,
) -> Any:
    """Return a part of a document, cut.

    :param cuts: gets what was cut, and whether it is inside of another that was.
    """
    if not isinstance(value, list | dict):
        return value
    named: Iterable[tuple[Any, Any]] = (
        value.items() if isinstance(value, dict) else enumerate(value)
    )
    # An object with few fields is a record, of which all belong together.
    most = page.limit if isinstance(value, list) else max(page.limit, DEFAULT_LIMIT)
    is_cut = len(value) > most
    if is_cut:
        first = 0 if inside else page.offset
        named = shown = list(islice(named, first, first + page.limit))
        cut = Cut(field=".".join(path), first=first, shown=len(shown), total=len(value))
        cuts.append((cut, inside))
    members = {
        name: _bounded(member, page, (*path, str(name)), cuts, inside=inside or is_cut)
        for name, member in named
    }
    return members if isinstance(value, dict) else list(members.values())


def check_size(encoded: bytes, most: int = MOST_BYTES) -> None:
    """Refuse an answer that is too large.

    :raises AnswerTooLarge: it is.
    """
    if len(encoded) > most:
        raise AnswerTooLarge(
            f"the answer has {len(encoded)} bytes, and at most {most} are sent",
            now="narrow the question: a smaller limit, a namespace, a kind or a name",
        )
