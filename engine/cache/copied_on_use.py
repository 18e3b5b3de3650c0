"""A map whose values are copied when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Value = TypeVar("Value")


class CopiedOnUse(dict[str, Value]):
    """A map with copies of another map's values; each copy is made at the first lookup.

    It is for lookups only: to walk through it is to see what was looked up before.
    """

    def __init__(self, source: Mapping[str, Value], copy: Callable[[Value], Value]) -> None:
        super().__init__()
        self._source, self._copy = source, copy

    def __missing__(self, key: str) -> Value:
        """Copy a value."""
        value = self[key] = self._copy(self._source[key])
        return value

    def get(self, key: str, default: Value | None = None) -> Value | None:  # type: ignore[override]
        """Return the copy of a value, or the default if the other map has none."""
        return self[key] if key in self._source else default
