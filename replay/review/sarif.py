"""A review in the Static Analysis Results Interchange Format, version 2.1.0.

Source: docs.oasis-open.org/sarif/sarif/v2.1.0.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ...engine.version import __version__
from .review_records import FileRegion, Result, Review, ReviewRule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"
"""The name that consumers give to the folder of the sources."""

_FINGERPRINT = "plinianResult/v1"

Json = dict[str, Any]


def sarif_document(review: Review) -> Json:
    """Return a review as a SARIF log with one run."""
    places = {rule.id: index for index, rule in enumerate(review.rules)}
    driver = {
        "name": "Plinian",
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in review.rules],
    }
    run: Json = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"plinian/{review.command}/"},
        "invocations": [_invocation(review)],
        "results": [_result(result, places[result.rule]) for result in review.results],
        "properties": {"checked": review.title},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: ReviewRule) -> Json:
    marked = f"{rule.about}\n\n{rule.more}".strip()
    text = marked.replace("``", "")
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.about.replace("``", "")},
        "fullDescription": {"text": text},
        "help": {
            "text": f"{text}\n\nSee {rule.page}.",
            "markdown": f"{marked}\n\nSee [{rule.page}]({rule.page}).",
        },
    }


def _invocation(review: Review) -> Json:
    notes = [
        {"level": "note", "message": {"text": f"{skipped.rule} was not checked: {skipped.why}"}}
        for skipped in review.skipped
    ]
    if review.unknown:
        notes.insert(0, {"level": "error", "message": {"text": review.unknown}})
    invocation: Json = {"executionSuccessful": not review.unknown}
    return {**invocation, "toolExecutionNotifications": notes} if notes else invocation


def _result(result: Result, index: int) -> Json:
    text = f"{result.object}: {result.message}" if result.object else result.message
    location: Json = {}
    if result.region is not None:
        location["physicalLocation"] = _physical(result.region)
    if result.object:
        location["logicalLocations"] = [
            {
                "kind": result.kind,
                "fullyQualifiedName": result.name or result.kind,
                "name": result.name.rpartition("/")[2] or result.kind,
            }
        ]
    sarif_result: Json = {
        "ruleId": result.rule,
        "ruleIndex": index,
        "level": result.level.value,
        "message": {"text": f"{text}. To do: {result.now}." if result.now else f"{text}."},
        "partialFingerprints": {_FINGERPRINT: _fingerprint(result)},
    }
    if location:
        sarif_result["locations"] = [location]
    return {**sarif_result, "properties": result.more} if result.more else sarif_result


def _physical(region: FileRegion) -> Json:
    place: Json = {"startLine": region.line}
    if region.column is not None:
        place["startColumn"] = region.column
    return {"artifactLocation": _artifact(region.file), "region": place}


def _artifact(file: str) -> Json:
    path = PurePath(file)
    # It is outside of the folder of the sources.
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(path.as_posix(), errors="surrogateescape"), "uriBaseId": _ROOT}


def _fingerprint(result: Result) -> str:
    """Return a hash that finds the same result in another version of the files."""
    file = "" if result.region is None else result.region.file
    parts = (result.rule, file, result.object, result.key)
    return sha256("\x00".join(parts).encode(errors="backslashreplace")).hexdigest()[:32]
