"""Lines of a log in JSON: of a container runtime (docker's json-file) or a collector of logs.

The records of Docker, Cloud Logging, Loki, Elasticsearch, CloudWatch, Azure and others are read: an
object a line, an array, an answer with all of them, or one with columns and rows. A record has its
text in a field such as ``log`` or ``textPayload``, or in any field in which the text of a log
begins, and often its time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO, Final

import msgspec

from ...errors import EventMalformed
from .formats import Context
from .json_text import DECODE_FAULTS, fault_of, json_documents, json_elements
from .klog_fields import IN_FIELDS, klog_line
from .log_lines import BEGINS, LogRecord, held, in_order, lines_of, newest_first, time_of
from .sizes import hold_values

_MAX_LINE = 8 * 2**20
_TEXTS: Final = (
    *("log", "textPayload", "message", "msg", "line", "MESSAGE", "_raw", "body", "text"),
    *("@message", "_msg", "short_message", "LogMessage", "LogEntry", "stringValue", "original"),
)
_INNER: Final = (
    *("jsonPayload", "_source", "result", "log", "message", "event", "fields", "record"),
    *("attributes", "body", "LogMessage", "data", "lines"),
)
_TIMES: Final = (
    *("time", "timestamp", "@timestamp", "ts", "Timestamp", "_time", "datetime", "TimeGenerated"),
    *("timeUnixNano", "observedTimeUnixNano", "__REALTIME_TIMESTAMP"),
)
_HOLDERS: Final = (
    *("data", "result", "results", "streams", "entries", "events", "hits", "logs", "values"),
    *("messages", "tables", "Tables", "resourceLogs", "scopeLogs", "logRecords"),
)
_COLUMNS: Final = (("columns", "rows"), ("fields", "rows"), ("Columns", "Rows"))
"""Where an answer names its columns, and where their values are."""

_NAMES: Final = ("name", "ColumnName")
_DEPTH = 8
_KEYS = b"|".join(key.encode() for key in _TEXTS)
_OBJECTS = b"|".join(key.encode() for key in _INNER)
_TEXT_OF_A_LOG = (
    rb'"(?:[^"IWEFpfg{]{0,80}(?:'
    + BEGINS
    + rb')|\{[^{}]{0,400}\\"apiVersion\\"\s*:\s*\\"audit\.k8s\.io/'
    + rb'|\{\s*\\"(?:'
    + _KEYS
    + rb')\\"\s*:\s*\\"(?:'
    + BEGINS
    + rb"))"
)
_RECORD = re.compile(
    rb'(?:"(?:'
    + _KEYS
    + rb')"\s*:|"\d{13,19}"\s*,)\s*'
    + _TEXT_OF_A_LOG
    + rb'|"(?:'
    + _OBJECTS
    + rb')"\s*:\s*\{[^{}]{0,400}"apiVersion"\s*:\s*"audit\.k8s\.io/'
)
"""A field of a record with text of a log, or with an audit event."""

_ANY_FIELD = re.compile(rb'"([^"\\]{1,100})"\s*:\s*' + _TEXT_OF_A_LOG)
_ANY_VALUE = re.compile(rb"[\[,]\s*" + _TEXT_OF_A_LOG)
_ONLY_VALUE = re.compile(rb"\s*" + _TEXT_OF_A_LOG)
_OBJECT = re.compile(rb'"apiVersion"\s*:')
_MOST_FIELDS = 5

_LINES_SEEN = 50
_LEAST_PART = 16 * 1024 - 4
"""Bytes: parts are of 16 KiB, and end before a character that does not fit whole."""
_DECODE = msgspec.json.Decoder().decode
_ENCODE = msgspec.json.Encoder().encode
_AUDIT = "audit.k8s.io/"


def is_log_record(head: bytes) -> bool:
    """Say whether JSON has a record with text of a log near its begin."""
    if _RECORD.search(head) is not None or IN_FIELDS.search(head) is not None:
        return True
    if _OBJECT.search(head) is not None:
        return False  # An object of a cluster, which may hold a log.
    match = _ANY_FIELD.search(head) or _ANY_VALUE.search(head) or _ONLY_VALUE.match(head)
    return match is not None


class LogRecords:
    """Reads records: one a line, if they are written so and the oldest is the first; or all.

    :param head: the first bytes of a document.
    """

    def __init__(self, head: bytes) -> None:
        self._fields = _fields_in(head)
        self._in_lines = self._has_one_a_line(head)

    def lines(self, stream: BinaryIO, context: Context) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of the log, each with the line of its record.

        :raises EventMalformed: the JSON is malformed, or too large (through ``context.reject``).
        """
        records: Iterable[LogRecord] = self._by_line(stream)
        if not self._in_lines:
            now = "write one record a line: jq -c '.[]' FILE"
            records = in_order(held(self._of_documents(stream, context), context, now))
        for record in records:
            yield from lines_of(record)

    def _has_one_a_line(self, head: bytes) -> bool:
        """Say whether a document has one record a line, the oldest first."""
        seen = list[LogRecord]()
        for line in head.lstrip().split(b"\n", _LINES_SEEN)[:_LINES_SEEN]:
            try:
                records = list(_records(_DECODE(line), self._fields, _DEPTH))
            except DECODE_FAULTS:
                break  # The last one is cut off.
            seen += [LogRecord(time, 0, text) for time, text in records[:1]]
            # A line without a record may be a remark, but not the first one.
            if not seen or len(records) > 1:
                return False
        return bool(seen) and not newest_first(seen)

    def _by_line(self, stream: BinaryIO) -> Iterator[LogRecord]:
        """Yield the records of a document with one a line; other lines stay as they are.

        Docker and containerd divide lines of more than 16 KiB.
        """
        number, begun = 0, None
        while line := stream.readline(_MAX_LINE):
            number += 1
            try:
                value = _DECODE(line)
                records = list(_records(value, self._fields, _DEPTH))
            except DECODE_FAULTS:
                value, records = None, []
            for time, text in records or [(None, line)]:
                record = LogRecord(time, number, text)
                if begun is not None:
                    record = begun._replace(text=begun.text + text)
                begun = None
                if _goes_on(value, text) and len(record.text) < _MAX_LINE:
                    begun = record
                else:
                    yield record
        if begun is not None:
            yield begun

    def _of_documents(self, stream: BinaryIO, context: Context) -> Iterator[LogRecord]:
        """Yield the records of an array, or of documents one after the other."""
        begin = stream.read(1)
        while begin.isspace():
            begin = stream.read(1)
        read = json_elements if begin == b"[" else json_documents
        for number, text in read(stream, context, head=begin):
            try:
                hold_values(text)
                records = list(_records(_DECODE(text), self._fields, _DEPTH))
            except EventMalformed as fault:
                context.reject(fault.what, line=number)
                continue
            except DECODE_FAULTS as fault:
                context.reject(fault_of(fault)[0], line=number)
                continue
            line, place = number, 0
            for time, record in records:
                # Records have the order of their texts, so the search goes on from the last place.
                at = _place_of(record, text, place)
                if at >= 0:
                    line += text.count(b"\n", place, at)
                    place = at
                yield LogRecord(time, line, record)


