"""Values as numbers: equal values get the same one, so a comparison of states is one of numbers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value", bound=Hashable)


class ValueTable(Generic[Value]):
    """Numbers values in the order in which they come."""

    def __init__(self) -> None:
        self._number: dict[Value, int] = {}
        self._values: list[Value] = []

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, number: int) -> Value:
        return self._values[number]

    def number(self, value: Value) -> int:
        """Return the number of a value."""
        known = self._number.get(value)
        if known is None:
            known = self._number[value] = len(self._values)
            self._values.append(value)
        return known
