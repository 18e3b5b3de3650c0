"""Which fields differ between two versions of an object, as paths with old and new values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

import msgspec

_PLAIN_KEY_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
)
_IDENTITIES = ("name", "type", "uid", "containerPort", "key")
"""Fields that identify elements of a list; the first one that fits counts."""

ALWAYS_IGNORED = ("metadata.resourceVersion", "metadata.managedFields")
"""Fields that differ between any two versions, so their changes mean nothing."""

_Text: TypeAlias = bytes | msgspec.Raw
_ABSENT = msgspec.UNSET
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_VALUE = msgspec.json.Decoder()
_OBJECT = ord("{")


class FieldDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One field that differs; ``old`` or ``new`` is UNSET if the field did not exist.

    :param path: as in ``status.conditions[Ready].status``.
    """

    path: str
    old: Any = msgspec.UNSET
    new: Any = msgspec.UNSET


def changes(
    old: dict[str, Any], new: dict[str, Any], *, ignore: Sequence[str] = ()
) -> list[FieldDifference]:
    """Return the fields that differ, in the order of field names and of list elements.

    Elements of lists are matched by their name, type or uid if all have one, else by index.

    :param ignore: paths to leave out, each with everything below it; ``*`` and ``?`` are wildcards.
    """
    field_differences: list[FieldDifference] = []
    _compare_members(field_differences, "", old, new)
    return _without(field_differences, ignore)


def payload_changes(old: bytes, new: bytes, *, ignore: Sequence[str] = ()) -> list[FieldDifference]:
    """Return the changes between two payloads, without decoding equal bytes."""
    field_differences: list[FieldDifference] = []
    _compare_texts(field_differences, "", old, new, levels=2)
    return _without(field_differences, ignore)


def _compare_texts(
    field_differences: list[FieldDifference], path: str, old: _Text, new: _Text, levels: int
) -> None:
    """Add what differs between two JSON objects; members with equal bytes are not decoded.

    :param levels: how many levels deep to compare bytes; deeper, this saves less.
    """
    olds, news = _MEMBERS.decode(old), _MEMBERS.decode(new)
    # They differ between any two versions, and managedFields is long to decode.
    if path == "metadata":
        _drop_ignored(olds)
        _drop_ignored(news)
    for key in _differing(olds, news):
        place = _joined(path, key)
        if key not in olds:
            _tell(field_differences, place, _VALUE.decode(news[key]), added=True)
        elif key not in news:
            _tell(field_differences, place, _VALUE.decode(olds[key]), added=False)
        elif levels > 1 and _is_object(olds[key]) and _is_object(news[key]):
            _compare_texts(field_differences, place, olds[key], news[key], levels - 1)
        else:
            before, after = _VALUE.decode(olds[key]), _VALUE.decode(news[key])
            if before != after:  # Different bytes may still be equal values, as 1.0 and 1 are.
                _compare(field_differences, place, before, after)


def _drop_ignored(metadata: dict[str, Any]) -> None:
    metadata.pop("resourceVersion", None)
    metadata.pop("managedFields", None)


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return the names of members that are not the same in both, sorted."""
    # Most of an object is the same in every version: equal members are left out first.
    names = [name for name, value in old.items() if new.get(name, _ABSENT) != value]
    names += new.keys() - old.keys()
    names.sort()
    return names


def _is_object(text: msgspec.Raw) -> bool:
    return memoryview(text)[0] == _OBJECT


def _without(
    field_differences: list[FieldDifference], ignore: Sequence[str]
) -> list[FieldDifference]:
    """Leave out changes that mean nothing, and those to ignore."""
    relevant = [
        change for change in field_differences if not change.path.startswith(ALWAYS_IGNORED)
    ]
    return (
        [change for change in relevant if not _ignored(change.path, ignore)] if ignore else relevant
    )


def _ignored(path: str, patterns: Sequence[str]) -> bool:
    return any(
        path == pattern
        or path.startswith((f"{pattern}.", f"{pattern}["))
        or fnmatchcase(path, pattern)
        for pattern in patterns
    )


def _compare(field_differences: list[FieldDifference], path: str, old: Any, new: Any) -> None:
    """Add what differs between two unequal values."""
    if isinstance(old, dict) and isinstance(new, dict):
        _compare_members(field_differences, path, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        _compare_elements(field_differences, path, old, new)
    else:
        field_differences.append(FieldDifference(path=path, old=old, new=new))


def _compare_members(
    field_differences: list[FieldDifference], path: str, old: dict[str, Any], new: dict[str, Any]
) -> None:
    for key in _differing(old, new):
        place = _joined(path, key)
        if key not in old:
            _tell(field_differences, place, new[key], added=True)
        elif key not in new:
            _tell(field_differences, place, old[key], added=False)
        else:
            _compare(field_differences, place, old[key], new[key])


def _tell(field_differences: list[FieldDifference], path: str, value: Any, *, added: bool) -> None:
    """Add a value that appeared or disappeared; an object field by field."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            _tell(field_differences, _joined(path, key), value[key], added=added)
    else:
        field_differences.append(
            FieldDifference(path=path, new=value)
            if added
            else FieldDifference(path=path, old=value)
        )


def _compare_elements(
    field_differences: list[FieldDifference], path: str, old: list[Any], new: list[Any]
) -> None:
    olds, news = _by_identity(old, new)
    for key, value in olds.items():
        new_value = news.get(key, _ABSENT)
        if new_value is _ABSENT:
            field_differences.append(FieldDifference(path=f"{path}[{key}]", old=value))
        elif new_value != value:
            _compare(field_differences, f"{path}[{key}]", value, new_value)
    for key, value in news.items():
        if key not in olds:
            field_differences.append(FieldDifference(path=f"{path}[{key}]", new=value))


def _by_identity(old: list[Any], new: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the elements of two lists by what identifies them: a field, or else their index."""
    for field in _IDENTITIES:
        try:
            olds = {str(element[field]): element for element in old}
            news = {str(element[field]): element for element in new}
        except (KeyError, TypeError):  # an element without the field, or that is not an object
            continue
        # A value that two elements share identifies neither.
        if len(olds) == len(old) and len(news) == len(new):
            return olds, news
    olds, news = ({str(place): value for place, value in enumerate(side)} for side in (old, new))
    return olds, news


def _joined(path: str, key: str) -> str:
    if not ((key.isascii() and key.isidentifier()) or _PLAIN_KEY_CHARACTERS.issuperset(key)):
        return f"{path}['{key}']"
    return f"{path}.{key}" if path else key
