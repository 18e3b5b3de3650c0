"""Text logs of klog as entries: a header line, and the lines without header that belong to it.

A header is ``Lmmdd hh:mm:ss.uuuuuu  pid file.go:line] message``: it has neither year nor zone. The
year comes from a line of Go's standard logger (``2026/11/21 02:16:16 maxprocs: …`` when a process
starts), from the time that ``kubectl logs --timestamps`` or a CRI file puts before each line, or
from an option. The zone is assumed to be UTC, as it is in containers; a time before the line tells
it. That time is when the line was read from the process, which on a busy node is later.

Source: k8s.io/klog/v2 klog.go, formatHeader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO

import msgspec

from ...errors import InputError
from ...kubernetes.units import SECOND_US, parse_time
from ..reading.formats import Context
from ..reading.klog import CRASH, HEADER, STAMP
from ..reading.numbered_lines import numbered_lines

MAX_LINE = 8 * 2**20
"""Bytes; the longest lines are in dumps, with a job each."""

MAX_TEXT = 2**20
"""Bytes of the lines without header that are kept with one entry."""

_GO_LOG = re.compile(rb"(\d{4})/(\d\d)/\d\d \d\d:\d\d:\d\d ")
_HALF_YEAR = 6
_ZONES = 900 * SECOND_US
"""What all zones differ by is a multiple of it."""

_READ_LATE = 300 * SECOND_US
"""The longest time between a line's header and when it was read from the process."""

_PIECE = 2**16


class KlogEntry(msgspec.Struct, kw_only=True):
    """One entry of a log.

    :param severity: I, W, E, F; empty for the last output of a Go process, which has no header.
    :param observed_at: microseconds; for an entry without header, of the header before it.
    :param file: the Go file. :param file_line: the number of its line, as it is written.
    :param raw: the message in bytes; decoded on demand, because most lines are skipped.
    :param rest: the lines without header that follow, as they are.
    """

    line: int
    severity: str
    observed_at: int | None
    file: bytes
    file_line: bytes
    raw: bytes
    rest: list[str] = []
    size: int = 0
    decoded: str | None = None

    @property
    def message(self) -> str:
        """The message, without the end of its line."""
        if self.decoded is None:
            self.decoded = _text(self.raw)
        return self.decoded

    @property
    def at(self) -> str:
        """Go file and line."""
        return (
            f"{self.file.decode(errors='replace')}:{self.file_line.decode()}" if self.file else ""
        )

    def add(self, text: bytes) -> None:
        """Add a following line, unless there are too many."""
        self.size += len(text)
        if self.size <= MAX_TEXT:
            self.rest.append(_text(text))

    def text(self) -> str:
        """Return the message with the lines that follow."""
        return "\n".join([self.message, *self.rest]).strip()


class Calendar:
    """Finds the year of headers: counts changes of the year from a line with a known year.

    :param year: of the first line, if known.
    :param may_turn: False if ``year`` is that of the last line.
    """

    def __init__(self, year: int | None, source: str, *, may_turn: bool = True) -> None:
        self._year = year
        self._source = source
        self._may_turn = may_turn
        self._month = 0
        self._days: dict[tuple[int, bytes, bytes], int] = {}
        # Many lines have the same second: that of the line before, as written and as a time.
        self._written, self._second = b"", 0

    def learn(self, year: int, month: int) -> None:
        """Use the year of a line that has one, if no year was given."""
        self._year = year
        self._month = month
        self._written = b""

    def time(self, header: re.Match[bytes], line: int) -> int:
        """Return a header's time in microseconds since 1970.

        :raises InputError: no year is known.
        :raises ValueError: the year has no such day.
        """
        written = header.string[header.start(2) : header.end(6)]
        if written != self._written:
            self._second = self._begin_second(header, line)
            self._written = written
        return self._second + int(header[7])

    def time_before(self, stamp: bytes, header: re.Match[bytes]) -> int:
        """Return a header's time, if a line has when it was read, with its year, before it.

        :raises ValueError: there is no such time.
        """
        read = parse_time(stamp.decode())
        month = int(header[2])
        year = int(stamp[:4]) + turn_of_year(int(stamp[5:7]), month)
        if year != self._year:
            self.learn(year, month)
        try:
            late = (read - self.time(header, 0)) % _ZONES
        except ValueError:
            return read
        # A line is not read before it is written: then the two have different clocks.
        return read - late if late <= _READ_LATE else read

    def _begin_second(self, header: re.Match[bytes], line: int) -> int:
        month = int(header[2])
        if self._year is None:
            raise InputError(
                "this log's times have no year",
                where=f"{self._source}:{line}",
                now="say in which year its last line was written, as in --year 2026",
            )
        turned = turn_of_year(self._month, month) if self._month else 0
        if turned and not self._may_turn:
            raise InputError(
                "the year changes in this log, and a stream can be read only once",
                where=f"{self._source}:{line}",
                now="save the log to a file and ingest that",
            )
        self._year += turned
        self._month = month
        day = (self._year, header[2], header[3])
        start = self._days.get(day)
        # A log has many lines of a day: its start is worked out once.
        if start is None:
            begin = datetime(self._year, month, int(header[3]), tzinfo=UTC)
            start = self._days[day] = int(begin.timestamp()) * SECOND_US
        seconds = (int(header[4]) * 60 + int(header[5])) * 60 + int(header[6])
        return start + seconds * SECOND_US


