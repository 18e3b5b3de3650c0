"""JSON patches (RFC 6902) as an API server applies them.

Source: github.com/evanphx/json-patch v4 patch.go, which kube-apiserver uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .api_errors import Invalid

JSON_PATCH = "application/json-patch+json"
"""The content type of a JSON patch."""

Operation = Mapping[str, Any]
"""``op`` and ``path``; ``value``, or ``from``."""

MOST_OPERATIONS = 10_000
"""As many as an API server carries out."""

_WITH_VALUE = frozenset({"add", "replace", "test"})
_FROM = frozenset({"move", "copy"})
_DIGITS = 10


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


def _fault_of(one: object) -> str:
    if not isinstance(one, dict) or not _is_path(one.get("path")):
        return "an operation needs a path that begins with /"
    op = one.get("op")
    if op in _WITH_VALUE:
        return "" if "value" in one else f"the operation {op} needs a value"
    if op in _FROM:
        return "" if _is_path(one.get("from")) else f"the operation {op} needs a path in from"
    return "" if op == "remove" else "there is no such operation: add, remove, replace, …"


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith("/")


def patched(whole: Mapping[str, Any], operations: Sequence[Operation]) -> dict[str, Any]:
    """Return a document with all operations applied.

    :raises Invalid: an operation does not fit the document.
    """
    made = dict(whole)
    for one in operations:
        made = _applied(made, one)
    return made


def _applied(whole: dict[str, Any], one: Operation) -> dict[str, Any]:
    op, path = one["op"], one["path"]
    if op == "test":
        if _found(whole, path) != one["value"]:
            raise Invalid(f"testing value {path} failed: test failed")
        return whole
    if op in _FROM:
        value = _found(whole, one["from"])
        whole = _written(whole, one["from"], "remove", None) if op == "move" else whole
        return _written(whole, path, "add", value)
    return _written(whole, path, op, one.get("value"))


def _found(whole: Any, path: str) -> Any:
    """Return the value at a path."""
    for name in _steps(path):
        if isinstance(whole, Mapping) and name in whole:
            whole = whole[name]
        elif isinstance(whole, list):
            whole = whole[_place(name, len(whole) - 1, path)]
        else:
            raise Invalid(f"no value at path: {path}")
    return whole


def _written(whole: dict[str, Any], path: str, op: str, value: Any) -> dict[str, Any]:
    made: dict[str, Any] = _changed(whole, _steps(path), op, path, value)
    return made


def _changed(whole: Any, steps: Sequence[str], op: str, path: str, value: Any) -> Any:
    """Return a value with one operation carried out inside it."""
    name, *deeper = steps
    if deeper:
        inner = _found(whole, f"/{_escaped(name)}") if _has(whole, name) else None
        if not isinstance(inner, Mapping | list):
            raise Invalid(f"{op} operation does not apply: doc is missing path: {path}")
        op, value = "replace", _changed(inner, deeper, op, path, value)
    if isinstance(whole, list):
        return _in_list(whole, name, op, path, value)
    if op != "remove":
        return {**whole, name: value}
    if name not in whole:
        raise Invalid(f"remove operation does not apply: doc is missing key: {path}")
    return {key: one for key, one in whole.items() if key != name}


def _has(whole: Any, name: str) -> bool:
    return isinstance(whole, list) or name in whole


def _in_list(whole: list[Any], name: str, op: str, path: str, value: Any) -> list[Any]:
    last = len(whole) if op == "add" else len(whole) - 1
    at = len(whole) if name == "-" and op == "add" else _place(name, last, path)
    inside = [] if op == "remove" else [value]
    return [*whole[:at], *inside, *whole[at if op == "add" else at + 1 :]]


def _place(name: str, last: int, path: str) -> int:
    """Return the index that a step names in a list."""
    if not (name.isascii() and name.isdecimal() and len(name) < _DIGITS and int(name) <= last):
        raise Invalid(f"no element {name} of a list: {path}")
    return int(name)


def _steps(path: str) -> list[str]:
    return [_plain(part) for part in path.split("/")[1:]]


def _operation(what: str, path: Sequence[str], value: object) -> Operation:
    return {"op": what, "path": "".join(f"/{_escaped(part)}" for part in path), "value": value}


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _plain(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
