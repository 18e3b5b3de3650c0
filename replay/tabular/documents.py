"""The documents of records: what ``-o json`` shows of them.

Of most records, a document has the fields. One that shows others has a property ``document``.
"""

from __future__ import annotations

from typing import Any, TypeVar

from ...engine.kubernetes.units import format_time
from .record_columns import Time

T = TypeVar("T")

API_VERSION = "plinian/v1"
"""Of documents that say their version."""


def described(kind: type[T]) -> type[T]:
    """Have msgspec ask for the ``document`` of a dataclass, and not write its fields."""
    del kind.__dataclass_fields__  # type: ignore[attr-defined] # by them msgspec knows dataclasses
    return kind


def written(value: Any) -> Any:
    """Return what a document has of a value that msgspec does not know."""
    return format_time(value) if isinstance(value, Time) else value.document
