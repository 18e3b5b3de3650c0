"""Lines of a log in a column of a table: CSV of a collector's search, columns between tabs.

Splunk, Azure Log Analytics, Kibana, Grafana, Cloud Logging and CloudWatch save what they found like
this. The column is known by the text of a log in it, so its name does not matter. A cell in quotes
may have several lines, as a stack has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO, Final

import msgspec

from .formats import Context
from .log_lines import (
    FIRST_OF_A_LOG,
    LogRecord,
    held,
    in_order,
    lines_of,
    newest_first,
    time_of,
    year_of,
)

_DELIMITERS: Final = (b",", b"\t", b";", b"|")
_ROWS_SEEN = 20
_MOST_ROW = 8 * 2**20
"""Bytes of a row."""

_INTO_CELL = 400
"""Bytes of a cell in which the text of a log begins; before it may be a prefix."""

_NAME = re.compile(rb"[@_]?[A-Za-z][\w .@/\[\]-]{0,80}")
"""The name of a column."""

_FIRST_ROW = re.compile(rb'(?:[^\n]*\t|[\w .@/\[\]",;|-]+\r?(?:\n|\Z))')
"""A row with tabs, or of names of columns: cheaper than the search for a log; no JSON, no YAML."""

_TIME_NAMES: Final = (b"time", b"date", b"zeit")


_Row = tuple[int, bytes, list[bytes]]


class RowForm(msgspec.Struct, frozen=True):
    """How a table of lines is written.

    :param column: of the lines. :param width: the number of columns.
    :param times: columns in which a time may be. :param headed: the first row names the columns.
    :param falls: the newest row is the first.
    """

    delimiter: bytes
    column: int
    width: int
    times: tuple[int, ...]
    headed: bool
    falls: bool = False

    @property
    def name(self) -> str:
        """What it is, in words."""
        return "the other columns of a table" if self.width > 1 else "the quotes around each line"


def form_of_rows(head: bytes) -> RowForm | None:
    """Return the form of a table with lines of a log in a column; None if it is none.

    :param head: the first bytes of a document.
    """
    if _FIRST_ROW.match(head.lstrip()) is None or FIRST_OF_A_LOG.search(head) is None:
        return None
    for delimiter in _DELIMITERS:
        row_form = _form(delimiter, [cells for _, _, cells in _seen(head, delimiter)])
        if row_form is not None:
            seen = list(_records(_seen(head, delimiter), row_form))
            return msgspec.structs.replace(row_form, falls=newest_first(seen))
    return None


def has_named_columns(head: bytes) -> bool:
    """Say whether the first row of a table with lines of a log names its columns."""
    row_form = form_of_rows(head)
    return row_form is not None and row_form.headed


def _seen(head: bytes, delimiter: bytes) -> Iterator[_Row]:
    lines = head.splitlines(keepends=True)
    return islice(_rows(iter(lines), delimiter), _ROWS_SEEN)


def _form(delimiter: bytes, rows: list[list[bytes]]) -> RowForm | None:
    first = rows[0] if rows else []
    headed = all(_NAME.fullmatch(_plain(cell)) for cell in first)
    if not headed and (delimiter != b"\t" or not first or _place(first[0]) >= 0):
        return None  # What has no names of columns may be the text of a log with commas.
    for cells in rows[headed:]:
        places = [(place, at) for at, cell in enumerate(cells) if (place := _place(cell)) >= 0]
        if not places:
            continue
        # A single column without quotes is plain text.
        if len(cells) != len(first) or (len(first) == 1 and not cells[0].startswith(b'"')):
            return None
        times = _times(first, headed=headed)
        return RowForm(delimiter, min(places)[1], len(first), times, headed)
    return None


def _times(first: list[bytes], *, headed: bool) -> tuple[int, ...]:
    return tuple(
        number
        for number, cell in enumerate(first)
        if not headed or any(name in cell.lower() for name in _TIME_NAMES)
    )


def _place(cell: bytes) -> int:
    """Return where the text of a log begins in a cell; -1 if it has none."""
    match = FIRST_OF_A_LOG.search(_plain(cell), 0, _INTO_CELL)
    return -1 if match is None else match.start()


class Rows:
    """Reads the lines in a column."""

    def __init__(self, form: RowForm) -> None:
        self._form = form

    def lines(self, stream: BinaryIO, context: Context) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of the log, oldest first, each with the line of its row.

        :raises EventMalformed: there are too many to turn them (through ``context.reject``).
        """
        rows = _rows(iter(lambda: stream.readline(_MOST_ROW), b""), self._form.delimiter)
        records: Iterable[LogRecord] = _records(rows, self._form)
        if self._form.falls:
            now = "save the rows with the oldest first"
            records = in_order(held(records, context, now))
        for record in records:
            yield from lines_of(record)


def _records(rows: Iterator[_Row], form: RowForm) -> Iterator[LogRecord]:
    """Yield the records of rows; what lacks the column has no line of the log."""
    for number, (line, row, cells) in enumerate(rows):
        if (form.headed and not number) or len(cells) < form.width:
            continue
        end = len(cells) - form.width + form.column + 1  # A delimiter may be in the text itself.
        text = form.delimiter.join(cells[form.column : end])
        beside = [_plain(cells[at]).decode(errors="replace") for at in form.times]
        time = next((known for cell in beside if (known := time_of(cell)) is not None), None)
        year = next((known for cell in beside if (known := year_of(cell)) is not None), None)
        at = line + row.count(b"\n", 0, max(row.find(text), 0))
        yield LogRecord(time, at, _plain(text), year)


def _rows(lines: Iterator[bytes], delimiter: bytes) -> Iterator[_Row]:
    """Yield rows: the number of the first line, the text, the cells; some have several lines."""
    start, row, is_open = 0, bytearray(), False
    for number, line in enumerate(lines, 1):
        start = start or number
        row += line
        # Inside a cell only quotes count: an odd number of them closes it.
        is_open = is_open != (line.count(b'"') % 2 == 1) if is_open else _split(line, delimiter)[1]
        if is_open and len(row) < _MOST_ROW:
            continue
        yield from _row(start, bytes(row), delimiter)
        start, row, is_open = 0, bytearray(), False
    yield from _row(start, bytes(row), delimiter)


def _row(start: int, row: bytes, delimiter: bytes) -> Iterator[_Row]:
    if row.strip():
        text = row.rstrip(b"\r\n")
        yield start, text, _split(text, delimiter)[0]


def _split(row: bytes, delimiter: bytes) -> tuple[list[bytes], bool]:
    """Return the cells of a row with their quotes, and whether the last one goes on."""
    cells, begin, is_open = list[bytes](), 0, False
    while True:
        end = begin
        if row[begin : begin + 1] == b'"':
            end = _closed(row, begin + 1)
            is_open = end < 0
        end = -1 if is_open else row.find(delimiter, end)
        if end < 0:
            return [*cells, row[begin:]], is_open
        cells.append(row[begin:end])
        begin = end + 1


def _closed(row: bytes, place: int) -> int:
    """Return the place behind the quote that closes a cell; -1 if none does."""
    while (place := row.find(b'"', place)) >= 0:
        if row[place + 1 : place + 2] != b'"':
            return place + 1
        place += 2
    return -1


def _plain(cell: bytes) -> bytes:
    """Return a cell without its quotes."""
    if len(cell) > 1 and cell.startswith(b'"') and cell.endswith(b'"'):
        return cell[1:-1].replace(b'""', b'"').replace(b"\r\n", b"\n")
    return cell
