"""Fields that no session reads: to set one changes nothing, and its name may be mistyped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

import msgspec

from ...engine.cache.projector import WATCHED
from .changes import Change, SetField


class Unread(NamedTuple):
    """A field that no session reads.

    :param field: its path up to the first name that is not read.
    :param similar: the path of a field with a similar name that is read; empty if there is none.
    """

    kind: str
    field: str
    similar: str

    @property
    def text(self) -> str:
        """A sentence about it."""
        similar = f"; did you mean {self.similar}?" if self.similar else ""
        return f"no session reads {self.field} of a {self.kind}, so it changes nothing{similar}"


def unread_texts(changes: Iterable[Change]) -> tuple[str, ...]:
    """Return a sentence for each field that is changed and that no session reads."""
    found = (unread_of(change) for change in changes if isinstance(change, SetField))
    return tuple(dict.fromkeys(unread.text for unread in found if unread is not None))


def unread_of(change: SetField) -> Unread | None:
    """Return the field of a change if no session reads it; None if one does.

    Of kinds that the scheduler does not watch, nothing is said: controllers may read them.
    """
    kind = WATCHED.get((change.named.group, change.named.kind))
    if kind is None:
        return None
    found: Any = _inspected(kind)
    for number, name in enumerate(change.path):
        fields = _fields_of(found)
        if fields is not None and name not in fields:
            return _unread(change, number, [*fields])
        found = _value_of(found) if fields is None else fields[name]
        if found is None:
            return _unread(change, number, [])
    return None


def _unread(change: SetField, number: int, known: Sequence[str]) -> Unread:
    before = change.path[:number]
    near = get_close_matches(change.path[number], known, n=1)
    similar = ".".join((*before, *near)) if near else ""
    return Unread(change.named.kind, ".".join(change.path[: number + 1]), similar)


@cache
def _inspected(kind: type) -> msgspec.inspect.Type:
    return msgspec.inspect.type_info(kind)


def _fields_of(found: Any) -> dict[str, Any] | None:
    """Return the types of an object's fields by their names; None if it is none."""
    if isinstance(found, msgspec.inspect.StructType):
        return {field.encode_name: field.type for field in found.fields}
    if isinstance(found, msgspec.inspect.UnionType):
        some = (_fields_of(one) for one in found.types)
        return next((fields for fields in some if fields is not None), None)
    return None


def _value_of(found: Any) -> Any:
    """Return the type of a map's or a list's values; None if it has none."""
    if isinstance(found, msgspec.inspect.DictType):
        return found.value_type
    if isinstance(found, msgspec.inspect.VarTupleType | msgspec.inspect.ListType):
        return found.item_type
    if isinstance(found, msgspec.inspect.UnionType):
        some = (_value_of(one) for one in found.types)
        return next((value for value in some if value is not None), None)
    return found if isinstance(found, msgspec.inspect.AnyType | msgspec.inspect.RawType) else None
