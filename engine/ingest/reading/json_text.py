"""JSON documents one after the other, in any layout; the last may be cut off.

The parser finds the end of each document, so white space and indentation do not matter, and memory
is bounded by the largest document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from ...errors import EventMalformed, InputTruncated
from ...events import canonical_json
from ...nesting import TOO_DEEP
from .formats import Context

MAX_DOCUMENT = 256 * 2**20
"""Bytes. A list of 50,000 pods takes about 200 MB, and is in memory once while it is read."""

DECODE_FAULTS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding JSON raises; :func:`fault_of` has the words."""

_PIECE = 2**20
_SPAN = msgspec.json.Decoder(msgspec.Raw).decode
_DECODE = msgspec.json.Decoder().decode
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_AT_BYTE = re.compile(r"(?:JSON is malformed: )?(.*?) \(byte (\d+)\)")
_BETWEEN = re.compile(rb"[\s,]*")
_SPACE = re.compile(rb"\s*")
_AROUND_ELEMENTS = re.compile(rb"[\s\[\],]*")
_TRUNCATED = "Input data was truncated"
_NOT_UTF8 = "Invalid UTF-8 encoded string"
_ENDS_IN_SURROGATE = re.compile(rb'\\u[dD][89abAB][0-9a-fA-F]{2}"[\s\]}]*$')
_TAIL = 64
_NO_SECOND_HALF = re.compile("utf-16 surrogate pair|unexpected end of hex escape")

LONE_SURROGATE = "a lone surrogate: half of a character, which JSON cannot carry"
"""What is wrong with a text that has only the first of two escapes for one character."""


def json_documents(
    stream: BinaryIO,
    context: Context,
    *,
    head: bytes = b"",
    cut_is_normal: bool = False,
    limit: int = MAX_DOCUMENT,
) -> Iterator[tuple[int, bytes | bytearray]]:
    """Yield (line on which it begins, text) of each JSON value; each is well formed.

    :param head: bytes of the stream that were read before.
    :param cut_is_normal: leave a note if the last document is cut off, instead of raising.
    :raises EventMalformed: a text is not JSON, or too long (through ``context.reject``).
    :raises InputTruncated: the last document is cut off (counted with ``skip_malformed``).
    """
    splitter = _Splitter(stream, context, head, limit)
    while (document := splitter.next(cut_is_normal=cut_is_normal)) is not None:
        yield document


def json_elements(
    stream: BinaryIO, context: Context, *, head: bytes = b"", limit: int = MAX_DOCUMENT
) -> Iterator[tuple[int, bytes | bytearray]]:
    """Yield (line on which it begins, text) of each object in a JSON array; each is well formed.

    They are read one by one, so an array may be larger than memory.

    :param head: bytes of the stream that were read before.
    :raises EventMalformed: a text is not JSON, or too long (through ``context.reject``).
    :raises InputTruncated: the array is cut off (counted with ``skip_malformed``).
    """
    splitter = _Splitter(stream, context, head, limit, between=_AROUND_ELEMENTS)
    while (document := splitter.next(cut_is_normal=False)) is not None:
        yield document
    if splitter.passed != b"]" and not splitter.was_cut:
        report_cut("the array ends in the middle", context, splitter.line)


