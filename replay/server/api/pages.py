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
    """A list of the answer that is not shown whole.

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


def bounded(value: Any, page: ListPageSize) -> tuple[Any, list[Cut]]:
    """Return a document with its long lists cut to a page, and which ones were cut.

    Lists that are not longer than a page are whole on every page.
    """
    cuts: list[Cut] = []
    return _bounded(value, page, (), cuts), cuts


def _bounded(value: Any, page: ListPageSize, path: tuple[str, ...], cuts: list[Cut]) -> Any:
    if not isinstance(value, list | dict):
        return value
    named: Iterable[tuple[Any, Any]] = (
        value.items() if isinstance(value, dict) else enumerate(value)
    )
    # An object with few fields is a record, of which all belong together.
    most = page.limit if isinstance(value, list) else max(page.limit, DEFAULT_LIMIT)
    if len(value) > most:
        shown = list(islice(named, page.offset, page.end))
        field = ".".join(path)
        cuts.append(Cut(field=field, first=page.offset, shown=len(shown), total=len(value)))
        named = shown
    members = {name: _bounded(member, page, (*path, str(name)), cuts) for name, member in named}
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
