"""Whether a value has the type that a schema wants, as an API server checks it.

Source: k8s.io/kube-openapi pkg/validation/validate; k8s.io/apimachinery pkg/api/resource and
pkg/apis/meta/v1, whose types say more than the schema does: quantities and times have a form.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .....engine.kubernetes.quantity import parse
from .....engine.kubernetes.units import parse_time
from ..read.openapi_v3 import Schema

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
_LONGEST = 60


def fault_of_type(value: Any, schema: Schema) -> str:
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
    one = schema.get("type")
    if isinstance(one, str) and one:
        return (one,)
    some = schema.get("oneOf")
    if not isinstance(some, list):
        return ()
    found = [each.get("type") for each in some if isinstance(each, dict)]
    return tuple(map(str, found)) if found and all(found) else ()


def _fault_of_form(value: Any, schema: Schema, wanted: tuple[str, ...]) -> str:
    form = schema.get("format")
    bits = _BITS.get(form) if isinstance(form, str) else None
    if isinstance(value, int) and bits is not None and not -1 <= value >> bits <= 0:
        return f"must be an integer of {bits + 1} bits"
    if isinstance(value, str) and value and form == "date-time" and not _is_read(parse_time, value):
        return f"must be a time as in 2006-01-02T15:04:05Z: {value[:_LONGEST]!r}"
    is_quantity = wanted == ("string", "number") and form is None
    if is_quantity and isinstance(value, str) and not _is_read(parse, value):
        return f"must be a quantity as in 500m or 1Gi: {value[:_LONGEST]!r}"
    return ""


def _is_read(read: Any, text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True
