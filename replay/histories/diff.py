"""Differences between two moments: objects, their fields, and resources of nodes and queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ...engine.events import Reference
from ...engine.kubernetes.units import format_time
from ...engine.log.store import LogStore
from ...engine.state.clock import Unsure
from ...engine.state.fold import FoldRecord
from ...engine.state.truth_fold import Truth
from ...engine.state.truth_tables import NodeAmounts, QueueTable, node_table, queue_table
from ..moments.log_clock import when_is
from ..moments.moment import Moment
from ..moments.times import is_uncertain, span_text
from ..moments.unknown import Unknown
from ..objects.field_changes import FieldDifference, changes, payload_changes
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import API_VERSION
from ..tabular.record_columns import Quantity, base_units
from ..tabular.tabular import Tabular
from ..truth.truth import bound_document

_BATCH = 16_384
"""Objects whose payloads are held at a time, about 60 MB; fewer batches read less of the log."""

Amounts = dict[str, float]

Name = tuple[str, str, str, str]
"""Group, kind, namespace, name."""


class DiffSide(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two moments.

    :param known: the position up to which events count. :param revision: None is the end.
    :param time: RFC 3339, of the moment or of the last event before it; None if not known.
    :param earliest: and ``latest``: its bounds. :param shown: the time for people.
    :param uncertain: the time is an estimate. :param unsure: changes that may have come before or
        after the moment.
    """

    point: str
    branch: str
    known: int
    revision: int | None
    time: str | None
    earliest: str | None = None
    latest: str | None = None
    shown: str | None = None
    uncertain: bool = False
    unsure: Unsure | None = None


