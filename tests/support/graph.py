"""Objects as plain values, whatever they are made of: what is in one is in its graph."""

from __future__ import annotations

import functools
import types
from enum import Enum
from typing import Any

import msgspec

_PLAIN = (str, bytes, int, float, bool, type(None), Enum)
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)


class Graph:
    """Walks what objects hold; what it met before it tells by its number.

    :param left_out: names of attributes that do not matter, as ``Class.attribute``.
    """

    def __init__(self, left_out: frozenset[str]) -> None:
        self._left_out = left_out
        self._met: dict[int, int] = {}
        self._kept: list[Any] = []

    def of(self, value: Any) -> Any:
        """Return a value, with all that it holds."""
        if isinstance(value, _PLAIN):
            return repr(value)
        if isinstance(value, (type, *_FUNCTIONS)):
            return getattr(value, "__qualname__", type(value).__name__)
        if isinstance(value, frozenset | set):
            return ["set", *sorted(map(repr, value))]
        if isinstance(value, tuple):
            return [type(value).__name__, *map(self.of, value)]
        if isinstance(value, msgspec.Struct) and value.__struct_config__.frozen:
            return [type(value).__name__, msgspec.json.encode(value).decode()]
        if id(value) in self._met:
            return f"#{self._met[id(value)]}"
        self._met[id(value)] = len(self._met)
        self._kept.append(value)
        if isinstance(value, dict | types.MappingProxyType):
            return ["map", *[(self.of(key), self.of(one)) for key, one in value.items()]]
        if isinstance(value, list):
            return ["list", *map(self.of, value)]
        return [type(value).__name__, *self._attributes(value)]

    def _attributes(self, value: Any) -> list[Any]:
        if isinstance(value, msgspec.Struct):
            names = list(value.__struct_fields__)
        else:
            slots = [
                name for base in type(value).__mro__ for name in getattr(base, "__slots__", ())
            ]
            names = [*slots, *vars(value)] if hasattr(value, "__dict__") else slots
        label = type(value).__name__
        return [
            (name, self.of(getattr(value, name)))
            for name in sorted(names)
            if f"{label}.{name}" not in self._left_out and hasattr(value, name)
        ]
