"""JSON patches (RFC 6902) as an API server applies them, as far as components send any.

Source: github.com/evanphx/json-patch v4 patch.go, which kube-apiserver uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .api_errors import Invalid

JSON_PATCH = "application/json-patch+json"
"""The content type of a JSON patch."""

Operation = Mapping[str, Any]
"""``op``, ``path`` and ``value``."""


def added(path: Sequence[str], value: object) -> Operation:
    """Return the operation that writes a field, whether it exists or not."""
    return _operation("add", path, value)


def replaced(path: Sequence[str], value: object) -> Operation:
    """Return the operation that replaces a field.

    The standard refuses it where there is none; the library that API servers use writes it.
    """
    return _operation("replace", path, value)


def patched(whole: Mapping[str, Any], operations: Sequence[Operation]) -> dict[str, Any]:
    """Return a document with all operations applied; each is ``add`` or ``replace`` of a field.

    :raises Invalid: what the field would be in does not exist.
    """
    made = dict(whole)
    for one in operations:
        assert one["op"] in {"add", "replace"}, f"no component sends {one['op']}"
        steps = [_plain(part) for part in one["path"].split("/")[1:]]
        made = _written(made, steps, one)
    return made


def _written(whole: Mapping[str, Any], steps: Sequence[str], one: Operation) -> dict[str, Any]:
    name, *deeper = steps
    if not deeper:
        return {**whole, name: one["value"]}
    inner = whole.get(name)
    if not isinstance(inner, Mapping):
        raise Invalid(f"{one['op']} operation does not apply: doc is missing path: {one['path']}")
    return {**whole, name: _written(inner, deeper, one)}


def _operation(what: str, path: Sequence[str], value: object) -> Operation:
    return {"op": what, "path": "".join(f"/{_escaped(part)}" for part in path), "value": value}


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _plain(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
