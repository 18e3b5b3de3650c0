"""Columns that grow: rows are allocated and freed, matrices get new resources.

A row belongs to one owner as long as that exists, so that a change of one object changes one row.
Callers always get a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .resource import Resource
from .resource_names import PODS

Floats = NDArray[np.float64]
T = TypeVar("T")
_VECTORS = 65536
"""The most vectors that are kept: each task with unique volumes adds one."""
_FIRST = ("cpu", "memory", PODS)


class Dimensions:
    """The resources that have a column: cpu, memory, pods, then all others by name."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = _FIRST
        self._column = {name: index for index, name in enumerate(_FIRST)}
        self._vectors: dict[int, tuple[Resource, list[float]]] = {}

    def __len__(self) -> int:
        return len(self.names)

    def widen(self, resources: Iterable[Resource]) -> list[int] | None:
        """Add columns for the scalars of some resources.

        :return: the new place of each old column; None if no column was added.
        """
        known = self._column
        new = {name for r in resources if r.scalars for name in r.scalars if name not in known}
        if not new:
            return None
        old = self.names
        self.names = (*_FIRST, *sorted(new.union(old).difference(_FIRST)))
        self._column = {name: index for index, name in enumerate(self.names)}
        self._vectors.clear()
        return [self._column[name] for name in old]

    def vector(self, resource: Resource) -> list[float]:
        """Return the amounts by column; absent ones are 0."""
        amounts = [0.0] * len(self.names)
        amounts[0], amounts[1] = resource.cpu, resource.memory
        if resource.scalars:
            column = self._column
            for name, amount in resource.scalars.items():
                amounts[column[name]] = amount
        return amounts

    def shared_vector(self, resource: Resource) -> list[float]:
        """Return the vector of a resource that never changes; the vector must not be changed."""
        known = self._vectors.get(id(resource))
        if known is None or known[0] is not resource:
            if len(self._vectors) >= _VECTORS:
                self._vectors.clear()
            # The resource is kept as well, so that no other one gets its id.
            known = self._vectors[id(resource)] = (resource, self.vector(resource))
        return known[1]

    def present(self, resource: Resource) -> list[bool]:
        """Return by column whether the resource has it; cpu and memory are always present."""
        scalars = resource.scalars or {}
        return [name in scalars or index < 2 for index, name in enumerate(self.names)]


class Columns:
    """Arrays that share rows.

    :param fields: name to element type of the one-dimensional columns.
    :param matrices: names of the rows × resources columns of float64.
    """

    def __init__(
        self, fields: dict[str, np.dtype[Any]], matrices: Sequence[str], width: int
    ) -> None:
        self._arrays: dict[str, NDArray[Any]] = {
            **{name: np.zeros(0, kind) for name, kind in fields.items()},
            **{name: np.zeros((0, width)) for name in matrices},
        }
        self._matrices = tuple(matrices)
        self._free: list[int] = []
        self.rows = 0
        """Rows given out so far, free ones included."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name][: self.rows]

    def take_row(self) -> int:
        """Return a free row."""
        if self._free:
            return self._free.pop()
        row = self.rows
        self.rows += 1
        length = len(next(iter(self._arrays.values())))
        if row >= length:
            self._lengthen(max(64, 2 * length))
        return row

    def free_row(self, row: int) -> None:
        """Take a row back."""
        self._free.append(row)

    def widen(self, places: list[int], width: int) -> None:
        """Move the matrices' columns to new places; new columns are 0."""
        assert len(set(places)) == len(places) <= width, "each old column has a place to itself"
        for name in self._matrices:
            old = self._arrays[name]
            new = np.zeros((len(old), width))
            new[:, places] = old
            self._arrays[name] = new

    def _lengthen(self, length: int) -> None:
        for name, old in self._arrays.items():
            new = np.zeros((length, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            self._arrays[name] = new


class Ids:
    """Small numbers for names; the number of a name never changes."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def of(self, name: str) -> int:
        """Return the number of a name."""
        known = self._ids.get(name)
        if known is None:
            known = self._ids[name] = len(self._ids)
        return known

    def rows(self, order: Order) -> NDArray[np.int32]:
        """Return, by number, the place of its name in an order; -1 without one, and at the end."""
        ids = order.ids
        if ids is None:
            ids = order.ids = np.array([self.of(name) for name in order.names], np.intp)
        rows = np.full(len(self._ids) + 1, -1, np.int32)
        rows[ids] = np.arange(len(ids), dtype=np.int32)
        return rows


class Order:
    """Names in ascending order, and the rows of a table that they have.

    :ivar row: name to its place in the order. :ivar rows: rows of the columns by place.
    :ivar ids: numbers of the names, after their first use.
    """

    __slots__ = ("_list", "ids", "names", "row", "rows")

    def __init__(self, row_of: Mapping[str, int]) -> None:
        self.names = sorted(row_of)
        self.row = {name: place for place, name in enumerate(self.names)}
        self._list = [row_of[name] for name in self.names]
        self.rows = np.array(self._list, np.intp)
        self.ids: NDArray[np.intp] | None = None

    def pick(self, items: Sequence[T]) -> list[T]:
        """Return the items of these rows, in the order of the names."""
        return list(map(items.__getitem__, self._list))
