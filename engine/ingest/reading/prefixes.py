"""What stands before each line of a log that was printed, searched or copied.

A header of klog is so distinctive that it shows where the line begins. What is before it has a
form, such as two words and a space, and lines without a header, as those of a stack, have it too.
A time with its year before a header is kept, as ``kubectl logs --timestamps`` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import BinaryIO, Final, NamedTuple

from .formats import Context
from .klog import HEADER, STAMP, TIME
from .log_lines import FIRST_OF_A_LOG, stamped

LINES_SEEN = 200
MAX_PREFIX = 400
"""Bytes before the text of a log; a pod's name has up to 253."""

_LINE = 2**20
"""Bytes of a line that are read at a time; a prefix is removed at its begin only."""

Lines = Callable[[BinaryIO, Context], Iterator[tuple[int, bytes]]]
"""Yields the plain lines of a stream, each with the number of its line there."""

_NAMED: Final = (
    ("the prefix of kubectl logs --prefix", re.compile(rb"\[pod/[^\]\s]+\] ")),
    ("the prefix of docker compose", re.compile(rb"[\w.-]+ *\| ")),
    (
        "the prefix of syslog or journalctl",
        re.compile(rb"[A-Z][a-z]{2} [ \d]\d [\d:.]{8,15} \S+ [^\s\[:]+(?:\[\d+\])?: "),
    ),
    (
        "the prefix of syslog or journalctl",
        re.compile(rb"\d{4}-[\dT:.+Z-]+ \S+ [^\s\[:]+\[\d+\]: "),
    ),
    ("the numbers of the lines", re.compile(rb" *\d+(?:[:-]|[ \t]+)")),
    ("the prefix of stern", re.compile(rb"[\w./-]+ [\w./-]+ (?:[\w./-]+ )?")),
)
"""Names for what stands before each line; the whole of it."""

