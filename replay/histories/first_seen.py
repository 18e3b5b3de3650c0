"""Objects that only the later of two moments shows, but that may have existed at the earlier one.

If a kind is not known at the begin, an object counts as added only if the log shows that it was
created later: by the event that created it, or by its creationTimestamp. All others are *first
seen*. A kind that becomes known in between is compared from there on.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from ...engine.events import Reference
from ...engine.state.facts import PodFact
from ...engine.state.fold import FoldRecord
from ...engine.state.log_coverage import Pair, UnknownCause
from ...engine.state.truth_fold import Truth
from ...engine.state.truth_tables import queue_by_podgroup, queue_parents, queues_from
from ..coverage.coverage import gaps_at, unknown_at_ends, usual_kinds
from ..moments.moment import Moment
from ..moments.verbs import VersionPlace, is_only_seen, place_of, verbs_at
from ..objects.kind_names import kind_named
from .diff import (
    Diff,
    DiffSummary,
    HoldingChanged,
    KindBegin,
    ObjectThen,
    Scope,
    diff,
    node_holdings,
    queue_holdings,
)

if TYPE_CHECKING:
    from ..truth.log_states import LogStates

Side = tuple[Moment, Truth]

_CREATED = ".created"

_POD: Pair = ("", "Pod")
_NODE: Pair = ("", "Node")
_QUEUE: Pair = ("scheduling.volcano.sh", "Queue")
_NODE_READS = (_NODE, _POD)
_QUEUE_READS = (_QUEUE, ("scheduling.volcano.sh", "PodGroup"), _POD)
"""The kinds that the resources of nodes, and of queues, are added up from."""


def diff_at(
    log: LogStates,
    ends: tuple[Moment, Moment],
    kinds: Iterable[str] = (),
    *,
    namespace: str | None = None,
    ignore: Iterable[str] = (),
) -> Diff:
    """Return the differences between two moments: objects, fields, used resources.

    A kind that is known only from a later moment on is compared from there.

    :param kinds: only these. :param ignore: fields to leave out, as in ``status.conditions``.
    """
    before, after = ((moment, log.truth(moment)) for moment in ends)
    known = [kind for _, truth in (before, after) for kind in truth.kinds()]
    pairs = tuple(kind_named(kind, known) for kind in kinds)
    scope = Scope(kinds=pairs, namespace=namespace, ignore=tuple(ignore))
    asked = scope.kinds or usual_kinds(log, after[0])
    difference = diff_of_known(log, before, after, scope, asked)
    unknown = unknown_at_ends(log, ends, asked, namespace)
    return msgspec.structs.replace(difference, not_known=tuple(unknown))


def diff_of_known(
    log: LogStates, before: Side, after: Side, scope: Scope, asked: Sequence[Pair]
) -> Diff:
    """Return the differences between two moments, as far as each kind is known.

    :param asked: kinds that are compared from the moment they are known, if that is after the
    first.
    """
    begins = dict(_begins(log, before[0], after[0], asked, scope.namespace))
    totals = dict(_begins(log, before[0], after[0], sorted({*_NODE_READS, *_QUEUE_READS}), None))
    known_kinds = tuple(pair for pair in scope.kinds if pair not in begins)
    rest = msgspec.structs.replace(scope, kinds=known_kinds, without=tuple(begins))
    parts = []
    # If each of the requested kinds begins later, nothing is compared from the first moment on.
    if known_kinds or not scope.kinds:
        parts.append(_judged(log, before, after, rest))
    for pair, moment in begins.items():
        only = msgspec.structs.replace(scope, kinds=(pair,))
        parts.append(_judged(log, (moment, log.truth(moment)), after, only))
    tables = _tables(log, (before, after), totals)
    return _joined(log, (before, after), parts, totals | begins, tables)


def _begins(
    log: LogStates, before: Moment, after: Moment, asked: Sequence[Pair], namespace: str | None
) -> Iterator[tuple[Pair, Moment]]:
    """Yield the kinds that are known only from some revision between two moments on."""
    if before.branch != after.branch or before.revision is None:
        return
    last = after.revision
    for gap in gaps_at(log, before, asked, namespace):
        first = gap.gap.before
        if (
            gap.gap.why is UnknownCause.BEFORE
            and first is not None
            and (last is None or first <= last)
        ):
            yield (
                gap.pair,
                msgspec.structs.replace(
                    before,
                    known=after.known,
                    revision=first,
                    time=None,
                    unsure=None,
                    label=f"rv:{first}",
                ),
            )


def _judged(log: LogStates, before: Side, after: Side, scope: Scope) -> Diff:
    """Return a difference that separates objects that are first seen from added ones."""
    difference = diff(log.store, before, after, scope=scope)
    if before[0].branch != after[0].branch:
        return difference
    # Where another object had the name before, this one is certainly newer.
    candidates = [added.object for added in difference.added if not added.replaced]
    doubtful = _where_unknown(log, before[0], candidates)
    if not doubtful:
        return difference
    seen = set(doubtful) - _came_later(log, before, after, doubtful)
    return msgspec.structs.replace(
        difference,
        added=[added for added in difference.added if added.object not in seen],
        first_seen=[added for added in difference.added if added.object in seen],
    )


def _where_unknown(log: LogStates, moment: Moment, objects: Sequence[Reference]) -> list[Reference]:
    """Return the objects whose kind is not known in their namespace at a moment."""
    places: dict[str, dict[Pair, None]] = {}
    for reference in objects:
        places.setdefault(reference.namespace, {})[reference.group, reference.kind] = None
    unknown = {
        (each.pair, namespace)
        for namespace, pairs in places.items()
        for each in gaps_at(log, moment, pairs, namespace or None)
    }
    return [
        reference
        for reference in objects
        if ((reference.group, reference.kind), reference.namespace) in unknown
    ]


def _came_later(
    log: LogStates, before: Side, after: Side, objects: Sequence[Reference]
) -> set[Reference]:
    """Return the objects of the second moment that were created after the first."""
    wanted = set(objects)
    records = [record for record in after[1].records() if record.reference in wanted]
    entries = zip(records, after[1].entries_of(records), strict=True)
    time = before[0].time if before[0].time is not None else before[1].time
    later = {
        record.reference
        for record, entry in entries
        if time is not None and (entry.fact.created_at or 0) > time
    }
    made_ids = _made_between(log, before[0], after[0], records)
    return later | {record.reference for record in records if record.object in made_ids}


def _made_between(
    log: LogStates, before: Moment, after: Moment, records: Sequence[FoldRecord]
) -> frozenset[int]:
    """Return the store's ids of objects whose creation the log records between two moments."""
    first = before.revision
    if first is None:
        extent = log.store.extent(known=before.known, cluster=before.cluster, branch=before.branch)
        first = -1 if extent.last_revision is None else extent.last_revision
    window = after.window(first)
    by_id = {record.object: record.reference for record in records}
    ids = list(by_id)
    created: set[int] = set()
    seen: dict[VersionPlace, int] = {}
    for chunk in log.store.scan(window):
        rows = np.flatnonzero(np.isin(chunk.objects, ids) & (chunk.revisions > first))
        for row in rows.tolist():
            number = int(chunk.objects[row])
            if chunk.kinds[row].endswith(_CREATED):
                created.add(number)
            elif is_only_seen(chunk.kinds[row]):
                seen[place_of(by_id[number], int(chunk.revisions[row]))] = number
    # A list may have been the first to show a version that another input calls a creation.
    known_verbs = verbs_at(log.store, after, seen)
    return frozenset(created) | {
        seen[place]
        for place, verbs in known_verbs.items()
        if any(verb.verb == _CREATED[1:] for verb in verbs)
    }


