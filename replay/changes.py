"""Which fields differ between two versions of an object, as paths with old and new values."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

_PLAIN_KEY_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
)
_IDENTITIES = ("name", "type", "uid", "containerPort", "key")
"""Fields by which elements of a list are the same element, the first that fits."""

ALWAYS_IGNORED = ("metadata.resourceVersion", "metadata.managedFields")
"""Differ between any two versions, so they tell nothing."""


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
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
    found: list[Change] = []
    _compare_members(found, "", old, new)
    return [change for change in found if not _ignored(change.path, ignore)]


def payload_changes(old: bytes, new: bytes, *, ignore: Sequence[str] = ()) -> list[Change]:
    """Return the same of two payloads."""
    return changes(msgspec.json.decode(old), msgspec.json.decode(new), ignore=ignore)


def _ignored(path: str, patterns: Sequence[str]) -> bool:
    if path.startswith("metadata.") and path.startswith(ALWAYS_IGNORED):
        return True
    return bool(patterns) and any(
        path == pattern
        or path.startswith((f"{pattern}.", f"{pattern}["))
        or fnmatchcase(path, pattern)
        for pattern in patterns
    )


def _compare(found: list[Change], path: str, old: Any, new: Any) -> None:
    """Add what differs between two values to ``found``."""
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        _compare_members(found, path, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        _compare_elements(found, path, old, new)
    else:
        found.append(Change(path=path, old=old, new=new))


def _compare_members(
    found: list[Change], path: str, old: dict[str, Any], new: dict[str, Any]
) -> None:
    # Most of an object is the same in every version: what is equal is left out before all else.
    differing = [key for key, value in old.items() if key not in new or new[key] != value]
    for key in sorted([*differing, *(key for key in new if key not in old)]):
        place = _joined(path, key)
        if key not in old:
            _tell(found, place, new[key], added=True)
        elif key not in new:
            _tell(found, place, old[key], added=False)
        else:
            _compare(found, place, old[key], new[key])


def _tell(found: list[Change], path: str, value: Any, *, added: bool) -> None:
    """Add a new or gone value, an object field by field."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            _tell(found, _joined(path, key), value[key], added=added)
    else:
        found.append(Change(path=path, new=value) if added else Change(path=path, old=value))


def _compare_elements(found: list[Change], path: str, old: list[Any], new: list[Any]) -> None:
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
            _compare(found, place, olds[key], news[key])
        elif key in news:
            found.append(Change(path=place, new=news[key]))
        else:
            found.append(Change(path=place, old=olds[key]))


def _identity(old: list[Any], new: list[Any]) -> str | None:
    """Return the field by which the elements of two lists are told apart, if there is one."""
    both = old + new
    if not all(isinstance(element, dict) for element in both):
        return None
    for field in _IDENTITIES:
        if all(field in element for element in both) and _distinct(old, new, field):
            return field
    return None


def _distinct(old: list[Any], new: list[Any], field: str) -> bool:
    return all(
        len({str(element[field]) for element in elements}) == len(elements)
        for elements in (old, new)
    )


def _joined(path: str, key: str) -> str:
    if not ((key.isascii() and key.isidentifier()) or _PLAIN_KEY_CHARACTERS.issuperset(key)):
        return f"{path}['{key}']"
    return f"{path}.{key}" if path else key
