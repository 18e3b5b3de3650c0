"""The documents of version 1 only gain fields: none goes, and none gets another type.

``documents-v1.json`` beside this has the fields of all answers as they were first promised, and
those that were added, by their paths: ``stages[].since.time``. So it has what ``ingest`` and
``record`` print at their end, which no question of the API returns. A type may be known more
exactly later. ``python tests/server/api/test_frozen_documents.py`` adds new fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from plinian.replay.capture.recording_summary import RecordingSummary
from plinian.replay.ingest.ingest_records import IngestSummary
from plinian.replay.server.api.openapi import answer_schema
from plinian.replay.server.api.table import OPERATIONS

SUMMARIES: Mapping[str, type] = {"ingest": IngestSummary, "record": RecordingSummary}
"""What commands print that change a log, by the name of the command."""

FROZEN = Path(__file__).with_name("documents-v1.json")

Fields = dict[str, str]
"""The types of fields by their paths: ``string?`` may be null, ``[X]`` is a list, ``{X}`` an object
with any names."""


def documents() -> dict[str, Fields]:
    """Return the types of the fields of all answers, by the name of the question."""
    answers = {one.name: dict(fields_of(answer_schema(one))) for one in OPERATIONS}
    return answers | {name: dict(_fields_of_struct(struct)) for name, struct in SUMMARIES.items()}


def _fields_of_struct(struct: type) -> Iterator[tuple[str, str]]:
    schema = msgspec.json.schema(struct)
    yield from _below("", schema, schema["$defs"])


def fields_of(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields of an answer, with their types."""
    result = schema["properties"]["result"]
    yield from _below("", result.get("items", result), schema["$defs"])


def _below(
    path: str, schema: Mapping[str, Any], shapes: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    for variant in _variants(schema, shapes):
        if variant.get("type") == "array":
            yield from _below(f"{path}[]", _members(variant), shapes)
        elif isinstance(variant.get("additionalProperties"), dict):
            yield from _below(f"{path}{{}}", variant["additionalProperties"], shapes)
        for name, field in variant.get("properties", {}).items():
            place = f"{path}.{name}" if path else name
            yield place, _type(field, shapes)
            yield from _below(place, field, shapes)


def _members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the type of the members of a list."""
    if "prefixItems" in schema:
        return {"anyOf": schema["prefixItems"]}
    members: Mapping[str, Any] = schema.get("items", {})
    return members


def _variants(schema: Mapping[str, Any], shapes: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "$ref" in schema:
        yield from _variants(shapes[schema["$ref"].rpartition("/")[2]], shapes)
    elif "anyOf" in schema:
        for one in schema["anyOf"]:
            yield from _variants(one, shapes)
    else:
        yield schema


def _type(schema: Mapping[str, Any], shapes: Mapping[str, Any]) -> str:
    """Return a type; one of several that are no null is ``any``."""
    found = {_plain_type(one, shapes) for one in _variants(schema, shapes)}
    null, rest = "?" if "null" in found else "", found - {"null"}
    return f"{rest.pop() if len(rest) == 1 else 'any'}{null}"


def _plain_type(schema: Mapping[str, Any], shapes: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "string"
    if schema.get("type") == "array":
        return f"[{_type(_members(schema), shapes)}]"
    if schema.get("type") == "object" and "properties" not in schema:
        return f"{{{_type(schema.get('additionalProperties', {}), shapes)}}}"
    return str(schema.get("type", "any"))


def broken(frozen: Mapping[str, Fields], now: Mapping[str, Fields]) -> list[str]:
    """Return which promises are broken: fields that are gone, or that have another type."""
    return [
        f"{name}: {path}: {kind} is now {_now(path, now.get(name, {})) or 'gone'}"
        for name, fields in frozen.items()
        for path, kind in fields.items()
        if not _keeps(kind, _now(path, now.get(name, {})))
    ]


def _now(path: str, fields: Fields) -> str:
    """Return the type of a field; of one among any names, that of all these."""
    if path in fields:
        return fields[path]
    place = path.rpartition(".")[0]
    kind = fields.get(place.rstrip("[]"), "")[place.count("[]", len(place.rstrip("[]"))) :]
    return kind[1:].partition("}")[0] if kind.startswith("{") else ""


def _keeps(kind: str, now: str) -> bool:
    """Return whether whoever reads a field by its promised type can read it by the present one."""
    some, other = kind.removesuffix("?"), now.removesuffix("?")
    if some == other or (some, other) == ("number", "integer"):
        return True
    if "any" in {some, other} or {some[:1], other[:1]} <= {"{", "o"}:
        return bool(now)
    return some[0] == other[:1] and some[0] in "[{" and _keeps(some[1:-1], other[1:-1])


def test_no_document_breaks_a_promise() -> None:
    assert broken(json.loads(FROZEN.read_text("utf-8")), documents()) == []


def test_all_fields_are_promised() -> None:
    frozen = json.loads(FROZEN.read_text("utf-8"))
    assert broken(documents(), frozen) == [], f"run: python {Path(__file__).name}"


def test_a_field_that_goes_or_changes_is_noticed() -> None:
    frozen = {"why": {"sentence": "string", "waits": "boolean", "steps[].numbers": "{any}"}}
    assert broken(frozen, {"why": {"sentence": "integer", "more": "any"}}) == [
        "why: sentence: string is now integer",
        "why: waits: boolean is now gone",
        "why: steps[].numbers: {any} is now gone",
    ]
    assert broken(frozen, {**frozen, "new": {}}) == []


if __name__ == "__main__":
    known = json.loads(FROZEN.read_text("utf-8")) if FROZEN.exists() else {}
    merged = {name: {**fields, **known.get(name, {})} for name, fields in documents().items()}
    FROZEN.write_text(json.dumps({**known, **merged}, indent=1, sort_keys=True) + "\n", "utf-8")