def turn_of_year(before: int, after: int) -> int:
    """Return by how much the year changes between lines of two months.

    1 from December to January; -1 back again, as lines of several goroutines around midnight do.
    """
    if before - after >= _HALF_YEAR:
        return 1
    return -1 if after - before > _HALF_YEAR else 0


def first_year(stream: BinaryIO, context: Context) -> int | None:
    """Return the year of the first line, from that of the last, if the stream can be read twice.

    A log that grows has no last line yet: its year is that of the first.
    """
    if context.year is None or not stream.seekable() or context.grows:
        return context.year
    start, turns, month = stream.tell(), 0, 0
    while line := stream.readline(_PIECE):
        header = HEADER.match(line)
        if header:
            now = int(header[2])
            turns += turn_of_year(month, now) if month else 0
            month = now
    stream.seek(start)
    return context.year - turns


def entries(stream: BinaryIO, context: Context) -> Iterator[KlogEntry]:
    """Yield a log's entries in order; lines that belong to no entry are counted.

    :raises InputError: the year is not known (see :class:`Calendar`).
    """
    fixed = context.year is not None and not stream.seekable() and not context.grows
    calendar = Calendar(first_year(stream, context), context.source, may_turn=not fixed)
    entry: KlogEntry | None = None
    for line, raw in numbered_lines(stream, context, limit=MAX_LINE):
        stamp = STAMP.match(raw)
        text = raw[stamp.end() :] if stamp else raw
        header = HEADER.match(text)
        if header:
            observed_at = _observed_at(header, stamp, calendar, context, line)
            begun = None if observed_at is None else _headed(text, header, line, observed_at)
        # Output of a panic has more lines that look like a begin: they belong to the first.
        elif CRASH.match(text) and not (entry and is_panic(entry)):
            begun = _last_words(text, line, entry)
        else:
            _belongs(text, line, entry, calendar, context)
            continue
        if begun is not None:
            if entry is not None:
                yield entry
            entry = begun
    if entry is not None:
        yield entry


def is_panic(entry: KlogEntry) -> bool:
    """Say whether an entry is about a panic; all lines up to the next header are then its stack."""
    return not entry.severity or b"Observed a panic" in entry.raw


def _belongs(
    text: bytes, line: int, entry: KlogEntry | None, calendar: Calendar, context: Context
) -> None:
    """Add a line without header to the entry before it, or count it."""
    known = _GO_LOG.match(text)
    if known:
        # A year that the user gave is that of the last line, and stays.
        if context.year is None:
            calendar.learn(int(known[1]), int(known[2]))
        context.skip("line of another logger", line=line)
    elif entry is None:
        context.skip("line without header", line=line)
    else:
        entry.add(text)


def _headed(text: bytes, header: re.Match[bytes], line: int, observed_at: int) -> KlogEntry:
    return KlogEntry(
        line=line,
        severity=chr(text[0]),
        observed_at=observed_at,
        file=header[9],
        file_line=header[10],
        raw=text[header.end() :],
    )


def _last_words(text: bytes, line: int, before: KlogEntry | None) -> KlogEntry:
    return KlogEntry(
        line=line,
        severity="",
        observed_at=before.observed_at if before else None,
        file=b"",
        file_line=b"",
        raw=text,
    )


def _observed_at(
    header: re.Match[bytes],
    stamp: re.Match[bytes] | None,
    calendar: Calendar,
    context: Context,
    line: int,
) -> int | None:
    try:
        # The time before the line is complete, so no year has to be found for the header.
        if stamp is not None:
            return calendar.time_before(stamp[1], header)
        return calendar.time(header, line)
    except ValueError as fault:
        context.reject(
            f"no such time: {fault}",
            line=line,
            now="is the year right (--year)? --skip-malformed leaves such lines out",
        )
        return None


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace").rstrip("\r\n")
