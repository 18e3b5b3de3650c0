"""The documents of records: what ``-o json`` shows of them.

Of most records, a document has the fields. One that shows others has a property ``document``.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from ...engine.kubernetes.units import format_time
from .record_columns import Time

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")

API_VERSION = "plinian/v1"
"""Of documents that say their version."""


def described(kind: type[T]) -> type[T]:
    """Have msgspec ask for the ``document`` of a dataclass, and not write its fields."""
    del kind.__dataclass_fields__  # type: ignore[attr-defined] # by them msgspec knows dataclasses
    return kind


def shown_as(kind: type[S], record: object, **more: object) -> S:
    """Return a document of a record: its fields are attributes of the record, or given here."""
    names = (name for name in kind.__struct_fields__ if name not in more)
    return kind(**{name: getattr(record, name) for name in names}, **more)


def written(value: Any) -> Any:
    """Return what a document has of a value that msgspec does not know."""
    return format_time(value) if isinstance(value, Time) else value.document
