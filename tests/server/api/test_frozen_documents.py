"""The documents of version 1 only gain fields: none goes, and none gets another type.

``documents-v1.json`` beside this has the fields of all answers as they were first promised, and
those that were added. ``python tests/server/api/test_frozen_documents.py`` adds new ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from plinian.replay.server.api.shapes import RESULTS, SHAPES

FROZEN = Path(__file__).with_name("documents-v1.json")

Documents = dict[str, dict[str, str]]


def documents() -> Documents:
    """Return the types of the fields of all answers and of their parts, by name."""
    answers = {f"answer {name}": shape for name, shape in RESULTS.items()}
    return {name: fields_of(shape) for name, shape in sorted({**answers, **SHAPES}.items())}


def fields_of(shape: str) -> dict[str, str]:
    """Return the types of the fields of one shape, by name."""
    words = [word.partition(":") for word in shape.split() if word != "..."]
    return {name: kind for name, _, kind in sorted(words)}


def broken(
    frozen: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Return which promises are broken: fields that are gone, or that have another type."""
    return [
        f"{name}.{field}: {kind} is now {now.get(name, {}).get(field, 'gone')}"
        for name, fields in frozen.items()
        for field, kind in fields.items()
        if now.get(name, {}).get(field) != kind
    ]


def test_no_document_breaks_a_promise() -> None:
    assert broken(json.loads(FROZEN.read_text("utf-8")), documents()) == []


def test_all_fields_are_promised() -> None:
    frozen = json.loads(FROZEN.read_text("utf-8"))
    assert broken(documents(), frozen) == [], f"run: python {Path(__file__).name}"


def test_a_field_that_goes_or_changes_is_noticed() -> None:
    frozen = {"Why": {"sentence": "string", "waits": "boolean"}}
    assert broken(frozen, {"Why": {"sentence": "string?", "more": "any"}}) == [
        "Why.sentence: string is now string?",
        "Why.waits: boolean is now gone",
    ]
    assert broken(frozen, {**frozen, "New": {}}) == []


if __name__ == "__main__":
    known = json.loads(FROZEN.read_text("utf-8")) if FROZEN.exists() else {}
    merged = {name: {**fields, **known.get(name, {})} for name, fields in documents().items()}
    FROZEN.write_text(json.dumps({**known, **merged}, indent=1, sort_keys=True) + "\n", "utf-8")
