"""Reads the protobuf of Kubernetes, as far as questions about permissions need it.

Source: https://protobuf.dev/programming-guides/encoding/; k8s.io/apimachinery
pkg/runtime/serializer/protobuf.
"""

from __future__ import annotations

from .status import StatusError

MAGIC = b"k8s\x00"

_MORE, _DIGITS, _LONGEST = 0x80, 0x7F, 70


def fields(message: bytes) -> dict[int, bytes]:
    """Return the last value of each field that holds bytes; other fields are left out.

    :raises StatusError: it is no message.
    """
    found: dict[int, bytes] = {}
    place = 0
    while place < len(message):
        tag, place = _number(message, place)
        match tag & 7:
            case 0:
                _, place = _number(message, place)
            case 1:
                place += 8
            case 5:
                place += 4
            case 2:
                size, place = _number(message, place)
                if place + size > len(message):
                    raise _broken()
                found[tag >> 3] = message[place : place + size]
                place += size
            case _:
                raise _broken()
    return found


def text(message: dict[int, bytes], number: int) -> str:
    """Return a field as text; empty if it is missing."""
    return message.get(number, b"").decode("utf-8", "replace")


def unwrapped(body: bytes) -> tuple[str, bytes]:
    """Return the kind and the message of an object in protobuf.

    :raises StatusError: it is none.
    """
    if not body.startswith(MAGIC):
        raise _broken()
    outer = fields(body[len(MAGIC) :])
    return text(fields(outer.get(1, b"")), 2), outer.get(2, b"")


def _number(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if place >= len(message) or shift >= _LONGEST:
            raise _broken()
        byte = message[place]
        value |= (byte & _DIGITS) << shift
        place, shift = place + 1, shift + 7
        if not byte & _MORE:
            return value, place


def _broken() -> StatusError:
    return StatusError(400, "the body is no object in protobuf")
