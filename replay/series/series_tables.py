"""Tables of the state over time: one row for each object, or each resource of it, in each sample.

Amounts are numbers in the base units of Kubernetes: cpu in cores, memory and storage in bytes,
others as counted. Times are microseconds since 1970 UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from ...engine.errors import UsageError
from ...engine.state.facts import NodeFact, PodFact, PodGroupFact, QueueFact, Resources
from ...engine.state.truth_fold import Truth
from ...engine.state.truth_tables import (
    node_table,
    podgroup_members,
    queue_by_podgroup,
    queue_table,
)
from ..logs.log import Log
from ..moments.moment import Moment
from ..tabular.record_columns import Bytes, Cores, Quantity, TimeColumn, base_units
from ..truth.truth import truths_along

MOST = 100_000
"""Samples at most: more are probably a mistake."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """The moment of a row; None where the log does not know it.

    :param revision: the last one that had happened.
    """

    time: TimeColumn | None
    revision: int | None


class QueueRow(Sample, frozen=True, kw_only=True):
    """One resource of a queue, as ``get queues`` shows it.

    :param allocated: requests of its pods, and of those of the queues below it, that have a node
        and have not finished; ``pods`` counts them.
    :param capability: None if there is no limit; ``deserved`` and ``guarantee`` likewise.
    """

    queue: str
    parent: str
    state: str
    weight: int
    pods: int
    resource: str
    allocated: Quantity
    deserved: Quantity | None
    capability: Quantity | None
    guarantee: Quantity | None


class NodeRow(Sample, frozen=True, kw_only=True):
    """One resource of a node. :param used: requests of its pods that have not finished."""

    node: str
    ready: str
    unschedulable: bool
    pods: int
    resource: str
    used: Quantity
    allocatable: Quantity


class PodRow(Sample, frozen=True, kw_only=True):
    """A pod. :param status: as in kubectl's column. :param queue: of its PodGroup."""

    namespace: str
    pod: str
    uid: str
    phase: str
    status: str
    node: str
    podgroup: str
    queue: str
    cpu: Cores
    memory: Bytes


class PodGroupRow(Sample, frozen=True, kw_only=True):
    """A PodGroup. :param members: how many pods have it."""

    namespace: str
    podgroup: str
    uid: str
    phase: str
    queue: str
    min_member: int
    members: int


Row: TypeAlias = QueueRow | NodeRow | PodRow | PodGroupRow


def samples(log: Log, every: int) -> Iterator[Moment]:
    """Yield the moments of samples, from the first time of the log to its last.

    :param every: microseconds between two.
    :raises UsageError: the log has no times, or there would be too many samples.
    """
    end = log.moment()
    clock = log.clock(end)
    first, last = clock.first(), clock.last()
    if first is None or last is None:
        raise UsageError("the log holds no times", now="ingest inputs with times")
    if every <= 0 or (last - first) // every > MOST:
        raise UsageError(
            f"there would be more than {MOST:,} samples", now="choose a longer --every"
        )
    # Up to the first sample that is not before the last time: it shows the end.
    for time in range(first, last + every, every):
        revision = clock.revision_at(time)
        if revision >= 0:
            yield msgspec.structs.replace(end, revision=revision, time=time, label="sample")


def rows(log: Log, what: str, every: int) -> Iterator[Row]:
    """Yield the rows of a table, sample by sample.

    :param what: a key of :data:`TABLES`. :param every: microseconds between two samples.
    """
    _, build = TABLES[what]
    moments = list(samples(log, every))
    for moment, truth in zip(moments, truths_along(log.store, moments), strict=True):
        at = Sample(time=moment.time or 0, revision=moment.revision or 0)
        yield from build(truth, at)


def rows_at(log: Log, what: str, moment: Moment) -> Iterator[Row]:
    """Yield the rows of a table at one moment.

    :param what: a key of :data:`TABLES`.
    """
    _, build = TABLES[what]
    truth, revision = log.truth(moment), moment.revision
    if revision is None:
        extent = log.store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
        revision = extent.last_revision
    yield from build(truth, Sample(time=moment.time or truth.time, revision=revision))


