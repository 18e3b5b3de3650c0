"""The page of nodes: what the API server held beside what the scheduler's cache held.

It has a template, as no other table has heads over heads, and both sides of a row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ....engine.cache.cache import SchedulerCache
from ....engine.errors import UsageError
from ....engine.kubernetes.amount_texts import short_amount
from ....engine.state.facts import NodeFact
from ....engine.state.object_status import status_of
from ....engine.volcano.session.history import resolve
from ...answers.amounts import in_order
from ...belief.logged_drift import CacheDifference, Drift, both_at
from ...coverage.coverage import NotListed
from ...facade.documents import document
from ...facade.log import Log
from ...facade.options import release_of
from ...plot.compose import level_of
from ...plot.picture import LEVELS
from ...render.amounts import UNKNOWN
from ...render.columns import TableContext
from ..reach import reach_cache
from .bounded import Some, number, some
from .look import Look
from .notes import NODE, POD, gaps
from .page import page

MOST_CELLS = 5000
"""Nodes in the heat map."""

DRIFTED = "drift"


class NodeSide(msgspec.Struct, frozen=True, kw_only=True):
    """A node on one side: its state and one resource; amounts as texts.

    :param idle: as the scheduler counts it; empty for the API server, which has none.
    :param unknown: there may be pods on it, of which the log knows none.
    """

    state: str
    pods: int
    used: str
    allocatable: str
    idle: str = ""
    unknown: bool = False


class NodeLine(msgspec.Struct, frozen=True, kw_only=True):
    """A node on both sides; None where it does not exist."""

    name: str
    truth: NodeSide | None
    belief: NodeSide | None
    differences: Sequence[CacheDifference]


class HeatCell(NamedTuple):
    """A node in the heat map. :param level: a place among the levels, -1 if it has no share."""

    name: str
    level: int
    share: str


class NodesPage(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes of a moment, as the API server and the cache of a release held them.

    :param resource: that amounts are of. :param drifted: how many nodes differ.
    :param levels: of the heat map that there are: their places, words and how many nodes.
    :param others: what differs besides nodes.
    """

    at: str
    resource: str
    resources: Sequence[str]
    nodes: int
    drifted: int
    lines: Some[NodeLine]
    cells: Sequence[HeatCell]
    levels: Sequence[tuple[int, str, int]]
    others: Some[CacheDifference]
    not_known: tuple[str, ...]
    drift: Drift


def _json(found: NodesPage) -> Any:
    """Return both sides and their differences, as the commands print them."""
    return {
        "at": found.at,
        "release": found.drift.release,
        "nodes": [_line_document(one) for one in found.lines.rows],
        "skip": found.lines.skip,
        "total": found.lines.total,
        "drift": document(found.drift),
        "not_known": list(found.not_known),
    }


def _line_document(line: NodeLine) -> dict[str, Any]:
    differences = [
        {
            "object": one.object,
            "field": one.field,
            "truth": one.truth,
            "belief": one.belief,
            "since": one.since,
        }
        for one in line.differences
    ]
    return {**msgspec.to_builtins(line), "differences": differences}


@page("nodes", template="nodes.html", title="Nodes", nav="Nodes", key="n", long=True, json=_json)
def nodes(log: Log, look: Look) -> NodesPage:
    """Return the nodes of both sides.

    :raises UsageError: no node has the resource.
    """
    moment = log.moment(look.at)
    reach_cache(log, moment, [look.release])
    behaviours = resolve(release_of(look.release, assume=False))
    context = TableContext(log.truth(moment), not_listed=NotListed(log, moment))
    cache, drift = both_at(log.store, moment, behaviours)
    sides = _Sides(context, cache, look.get("resource", "cpu"))
    lines = list(sides.lines(drift.differences))
    others = [one for one in drift.differences if one.kind != NODE[1]]
    shown = [
        one
        for one in lines
        if (one.differences or look.get("show") != DRIFTED) and look.filter in one.name
    ]
    cells = list(sides.cells())
    counts = Counter(one.level for one in cells)
    return NodesPage(
        at=look.at,
        resource=sides.resource,
        resources=sides.resources,
        nodes=len(lines),
        drifted=sum(bool(one.differences) for one in lines),
        lines=some(shown, number(look, "skip")),
        cells=cells[:MOST_CELLS],
        levels=[
            (level, one.label, counts[level]) for level, one in enumerate(LEVELS) if counts[level]
        ],
        others=some(others, number(look, "more")),
        not_known=gaps(log, moment, (NODE, POD)),
        drift=drift,
    )


class _Sides:
    """Both sides of a moment, for one resource.

    :raises UsageError: no node has it.
    """

    def __init__(self, context: TableContext, cache: SchedulerCache, resource: str) -> None:
        self._context, self._cache, self.resource = context, cache, resource
        self._table, self._unknown = context.nodes, context.pods_unknown
        self._facts = {
            one.reference.name: one.fact
            for one in context.truth.of(*NODE)
            if isinstance(one.fact, NodeFact)
        }
        known = {name for fact in self._facts.values() for name in fact.allocatable}
        self.resources = in_order(known | {"cpu"})
        if resource not in self.resources:
            raise UsageError(
                f"no node has {resource!r}", now=f"choose from: {', '.join(self.resources)}"
            )

    def lines(self, differences: Iterable[CacheDifference]) -> Iterator[NodeLine]:
        """Yield the nodes of either side, by name, with those of the differences that they have."""
        of_node = defaultdict[str, list[CacheDifference]](list)
        for one in differences:
            if one.kind == NODE[1]:
                of_node[one.name].append(one)
        for name in sorted({*self._facts, *self._cache.nodes}):
            yield NodeLine(
                name=name,
                truth=self._truth(name) if name in self._facts else None,
                belief=self._belief(name) if name in self._cache.nodes else None,
                differences=of_node[name],
            )

    def cells(self) -> Iterator[HeatCell]:
        """Yield the nodes of the API server, by name."""
        for name in self._table.names:
            used, total = self._amounts(name)
            if self._unknown and not used:
                yield HeatCell(name, -1, UNKNOWN)
            else:
                share = used / total if total else 0.0
                yield HeatCell(name, level_of(share) if total else -1, f"{round(100 * share)}%")

    def _amounts(self, name: str) -> tuple[float, float]:
        """Return how much of the resource is used of a node, and how much is allocatable."""
        table, row = self._table, self._context.node_rows[name]
        if self.resource not in table.resources:
            return 0.0, 0.0
        column = table.resources.index(self.resource)
        return float(table.used[row, column]), float(table.allocatable[row, column])

    def _truth(self, name: str) -> NodeSide:
        used, total = self._amounts(name)
        pods = int(self._table.pods[self._context.node_rows[name]])
        return NodeSide(
            state=status_of(self._facts[name]),
            pods=pods,
            unknown=self._unknown and not pods,
            used=short_amount(self.resource, used),
            allocatable=short_amount(self.resource, total),
        )

    def _belief(self, name: str) -> NodeSide:
        node = self._cache.nodes[name]
        amounts = {
            what: short_amount(self.resource, getattr(node, what).get(self.resource))
            for what in ("used", "allocatable", "idle")
        }
        unknown = self._unknown and not node.tasks
        state = node.reason or ("Skipped" if node.skipped else "Ready")
        return NodeSide(state=state, pods=len(node.tasks), unknown=unknown, **amounts)


PAGES = (nodes,)
