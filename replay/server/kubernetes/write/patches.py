"""What an object becomes by a patch: tried for ``kubectl diff``, and stored on a branch.

Source: k8s.io/apiserver pkg/endpoints/handlers/patch.go; https://www.rfc-editor.org/rfc/rfc7386.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import msgspec
from yaml import DocumentStartEvent, StreamEndEvent

from .....engine.kubernetes.api_errors import Refused
from .....engine.kubernetes.api_server import MERGE, merged
from .....engine.kubernetes.json_patch import (
    JSON_PATCH,
    MOST_OPERATIONS,
    Operation,
    fault_of_operations,
    patched,
)
from .....engine.kubernetes.yaml import YamlReader
from .....engine.nesting import hold_depth, levels
from ..read.openapi_v3 import known_schemas, schema_name
from ..wire.api_resources import ApiResource
from ..wire.api_status import StatusError
from .strategic import Document, strategic_merged

STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

MOST_VALUES = 200_000
"""The values of one body. A pod has about 200, a large definition of resources 30,000."""


def patched_object(held: Document, body: bytes, media: str, resource: ApiResource) -> Document:
    """Return what a patch would make of an object.

    What is applied is merged by the keys of lists: the log has no record of who manages fields.

    :raises StatusError: it is no patch, or it does not fit.
    """
    patch = _read(body, media)
    try:
        if media == JSON_PATCH:
            patched_version = patched(held, _operations(patch))
        elif not isinstance(patch, dict):
            raise StatusError(400, "the patch is no object")
        # No keys of lists are known of custom resources, so a patch replaces their lists.
        elif media == MERGE or resource.is_custom:
            patched_version = merged(held, patch)
        else:
            schema = known_schemas().get(schema_name(resource) or "", {})
            patched_version = strategic_merged(held, patch, schema)
    except Refused as fault:
        raise StatusError(422, str(fault)) from fault
    if not isinstance(patched_version.get("metadata"), dict):
        raise StatusError(422, "the patch removes metadata")
    hold_depth(patched_version)
    return counted(held, patched_version)


def read_json(body: bytes) -> Any:
    """Return the value of a body in JSON.

    :raises MsgspecError: it is no JSON.
    :raises StatusError: it has more values than any object has.
    """
    value = msgspec.json.decode(body)
    most = body.count(b",") + body.count(b"{") + body.count(b"[")
    # Commas in texts are no values.
    if (
        most > MOST_VALUES
        and sum(len(container) for level in levels(value) for container in level) > MOST_VALUES
    ):
        raise StatusError(413, f"the body has more than {MOST_VALUES:,} values")
    return value


def _read(body: bytes, media: str) -> Any:
    try:
        if media == APPLY:
            return read_yaml(body)
        if media in {STRATEGIC, MERGE, JSON_PATCH}:
            return read_json(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as fault:
        raise StatusError(400, "the patch cannot be read") from fault
    raise StatusError(415, f"no patch of type {media!r}")


def read_yaml(body: bytes, repeated: list[tuple[int, str]] | None = None) -> Any:
    """Return the value of the first document of YAML, as Kubernetes reads it.

    :param repeated: gets the keys that a mapping has more than once, each with its line.
    :raises YamlFault: it is no YAML.
    """
    keys: list[tuple[int, str]] = [] if repeated is None else repeated
    reader = YamlReader(BytesIO(body), repeated=keys, most=MOST_VALUES)
    while not isinstance(event := reader.next(), DocumentStartEvent | StreamEndEvent):
        pass
    return None if isinstance(event, StreamEndEvent) else reader.value(reader.next())


def _operations(patch: Any) -> Sequence[Operation]:
    """Return the operations of a JSON patch.

    :raises StatusError: it is none.
    """
    if not isinstance(patch, list) or not all(isinstance(operation, dict) for operation in patch):
        raise StatusError(400, "a JSON patch is a list of operations")
    if len(patch) > MOST_OPERATIONS:
        most = f"the allowed maximum operations in a JSON patch is {MOST_OPERATIONS}"
        raise StatusError(413, f"{most}, got {len(patch)}")
    if fault := fault_of_operations(patch):
        raise StatusError(422, fault)
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
