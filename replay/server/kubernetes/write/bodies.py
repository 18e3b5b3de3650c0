"""Writes as clients send them: their bodies are read, and checked as far as the rest needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from .....engine.nesting import hold_depth
from ..wire.api_paths import ApiPath
from ..wire.api_status import StatusError, invalid
from ..wire.protobuf_fields import MAGIC
from .patches import read_json, read_yaml
from .protobuf import decoded
from .storing import DeletionOptions, without_nulls
from .strategic import Document

PROTOBUF = "application/vnd.kubernetes.protobuf"
YAML = ("application/yaml", "application/x-yaml", "text/yaml")
_JSON = frozenset({"", "application/json", "application/x-www-form-urlencoded"})

_LONGEST_NAME = 253
_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_WITH_COLONS = frozenset({"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"})
"""Kinds whose names are only parts of paths: ``system:node``."""


class WriteRequest(NamedTuple):
    """A write as a client sent it.

    :param media: the content type of the body, without parameters.
    :param query: the parameters in the address. :param actor: who sent it.
    """

    method: str
    place: ApiPath
    body: bytes
    media: str
    query: dict[str, str]
    actor: str


def document_in(asking: WriteRequest) -> Document:
    """Return the object in a body, without fields that are null.

    :raises StatusError: it is none, or none of the kind that the path names.
    """
    body = _read(asking)
    if not isinstance(body, dict):
        raise StatusError(400, "the body is no object")
    document: Document = without_nulls(body)
    hold_depth(document)
    return document


def object_in(asking: WriteRequest) -> Document:
    """Return the object in a body, with its kind, its name and its namespace.

    :raises StatusError: it is none of the resource that the path names.
    """
    return checked(document_in(asking), asking.place)


def checked(document: Document, place: ApiPath) -> Document:
    """Return an object of the resource that a path names; what the path says is filled in.

    :raises StatusError: the object is another one, or a field that all code relies on is wrong.
    """
    resource = place.resource
    for field, wanted in (("apiVersion", resource.group_version), ("kind", resource.kind)):
        if document.get(field, wanted) != wanted:
            raise StatusError(400, f"the object is no {resource.kind} of {resource.group_version}")
    metadata = document.get("metadata", {})
    if not isinstance(metadata, dict):
        raise StatusError(400, "metadata is no object")
    names = {"name": place.name, "namespace": place.namespace}
    for field, wanted in names.items():
        if wanted and metadata.get(field, wanted) != wanted:
            raise StatusError(400, f"the {field} of the object is not the {field} of the path")
    metadata = {**metadata, **{field: name for field, name in names.items() if name}}
    if not resource.namespaced:
        metadata.pop("namespace", None)
    _check_metadata(metadata)
    return {
        **document,
        "apiVersion": resource.group_version,
        "kind": resource.kind,
        "metadata": metadata,
    }


def _check_metadata(metadata: Mapping[str, Any]) -> None:
    for field in ("labels", "annotations"):
        labels = metadata.get(field, {})
        if not isinstance(labels, dict) or not all(
            isinstance(text, str) for text in labels.values()
        ):
            raise invalid(f"metadata.{field}: Invalid value: it is no map of texts")
    finalizers = metadata.get("finalizers", [])
    if not isinstance(finalizers, list) or not all(isinstance(text, str) for text in finalizers):
        raise invalid("metadata.finalizers: Invalid value: it is no list of texts")
    owners = metadata.get("ownerReferences", [])
    if not isinstance(owners, list) or not all(map(_is_owner, owners)):
        raise invalid("metadata.ownerReferences: Invalid value: it is no list of owners")
    for field in ("name", "namespace", "generateName", "uid", "resourceVersion"):
        if not isinstance(metadata.get(field, ""), str):
            raise invalid(f"metadata.{field}: Invalid value: it is no text")


def _is_owner(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(field), str) for field in ("apiVersion", "kind", "name", "uid")
    )


def check_name(kind: str, name: str) -> None:
    """Check the name of a new object.

    :raises StatusError: no object can have it.
    """
    if kind in _WITH_COLONS:
        fits = name not in {"", ".", ".."} and not set(name) & {"/", "%"} and name.isprintable()
    else:
        fits = bool(name) and set(name) <= _LOWER | {"-", "."} and {name[0], name[-1]} <= _LOWER
    if not fits or len(name) > _LONGEST_NAME:
        raise invalid(f"metadata.name: Invalid value: {name[:80]!r}: it is no name of an object")


def deletion_in(asking: WriteRequest, wrapped: Any = None) -> DeletionOptions:
    """Return the options of a deletion, from its body and the address.

    :param wrapped: the options themselves, if they come inside something else.
    :raises StatusError: they cannot be read.
    """
    given = wrapped if wrapped is not None else document_in(asking) if asking.body else {}
    query = asking.query
    for field in ("gracePeriodSeconds", "propagationPolicy"):
        if field in query:
            # What the body says counts more than the address.
            given = {field: _number(query[field]), **given}
    try:
        options = msgspec.convert(given, _Options, strict=False)
    except msgspec.ValidationError as fault:
        raise StatusError(400, f"the options of the deletion cannot be read: {fault}") from fault
    must = options.preconditions
    orphan = "Orphan" if options.orphan_dependents else ""
    return DeletionOptions(
        uid=must.uid or None,
        version=must.resource_version or None,
        grace=options.grace_period_seconds,
        propagation=options.propagation_policy or orphan,
        trial=is_trial(asking, options.dry_run),
    )


def is_trial(asking: WriteRequest, more: Sequence[str] = ()) -> bool:
    """Return whether a write is only tried.

    :param more: what the body says; kubectl says it there of deletions, and not in the address.
    :raises StatusError: it is tried in a way that does not exist.
    """
    stages = [stage for stage in (asking.query.get("dryRun", ""), *more) if stage]
    for stage in stages:
        if stage != "All":
            raise StatusError(400, f"dryRun: Unsupported value: {stage[:40]!r}: it can be 'All'")
    return bool(stages)


class _Preconditions(msgspec.Struct, rename="camel"):
    uid: str | None = None
    resource_version: str | None = None


class _Options(msgspec.Struct, rename="camel"):
    grace_period_seconds: int | None = None
    propagation_policy: str = ""
    orphan_dependents: bool = False
    dry_run: list[str] = []
    preconditions: _Preconditions = msgspec.field(default_factory=_Preconditions)


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text


def _read(asking: WriteRequest) -> Any:
    body, media = asking.body, asking.media
    try:
        if body.startswith(MAGIC) or media == PROTOBUF:
            return decoded(body)
        if media in YAML:
            return read_yaml(body)
        if media in _JSON:
            return read_json(body)
    except (msgspec.MsgspecError, ValueError) as fault:
        raise StatusError(400, f"the body cannot be read: {fault}") from fault
    raise StatusError(415, f"the body of the request was in an unknown format: {media}")
