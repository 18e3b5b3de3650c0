"""Bodies in protobuf, which typed clients of Kubernetes send: decoded to the JSON that they mean.

The messages come with Plinian, from the Go source of k8s.io/api and k8s.io/apimachinery 1.35
(Apache License 2.0); ``tools/protobuf_messages.py`` writes them. Custom resources have none: their
clients send JSON.

Source: https://protobuf.dev/programming-guides/encoding/; k8s.io/apimachinery
pkg/runtime/serializer/protobuf, pkg/apis/meta/v1/time_proto.go, pkg/api/resource/generated.proto.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import zstandard

from .....engine.nesting import MAX_DEPTH
from ..wire.api_status import StatusError
from ..wire.protobuf_fields import BYTES, broken, fields, records, text, unwrapped
from .patches import MOST_VALUES

_META = "apimachinery/pkg/apis/meta/v1"
_SIGNED, _ALL = 1 << 63, 1 << 64
_ZERO_YEAR = datetime(1970, 1, 1, tzinfo=UTC)


class MessageField(NamedTuple):
    """A field of a message.

    :param shape: ``one``, ``list`` or ``map``; keys of maps are texts.
    :param type: a scalar, a special type, or the name of a message.
    :param use: ``plain`` fields are left out if they are zero, ``inline`` ones have no own name.
    """

    name: str
    shape: str
    type: str
    use: str


Messages = Mapping[str, Mapping[str, MessageField]]


@cache
def _messages() -> Messages:
    packed = files(__package__).joinpath("messages.json.zst").read_bytes()
    return msgspec.json.decode(
        zstandard.ZstdDecompressor().decompress(packed), type=dict[str, dict[str, MessageField]]
    )


def decoded(body: bytes) -> dict[str, Any]:
    """Return the object in a body.

    :raises StatusError: it is none, or of a kind that has no message.
    """
    version, kind, message = unwrapped(body)
    name = _message_of(version, kind)
    if name is None:
        raise StatusError(415, f"no {kind} of {version} can be read from protobuf: send JSON")
    return {"apiVersion": version, "kind": kind, **_Decoding(_messages()).message(name, message)}


def _message_of(version: str, kind: str) -> str | None:
    group, _, last = version.rpartition("/")
    package = f"api/{group.partition('.')[0] or 'core'}/{last}"
    candidates = (f"{package}.{kind}", f"{_META}.{kind}")
    return next((name for name in candidates if name in _messages()), None)


class _Decoding:
    """Decodes messages by the names of their types."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._depth = self._records = 0

    def message(self, name: str, body: bytes) -> dict[str, Any]:
        """Return a message as JSON; fields that are not known are left out.

        :raises StatusError: it is no message, or has more levels or fields than any object has.
        """
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise broken()
        decoded_message = self._message(self._messages.get(name, {}), body)
        self._depth -= 1
        return decoded_message

    def _message(self, known: Mapping[str, MessageField], body: bytes) -> dict[str, Any]:
        decoded_fields: dict[str, Any] = {}
        for number, wire, value in records(body):
            self._records += 1
            if self._records > MOST_VALUES:
                raise StatusError(413, f"the body has more than {MOST_VALUES:,} values")
            field = known.get(str(number))
            if field is not None:
                self._take(decoded_fields, field, wire, value)
        return decoded_fields

    def _take(
        self, decoded_fields: dict[str, Any], field: MessageField, wire: int, value: int | bytes
    ) -> None:
        if field.use == "inline":
            decoded_fields.update(self.message(field.type, _bytes(value)))
        elif field.shape == "map":
            key, entry = self._pair(field.type, _bytes(value))
            decoded_fields.setdefault(field.name, {})[key] = entry
        elif field.shape == "list":
            decoded_fields.setdefault(field.name, []).extend(self._items(field.type, wire, value))
        else:
            decoded_value = self._value(field.type, value)
            if decoded_value is None or (
                field.use == "plain" and not decoded_value and not isinstance(decoded_value, dict)
            ):
                return
            decoded_fields[field.name] = decoded_value

    def _pair(self, kind: str, body: bytes) -> tuple[str, Any]:
        """Return the key and the value of one entry of a map."""
        key, map_value = "", self._value(kind, 0 if kind in {"int", "bool"} else b"")
        for number, _, value in records(body):
            if number == 1:
                key = _text(value)
            else:
                map_value = self._value(kind, value)
        return key, map_value

    def _items(self, kind: str, wire: int, value: int | bytes) -> list[Any]:
        if kind == "int" and wire == BYTES:  # Numbers may be packed together.
            packed = _bytes(value)
            # Each becomes a field of a message, so that one reader of numbers is enough.
            framed = b"".join(b"\x08" + number for number in _numbers(packed))
            return [self._value(kind, number) for _, _, number in records(framed)]
        return [self._value(kind, value)]

    def _value(self, kind: str, value: int | bytes) -> Any:
        read = _SPECIAL.get(kind)
        return self.message(kind, _bytes(value)) if read is None else read(value)


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise broken()
    return value


