"""The columns of a table, from the annotations of the record that is a row.

A time is microseconds since 1970 UTC in a record, a timestamp in a table, and text in a document.
A quantity is a number; its unit is with the column, and not in each cell. What is nested is JSON
text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from ...engine.kubernetes.units import in_bytes, parse_quantity

_WHOLE = frozenset({"memory", "pods"})
"""Resources that Volcano counts in their own unit; all others in thousandths."""


class CellType(Enum):
    """What the cells of a column are."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    TRUTH = "true or false"
    TIME = "time"
    NAMES = "list of texts"
    NESTED = "JSON"
    AMOUNTS = "amounts by resource"


class Unit(NamedTuple):
    """What one of a column's numbers is."""

    name: str


BASE_UNIT = "that of the resource: cores of cpu, bytes of memory and storage, else a count"


class Time(int):
    """Microseconds since 1970 UTC, which documents have as RFC 3339, and tables as timestamps."""

    @classmethod
    def of(cls, micros: int | None) -> Time | None:
        """Return a time that may not be known."""
        return None if micros is None else cls(micros)


TimeColumn: TypeAlias = Annotated[int, CellType.TIME]
"""The same in a row that only tables show."""

Micros: TypeAlias = Annotated[int, Unit("microseconds")]
Seconds: TypeAlias = Annotated[float, Unit("seconds")]
Cores: TypeAlias = Annotated[float, Unit("cores")]
Bytes: TypeAlias = Annotated[float, Unit("bytes")]
Quantity: TypeAlias = Annotated[float, Unit(BASE_UNIT)]
"""An amount of the resource that another column names."""

Amounts: TypeAlias = dict[str, str]
"""Amounts as Kubernetes writes them, as in ``{"cpu": "8", "memory": "16Gi"}``.

A table has a column for each resource, as in ``used.cpu``.
"""

AmountColumns: TypeAlias = Annotated[Amounts, CellType.AMOUNTS]


class Column(NamedTuple):
    """A column. :param unit: of its numbers; empty if they only count, or are no numbers."""

    name: str
    kind: CellType
    unit: str = ""


_PLAIN: Mapping[Any, CellType] = MappingProxyType(
    {
        str: CellType.TEXT,
        int: CellType.WHOLE,
        float: CellType.NUMBER,
        bool: CellType.TRUTH,
        Time: CellType.TIME,
    }
)
_TEXTS = ((list[str],), (tuple[str, ...],))


def columns_of(shape: type) -> tuple[Column, ...]:
    """Return the columns of a record: those of its fields, in their order.

    :param shape: a Struct, a NamedTuple or a dataclass.
    """
    hints = get_type_hints(shape, include_extras=True)
    names = [name for name in _fields_of(shape) if name in hints]
    return tuple(_column(name, hints[name]) for name in names)


def _fields_of(shape: Any) -> tuple[str, ...]:
    for attribute in ("__struct_fields__", "_fields", "__dataclass_fields__"):
        if hasattr(shape, attribute):
            return tuple(getattr(shape, attribute))
    raise TypeError(f"{shape} is no record")


def _column(name: str, hint: Any) -> Column:
    hint = _without_none(hint)
    unit, kind = "", None
    # None may stand inside or outside of the annotation.
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        unit = next((mark.name for mark in marks if isinstance(mark, Unit)), "")
        kind = next((mark for mark in marks if isinstance(mark, CellType)), None)
    return Column(name, kind or _kind_of(_without_none(hint)), unit)


def _without_none(hint: Any) -> Any:
    """Return a type without the possibility of None, which every column has."""
    if get_origin(hint) not in {Union, UnionType}:
        return hint
    rest = [member for member in get_args(hint) if member is not NoneType]
    return rest[0] if len(rest) == 1 else hint


def _kind_of(hint: Any) -> CellType:
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and issubclass(hint, str | Enum):
        return CellType.TEXT
    return CellType.NAMES if (hint,) in _TEXTS else CellType.NESTED


def _text(value: Any) -> str:
    """Return a value as text that can be written as UTF-8, as names of files may not be."""
    text = str(value.value) if isinstance(value, Enum) else str(value)
    return text.encode(errors="backslashreplace").decode()


def _names(value: Any) -> list[str]:
    return [_text(name) for name in value]


def _nested(value: Any) -> str:
    return msgspec.json.encode(value, order="deterministic", enc_hook=int).decode()


_CELLS: Mapping[CellType, Callable[[Any], Any]] = MappingProxyType(
    {
        CellType.TEXT: _text,
        CellType.NESTED: _nested,
        CellType.NAMES: _names,
        CellType.NUMBER: float,
        CellType.TIME: int,
    }
)


def cell(kind: CellType, value: Any) -> Any:
    """Return a value as a cell of a column: None, a text, a number, a truth or a list of texts."""
    if value is None or value is msgspec.UNSET:
        return None
    return _CELLS[kind](value) if kind in _CELLS else value


def unit_of(resource: str) -> str:
    """Return the unit of a resource's amounts; empty if they count something."""
    if resource == "cpu":
        return "cores"
    return "bytes" if in_bytes(resource) else ""


def base_units(resource: str, amount: float) -> float:
    """Return an amount of Volcano's in the base unit: cores, bytes, or a count."""
    return amount if resource in _WHOLE else amount / 1000


def quantity(text: str) -> float | None:
    """Return an amount that is written as Kubernetes writes it, in the base unit.

    None if it has no limit.
    """
    return None if text.endswith("unlimited") else float(parse_quantity(text))