def _of(amounts: Resources, name: str) -> float | None:
    return base_units(name, amounts[name]) if name in amounts else None


def _queues(truth: Truth, at: Sample) -> Iterator[Row]:
    table = queue_table(truth)
    entries = truth.of("scheduling.volcano.sh", "Queue")
    # The rows of the table are the queues with facts, in this order.
    for index, entry in enumerate(queue for queue in entries if isinstance(queue.fact, QueueFact)):
        fact = entry.fact
        assert isinstance(fact, QueueFact)
        amounts = dict(zip(table.resources, table.allocated[index].tolist(), strict=True))
        limits = (fact.deserved, fact.capability, fact.guarantee)
        for name in sorted({*amounts, *(each for limit in limits for each in limit)} - {"pods"}):
            yield QueueRow(
                time=at.time,
                revision=at.revision,
                queue=entry.reference.name,
                parent=fact.parent,
                state=fact.state,
                weight=fact.weight,
                pods=int(table.pods[index]),
                resource=name,
                allocated=base_units(name, amounts.get(name, 0.0)),
                deserved=_of(fact.deserved, name),
                capability=_of(fact.capability, name),
                guarantee=_of(fact.guarantee, name),
            )


def _nodes(truth: Truth, at: Sample) -> Iterator[Row]:
    table = node_table(truth)
    # The rows of the table are the nodes with facts, in this order.
    entries = [node for node in truth.of("", "Node") if isinstance(node.fact, NodeFact)]
    for index, entry in enumerate(entries):
        fact = entry.fact
        assert isinstance(fact, NodeFact)
        for column, name in enumerate(table.resources):
            if name in fact.allocatable or table.used[index, column]:
                yield NodeRow(
                    time=at.time,
                    revision=at.revision,
                    node=entry.reference.name,
                    ready=fact.ready,
                    unschedulable=fact.unschedulable,
                    pods=int(table.pods[index]),
                    resource=name,
                    used=base_units(name, float(table.used[index, column])),
                    allocatable=base_units(name, float(table.allocatable[index, column])),
                )


def _pods(truth: Truth, at: Sample) -> Iterator[Row]:
    queues = queue_by_podgroup(truth)
    for entry in truth.of("", "Pod"):
        fact, reference = entry.fact, entry.reference
        if isinstance(fact, PodFact):
            yield PodRow(
                time=at.time,
                revision=at.revision,
                namespace=reference.namespace,
                pod=reference.name,
                uid=reference.uid,
                phase=fact.phase,
                status=fact.status,
                node=fact.node,
                podgroup=fact.podgroup,
                queue=queues.get((reference.namespace, fact.podgroup), fact.queue),
                cpu=base_units("cpu", fact.requests.get("cpu", 0.0)),
                memory=base_units("memory", fact.requests.get("memory", 0.0)),
            )


def _podgroups(truth: Truth, at: Sample) -> Iterator[Row]:
    members = podgroup_members(truth)
    for entry in truth.of("scheduling.volcano.sh", "PodGroup"):
        fact, reference = entry.fact, entry.reference
        if isinstance(fact, PodGroupFact):
            yield PodGroupRow(
                time=at.time,
                revision=at.revision,
                namespace=reference.namespace,
                podgroup=reference.name,
                uid=reference.uid,
                phase=fact.phase,
                queue=fact.queue or "default",
                min_member=fact.min_member,
                members=sum(members.get((reference.namespace, reference.name), {}).values()),
            )


TABLES: Mapping[str, tuple[type[Row], Callable[[Truth, Sample], Iterator[Row]]]] = MappingProxyType(
    {
        "queues": (QueueRow, _queues),
        "nodes": (NodeRow, _nodes),
        "pods": (PodRow, _pods),
        "podgroups": (PodGroupRow, _podgroups),
    }
)
"""The tables by name: the shape of a row, and what makes the rows of a sample."""