def _joined(
    log: LogStates,
    sides: tuple[Side, Side],
    parts: Sequence[Diff],
    begins: dict[Pair, Moment],
    tables: tuple[list[HoldingChanged], list[HoldingChanged]],
) -> Diff:
    """Return parts of a difference as one.

    :param tables: the resources of nodes and of queues.
    """
    whole = parts[0]
    if whole.before.point != sides[0][0].label:  # All kinds begin later: no part has the sides.
        # No kind has this name: only the sides are wanted, without any object.
        whole = diff(log.store, *sides, scope=Scope(kinds=(("", ""),)))
    lists = {
        name: sorted(
            chain.from_iterable(getattr(part, name) for part in parts),
            key=lambda change: change.object,
        )
        for name in ("added", "first_seen", "removed", "changed")
    }
    nodes, queues = tables
    return msgspec.structs.replace(
        whole,
        **lists,
        summary=DiffSummary(
            **{name: len(objects) for name, objects in lists.items()},
            same=sum(part.summary.same for part in parts),
            rewritten=sum(part.summary.rewritten for part in parts),
        ),
        nodes=_unsure(nodes, _NODE, lists["first_seen"]),
        queues=_unsure(queues, _QUEUE, lists["first_seen"]),
        begun=tuple(
            KindBegin(group=pair[0], kind=pair[1], point=moment.label)
            for pair, moment in begins.items()
        ),
    )


