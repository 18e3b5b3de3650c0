"""Objects of each kind with one field of a wrong type: what a schema says, and what it does not."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from plinian.replay.server.kubernetes.read.openapi_v3 import resolved

WRONG: tuple[Any, ...] = ("x", 5, -1.5, True, ["x"], {"x": "y"}, [None], [["x"]], [{"x": 1}], None)
"""Values of each type, plain and inside of others."""

_DEEPEST = 6
"""Levels of an object that is made from a schema: schemas can hold themselves."""

Path = tuple[str | int, ...]


def full(schema: Mapping[str, Any], depth: int = 0) -> Any:
    """Return a value with all fields of a schema."""
    schema = resolved(schema)
    if "oneOf" in schema:
        return 1  # A quantity, or an int or string.
    match schema.get("type"):
        case "string":
            return "2026-01-01T00:00:00Z" if schema.get("format") == "date-time" else "a"
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case "array":
            return [full(schema.get("items", {}), depth + 1)] if depth < _DEEPEST else []
    if "properties" in schema:
        some = schema["properties"].items() if depth < _DEEPEST else ()
        return {name: full(one, depth + 1) for name, one in some}
    others = schema.get("additionalProperties")
    return {"a": full(others, depth + 1) if isinstance(others, dict) else "a"}


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of everything inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for name, one in inner:
        yield (*path, name)
        if isinstance(one, dict | list):
            yield from places(one, (*path, name))


def changed(document: Any, path: Path, value: Any) -> Any:
    """Return a document with another value at a path."""
    name, *deeper = path
    made = list(document) if isinstance(document, list) else dict(document)
    made[name] = changed(document[name], tuple(deeper), value) if deeper else copy.copy(value)
    return made


def wrongs(document: Any) -> Iterator[tuple[Path, Any, Any]]:
    """Yield each path, each value, and the document with it; names and kinds stay."""
    kept = {("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "uid")}
    kept |= {("metadata", "namespace"), ("metadata", "resourceVersion")}
    for path in places(document):
        if path not in kept:
            for value in WRONG:
                yield path, value, changed(document, path, value)
