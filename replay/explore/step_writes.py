"""What a step wrote to the API server, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...engine.controllers.lister import TOMBSTONE
from ...engine.kubernetes.api_server import (
    ADDED,
    DELETED,
    MODIFIED,
    ApiServer,
    Document,
    ObjectKey,
    WatchEvent,
)
from ...engine.machine.transitions import SYNCED

_MOST_FIELDS = 3
_QUIET = frozenset({"resourceVersion", "generation", "managedFields", "observedGeneration"})
"""Fields of ``metadata`` and ``status`` that change with every write, and say nothing."""


class StoryWrite(NamedTuple):
    """A change of an object.

    :param sentence: what was done, without who did it, as in ``binds Pod default/a to n1``.
    :param before: None if it was created. :param after: for a deletion, the last version.
    """

    verb: str
    place: ObjectKey
    sentence: str
    before: Document | None
    after: Document


def writes_between(before: ApiServer, after: ApiServer) -> tuple[StoryWrite, ...]:
    """Return what changed from one state of an API server to another, by kind and name."""
    old, new = dict(before.kept().objects), dict(after.kept().objects)
    return tuple(
        _write(place, old.get(place), new.get(place))
        for place in sorted({*old, *new})
        if old.get(place) != new.get(place)
    )


def _write(place: ObjectKey, old: Document | None, new: Document | None) -> StoryWrite:
    name = f"{place.kind} {short_key(place.key)}"
    if old is None:
        assert new is not None
        return StoryWrite(ADDED, place, f"creates {name}{_size(new)}", None, new)
    if new is None:
        return StoryWrite(DELETED, place, f"deletes {name}", old, old)
    if old["metadata"]["uid"] != new["metadata"]["uid"]:
        return StoryWrite(MODIFIED, place, f"deletes {name}, creates another", old, new)
    return StoryWrite(MODIFIED, place, _changed(place, old, new), old, new)


def short_key(key: str) -> str:
    """Return a key without the namespace ``default``."""
    return key.removeprefix("default/")


def sentence_of(change: WatchEvent) -> str:
    """Return what an informer delivers, as in ``sees Pod a deleted``."""
    return f"{'has' if change.verb == SYNCED else 'sees'} {seen_in(change)}"


def seen_in(change: WatchEvent) -> str:
    """Return what an informer delivers without the verb, as in ``Pod a deleted``."""
    if change.verb == SYNCED:
        return f"seen all {change.kind} objects that there are"
    how = {ADDED: "added", MODIFIED: "changed", DELETED: "deleted", TOMBSTONE: "gone"}[change.verb]
    return f"{change.kind} {short_key(change.key)} {how}"


def _size(document: Document) -> str:
    replicas = (document.get("spec") or {}).get("replicas")
    return "" if replicas is None else f" with {replicas} replica{'s' * (replicas != 1)}"


def _changed(place: ObjectKey, old: Document, new: Document) -> str:
    """Return what a write changed: the best known of its effects, or the fields."""
    key = short_key(place.key)
    name = f"{place.kind} {key}"
    if "deletionTimestamp" in new["metadata"] and "deletionTimestamp" not in old["metadata"]:
        seconds = new["metadata"].get("deletionGracePeriodSeconds")
        return f"begins to delete {name}" + (f" (grace {seconds} s)" if seconds else "")
    node, was = _of(new, "spec", "nodeName"), _of(old, "spec", "nodeName")
    if node and not was:
        return f"binds {key} to {node}"
    replicas, had = _of(new, "spec", "replicas"), _of(old, "spec", "replicas")
    if replicas != had:
        return f"scales {name} {had} → {replicas}"
    phase, past = _of(new, "status", "phase"), _of(old, "status", "phase")
    if phase != past:
        return f"{name}: phase {past or 'none'} → {phase or 'none'}"
    fields = list(_fields(old, new, ""))
    more = f" and {len(fields) - _MOST_FIELDS} more" if len(fields) > _MOST_FIELDS else ""
    return f"updates {name}: {', '.join(fields[:_MOST_FIELDS]) or 'nothing'}{more}"


def _of(document: Document, *path: str) -> Any:
    value: Any = document
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _fields(old: Any, new: Any, path: str) -> Iterator[str]:
    """Yield the fields that differ, as in ``spec.minMember 1 → 2``."""
    for name in sorted({*old, *new} - _QUIET):
        before, after = old.get(name), new.get(name)
        where = f"{path}.{name}" if path else name
        if before == after:
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _fields(before, after, where)
        elif isinstance(before, (Mapping, list)) or isinstance(after, (Mapping, list)):
            yield where
        else:
            yield f"{where} {_text(before)} → {_text(after)}"


def _text(value: Any) -> str:
    return "none" if value is None else str(value)