class _Splitter:
    """A window on a stream that moves from document to document.

    :param between: what may stand between documents.
    :ivar passed: around the elements of an array: the last character that is no white space.
    :ivar was_cut: the last document is cut off.
    """

    def __init__(
        self,
        stream: BinaryIO,
        context: Context,
        head: bytes,
        limit: int,
        *,
        between: re.Pattern[bytes] = _SPACE,
    ) -> None:
        self._stream = stream
        self._between = between
        self.passed = b""
        self.was_cut = False
        self._context = context
        self._limit = limit
        self._buffer = bytearray(head)
        self._start = 0
        self._line = 1
        self._ended = False

    def next(self, *, cut_is_normal: bool) -> tuple[int, bytes | bytearray] | None:
        """Return the next document and the line on which it begins; None at the end."""
        while self._skip_space():
            try:
                _SPAN(memoryview(self._buffer)[self._start :])
            except msgspec.DecodeError as fault:
                # The decoder says where a value ends only by its fault with what follows.
                trailing = _TRAILING.search(str(fault))
                if trailing is not None:
                    return self._take(int(trailing[1]) - 1)
                if str(fault) != _TRUNCATED:
                    self._reject(str(fault))
                elif self._ended and ends_in_lone_surrogate(self._buffer):
                    self._reject(LONE_SURROGATE)
                elif self._ended:
                    self._report_cut(cut_is_normal=cut_is_normal)
                    return None
                else:
                    self._grow()
            except RecursionError:
                self._reject(TOO_DEEP)
            else:
                # Nothing follows so far; more may come, but this document is complete.
                return self._take(len(self._buffer) - self._start)
        return None

    def _skip_space(self) -> bool:
        """Move to where the next document begins; False at the end of the stream."""
        while True:
            space = self._between.match(self._buffer, self._start)
            end = space.end() if space else self._start
            if space and self._between is _AROUND_ELEMENTS:
                self.passed = space[0].strip()[-1:] or self.passed
            self._move(end)
            if end < len(self._buffer):
                return True
            if not self._read():
                return False

    def _move(self, end: int) -> None:
        self._line += self._buffer.count(b"\n", self._start, end)
        self._start = end
        if end == len(self._buffer):
            self._buffer, self._start = bytearray(), 0
        # Only now and then: it moves all bytes that follow.
        elif end > _PIECE:
            del self._buffer[:end]
            self._start = 0

    def _read(self) -> bool:
        piece = b"" if self._ended else self._stream.read(_PIECE)
        self._ended = not piece
        self._buffer += piece
        return bool(piece)

    def _grow(self) -> None:
        """Read as much again: so a long document is parsed only a few times."""
        have = len(self._buffer) - self._start
        if have > self._limit:
            self._reject(
                f"a document of more than {self._limit // 2**20} MiB",
                now="fetch it in parts (kubectl get --raw '...?limit=500', or one namespace each)",
            )
            return
        while len(self._buffer) - self._start < min(2 * have, self._limit + 1) and self._read():
            pass

    def _take(self, length: int) -> tuple[int, bytes | bytearray]:
        line, end = self._line, self._start + length
        text: bytes | bytearray
        if length > _PIECE or (not self._start and end == len(self._buffer)):
            text = self._buffer  # Not copied: a list can be large.
            self._line += text.count(b"\n", self._start, end)
            self._buffer = text[end:]
            del text[end:]
            del text[: self._start]
            self._start = 0
        else:
            text = bytes(memoryview(self._buffer)[self._start : end])
            self._move(end)
        return line, text

    def _reject(self, fault: str, *, now: str = "") -> None:
        what, offset = fault, 0
        at = _AT_BYTE.fullmatch(fault)
        if at is not None:
            what, offset = _not_json(at[1]), int(at[2])
        line = self._line + self._buffer.count(b"\n", self._start, self._start + offset)
        self._context.reject(what, line=line, now=now)
        # One byte on at least, or a fault at the first byte would come again.
        self._move(min(self._start + max(offset, 1), len(self._buffer)))
        self._resume()

    def _resume(self) -> None:
        """Move to the next line that begins with a brace: there a document may begin."""
        while (place := self._buffer.find(b"\n{", self._start)) < 0:
            # The last byte may be the newline whose brace comes with the next piece.
            self._move(max(len(self._buffer) - 1, self._start))
            if not self._read():
                self._move(len(self._buffer))
                return
        self._move(place + 1)

    @property
    def line(self) -> int:
        """The line that is reached."""
        return self._line

    def _report_cut(self, *, cut_is_normal: bool) -> None:
        self.was_cut = True
        self._buffer, self._start = bytearray(), 0
        if cut_is_normal:
            self._context.notes.append(
                f"the document that begins on line {self._line} is cut off, as the recording ended;"
                " what came before it is kept"
            )
        else:
            whole = "all of the document that begins on this line"
            report_cut("the document ends in the middle", self._context, self._line, whole)


