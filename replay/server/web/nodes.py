"""The page of nodes: what the API server held beside what the scheduler's cache held.

It has a template, as no other table has heads over heads, and both sides of a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from ....engine.cache.cache import SchedulerCache
from ....engine.errors import UsageError
from ....engine.kubernetes.amount_texts import short_amount
from ....engine.state.facts import NodeFact
from ....engine.state.object_status import status_of
from ....engine.state.truth_fold import Truth
from ....engine.state.truth_tables import NodeAmounts, node_table
from ....engine.volcano.session.history import resolve
from ...answers.amounts import in_order
from ...belief.logged_drift import CacheDifference, Drift, both_at
from ...coverage.coverage import NotListed
from ...facade.documents import document
from ...facade.log import Log
from ...facade.options import release_of
from ...plot.compose import level_of
from ...plot.picture import LEVELS
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


class Differs(msgspec.Struct, frozen=True, kw_only=True):
    """A difference between the two sides.

    :param object: as links name it, as in ``pod/ml/train-0``. :param field: empty for the object.
    :param truth: and ``belief``: None where it does not exist.
    :param since: the position of the event that caused it.
    """

    object: str
    field: str
    truth: str | None
    belief: str | None
    since: int


class NodeLine(msgspec.Struct, frozen=True, kw_only=True):
    """A node on both sides; None where it does not exist."""

    name: str
    truth: NodeSide | None
    belief: NodeSide | None
    differences: tuple[Differs, ...]


class HeatCell(msgspec.Struct, frozen=True, kw_only=True):
    """A node in the heat map. :param level: a place among the levels, -1 if it has none of it.

    :param unknown: its share is not known.
    """

    name: str
    level: int
    percent: int
    unknown: bool = False


class ShareClass(msgspec.Struct, frozen=True, kw_only=True):
    """A class of shares, and how many nodes are in it."""

    label: str
    nodes: int


class NodesPage(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes of a moment, as the API server and the cache of a release held them.

    :param resource: that amounts are of. :param drifted: how many nodes differ.
    :param others: what differs besides nodes.
    :param crashes: the panics of the scheduler up to then.
    """

    at: str
    release: str
    resource: str
    resources: tuple[str, ...]
    only_drift: bool
    name: str
    nodes: int
    drifted: int
    lines: Some[NodeLine]
    cells: tuple[HeatCell, ...]
    levels: tuple[ShareClass, ...]
    others: Some[Differs]
    crashes: tuple[str, ...]
    not_known: tuple[str, ...]
    drift: Drift


def _json(found: NodesPage) -> Any:
    """Return both sides and their differences, as the commands print them."""
    return {
        "at": found.at,
        "release": found.release,
        "nodes": [_line_document(one) for one in found.lines.rows],
        "skip": found.lines.skip,
        "total": found.lines.total,
        "drift": document(found.drift),
        "not_known": list(found.not_known),
    }


def _line_document(line: NodeLine) -> Any:
    made: Any = msgspec.to_builtins(line)
    return made


@page("nodes", template="nodes.html", title="Nodes", nav="Nodes", key="n", long=True, json=_json)
def nodes(log: Log, look: Look) -> NodesPage:
    """Return the nodes of both sides."""
    moment = log.moment(look.at)
    reach_cache(log, moment, [look.release])
    behaviours = resolve(release_of(look.release, assume=False))
    truth = log.truth(moment)
    cache, drift = both_at(log.store, moment, behaviours)
    unknown = NotListed(log, moment)(POD)
    sides = _Sides(truth, cache, drift, look.get("resource", "cpu"), unknown=unknown)
    lines = list(sides.lines())
    shown = [
        one
        for one in lines
        if (one.differences or look.get("show") != DRIFTED) and look.filter in one.name
    ]
    cells = tuple(sides.cells())
    counts = Counter(one.level for one in cells)
    return NodesPage(
        at=look.at,
        release=drift.release,
        resource=sides.resource,
        resources=tuple(sides.resources),
        only_drift=look.get("show") == DRIFTED,
        name=look.filter,
        nodes=len(lines),
        drifted=sum(bool(one.differences) for one in lines),
        lines=some(shown, number(look, "skip")),
        cells=cells[:MOST_CELLS],
        levels=tuple(
            ShareClass(label=one.label, nodes=counts[place]) for place, one in enumerate(LEVELS)
        ),
        others=some(list(sides.others()), number(look, "more")),
        crashes=tuple(drift.crashes),
        not_known=gaps(log, moment, (NODE, POD)),
        drift=drift,
    )


