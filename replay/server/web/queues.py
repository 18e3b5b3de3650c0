"""The page of queues: the tree, with what each queue holds, has reserved, and may have.

Its table has a template: it is a tree, with a picture in each row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ....engine.kubernetes.amount_texts import in_one_unit
from ....engine.kubernetes.counts import counted
from ....engine.state.facts import PodGroupFact, QueueFact, Resources
from ....engine.state.truth_tables import queue_parents, queues_from
from ...answers.amounts import in_order
from ...coverage.coverage import NotListed
from ...facade.log import Log
from ...render.amounts import UNKNOWN
from ...render.blocks import Ref, Section, Sentence, Words
from ...render.columns import TableContext, not_zero
from ...series.queue_totals import Tree
from .blocks import BlockPage, drawn, nothing, paged
from .look import Look
from .notes import POD, PODGROUP, QUEUE, gaps
from .page import page

AMOUNTS = ("allocated", "inqueue", "deserved", "capability", "guarantee")
_LIMITS = ("capability", "deserved", "guarantee")
_QUOTAS = ("requests.", "limits.", "count/")
"""How a PodGroup writes what quotas count: the same amounts under other names."""


class ExceededLimit(msgspec.Struct, frozen=True, kw_only=True):
    """A limit of a queue that is above that of a queue it is in."""

    what: str
    parent: str
    amount: str


class QueueLine(msgspec.Struct, frozen=True, kw_only=True):
    """One resource of one queue, together with the queues below it.

    :param first: of the lines of its queue. :param missing: the parent that does not exist.
    :param waiting: how many PodGroups of the queue itself are Pending; ``enqueued``: Inqueue.
    :param pods_unknown: there may be pods beside those that are counted.
    :param amounts: as texts, by name; only those that there are, or that are not known.
    :param limit: whose limit holds, and how much it is; without any, what all nodes have.
    :param shares: the amounts in percent of it, where it is known. :param limited: it is a limit.
    :param full: what is held reaches the capability: sessions compare these before they place a
        pod. :param reserved: only what is held and reserved together reaches it: sessions compare
        their sum before they enqueue a job.
    """

    queue: str
    first: bool
    depth: int
    parent: str
    missing: bool
    state: str
    weight: int
    pods: int
    pods_unknown: bool
    waiting: int
    enqueued: int
    resource: str
    amounts: Mapping[str, str]
    limit: str
    limited: bool
    shares: Mapping[str, float]
    full: bool
    reserved: bool
    above: tuple[ExceededLimit, ...]


@page("queues", "Queues", nav="Queues", key="q", takes=("skip",))
def queues(log: Log, look: Look) -> BlockPage:
    """Return the tree of queues."""
    moment = log.moment(look.at)
    tree = _Queues(TableContext(log.truth(moment), not_listed=NotListed(log, moment)))
    lines, pager = paged(look, list(tree.lines()), "lines", name="skip")
    not_known = gaps(log, moment, (QUEUE, PODGROUP, POD))

    def sections() -> Iterator[Section]:
        if not tree.facts:
            yield Section([nothing(look, "queue")])
            return
        below = (
            f"{counted(len(tree.facts), 'queue')}; a queue holds what the queues below it hold. "
        )
        over_time = Ref("Queues over time", "queues/over-time")
        entitled = Ref("What each is entitled to", "shares")
        said = Sentence(Words(below, entitled, " · ", over_time))
        yield Section([said, drawn(look, "queues.html", lines=lines.rows, pager=pager)])

    data = {"queues": len(tree.facts), "lines": lines, "not_known": not_known}
    return BlockPage("Queues", sections, data, not_known=not_known)


class HoldingLimit(NamedTuple):
    """What the bar of a queue compares with.

    :param whose: in words. :param limits: it is a limit; else it is only what there is.
    """

    whose: str
    amount: float
    limits: bool


class _Queues:
    """The queues of a moment, and what is in them."""

    def __init__(self, context: TableContext) -> None:
        self._context = context
        self._unknown = {
            "allocated": context.held_unknown,
            "inqueue": context.not_listed(PODGROUP, None),
        }
        self.facts = {
            entry.reference.name: entry.fact
            for entry in context.truth.of(*QUEUE)
            if isinstance(entry.fact, QueueFact)
        }
        self._parents = queue_parents(context.truth)
        nodes = context.nodes
        self._of_nodes = dict(
            zip(nodes.resources, nodes.allocatable.sum(axis=0).tolist(), strict=True)
        )
        self._phases = Counter[tuple[str, str]]()
        self._reserved = defaultdict[str, dict[str, float]](dict)
        for entry in context.truth.of(*PODGROUP):
            if isinstance(entry.fact, PodGroupFact):
                self._add(entry.fact)

    def _add(self, group: PodGroupFact) -> None:
        """Count a PodGroup; if it is enqueued, its queue and those above reserve something."""
        queue, phase = group.queue or "default", group.phase or "Pending"
        self._phases[queue, phase] += 1
        for name in queues_from(queue, self._parents) if phase == "Inqueue" else ():
            reserved = self._reserved[name]
            for resource, amount in group.min_resources.items():
                reserved[resource] = reserved.get(resource, 0.0) + amount

    def lines(self) -> Iterator[QueueLine]:
        """Yield a line for each resource that a queue has, or one if it has none."""
        tree = Tree()
        for name, fact in self.facts.items():
            tree.put(name, fact)
        for depth, name in tree.walk():
            amounts = self._amounts(name)
            known = {
                resource_name for resources in amounts.values() for resource_name in resources
            } - {"pods"}
            names = in_order(
                resource_name for resource_name in known if not resource_name.startswith(_QUOTAS)
            )
            for place, resource in enumerate(names or [""]):
                of_resource = {
                    column: resources.get(resource, 0.0)
                    for column, resources in amounts.items()
                    if resource in resources or (resource and column in self._unknown)
                }
                yield self._line(name, depth, resource, of_resource, first=not place)

    def _amounts(self, name: str) -> Mapping[str, Resources]:
        """Return the amounts of a queue that there are, in the order of the columns."""
        fact = self.facts[name]
        return {
            "allocated": self._context.allocated_of(name),
            "inqueue": not_zero(self._reserved[name]),
            "deserved": not_zero(fact.deserved),
            "capability": fact.capability,
            "guarantee": not_zero(fact.guarantee),
        }

    def _line(
        self, name: str, depth: int, resource: str, amounts: Resources, *, first: bool
    ) -> QueueLine:
        fact, pods = self.facts[name], self._context.pods_of(name)
        allocated, limit = amounts.get("allocated", 0.0), fact.capability.get(resource)
        full = limit is not None and allocated >= limit
        taken = allocated + amounts.get("inqueue", 0.0)
        holds = self._limit(name, resource)
        said = "" if holds is None else f"{self._text(resource, holds.amount)} {resource}"
        return QueueLine(
            queue=name,
            first=first,
            depth=depth,
            parent=fact.parent,
            missing=bool(fact.parent) and fact.parent not in self.facts,
            state=fact.state,
            weight=fact.weight,
            pods=pods,
            pods_unknown=not pods and self._unknown["allocated"],
            waiting=self._phases[name, "Pending"],
            enqueued=self._phases[name, "Inqueue"],
            resource=resource,
            amounts=self._texts(resource, amounts),
            limit="" if holds is None else f"{holds.whose} {said}",
            limited=holds is not None and holds.limits,
            shares=_shares(amounts, 0.0 if holds is None else holds.amount),
            full=full,
            reserved=limit is not None and taken >= limit and not full,
            above=tuple(self._above(name, resource)),
        )

    def _texts(self, resource: str, amounts: Mapping[str, float]) -> Mapping[str, str]:
        """Return amounts as texts; none is not known where the log does not know what there is."""
        unknown = {column: UNKNOWN for column, is_unknown in self._unknown.items() if is_unknown}
        return unknown | {
            column: self._text(resource, amount)
            for column, amount in amounts.items()
            if amount or column not in unknown
        }

    def _text(self, resource: str, amount: float) -> str:
        return self._units[resource](amount)

    @cached_property
    def _units(self) -> Mapping[str, Callable[[float], str]]:
        """How amounts of each resource are said: in one unit, whatever the queue."""
        found = defaultdict[str, list[float]](list)
        for name in self.facts:
            for resources in self._amounts(name).values():
                for resource, amount in resources.items():
                    found[resource].append(amount)
        for resource, amount in self._of_nodes.items():
            found[resource].append(amount)
        return {resource: in_one_unit(resource, found[resource]) for resource in found}

    def _limit(self, name: str, resource: str) -> HoldingLimit | None:
        """Return the least limit of a queue and those above it; else what all nodes have."""
        capabilities = [
            (self.facts[queue].capability[resource], queue)
            for queue in queues_from(name, self._parents)
            if queue in self.facts and resource in self.facts[queue].capability
        ]
        if capabilities:
            amount, queue = min(capabilities, key=lambda limit: limit[0])
            return HoldingLimit(
                "its capability" if queue == name else f"that of {queue}", amount, limits=True
            )
        amount = self._of_nodes.get(resource, 0.0)
        return HoldingLimit("all nodes have", amount, limits=False) if amount else None

    def _above(self, name: str, resource: str) -> Iterator[ExceededLimit]:
        """Yield the limits that are above those of the nearest queue above that has one."""
        fact = self.facts[name]
        for limit_name in _LIMITS:
            own = getattr(fact, limit_name).get(resource)
            if not own:
                continue
            above = (queue for queue in queues_from(name, self._parents)[1:] if queue in self.facts)
            limits = (
                (queue, getattr(self.facts[queue], limit_name).get(resource)) for queue in above
            )
            parent, limit = next(
                (named_limit for named_limit in limits if named_limit[1] is not None), ("", own)
            )
            if own > limit:
                amount = self._text(resource, limit)
                yield ExceededLimit(what=limit_name, parent=parent, amount=amount)


def _shares(amounts: Mapping[str, float], whole: float) -> Mapping[str, float]:
    """Return amounts in percent of the limit that holds; without any there are none."""
    if whole <= 0:
        return MappingProxyType({})
    return {column: round(100 * amount / whole, 1) for column, amount in amounts.items()}
