"""Reads protobuf as Kubernetes wraps it: fields by their numbers, without their meaning.

Source: https://protobuf.dev/programming-guides/encoding/; k8s.io/apimachinery
pkg/runtime/serializer/protobuf.
"""

from __future__ import annotations

from collections.abc import Iterator

from .api_status import StatusError

MAGIC = b"k8s\x00"

MOST_RECORDS = 100_000
"""The fields of one message."""

_MORE, _DIGITS, _LONGEST = 0x80, 0x7F, 70

BYTES = 2
"""The type on the wire of texts, messages, and numbers that are packed together."""


def records(message: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Yield the number, the type and the value of each field; numbers are as on the wire.

    :raises StatusError: it is no message.
    """
    place = count = 0
    while place < len(message):
        count += 1
        if count > MOST_RECORDS:
            raise StatusError(413, f"a message of the body has more than {MOST_RECORDS:,} fields")
        tag, place = _number(message, place)
        wire = tag & 7
        match wire:
            case 0:
                number, place = _number(message, place)
                yield tag >> 3, wire, number
                continue
            case 1:
                size = 8
            case 5:
                size = 4
            case 2:
                size, place = _number(message, place)
            case _:
                raise broken()
        if place + size > len(message):
            raise broken()
        value = message[place : place + size]
        yield tag >> 3, wire, value
        place += size


def fields(message: bytes) -> dict[int, bytes]:
    """Return the last value of each field that holds bytes; other fields are left out.

    :raises StatusError: it is no message.
    """
    return {
        number: value
        for number, wire, value in records(message)
        if wire == BYTES and isinstance(value, bytes)
    }


def text(message: dict[int, bytes], number: int) -> str:
    """Return a field as text; empty if it is missing."""
    return message.get(number, b"").decode("utf-8", "replace")


def unwrapped(body: bytes) -> tuple[str, str, bytes]:
    """Return the version, the kind and the message of an object in protobuf.

    :raises StatusError: it is none.
    """
    if not body.startswith(MAGIC):
        raise broken()
    outer = fields(body[len(MAGIC) :])
    meta = fields(outer.get(1, b""))
    return text(meta, 1), text(meta, 2), outer.get(2, b"")


def _number(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if place >= len(message) or shift >= _LONGEST:
            raise broken()
        byte = message[place]
        value |= (byte & _DIGITS) << shift
        place, shift = place + 1, shift + 7
        if not byte & _MORE:
            return value, place


def broken() -> StatusError:
    """Return the answer to a body that is no protobuf."""
    return StatusError(400, "the body is no object in protobuf")
