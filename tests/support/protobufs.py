"""Writes protobuf as client-go does: the few messages that components send, from their numbers."""

from __future__ import annotations

from collections.abc import Iterable

MAGIC = b"k8s\x00"
MEDIA = "application/vnd.kubernetes.protobuf"


def number(value: int) -> bytes:
    """Return a number with seven bits a byte; a negative one has ten bytes."""
    value %= 1 << 64
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(place: int, value: int | str | bytes) -> bytes:
    """Return a field of a message."""
    if isinstance(value, int):
        return number(place << 3) + number(value)
    body = value.encode() if isinstance(value, str) else value
    return number(place << 3 | 2) + number(len(body)) + body


def message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Return a message."""
    return b"".join(field(*one) for one in fields)


def wrapped(version: str, kind: str, body: bytes) -> bytes:
    """Return an object as it is sent."""
    meta = message((1, version), (2, kind))
    return MAGIC + message((1, meta), (2, body), (3, ""), (4, ""))


def metadata(
    name: str, namespace: str = "", version: str = "", labels: Iterable[tuple[str, str]] = ()
) -> bytes:
    """Return the metadata of an object; Go writes texts that are empty, too."""
    pairs = [(11, message((1, key), (2, value))) for key, value in labels]
    texts = [(1, name), (2, ""), (3, namespace), (4, ""), (5, ""), (6, version), (7, 0), (8, b"")]
    return message(*texts, *pairs)


def time(seconds: int, nanos: int = 0) -> bytes:
    """Return a time."""
    return message((1, seconds), (2, nanos))
