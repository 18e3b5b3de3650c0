"""How deep values may be nested: one limit for every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 200
"""The most levels of nested objects and lists; a pod has about ten, in a job's template 14."""

_NESTING = frozenset({dict, list})

TOO_DEEP = f"nested too deep: more than {MAX_DEPTH} levels, which no Kubernetes object has"


class NestedTooDeep(RecursionError):
    """A value has too many levels; decoders raise its base class beyond their own limit."""

    def __init__(self) -> None:
        super().__init__(TOO_DEEP)


def hold_depth(value: Any, text: bytes | bytearray | None = None, *, most: int = MAX_DEPTH) -> None:
    """Limit the levels of a JSON value.

    :param text: its source text. If that has few brackets, the value is not checked.
    :raises NestedTooDeep: it has more levels.
    """
    if text is not None:
        opened = text.count(b"{")
        if opened <= most and opened + text.count(b"[") <= most:
            return
    for _ in levels(value, most=most):
        pass


def levels(value: Any, *, most: int = MAX_DEPTH) -> Iterator[list[Any]]:
    """Yield the objects and lists in a JSON value, outer ones first, those of a level together.

    A caller may remove values from a level before it requests the next; those are not visited.

    :raises NestedTooDeep: there are more levels than ``most``.
    """
    level = [value] if type(value) in _NESTING else []
    for _ in range(most):
        if not level:
            return
        yield level
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _NESTING
        ]
    if level:
        raise NestedTooDeep
