"""What an object becomes by a patch: tried for ``kubectl diff``, and stored on a branch.

Source: k8s.io/apimachinery pkg/util/strategicpatch; https://www.rfc-editor.org/rfc/rfc7386.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import msgspec
from yaml import DocumentStartEvent, StreamEndEvent

from ....engine.kubernetes.api_errors import Refused
from ....engine.kubernetes.api_server import MERGE, merged
from ....engine.kubernetes.json_patch import (
    JSON_PATCH,
    Operation,
    fault_of_operations,
    patched,
)
from ....engine.kubernetes.yaml import YamlReader
from .openapi import Schema, known_schemas, resolved, schema_name
from .resources import Resource
from .status import StatusError

STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

_DIRECTIVE = "$patch"
_DELETED = "$deleteFromPrimitiveList/"
_OTHERS = ("$setElementOrder/", "$retainKeys")
_KEY, _STRATEGY = "x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy"

Document = dict[str, Any]


def patched_object(held: Document, body: bytes, media: str, resource: Resource) -> Document:
    """Return what a patch would make of an object.

    What is applied is merged by the keys of lists: the log has no record of who manages fields.

    :raises StatusError: it is no patch, or it does not fit.
    """
    patch = _read(body, media)
    try:
        if media == JSON_PATCH:
            made = patched(held, _operations(patch))
        elif not isinstance(patch, dict):
            raise StatusError(400, "the patch is no object")
        elif media == MERGE or resource.is_custom:
            made = merged(held, patch)
        else:
            made = _merged(held, patch, _schema(resource))
    except Refused as fault:
        raise StatusError(422, str(fault)) from fault
    if not isinstance(made.get("metadata"), dict):
        raise StatusError(422, "the patch removes metadata")
    return counted(held, made)


def _read(body: bytes, media: str) -> Any:
    try:
        if media == APPLY:
            return read_yaml(body)
        if media in {STRATEGIC, MERGE, JSON_PATCH}:
            return msgspec.json.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as fault:
        raise StatusError(400, "the patch cannot be read") from fault
    raise StatusError(415, f"no patch of type {media!r}", reason="UnsupportedMediaType")


def read_yaml(body: bytes, repeated: list[tuple[int, str]] | None = None) -> Any:
    """Return the value of the first document of YAML, as Kubernetes reads it.

    :param repeated: gets the keys that a mapping has more than once, each with its line.
    :raises YamlFault: it is no YAML.
    """
    reader = YamlReader(BytesIO(body), repeated=[] if repeated is None else repeated)
    while not isinstance(event := reader.next(), DocumentStartEvent | StreamEndEvent):
        pass
    return None if isinstance(event, StreamEndEvent) else reader.value(reader.next())


def _operations(patch: Any) -> Sequence[Operation]:
    """Return the operations of a JSON patch.

    :raises StatusError: it is none.
    """
    if fault := fault_of_operations(patch):
        raise StatusError(400, fault)
    operations: list[Operation] = patch
    return operations


def counted(held: Document, made: Document) -> Document:
    """Return a new version as a server stores it: with its generation, without empty maps."""
    metadata = dict(made["metadata"])
    for field in ("annotations", "labels"):
        if not metadata.get(field, True):
            del metadata[field]
    made = {**made, "metadata": metadata}
    generation = (held.get("metadata") or {}).get("generation")
    if made.get("spec") == held.get("spec") or not isinstance(generation, int):
        return made
    return {**made, "metadata": {**made["metadata"], "generation": generation + 1}}


def _schema(resource: Resource) -> Schema:
    known = known_schemas()
    return known.get(schema_name(resource) or "", {})


def _merged(held: Mapping[str, Any], patch: Mapping[str, Any], schema: Schema) -> Document:
    """Return an object with a strategic merge patch applied."""
    fields = resolved(schema).get("properties", {})
    if patch.get(_DIRECTIVE) == "replace":
        return {name: value for name, value in patch.items() if name != _DIRECTIVE}
    made = dict(held)
    for name, value in patch.items():
        if name.startswith(_DELETED):
            field = name.removeprefix(_DELETED)
            made[field] = [one for one in made.get(field) or () if one not in value]
        elif name == _DIRECTIVE or name.startswith(_OTHERS):
            continue
        elif value is None:
            made.pop(name, None)
        else:
            made[name] = _value(made.get(name), value, fields.get(name, {}))
    return made


def _value(held: Any, value: Any, schema: Schema) -> Any:
    if isinstance(value, dict):
        below = schema if resolved(schema).get("properties") else {}
        return _merged(held if isinstance(held, dict) else {}, value, below)
    if not isinstance(value, list) or "merge" not in schema.get(_STRATEGY, ""):
        return value
    listed = held if isinstance(held, list) else []
    key = schema.get(_KEY)
    if key is None:
        return [*listed, *(one for one in value if one not in listed)]
    return _merged_list(listed, value, key, schema.get("items", {}))


def _merged_list(held: list[Any], patch: list[Any], key: str, schema: Schema) -> list[Any]:
    """Return a list whose elements a field distinguishes."""
    if any(isinstance(one, dict) and one.get(_DIRECTIVE) == "replace" for one in patch):
        return [one for one in patch if not (isinstance(one, dict) and _DIRECTIVE in one)]
    made = list(held)
    for one in patch:
        if not isinstance(one, dict) or key not in one:
            raise StatusError(400, f"an element of a list lacks its key {key!r}")
        place = next(
            (
                at
                for at, old in enumerate(made)
                if isinstance(old, dict) and old.get(key) == one[key]
            ),
            None,
        )
        if one.get(_DIRECTIVE) == "delete":
            made = [old for at, old in enumerate(made) if at != place]
        elif place is None:
            made.append(_merged({}, one, schema))
        else:
            made[place] = _merged(made[place], one, schema)
    return made
