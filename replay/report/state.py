"""The state in a report: queues and what they use, jobs, PodGroups, nodes; cut where it is long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...engine.kubernetes.amount_texts import short_amount
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind, plural_of
from ...engine.state.facts import PodGroupFact, QueueFact, Resources
from ...engine.state.truth_fold import Entry, Truth
from ...engine.state.truth_tables import in_tree, queue_parents
from ..answers.amounts import in_order
from ..coverage.coverage import NotListed
from ..logs.moment_commands import MomentCommands
from ..pages.templates import rendered
from ..render.blocks import Block, CommandLine, Drawn, Sentence
from ..render.columns import TableContext, short_names, table_of

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


class Share(NamedTuple):
    """One resource of a queue: amounts as texts, and as shares of the largest one of the resource.

    :param depth: how many queues are above it. :param shares: by the name of the amount.
    """

    queue: str
    depth: int
    resource: str
    amounts: dict[str, str]
    shares: dict[str, float]


def state_blocks(truth: Truth, commands: MomentCommands, not_listed: NotListed) -> Iterator[Block]:
    """Yield the objects of a moment: what queues use, and each kind as ``get`` prints it."""
    context = TableContext(truth, not_listed=not_listed)
    shares = list(_shares(context))
    if shares:
        yield Drawn(rendered("shares.html", shares=shares[:MOST_SHARES], total=len(shares)))
    kinds = [kind for kind in _TITLES if truth.of(*kind)]
    for kind in kinds:
        yield from _table(context, kind, commands)
    if not kinds:
        yield Sentence("The log holds no queue, job, PodGroup or node at this moment.")


def _table(context: TableContext, kind: GroupKind, commands: MomentCommands) -> Iterator[Block]:
    """Yield the table of a kind, and its command; of many PodGroups, those that wait come first."""
    entries: Sequence[Entry] = context.truth.of(*kind)
    total, first = len(entries), kind == PODGROUP and len(entries) > MOST_ROWS
    if first:
        entries = sorted(entries, key=_runs)
    scoped, short = kind in CLUSTER_SCOPED, short_names(*kind, entries)
    table = table_of(context, *kind, entries[:MOST_ROWS], namespaces=not scoped, short=short)
    yield table._replace(title=_TITLES[kind], total=total)
    if first:
        yield Sentence("Shown are those that wait first.", "cut")
    words = ("get", plural_of(*kind), *(() if scoped else ("-A",)))
    yield CommandLine(commands.of_moment(*words))


def _runs(entry: Entry) -> bool:
    return isinstance(entry.fact, PodGroupFact) and entry.fact.phase not in WAITING


def _shares(context: TableContext) -> Iterator[Share]:
    """Yield what queues use and may use, each queue after the one above it."""
    table = context.queues
    by_queue: dict[str, dict[str, Resources]] = {}
    for row, entry in enumerate(context.truth.of(*QUEUE)):
        fact = entry.fact
        assert isinstance(fact, QueueFact), "the kind is Queue"
        used = dict(zip(table.resources, table.allocated[row].tolist(), strict=True))
        by_queue[entry.reference.name] = {
            "allocated": {name: amount for name, amount in used.items() if amount},
            "deserved": {name: amount for name, amount in fact.deserved.items() if amount},
            "guarantee": {name: amount for name, amount in fact.guarantee.items() if amount},
            "capability": fact.capability,
        }
    largest = _largest(by_queue)
    for depth, name in in_tree(queue_parents(context.truth)):
        amounts = by_queue[name]
        known = {resource for resources in amounts.values() for resource in resources} - {"pods"}
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


def _largest(by_queue: Mapping[str, Mapping[str, Resources]]) -> dict[str, float]:
    """Return the largest amount of each resource."""
    largest: dict[str, float] = {}
    for amounts in by_queue.values():
        for resources in amounts.values():
            for resource, amount in resources.items():
                largest[resource] = max(largest.get(resource, 0.0), amount)
    return largest
