"""Arguments of plugins that are more than one value: decoded into fields, or the process ends.

Source: pkg/scheduler/framework/arguments.go Get, with the rules of ``mapstructure.Decode``: names
of fields are compared without regard to case, unknown ones passed over, what is left out is zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from ....model.panic import Panic
from ....volcano.arguments import Arguments, is_int

_GET = "framework.Get[...]"


class ValueType(Enum):
    """Type of a single value; a whole number is a number, and a number is cut to a whole one."""

    BOOL = False
    TEXT = ""
    INT = 0
    NUMBER = 0.0


Wanted = Any
"""A ``ValueType``; a dict of fields; or a tuple of one of these: a map by name."""


def decode(arguments: Arguments, key: str, wanted: Wanted) -> Any:
    """Return an argument in its shape, ``None`` if it is not given.

    :raises Panic: it has another type, which ends the scheduler with a fatal error.
    """
    if key not in arguments.raw:
        return None
    try:
        return _decoded(arguments.raw[key], wanted)
    except TypeError as fault:
        raise Panic(f"Could not parse argument for key {key}: {fault}", (_GET,)) from None


def decode_texts(arguments: Arguments, key: str) -> tuple[str, ...]:
    """Return an argument that is a list of texts, empty if it is not given.

    :raises Panic: it has another type, which ends the scheduler with a fatal error.
    """
    given = arguments.raw.get(key)
    if not isinstance(given, list | None):
        text = f"source data must be an array or slice, got {type(given).__name__}"
        raise Panic(f"Could not parse argument for key {key}: {text}", (_GET,))
    try:
        return tuple(str(_single(each, ValueType.TEXT)) for each in given or ())
    except TypeError as fault:
        raise Panic(f"Could not parse argument for key {key}: {fault}", (_GET,)) from None


def _decoded(value: object, wanted: Wanted) -> Any:
    if isinstance(wanted, ValueType):
        return _single(value, wanted)
    if value is None:
        value = {}
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a map, got '{type(value).__name__}'")
    if isinstance(wanted, tuple):
        return {str(name): _decoded(item, wanted[0]) for name, item in value.items()}
    given = {str(name).lower(): item for name, item in value.items()}
    return {name: _decoded(given.get(name.lower()), shape) for name, shape in wanted.items()}


def _single(value: object, wanted: ValueType) -> bool | str | float:
    if value is None:
        zero: bool | str | float = wanted.value
        return zero
    if wanted is ValueType.BOOL and isinstance(value, bool):
        return value
    if wanted is ValueType.TEXT and isinstance(value, str):
        return value
    if isinstance(value, float) or is_int(value):
        if wanted is ValueType.INT:
            return int(value)  # type: ignore[call-overload, no-any-return]
        if wanted is ValueType.NUMBER:
            return float(value)  # type: ignore[arg-type]
    raise TypeError(f"expected type '{wanted.name.lower()}', got '{type(value).__name__}'")
