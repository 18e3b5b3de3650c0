"""Columns of tables: what each is called, and its cell in the row of an object."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from .....engine.kubernetes.expressions.jsonpath import Allowance
from .....engine.kubernetes.units import parse_time
from .....engine.state.clock import TimeSpan
from .....engine.state.facts import Fact
from .....engine.state.truth_fold import Entry
from ....render.amounts import age
from ..wire.loose_fields import field_of

NONE, INVALID = "<none>", "<invalid>"

MALFORMED = (
    *(TypeError, AttributeError, KeyError, IndexError, ValueError, OverflowError),
    msgspec.MsgspecError,
)
"""What code raises that reads a field of another type than the API has.

An API server holds no such object, but a log keeps what an input says.
"""

_LONGEST = 1000

_NAME = (
    "Name must be unique within a namespace. Is required when creating resources, although some "
    "resources may allow a client to request the generation of an appropriate name automatically. "
    "Name is primarily intended for creation idempotence and configuration definition. Cannot be "
    "updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
CREATED = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. "
    "It is not guaranteed to be set in happens-before order across separate operations. Clients "
    "may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the "
    "system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)


class TableObject:
    """An object that becomes a row.

    :param when: between which times the moment is, for ages.
    :param allowance: what the paths of custom columns may still see, in all rows of a table; a
        cell beyond it is empty.
    """

    def __init__(
        self, entry: Entry, body: bytes, when: TimeSpan, allowance: Allowance | None = None
    ) -> None:
        self.entry, self._body, self.when = entry, body, when
        self.allowance = allowance or Allowance()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The whole object."""
        document: dict[str, Any] = msgspec.json.decode(self._body)
        return document

    def at(self, *fields: str) -> Any:
        """Return a field of the object, or None."""
        return field_of(self.document, *fields)

    def age_of(self, text: object) -> str:
        """Return how long before the moment a time was; ``<unknown>`` if it is none."""
        return age(self.when, time_in(text))

    @property
    def name(self) -> str:
        """Its name."""
        return self.entry.reference.name

    @property
    def fact(self) -> Fact:
        """What the log keeps of it beside its bytes."""
        return self.entry.fact

    @property
    def age(self) -> str:
        """How long before the moment the object was created."""
        return age(self.when, self.fact.created_at)


Cell = Callable[[TableObject], Any]


class TableColumn(NamedTuple):
    """A column.

    :param cell: returns its cell of a row. :param priority: above 0, only ``-o wide`` shows it.
    """

    name: str
    cell: Cell
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0

    def shown(self, row: TableObject) -> Any:
        """Return its cell of a row, whatever the object is: one must not break a table."""
        try:
            value = self.cell(row)
        except MALFORMED:
            return INVALID
        if isinstance(value, dict | list):
            return msgspec.json.encode(value).decode()[:_LONGEST]
        return value

    @property
    def definition(self) -> dict[str, Any]:
        """The column as a table defines it."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


def time_in(text: object) -> int | None:
    """Return a time of an object in microseconds; None if it is not one."""
    if not isinstance(text, str):
        return None
    try:
        return parse_time(text)
    except ValueError:
        return None


NAME_COLUMN = TableColumn("Name", lambda row: row.name, format="name", description=_NAME)
AGE_COLUMN = TableColumn("Age", lambda row: row.age, description=CREATED)

WIDE = 1


def field_column(
    name: str, path: str, *, kind: str = "string", default: Any = "", priority: int = 0
) -> TableColumn:
    """Return a column that shows a field, as in ``spec.nodeName``."""
    fields = path.split(".")

    def cell(row: TableObject) -> Any:
        value = row.at(*fields)
        return default if value is None or value == "" else value

    return TableColumn(name, cell, kind, priority=priority)


def count_column(name: str, path: str) -> TableColumn:
    """Return a column that shows a number, which is 0 if it is missing."""
    return field_column(name, path, kind="integer", default=0)


def wide_column(name: str, cell: Cell) -> TableColumn:
    """Return a column that only ``-o wide`` shows."""
    return TableColumn(name, cell, priority=WIDE)


def text_column(name: str, path: str, *, default: str) -> TableColumn:
    """Return a column that shows a field as text, also if it is a number."""

    def cell(row: TableObject) -> str:
        value = row.at(*path.split("."))
        return default if value is None else str(value)

    return TableColumn(name, cell)


def flag_column(
    name: str, path: str, *, default: bool = False, kind: str = "boolean"
) -> TableColumn:
    """Return a column that shows whether a field is true."""

    def cell(row: TableObject) -> bool:
        value = row.at(*path.split("."))
        return default if value is None else bool(value)

    return TableColumn(name, cell, kind)


def length_column(name: str, path: str) -> TableColumn:
    """Return a column that shows how many elements a field has."""
    return TableColumn(name, lambda row: len(row.at(*path.split(".")) or ()), "integer")


CREATED_COLUMN = field_column("Created At", "metadata.creationTimestamp", kind="date")
