"""The columns of ``get``: kubectl's for its kinds, useful ones for Volcano's kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.units import parse_time
from ...engine.state.clock import TimeSpan
from ...engine.state.facts import (
    Fact,
    JobFact,
    NodeFact,
    OtherFact,
    PodFact,
    PodGroupFact,
    QueueFact,
    Resources,
)
from ...engine.state.log_coverage import Pair
from ...engine.state.object_status import status_of
from ...engine.state.truth_fold import Entry, Truth
from ...engine.state.truth_tables import (
    NodeAmounts,
    QueueTable,
    node_table,
    podgroup_members,
    queue_by_podgroup,
    queue_table,
)
from ..logs.given_names import PODGROUP, shortened
from .amounts import age, listed, resource_list, sure, used_of
from .tables import NONE, Table, TextColumn

Row = list[str]

NotListed = Callable[[Pair, str | None], bool]
"""Whether none of a kind is not a fact, in a namespace or everywhere."""

POD: Pair = ("", "Pod")
NODE: Pair = ("", "Node")

_IN_FULL: Mapping[str, str] = MappingProxyType({})


def _all_listed(_pair: Pair, _namespace: str | None) -> bool:
    return False


class TableContext:
    """The state for tables: the moment, and totals that are computed when first needed."""

    def __init__(
        self,
        truth: Truth | Callable[[], Truth],
        *,
        when: TimeSpan | None = None,
        not_listed: NotListed = _all_listed,
    ) -> None:
        """Wrap a truth, or a function that makes one only if a table needs totals.

        :param when: between which times the moment is; None is as the truth has it.
        :param not_listed: what the log lacks; without it, everything that is not there is none.
        """
        self._truth = truth
        self._when = when
        self.not_listed = not_listed

    @cached_property
    def truth(self) -> Truth:
        """All objects at the moment."""
        return self._truth if isinstance(self._truth, Truth) else self._truth()

    @cached_property
    def when(self) -> TimeSpan:
        """Between which times the moment is that ages are counted from."""
        return self.truth.when if self._when is None else self._when

    @cached_property
    def nodes(self) -> NodeAmounts:
        """Allocatable and used of every node."""
        return node_table(self.truth)

    @cached_property
    def queues(self) -> QueueTable:
        """Allocated of every queue."""
        return queue_table(self.truth)

    @cached_property
    def node_rows(self) -> Mapping[str, int]:
        """The row of each node in :attr:`nodes`."""
        return {name: row for row, name in enumerate(self.nodes.names)}

    @cached_property
    def queue_rows(self) -> Mapping[str, int]:
        """The row of each queue in :attr:`queues`."""
        return {name: row for row, name in enumerate(self.queues.names)}

    @cached_property
    def members(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """Pods of each PodGroup by status."""
        return podgroup_members(self.truth)

    @cached_property
    def pods_unknown(self) -> bool:
        """Whether there may be more pods on nodes than the log knows."""
        return self.not_listed(POD, None)

    @cached_property
    def held_unknown(self) -> bool:
        """Whether queues may hold more than the log knows: pods are theirs by PodGroups."""
        return self.pods_unknown or self.not_listed(PODGROUP, None)

    def allocated_of(self, queue: str) -> Resources:
        """Return what a queue and those below it hold."""
        amounts = self.queues.allocated[self.queue_rows[queue]].tolist()
        return not_zero(dict(zip(self.queues.resources, amounts, strict=True)))

    def pods_of(self, queue: str) -> int:
        """Return how many pods of a queue and of those below it are on nodes."""
        return int(self.queues.pods[self.queue_rows[queue]])

    def queue_of(self, namespace: str, pod: PodFact) -> str:
        """Return the queue of a pod as a table has it."""
        queue = self.queue_by_podgroup.get((namespace, pod.podgroup), pod.queue)
        unknown = bool(pod.podgroup) and not queue and self.not_listed(PODGROUP, namespace)
        return sure(queue or NONE, queue, unknown=unknown)

    @cached_property
    def queue_by_podgroup(self) -> Mapping[tuple[str, str], str]:
        """Queue of each PodGroup."""
        return queue_by_podgroup(self.truth)

    def age_of(self, entry: Entry) -> str:
        """Age of an object at the moment."""
        return age(self.when, entry.fact.created_at)


class Labels(msgspec.Struct, frozen=True):
    """The labels at the end of a table's rows.

    :param keys: one column each. :param all: all labels together in one more column.
    """

    keys: tuple[str, ...] = ()
    all: bool = False

    @property
    def headers(self) -> tuple[str, ...]:
        """The column heads that kubectl makes from labels."""
        named = tuple(key.rpartition("/")[2].upper() for key in self.keys)
        return (*named, "LABELS") if self.all else named

    def row(self, labels: Mapping[str, str]) -> Row:
        """Return the cells of one object."""
        cells = [labels.get(key, "") for key in self.keys]
        return [*cells, listed(dict(sorted(labels.items())))] if self.all else cells


F = TypeVar("F", bound=Fact)


class ShownObject(msgspec.Struct, Generic[F], frozen=True):
    """An object of a row: its version, and the fact that columns read."""

    context: TableContext
    entry: Entry
    fact: F

    @property
    def name(self) -> str:
        """Its name."""
        return self.entry.reference.name

    @property
    def age(self) -> str:
        """Its age at the moment."""
        return self.context.age_of(self.entry)

    def summary(self, place: int) -> str:
        """Return a part of the summary of an object of another kind; empty without it."""
        parts = self.fact.summary if isinstance(self.fact, OtherFact) else ()
        return parts[place] if place < len(parts) else ""


def table_of(
    context: TableContext,
    group: str,
    kind: str,
    entries: Sequence[Entry],
    *,
    wide: bool = False,
    namespaces: bool = False,
    name_prefix: str = "",
    labels: Labels | None = None,
    short: Mapping[str, str] = _IN_FULL,
) -> Table:
    """Return the table of some objects of one kind.

    :param namespaces: start with the namespace, as with ``-A``.
    :param name_prefix: put before names, as kubectl does when it prints several kinds.
    :param labels: which labels to show; None is none.
    :param short: what to print in place of names, see :func:`short_names`.
    """
    columns = columns_of(context, (group, kind), entries, wide=wide)
    headers = tuple(column.head for column in columns)
    place = headers.index("NAME") if "NAME" in headers else None
    keep = ("NAME", *(column.head for column in columns if column.keep))
    if labels is not None:
        headers += labels.headers
        keep += labels.headers
    if namespaces:
        headers = ("NAMESPACE", *headers)
    rows = []
    for entry in entries:
        shown = ShownObject(context, entry, entry.fact)
        row = [column.value(shown) for column in columns]
        if place is not None:
            # Shortened before it gets its prefix: the map has plain names.
            row[place] = name_prefix + short.get(row[place], row[place])
        if labels is not None:
            row += labels.row(entry.fact.labels)
        rows.append([entry.reference.namespace, *row] if namespaces else row)
    return Table(headers, rows, keep)


def columns_of(
    context: TableContext, pair: Pair, entries: Sequence[Entry], *, wide: bool
) -> list[TextColumn[Any]]:
    """Return the columns of a kind; of nodes, wide ones have each resource that one of them has."""
    columns = [column for column in GET_COLUMNS.get(pair, _OTHER) if wide or not column.wide]
    return [*columns, *_resources(context, entries)] if wide and pair == NODE else columns


def short_names(group: str, kind: str, entries: Sequence[Entry]) -> Mapping[str, str]:
    """Return the names that tables print: uids in names of PodGroups are shortened."""
    if (group, kind) != PODGROUP:
        return _IN_FULL
    return shortened(entry.reference.name for entry in entries)


def _resources(
    context: TableContext, entries: Sequence[Entry]
) -> Iterator[TextColumn[ShownObject[NodeFact]]]:
    """Yield a column for each further resource that some of these nodes have."""
    table = context.nodes
    rows = [context.node_rows[entry.reference.name] for entry in entries]
    for column, name in enumerate(table.resources):
        # A resource that only other nodes have needs no column.
        has = table.allocatable[rows, column].any() or table.used[rows, column].any()
        if name not in {"cpu", "memory", "pods"} and has:
            yield TextColumn(name.upper(), partial(_used, column=column))


def _used(shown: ShownObject[NodeFact], column: int) -> str:
    """Return what is used of a resource of a node, and how much is allocatable."""
    table, row = shown.context.nodes, shown.context.node_rows[shown.name]
    used, allocatable = float(table.used[row, column]), float(table.allocatable[row, column])
    name = table.resources[column]
    return used_of(name, used, allocatable, unknown=shown.context.pods_unknown)


def _node_pods(shown: ShownObject[NodeFact]) -> str:
    count = int(shown.context.nodes.pods[shown.context.node_rows[shown.name]])
    pods = sure(str(count), count, unknown=shown.context.pods_unknown)
    limit = shown.fact.allocatable.get("pods")
    return pods if limit is None else f"{pods}/{short_amount('pods', limit)}"


def _allocated(shown: ShownObject[QueueFact]) -> str:
    """Return what a queue and those below it hold, but pods, which have a column."""
    allocated = shown.context.allocated_of(shown.name)
    amounts = {name: amount for name, amount in allocated.items() if name != "pods"}
    return sure(resource_list(amounts), amounts, unknown=shown.context.held_unknown)


def _queue_pods(shown: ShownObject[QueueFact]) -> str:
    pods = shown.context.pods_of(shown.name)
    return sure(str(pods), pods, unknown=shown.context.held_unknown)


def not_zero(amounts: Mapping[str, float]) -> dict[str, float]:
    """Leave out zeros: only in a capability they are a limit."""
    return {name: amount for name, amount in amounts.items() if amount}


def _reclaimable(shown: ShownObject[QueueFact]) -> str:
    return NONE if shown.fact.reclaimable is None else str(shown.fact.reclaimable).lower()


def counted(members: Mapping[str, int]) -> str:
    """Return counts by status as ``Running=3,Pending=1``, the most frequent first."""
    order = sorted(members.items(), key=lambda item: (-item[1], item[0]))
    return listed(dict(order))


def _members(shown: ShownObject[PodGroupFact]) -> str:
    namespace = shown.entry.reference.namespace
    members = shown.context.members.get((namespace, shown.name), {})
    unknown = not members and shown.context.not_listed(POD, namespace)
    return sure(counted(members), members, unknown=unknown)


def _last_seen(shown: ShownObject[OtherFact]) -> str:
    try:
        return age(shown.context.when, parse_time(shown.summary(0)))
    except ValueError:
        return "<unknown>"


_OTHER: Sequence[TextColumn[ShownObject[Fact]]] = (
    TextColumn("NAME", lambda shown: shown.name),
    TextColumn("AGE", lambda shown: shown.age),
)

_PODS: Sequence[TextColumn[ShownObject[PodFact]]] = (
    TextColumn("NAME", lambda shown: shown.name),
    TextColumn("READY", lambda shown: f"{shown.fact.ready}/{shown.fact.containers}"),
    TextColumn("STATUS", lambda shown: status_of(shown.fact), keep=True),
    TextColumn("RESTARTS", lambda shown: str(shown.fact.restarts)),
    TextColumn("AGE", lambda shown: shown.age),
    TextColumn("NODE", lambda shown: shown.fact.node or NONE, wide=True),
    TextColumn("PODGROUP", lambda shown: shown.fact.podgroup or NONE, wide=True),
    TextColumn(
        "QUEUE",
        lambda shown: shown.context.queue_of(shown.entry.reference.namespace, shown.fact),
        wide=True,
    ),
    TextColumn("REQUESTS", lambda shown: resource_list(shown.fact.requests), wide=True),
)
_NODES: Sequence[TextColumn[ShownObject[NodeFact]]] = (
    TextColumn("NAME", lambda shown: shown.name),
    TextColumn("STATUS", lambda shown: status_of(shown.fact), keep=True),
    TextColumn("ROLES", lambda shown: ",".join(shown.fact.roles) or NONE),
    TextColumn("AGE", lambda shown: shown.age),
    TextColumn("VERSION", lambda shown: shown.fact.version or NONE),
    TextColumn("CPU", partial(_used, column=0), keep=True),
    TextColumn("MEMORY", partial(_used, column=1), keep=True),
    TextColumn("PODS", _node_pods, wide=True),
)
_EVENTS: Sequence[TextColumn[ShownObject[OtherFact]]] = (
    TextColumn("LAST SEEN", _last_seen),
    TextColumn("TYPE", lambda shown: shown.summary(1)),
    TextColumn("REASON", lambda shown: shown.summary(2), keep=True),
    TextColumn("OBJECT", lambda shown: shown.summary(3), keep=True),
    TextColumn("MESSAGE", lambda shown: shown.summary(4).replace("\n", " "), keep=True),
    TextColumn("COUNT", lambda shown: shown.summary(5), wide=True),
    TextColumn("FIRST SEEN", lambda shown: shown.age, wide=True),
    TextColumn("NAME", lambda shown: shown.name, wide=True),
)
_PRIORITY_CLASSES: Sequence[TextColumn[ShownObject[OtherFact]]] = (
    TextColumn("NAME", lambda shown: shown.name),
    TextColumn("VALUE", lambda shown: shown.summary(0)),
    TextColumn("GLOBAL-DEFAULT", lambda shown: shown.summary(1)),
    TextColumn("AGE", lambda shown: shown.age),
)
_QUEUES: Sequence[TextColumn[ShownObject[QueueFact]]] = (
    TextColumn("NAME", lambda shown: shown.name),
    TextColumn("STATE", lambda shown: status_of(shown.fact) or NONE),
    TextColumn("WEIGHT", lambda shown: str(shown.fact.weight)),
    TextColumn("PARENT", lambda shown: shown.fact.parent or NONE),
    TextColumn("CAPABILITY", lambda shown: resource_list(shown.fact.capability), keep=True),
    TextColumn("DESERVED", lambda shown: resource_list(not_zero(shown.fact.deserved))),
    TextColumn("GUARANTEE", lambda shown: resource_list(not_zero(shown.fact.guarantee))),
    TextColumn("ALLOCATED+BELOW", _allocated, keep=True),
    TextColumn("PODS+BELOW", _queue_pods, keep=True),
    TextColumn("AGE", lambda shown: shown.age),
    TextColumn("RECLAIMABLE", _reclaimable, wide=True),
    TextColumn("STATUS.ALLOCATED", lambda shown: resource_list(shown.fact.allocated), wide=True),
)
_PODGROUPS: Sequence[TextColumn[ShownObject[PodGroupFact]]] = (
    TextColumn("NAME", lambda shown: shown.name),
    TextColumn("STATUS", lambda shown: status_of(shown.fact) or NONE, keep=True),
    TextColumn("MINMEMBER", lambda shown: str(shown.fact.min_member)),
    TextColumn("MEMBERS", _members),
    TextColumn("QUEUE", lambda shown: shown.fact.queue or "default"),
    TextColumn("AGE", lambda shown: shown.age),
    TextColumn("PRIORITYCLASS", lambda shown: shown.fact.priority_class or NONE, wide=True),
    TextColumn("MINRESOURCES", lambda shown: resource_list(shown.fact.min_resources), wide=True),
)
_JOBS: Sequence[TextColumn[ShownObject[JobFact]]] = (
    TextColumn("NAME", lambda shown: shown.name),
    TextColumn("STATUS", lambda shown: status_of(shown.fact) or NONE, keep=True),
    TextColumn("MINAVAILABLE", lambda shown: str(shown.fact.min_available)),
    TextColumn("RUNNINGS", lambda shown: str(shown.fact.running)),
    TextColumn("PENDING", lambda shown: str(shown.fact.pending)),
    TextColumn("SUCCEEDED", lambda shown: str(shown.fact.succeeded)),
    TextColumn("FAILED", lambda shown: str(shown.fact.failed)),
    TextColumn("QUEUE", lambda shown: shown.fact.queue or "default"),
    TextColumn("AGE", lambda shown: shown.age),
    TextColumn("REPLICAS", lambda shown: str(shown.fact.replicas), wide=True),
    TextColumn("TERMINATING", lambda shown: str(shown.fact.terminating), wide=True),
    TextColumn("UNKNOWN", lambda shown: str(shown.fact.unknown), wide=True),
    TextColumn("PRIORITYCLASS", lambda shown: shown.fact.priority_class or NONE, wide=True),
)

GET_COLUMNS: Mapping[Pair, Sequence[TextColumn[Any]]] = MappingProxyType(
    {
        POD: _PODS,
        NODE: _NODES,
        ("", "Event"): _EVENTS,
        ("events.k8s.io", "Event"): _EVENTS,
        ("scheduling.k8s.io", "PriorityClass"): _PRIORITY_CLASSES,
        ("scheduling.volcano.sh", "Queue"): _QUEUES,
        ("scheduling.volcano.sh", "PodGroup"): _PODGROUPS,
        ("batch.volcano.sh", "Job"): _JOBS,
    }
)
"""The columns of each kind, in order; others have :data:`_OTHER`."""