def array_items(text: bytes | bytearray | msgspec.Raw) -> Iterator[bytes]:
    """Yield the texts of the values in a JSON array; none of ``null``, or if there is no text.

    They are found one by one, because all of them may not fit in memory.

    :param text: valid JSON. :raises msgspec.ValidationError: it is another value.
    """
    view = memoryview(text)
    space = _SPACE.match(view)
    place = space.end() if space else 0
    begin = bytes(view[place : place + 1])
    if begin != b"[":
        if begin in {b"", b"n"}:
            return
        raise msgspec.ValidationError("Expected `array` - at `$.items`")
    place += 1
    while True:
        between = _BETWEEN.match(view, place)
        place = between.end() if between else place
        if bytes(view[place : place + 1]) == b"]":
            return
        length = _length(view[place:])
        yield bytes(view[place : place + length])
        place += length


def _length(view: memoryview) -> int:
    """Return how long the first of several JSON values is."""
    try:
        _SPAN(view)
    except msgspec.DecodeError as fault:
        trailing = _TRAILING.search(str(fault))
        if trailing is not None:
            return int(trailing[1]) - 1
        raise
    return len(view)


def report_cut(what: str, context: Context, line: int, left_out: str = "its rest") -> None:
    """Raise for an input that ends too early, or count it if malformed records are skipped.

    :param left_out: what is skipped then.

    :raises InputTruncated: unless ``skip_malformed``.
    """
    try:
        context.reject(what, line=line)
    except EventMalformed as fault:
        raise InputTruncated(
            what,
            where=fault.where,
            now=f"fetch the input again, or leave out {left_out} with --skip-malformed",
        ) from None


def ends_in_lone_surrogate(text: bytes | bytearray) -> bool:
    """Return whether the last text in a JSON value ends with a lone surrogate.

    The decoder then says that the value is cut off: it looks for the other half behind the end.
    """
    return _ENDS_IN_SURROGATE.search(text[-_TAIL:]) is not None


def fault_of(fault: Exception) -> tuple[str, str]:
    """Return why JSON could not be decoded: what is wrong, and the JSON path or an empty text."""
    if isinstance(fault, RecursionError):
        return TOO_DEEP, ""
    if isinstance(fault, UnicodeDecodeError):
        return f"not UTF-8: {fault.reason} (byte 0x{fault.object[fault.start]:02x})", ""
    what, _, path = str(fault).partition(" - at `")
    if isinstance(fault, msgspec.ValidationError):
        return what, path.rstrip("`")
    return _not_json(what.removeprefix("JSON is malformed: ")), ""


def _not_json(what: str) -> str:
    """Return what is wrong with a text, by the words of the decoder."""
    if what == _NOT_UTF8:
        return "not UTF-8"
    return LONE_SURROGATE if _NO_SECOND_HALF.search(what) else f"not JSON: {what}"


def repeated_key(text: bytes, canonical: bytes, *, quotes: int = 0) -> str | None:
    """Return a key that occurs twice in one object of ``text``, if there is one.

    Decoders use the last without an error, so a file that was edited by hand can contradict itself.
    The text is searched only if it has more quotes than its canonical form, so this costs little.

    :param canonical: the decoded ``text``, encoded again.
    :param quotes: how many more quotes ``text`` is known to have.
    """
    count = text.count(b'"')
    if count == canonical.count(b'"') + quotes:
        return None
    # The canonical form may have fields that were filled in, so the text decides by itself.
    if count == canonical_json(_DECODE(text)).count(b'"'):
        return None
    repeated: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        keys: set[str] = set()
        for key, _ in pairs:
            if key in keys:
                repeated.append(key)
            keys.add(key)

    json.loads(text, object_pairs_hook=look)
    return repeated[0] if repeated else None
