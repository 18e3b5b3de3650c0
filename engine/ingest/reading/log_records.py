"""Lines of a log in JSON: of a container runtime (docker's json-file) or a collector of logs.

The records of Docker, Cloud Logging, Loki, Elasticsearch, CloudWatch and stern are read: an object
a line, an array, or one answer with all of them. A record has its text in a field such as
``log`` or ``textPayload``, and often its time. If the newest record comes first, they are turned
round. A line with a header of klog gets its time with the year before it, as of
``kubectl logs --timestamps``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec

from ...errors import EventMalformed
from ...kubernetes.units import SECOND_US, format_time, parse_time
from .formats import Context
from .json_text import json_documents, json_elements
from .klog import HEADER, STAMP
from .klog_fields import IN_FIELDS, klog_line
from .sizes import hold_values

MAX_TEXT = 64 * 2**20
"""Bytes of all lines in one document of which the order is not known."""

_MAX_LINE = 8 * 2**20
_TEXTS: Final = ("log", "textPayload", "message", "msg", "line", "MESSAGE", "_raw", "body", "text")
_INNER: Final = (
    *("jsonPayload", "_source", "result", "log", "message", "event", "fields", "record"),
    "attributes",
)
_TIMES: Final = (
    *("time", "timestamp", "@timestamp", "ts", "Timestamp", "_time", "datetime"),
    "__REALTIME_TIMESTAMP",
)
_HOLDERS: Final = (
    *("data", "result", "results", "streams", "entries", "events", "hits", "logs", "values"),
    "messages",
)
_DEPTH = 6
_KEYS = b"|".join(key.encode() for key in _TEXTS)
_OBJECTS = b"|".join(key.encode() for key in _INNER)
_BEGINS = (
    rb"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [^:\]\s]+:\d+\]"
    rb"|panic: |fatal error: |goroutine \d+ \["
)
FIRST_OF_A_LOG = re.compile(
    rb"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d) )?(?:"
    + _BEGINS
    + rb'|\{\s*"kind"\s*:\s*"Event"\s*,\s*"apiVersion"\s*:\s*"audit\.k8s\.io/)'
)
"""Where the text of a log begins in a line; of an audit log, too."""

_TEXT_OF_A_LOG = (
    rb'"(?:[^"IWEFpfg{]{0,80}(?:'
    + _BEGINS
    + rb')|\{[^{}]{0,400}\\"apiVersion\\"\s*:\s*\\"audit\.k8s\.io/)'
)
_RECORD = re.compile(
    rb'"(?:'
    + _KEYS
    + rb')"\s*:\s*'
    + _TEXT_OF_A_LOG
    + rb'|"\d{13,19}"\s*,\s*'
    + _TEXT_OF_A_LOG
    + rb'|"(?:'
    + _OBJECTS
    + rb')"\s*:\s*\{[^{}]{0,400}"apiVersion"\s*:\s*"audit\.k8s\.io/'
)
"""A field of a record with text of a log, or with an audit event."""

_TIME = re.compile(
    rb'"(?:time|timestamp|@timestamp|ts)"\s*:\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^"]{0,20})"'
)
_LEAST_TIMES = 2
_LEAST_PART = 16 * 1024 - 4
"""Bytes: parts are of 16 KiB, and end before a character that does not fit whole."""
_DIGITS_OF_SECONDS = 10
_DECODE = msgspec.json.Decoder().decode
_ENCODE = msgspec.json.Encoder().encode
_AUDIT = "audit.k8s.io/"


class _Record(NamedTuple):
    """A line of a log. :param time: microseconds, if the record has one."""

    time: int | None
    line: int
    text: bytes


def is_log_record(head: bytes) -> bool:
    """Say whether JSON has a record with text of a log near its begin."""
    return _RECORD.search(head) is not None or IN_FIELDS.search(head) is not None


def has_one_a_line(head: bytes) -> bool:
    """Say whether JSON has one record a line, the oldest first."""
    first, _, _ = head.lstrip().partition(b"\n")
    try:
        record = _DECODE(first)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    if not isinstance(record, dict) or _text(record, _DEPTH) is None:
        return False
    times = [match[1] for match in _TIME.finditer(head)]
    return len(times) < _LEAST_TIMES or times[0] <= times[-1]


class LogRecords:
    """Reads records. :param in_lines: one a line, oldest first; else all are read, and ordered."""

    def __init__(self, *, in_lines: bool) -> None:
        self._in_lines = in_lines

    def lines(self, stream: BinaryIO, context: Context) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of the log, each with the line of its record.

        :raises EventMalformed: the JSON is malformed, or too large (through ``context.reject``).
        """
        if self._in_lines:
            for record in _by_line(stream):
                yield from _lines_of(record)
            return
        records, size = list[_Record](), 0
        for record in _of_documents(stream, context):
            records.append(record)
            size += len(record.text)
            if size > MAX_TEXT:
                context.reject(
                    f"more than {MAX_TEXT // 2**20} MiB of lines in one JSON document",
                    line=record.line,
                    now="write one record a line: jq -c '.[]' FILE",
                )
                break
        for record in _in_order(records):
            yield from _lines_of(record)


def _in_order(records: list[_Record]) -> list[_Record]:
    """Return records oldest first; in their own order if one has no time."""
    times = [record.time for record in records if record.time is not None]
    if len(times) < len(records) or not records:
        return records
    newest_first = times[0] > times[-1]
    oldest_first = list(reversed(records)) if newest_first else records
    return sorted(oldest_first, key=lambda record: record.time or 0)


