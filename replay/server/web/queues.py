"""The page of queues: the tree, with what each queue holds, has reserved, and may have.

It has a template: its table is a tree, with a picture in each row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import msgspec

from ....engine.kubernetes.amount_texts import short_amount
from ....engine.state.facts import PodFact, PodGroupFact, QueueFact
from ....engine.state.truth_fold import Truth
from ....engine.state.truth_tables import queue_by_podgroup
from ...answers.amounts import in_order
from ...coverage.coverage import NotListed
from ...facade.log import Log
from ...render.amounts import UNKNOWN
from ...series.queue_totals import Tree
from .bounded import Some, number, some
from .look import Look
from .notes import POD, PODGROUP, QUEUE, gaps
from .page import page

AMOUNTS = ("allocated", "inqueue", "deserved", "capability", "guarantee")
_LIMITS = ("capability", "deserved", "guarantee")
_ENDED = frozenset({"Succeeded", "Failed"})
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
    :param shares: the same in percent of the width of the bar.
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
    shares: Mapping[str, float]
    full: bool
    reserved: bool
    above: tuple[ExceededLimit, ...]


class QueuesPage(msgspec.Struct, frozen=True, kw_only=True):
    """All queues, parents before their children. :param queues: how many there are."""

    queues: int
    lines: Some[QueueLine]
    not_known: tuple[str, ...]


@page("queues", template="queues.html", title="Queues", nav="Queues", key="q")
def queues(log: Log, look: Look) -> QueuesPage:
    """Return the tree of queues."""
    moment = log.moment(look.at)
    tree = _Queues(log.truth(moment), NotListed(log, moment))
    return QueuesPage(
        queues=len(tree.facts),
        lines=some(list(tree.lines()), number(look, "skip")),
        not_known=gaps(log, moment, (QUEUE, PODGROUP, POD)),
    )


class _Queues:
    """The queues of a moment, and what is in them."""

    def __init__(self, truth: Truth, not_listed: NotListed) -> None:
        groups = not_listed(PODGROUP)
        self._unknown = {"allocated": groups or not_listed(POD), "inqueue": groups}
        self.facts = {
            entry.reference.name: entry.fact
            for entry in truth.of(*QUEUE)
            if isinstance(entry.fact, QueueFact)
        }
        self._phases = dict[tuple[str, str], int]()
        self._held, self._reserved = dict[str, Tree](), dict[str, Tree]()
        self._shape = Tree()  # and in it, how many pods there are
        for name, fact in self.facts.items():
            self._shape.put(name, fact)
        self._add_pods(truth)
        self._add_groups(truth)

    def _tree(self, trees: dict[str, Tree], resource: str) -> Tree:
        if resource not in trees:
            trees[resource] = Tree()
            for name, fact in self.facts.items():
                trees[resource].put(name, fact)
        return trees[resource]

    def _add_pods(self, truth: Truth) -> None:
        queue_of = queue_by_podgroup(truth)
        for entry in truth.of(*POD):
            fact = entry.fact
            if not isinstance(fact, PodFact) or not fact.node or fact.phase in _ENDED:
                continue
            queue = queue_of.get((entry.reference.namespace, fact.podgroup), fact.queue)
            self._shape.add(queue, 1)
            for resource, amount in fact.requests.items():
                self._tree(self._held, resource).add(queue, amount)

    def _add_groups(self, truth: Truth) -> None:
        for entry in truth.of(*PODGROUP):
            fact = entry.fact
            if not isinstance(fact, PodGroupFact):
                continue
            key = (fact.queue or "default", fact.phase or "Pending")
            self._phases[key] = self._phases.get(key, 0) + 1
            if fact.phase == "Inqueue":
                for resource, amount in fact.min_resources.items():
                    self._tree(self._reserved, resource).add(key[0], amount)

    def lines(self) -> Iterator[QueueLine]:
        """Yield a line for each resource that a queue has, or one if it has none."""
        for depth, name in self._shape.walk():
            names = in_order(self._resources(name)) or [""]
            for place, resource in enumerate(names):
                yield self._line(name, depth, resource, first=not place)

    def _resources(self, name: str) -> set[str]:
        """Return the resources of which a queue has or may have something."""
        fact = self.facts[name]
        promised = (*fact.deserved.items(), *fact.guarantee.items())
        found = {*fact.capability, *(one for one, much in promised if much)}
        for trees in (self._held, self._reserved):
            found |= {one for one, tree in trees.items() if tree.total(name)}
        return {one for one in found - {"pods"} if not one.startswith(_QUOTAS)}

    def _line(self, name: str, depth: int, resource: str, *, first: bool) -> QueueLine:
        fact = self.facts[name]
        amounts = self._amounts(name, resource)
        held, limit = amounts.get("allocated", 0.0), fact.capability.get(resource)
        full = limit is not None and held >= limit
        taken = held + amounts.get("inqueue", 0.0)
        return QueueLine(
            queue=name,
            first=first,
            depth=depth,
            parent=fact.parent,
            missing=bool(fact.parent) and fact.parent not in self.facts,
            state=fact.state,
            weight=fact.weight,
            pods=(pods := int(self._shape.total(name))),
            pods_unknown=not pods and self._unknown["allocated"],
            waiting=self._phases.get((name, "Pending"), 0),
            enqueued=self._phases.get((name, "Inqueue"), 0),
            resource=resource,
            amounts=self._texts(resource, amounts),
            shares=_shares(amounts),
            full=full,
            reserved=limit is not None and taken >= limit and not full,
            above=tuple(self._above(name, resource)),
        )

    def _amounts(self, name: str, resource: str) -> dict[str, float]:
        """Return the amounts of a resource, those that there are, in the order of the columns."""
        if not resource:
            return {}
        trees = {"allocated": self._held, "inqueue": self._reserved}
        found = {
            what: some[resource].total(name) if resource in some else 0.0
            for what, some in trees.items()
        }
        fact = self.facts[name]
        limits = {what: getattr(fact, what).get(resource) for what in AMOUNTS[2:]}
        limits = {what: one for what, one in limits.items() if one or what == "capability"}
        return found | {what: amount for what, amount in limits.items() if amount is not None}

    def _texts(self, resource: str, amounts: Mapping[str, float]) -> Mapping[str, str]:
        """Return amounts as texts; none is not known where the log does not know what there is."""
        unknown = {what: UNKNOWN for what, one in self._unknown.items() if one}
        return unknown | {
            what: short_amount(resource, amount)
            for what, amount in amounts.items()
            if amount or what not in unknown
        }

    def _above(self, name: str, resource: str) -> Iterator[ExceededLimit]:
        """Yield the limits that are above those of the nearest queue above that has one."""
        fact = self.facts[name]
        for what in _LIMITS:
            own = getattr(fact, what).get(resource)
            if not own:
                continue
            for parent in self._parents(name):
                theirs = getattr(self.facts[parent], what).get(resource)
                if theirs is not None:
                    if own > theirs:
                        amount = short_amount(resource, theirs)
                        yield ExceededLimit(what=what, parent=parent, amount=amount)
                    break

    def _parents(self, name: str) -> Iterator[str]:
        seen = {name}
        while (name := self.facts[name].parent) in self.facts and name not in seen:
            seen.add(name)
            yield name


def _shares(amounts: Mapping[str, float]) -> Mapping[str, float]:
    """Return amounts in percent of the widest: the capability, or without one the largest.

    Without any limit there is nothing to compare with, so there are none.
    """
    if not any(limit in amounts for limit in _LIMITS):
        return MappingProxyType({})
    taken = amounts.get("allocated", 0.0) + amounts.get("inqueue", 0.0)
    whole = max(amounts.get("capability", 0.0), taken)
    if "capability" not in amounts:
        whole = max(whole, amounts.get("deserved", 0.0), amounts.get("guarantee", 0.0))
    if whole <= 0:
        return MappingProxyType({})
    return {what: round(min(100.0, 100 * one / whole), 1) for what, one in amounts.items()}


PAGES = (queues,)
