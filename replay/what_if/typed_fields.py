"""The types of fields that a session reads, by their paths."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from ...engine.cache.projector import WATCHED
from ...engine.kubernetes.resources import GroupKind


@cache
def inspected(kind: type) -> msgspec.inspect.Type:
    """Return the type of a kind of objects, ready to be looked at."""
    return msgspec.inspect.type_info(kind)


def fields_of(found: Any) -> dict[str, Any] | None:
    """Return the types of an object's fields by their names; None if it is none."""
    if isinstance(found, msgspec.inspect.StructType):
        return {field.encode_name: field.type for field in found.fields}
    if isinstance(found, msgspec.inspect.UnionType):
        candidates = (fields_of(member) for member in found.types)
        return next((fields for fields in candidates if fields is not None), None)
    return None


def value_of(found: Any) -> Any:
    """Return the type of a map's or a list's values; None if it has none."""
    if isinstance(found, msgspec.inspect.DictType):
        return found.value_type
    if isinstance(found, msgspec.inspect.VarTupleType | msgspec.inspect.ListType):
        return found.item_type
    if isinstance(found, msgspec.inspect.UnionType):
        candidates = (value_of(member) for member in found.types)
        return next((value for value in candidates if value is not None), None)
    return found if isinstance(found, msgspec.inspect.AnyType | msgspec.inspect.RawType) else None


def joined(kind: GroupKind, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return a path whose last name may have had dots: a resource, a label, an annotation."""
    watched = WATCHED.get(kind)
    field_type: Any = None if watched is None else inspected(watched)
    for number, name in enumerate(path):
        fields = None if field_type is None else fields_of(field_type)
        if fields is not None:
            field_type = fields.get(name)
            continue
        value = None if field_type is None else value_of(field_type)
        if value is not None and fields_of(value) is None and value_of(value) is None:
            return (*path[:number], ".".join(path[number:]))
        field_type = value
    return path
