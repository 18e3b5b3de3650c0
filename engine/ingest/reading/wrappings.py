"""Recognises what lines are wrapped in when they are pasted or exported, and removes it.

A log seldom arrives as it was written: with a prefix before each line (``kubectl logs --prefix``,
stern), quoted, indented, or as JSON of a container runtime or of a collector of logs. The first
lines show it. The formats then read plain lines; numbers of lines stay those of the input.

Adding one: a pattern in :data:`_PREFIXES`, or a key in :mod:`.log_records`.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec

from .compression import Source, moved
from .formats import Context
from .json_text import json_elements
from .klog import STAMP
from .log_records import FIRST_OF_A_LOG, LogRecords, has_one_a_line, is_log_record

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LINES_SEEN = 200
_MAX_PREFIX = 400
"""Bytes before the text of a log; a pod's name has up to 253."""

_LINE = 2**20
"""Bytes of a line that are read at a time; a prefix is removed at its begin only."""

_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_QUOTED, _QUOTE = "the marks of a quotation", re.compile(rb"(?:> ?)+")
_FENCES, _FENCE = (b"```", b"~~~"), re.compile(rb"(?:```|~~~)[^`\n]*")
_PREFIXES: Final = (
    ("the prefix of kubectl logs --prefix", re.compile(rb"\[pod/[^\]\s]+\] ")),
    (_QUOTED, _QUOTE),
    ("the prefix of docker compose", re.compile(rb"[\w.-]+ *\| ")),
    (
        "the prefix of syslog or journalctl",
        re.compile(rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s\[:]+(?:\[\d+\])?: "),
    ),
)
"""What stands before each line, by name; the whole of it."""

_WORDS = re.compile(rb"[\w./-]+")
_STERN = "the prefix of stern"
_STERN_WORDS = (2, 3)
"""A pod and its container; before them a namespace, if there are several."""

_ARRAY = re.compile(
    rb'\s*\[\s*\{(?:[^{}]{0,400}"apiVersion"\s*:\s*"audit\.k8s\.io/'
    rb'|\s*"type"\s*:\s*"(?:ADDED|MODIFIED|DELETED|BOOKMARK|ERROR)"'
    rb'|\s*"object"\s*:\s*\{[^\[]{0,400}"metadata"\s*:)'
)
"""An array of audit events, or of watch events."""

_JSON = re.compile(rb"\s*(?:\{|\[\s*[\[{])")
_KUBERNETES = re.compile(rb'[\s\[]*\{\s*"(?:apiVersion|kind|metadata|items|spec|type|object)"\s*:')
"""How objects, lists, audit events and watch events begin; logs do not."""


class Wrapping(msgspec.Struct, frozen=True):
    """What lines are wrapped in.

    :param name: what is removed, in words: ``the prefix of stern``.
    :param lines: yields the plain lines of a stream, each with the number of its line there.
    :param numbered: plain lines have other numbers than those of the stream.
    """

    name: str
    lines: Callable[[BinaryIO, Context], Iterator[tuple[int, bytes]]]
    numbered: bool = False


def wrapping_of(head: bytes) -> Wrapping | None:
    """Return what the lines of a document are wrapped in; None if they are plain.

    :param head: its first bytes.
    """
    return _of_json(head) if _JSON.match(head) else _of_lines(head)


def cut_begin() -> Wrapping:
    """Return the wrapping of a document whose first line lacks its begin: that is left out."""

    def lines(stream: BinaryIO, context: Context) -> Iterator[tuple[int, bytes]]:
        context.cut_begin = True
        context.skip("line that lacks its begin", line=1)
        for number, line in _pieces(stream):
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
            found = next(self._lines, None)
            if found is None:
                return 0
            number, line = found
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


def _pieces(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers; a very long one in pieces, which have its number."""
    number, begins = 0, True
    while piece := stream.readline(_LINE):
        number += begins
        begins = piece.endswith(b"\n")
        yield number, piece


def _of_lines(head: bytes) -> Wrapping | None:
    return _of_a_page(head) or _of_a_log(head)


def _of_a_page(head: bytes) -> Wrapping | None:
    """Return what all lines of a document have, as if it were copied from a page."""
    lines = [line for line in head.split(b"\n", _LINES_SEEN)[:_LINES_SEEN] if line.strip()]
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
        last = 0
        for number, line in _pieces(stream):
            indented = number != last and not line[:count].strip(b" \t")
            yield number, line[count:] if indented else line
            last = number

    return Wrapping("the indentation", lines)


def _of_a_log(head: bytes) -> Wrapping | None:
    for line in head.split(b"\n", _LINES_SEEN)[:_LINES_SEEN]:
        plain = _COLOUR.sub(b"", line[: 2 * _MAX_PREFIX])
        found = FIRST_OF_A_LOG.search(plain, 0, _MAX_PREFIX)
        if found is None:
            continue
        prefix = plain[: found.start()]
        return None if not prefix or STAMP.fullmatch(prefix) else _before(prefix)
    return None


def _before(prefix: bytes) -> Wrapping | None:
    """Return the wrapping of lines of which one begins with a prefix."""
    if not prefix.strip():
        return _indented(len(prefix))
    for name, pattern in _PREFIXES:
        if pattern.fullmatch(prefix):
            return Wrapping(name, _without(pattern))
    words = prefix.split(b" ")
    if len(words) - 1 in _STERN_WORDS and not words[-1] and all(map(_WORDS.fullmatch, words[:-1])):
        return Wrapping(_STERN, _without_words(len(words) - 1))
    return None


def _without(
    pattern: re.Pattern[bytes],
) -> Callable[[BinaryIO, Context], Iterator[tuple[int, bytes]]]:
    def lines(stream: BinaryIO, _context: Context) -> Iterator[tuple[int, bytes]]:
        last = 0
        for number, line in _pieces(stream):
            plain = _COLOUR.sub(b"", line)
            found = pattern.match(plain) if number != last else None
            yield number, plain[found.end() :] if found else plain
            last = number

    return lines


def _without_words(count: int) -> Callable[[BinaryIO, Context], Iterator[tuple[int, bytes]]]:
    def lines(stream: BinaryIO, _context: Context) -> Iterator[tuple[int, bytes]]:
        last = 0
        for number, line in _pieces(stream):
            plain = _COLOUR.sub(b"", line)
            words = plain.split(b" ", count) if number != last else [plain]
            yield number, words[-1] if len(words) == count + 1 else plain
            last = number

    return lines


def _of_json(head: bytes) -> Wrapping | None:
    if _ARRAY.match(head):
        return Wrapping("the array around the records", _elements, numbered=True)
    if _KUBERNETES.match(head):
        return None
    if not is_log_record(head):
        return None
    records = LogRecords(in_lines=has_one_a_line(head))
    return Wrapping("the JSON around the lines of a log", records.lines, numbered=True)


def _elements(stream: BinaryIO, context: Context) -> Iterator[tuple[int, bytes]]:
    """Yield each element of an array as a line; line breaks in it are white space."""
    for number, text in json_elements(stream, context):
        yield number, bytes(text).replace(b"\n", b" ") + b"\n"
