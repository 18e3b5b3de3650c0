"""Fields that no session reads: to set one changes nothing, and its name may be mistyped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from ...engine.cache.projector import WATCHED
from .cluster_changes import SetField, WhatIfChange
from .field_types import fields_of, inspected, value_of


class UnreadField(NamedTuple):
    """A field that no session reads.

    :param field: its path up to the first name that is not read.
    :param similar: the path of a field with a similar name that is read; empty if there is none.
    :param known: the names of the fields that are read there.
    """

    kind: str
    field: str
    similar: str
    known: tuple[str, ...] = ()

    @property
    def before(self) -> str:
        """The path before the name that is not read."""
        head, dot, _ = self.field.rpartition(".")
        return head + dot

    @property
    def text(self) -> str:
        """A sentence about it."""
        similar = f"; did you mean {self.similar}?" if self.similar else ""
        return f"no session reads {self.field} of a {self.kind}, so it changes nothing{similar}"


def unread_texts(changes: Iterable[WhatIfChange]) -> tuple[str, ...]:
    """Return a sentence for each field that is changed and that no session reads."""
    found = (unread_of(change) for change in changes if isinstance(change, SetField))
    return tuple(dict.fromkeys(unread.text for unread in found if unread is not None))


def unread_of(change: SetField) -> UnreadField | None:
    """Return the field of a change if no session reads it; None if one does.

    Of kinds that the scheduler does not watch, nothing is said: controllers may read them.
    """
    kind = WATCHED.get((change.named.group, change.named.kind))
    if kind is None:
        return None
    found: Any = inspected(kind)
    for number, name in enumerate(change.path):
        fields = fields_of(found)
        if fields is not None and name not in fields:
            return _unread(change, number, [*fields])
        found = value_of(found) if fields is None else fields[name]
        if found is None:
            return _unread(change, number, [])
    return None


def _unread(change: SetField, number: int, known: Sequence[str]) -> UnreadField:
    before = change.path[:number]
    near = get_close_matches(change.path[number], known, n=1)
    similar = ".".join((*before, *near)) if near else ""
    field = ".".join(change.path[: number + 1])
    return UnreadField(change.named.kind, field, similar, tuple(sorted(known)))
