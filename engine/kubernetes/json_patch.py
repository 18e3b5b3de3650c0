"""JSON patches (RFC 6902) as an API server applies them.

Source: github.com/evanphx/json-patch v4 patch.go, which kube-apiserver uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from .api_errors import Invalid

JSON_PATCH = "application/json-patch+json"
"""The content type of a JSON patch."""

Operation = Mapping[str, Any]
"""``op`` and ``path``; ``value``, or ``from``."""

MOST_OPERATIONS = 10_000
"""As many as an API server carries out."""

MOST_COPIED = 3 << 20
"""Bytes of JSON that the copies of one patch may add, as in an API server: each may double.

Source: JSONPatchMaxCopyBytes in k8s.io/apiserver pkg/server/config.go.
"""

MOST_SHIFTED = 100_000_000
"""Elements of lists that one patch may move to another place: 10,000 operations on long lists."""

_WITH_VALUE = frozenset({"add", "replace", "test"})
_FROM = frozenset({"move", "copy"})
_DIGITS = 10
_LONGEST_PATH = 200
"""The characters of a path that a message shows."""


def added(path: Sequence[str], value: object) -> Operation:
    """Return the operation that writes a field, whether it exists or not."""
    return _operation("add", path, value)


def replaced(path: Sequence[str], value: object) -> Operation:
    """Return the operation that replaces a field.

    The standard refuses it where there is none; the library that API servers use writes it.
    """
    return _operation("replace", path, value)


def fault_of_operations(value: object) -> str:
    """Return what a value lacks to be a JSON patch; empty if it is one."""
    if not isinstance(value, list):
        return "a JSON patch is a list of operations"
    if len(value) > MOST_OPERATIONS:
        return f"a JSON patch has at most {MOST_OPERATIONS:,} operations"
    return next((fault for fault in map(_fault_of, value) if fault), "")


def _fault_of(operation: object) -> str:
    if not isinstance(operation, dict) or not _is_path(operation.get("path")):
        return "an operation needs a path that begins with /"
    op = operation.get("op")
    if not isinstance(op, str):
        return "an operation needs a text in op"
    if op in _WITH_VALUE:
        return "" if "value" in operation else f"the operation {op} needs a value"
    if op in _FROM:
        return "" if _is_path(operation.get("from")) else f"the operation {op} needs a path in from"
    return "" if op == "remove" else "there is no such operation: add, remove, replace, …"


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith("/")


def patched(whole: Mapping[str, Any], operations: Sequence[Operation]) -> dict[str, Any]:
    """Return a document with all operations applied.

    The work is in proportion to the document, the patch and what it copies, which is bounded.

    :raises Invalid: an operation does not fit the document, or the patch makes it too large.
    """
    patching = _Patching(whole)
    for operation in operations:
        patching.apply(operation)
    return patching.whole


class _Patching:
    """A document that operations change: each object and list of it is copied once, if at all.

    :ivar whole: the document with the operations so far.
    """

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self.whole = dict(whole)
        # They are kept, so that nothing else gets the identity of one that was removed.
        self._own: dict[int, Any] = {id(self.whole): self.whole}
        self._copied = self._shifted = 0

    def apply(self, operation: Operation) -> None:
        """Carry out one operation.

        :raises Invalid: it does not fit.
        """
        op, path = operation["op"], operation["path"]
        if op == "test":
            if _found(self.whole, path) != operation["value"]:
                raise Invalid(f"testing value {_shown(path)} failed: test failed")
            return
        value = operation.get("value")
        if op in _FROM:
            value = _found(self.whole, operation["from"])
            if op == "move":
                # Removed before it is added, so that the other path counts without it.
                self._write("remove", operation["from"], None)
            else:
                value = self._copy(value)
            op = "add"
        self._write(op, path, value)

    def _copy(self, value: Any) -> Any:
        """Return a value that shares nothing with the document."""
        text = msgspec.json.encode(value)
        self._copied += len(text)
        if self._copied > MOST_COPIED:
            raise Invalid(
                "unable to complete the copy: the accumulated size increase of copies is "
                f"{self._copied}, exceeding the limit {MOST_COPIED}"
            )
        return msgspec.json.decode(text)

    def _write(self, op: str, path: str, value: Any) -> None:
        *above, name = _steps(path)
        part = self._inside(above, op, path)
        if isinstance(part, list):
            self._write_in_list(part, name, op, path, value)
        elif op != "remove":
            part[name] = value
        elif name in part:
            del part[name]
        else:
            raise Invalid(f"remove operation does not apply: doc is missing key: {_shown(path)}")

    def _inside(self, steps: Sequence[str], op: str, path: str) -> Any:
        """Return the object or list at some steps, which the document shares with nothing."""
        part: Any = self.whole
        for name in steps:
            is_list = isinstance(part, list)
            key: Any = _place(name, len(part) - 1, path) if is_list else name
            inner = part[key] if is_list else part.get(key)
            if not isinstance(inner, Mapping | list):
                what = f"{op} operation does not apply: doc is missing path"
                raise Invalid(f"{what}: {_shown(path)}")
            # It may be shared with the stored version: it is copied before it changes.
            if id(inner) not in self._own:
                inner = list(inner) if isinstance(inner, list) else dict(inner)
                self._own[id(inner)] = part[key] = inner
            part = inner
        return part

    def _write_in_list(self, part: list[Any], name: str, op: str, path: str, value: Any) -> None:
        last = len(part) if op == "add" else len(part) - 1
        # A dash is the place after the last element, and exists only for what is added.
        at = len(part) if name == "-" and op == "add" else _place(name, last, path)
        if op == "replace":
            part[at] = value
            return
        self._shifted += len(part) - at
        if self._shifted > MOST_SHIFTED:
            raise Invalid(f"the patch moves more than {MOST_SHIFTED:,} elements of lists")
        if op == "add":
            part.insert(at, value)
        else:
            del part[at]


def _found(whole: Any, path: str) -> Any:
    """Return the value at a path."""
    for name in _steps(path):
        if isinstance(whole, Mapping) and name in whole:
            whole = whole[name]
        elif isinstance(whole, list):
            whole = whole[_place(name, len(whole) - 1, path)]
        else:
            raise Invalid(f"no value at path: {_shown(path)}")
    return whole


def _place(name: str, last: int, path: str) -> int:
    """Return the index that a step names in a list."""
    if not (name.isascii() and name.isdecimal() and len(name) < _DIGITS and int(name) <= last):
        raise Invalid(f"no element {_shown(name)} of a list: {_shown(path)}")
    return int(name)


def _steps(path: str) -> list[str]:
    return [_plain(part) for part in path.split("/")[1:]]


def _shown(path: str) -> str:
    """Return a path for a message."""
    return path if len(path) <= _LONGEST_PATH else f"{path[:_LONGEST_PATH]}…"


def _operation(what: str, path: Sequence[str], value: object) -> Operation:
    return {"op": what, "path": "".join(f"/{_escaped(part)}" for part in path), "value": value}


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _plain(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
