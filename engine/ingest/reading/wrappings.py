"""Recognises what lines are wrapped in when they are pasted or exported, and removes it.

A log seldom arrives as it was written: with a prefix before each line (``kubectl logs --prefix``,
stern), quoted, indented, or as JSON of a container runtime or of a collector of logs. The first
lines show it. The formats then read plain lines; numbers of lines stay those of the input.

Any prefix before a header is found by its form (:mod:`.prefixes`), any field and any column by the
text of a log in it (:mod:`.log_records`, :mod:`.table_rows`).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from .compression import Source, moved
from .formats import Context
from .json_text import json_elements
from .log_records import LogRecords, is_log_record
from .prefixes import LINES_SEEN, Lines, name_of, pieces, prefix_in, without_prefix
from .table_rows import RowForm, Rows, form_of_rows, has_named_columns

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_QUOTED, _QUOTE = "the marks of a quotation", re.compile(rb"(?:> ?)+")
_FENCES, _FENCE = (b"```", b"~~~"), re.compile(rb"(?:```|~~~)[^`\n]*")
_COLOURS = "what colours the text in a terminal"
_ESCAPE = re.compile(
    rb"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\r\n]*(?:\x07|\x1b\\)?"
    rb"|[()][0-9A-Za-z]|[=>78cMDEH])"
)
"""What is meant for a terminal: colours, the place of the cursor, a title."""

_LOST_ESCAPE = re.compile(rb"\[[0-9][0-9;]{0,15}m")
"""A colour of which a page or a terminal swallowed the first byte."""

_COLOURED = re.compile(rb"(?m)^\x1b")

CLOUD_YAML = re.compile(rb"(?m)^[ -]*(?:textPayload|jsonPayload|logName|insertId):")
JOURNAL_FIELDS = re.compile(rb"(?m)^ *(?:_PID|_HOSTNAME|PRIORITY|SYSLOG_IDENTIFIER)=")
"""Records with a field a line: which lines are of the log is not plain."""

_ARRAY = re.compile(
    rb'\s*\[\s*\{(?:[^{}]{0,400}"apiVersion"\s*:\s*"audit\.k8s\.io/'
    rb'|\s*"type"\s*:\s*"(?:ADDED|MODIFIED|DELETED|BOOKMARK|ERROR)"'
    rb'|\s*"object"\s*:\s*\{[^\[]{0,400}"metadata"\s*:)'
)
"""An array of audit events, or of watch events."""

_JSON = re.compile(rb"\s*(?:\{|\[\s*[\[{\"]|\")")
_KUBERNETES = re.compile(
    rb'[\s\[]*\{\s*"(?:(?:apiVersion|kind|metadata|items|spec|object)"\s*:'
    rb'|type"\s*:\s*"[A-Z])'
)
"""How objects, lists, audit events and watch events begin; logs do not."""


class Wrapping(msgspec.Struct, frozen=True):
    """What lines are wrapped in.

    :param name: what is removed, in words: ``the prefix of stern``.
    :param lines: yields the plain lines of a stream, each with the number of its line there.
    :param numbered: plain lines have other numbers than those of the stream.
    """

    name: str
    lines: Lines
    numbered: bool = False


def wrapping_of(head: bytes) -> Wrapping | None:
    """Return what the lines of a document are wrapped in; None if they are plain.

    :param head: its first bytes.
    """
    # Colours come first, as they may be in all that follows. A binary file may have the byte too.
    if b"\x1b" in head and b"\0" not in head:
        return Wrapping(_COLOURS, _uncoloured)
    form = form_of_rows(head)
    if form is not None and form.headed:
        return _of_rows(form)
    if _JSON.match(head):
        return _of_json(head)
    return _of_a_page(head) or (_of_a_log(head) if form is None else _of_rows(form))


def hides_lines(head: bytes) -> bool:
    """Say whether something is around lines that look like plain ones.

    Some of them begin with a colour, or are the first column of a table.
    """
    return _COLOURED.search(head) is not None or has_named_columns(head)


def cut_begin() -> Wrapping:
    """Return the wrapping of a document whose first line lacks its begin: that is left out."""

    def lines(stream: BinaryIO, context: Context) -> Iterator[tuple[int, bytes]]:
        context.cut_begin = True
        context.skip("line that lacks its begin", line=1)
        for number, line, _ in pieces(stream):
            # An empty line stays in place of the first, so that lines keep their numbers.
            if number > 1 or line.endswith(b"\n"):
                yield number, line if number > 1 else b"\n"

    return Wrapping("line 1, which lacks its begin", lines)


class Unwrapped(Source):
    """A stream of the plain lines of another one."""

    def __init__(self, wrapping: Wrapping, stream: BinaryIO, context: Context) -> None:
        self._lines = wrapping.lines(stream, context)
        self._ready = memoryview(b"")
        self._numbers = array("q") if wrapping.numbered else None

    def readinto(self, target: WriteableBuffer) -> int:
        """Fill a buffer with at most one line; 0 at the end.

        :raises EventMalformed: the JSON around the lines is malformed.
        """
        while not self._ready:
            numbered = next(self._lines, None)
            if numbered is None:
                return 0
            number, line = numbered
            if self._numbers is not None:
                self._numbers.append(number)
            self._ready = memoryview(line)
        count, self._ready = moved(self._ready, target)
        return count

    def outer(self, line: int) -> int:
        """Return the line of the input in which a plain line is; 0 if it is not known."""
        if self._numbers is None:
            return line
        return self._numbers[line - 1] if 0 < line <= len(self._numbers) else 0


def _of_a_page(head: bytes) -> Wrapping | None:
    """Return what all lines of a document have, as if it were copied from a page."""
    lines = [line for line in head.split(b"\n", LINES_SEEN)[:LINES_SEEN] if line.strip()]
    if not lines:
        return None
    if lines[0].startswith(_FENCES):
        return Wrapping("the fences of a block of code", _without(_FENCE))
    if all(line.startswith(b">") for line in lines):
        return Wrapping(_QUOTED, _without(_QUOTE))
    shortest = min(len(line) - len(line.lstrip(b" \t")) for line in lines)
    return _indented(shortest) if shortest else None


def _indented(count: int) -> Wrapping:
    """Return the wrapping of lines after white space; what is indented further keeps the rest."""

    def lines(stream: BinaryIO, _context: Context) -> Iterator[tuple[int, bytes]]:
        for number, line, begins in pieces(stream):
            indented = begins and not line[:count].strip(b" \t")
            yield number, line[count:] if indented else line

    return Wrapping("the indentation", lines)


def _of_rows(form: RowForm) -> Wrapping:
    return Wrapping(form.name, Rows(form).lines, numbered=True)


def _of_a_log(head: bytes) -> Wrapping | None:
    prefix = prefix_in(head)
    if not prefix or CLOUD_YAML.search(head) or JOURNAL_FIELDS.search(head):
        return None
    if _LOST_ESCAPE.search(prefix):
        return Wrapping(_COLOURS, _without_lost_escapes)
    if not prefix.strip():
        return _indented(len(prefix))
    if _QUOTE.fullmatch(prefix):
        return Wrapping(_QUOTED, _without(_QUOTE))
    return Wrapping(name_of(prefix), without_prefix(prefix, head))


def _uncoloured(stream: BinaryIO, _context: Context) -> Iterator[tuple[int, bytes]]:
    for number, line, _ in pieces(stream):
        yield number, _ESCAPE.sub(b"", line)


def _without_lost_escapes(stream: BinaryIO, _context: Context) -> Iterator[tuple[int, bytes]]:
    for number, line, _ in pieces(stream):
        yield number, _LOST_ESCAPE.sub(b"", line)


def _without(pattern: re.Pattern[bytes]) -> Lines:
    def lines(stream: BinaryIO, _context: Context) -> Iterator[tuple[int, bytes]]:
        for number, line, begins in pieces(stream):
            match = pattern.match(line) if begins else None
            yield number, line[match.end() :] if match else line

    return lines


def _of_json(head: bytes) -> Wrapping | None:
    if _ARRAY.match(head):
        return Wrapping("the array around the records", _elements, numbered=True)
    if _KUBERNETES.match(head):
        return None
    if not is_log_record(head):
        return None
    return Wrapping("the JSON around the lines of a log", LogRecords(head).lines, numbered=True)


def _elements(stream: BinaryIO, context: Context) -> Iterator[tuple[int, bytes]]:
    """Yield each element of an array as a line; line breaks in it are white space."""
    for number, text in json_elements(stream, context):
        yield number, bytes(text).replace(b"\n", b" ") + b"\n"
