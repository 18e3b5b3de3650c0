"""Strategic merge patches: objects are merged, and lists by the keys of their elements.

The work is in proportion to the object and the patch: elements of lists are found by an index.

Source: k8s.io/apimachinery pkg/util/strategicpatch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..read.openapi_v3 import Schema, resolved
from ..wire.api_status import invalid

_DIRECTIVE = "$patch"
_DELETED = "$deleteFromPrimitiveList/"
_OTHERS = ("$setElementOrder/", "$retainKeys")
_KEY, _STRATEGY = "x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy"
_LONGEST = 60

Document = dict[str, Any]


def strategic_merged(held: Mapping[str, Any], patch: Mapping[str, Any], schema: Schema) -> Document:
    """Return an object with a strategic merge patch applied.

    :raises StatusError: the patch is malformed.
    """
    match _directive(patch):
        case "replace":
            return {name: value for name, value in patch.items() if name != _DIRECTIVE}
        case "delete":
            return {}
    fields = resolved(schema).get("properties", {})
    made = dict(held)
    for name, value in patch.items():
        if name.startswith(_DELETED):
            field = name.removeprefix(_DELETED)
            made[field] = _without(made.get(field), value)
        elif name == _DIRECTIVE or name.startswith(_OTHERS):
            continue
        elif value is None:
            made.pop(name, None)
        else:
            made[name] = _value(made.get(name), value, fields.get(name, {}))
    return made


def _directive(patch: Mapping[str, Any]) -> str:
    """Return what a patch does with an object: ``merge``, ``replace`` or ``delete``."""
    found = patch.get(_DIRECTIVE, "merge")
    if found not in ("merge", "replace", "delete"):
        raise invalid(f"unknown patch type found: {_shown(found)}")
    return str(found)


def _without(held: Any, gone: Any) -> list[Any]:
    """Return a list without some of its elements."""
    if not isinstance(gone, list):
        raise invalid(f"{_DELETED}… is no list")
    named = set(map(_identity, gone))
    listed = held if isinstance(held, list) else []
    return [one for one in listed if _identity(one) not in named]


def _value(held: Any, value: Any, schema: Schema) -> Any:
    if isinstance(value, dict):
        below = schema if resolved(schema).get("properties") else {}
        return strategic_merged(held if isinstance(held, dict) else {}, value, below)
    if not isinstance(value, list) or "merge" not in schema.get(_STRATEGY, ""):
        return value
    listed = held if isinstance(held, list) else []
    key = schema.get(_KEY)
    if key is None:
        return list({_identity(one): one for one in (*listed, *value)}.values())
    return _merged_list(listed, value, key, schema.get("items", {}))


def _merged_list(held: list[Any], patch: list[Any], key: str, schema: Schema) -> list[Any]:
    """Return a list whose elements a field distinguishes."""
    for one in patch:
        if not isinstance(one, dict):
            raise invalid(f"an element of a list that {key!r} distinguishes is no object")
    if any(_directive(one) == "replace" for one in patch):
        return [one for one in patch if _DIRECTIVE not in one]
    made: list[Any] = list(held)
    places = _places(made, key)
    for one in patch:
        if key not in one:
            raise invalid(f"map: {_shown(one)} does not contain declared merge key: {key}")
        name = _identity(one[key])
        if _directive(one) == "delete":
            for at in places.pop(name, ()):
                made[at] = _GONE
        elif name in places:
            at = places[name][0]
            made[at] = strategic_merged(made[at], one, schema)
        else:
            places[name] = [len(made)]
            made.append(strategic_merged({}, one, schema))
    return [one for one in made if one is not _GONE]


def _places(elements: Sequence[Any], key: str) -> dict[bytes, list[int]]:
    """Return where the elements with each value of a key are."""
    found: dict[bytes, list[int]] = {}
    for at, element in enumerate(elements):
        if isinstance(element, dict) and key in element:
            found.setdefault(_identity(element[key]), []).append(at)
    return found


_GONE = object()


def _identity(value: Any) -> bytes:
    """Return what equal values have in common; 1, 1.0 and true differ, as in Go."""
    return msgspec.json.encode(value, order="sorted")


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
