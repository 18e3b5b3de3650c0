"""Lines of a log that records hold: where the text of a log begins, their order, their years.

A record is one of a container's runtime or of a collector, or a row of a table. If the newest comes
first, they are turned round. A line with a header of klog gets its time with the year of the time
beside it, as of ``kubectl logs --timestamps``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

from ...kubernetes.units import SECOND_US, format_time, parse_time
from .formats import Context
from .klog import HEADER, STAMP, TIME

MAX_TEXT = 64 * 2**20
"""Bytes of all lines in one document of which the order is not known."""

BEGINS: Final = (
    rb"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [^:\]\s]+:\d+\]"
    rb"|panic: |fatal error: |goroutine \d+ \["
)
"""How the text of a log begins, as a pattern."""

FIRST_OF_A_LOG = re.compile(
    rb"(?:"
    + TIME
    + rb" )?(?:"
    + BEGINS
    + rb'|\{\s*"kind"\s*:\s*"Event"\s*,\s*"apiVersion"\s*:\s*"audit\.k8s\.io/)'
)
"""Where the text of a log begins in a line; of an audit log, too."""

_DIGITS_OF_SECONDS = 10
_WRITTEN_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)([.,]\d{1,9})? ?(Z|UTC|[+-]\d\d:?\d\d)?"
)
_WRITTEN_YEAR = re.compile(r"(?:[A-Z][a-z]{2} \d\d?, |\d\d?/\d\d?/)(20\d\d)\b")
"""A date as Kibana and Azure show it: which number is the month depends on the reader's country."""


class LogRecord(NamedTuple):
    """A record of a log.

    :param time: microseconds, if it has one. :param line: of the input.
    :param text: a line, or several.
    :param year: of the time, if that is all that is known of it.
    """

    time: int | None
    line: int
    text: bytes
    year: int | None = None


def held(records: Iterable[LogRecord], context: Context, now: str) -> list[LogRecord]:
    """Return all records of a document.

    :param now: what to do if they are too many.
    :raises EventMalformed: they are (through ``context.reject``).
    """
    log_records, size = list[LogRecord](), 0
    for record in records:
        log_records.append(record)
        size += len(record.text)
        if size > MAX_TEXT:
            what = f"more than {MAX_TEXT // 2**20} MiB of lines in one document"
            context.reject(what, line=record.line, now=now)
            break
    return log_records


def in_order(records: list[LogRecord]) -> list[LogRecord]:
    """Return records oldest first; in their own order or turned round if one has no time."""
    oldest_first = records[::-1] if newest_first(records) else records
    times = [record.time for record in records if record.time is not None]
    if len(times) < len(records):
        return oldest_first
    # Sorting keeps the order of records with one time.
    return sorted(oldest_first, key=lambda record: record.time or 0)


def newest_first(records: list[LogRecord]) -> bool:
    """Say whether the newest record comes first, by the times beside the lines or in them."""
    times = [record.time for record in records if record.time is not None]
    if times and len(times) == len(records) and times[0] != times[-1]:
        return times[0] > times[-1]
    headers = [
        match.groups()
        for log_record in records
        if (match := HEADER.match(log_record.text)) is not None
    ]
    written = [header[1:7] for header in headers]
    falls = sum(before > after for before, after in pairwise(written))
    return falls > sum(before < after for before, after in pairwise(written))


def lines_of(record: LogRecord) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a record; a stack is several lines in one record."""
    received = "" if record.time is None else format_time(record.time)
    year, month = received[:4] or str(record.year or ""), received[5:7]
    for line in record.text.removesuffix(b"\n").split(b"\n"):
        header = None if not year or STAMP.match(line) else HEADER.match(line)
        stamp = b"" if header is None else stamped(header, year.encode(), month.encode())
        yield record.line, stamp + line + b"\n"


def stamped(header: re.Match[bytes], year: bytes, month: bytes) -> bytes:
    """Return the time of a header with its year, as ``kubectl logs --timestamps`` writes it.

    :param year: of the time beside the line; a collector received it at once, in any time zone.
    :param month: of that time; empty if it is not known.
    """
    # Around New Year, a line may be of another year than the time beside it.
    turned = {(b"12", b"01"): -1, (b"01", b"12"): 1}.get((header[2], month), 0)
    day, clock = b"-".join((header[2], header[3])), b":".join((header[4], header[5], header[6]))
    return b"%04d-%bT%b.%bZ " % (int(year) + turned, day, clock, header[7])


def time_of(value: Any) -> int | None:
    """Return a time in microseconds: RFC 3339 or near it, or a number since 1970 of any unit."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and not value.isdecimal():
        written = _WRITTEN_TIME.fullmatch(value)
        if written is None:
            return None
        day, clock, fraction, zone = written.groups(default="")
        # Time without a zone is treated as UTC, as in klog.
        zone = "Z" if zone in {"", "UTC", "Z"} else f"{zone[:3]}:{zone[-2:]}"
        try:
            return parse_time(f"{day}T{clock}{fraction.replace(',', '.')}{zone}")
        except ValueError:
            return None
    if isinstance(value, float):
        value = int(value * SECOND_US)
    if not isinstance(value, (int, str)):
        return None
    # The number of digits shows the unit: ten are seconds, nineteen are nanoseconds.
    digits = str(value)
    if not _DIGITS_OF_SECONDS <= len(digits) <= _DIGITS_OF_SECONDS + 9:
        return None
    return int(int(digits) * SECOND_US // 10 ** (len(digits) - _DIGITS_OF_SECONDS))


def year_of(value: str) -> int | None:
    """Return the year of a date as people read it; None if it is not known."""
    date = _WRITTEN_YEAR.match(value)
    return None if date is None else int(date[1])
