"""Amounts of resources, with the arithmetic and the comparisons of the scheduler.

A missing map of scalars, a missing name in it, and a name with 0 are three different states here.

Source: pkg/scheduler/api/resource_info.go; pkg/scheduler/api/helpers/helpers.go.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from ..kubernetes.quantity import format_binary, format_decimal, parse
from .panic import Panic, Shortage
from .resource_names import PODS, is_scalar_name

_KEPT = 4096
"""Lists whose amounts are kept: most nodes, and most pods, have one of few."""


class Amounts(NamedTuple):
    """The amounts of a list; the fields are those of :class:`.resource.Resource`."""

    cpu: float
    memory: float
    scalars: Mapping[str, float] | None
    max_task_num: int


@lru_cache(maxsize=_KEPT)
def amounts_of(quantities: tuple[tuple[str, str | float], ...], ignored: frozenset[str]) -> Amounts:
    """Return the amounts of a list, given by its names and quantities.

    :param ignored: see :meth:`.resource.Resource.of`.
    :raises ValueError: a quantity is malformed.

    Source: pkg/scheduler/api/resource_info.go NewResource.
    """
    cpu = memory = 0.0
    scalars: dict[str, float] = {}
    most = 0
    for name, text in quantities:
        quantity = parse(text)
        if name == "cpu":
            cpu = float(quantity.milli_value())
        elif name == "memory":
            memory = float(quantity.value())
        elif name == PODS:
            most = quantity.value()
            if name not in ignored:
                scalars[name] = float(quantity.value())
        elif name == "ephemeral-storage" or (is_scalar_name(name) and name not in ignored):
            scalars[name] = float(quantity.milli_value())
    return Amounts(cpu, memory, MappingProxyType(scalars) if scalars else None, most)


MIN_RESOURCE = 0.1
"""Amounts that differ by less than this are equal (``minResource``)."""

Scalars = dict[str, float]


class Default(IntEnum):
    """The value of a scalar that one side of a comparison lacks (``DimensionDefaultValue``)."""

    ZERO = 0
    INFINITY = -1


ZERO = Default.ZERO
INFINITY = Default.INFINITY


class Resource:
    """A vector of amounts; methods that change it return it.

    :param cpu: milli-cores.
    :param memory: bytes.
    :param scalars: milli of any other resource, and the count of ``pods``; None is Go's nil map.
    :param max_task_num: count of ``pods``; copied by ``clone`` and ignored by all else.
    """

    __slots__ = ("cpu", "max_task_num", "memory", "scalars")

    def __init__(
        self,
        cpu: float = 0.0,
        memory: float = 0.0,
        scalars: Scalars | None = None,
        max_task_num: int = 0,
    ) -> None:
        self.cpu = cpu
        self.memory = memory
        self.scalars = scalars
        self.max_task_num = max_task_num

    @classmethod
    def of(
        cls, quantities: Mapping[str, str | float] | None, ignored: frozenset[str] = frozenset()
    ) -> Resource:
        """Return the amounts of a Kubernetes resource list.

        :param ignored: names that shared devices count themselves; ``pods`` if it is not counted.
        :raises ValueError: a quantity is malformed.

        Source: resource_info.go NewResource.
        """
        if not quantities:
            return cls()
        cpu, memory, scalars, most = amounts_of(tuple(quantities.items()), ignored)
        return cls(cpu, memory, None if scalars is None else dict(scalars), most)

    @classmethod
    def from_vector(cls, dims: Sequence[str], amounts: Iterable[float]) -> Resource:
        """Return the resource with all these dimensions present."""
        resource = cls(scalars={})
        for name, amount in zip(dims, amounts, strict=True):
            resource.set(name, amount)
        return resource

    def vector(self, dims: Sequence[str]) -> list[float]:
        """Return the amounts of ``dims`` in their order; what is absent is 0."""
        scalars = self.scalars or {}
        amounts = {"cpu": self.cpu, "memory": self.memory}
        return [amounts[name] if name in amounts else scalars.get(name, 0.0) for name in dims]

    def clone(self) -> Resource:
        """Return an independent copy; an absent map stays absent."""
        scalars = None if self.scalars is None else dict(self.scalars)
        return Resource(self.cpu, self.memory, scalars, self.max_task_num)

    def __eq__(self, other: object) -> bool:
        """Compare representations: an absent map, an absent name and 0 differ."""
        if not isinstance(other, Resource):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # it changes in place

    def __str__(self) -> str:
        """Print as Go does, scalars by name (there in the order of a map).

        Source: resource_info.go String.
        """
        return ", ".join(f"{name} {amount}" for name, amount in self.printed())

    def printed(self) -> Iterator[tuple[str, str]]:
        """Yield the names and the amounts as Go prints them."""
        yield "cpu", f"{self.cpu:.2f}"
        yield "memory", f"{self.memory:.2f}"
        for name, amount in sorted((self.scalars or {}).items()):
            yield name, f"{amount:.2f}"

    def __repr__(self) -> str:
        return f"Resource({self})"

    def get(self, name: str) -> float:
        """Return one amount; what is absent is 0."""
        if name == "cpu":
            return self.cpu
        if name == "memory":
            return self.memory
        return (self.scalars or {}).get(name, 0.0)

    def set(self, name: str, amount: float) -> None:
        """Set one amount."""
        if name == "cpu":
            self.cpu = amount
        elif name == "memory":
            self.memory = amount
        else:
            self.set_scalar(name, amount)

    def add_scalar(self, name: str, amount: float) -> None:
        """Add to a scalar, which is 0 if absent."""
        self.set_scalar(name, (self.scalars or {}).get(name, 0.0) + amount)

    def set_scalar(self, name: str, amount: float) -> None:
        """Set a scalar and make the map if it is absent."""
        if self.scalars is None:
            self.scalars = {}
        self.scalars[name] = amount

    def resource_names(self) -> list[str]:
        """Return the names with at least 0.1: cpu, memory, then scalars by name.

        Source: resource_info.go ResourceNames.
        """
        named = [("cpu", self.cpu), ("memory", self.memory), *sorted((self.scalars or {}).items())]
        return [name for name, amount in named if amount >= MIN_RESOURCE]

    def is_empty(self) -> bool:
        """Return whether there is less than 0.1 of everything but ``pods``.

        Source: resource_info.go IsEmpty.
        """
        if not (self.cpu < MIN_RESOURCE and self.memory < MIN_RESOURCE):
            return False
        if not self.scalars:
            return True
        return not any(
            amount >= MIN_RESOURCE for name, amount in self.scalars.items() if name != PODS
        )

    def is_zero(self, name: str) -> bool:
        """Return whether there is less than 0.1 of one resource.

        :raises Panic: there are scalars, and not this one.

        Source: resource_info.go IsZero.
        """
        if name in ("cpu", "memory") or self.scalars is None:
            return self.get(name) < MIN_RESOURCE
        if name not in self.scalars:
            raise Panic(f"unknown resource {name}", ("api.(*Resource).IsZero",))
        return self.scalars[name] < MIN_RESOURCE

    def add(self, other: Resource) -> Resource:
        """Add ``other`` to this."""
        self.cpu += other.cpu
        self.memory += other.memory
        if other.scalars:
            if self.scalars is None:
                self.scalars = {}
            mine = self.scalars
            for name, amount in other.scalars.items():
                mine[name] = mine.get(name, 0.0) + amount
        return self

    def sub(self, other: Resource) -> Resource:
        """Subtract ``other``, which must not be more than this.

        :raises Panic: it is more, in some dimension of ``other``.

        Source: resource_info.go Sub; pkg/scheduler/util/assert/assert.go.
        """
        if not other.less_equal(self, ZERO):
            _, names = other.less_equal_with_resources_name(self, ZERO)
            raise Panic(
                f"resource is not sufficient to do operation: <{self}> sub <{other}>",
                ("api.(*Resource).Sub",),
                short=tuple(Shortage(name, self.get(name), other.get(name)) for name in names),
            )
        return self.sub_unchecked(other)

    def sub_unchecked(self, other: Resource) -> Resource:
        """Subtract ``other`` even below 0; its scalars are lost if this has no map of them.

        Source: resource_info.go sub, SubWithoutAssert.
        """
        self.cpu -= other.cpu
        self.memory -= other.memory
        if self.scalars is not None and other.scalars:
            mine = self.scalars
            for name, amount in other.scalars.items():
                mine[name] = mine.get(name, 0.0) - amount
        return self

    def multi(self, ratio: float) -> Resource:
        """Multiply every amount by ``ratio``."""
        self.cpu *= ratio
        self.memory *= ratio
        for name in self.scalars or ():
            self.scalars[name] *= ratio  # type: ignore[index]
        return self

    def set_max_resource(self, other: Resource) -> Resource:
        """Raise every amount to at least that of ``other``.

        Source: resource_info.go SetMaxResource.
        """
        self.cpu = max(self.cpu, other.cpu)
        self.memory = max(self.memory, other.memory)
        if not other.scalars:
            return self
        if self.scalars is None:
            self.scalars = dict(other.scalars)
            return self
        for name, amount in other.scalars.items():
            if name not in self.scalars or amount > self.scalars[name]:
                self.scalars[name] = amount
        return self

    def fit_delta(self, request: Resource) -> Resource:
        """Subtract the request and 0.1 more; what is then below 0 is insufficient.

        Source: resource_info.go FitDelta.
        """
        if request.cpu > 0:
            self.cpu -= request.cpu + MIN_RESOURCE
        if request.memory > 0:
            self.memory -= request.memory + MIN_RESOURCE
        if self.scalars is None:
            self.scalars = {}
        for name, amount in (request.scalars or {}).items():
            if amount > 0:
                self.scalars[name] = self.scalars.get(name, 0.0) - (amount + MIN_RESOURCE)
        return self

    def min_dimension_resource(self, other: Resource, default: Default) -> Resource:
        """Lower every amount to at most that of ``other``; scalars that it lacks become 0 or stay.

        Source: resource_info.go MinDimensionResource.
        """
        self.cpu = min(self.cpu, other.cpu)
        self.memory = min(self.memory, other.memory)
        theirs = other.scalars or {}
        for name, amount in (self.scalars or {}).items():
            if name in theirs:
                self.scalars[name] = min(amount, theirs[name])  # type: ignore[index]
            elif default is ZERO:
                self.scalars[name] = 0.0  # type: ignore[index]
        return self

    def diff(self, other: Resource, default: Default) -> tuple[Resource, Resource]:
        """Return by how much this is more than ``other``, and by how much less.

        A scalar that one side lacks counts ``default``; -1 (infinity) stays -1.

        Source: resource_info.go Diff, setDefaultValue.
        """
        more, less = Resource(scalars={}), Resource(scalars={})
        mine, theirs = self.scalars or {}, other.scalars or {}
        for name in ("cpu", "memory"):
            by = self.get(name) - other.get(name)
            (more if by > 0 else less).set(name, abs(by))
        absent = float(default)
        for name in (*mine, *(name for name in theirs if name not in mine)):
            left, right = mine.get(name, absent), theirs.get(name, absent)
            # Infinite amounts are not subtracted from: the mark itself is the result.
            if left == INFINITY:
                more.set_scalar(name, left)
            elif right == INFINITY:
                less.set_scalar(name, right)
            elif left > right:
                more.set_scalar(name, left - right)
            else:
                less.set_scalar(name, right - left)
        return more, less

    def less(self, other: Resource, default: Default) -> bool:
        """Return whether every amount is less; scalars that only ``other`` has matter if infinite.

        Source: resource_info.go Less.
        """
        return self._all(other, default, operator.lt)

    def less_equal(self, other: Resource, default: Default) -> bool:
        """Return whether every amount is less or equal.

        Source: resource_info.go LessEqual.
        """
        if default is INFINITY or self.scalars is None or other.scalars is None:
            return self._all(other, default, _less_equal)
        # The usual case, written out for speed: every removal of a task from a node runs this.
        if not (self.cpu - other.cpu < MIN_RESOURCE and self.memory - other.memory < MIN_RESOURCE):
            return False
        for name, amount in self.scalars.items():
            if not amount - other.scalars.get(name, 0.0) < MIN_RESOURCE:
                return False
        return True

    def _all(
        self, other: Resource, default: Default, holds: Callable[[float, float], bool]
    ) -> bool:
        if not (holds(self.cpu, other.cpu) and holds(self.memory, other.memory)):
            return False
        mine, theirs = self.scalars or {}, other.scalars or {}
        if default is INFINITY:
            if any(name not in mine for name in theirs):
                return False
            return all(holds(mine[name], theirs[name]) for name in mine if name in theirs)
        return all(holds(amount, theirs.get(name, 0.0)) for name, amount in mine.items())

    def less_equal_with_resources_name(
        self, other: Resource, default: Default
    ) -> tuple[bool, list[str]]:
        """Return whether every amount is less or equal, and name those that are not.

        Scalars that only ``other`` has are ignored. Names are cpu, memory, then scalars by name.

        Source: resource_info.go LessEqualWithResourcesName.
        """
        failing = []
        if not _less_equal(self.cpu, other.cpu):
            failing.append("cpu")
        if not _less_equal(self.memory, other.memory):
            failing.append("memory")
        theirs = other.scalars or {}
        for name, amount in sorted((self.scalars or {}).items()):
            if name not in theirs and default is INFINITY:
                continue
            if not _less_equal(amount, theirs.get(name, 0.0)):
                failing.append(name)
        return not failing, failing

    def less_partly(self, other: Resource, default: Default) -> bool:
        """Return whether some amount is less.

        Source: resource_info.go LessPartly.
        """
        return self._any(other, default, operator.lt)

    def less_equal_partly(self, other: Resource, default: Default) -> bool:
        """Return whether some amount is less or equal.

        Source: resource_info.go LessEqualPartly.
        """
        return self._any(other, default, _less_equal)

    def _any(
        self, other: Resource, default: Default, holds: Callable[[float, float], bool]
    ) -> bool:
        if holds(self.cpu, other.cpu) or holds(self.memory, other.memory):
            return True
        mine, theirs = self.scalars or {}, other.scalars or {}
        # What is absent here is 0, which is less than any amount there.
        if default is ZERO and any(name not in mine for name in theirs):
            return True
        for name, amount in mine.items():
            if name not in theirs and default is INFINITY:
                return True
            if holds(amount, theirs.get(name, 0.0)):
                return True
        return False

    def equal(self, other: Resource) -> bool:
        """Return whether all amounts are equal; scalars that only ``other`` has are ignored.

        Source: resource_info.go Equal.
        """
        if not (_equal(self.cpu, other.cpu) and _equal(self.memory, other.memory)):
            return False
        theirs = other.scalars or {}
        return all(
            _equal(amount, theirs.get(name, 0.0)) for name, amount in (self.scalars or {}).items()
        )

    def less_equal_with_dimension(self, other: Resource | None, request: Resource | None) -> bool:
        """Return whether this is at most ``other`` in the requested resources, without tolerance.

        Source: resource_info.go LessEqualWithDimension.
        """
        return self.less_equal_with_dimension_and_resources_name(other, request)[0]

    def less_equal_with_dimension_and_resources_name(
        self, other: Resource | None, request: Resource | None
    ) -> tuple[bool, list[str]]:
        """Compare as :meth:`less_equal_with_dimension`, and name the resources that exceed.

        Names are cpu, memory, then scalars by name; without ``other``, all that there is of this.

        Source: resource_info.go LessEqualWithDimensionAndResourcesName.
        """
        if other is None:
            return False, self.resource_names()
        if request is None:
            return self.less_equal_with_resources_name(other, ZERO)
        failing = []
        if request.cpu > 0 and self.cpu > other.cpu:
            failing.append("cpu")
        if request.memory > 0 and self.memory > other.memory:
            failing.append("memory")
        # Without a map of scalars here none is compared, whatever is requested.
        mine, theirs = self.scalars, other.scalars or {}
        if mine is not None:
            failing += sorted(
                name
                for name, amount in (request.scalars or {}).items()
                if name != PODS and amount > 0 and mine.get(name, 0.0) > theirs.get(name, 0.0)
            )
        return not failing, failing

    def resource_list(self) -> dict[str, str]:
        """Return the Kubernetes resource list that a queue's status shows.

        Source: pkg/scheduler/util/scheduler_helper.go ConvertRes2ResList.
        """
        listed = {
            "cpu": format_decimal(_int64(self.cpu), -3),
            "memory": format_binary(_int64(self.memory)),
        }
        for name, amount in sorted((self.scalars or {}).items()):
            listed[name] = format_decimal(_int64(amount), 0 if name == PODS else -3)
        return listed


def _less_equal(left: float, right: float) -> bool:
    # There: left < right, or the distance is below 0.1; for any two numbers that is the same.
    return left - right < MIN_RESOURCE


def _equal(left: float, right: float) -> bool:
    return left == right or abs(left - right) < MIN_RESOURCE


def _int64(amount: float) -> int:
    """Cut off the fraction; a number out of range becomes the least int64, as on amd64."""
    return int(amount) if -(2.0**63) <= amount < 2.0**63 else -(2**63)


def exceeded_part(left: Resource | None, right: Resource | None) -> Resource | None:
    """Return by how much ``left`` exceeds ``right``: ``left`` itself if there is no right.

    Source: resource_info.go ExceededPart.
    """
    if right is None:
        return left
    if left is None:
        return Resource()
    return left.diff(right, ZERO)[0]


def minimum(left: Resource, right: Resource) -> Resource:
    """Return the lesser amounts; without scalars if either has no map of them.

    Source: api/helpers/helpers.go Min.
    """
    least = Resource(min(left.cpu, right.cpu), min(left.memory, right.memory))
    if left.scalars is not None and right.scalars is not None:
        theirs = right.scalars
        least.scalars = {
            name: min(amount, theirs.get(name, 0.0)) for name, amount in left.scalars.items()
        }
    return least


def maximum(left: Resource, right: Resource, *, zeros: bool = False) -> Resource:
    """Return the greater amounts; of scalars only those above 0, or with ``zeros`` of 0 too.

    Source: api/helpers/helpers.go Max.
    """
    most = Resource(max(left.cpu, right.cpu), max(left.memory, right.memory))
    if left.scalars is None and right.scalars is None:
        return most
    most.scalars = {}
    for name, amount in (*(left.scalars or {}).items(), *(right.scalars or {}).items()):
        if amount > 0 or (zeros and amount == 0):
            most.scalars[name] = max(amount, most.scalars.get(name, 0.0))
    return most


def share(part: float, whole: float) -> float:
    """Return ``part`` divided by ``whole``; if ``whole`` is 0, return 0 for 0, else 1.

    Source: api/helpers/helpers.go Share.
    """
    if whole == 0:
        return 0.0 if part == 0 else 1.0
    return part / whole
