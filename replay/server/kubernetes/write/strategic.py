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
    result = dict(held)
    for name, value in patch.items():
        if name.startswith(_DELETED):
            field = name.removeprefix(_DELETED)
            result[field] = _without(result.get(field), value)
        elif name == _DIRECTIVE or name.startswith(_OTHERS):
            continue
        elif value is None:
            result.pop(name, None)
        else:
            result[name] = _value(result.get(name), value, fields.get(name, {}))
    return result


def _directive(patch: Mapping[str, Any]) -> str:
    """Return what a patch does with an object: ``merge``, ``replace`` or ``delete``."""
    directive = patch.get(_DIRECTIVE, "merge")
    if directive not in ("merge", "replace", "delete"):
        raise invalid(f"unknown patch type found: {_shown(directive)}")
    return str(directive)


def _without(held: Any, gone: Any) -> list[Any]:
    """Return a list without some of its elements."""
    if not isinstance(gone, list):
        raise invalid(f"{_DELETED}… is no list")
    named = set(map(_identity, gone))
    listed = held if isinstance(held, list) else []
    return [element for element in listed if _identity(element) not in named]


def _value(held: Any, value: Any, schema: Schema) -> Any:
    if isinstance(value, dict):
        below = schema if resolved(schema).get("properties") else {}
        return strategic_merged(held if isinstance(held, dict) else {}, value, below)
    if not isinstance(value, list) or "merge" not in schema.get(_STRATEGY, ""):
        return value
    listed = held if isinstance(held, list) else []
    key = schema.get(_KEY)
    if key is None:
        # Plain values are merged as a set: what is there stays in front.
        return list({_identity(element): element for element in (*listed, *value)}.values())
    return _merged_list(listed, value, key, schema.get("items", {}))


def _merged_list(held: list[Any], patch: list[Any], key: str, schema: Schema) -> list[Any]:
    """Return a list whose elements a field distinguishes."""
    for element in patch:
        if not isinstance(element, dict):
            raise invalid(f"an element of a list that {key!r} distinguishes is no object")
    # Such an element says that the others replace the whole list.
    if any(_directive(element) == "replace" for element in patch):
        return [element for element in patch if _DIRECTIVE not in element]
    result: list[Any] = list(held)
    places = _places(result, key)
    for element in patch:
        if key not in element:
            raise invalid(f"map: {_shown(element)} does not contain declared merge key: {key}")
        name = _identity(element[key])
        if _directive(element) == "delete":
            for at in places.pop(name, ()):
                result[at] = _GONE
        elif name in places:
            at = places[name][0]
            result[at] = strategic_merged(result[at], element, schema)
        else:
            places[name] = [len(result)]
            result.append(strategic_merged({}, element, schema))
    return [element for element in result if element is not _GONE]


def _places(elements: Sequence[Any], key: str) -> dict[bytes, list[int]]:
    """Return where the elements with each value of a key are."""
    places: dict[bytes, list[int]] = {}
    for at, element in enumerate(elements):
        if isinstance(element, dict) and key in element:
            places.setdefault(_identity(element[key]), []).append(at)
    return places


_GONE = object()


def _identity(value: Any) -> bytes:
    """Return what equal values have in common; 1, 1.0 and true differ, as in Go."""
    return msgspec.json.encode(value, order="sorted")


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
