"""What differs between two moments: objects, their fields, and what nodes and queues hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ..engine.events import Reference
from ..engine.log.store import LogStore
from ..engine.state.tables import NodeTable, QueueTable, node_table, queue_table
from ..engine.state.truth import Entry, Truth
from ..engine.units import format_time
from .changes import Change, changes, payload_changes
from .points import Moment
from .truth import documents

_BATCH = 16_384
"""Objects whose payloads are held at a time, some 60 MB: the fewer batches, the fewer times any
part of the log is gone through."""

Amounts = dict[str, float]


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two moments.

    :param known: the position up to which events count. :param revision: None is the end.
    :param time: RFC 3339, of the moment or of the last event before it; None if no event told.
    """

    point: str
    branch: str
    known: int
    revision: int | None
    time: str | None


class ObjectThen(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An object that is in one of the two moments only.

    :param replaced: another object of the same name is in the other moment.
    """

    object: Reference
    resource_version: str
    position: int
    replaced: bool = False


class ObjectChanged(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An object that is in both moments, with fields that differ.

    :param stale: before and after: a write of unknown result came after the version compared.
    """

    object: Reference
    versions: tuple[str, str]
    positions: tuple[int, int]
    changes: list[Change]
    stale: tuple[bool, bool] = (False, False)


class Holding(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a node or a queue holds; amounts in Volcano's units (bytes, milli of all else)."""

    pods: int
    used: Amounts
    allocatable: Amounts = {}


class HoldingChanged(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A node or queue whose holding differs; None where it does not exist."""

    name: str
    before: Holding | None
    after: Holding | None


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two moments, every list in the order of group, kind, namespace, name.

    :param same: objects without any difference, among them ``rewritten``: those that have another
        version in which no field differs.
    """

    before: Side
    after: Side
    added: list[ObjectThen]
    removed: list[ObjectThen]
    changed: list[ObjectChanged]
    same: int
    rewritten: int
    nodes: list[HoldingChanged]
    queues: list[HoldingChanged]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison looks at; empty means everything.

    :param kinds: (group, kind) pairs. :param ignore: paths of fields, see :func:`.changes.changes`.
    """

    kinds: tuple[tuple[str, str], ...] = ()
    namespace: str | None = None
    ignore: tuple[str, ...] = ()

    def entries(self, truth: Truth) -> dict[Reference, Entry]:
        """Return a truth's objects that are looked at, by what makes them the same object."""
        kinds = truth.kinds()
        if self.kinds:
            kinds = [kind for kind in kinds if kind in self.kinds]
        return {
            entry.reference: entry
            for group, kind in kinds
            for entry in truth.of(group, kind, self.namespace)
        }


def diff(
    store: LogStore,
    before: tuple[Moment, Truth],
    after: tuple[Moment, Truth],
    *,
    scope: Scope | None = None,
) -> Diff:
    """Return what differs between two moments, which may be of different branches.

    Documents are loaded only of objects whose version, binding or staleness is not the same.
    """
    scope = scope or Scope()
    olds, news = scope.entries(before[1]), scope.entries(after[1])
    branches = (before[0].branch, after[0].branch)
    shared = _shared_until(store, *branches)
    in_both = [(old, news[key]) for key, old in olds.items() if key in news]
    suspects = [pair for pair in in_both if _may_differ(*pair, shared)]
    changed = [
        found
        for start in range(0, len(suspects), _BATCH)
        for found in _compared(store, suspects[start : start + _BATCH], branches, scope.ignore)
    ]
    return Diff(
        before=_side(*before),
        after=_side(*after),
        added=_only(news, olds),
        removed=_only(olds, news),
        changed=changed,
        same=len(in_both) - len(changed),
        rewritten=len(suspects) - len(changed),
        nodes=_holdings(_of_nodes(node_table(before[1])), _of_nodes(node_table(after[1]))),
        queues=_holdings(_of_queues(queue_table(before[1])), _of_queues(queue_table(after[1]))),
    )


def _may_differ(old: Entry, new: Entry, shared: int) -> bool:
    return (
        old.position != new.position
        or old.position > shared
        or old.node_bound != new.node_bound
        or old.stale != new.stale
    )


def _shared_until(store: LogStore, one: str, other: str) -> int:
    """Return the last position that means the same event on both branches."""
    if one == other:
        return store.last(one)
    by_name = {info.name: info for info in store.branches()}
    reach = {one: by_name[one].last}
    name = one
    while (parent := by_name[name].parent) is not None:
        reach[parent] = min(reach[name], by_name[name].fork)
        name = parent
    limit, name = by_name[other].last, other
    while name not in reach:
        limit = min(limit, by_name[name].fork)
        name = by_name[name].parent or one
    return min(limit, reach[name])


def _compared(
    store: LogStore,
    pairs: Sequence[tuple[Entry, Entry]],
    branches: tuple[str, str],
    ignore: Sequence[str],
) -> Iterator[ObjectChanged]:
    olds, news = _payloads(store, pairs, branches)
    for old, new in pairs:
        if old.node_bound or new.node_bound:
            before, after = (
                documents(store, [entry], branch)[0]
                for entry, branch in zip((old, new), branches, strict=True)
            )
            fields = changes(before, after, ignore=ignore)
        else:
            fields = payload_changes(olds[old.position], news[new.position], ignore=ignore)
        if fields or old.stale != new.stale:
            yield ObjectChanged(
                object=new.reference,
                versions=(old.resource_version, new.resource_version),
                positions=(old.position, new.position),
                changes=fields,
                stale=(old.stale, new.stale),
            )


def _payloads(
    store: LogStore, pairs: Sequence[tuple[Entry, Entry]], branches: tuple[str, str]
) -> tuple[Mapping[int, bytes], Mapping[int, bytes]]:
    """Read the payloads of both sides, of one branch at once."""
    one, other = branches
    olds, news = [old.position for old, _ in pairs], [new.position for _, new in pairs]
    if one == other:
        found = store.payloads([*olds, *news], one)
        return found, found
    return store.payloads(olds, one), store.payloads(news, other)


def _only(these: Mapping[Reference, Entry], those: Mapping[Reference, Entry]) -> list[ObjectThen]:
    lone = [entry for key, entry in these.items() if key not in those]
    names = {_name(entry.reference) for entry in lone}
    taken = {name for key in those if (name := _name(key)) in names} if names else set()
    return [
        ObjectThen(
            object=entry.reference,
            resource_version=entry.resource_version,
            position=entry.position,
            replaced=_name(entry.reference) in taken,
        )
        for entry in lone
    ]


def _name(reference: Reference) -> tuple[str, str, str, str]:
    return reference.group, reference.kind, reference.namespace, reference.name


def _side(moment: Moment, truth: Truth) -> Side:
    return Side(
        point=moment.label,
        branch=moment.branch,
        known=moment.known,
        revision=moment.revision,
        time=None if truth.time is None else format_time(truth.time),
    )


def _of_nodes(table: NodeTable) -> dict[str, Holding]:
    return {
        name: Holding(
            pods=int(table.pods[row]),
            used=_amounts(table.resources, table.used[row]),
            allocatable=_amounts(table.resources, table.allocatable[row]),
        )
        for row, name in enumerate(table.names)
    }


def _of_queues(table: QueueTable) -> dict[str, Holding]:
    return {
        name: Holding(
            pods=int(table.pods[row]), used=_amounts(table.resources, table.allocated[row])
        )
        for row, name in enumerate(table.names)
    }


def _amounts(resources: Sequence[str], row: Any) -> Amounts:
    return {
        name: amount
        for name, amount in zip(resources, row.tolist(), strict=True)
        if amount and name != "pods"
    }


def _holdings(before: Mapping[str, Holding], after: Mapping[str, Holding]) -> list[HoldingChanged]:
    return [
        HoldingChanged(name=name, before=before.get(name), after=after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
