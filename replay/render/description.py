"""One object in full, for people: requests, resources, related objects, and what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import msgspec

from ...engine.events import Reference
from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.objects import Taint
from ...engine.kubernetes.units import format_time
from ...engine.state.facts import NodeFact, OtherFact, PodFact, PodGroupFact, QueueFact
from ...engine.state.object_status import status_of
from ...engine.state.truth_fold import Entry
from ..coverage.coverage import NotListed
from ..histories.history import history_at
from ..logs.given_names import PODGROUP
from ..logs.log import Log
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName
from .amounts import UNKNOWN, age, listed, resource_list, sure
from .columns import TableContext, counted, short_names, table_of
from .differences import version_table
from .tables import NONE, PLAIN, Style, Table, cut, lines_of

_VERSIONS = 10
"""How many of the last versions are shown."""

_WIDTH = 20
_INDENT = "  "
_VOLCANO = "scheduling.volcano.sh"
_FINISHED = frozenset({"Succeeded", "Failed"})
_HELD = ("ALLOCATED+BELOW", "STATUS.ALLOCATED")

Lines = Iterator[str]


class ObjectDescription(msgspec.Struct, frozen=True):
    """The input of a description."""

    context: TableContext
    entry: Entry
    document: dict[str, Any]
    style: Style = PLAIN


def description_lines(log: Log, moment: Moment, entry: Entry, *, style: Style = PLAIN) -> Lines:
    """Yield the description of an object that existed at a moment."""
    reference = entry.reference
    named = ObjectName(reference.group, reference.kind, reference.name)
    past = history_at(log, named, namespace=reference.namespace, moment=moment)
    described = ObjectDescription(
        context=TableContext(log.truth(moment), not_listed=NotListed(log, moment)),
        entry=entry,
        document=next(log.documents([entry], branch=moment.branch)),
        style=style,
    )
    yield from _metadata(described)
    highlights = _HIGHLIGHTS.get((reference.group, reference.kind))
    if highlights is not None:
        yield from highlights(described)
    yield from _conditions(described)
    for title, group, kind, entries in _related(described):
        if entries:
            short = short_names(group, kind, entries)
            table = table_of(described.context, group, kind, entries, short=short)
            yield from _table(described, f"{title} ({len(entries)})", table)
    yield from _table(described, "Last versions", version_table(past.happenings[-_VERSIONS:]))
    events = _kubernetes_events(described, reference)
    if events:
        table = table_of(described.context, "", "Event", events)
        yield from _table(described, "Kubernetes events", table)


def _metadata(described: ObjectDescription) -> Lines:
    reference, fact = described.entry.reference, described.entry.fact
    yield _pair("Name", reference.name)
    if reference.namespace:
        yield _pair("Namespace", reference.namespace)
    yield _pair("UID", reference.uid)
    yield _pair("Version", f"rv:{described.entry.resource_version}  (@{described.entry.position})")
    if fact.created_at is not None:
        old = age(described.context.when, fact.created_at)
        yield _pair("Created", f"{format_time(fact.created_at)}  ({old} before this moment)")
    if fact.deleting_at is not None:
        yield _pair("Deletion by", format_time(fact.deleting_at))
    metadata = _fields(described.document.get("metadata"))
    owners = _many_fields(metadata.get("ownerReferences"))
    if owners:
        names = (f"{owner.get('kind', '')}/{owner.get('name', '')}" for owner in owners)
        yield _pair("Owned by", ", ".join(names))
    yield from _mapping(described, "Labels", metadata.get("labels"))
    yield from _mapping(described, "Annotations", metadata.get("annotations"))
    if described.entry.ending:
        yield _pair("Note", f"a request to delete it was accepted (@{described.entry.ending})")
    elif described.entry.stale:
        yield _pair("Note", "a later write was accepted, but its result was not recorded")


def _fields(value: Any) -> dict[str, Any]:
    """Return an object's fields; none if it is not an object, as a log keeps odd values too."""
    return value if isinstance(value, dict) else {}


