"""Fields of a write that no server keeps or takes: unknown and repeated ones, and wrong types.

A schema that comes with Plinian may be older than the recorded server. So a field is known, too, if
the object that is there has it: nothing that was recorded is lost. A value of a wrong type stays if
it is there.

Source: k8s.io/apimachinery pkg/runtime/serializer/json and pkg/util/managedfields;
k8s.io/apiextensions-apiserver pkg/apiserver/schema/pruning; k8s.io/apiserver
pkg/endpoints/handlers/patch.go; k8s.io/kube-openapi pkg/validation/validate; k8s.io/apimachinery
pkg/api/resource and pkg/apis/meta/v1, whose types say more than the schema does: quantities and
times have a form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .....engine.kubernetes.quantity import parse
from .....engine.kubernetes.units import parse_time
from ..read.openapi_v3 import Schema, resolved, schema_of
from ..wire.api_paths import ApiPath
from ..wire.api_resources import ApiResource
from ..wire.api_status import StatusError, invalid, of_wrong_types
from ..wire.protobuf_fields import MAGIC
from .bodies import YAML, WriteRequest
from .patches import APPLY, read_yaml
from .strategic import Document

MOST_FAULTS = 100
"""So many fields are named; those after them are left out without a word."""

_MOST_LETTERS = 200
STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"
_KEEPS = "x-kubernetes-preserve-unknown-fields"

_NAMES: Mapping[type, str] = MappingProxyType(
    {
        bool: "boolean",
        dict: "object",
        float: "number",
        int: "integer",
        list: "array",
        str: "string",
        type(None): "null",
    }
)
_BITS: Mapping[str, int] = MappingProxyType({"int32": 31, "int64": 63})
_INT_OR_STRING = ("integer", "string")
_MOST_SHOWN = 60


def validated(
    asking: WriteRequest, document: Document, held: Document | None
) -> tuple[Document, Sequence[str]]:
    """Return the object of a write without the fields that a server does not keep.

    :param held: the object that is there; its fields are known.
    :returns: with what was wrong, one text for each field.
    :raises StatusError: a field has another type than its schema says; or the client asks for
        strict validation, and there are such fields; or it applies an unknown field, which no
        manager can own.
    """
    how = _directive(asking)
    if asking.body.startswith(MAGIC):  # Protobuf has no names of fields, and no other fields.
        return document, ()
    resource = asking.place.resource
    twice = [] if how == IGNORE else _repeated_in(asking)
    unknown: list[str] = []
    schema = schema_of(resource)
    if schema is not None:
        walk = _Walk(by_keys=asking.media == APPLY)
        document = walk.object(document, schema, [held], "", closed=resource.is_custom)
        unknown = [path[:_MOST_LETTERS] for path in walk.unknown[:MOST_FAULTS]]
        if walk.wrong:
            name = asking.place.name or document["metadata"].get("name", "")
            raise of_wrong_types(resource, name, walk.wrong)
    if unknown and asking.media == APPLY:
        raise _not_declared(asking.place, unknown)
    if how == IGNORE:
        return document, ()
    unknown = [f'unknown field "{path}"' for path in unknown[: MOST_FAULTS - len(twice)]]
    if how == STRICT and (twice or unknown):
        raise _refused(asking, resource, twice, unknown)
    return document, [*twice, *unknown]


def _directive(asking: WriteRequest) -> str:
    """Return what to do about such fields; a server warns if the request does not say it."""
    said = asking.query.get("fieldValidation") or WARN
    if said not in {STRICT, WARN, IGNORE}:
        raise invalid(
            f"fieldValidation: Unsupported value: {said[:40]!r}: supported values:"
            f' "{IGNORE}", "{STRICT}", "{WARN}"'
        )
    return said


def _repeated_in(asking: WriteRequest) -> list[str]:
    """Return what a server says of repeated fields of a body."""
    if not _is_yaml(asking):
        faults = [f'duplicate field "{path}"' for path in repeated(asking.body)]
    else:
        keys: list[tuple[int, str]] = []
        read_yaml(asking.body, keys)
        faults = [
            f"line {line}: key {json.dumps(path[:_MOST_LETTERS])} already set in map"
            for line, path in keys
        ]
    return [path[: 2 * _MOST_LETTERS] for path in faults[:MOST_FAULTS]]


def _is_yaml(asking: WriteRequest) -> bool:
    return asking.media == APPLY or asking.media in YAML


def _not_declared(place: ApiPath, unknown: Sequence[str]) -> StatusError:
    """Return the answer to an apply of unknown fields.

    Its text is that of a real server, which has no better code for it than 500.
    """
    resource = place.resource
    kind = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    said = [f".{path}: field not declared in schema" for path in unknown]
    faults = said[0] if len(said) == 1 else "\n  ".join(["errors:", *said])
    subject = f"{place.namespace}/{place.name}; {kind}"
    return StatusError(400, f"failed to create typed patch object ({subject}): {faults}")


def _refused(
    asking: WriteRequest, resource: ApiResource, twice: Sequence[str], unknown: Sequence[str]
) -> StatusError:
    if twice and _is_yaml(asking):
        twice = ["\n  ".join(["yaml: unmarshal errors:", *twice])]
    if asking.media == APPLY:
        said = f"error strict decoding YAML: error converting YAML to JSON: {twice[0]}"
        return StatusError(400, said)
    said = f"strict decoding error: {', '.join([*twice, *unknown])}"
    if asking.method == "PATCH":
        return invalid(f"{resource.kind} is invalid: patch: Invalid value: {said}")
    kind, version = resource.kind, resource.version
    return StatusError(400, f'{kind} in version "{version}" cannot be handled as a {kind}: {said}')


class _Walk:
    """Goes through an object and its schema at once.

    :param by_keys: elements of a list are named by their keys, as ``[name="c"]``, if it has keys.
    :ivar unknown: the fields that were left out, in their order.
    :ivar wrong: the fields of a wrong type, each with what is wrong.
    """

    def __init__(self, *, by_keys: bool) -> None:
        self._by_keys = by_keys
        self.unknown: list[str] = []
        self.wrong: list[tuple[str, str]] = []
        self._below: dict[int, dict[str | None, list[Any]]] = {}
        self._kept: list[object] = []

    def object(
        self, value: Document, schema: Schema, held: Sequence[Any], path: str, *, closed: bool
    ) -> Document:
        """Return an object without unknown fields.

        :param held: what is there in its place; of an element of a list, what may be.
        :param closed: a schema without fields has none; else it does not say which there are.
        """
        fields: Mapping[str, Schema] = schema.get("properties", {})
        others = schema.get("additionalProperties")
        keeps = bool(schema.get(_KEEPS) or others) or not (fields or closed)
        kept_fields = {}
        for name, member in value.items():
            there = self._inside(held, name)
            below = f"{path}.{name}" if path else name
            if name in fields:
                kept_fields[name] = self._value(member, fields[name], there, below, closed=closed)
            elif isinstance(others, dict):
                kept_fields[name] = self._value(member, others, there, below, closed=closed)
            elif keeps or there:
                kept_fields[name] = member
            else:
                self.unknown.append(below)
        return kept_fields

    def _value(
        self, value: Any, schema: Schema, held: Sequence[Any], path: str, *, closed: bool
    ) -> Any:
        whole = resolved(schema)
        closed = closed and whole is schema  # What is referred to is of Kubernetes' own.
        fault = _fault_of_type(value, whole)
        if fault and not any(type(old) is type(value) and old == value for old in held):
            self.wrong.append((path, fault))
        if fault:
            return value
        if isinstance(value, dict):
            return self.object(value, whole, held, path, closed=closed)
        items = whole.get("items")
        if not isinstance(value, list) or not isinstance(items, dict):
            return value
        there = self._inside(held, None)
        keys = whole.get("x-kubernetes-list-map-keys", ()) if self._by_keys else ()
        return [
            self._value(old, items, there, f"{path}[{_element(old, keys, place)}]", closed=closed)
            for place, old in enumerate(value)
        ]

    def _inside(self, held: Sequence[Any], name: str | None) -> list[Any]:
        """Return the values of a field, or the elements of lists; looked up once for all.

        :param held: all elements of a list share it, so its identity says what it is.
        :param name: of the field; None for the elements.
        """
        below = self._below.get(id(held))
        if below is None:
            self._kept.append(held)  # While it lives, nothing else has its identity.
            below = self._below[id(held)] = _by_name(held)
        return below.setdefault(name, [])


def _by_name(held: Sequence[Any]) -> dict[str | None, list[Any]]:
    """Return what is inside values: of objects by name, all elements of lists under None.

    It is one pass for all names.
    """
    by_name: dict[str | None, list[Any]] = {}
    for old in held:
        if isinstance(old, list):
            by_name.setdefault(None, []).extend(old)
        elif isinstance(old, dict):
            for name, member in old.items():
                by_name.setdefault(name, []).append(member)
    return by_name


def _element(value: Any, keys: Sequence[str], place: int) -> str:
    """Return what names an element of a list: its keys, or else its place."""
    if not keys or not isinstance(value, dict) or not all(key in value for key in keys):
        return str(place)
    return ",".join(f"{key}={json.dumps(value[key])}" for key in keys)


class _Pairs(dict[str, Any]):
    """An object of JSON. :ivar repeated: the names that it has more than once."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        names = [name for name, _ in pairs]
        self.repeated = [] if len(names) == len(self) else _more_than_once(names)