def _unsure(
    holdings: Sequence[HoldingChanged], pair: Pair, first_seen: Iterable[ObjectThen]
) -> list[HoldingChanged]:
    """Return the resources of nodes or queues, marked where the earlier state is not known."""
    names = {
        object_then.object.name
        for object_then in first_seen
        if (object_then.object.group, object_then.object.kind) == pair
    }
    return [
        msgspec.structs.replace(holding, first_seen=True)
        if holding.before is None and holding.name in names
        else holding
        for holding in holdings
    ]


def _tables(
    log: LogStates, sides: tuple[Side, Side], begins: dict[Pair, Moment]
) -> tuple[list[HoldingChanged], list[HoldingChanged]]:
    """Return the resources of nodes and of queues, each from where all that it adds up is known.

    :param begins: kinds that are known only from a later moment on.
    """
    before, after = sides
    from_nodes = _latest(log, before, [begins[pair] for pair in _NODE_READS if pair in begins])
    from_queues = _latest(log, before, [begins[pair] for pair in _QUEUE_READS if pair in begins])
    node_names, _ = _holders_first_seen(log, from_nodes, after)
    _, queue_names = _holders_first_seen(log, from_queues, after)
    return (
        _not_known_before(node_holdings(from_nodes[1], after[1]), node_names),
        _not_known_before(queue_holdings(from_queues[1], after[1]), queue_names),
    )


def _latest(log: LogStates, before: Side, begins: Sequence[Moment]) -> Side:
    if not begins:
        return before
    moment = max(begins, key=lambda begin: begin.revision or 0)
    return moment, log.truth(moment)


def _holders_first_seen(log: LogStates, before: Side, after: Side) -> tuple[set[str], set[str]]:
    """Return the nodes and queues of pods that may have been there before, as is not known."""
    if before[0].branch != after[0].branch or not gaps_at(log, before[0], [_POD]):
        return set(), set()
    pods = _judged(log, before, after, Scope(kinds=(_POD,))).first_seen
    seen = {pod.object for pod in pods}
    queues, parents = queue_by_podgroup(after[1]), queue_parents(after[1])
    nodes, of_queues = set[str](), set[str]()
    for entry in after[1].of(*_POD):
        if entry.reference in seen and isinstance(entry.fact, PodFact):
            nodes.add(entry.fact.node)
            group = (entry.reference.namespace, entry.fact.podgroup)
            of_queues.update(queues_from(queues.get(group, entry.fact.queue), parents))
    return nodes, of_queues


def _not_known_before(
    holdings: Sequence[HoldingChanged], names: Container[str]
) -> list[HoldingChanged]:
    """Leave out what some nodes or queues held before, as it is not known."""
    return [
        msgspec.structs.replace(holding, before=None, first_seen=True)
        if holding.name in names
        else holding
        for holding in holdings
    ]
