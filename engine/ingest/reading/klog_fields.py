"""Lines of klog that a collector took apart: their level, time, file and message are fields.

Cloud Logging's agent keeps ``severity``, ``timestamp`` and ``sourceLocation`` beside the payload,
older agents ``source`` (``scheduler.go:93``) in it. The line is put together again.

Source: github.com/GoogleCloudPlatform/fluent-plugin-google-cloud; k8s.io/klog/v2 formatHeader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ...kubernetes.units import format_time

IN_FIELDS = re.compile(
    rb'"sourceLocation"\s*:\s*\{[^{}]{0,400}"[^"{}]{1,200}\.go"'
    rb'|"(?:source|caller)"\s*:\s*"[\w./-]{1,200}\.go:\d{1,7}"'
)
"""A record with the place of a line beside its message."""

_PLACE = re.compile(r"([\w./-]+\.go):(\d+)")
_LETTERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("DEFAULT", "DEBUG", "INFO", "NOTICE", "I"), "I"),
        **dict.fromkeys(("WARNING", "WARN", "W"), "W"),
        **dict.fromkeys(("ERROR", "E"), "E"),
        **dict.fromkeys(("CRITICAL", "ALERT", "EMERGENCY", "FATAL", "F"), "F"),
    }
)
_OF_TIME = len("2026-11-28T10:00:00")


def klog_line(record: Mapping[str, Any], time: int | None) -> bytes | None:
    """Return the line that a record was made of; None if it lacks a part of one.

    :param time: of the record, microseconds since 1970.
    """
    payload = record.get("jsonPayload")
    parts = [payload, record] if isinstance(payload, dict) else [record]
    place = next(_places(parts), None)
    message = _first(parts, "message", "msg", "textPayload")
    if place is None or not message or time is None:
        return None
    letter = _LETTERS.get(_first(parts, "severity", "level").upper(), "I")
    text = format_time(time)
    micros = text[_OF_TIME:].strip(".Z").ljust(6, "0")
    header = f"{letter}{text[5:7]}{text[8:10]} {text[11:_OF_TIME]}.{micros}"
    thread = _first(parts, "pid", "thread") or "1"
    return f"{header} {thread:>7} {place[0]}:{place[1]}] {message}".encode()


def _places(parts: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the file and the line that fields name."""
    for part in parts:
        location = part.get("sourceLocation")
        if isinstance(location, dict) and isinstance(location.get("file"), str):
            line = location.get("line", "")
            if location["file"].endswith(".go") and str(line).isdecimal():
                yield location["file"], str(line)
        match = _PLACE.fullmatch(_first([part], "source", "caller"))
        if match is not None:
            yield match[1], match[2]


def _first(parts: list[Mapping[str, Any]], *fields: str) -> str:
    """Return the first text in some fields; empty if there is none."""
    values = (part.get(field) for part in parts for field in fields)
    return next((value for value in values if isinstance(value, str) and value), "")
