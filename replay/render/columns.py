"""The columns of ``get``: kubectl's for its kinds, useful ones for Volcano's kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.units import parse_time
from ...engine.state.clock import TimeSpan
from ...engine.state.facts import JobFact, NodeFact, OtherFact, PodFact, PodGroupFact, QueueFact
from ...engine.state.log_coverage import Pair
from ...engine.state.object_status import status_of
from ...engine.state.truth import Entry, Truth
from ...engine.state.truth_tables import (
    NodeAmounts,
    QueueTable,
    node_table,
    podgroup_members,
    queue_by_podgroup,
    queue_table,
)
from ..logs.given_names import PODGROUP, shortened
from .amounts import age, resource_list, sure, used_of
from .tables import NONE, Table

Row = list[str]

NotListed = Callable[[Pair, str | None], bool]
"""Whether none of a kind is not a fact, in a namespace or everywhere."""

POD: Pair = ("", "Pod")

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


class Labels(NamedTuple):
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
        some = [labels.get(key, "") for key in self.keys]
        every = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
        return [*some, every or NONE] if self.all else some


class KindColumns(NamedTuple):
    """The columns of one kind; ``wide`` are those that ``-o wide`` adds at the end.

    :param keep: those that a narrow terminal shows, beside the first one.
    """

    headers: tuple[str, ...]
    row: Callable[[TableContext, Entry], Row]
    wide: Callable[[TableContext, Sequence[Entry]], tuple[tuple[str, ...], Callable[[Entry], Row]]]
    keep: tuple[str, ...] = ("STATUS",)


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
    columns = _COLUMNS.get((group, kind), _OTHER)
    headers: tuple[str, ...] = columns.headers
    more: Callable[[Entry], Row] | None = None
    if wide:
        extra, more = columns.wide(context, entries)
        headers += extra
    place = headers.index("NAME") if "NAME" in headers else None
    keep = (*columns.keep, "NAME")
    if labels is not None:
        headers += labels.headers
        keep += labels.headers
    if namespaces:
        headers = ("NAMESPACE", *headers)
    rows = []
    for entry in entries:
        row = columns.row(context, entry)
        if more is not None:
            row += more(entry)
        if place is not None:
            row[place] = name_prefix + short.get(row[place], row[place])
        if labels is not None:
            row += labels.row(entry.fact.labels)
        rows.append([entry.reference.namespace, *row] if namespaces else row)
    return Table(headers, rows, keep)


def short_names(group: str, kind: str, entries: Sequence[Entry]) -> Mapping[str, str]:
    """Return the names that tables print: uids in names of PodGroups are shortened."""
    if (group, kind) != PODGROUP:
        return _IN_FULL
    return shortened(entry.reference.name for entry in entries)


def _nothing_wide(
    _context: TableContext, _entries: Sequence[Entry]
) -> tuple[tuple[str, ...], Callable[[Entry], Row]]:
    return (), lambda _entry: []


def _pod(context: TableContext, entry: Entry) -> Row:
    fact = entry.fact
    assert isinstance(fact, PodFact)
    return [
        entry.reference.name,
        f"{fact.ready}/{fact.containers}",
        status_of(fact),
        str(fact.restarts),
        context.age_of(entry),
    ]


def _pod_wide(
    context: TableContext, _entries: Sequence[Entry]
) -> tuple[tuple[str, ...], Callable[[Entry], Row]]:
    def more(entry: Entry) -> Row:
        fact = entry.fact
        assert isinstance(fact, PodFact)
        return [
            fact.node or NONE,
            fact.podgroup or NONE,
            context.queue_of(entry.reference.namespace, fact),
            resource_list(fact.requests),
        ]

    return ("NODE", "PODGROUP", "QUEUE", "REQUESTS"), more


def _node(context: TableContext, entry: Entry) -> Row:
    fact = entry.fact
    assert isinstance(fact, NodeFact)
    row = context.node_rows[entry.reference.name]
    return [
        entry.reference.name,
        status_of(fact),
        ",".join(fact.roles) or NONE,
        context.age_of(entry),
        fact.version or NONE,
        *(_used(context, name, row, column) for column, name in enumerate(("cpu", "memory"))),
    ]


def _used(context: TableContext, resource: str, row: int, column: int) -> str:
    table = context.nodes
    used, allocatable = float(table.used[row, column]), float(table.allocatable[row, column])
    return used_of(resource, used, allocatable, unknown=context.pods_unknown)


def _node_wide(
    context: TableContext, entries: Sequence[Entry]
) -> tuple[tuple[str, ...], Callable[[Entry], Row]]:
    table = context.nodes
    rows = [context.node_rows[entry.reference.name] for entry in entries]
    shown = [
        (column, name)
        for column, name in enumerate(table.resources)
        if name not in ("cpu", "memory", "pods")
        and (table.allocatable[rows, column].any() or table.used[rows, column].any())
    ]

    def more(entry: Entry) -> Row:
        row = context.node_rows[entry.reference.name]
        fact = entry.fact
        assert isinstance(fact, NodeFact)
        count = int(table.pods[row])
        pods = sure(str(count), count, unknown=context.pods_unknown)
        limit = fact.allocatable.get("pods")
        if limit is not None:
            pods += f"/{short_amount('pods', limit)}"
        return [
            pods,
            *(_used(context, name, row, column) for column, name in shown),
        ]

    return ("PODS", *(name.upper() for _, name in shown)), more


def _queue(context: TableContext, entry: Entry) -> Row:
    fact = entry.fact
    assert isinstance(fact, QueueFact)
    table, row = context.queues, context.queue_rows[entry.reference.name]
    allocated = _not_zero(dict(zip(table.resources, table.allocated[row].tolist(), strict=True)))
    allocated.pop("pods", None)  # has its own column
    pods, unknown = int(table.pods[row]), context.held_unknown
    return [
        entry.reference.name,
        status_of(fact) or NONE,
        str(fact.weight),
        fact.parent or NONE,
        resource_list(fact.capability),
        resource_list(_not_zero(fact.deserved)),
        resource_list(_not_zero(fact.guarantee)),
        sure(resource_list(allocated), allocated, unknown=unknown),
        sure(str(pods), pods, unknown=unknown),
        context.age_of(entry),
    ]


def _not_zero(amounts: Mapping[str, float]) -> dict[str, float]:
    """Leave out zeros: only in a capability they are a limit."""
    return {name: amount for name, amount in amounts.items() if amount}


def _queue_wide(
    _context: TableContext, _entries: Sequence[Entry]
) -> tuple[tuple[str, ...], Callable[[Entry], Row]]:
    def more(entry: Entry) -> Row:
        fact = entry.fact
        assert isinstance(fact, QueueFact)
        reclaimable = NONE if fact.reclaimable is None else str(fact.reclaimable).lower()
        return [reclaimable, resource_list(fact.allocated)]

    return ("RECLAIMABLE", "STATUS.ALLOCATED"), more


def counted(members: Mapping[str, int]) -> str:
    """Return counts by status as ``Running=3,Pending=1``, the most frequent first."""
    order = sorted(members.items(), key=lambda item: (-item[1], item[0]))
    return ",".join(f"{status}={count}" for status, count in order) or NONE


def _podgroup(context: TableContext, entry: Entry) -> Row:
    fact = entry.fact
    assert isinstance(fact, PodGroupFact)
    key = (entry.reference.namespace, entry.reference.name)
    members = context.members.get(key, {})
    unknown = not members and context.not_listed(POD, entry.reference.namespace)
    return [
        entry.reference.name,
        status_of(fact) or NONE,
        str(fact.min_member),
        sure(counted(members), members, unknown=unknown),
        fact.queue or "default",
        context.age_of(entry),
    ]


def _podgroup_wide(
    _context: TableContext, _entries: Sequence[Entry]
) -> tuple[tuple[str, ...], Callable[[Entry], Row]]:
    def more(entry: Entry) -> Row:
        fact = entry.fact
        assert isinstance(fact, PodGroupFact)
        return [fact.priority_class or NONE, resource_list(fact.min_resources)]

    return ("PRIORITYCLASS", "MINRESOURCES"), more


def _job(context: TableContext, entry: Entry) -> Row:
    fact = entry.fact
    assert isinstance(fact, JobFact)
    return [
        entry.reference.name,
        status_of(fact) or NONE,
        str(fact.min_available),
        str(fact.running),
        str(fact.pending),
        str(fact.succeeded),
        str(fact.failed),
        fact.queue or "default",
        context.age_of(entry),
    ]


def _job_wide(
    _context: TableContext, _entries: Sequence[Entry]
) -> tuple[tuple[str, ...], Callable[[Entry], Row]]:
    def more(entry: Entry) -> Row:
        fact = entry.fact
        assert isinstance(fact, JobFact)
        numbers = (fact.replicas, fact.terminating, fact.unknown)
        return [*map(str, numbers), fact.priority_class or NONE]

    return ("REPLICAS", "TERMINATING", "UNKNOWN", "PRIORITYCLASS"), more


def _summary(entry: Entry, length: int) -> Sequence[str]:
    fact = entry.fact
    summary = fact.summary if isinstance(fact, OtherFact) else ()
    return [*summary, *("",) * length][:length]


def _priority_class(context: TableContext, entry: Entry) -> Row:
    value, default = _summary(entry, 2)
    return [entry.reference.name, value, default, context.age_of(entry)]


def _event(context: TableContext, entry: Entry) -> Row:
    seen, severity, reason, about, message, _ = _summary(entry, 6)
    try:
        last_seen = age(context.when, parse_time(seen))
    except ValueError:
        last_seen = "<unknown>"
    return [last_seen, severity, reason, about, message.replace("\n", " ")]


def _event_wide(
    context: TableContext, _entries: Sequence[Entry]
) -> tuple[tuple[str, ...], Callable[[Entry], Row]]:
    return ("COUNT", "FIRST SEEN", "NAME"), lambda entry: [
        _summary(entry, 6)[5],
        context.age_of(entry),
        entry.reference.name,
    ]


def _other(context: TableContext, entry: Entry) -> Row:
    return [entry.reference.name, context.age_of(entry)]


_OTHER = KindColumns(("NAME", "AGE"), _other, _nothing_wide)
_EVENT = KindColumns(
    ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"),
    _event,
    _event_wide,
    ("REASON", "OBJECT", "MESSAGE"),
)

_COLUMNS: Mapping[tuple[str, str], KindColumns] = MappingProxyType(
    {
        ("", "Pod"): KindColumns(("NAME", "READY", "STATUS", "RESTARTS", "AGE"), _pod, _pod_wide),
        ("", "Node"): KindColumns(
            ("NAME", "STATUS", "ROLES", "AGE", "VERSION", "CPU", "MEMORY"),
            _node,
            _node_wide,
            ("STATUS", "CPU", "MEMORY"),
        ),
        ("", "Event"): _EVENT,
        ("events.k8s.io", "Event"): _EVENT,
        ("scheduling.k8s.io", "PriorityClass"): KindColumns(
            ("NAME", "VALUE", "GLOBAL-DEFAULT", "AGE"), _priority_class, _nothing_wide
        ),
        ("scheduling.volcano.sh", "Queue"): KindColumns(
            (
                *("NAME", "STATE", "WEIGHT", "PARENT", "CAPABILITY", "DESERVED"),
                *("GUARANTEE", "ALLOCATED+BELOW", "PODS+BELOW", "AGE"),
            ),
            _queue,
            _queue_wide,
            ("CAPABILITY", "ALLOCATED+BELOW", "PODS+BELOW"),
        ),
        ("scheduling.volcano.sh", "PodGroup"): KindColumns(
            ("NAME", "STATUS", "MINMEMBER", "MEMBERS", "QUEUE", "AGE"), _podgroup, _podgroup_wide
        ),
        ("batch.volcano.sh", "Job"): KindColumns(
            (
                *("NAME", "STATUS", "MINAVAILABLE", "RUNNINGS", "PENDING", "SUCCEEDED"),
                *("FAILED", "QUEUE", "AGE"),
            ),
            _job,
            _job_wide,
        ),
    }
)