def _number(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise broken()
    return value


def _signed(value: int) -> int:
    value %= _ALL
    return value - _ALL if value >= _SIGNED else value


def _numbers(packed: bytes) -> list[bytes]:
    """Return the bytes of each of the numbers that are packed together."""
    numbers, begin = [], 0
    for place, byte in enumerate(packed):
        if not byte & 0x80:
            numbers.append(packed[begin : place + 1])
            begin = place + 1
    return numbers


def _text(value: int | bytes) -> str:
    try:
        return _bytes(value).decode()
    except UnicodeDecodeError as fault:
        raise broken() from fault


def _double(value: int | bytes) -> float:
    try:
        (number,) = struct.unpack("<d", _bytes(value))
    except struct.error as fault:
        raise broken() from fault
    return float(number)


def _fields(value: int | bytes) -> dict[int, int | bytes]:
    return {number: part for number, _, part in records(_bytes(value))}


def _time(value: int | bytes, *, micro: bool = False) -> str | None:
    """Return a time as an API server writes it; None if it is zero."""
    parts = _fields(value)
    seconds, nanos = _signed(_number(parts.get(1, 0))), _number(parts.get(2, 0))
    if not parts:
        return None
    try:
        at = _ZERO_YEAR + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError as fault:
        raise broken() from fault
    whole = at.replace(tzinfo=None, microsecond=0).isoformat()
    return f"{whole}.{at.microsecond:06}Z" if micro else f"{whole}Z"


def _int_or_string(value: int | bytes) -> int | str:
    parts = _fields(value)
    if _number(parts.get(1, 0)):
        return _text(parts.get(3, b""))
    return _signed(_number(parts.get(2, 0)))


def _raw(value: int | bytes) -> Any:
    """Return an object inside another one, which is JSON."""
    inner = fields(_bytes(value)).get(1, b"")
    if not inner:
        return None
    try:
        return msgspec.json.decode(inner)
    except msgspec.MsgspecError as fault:
        raise StatusError(415, "an object inside the object is no JSON") from fault


def _duration(_value: int | bytes) -> Any:
    raise StatusError(415, "durations cannot be read from protobuf: send JSON")


_SPECIAL: Mapping[str, Callable[[int | bytes], Any]] = MappingProxyType(
    {
        "int": lambda value: _signed(_number(value)),
        "bool": lambda value: bool(_number(value)),
        "string": _text,
        "quantity": lambda value: text(fields(_bytes(value)), 1) or "0",
        "bytes": lambda value: base64.b64encode(_bytes(value)).decode(),
        "strings": lambda value: [_text(part) for _, _, part in records(_bytes(value))],
        "double": _double,
        "time": _time,
        "microtime": lambda value: _time(value, micro=True),
        "intorstring": _int_or_string,
        "raw": _raw,
        "duration": _duration,
    }
)
"""How the types are read that are no messages."""
