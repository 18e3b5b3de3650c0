"""Lines and JSON documents of a binary stream, numbered, with a bound on the size of one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from .formats import Context

MAX_LINE = 64 * 2**20
"""Bytes; the longest line seen is 4 MB (an audited list of all pods of a busy cluster)."""

MAX_LINES = 2_000_000
"""The most lines of one indented document."""

_PIECE = 2**20

_OPENING, _CLOSING = re.compile(rb"\{\s*"), re.compile(rb"\}\s*")


def numbered_lines(
    stream: BinaryIO, context: Context, *, limit: int = MAX_LINE, after: int = 0
) -> Iterator[tuple[int, bytes]]:
    """Yield (1-based number, line with its newline if it has one); blank lines are left out.

    :param after: how many lines were read before.
    :raises EventMalformed: a line is longer than ``limit`` (through ``context.reject``).
    """
    number = after
    while line := stream.readline(limit + 1):
        number += 1
        # A line of just the limit has its newline as one byte more.
        if len(line) > limit and line[-1:] != b"\n":
            _reject_long(context, number, limit)
            while line and line[-1:] != b"\n":
                line = stream.readline(_PIECE)
        elif not line.isspace():
            yield number, line


def _reject_long(context: Context, line: int, limit: int, what: str = "a line") -> None:
    context.reject(
        f"{what} of more than {limit // 2**20} MiB",
        line=line,
        now="check that this is text in lines, or skip it with --skip-malformed",
    )


def json_documents(
    stream: BinaryIO, context: Context, *, limit: int = MAX_LINE
) -> Iterator[tuple[int, bytes]]:
    """Yield (first line, text) of JSON documents: one per line, or indented.

    An indented one begins with a line that is an opening brace and ends with one that is a closing
    brace, as all common tools print them. A text that was cut off ends without a newline.

    :raises EventMalformed: a line is too long (through ``context.reject``).
    """
    start, begun = 0, bytearray()
    for number, line in numbered_lines(stream, context, limit=limit):
        if begun:
            begun += line
            if _CLOSING.fullmatch(line):
                yield start, bytes(begun)
                begun = bytearray()
            elif len(begun) > limit or number - start > MAX_LINES:
                begun = bytearray()
                _reject_long(context, start, limit, "a document")
        elif _OPENING.fullmatch(line):
            start, begun = number, bytearray(line)
        else:
            yield number, line
    if begun:
        # Callers see by the missing newline that it is cut off.
        yield start, bytes(begun).rstrip()