class ObjectThen(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An object that exists at only one of the two moments.

    :param replaced: another object with the same name exists at the other moment.
    """

    object: Reference
    resource_version: str
    position: int
    replaced: bool = False


class ObjectChanged(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An object that exists at both moments, with fields that differ.

    :param stale: before and after: a write with an unknown result followed the compared version.
    """

    object: Reference
    versions: tuple[str, str]
    positions: tuple[int, int]
    changes: list[FieldDifference]
    stale: tuple[bool, bool] = (False, False)


class Holding(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The used resources of a node or a queue, in Volcano's units (bytes, or thousandths)."""

    pods: int
    used: Amounts
    allocatable: Amounts = {}


class HoldingChanged(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A node or queue whose used resources differ; None where it does not exist.

    :param first_seen: whether it existed before, and what it held, is not known.
    """

    name: str
    before: Holding | None
    after: Holding | None
    first_seen: bool = False


class KindBegin(msgspec.Struct, frozen=True, kw_only=True):
    """A kind that is compared from a later point on, because nothing of it is known before."""

    group: str
    kind: str
    point: str


class FieldRow(msgspec.Struct, frozen=True, kw_only=True):
    """A field that differs; of an object that only one moment has, the object itself.

    :param change: ``added``, ``removed``, ``changed`` or ``first seen``.
    :param field: empty for the object itself. :param before: and ``after``: as JSON.
    :param position: of the newest version of the object.
    """

    change: str
    group: str
    kind: str
    namespace: str
    name: str
    uid: str
    position: int
    field: str = ""
    before: Any = None
    after: Any = None


class HoldingRow(msgspec.Struct, frozen=True, kw_only=True):
    """One resource of a node or queue whose pods request another amount; None if it is absent."""

    name: str
    resource: str
    before: Quantity | None
    after: Quantity | None
    allocatable: Quantity | None


class DiffSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How many objects differ.

    :param same: without any difference; ``rewritten`` of them have another version in which no
        field differs.
    """

    added: int
    first_seen: int
    removed: int
    changed: int
    same: int
    rewritten: int


class Diff(msgspec.Struct, Tabular, frozen=True, kw_only=True, tag_field="kind", tag="Diff"):
    """The difference of two moments, every list in the order of group, kind, namespace, name.

    :param not_known: which of the requested kinds are not fully known at either moment.
    :param first_seen: objects of the second moment that may have existed at the first: their kind
        is not known there, and nothing shows that they were created later.
    :param begun: kinds that are compared from the moment they are known.
    """

    api_version: str = msgspec.field(name="apiVersion", default=API_VERSION)
    before: DiffSide = msgspec.field(name="from")
    after: DiffSide = msgspec.field(name="to")
    summary: DiffSummary
    added: list[ObjectThen]
    removed: list[ObjectThen]
    changed: list[ObjectChanged]
    nodes: list[HoldingChanged]
    queues: list[HoldingChanged]
    not_known: tuple[Unknown, ...] = ()
    first_seen: list[ObjectThen] = []
    begun: tuple[KindBegin, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the fields that differ, and what nodes and queues hold."""
        return {
            "fields": table_of(FieldRow, self._fields()),
            "nodes": table_of(HoldingRow, _rows_of(self.nodes)),
            "queues": table_of(HoldingRow, _rows_of(self.queues)),
        }

    def _fields(self) -> Iterator[FieldRow]:
        lone = {"added": self.added, "removed": self.removed, "first seen": self.first_seen}
        for change, objects in lone.items():
            for object_then in objects:
                yield FieldRow(
                    change=change, position=object_then.position, **_named(object_then.object)
                )
        for each in self.changed:
            for field in each.changes:
                yield FieldRow(
                    change="changed",
                    position=each.positions[1],
                    field=field.path,
                    before=field.old,
                    after=field.new,
                    **_named(each.object),
                )


def _named(reference: Reference) -> dict[str, str]:
    return {
        "group": reference.group,
        "kind": reference.kind,
        "namespace": reference.namespace,
        "name": reference.name,
        "uid": reference.uid,
    }


def _rows_of(changed: Iterable[HoldingChanged]) -> Iterator[HoldingRow]:
    """Yield a row for each resource of what nodes or queues hold, and one for their pods."""
    for holding in changed:
        before, after = holding.before, holding.after
        sides = [side for side in (before, after) if side is not None]
        names = {name for side in sides for name in (*side.used, *side.allocatable)}
        for name in ("pods", *sorted(names)):
            yield HoldingRow(
                name=holding.name,
                resource=name,
                before=_held(before, name),
                after=_held(after, name),
                allocatable=_of(sides[-1].allocatable, name),
            )


def _held(holding: Holding | None, name: str) -> float | None:
    if holding is None:
        return None
    return holding.pods if name == "pods" else base_units(name, holding.used.get(name, 0))


def _of(amounts: Amounts, name: str) -> float | None:
    return base_units(name, amounts[name]) if name in amounts else None


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The objects and fields that a comparison includes; empty means everything.

    :param kinds: (group, kind) pairs. :param ignore: paths of fields, see
        :func:`..objects.field_changes.changes`.
    :param without: kinds to leave out, whatever ``kinds`` says.
    """

    kinds: tuple[tuple[str, str], ...] = ()
    namespace: str | None = None
    ignore: tuple[str, ...] = ()
    without: tuple[tuple[str, str], ...] = ()

    def records(self, truth: Truth) -> dict[int, FoldRecord]:
        """Return a truth's objects in this scope, by the store's ids."""
        records = truth.records()
        if self.kinds or self.without or self.namespace is not None:
            records = (record for record in records if self._covers(record.reference))
        return {record.object: record for record in records}

    def _covers(self, reference: Reference) -> bool:
        kind = (reference.group, reference.kind)
        return (kind in self.kinds if self.kinds else kind not in self.without) and (
            self.namespace is None or reference.namespace == self.namespace
        )


class _Pair(NamedTuple):
    """An object that exists at both moments.

    :param nodes: the nodes of bindings that no version shows, before and after; else empty.
    """

    old: FoldRecord
    new: FoldRecord
    nodes: tuple[str, str]


def diff(
    store: LogStore,
    before: tuple[Moment, Truth],
    after: tuple[Moment, Truth],
    *,
    scope: Scope | None = None,
) -> Diff:
    """Return how objects differ between two moments of a cluster, also of different branches.

    ``nodes`` and ``queues`` stay empty: see :func:`node_holdings`.

    Documents are loaded only for objects whose version, binding or staleness differs.
    """
    scope = scope or Scope()
    olds, news = scope.records(before[1]), scope.records(after[1])
    branches = (before[0].branch, after[0].branch)
    shared = _shared_until(store, *branches)
    in_both = _pairs((olds, _nodes(before[1], olds)), (news, _nodes(after[1], news)))
    suspects = [pair for pair in in_both if _may_differ(pair, shared)]
    suspects.sort(key=lambda pair: pair.new.reference)
    added, removed = _only(news, olds), _only(olds, news)
    changed = [
        difference
        for start in range(0, len(suspects), _BATCH)
        for difference in _compared(store, suspects[start : start + _BATCH], branches, scope.ignore)
    ]
    return Diff(
        before=_side(store, *before),
        after=_side(store, *after),
        added=_then(added, removed),
        removed=_then(removed, added),
        changed=changed,
        summary=DiffSummary(
            added=len(added),
            first_seen=0,
            removed=len(removed),
            changed=len(changed),
            same=len(in_both) - len(changed),
            rewritten=len(suspects) - len(changed),
        ),
        nodes=[],
        queues=[],
    )


def node_holdings(before: Truth, after: Truth) -> list[HoldingChanged]:
    """Return what the pods of nodes request, where it differs."""
    return _holdings(_of_nodes(node_table(before)), _of_nodes(node_table(after)))


def queue_holdings(before: Truth, after: Truth) -> list[HoldingChanged]:
    """Return what the pods of queues request, where it differs."""
    return _holdings(_of_queues(queue_table(before)), _of_queues(queue_table(after)))


def _nodes(truth: Truth, records: Mapping[int, FoldRecord]) -> dict[int, str]:
    """Return the nodes of bindings that no version shows, by object."""
    bound = [record for record in records.values() if record.bound]
    entries = truth.entries_of(bound)
    return {record.object: entry.node_bound for record, entry in zip(bound, entries, strict=True)}


def _pairs(
    before: tuple[Mapping[int, FoldRecord], Mapping[int, str]],
    after: tuple[Mapping[int, FoldRecord], Mapping[int, str]],
) -> list[_Pair]:
    (olds, nodes), (news, new_nodes) = before, after
    return [
        _Pair(old, news[key], (nodes.get(key, ""), new_nodes.get(key, "")))
        for key, old in olds.items()
        if key in news
    ]


def _may_differ(pair: _Pair, shared: int) -> bool:
    old, new, nodes = pair
    return (
        old.position != new.position
        or old.position > shared
        or nodes[0] != nodes[1]
        # After the fork, the same position is another event on each branch.
        or old.stale != new.stale
    )


def _shared_until(store: LogStore, first: str, second: str) -> int:
    """Return the last position that is the same event on both branches."""
    if first == second:
        return store.last(first)
    by_name = {info.name: info for info in store.branches()}
    reach = {first: by_name[first].last}
    name = first
    # How much of each branch above the first one is also the first one's past.
    while (parent := by_name[name].parent) is not None:
        reach[parent] = min(reach[name], by_name[name].fork)
        name = parent
    limit, name = by_name[second].last, second
    # All branches come from the first of the log, so the way up meets one of those.
    while name not in reach:
        limit = min(limit, by_name[name].fork)
        name = by_name[name].parent or first
    return min(limit, reach[name])


def _compared(
    store: LogStore,
    pairs: Sequence[_Pair],
    branches: tuple[str, str],
    ignore: Sequence[str],
) -> Iterator[ObjectChanged]:
    olds, news = _payloads(store, pairs, branches)
    for old, new, nodes in pairs:
        before, after = olds[old.position], news[new.position]
        # No version shows these nodes, so they are put into both documents before these are
        # compared.
        if any(nodes):
            documents = bound_document(before, nodes[0]), bound_document(after, nodes[1])
            fields = changes(*documents, ignore=ignore)
        else:
            fields = payload_changes(before, after, ignore=ignore)
        if fields or old.stale != new.stale:
            yield ObjectChanged(
                object=new.reference,
                versions=(old.resource_version, new.resource_version),
                positions=(old.position, new.position),
                changes=fields,
                stale=(old.stale, new.stale),
            )


def _payloads(
    store: LogStore, pairs: Sequence[_Pair], branches: tuple[str, str]
) -> tuple[Mapping[int, bytes], Mapping[int, bytes]]:
    """Read the payloads of both sides, one branch at a time."""
    old_branch, new_branch = branches
    olds, news = [pair.old.position for pair in pairs], [pair.new.position for pair in pairs]
    if old_branch == new_branch:
        by_position = store.payloads([*olds, *news], old_branch)
        return by_position, by_position
    return store.payloads(olds, old_branch), store.payloads(news, new_branch)


def _only(
    these: Mapping[int, FoldRecord], those: Mapping[int, FoldRecord]
) -> dict[Name, FoldRecord]:
    """Return the objects that only the first moment has, by name, which is unique in a truth."""
    lone = (record for key, record in these.items() if key not in those)
    return {_name(record.reference): record for record in lone}


def _then(lone: Mapping[Name, FoldRecord], others: Mapping[Name, FoldRecord]) -> list[ObjectThen]:
    return [
        ObjectThen(
            object=lone[name].reference,
            resource_version=lone[name].resource_version,
            position=lone[name].position,
            replaced=name in others,
        )
        for name in sorted(lone)
    ]


def _name(reference: Reference) -> Name:
    return reference.group, reference.kind, reference.namespace, reference.name


def _side(store: LogStore, moment: Moment, truth: Truth) -> DiffSide:
    time = None if truth.time is None else format_time(truth.time)
    span = when_is(store, moment)
    uncertain = is_uncertain(span)
    return DiffSide(
        point=moment.label,
        branch=moment.branch,
        known=moment.known,
        revision=moment.revision,
        time=time,
        earliest=_bound(span.earliest),
        latest=_bound(span.latest),
        shown=time if time is None or moment.time is not None else span_text(span),
        uncertain=uncertain,
        unsure=moment.unsure,
    )


def _bound(micros: int | None) -> str | None:
    return None if micros is None else format_time(micros)


def _of_nodes(table: NodeAmounts) -> dict[str, Holding]:
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