_RUNS: Final = (
    ("word", b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-"),
    ("space", b" \t"),
)
"""Parts of a prefix of which the length differs, with their bytes."""

_CLOSED_BY: Final = MappingProxyType({0x22: b'"', 0x28: b")", 0x5B: b"]", 0x7B: b"}"})
_YEAR = re.compile(rb"(?<!\d)(\d{4})-(\d\d)-\d\d[T ]\d\d:\d\d:\d\d")
_SHOWN = 40
_ENDS = (b":", b"-")
_NUMBERED, _UNNUMBERED = re.compile(rb"[:-]?\d+[:-]"), re.compile(rb"[:-]")
_HEADED = re.compile(rb"(?:" + TIME + rb" )?" + HEADER.pattern)
_JSON = re.compile(rb'\{"')


def pieces(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Yield lines with their numbers, a very long one in pieces; and whether a line begins."""
    number, begins = 0, True
    while piece := stream.readline(_LINE):
        number += begins
        yield number, piece, begins
        begins = piece.endswith(b"\n")


def prefix_in(head: bytes) -> bytes:
    """Return what stands before the first line of a log that a text has; empty if nothing does."""
    for line in head.split(b"\n", LINES_SEEN)[:LINES_SEEN]:
        match = FIRST_OF_A_LOG.search(line, 0, MAX_PREFIX)
        if match is None:
            continue
        prefix = line[: match.start()]
        # JSON around the text is a wrapping too, and is removed after the prefix.
        inner = _JSON.search(prefix)
        prefix = prefix if inner is None else prefix[: inner.start()]
        return b"" if STAMP.fullmatch(prefix) else prefix
    return b""


def name_of(prefix: bytes) -> str:
    """Return what a prefix is called, in words."""
    for name, pattern in _NAMED:
        if pattern.fullmatch(prefix):
            return name
    shown = prefix.decode(errors="replace").strip()
    return f"what is before each line, such as {shown[:_SHOWN]}{'…' * (len(shown) > _SHOWN)}"


def without_prefix(prefix: bytes, head: bytes) -> Lines:
    """Return what removes a prefix, and others of its form.

    :param head: the first bytes of the text; they show whether JSON follows.
    """
    form, marks = _form_of(prefix), _marks_of(prefix)
    is_json = head.find(prefix + b'{"') >= 0

    def lines(stream: BinaryIO, _context: Context) -> Iterator[tuple[int, bytes]]:
        for number, line, begin in pieces(stream):
            end = 0
            if begin:
                header = _JSON.search(line) if is_json else _HEADED.search(line, 0, MAX_PREFIX)
                is_headed = header is not None and header.start() <= MAX_PREFIX
                end = header.start() if header and is_headed else _by_form(line, form, marks)
            yield number, _dated(line, end) if end else line

    return lines


class _Marks(NamedTuple):
    """What grep writes before a line: a file, a number, and ``:``, or ``-`` for lines around."""

    file: bytes
    numbered: bool


def _marks_of(prefix: bytes) -> _Marks | None:
    """Return what grep wrote; None if it is not of that form."""
    if not prefix.endswith(_ENDS) or b" " in prefix:
        return None
    file = prefix[:-1].rstrip(b"0123456789")
    # A number stands between two marks: ``FILE:12:``, or ``FILE-12-`` for lines around.
    numbered = len(file) < len(prefix) - 1 and (not file or file.endswith(_ENDS))
    return _Marks(file[:-1], numbered) if numbered else _Marks(prefix[:-1], numbered)


def _marked(line: bytes, marks: _Marks) -> int:
    """Return the length of what grep wrote before a line; 0 if it wrote nothing."""
    if not line.startswith(marks.file):
        return 0
    match = (_NUMBERED if marks.numbered else _UNNUMBERED).match(line, len(marks.file))
    return match.end() if match else 0


def _by_form(line: bytes, form: list[tuple[str, bytes]], marks: _Marks | None) -> int:
    """Return the length of a prefix before a line without a header; 0 if there is none."""
    return (_marked(line, marks) if marks else 0) or _matched(line, form)


def _dated(line: bytes, end: int) -> bytes:
    """Return a line from a place on, with the time of its header if the year is before it."""
    text = line[end:]
    header = HEADER.match(text)
    year = None if header is None else _YEAR.search(line, 0, end)
    return text if header is None or year is None else stamped(header, year[1], year[2]) + text


def _form_of(prefix: bytes) -> list[tuple[str, bytes]]:
    """Return the parts of a prefix: words, white space, what is in brackets, and other bytes."""
    form, place = list[tuple[str, bytes]](), 0
    while place < len(prefix):
        kind, end = _part(prefix, place)
        form.append((kind, prefix[place:end]))
        place = end
    return form


def _part(text: bytes, place: int) -> tuple[str, int]:
    """Return the kind of the part that begins at a place, and its end."""
    begin, end = text[place], place + 1
    if begin in _CLOSED_BY:
        close = text.find(_CLOSED_BY[begin], end)
        return ("bracket", close + 1) if close >= 0 else ("other", end)
    kind, alphabet = next((run for run in _RUNS if begin in run[1]), ("other", b""))
    while end < len(text) and text[end] in alphabet:
        end += 1
    return kind, end


def _matched(line: bytes, form: list[tuple[str, bytes]]) -> int:
    """Return the length of a prefix of a form at the begin of a line; 0 if it has none.

    Numbers before all else must be numbers, with any number of spaces before them.
    """
    text, place, last = line[:MAX_PREFIX], 0, len(form) - 1
    if form[-1][0] == "word":
        return 0  # Where it ends is not known.
    if last > 0 and not form[0][1].strip() and form[1][1].isdigit():
        place, form, last = len(text) - len(text.lstrip(b" ")), form[1:], last - 1
    for number, (kind, written) in enumerate(form):
        if place >= len(text):
            return 0
        actual, end = _part(text, place)
        if kind == "space" and number == last:
            end = min(end, place + len(written))  # Further white space belongs to the line.
        if actual != kind or (kind == "other" and text[place:end] != written):
            return 0
        if not number and written.isdigit() and not text[place:end].isdigit():
            return 0
        place = end
    return place
