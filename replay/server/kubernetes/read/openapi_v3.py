"""OpenAPI v3, as far as ``kubectl explain`` reads it.

The schemas of Kubernetes' own kinds come with Plinian, from Kubernetes (Apache License 2.0); those
of custom resources are in the CustomResourceDefinitions of the log. A kind without either gets a
schema with the fields that its objects in the log have; what those of Volcano's kinds are is said
in our words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgspec
import zstandard

from ..wire.api_resources import ApiResource, Catalog
from .cluster_state import ClusterState
from .volcano_fields import described

_OBJECTS = 200
"""The number of objects whose fields make a schema."""

_REF = "#/components/schemas/"
_META = f"{_REF}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_INFERRED = "The fields that the objects in the log have: the log holds no schema of this kind."
_GVK = "x-kubernetes-group-version-kind"
_OF_PATCHES = ("dryRun", "fieldManager", "fieldValidation", "force")
"""Parameters that ``kubectl apply`` looks for, before it leaves the check to the server."""

V2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
V2_ANSWER = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
EMPTY_V2 = b"\n\x032.0"
"""OpenAPI v2 without any schema, in protobuf: its version alone.

Before 1.29, ``kubectl explain`` does not go on without that document, and then reads v3.
"""

Schema = Mapping[str, Any]


def index(catalog: Catalog) -> dict[str, Any]:
    """Return which documents there are."""
    paths = {}
    for group, versions in catalog.groups().items():
        for version in versions:
            if catalog.of(group, version):
                path = f"apis/{group}/{version}" if group else f"api/{version}"
                tag = hashlib.sha256(repr(catalog.of(group, version)).encode()).hexdigest()[:32]
                paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={tag.upper()}"}
    return {"paths": paths}


def document(state: ClusterState, group: str, version: str) -> dict[str, Any] | None:
    """Return the document of a group and version; None if there is none."""
    resources = state.catalog.of(group, version)
    if not resources:
        return None
    schemas: dict[str, Schema] = {}
    for resource in resources:
        schemas |= _schemas_of(state, resource)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": dict(path for resource in resources for path in _paths(resource)),
        "components": {"schemas": schemas},
    }


def _paths(resource: ApiResource) -> Iterator[tuple[str, Any]]:
    """Yield the paths of a resource, by which clients find its kind."""
    root = f"/apis/{resource.group_version}" if resource.group else f"/api/{resource.version}"
    below = "/namespaces/{namespace}" if resource.namespaced else ""
    plural = f"{root}{below}/{resource.plural}"

    def operation(action: str) -> dict[str, Any]:
        return {"x-kubernetes-action": action, _GVK: resource.full_kind, "responses": {}}

    yield plural, {"get": operation("list")}
    text = {"in": "query", "schema": {"type": "string"}}
    patch = {
        **operation("patch"),
        "parameters": [{"name": of_patch, **text} for of_patch in _OF_PATCHES],
    }
    yield f"{plural}/{{name}}", {"get": operation("get"), "patch": patch}


def _schemas_of(state: ClusterState, resource: ApiResource) -> dict[str, Schema]:
    """Return the schema of a kind, and all that it refers to."""
    known = known_schemas()
    name = schema_name(resource)
    if name is not None:
        return _with_all([name], known)
    schema = resource.schema or _inferred(state, resource)
    name = ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])
    schemas = _with_all([_META.removeprefix(_REF)], known)
    return {**schemas, name: _completed(schema, resource)}


def schema_name(resource: ApiResource) -> str | None:
    """Return the name of the schema of one of Kubernetes' own kinds; None of others."""
    if resource.schema is not None:
        return None
    wanted = resource.full_kind
    names = (name for name, schema in known_schemas().items() if wanted in schema.get(_GVK, ()))
    return next(names, None)


def schema_of(resource: ApiResource) -> Schema | None:
    """Return the schema of a kind; None if neither Plinian nor the log has one."""
    if resource.schema is not None:
        return _completed(resource.schema, resource)
    name = schema_name(resource)
    return None if name is None else known_schemas()[name]


def resolved(schema: Schema) -> Schema:
    """Return a schema, or the one that it refers to."""
    # Kubernetes puts a reference into ``allOf`` to give it a description.
    for part in (schema, *schema.get("allOf", ())):
        name = part.get("$ref")
        if isinstance(name, str):
            return known_schemas().get(name.rpartition("/")[2], {})
    return schema


@lru_cache(maxsize=1)
def known_schemas() -> Mapping[str, Schema]:
    """Return the schemas of Kubernetes' own kinds, by name."""
    packed = files(__package__).joinpath("schemas.json.zst").read_bytes()
    schemas: Mapping[str, Schema] = msgspec.json.decode(
        zstandard.ZstdDecompressor().decompress(packed)
    )
    return schemas


def _with_all(names: Iterable[str], known: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return schemas and all that they refer to."""
    collected: dict[str, Schema] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in collected and name in known:
            collected[name] = known[name]
            waiting += _references(known[name])
    return dict(sorted(collected.items()))


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix(_REF)
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _references(part)


def _completed(schema: Schema, resource: ApiResource) -> Schema:
    """Return the schema of a custom resource with the fields that every object has."""
    text = {"type": "string"}
    properties = {
        **schema.get("properties", {}),
        "apiVersion": text,
        "kind": text,
        "metadata": {"allOf": [{"$ref": _META}], "description": "Standard object's metadata."},
    }
    return {**schema, "type": "object", "properties": properties, _GVK: [resource.full_kind]}


def _inferred(state: ClusterState, resource: ApiResource) -> Schema:
    """Return a schema with the fields of objects."""
    entries = state.of(resource.pair)[:_OBJECTS]
    documents = map(msgspec.json.decode, state.bodies(entries, resource))
    schema = described(resource.pair)
    said = " ".join(filter(None, (schema.get("description"), _INFERRED)))
    for document in documents:
        schema = _joined(schema, _shape(document))
    return {**schema, "description": said}


def _shape(value: Any) -> dict[str, Any]:
    """Return the schema of one value."""
    match value:
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer"}
        case float():
            return {"type": "number"}
        case str():
            return {"type": "string"}
        case list():
            items: dict[str, Any] = {}
            for part in value:
                items = _joined(items, _shape(part))
            return {"type": "array", "items": items}
        case dict():
            return {
                "type": "object",
                "properties": {name: _shape(part) for name, part in sorted(value.items())},
            }
    return {}


def _joined(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that fits what either fits."""
    # An empty schema is that of null, or of no value so far.
    if not left or not right:
        return dict(left or right)
    if left.get("type") != right.get("type"):
        return {"x-kubernetes-preserve-unknown-fields": True}
    joined = dict(left)
    if "items" in left:
        joined["items"] = _joined(left["items"], right["items"])
    if "properties" in left or "properties" in right:
        mine, theirs = (part.get("properties", {}) for part in (left, right))
        joined["properties"] = {
            name: _joined(mine.get(name, {}), theirs.get(name, {}))
            for name in sorted({*mine, *theirs})
        }
    return joined
