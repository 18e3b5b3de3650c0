"""The state in a report: queues and what they use, jobs, PodGroups, nodes; cut where it is long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind, plural_of
from ...engine.state.facts import PodGroupFact, QueueFact, Resources
from ...engine.state.truth_fold import Entry, Truth
from ..answers.amounts import in_order
from ..coverage.coverage import NotListed
from ..render.columns import TableContext, short_names, table_of
from .commands import MomentCommands
from .report_records import Bounded, Share, State

MOST_ROWS = 40
MOST_SHARES = 60

QUEUE: GroupKind = ("scheduling.volcano.sh", "Queue")
PODGROUP: GroupKind = ("scheduling.volcano.sh", "PodGroup")
_TITLES: Mapping[GroupKind, str] = MappingProxyType(
    {
        QUEUE: "Queues",
        ("batch.volcano.sh", "Job"): "Jobs",
        PODGROUP: "PodGroups",
        ("", "Node"): "Nodes",
    }
)
WAITING = frozenset({"", "Pending", "Inqueue"})
"""The phases of PodGroups that wait."""

_AMOUNTS = ("allocated", "deserved", "guarantee", "capability")


def state_of(truth: Truth, commands: MomentCommands, not_listed: NotListed) -> State:
    """Return the objects of a moment, each kind as ``get`` prints it."""
    context = TableContext(truth, not_listed=not_listed)
    shares = list(_shares(context))
    return State(
        tables=tuple(
            _table(context, kind, title, commands)
            for kind, title in _TITLES.items()
            if truth.of(*kind)
        ),
        shares=tuple(shares[:MOST_SHARES]),
        more_shares=len(shares[MOST_SHARES:]),
    )


def _table(context: TableContext, kind: GroupKind, title: str, commands: MomentCommands) -> Bounded:
    """Return the table of a kind; of many PodGroups, those that wait come first."""
    entries: Sequence[Entry] = context.truth.of(*kind)
    total, order = len(entries), ""
    if total > MOST_ROWS and kind == PODGROUP:
        entries = sorted(entries, key=_runs)
        order = "those that wait first"
    scoped = kind in CLUSTER_SCOPED
    shown = entries[:MOST_ROWS]
    words = ["get", plural_of(*kind), *([] if scoped else ["-A"])]
    short = short_names(*kind, entries)
    table = table_of(context, *kind, shown, namespaces=not scoped, short=short)
    table = table._replace(title=title, total=total)
    return Bounded(table, commands.of_moment(*words), order)


def _runs(entry: Entry) -> bool:
    return isinstance(entry.fact, PodGroupFact) and entry.fact.phase not in WAITING


def _shares(context: TableContext) -> Iterator[Share]:
    """Yield what queues use and may use, each queue after the one above it."""
    table = context.queues
    held: dict[str, dict[str, Resources]] = {}
    for row, entry in enumerate(context.truth.of(*QUEUE)):
        fact = entry.fact
        assert isinstance(fact, QueueFact), "the kind is Queue"
        used = dict(zip(table.resources, table.allocated[row].tolist(), strict=True))
        held[entry.reference.name] = {
            "allocated": {name: amount for name, amount in used.items() if amount},
            "deserved": {name: amount for name, amount in fact.deserved.items() if amount},
            "guarantee": {name: amount for name, amount in fact.guarantee.items() if amount},
            "capability": fact.capability,
        }
    largest = _largest(held)
    for name, depth in _tree(context.truth):
        amounts = held[name]
        known = {resource for some in amounts.values() for resource in some} - {"pods"}
        for resource in in_order(known):
            yield Share(
                name,
                depth,
                resource,
                {
                    which: short_amount(resource, amounts[which][resource])
                    for which in _AMOUNTS
                    if resource in amounts[which]
                },
                {
                    which: amounts[which][resource] / (largest[resource] or 1)
                    for which in _AMOUNTS
                    if resource in amounts[which]
                },
            )


def _largest(held: Mapping[str, Mapping[str, Resources]]) -> dict[str, float]:
    """Return the largest amount of each resource."""
    found: dict[str, float] = {}
    for amounts in held.values():
        for some in amounts.values():
            for resource, amount in some.items():
                found[resource] = max(found.get(resource, 0.0), amount)
    return found


def _tree(truth: Truth) -> Iterator[tuple[str, int]]:
    """Yield queues and how many are above each; those on a circle of parents come last."""
    children: dict[str, list[str]] = {}
    names = set()
    for entry in truth.of(*QUEUE):
        fact = entry.fact
        names.add(entry.reference.name)
        parent = fact.parent if isinstance(fact, QueueFact) else ""
        children.setdefault(parent, []).append(entry.reference.name)
    roots = [name for parent, some in children.items() if parent not in names for name in some]
    seen: set[str] = set()
    left = [(name, 0) for name in sorted(roots, reverse=True)]
    while left or len(seen) < len(names):
        name, depth = left.pop() if left else (min(names - seen), 0)
        if name not in seen:
            seen.add(name)
            yield name, depth
            below = sorted(children.get(name, ()), reverse=True)
            left += [(one, depth + 1) for one in below]