def _many_fields(values: Any) -> list[dict[str, Any]]:
    """Return those members of a list that are objects."""
    return (
        [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
    )


def _mapping(described: ObjectDescription, name: str, values: Any) -> Lines:
    """Yield one pair per line; cut to a terminal's width, and only on a terminal."""
    width = described.style.width
    room = None if width is None else max(_WIDTH, width - _WIDTH)
    pairs = sorted(_fields(values).items())
    lines = [cut(f"{key}={value}", room) for key, value in pairs] or [NONE]
    yield _pair(name, lines[0])
    for line in lines[1:]:
        yield _pair("", line)


def _pod(described: ObjectDescription) -> Lines:
    fact = described.entry.fact
    assert isinstance(fact, PodFact)
    yield _pair("Status", status_of(fact))
    node = fact.node or NONE
    if described.entry.node_bound:
        node += "  (bound, but no version shows it yet)"
    yield _pair("Node", node)
    yield _pair("Ready", f"{fact.ready}/{fact.containers}, {fact.restarts} restarts")
    yield _pair("Requests", resource_list(fact.requests))
    yield _pair("Scheduler", fact.scheduler or NONE)
    yield _pair("Priority", NONE if fact.priority is None else str(fact.priority))
    yield _pair("PodGroup", fact.podgroup or NONE)
    namespace = described.entry.reference.namespace
    yield _pair("Queue", described.context.queue_of(namespace, fact))
    selector = _fields(described.document.get("spec")).get("nodeSelector")
    if selector:
        yield from _mapping(described, "Node selector", selector)


def _node(described: ObjectDescription) -> Lines:
    fact = described.entry.fact
    assert isinstance(fact, NodeFact)
    yield _pair("Unschedulable", str(fact.unschedulable).lower())
    taints = _many_fields(_fields(described.document.get("spec")).get("taints"))
    words = (
        Taint(taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")).text
        for taint in taints
    )
    yield _pair("Taints", ", ".join(words) or NONE)
    table = described.context.nodes
    row = described.context.node_rows[described.entry.reference.name]
    rows = []
    for column, name in enumerate(table.resources):
        allocatable, used = float(table.allocatable[row, column]), float(table.used[row, column])
        # No pod requests pods: they are counted.
        if name == "pods":
            used = float(table.pods[row])
        if allocatable or used:
            share = f"{used / allocatable:.0%}" if allocatable else NONE
            first, *others = (
                short_amount(name, amount) for amount in (allocatable, used, allocatable - used)
            )
            unknown = not used and described.context.pods_unknown
            rows.append([name, first, *([UNKNOWN] * 3 if unknown else (*others, share))])
    headers = ("RESOURCE", "ALLOCATABLE", "REQUESTED", "LEFT", "SHARE")
    yield from _table(described, "Resources", Table(headers, rows))


def _queue(described: ObjectDescription) -> Lines:
    fact = described.entry.fact
    assert isinstance(fact, QueueFact)
    table = described.context.queues
    row = described.context.queue_rows[described.entry.reference.name]
    yield _pair("State", status_of(fact) or NONE)
    yield _pair("Weight", str(fact.weight))
    yield _pair("Parent", fact.parent or NONE)
    yield _pair("Reclaimable", NONE if fact.reclaimable is None else str(fact.reclaimable).lower())
    phases = Counter(
        entry.fact.phase or "no phase yet"
        for entry in _podgroups(described, described.entry.reference.name)
        if isinstance(entry.fact, PodGroupFact)
    )
    unlisted = described.context.not_listed(PODGROUP, None)
    yield _pair("PodGroups", sure(counted(phases), phases, unknown=unlisted))
    allocated = dict(zip(table.resources, table.allocated[row].tolist(), strict=True))
    columns: tuple[Mapping[str, float], ...] = (
        fact.capability,
        fact.deserved,
        fact.guarantee,
        allocated,
        fact.allocated,
    )
    names = sorted(
        {name for column in columns for name, amount in column.items() if amount} - {"pods"},
        key=lambda name: (name not in ("cpu", "memory"), name),
    )
    rows = [
        [name, *(short_amount(name, c[name]) if name in c else NONE for c in columns)]
        for name in names
    ]
    headers = ("RESOURCE", "CAPABILITY", "DESERVED", "GUARANTEE", *_HELD)
    place = headers.index(_HELD[0])
    for row_cells in rows:
        amount = allocated.get(row_cells[0])
        unknown = described.context.held_unknown
        row_cells[place] = sure(row_cells[place], amount, unknown=unknown)
    yield from _table(described, "Resources", Table(headers, rows))


def _podgroup(described: ObjectDescription) -> Lines:
    fact = described.entry.fact
    assert isinstance(fact, PodGroupFact)
    yield _pair("Status", status_of(fact) or NONE)
    yield _pair("Queue", fact.queue or "default")
    yield _pair("Min member", str(fact.min_member))
    yield _pair("Min resources", resource_list(fact.min_resources))
    yield _pair("Priority class", fact.priority_class or NONE)


def _job(described: ObjectDescription) -> Lines:
    spec, status = (_fields(described.document.get(part)) for part in ("spec", "status"))
    state = _fields(status.get("state"))
    yield _pair("Status", status_of(described.entry.fact) or NONE)
    reasons = [str(state[part]) for part in ("reason", "message") if state.get(part)]
    if reasons:
        yield _pair("", " ".join(reasons))
    yield _pair("Queue", str(spec.get("queue") or "default"))
    yield _pair("Min available", str(spec.get("minAvailable", 0)))
    yield _pair("Priority class", str(spec.get("priorityClassName") or NONE))
    yield _pair("Retries", f"{status.get('retryCount', 0)} of {spec.get('maxRetry', NONE)}")
    counts = _fields(status.get("taskStatusCount"))
    rows = []
    for task in _many_fields(spec.get("tasks")):
        phases = _fields(_fields(counts.get(str(task.get("name")))).get("phase"))
        rows.append(
            [
                str(task.get("name", "")),
                str(task.get("replicas", 0)),
                str(task.get("minAvailable", NONE)),
                listed(dict(sorted(phases.items()))),
            ]
        )
    if rows:
        table = Table(("TASK", "REPLICAS", "MINAVAILABLE", "PODS"), rows)
        yield from _table(described, "Tasks", table)


_HIGHLIGHTS: Mapping[tuple[str, str], Callable[[ObjectDescription], Lines]] = MappingProxyType(
    {
        ("", "Pod"): _pod,
        ("", "Node"): _node,
        ("scheduling.volcano.sh", "Queue"): _queue,
        ("scheduling.volcano.sh", "PodGroup"): _podgroup,
        ("batch.volcano.sh", "Job"): _job,
    }
)


def _conditions(described: ObjectDescription) -> Lines:
    conditions = _many_fields(_fields(described.document.get("status")).get("conditions"))
    rows = [
        [
            str(condition.get("type") or ""),
            str(condition.get("status") or ""),
            str(condition.get("lastTransitionTime") or NONE),
            str(condition.get("reason") or ""),
            " ".join(str(condition.get("message") or "").split()),
        ]
        for condition in conditions
    ]
    if rows:
        headers = ("TYPE", "STATUS", "SINCE", "REASON", "MESSAGE")
        table = Table(headers, rows, keep=("STATUS", "MESSAGE"))
        yield from _table(described, "Conditions", table)


def _related(described: ObjectDescription) -> Iterator[tuple[str, str, str, list[Entry]]]:
    """Yield (title, group, kind, objects) of the objects that belong to an object."""
    reference = described.entry.reference
    match (reference.group, reference.kind):
        case ("", "Node"):
            alive = _pods(described, lambda pod: pod.node == reference.name)
            # As in kubectl's description of a node.
            alive = [entry for entry in alive if getattr(entry.fact, "phase", "") not in _FINISHED]
            yield "Pods on it", "", "Pod", alive
        case ("scheduling.volcano.sh", "PodGroup"):
            yield "Pods", "", "Pod", _pods(described, lambda pod: pod.podgroup == reference.name)
        case ("scheduling.volcano.sh", "Queue"):
            yield "Child queues", _VOLCANO, "Queue", _queues_below(described, reference.name)
            yield "PodGroups", _VOLCANO, "PodGroup", _podgroups(described, reference.name)
        case ("batch.volcano.sh", "Job"):
            yield "Pods", "", "Pod", _pods(described, lambda pod: pod.job == reference.name)


def _pods(described: ObjectDescription, belongs: Callable[[PodFact], bool]) -> list[Entry]:
    """Return the pods that belong to an object: in its namespace, if it has one."""
    namespace = described.entry.reference.namespace or None
    pods = described.context.truth.of("", "Pod", namespace)
    return [entry for entry in pods if isinstance(entry.fact, PodFact) and belongs(entry.fact)]


def _podgroups(described: ObjectDescription, queue: str) -> list[Entry]:
    return [
        entry
        for entry in described.context.truth.of(_VOLCANO, "PodGroup")
        if isinstance(entry.fact, PodGroupFact) and (entry.fact.queue or "default") == queue
    ]


def _queues_below(described: ObjectDescription, parent: str) -> list[Entry]:
    return [
        entry
        for entry in described.context.truth.of(_VOLCANO, "Queue")
        if isinstance(entry.fact, QueueFact) and entry.fact.parent == parent
    ]


def _kubernetes_events(described: ObjectDescription, reference: Reference) -> list[Entry]:
    """Return Kubernetes's events about an object, the earliest first."""
    about = f"{reference.kind.lower()}/{reference.name}"
    events = [
        (entry.fact.summary[0], entry)
        # A log may have an event of Kubernetes in either of the groups that serve it.
        for group in ("", "events.k8s.io")
        for entry in described.context.truth.of(group, "Event")
        if isinstance(entry.fact, OtherFact)
        and len(entry.fact.summary) > 3
        and entry.fact.summary[3] == about
        and (not reference.namespace or entry.reference.namespace == reference.namespace)
    ]
    return [entry for _, entry in sorted(events, key=itemgetter(0))]


def _table(described: ObjectDescription, title: str, table: Table) -> Lines:
    """Yield a title, and a table below it, indented."""
    yield f"\n{described.style.bold(title)}\n"
    lines = lines_of(table, style=described.style.narrower(len(_INDENT)))
    yield from (f"{_INDENT}{line}" for line in lines)


def _pair(name: str, value: str) -> str:
    label = f"{name}:" if name else ""
    return f"{label:<{_WIDTH}}{value}\n"