def _more_than_once(names: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    again: list[str] = []
    for name in names:
        (again.append if name in seen else seen.add)(name)
    return again


def repeated(body: bytes) -> list[str]:
    """Return the fields that an object in JSON has more than once; of other bodies none."""
    try:
        return list(_repeated(json.loads(body, object_pairs_hook=_Pairs), ""))
    except ValueError:
        return []


def _repeated(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        for name in value.repeated:
            yield f"{path}.{name}" if path else name
        for name, member in value.items():
            yield from _repeated(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for place, element in enumerate(value):
            yield from _repeated(element, f"{path}[{place}]")


def _fault_of_type(value: Any, schema: Schema) -> str:
    """Return what is wrong with the type of a value; empty if it fits.

    :param schema: of the value itself; what is inside of it is not looked at.
    """
    wanted = _wanted(schema)
    name = _NAMES[type(value)]
    if value is None:
        fits = bool(schema.get("nullable")) or not wanted
    else:
        # A number without a fraction is an integer, as JSON has it.
        whole = name == "number" and float(value).is_integer()
        fits = not wanted or name in wanted or (whole and "integer" in wanted)
        fits = fits or (name == "integer" and "number" in wanted)
    if not fits:
        return f'must be of type {" or ".join(wanted)}: "{name}"'
    return _fault_of_form(value, schema, wanted)


def _wanted(schema: Schema) -> tuple[str, ...]:
    """Return the types that fit; none if all do."""
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return _INT_OR_STRING
    name = schema.get("type")
    if isinstance(name, str) and name:
        return (name,)
    choices = schema.get("oneOf")
    if not isinstance(choices, list):
        return ()
    types = [choice.get("type") for choice in choices if isinstance(choice, dict)]
    return tuple(map(str, types)) if types and all(types) else ()


def _fault_of_form(value: Any, schema: Schema, wanted: tuple[str, ...]) -> str:
    form = schema.get("format")
    bits = _BITS.get(form) if isinstance(form, str) else None
    if isinstance(value, int) and bits is not None and not -1 <= value >> bits <= 0:
        return f"must be an integer of {bits + 1} bits"
    if isinstance(value, str) and value and form == "date-time" and not _is_read(parse_time, value):
        return f"must be a time as in 2006-01-02T15:04:05Z: {value[:_MOST_SHOWN]!r}"
    is_quantity = wanted == ("string", "number") and form is None
    if is_quantity and isinstance(value, str) and not _is_read(parse, value):
        return f"must be a quantity as in 500m or 1Gi: {value[:_MOST_SHOWN]!r}"
    return ""


def _is_read(read: Any, text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True
