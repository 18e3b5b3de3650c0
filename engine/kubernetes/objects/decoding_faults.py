"""Which field of an object cannot be decoded, with its value, in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import msgspec

Steps: TypeAlias = tuple[str | int, ...]
"""The keys and the indices that lead to a value."""

_LONGEST = 60
"""The most characters of a value that are shown."""

_SAYS = re.compile(r"Expected `([^`]+)`(?: (<=|>=) (-?\d+))?(?:, got `(\w+)`)?(?: - at `\$(.*)`)?")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[(\.\.\.)\]")
_ANY = "..."
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "int": "a whole number",
        "float": "a number",
        "int | float": "a number",
        "str": "text",
        "bool": "true or false",
        "object": "a mapping",
        "array": "a list",
        "int | str": "a whole number or text",
        "int | float | str": "a quantity",
        "float | str": "a quantity",
    }
)
"""The types that fields have, in words."""

_BOUNDS: Mapping[str, str] = MappingProxyType({"<=": "above", ">=": "below"})
_TYPES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "int": (int,),
        "float": (float,),
        "str": (str,),
        "bool": (bool,),
        "object": (dict,),
        "array": (list,),
    }
)


class Misfit(NamedTuple):
    """A value that does not fit its field. :param says: what is wrong with it, in words."""

    place: Steps
    value: Any
    says: str


def misfit_of(fault: msgspec.ValidationError, document: Any) -> Misfit | None:
    """Return what the error of a decoder is about; None if it does not say.

    :param document: what was decoded.
    """
    said = _SAYS.match(str(fault))
    if said is None:
        return None
    wanted, bound, limit, got, path = said.groups()
    says = f"not {_WORDS.get(wanted.removesuffix(' | null'), wanted)}"
    if bound:
        says = f"{_BOUNDS[bound]} {limit}"
    steps = [
        _ANY if step[3] else int(step[2]) if step[2] else step[1]
        for step in _STEP.finditer(path or "")
    ]
    placed = next(_along(document, steps, _TYPES.get(got or "", (object,))), None)
    return None if placed is None else Misfit(*placed, says)


def words_of(fault: msgspec.ValidationError, document: Any) -> str:
    """Return an error of a decoder in words: the field, its value, and what is wrong.

    :param document: what was decoded.
    """
    misfit = misfit_of(fault, document)
    return str(fault) if misfit is None else field_words(*misfit)


def field_words(place: Sequence[str | int], value: Any, says: str) -> str:
    """Return a field with its value, and what is wrong with that."""
    return f"{path_text(place)} is {value_words(value)}, {says}"


def value_words(value: Any) -> str:
    """Return a value as JSON; the rest of a long one is left out."""
    text = msgspec.json.encode(value).decode()
    return f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text


def places_of(document: Any, wanted: Any, keys: Collection[str] = ()) -> Iterator[Steps]:
    """Yield the places in a document where a value is.

    :param keys: only at one of these keys; none is at any.
    """
    items: Sequence[tuple[str | int, Any]] = ()
    if isinstance(document, dict):
        items = tuple(document.items())
    elif isinstance(document, list):
        items = tuple(enumerate(document))
    for key, value in items:
        if value == wanted and (not keys or key in keys):
            yield (key,)
        yield from ((key, *rest) for rest in places_of(value, wanted, keys))


def _along(
    value: Any, steps: Sequence[str | int], types: tuple[type, ...]
) -> Iterator[tuple[Steps, Any]]:
    """Yield the values at the end of a path that have a type, with their places."""
    if not steps:
        # In Python a bool is an int; in JSON it is not.
        plain = not isinstance(value, bool) or bool in types or object in types
        if isinstance(value, types) and plain:
            yield (), value
        return
    step, rest = steps[0], steps[1:]
    if step == _ANY:
        keys = [*value] if isinstance(value, dict) else [*range(len(value))]
    else:
        keys = [step]
    for key in keys:
        for place, inner in _along(value[key], rest, types):
            yield (key, *place), inner


def path_text(place: Sequence[str | int]) -> str:
    """Return a place as a path: a key with dots or slashes is in brackets."""
    text = ""
    for step in place:
        if isinstance(step, int) or "." in step or "/" in step:
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text or "the whole of it"
