"""The fields of answers: stable names and types; fields are only ever added.

``name:type``; ``?`` after the type: it may be null; ``*``: the field may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_SESSION = (
    "at:string conf:string conf_rejected:array binds:array enqueued:array errors:array "
    "evict_reasons:object evictions:array fit_errors:object metrics:object node_scores:object* "
    "nominated:object not_known:array panic:string? panic_at:string? pipelined:array "
    "pod_conditions:object podgroups:object queues:object release:string session_jobs:array "
    "trace:array* unsure:object?"
)
_COMPARISON = (
    "asked:array behaviours:array consulted:array decisions:array differ:boolean not_known:array "
    "partings:array sides:array steps_compared:integer?"
)
_OBJECT = "apiVersion:string kind:string metadata:object"

FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "log": "cluster:string branch:string last:integer events:integer first_revision:integer? "
        "last_revision:integer? times:object inputs:array whole:boolean coverage:array "
        "missing:array releases:array configurations:array advice:array",
        "events": "position:integer kind:string object:object resource_version:string "
        "time:string? earliest:string? latest:string? recorded_at:string? actor:string "
        "made:integer? source:string line:integer? branch:string cluster:string payload:object*",
        "sessions": "session:string number:integer opened:string? closed:string? how:string",
        "kinds": "group:string kind:string resource:string name:string objects:integer",
        "state": "time:integer? revision:integer?",
        "objects": _OBJECT,
        "object": _OBJECT,
        "diff": "from:object to:object summary:object added:array first_seen:array removed:array "
        "changed:array nodes:array queues:array begun:array not_known:array",
        "history": "object:object uids:array happenings:array belonging:array not_known:array "
        "unsure:object?",
        "blame": "about:string number:string at:string value:string changed:string? how:string "
        "last:object? parts:array not_known:array",
        "why": "asked:object sentence:string waits:boolean cause:string began:object? "
        "made_by:array chain:array stages:array steps:array events:array sessions:integer? "
        "not_known:array",
        "what-would-help": "found:array tried:integer left:integer",
        "what-if": "at:string sides:array decisions:array not_known:array",
        "forecast": "at:string begin:string until:string courses:array differences:array "
        "assumed:array not_modelled:array calibration:object? not_known:array",
        "session": _SESSION,
        "compare": _COMPARISON,
        "compare-moments": _COMPARISON,
        "belief": "nodes:array jobs:array tasks:array queues:array hypernodes:array work:array",
        "drift": "at:string release:string differences:array crashes:array",
        "check": "at:string release:string checked:array not_checked:array violations:array "
        "unsettled:array sessions:integer settle_seconds:number since:string? not_known:array",
        "explore": "about:string case:string release:string strategy:string anomalies:array "
        "complete:boolean interrupted:boolean states:integer turns:integer coverage:object",
        "releases": "name:string changed:object lacking:object",
        "behaviours": "behaviour:string part:string subject:string value:string since:array "
        "source:string why:string pull:string? proof:string?",
        "release-diff": "behaviour:string part:string subject:string values:array since:array "
        "source:string why:string pull:string?",
    }
)
"""The fields of each answer, by the name of the question; of a list those of its members."""


def result_schema(name: str, *, is_list: bool) -> dict[str, Any]:
    """Return the JSON schema of the result of a question."""
    fields = [_field(word) for word in FIELDS[name].split()]
    shape = {
        "type": "object",
        "properties": {field: {"type": types} for field, types, _ in fields},
        "required": [field for field, _, required in fields if required],
    }
    return {"type": "array", "items": shape} if is_list else shape


def _field(word: str) -> tuple[str, str | list[str], bool]:
    name, _, text = word.partition(":")
    required = not text.endswith("*")
    plain = text.rstrip("*?")
    return name, [plain, "null"] if "?" in text else plain, required
