"""Fields of objects whose types were never checked: a log keeps what an input says."""

from __future__ import annotations

from typing import Any


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; what is none is left out."""
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def field_of(value: Any, *fields: str) -> Any:
    """Return a field of a value, or None."""
    for field in fields:
        value = value.get(field) if isinstance(value, dict) else None
    return value
