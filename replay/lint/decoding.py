"""Objects of manifests decoded, and if that fails, every field that has a wrong type."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from ...engine.errors import EventMalformed
from ...engine.kubernetes.objects import Object, decode
from .amounts import fault_of_amount
from .objects import Manifest, amounts_in, copied

O = TypeVar("O", bound=Object)  # noqa: E741 -- the field's letter for an object

_FAULT = re.compile(
    r"Expected `(?P<expected>[^`]+)`(?P<bound> [<>]= -?\d+)?(?:, got `(?P<got>\w+)`)?"
    r" - at `\$\.?(?P<path>[^`]*)`"
)
"""How a decoder says that a value has another type; ``[...]`` in a path is any value of a map."""

_STEP = re.compile(r"\[\.\.\.\]|\[\d+\]|[^.\[]+")
_ANY = "[...]"
_ZEROS: Mapping[str, Any] = MappingProxyType(
    {"str": "", "int": 0, "float": 0, "bool": False, "null": None}
)
_WORDS = MappingProxyType(
    {
        "str": "text",
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "object": "a mapping",
        "array": "a list",
    }
)
_TYPES: Mapping[type, str] = MappingProxyType(
    {str: "str", int: "int", float: "float", bool: "bool", dict: "object", list: "array"}
)
_SHOWN = 40
_NOW = "write the field with the API's type"


class TypeFault(NamedTuple):
    """A field that Go cannot decode. :param field: its path; empty if it is not known."""

    field: str
    message: str
    now: str = _NOW


class _Place(NamedTuple):
    """A value: what holds it, under which key, and the path in an object."""

    holder: Any
    key: str | int
    path: str

    @property
    def value(self) -> Any:
        return self.holder[self.key]


def decoded(made: type[O], manifest: Manifest) -> tuple[O | None, tuple[TypeFault, ...]]:
    """Return an object, or None and what is wrong with it; amounts are for another rule."""
    try:
        return decode(made, manifest.document), ()
    except (EventMalformed, AttributeError, TypeError):
        document = copied(manifest.document)
    for _, amounts in amounts_in(manifest._replace(document=document)):
        for name in [name for name, value in amounts.items() if fault_of_amount(value)]:
            del amounts[name]
    return None, tuple(_faults(made, document))


def _faults(made: type[Object], document: dict[str, Any]) -> Iterator[TypeFault]:
    """Yield what is wrong with an object, which is mended on the way, until it can be decoded."""
    while True:
        try:
            decode(made, document)
        except EventMalformed as fault:
            found = _FAULT.search(str(fault.__cause__))
            places = [] if found is None else list(_places(document, found))
            if found is None or not places:
                yield TypeFault("", fault.what)
                return
            for place in places:
                yield _type_fault(place, found)
                place.holder[place.key] = _zero(found["expected"])
        except (AttributeError, TypeError) as fault:
            yield TypeFault("", str(fault))
            return
        else:
            return


def _places(document: dict[str, Any], fault: re.Match[str]) -> Iterator[_Place]:
    """Yield the values that a fault may be about: of a map, those of the type that it names."""
    found = [_Place({"": document}, "", "")]
    for step in _STEP.findall(fault["path"]):
        found = [inner for place in found for inner in _inner(place, step)]
    for place in found:
        value = place.value
        if fault["got"] == _TYPES.get(type(value), "null") or (
            fault["bound"] and isinstance(value, int)
        ):
            yield place


def _inner(place: _Place, step: str) -> Iterator[_Place]:
    value = place.value
    if isinstance(value, dict):
        names = list(value) if step == _ANY else [step] if step in value else []
        for name in names:
            dotted = step == _ANY and "." in name
            path = f"{place.path}[{name}]" if dotted else f"{place.path}.{name}".removeprefix(".")
            yield _Place(value, name, path)
    elif isinstance(value, list):
        indexes = range(len(value)) if step == _ANY else [int(step[1:-1])]
        yield from (_Place(value, at, f"{place.path}[{at}]") for at in indexes)


def _type_fault(place: _Place, fault: re.Match[str]) -> TypeFault:
    value, bound = place.value, fault["bound"]
    shown = json.dumps(value, ensure_ascii=False)
    if bound:
        sign, limit = bound.split()
        than = "above" if sign.startswith("<") else "below"
        return TypeFault(place.path, f"{place.path} is {shown}, {than} {limit}", "")
    names = [one for one in fault["expected"].split(" | ") if one != "null"]
    wanted = " or ".join(_WORDS.get(one, one) for one in names)
    given = _WORDS.get(fault["got"], "nothing")
    if len(shown) <= _SHOWN and not isinstance(value, dict | list):
        given = f"{shown}, {given}," if not isinstance(value, bool) else shown
    message = f"{place.path or 'the object'} is {given} and not {wanted}"
    now = _NOW
    if names == ["str"] and isinstance(value, int | float):
        now = f'put it in quotes: "{shown}"'
    elif names == ["int"] and isinstance(value, str) and value.isdecimal():
        now = f"write it without quotes: {value}"
    return TypeFault(place.path, message, now)


def _zero(expected: str) -> Any:
    """Return a value of the first of some types."""
    first = expected.partition(" | ")[0]
    return {} if first == "object" else [] if first == "array" else _ZEROS.get(first)