def _by_line(stream: BinaryIO) -> Iterator[_Record]:
    """Yield the records of a document with one a line; other lines stay as they are.

    Docker and containerd divide lines of more than 16 KiB.
    """
    number, begun = 0, None
    while line := stream.readline(_MAX_LINE):
        number += 1
        try:
            value = _DECODE(line)
            found = list(_records(value, _DEPTH))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            value, found = None, []
        for time, text in found or [(None, line)]:
            record = _Record(time, number, text)
            if begun is not None:
                record = begun._replace(text=begun.text + text)
            begun = None
            if _goes_on(value, text) and len(record.text) < _MAX_LINE:
                begun = record
            else:
                yield record
    if begun is not None:
        yield begun


def _goes_on(value: Any, text: bytes) -> bool:
    """Return whether a container's runtime divided a line, and the next record goes on with it.

    Collectors keep the runtime's mark, ``F`` for a full line and ``P`` for a part. Without one, a
    part is as long as parts are, and ends without a line break; collectors remove those, too.
    """
    if not (isinstance(value, dict) and "stream" in value and "log" in value):
        return False
    mark = value.get("_p", value.get("logtag"))
    if mark in {"F", "P"}:
        return bool(mark == "P")
    return not text.endswith(b"\n") and len(text) >= _LEAST_PART


def _of_documents(stream: BinaryIO, context: Context) -> Iterator[_Record]:
    """Yield the records of an array, or of documents one after the other."""
    begin = stream.read(1)
    while begin.isspace():
        begin = stream.read(1)
    read = json_elements if begin == b"[" else json_documents
    for number, text in read(stream, context, head=begin):
        try:
            hold_values(text)
            found = list(_records(_DECODE(text), _DEPTH))
        except (EventMalformed, UnicodeDecodeError, RecursionError) as fault:
            context.reject(str(getattr(fault, "what", fault)), line=number)
            continue
        line, place = number, 0
        for time, record in found:
            at = _place_of(record, text, place)
            if at >= 0:
                line += text.count(b"\n", place, at)
                place = at
            yield _Record(time, line, record)


def _place_of(record: bytes, text: bytes | bytearray, begin: int) -> int:
    """Return where the text of a record is in its document, after a place; -1 if nowhere.

    Of a line that was put together again the message is there, without the header.
    """
    for part in (record, record.partition(b"] ")[2]):
        at = text.find(_ENCODE(part.decode(errors="replace"))[1:-1], begin) if part else -1
        if at >= 0:
            return at
    return -1


def _records(value: Any, depth: int) -> Iterator[tuple[int | None, bytes]]:
    """Yield the time and the text of each record in a JSON value."""
    if isinstance(value, list) and depth:
        if len(value) > 1 and isinstance(value[0], str) and isinstance(value[1], str):
            yield _time(value[0]), value[1].encode()
            return
        for one in value:
            yield from _records(one, depth - 1)
    elif isinstance(value, dict) and depth:
        time = _time_in(value)
        text = klog_line(value, time) or _text(value, depth)
        if text is not None:
            yield time, text
            return
        for holder in _HOLDERS:
            if isinstance(value.get(holder), (dict, list)):
                yield from _records(value[holder], depth - 1)


def _text(record: dict[str, Any], depth: int) -> bytes | None:
    """Return the text of a record, or the audit event in it; None if it has none."""
    if str(record.get("apiVersion") or "").startswith(_AUDIT):
        return _ENCODE(record) + b"\n"
    for field in _TEXTS:
        if isinstance(record.get(field), str):
            return str(record[field]).encode()
    for field in _INNER:
        inner = record.get(field)
        if isinstance(inner, dict) and depth:
            found = _text(inner, depth - 1)
            if found is not None:
                return found
    return None


def _time_in(record: dict[str, Any]) -> int | None:
    holders = [record, *(record[key] for key in _INNER if isinstance(record.get(key), dict))]
    for holder in holders:
        for field in _TIMES:
            time = _time(holder.get(field))
            if time is not None:
                return time
    return None


def _time(value: Any) -> int | None:
    """Return a time in microseconds: RFC 3339, or a number since 1970 of any usual unit."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and not value.isdecimal():
        try:
            return parse_time(value)
        except ValueError:
            return None
    if not isinstance(value, (int, str)):
        return None
    digits = str(value)
    if not _DIGITS_OF_SECONDS <= len(digits) <= _DIGITS_OF_SECONDS + 9:
        return None
    return int(int(digits) * SECOND_US // 10 ** (len(digits) - _DIGITS_OF_SECONDS))


def _lines_of(record: _Record) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a record; a stack is several lines in one record."""
    for line in record.text.removesuffix(b"\n").split(b"\n"):
        header = None if record.time is None or STAMP.match(line) else HEADER.match(line)
        yield record.line, (b"" if header is None else _stamp(header, record)) + line + b"\n"


def _stamp(header: re.Match[bytes], record: _Record) -> bytes:
    """Return the time of a header with its year, as ``kubectl logs --timestamps`` writes it.

    The year is that of the record, which a collector received at once.
    """
    received = format_time(record.time or 0)
    month, day, hour, minute, second, micros = (header[group].decode() for group in range(2, 8))
    year = int(received[:4]) - (month == "12" and received[5:7] == "01")
    return f"{year:04d}-{month}-{day}T{hour}:{minute}:{second}.{micros}Z ".encode()
