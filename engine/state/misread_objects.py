"""Objects of which a field cannot be read: what can be read of them, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from ..kubernetes.objects.decoding_faults import field_words, misfit_of, words_of
from ..kubernetes.units import parse_quantity, parse_time

T = TypeVar("T")

_QUANTITIES = frozenset(
    {
        *("requests", "overhead", "allocatable", "capacity", "min_resources", "capability"),
        *("deserved", "resource", "allocated"),
    }
)
_TIMES = frozenset({"creation_timestamp", "deletion_timestamp"})


def readable(document: Any, shape: type[T]) -> T:
    """Return what a shape has of a document without the fields of a wrong type.

    :raises ValueError: nothing is left.
    """
    while True:
        try:
            return msgspec.convert(document, shape)
        except msgspec.ValidationError as fault:
            misfit = misfit_of(fault, document)
            if misfit is None or not misfit.place:
                raise ValueError(fault) from fault
            *way, last = misfit.place
            holder = document
            for step in way:
                holder = holder[step]
            del holder[last]


def without_odd(item: T) -> T:
    """Remove the amounts that are no quantities, and the times that are none, and return the rest.

    :param item: what :func:`readable` returned.
    """
    for holder, key, _ in list(_odd(item)):
        if isinstance(holder, dict):
            del holder[key]
        else:
            setattr(holder, key, None)
    return item


def faults_of(document: Any, shape: type[Any]) -> Iterator[str]:
    """Yield what of a document cannot be read as a shape, in words; only the first wrong type."""
    try:
        item = msgspec.convert(document, shape)
    except msgspec.ValidationError as fault:
        yield words_of(fault, document)
        return
    yield from (words for *_, words in _odd(item))


def _odd(item: Any, *path: str | int) -> Iterator[tuple[Any, str, str]]:
    """Yield the amounts and times that are malformed: the holder, the name, and words."""
    if isinstance(item, list):
        for number, element in enumerate(item):
            yield from _odd(element, *path, number)
    if not isinstance(item, msgspec.Struct):
        return
    for field in msgspec.structs.fields(item):
        value, place = getattr(item, field.name), (*path, field.encode_name)
        if field.name in _QUANTITIES and isinstance(value, dict):
            for name, amount in value.items():
                if not _reads(parse_quantity, amount):
                    yield value, name, field_words((*place, name), amount, _WORDS["amount"])
        elif field.name in _TIMES and value and not _reads(parse_time, value):
            yield item, field.name, field_words(place, value, _WORDS["time"])
        else:
            yield from _odd(value, *place)


_WORDS: Mapping[str, str] = MappingProxyType(
    {"amount": "not a quantity", "time": "not an RFC 3339 time"}
)


def _reads(read: Callable[[Any], object], value: Any) -> bool:
    try:
        read(value)
    except ValueError:
        return False
    return True
