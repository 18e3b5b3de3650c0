"""Which fields differ between two versions of an object, as paths with old and new values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

_BRACE = ord("{")
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_PLAIN_KEY_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
)
_IDENTITIES = ("name", "type", "uid", "containerPort", "key")
"""Fields by which elements of a list are the same element, the first that fits."""

ALWAYS_IGNORED = ("metadata.resourceVersion", "metadata.managedFields")
"""Differ between any two versions, so they tell nothing."""


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field that differs; ``old`` or ``new`` is UNSET where the field did not exist.

    :param path: as in ``status.conditions[Ready].status``.
    """

    path: str
    old: Any = msgspec.UNSET
    new: Any = msgspec.UNSET


def changes(
    old: dict[str, Any], new: dict[str, Any], *, ignore: Sequence[str] = ()
) -> list[Change]:
    """Return the fields that differ, in the order of field names and of list elements.

    Elements of lists are matched by their name, type or uid where all have one, else by place.

    :param ignore: paths to leave out, each with everything below it; ``*`` and ``?`` are wild.
    """
    return [change for change in _members("", old, new) if not _ignored(change.path, ignore)]


def payload_changes(old: bytes, new: bytes, *, ignore: Sequence[str] = ()) -> list[Change]:
    """Return the same of two payloads, decoding only what differs.

    Most of an object, its spec above all, is the same in every version; payloads are canonical, so
    what has equal bytes is equal.
    """
    found = _raw_members("", _MEMBERS.decode(old), _MEMBERS.decode(new))
    return [change for change in found if not _ignored(change.path, ignore)]


def _raw_members(
    path: str, old: dict[str, msgspec.Raw], new: dict[str, msgspec.Raw]
) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        place = _joined(path, key)
        if before is None:
            yield from _alone(place, msgspec.json.decode(after or b""), added=True)
        elif after is None:
            yield from _alone(place, msgspec.json.decode(before), added=False)
        elif memoryview(before)[0] == memoryview(after)[0] == _BRACE:
            yield from _raw_members(place, _MEMBERS.decode(before), _MEMBERS.decode(after))
        else:
            old_value, new_value = msgspec.json.decode(before), msgspec.json.decode(after)
            yield from _differences(place, old_value, new_value)


def _ignored(path: str, patterns: Sequence[str]) -> bool:
    if path.startswith("metadata.") and path.startswith(ALWAYS_IGNORED):
        return True
    return bool(patterns) and any(
        path == pattern
        or path.startswith((f"{pattern}.", f"{pattern}["))
        or fnmatchcase(path, pattern)
        for pattern in patterns
    )


def _differences(path: str, old: Any, new: Any) -> Iterator[Change]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _members(path, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _elements(path, old, new)
    else:
        yield Change(path=path, old=old, new=new)


def _members(path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        yield from _both(_joined(path, key), old, new, key)


def _both(path: str, old: dict[str, Any], new: dict[str, Any], key: str) -> Iterator[Change]:
    """Compare what stands under a key; a new or gone object is told field by field."""
    if key in old and key in new:
        yield from _differences(path, old[key], new[key])
    elif key in new:
        yield from _alone(path, new[key], added=True)
    else:
        yield from _alone(path, old[key], added=False)


def _alone(path: str, value: Any, *, added: bool) -> Iterator[Change]:
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from _alone(_joined(path, key), value[key], added=added)
    else:
        yield Change(path=path, new=value) if added else Change(path=path, old=value)


def _elements(path: str, old: list[Any], new: list[Any]) -> Iterator[Change]:
    identity = _identity(old, new)
    if identity is None:
        olds = {str(index): value for index, value in enumerate(old)}
        news = {str(index): value for index, value in enumerate(new)}
    else:
        olds = {str(element[identity]): element for element in old}
        news = {str(element[identity]): element for element in new}
    for key in [*olds, *(key for key in news if key not in olds)]:
        place = f"{path}[{key}]"
        if key in olds and key in news:
            yield from _differences(place, olds[key], news[key])
        elif key in news:
            yield Change(path=place, new=news[key])
        else:
            yield Change(path=place, old=olds[key])


def _identity(old: list[Any], new: list[Any]) -> str | None:
    if not all(isinstance(element, dict) for element in (*old, *new)):
        return None
    for field in _IDENTITIES:
        if all(
            len({str(element.get(field)) for element in elements if field in element})
            == len(elements)
            for elements in (old, new)
        ):
            return field
    return None


def _joined(path: str, key: str) -> str:
    if not _PLAIN_KEY_CHARACTERS.issuperset(key):
        return f"{path}['{key}']"
    return f"{path}.{key}" if path else key