class _Sides:
    """Both sides of a moment, for one resource.

    :raises UsageError: no node has it.
    """

    def __init__(
        self,
        truth: Truth,
        cache: SchedulerCache,
        drift: Drift,
        resource: str,
        *,
        unknown: bool,
    ) -> None:
        """Compare them.

        :param unknown: there may be pods that the log does not know.
        """
        self._cache, self.resource, self._unknown = cache, resource, unknown
        self._table: NodeAmounts = node_table(truth)
        self._facts = {
            one.reference.name: one.fact
            for one in truth.of(*NODE)
            if isinstance(one.fact, NodeFact)
        }
        known = {name for fact in self._facts.values() for name in fact.allocatable}
        self.resources = in_order(known | {"cpu"})
        if resource not in self.resources:
            raise UsageError(
                f"no node has {resource!r}", now=f"choose from: {', '.join(self.resources)}"
            )
        self._drift = list(map(_differs, drift.differences))
        self._of_node: dict[str, list[Differs]] = {}
        for one in self._drift:
            if one.object.startswith("node/"):
                self._of_node.setdefault(one.object.partition("/")[2], []).append(one)

    def lines(self) -> Iterator[NodeLine]:
        """Yield the nodes of either side, by name."""
        rows = {name: row for row, name in enumerate(self._table.names)}
        for name in sorted({*rows, *self._cache.nodes}):
            yield NodeLine(
                name=name,
                truth=self._truth(name, rows[name]) if name in rows else None,
                belief=self._belief(name),
                differences=tuple(self._of_node.get(name, ())),
            )

    def others(self) -> Iterator[Differs]:
        """Yield the differences that are not of nodes."""
        return (one for one in self._drift if not one.object.startswith("node/"))

    def cells(self) -> Iterator[HeatCell]:
        """Yield the nodes of the API server, by name."""
        for row, name in enumerate(self._table.names):
            used, total = self._amounts(row)
            unknown = self._unknown and not used
            if not total or unknown:
                yield HeatCell(name=name, level=-1, percent=0, unknown=unknown)
            else:
                share = used / total
                yield HeatCell(name=name, level=level_of(share), percent=round(100 * share))

    def _amounts(self, row: int) -> tuple[float, float]:
        table = self._table
        if self.resource not in table.resources:
            return 0.0, 0.0
        column = table.resources.index(self.resource)
        return float(table.used[row, column]), float(table.allocatable[row, column])

    def _truth(self, name: str, row: int) -> NodeSide:
        used, total = self._amounts(row)
        pods = int(self._table.pods[row])
        return NodeSide(
            state=status_of(self._facts[name]),
            pods=pods,
            unknown=self._unknown and not pods,
            used=short_amount(self.resource, used),
            allocatable=short_amount(self.resource, total),
        )

    def _belief(self, name: str) -> NodeSide | None:
        node = self._cache.nodes.get(name)
        if node is None:
            return None
        amounts = {
            what: short_amount(self.resource, getattr(node, what).get(self.resource))
            for what in ("used", "allocatable", "idle")
        }
        unknown = self._unknown and not node.tasks
        state = node.reason or ("Skipped" if node.skipped else "Ready")
        return NodeSide(state=state, pods=len(node.tasks), unknown=unknown, **amounts)


def _differs(one: CacheDifference) -> Differs:
    return Differs(
        object=f"{one.kind.lower()}/{one.name}",
        field=one.field,
        truth=one.truth,
        belief=one.belief,
        since=one.since,
    )


PAGES = (nodes,)