def _fields_in(head: bytes) -> tuple[str, ...]:
    """Return the fields in which the text of a log begins, the first first."""
    fields = (match[1].decode(errors="replace") for match in _ANY_FIELD.finditer(head))
    return tuple(islice(dict.fromkeys(fields), _MOST_FIELDS))


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


def _place_of(record: bytes, text: bytes | bytearray, begin: int) -> int:
    """Return where the text of a record is in its document, after a place; -1 if nowhere.

    Of a line that was put together again the message is there, without the header.
    """
    for part in (record, record.partition(b"] ")[2]):
        at = text.find(_ENCODE(part.decode(errors="replace"))[1:-1], begin) if part else -1
        if at >= 0:
            return at
    return -1


def _records(value: Any, fields: tuple[str, ...], depth: int) -> Iterator[tuple[int | None, bytes]]:
    """Yield the time and the text of each record in a JSON value."""
    if isinstance(value, str):
        yield None, value.encode()
    elif isinstance(value, list) and depth:
        yield from _of_list(value, fields, depth)
    elif isinstance(value, dict) and depth:
        time = _time_in(value)
        # A line that was taken apart comes first: its message alone would lack the header.
        text = klog_line(value, time) or _text(value, fields, depth)
        if text is not None:
            yield time, text
            return
        rows = list(_rows(value))
        for holder in [rows] if rows else map(value.get, _HOLDERS):
            if isinstance(holder, (dict, list)):
                yield from _records(holder, fields, depth - 1)


def _of_list(
    value: list[Any], fields: tuple[str, ...], depth: int
) -> Iterator[tuple[int | None, bytes]]:
    if len(value) > 1 and isinstance(value[0], str) and isinstance(value[1], str):
        time = time_of(value[0])
        if time is not None:  # Loki has a time and a line.
            yield time, value[1].encode()
            return
    named = _of_pairs(value)
    for element in value if named is None else [named]:
        yield from _records(element, fields, depth - 1)


def _of_pairs(value: list[Any]) -> dict[str, Any] | None:
    """Return the fields of a record in pairs, as CloudWatch Insights has them; None if it is none.

    Source: GetQueryResults, ResultField.
    """
    pairs = [pair for pair in value if isinstance(pair, dict) and {"field", "value"} == pair.keys()]
    if not pairs or len(pairs) < len(value):
        return None
    return {str(pair["field"]): pair["value"] for pair in pairs}


def _rows(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of an answer that names its columns apart, as Azure, Kusto and Splunk do."""
    for columns, rows in _COLUMNS:
        if isinstance(value.get(columns), list) and isinstance(value.get(rows), list):
            names = [_name_of(column) for column in value[columns]]
            yield from (
                dict(zip(names, row, strict=False)) for row in value[rows] if isinstance(row, list)
            )
            return


def _name_of(column: Any) -> str:
    if not isinstance(column, dict):
        return str(column)
    return next((str(column[key]) for key in _NAMES if key in column), "")


def _text(record: dict[str, Any], fields: tuple[str, ...], depth: int) -> bytes | None:
    """Return the text of a record, or the audit event in it; None if it has none."""
    if str(record.get("apiVersion") or "").startswith(_AUDIT):
        return _ENCODE(record) + b"\n"
    for field in (*fields, *_TEXTS):
        if isinstance(record.get(field), str):
            return str(record[field]).encode()
    for field in _INNER:
        inner = record.get(field)
        if isinstance(inner, dict) and depth:
            text = _text(inner, fields, depth - 1)
            if text is not None:
                return text
    return None


def _time_in(record: dict[str, Any]) -> int | None:
    holders = [record, *(record[key] for key in _INNER if isinstance(record.get(key), dict))]
    for holder in holders:
        for field in _TIMES:
            time = time_of(holder.get(field))
            if time is not None:
                return time
    return None
