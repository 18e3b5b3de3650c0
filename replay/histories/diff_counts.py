"""Counts of a difference: objects by kind, and how often each field differs."""

from __future__ import annotations

from collections import Counter, defaultdict

import msgspec

from .diff import Diff

_SIDES = ("added", "first_seen", "removed", "changed")


class FieldCount(msgspec.Struct, frozen=True, kw_only=True):
    """A field, and the number of objects of a kind in which it differs."""

    path: str
    objects: int


class KindCount(msgspec.Struct, frozen=True, kw_only=True):
    """The differences of one kind of objects.

    :param first_seen: objects that may have existed before; see :mod:`.first_seen`.
    :param fields: those of the changed objects, the most frequent first.
    """

    group: str
    kind: str
    added: int = 0
    first_seen: int = 0
    removed: int = 0
    changed: int = 0
    fields: list[FieldCount] = []


def counted_by_kind(diff: Diff) -> list[KindCount]:
    """Return how many objects of each kind were added, removed and changed, by group and kind."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    fields: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for side in _SIDES:
        for object_then in getattr(diff, side):
            counts[object_then.object.group, object_then.object.kind][side] += 1
    for changed_object in diff.changed:
        key = (changed_object.object.group, changed_object.object.kind)
        fields[key].update({change.path for change in changed_object.changes})
    return [
        KindCount(
            group=group,
            kind=kind,
            **{side: counts[group, kind][side] for side in _SIDES},
            fields=[
                FieldCount(path=path, objects=count)
                for path, count in sorted(
                    fields[group, kind].items(), key=lambda pair: (-pair[1], pair[0])
                )
            ],
        )
        for group, kind in sorted(counts)
    ]
