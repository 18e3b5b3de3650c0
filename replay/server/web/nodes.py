"""The page of nodes: what the API server held beside what the scheduler's cache held.

Its table has a template, as no other has heads over heads, and both sides of a row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from ....engine.cache.cache import SchedulerCache
from ....engine.errors import UsageError
from ....engine.kubernetes.amount_texts import in_one_unit
from ....engine.kubernetes.counts import counted
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
from ...render.blocks import (
    Block,
    ItemList,
    ListedItem,
    Marked,
    Ref,
    Section,
    Sentence,
    Words,
    chip,
    here_ref,
    moment_ref,
    object_ref,
)
from ...render.columns import TableContext
from ...render.documents import plain
from ...render.tables import NONE, TextColumn, table_of
from ..reach import reach_cache
from .blocks import BlockPage, drawn, nothing, paged
from .bounded import Some
from .forms import FormField, choices_of, form
from .look import Look
from .notes import NODE, POD, gaps
from .page import page
from .sorting import Columns, sort_heads

MOST_CELLS = 5000
"""Nodes in the heat map."""

MANY = 1000
"""Of more nodes, the heat map has longer rows, so that it is not higher than the screen."""

DRIFTED = "drift"

ONLY_CACHED = "only in the cache"


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


@page(
    "nodes",
    "Nodes",
    nav="Nodes",
    key="n",
    long=True,
    takes=("resource", "show", "state", "q", "skip", "more", "sort", "sort_more"),
)
def nodes(log: Log, look: Look) -> BlockPage:
    """Return the nodes of both sides.

    :raises UsageError: no node has the resource.
    """
    moment = log.moment(look.at)
    reach_cache(log, moment, [look.release])
    behaviours = resolve(release_of(look.release, assume=False))
    context = TableContext(log.truth(moment), not_listed=NotListed(log, moment))
    cache, drift = both_at(log.store, moment, behaviours)
    sides = _Sides(context, cache, look.get("resource", "cpu"))
    every = list(sides.lines(drift.differences))
    shown = [
        node_line
        for node_line in every
        if (node_line.differences or look.get("show") != DRIFTED)
        and look.filter in node_line.name
        and look.get("state") in {"", _state(node_line)}
    ]
    lines, pager = paged(look, shown, "nodes", name="skip", columns=_COLUMNS)
    not_known = gaps(log, moment, (NODE, POD))

    def sections() -> Iterator[Section]:
        said = f"The scheduler of {drift.release} had panicked by then: "
        panics = [Sentence(f"{said}{crash}", "panic") for crash in drift.crashes]
        yield Section(panics)
        if every:
            chosen = _chosen(look, sides, every, drift.release)
            yield Section([*chosen, *_table(look, sides, lines), pager])
        else:
            yield Section([nothing(look, "node")])
        yield Section(list(_others(look, drift)), "What else differs")

    data = {
        "at": look.at,
        "release": drift.release,
        "nodes": [_line_document(row) for row in lines.rows],
        "skip": lines.skip,
        "total": lines.total,
        "drift": document(drift),
        "not_known": not_known,
    }
    return BlockPage("Nodes", sections, plain(data), not_known=not_known)


def _line_document(line: NodeLine) -> dict[str, Any]:
    differences = [
        {
            "object": difference.object,
            "field": difference.field,
            "truth": difference.truth,
            "belief": difference.belief,
            "since": difference.since,
        }
        for difference in line.differences
    ]
    return {**msgspec.to_builtins(line), "differences": differences}


def _chosen(look: Look, sides: _Sides, every: Sequence[NodeLine], release: str) -> Iterator[Block]:
    """Yield what nodes can be chosen by, and how many differ."""
    drifted = {"type": "checkbox", **({"checked": ""} if look.get("show") == DRIFTED else {})}
    fields = [
        FormField("Resource", "resource", sides.resource, choices_of(sides.resources)),
        FormField("Name has", "q", look.filter, attributes={"size": "12"}),
        FormField("only where both sides differ", "show", DRIFTED, attributes=drifted),
    ]
    yield form(look, "Show", fields, drops=["more"])
    states = Counter(_state(node_line) for node_line in every)
    if look.get("state"):  # So that something else can be chosen.
        states.setdefault(look.get("state"), 0)
    chips = [chip(f"all {len(every)}", chosen=not look.get("state"), state=None, skip=None)]
    for state, many in sorted(states.items(), key=lambda pair: (-pair[1], pair[0])):
        text, is_chosen = f"{state} {many}", look.get("state") == state
        chips.append(chip(text, chosen=is_chosen, state=state, skip=None))
    yield ItemList(list(map(ListedItem, chips)), "chips")
    both = "the API server and the scheduler's cache"
    differ = sum(bool(node_line.differences) for node_line in every)
    said: tuple[str, ...] = (f"T{both[1:]} of {release} hold the same of them. ",)
    if differ:
        said = (Marked(f"{differ} differ", "bad"), f" between {both}. ")
    over_time = Ref("Nodes over time", "nodes/over-time", resource=sides.resource)
    yield Sentence(Words(f"{counted(len(every), 'node')}. ", *said, over_time))


def _table(look: Look, sides: _Sides, lines: Some[NodeLine]) -> Iterator[Block]:
    """Yield the heat map, and the rows of nodes."""
    cells = list(sides.cells())
    counts = Counter(cell.level for cell in cells)
    levels = [(place, level.label, counts[place]) for place, level in enumerate(LEVELS)]
    yield drawn(
        look,
        "nodes.html",
        resource=sides.resource,
        cells=cells[:MOST_CELLS],
        across=40 if len(cells) <= MANY else 100,
        levels=[level for level in levels if level[2]],
        lines=lines.rows,
        heads=sort_heads(look, _COLUMNS, "skip", lines.total, _TEXTS),
    )
    if not lines.rows:
        name = f" the name “{look.filter}”" if look.filter else ""
        differs = " and differs between both sides" if look.get("show") == DRIFTED else ""
        state = f" the state {look.get('state')}" if look.get("state") else ""
        wants = " and".join(filter(None, (name, state)))
        every = here_ref("Show all", q=None, show=None, state=None)
        yield Sentence(Words(f"No node fits{wants}{differs}. ", every), "blank")


def _others(look: Look, drift: Drift) -> Iterator[Block]:
    """Yield the differences that are not of nodes."""
    others = [difference for difference in drift.differences if difference.kind != NODE[1]]
    if others:
        columns = {column.head: column.value for column in _OTHERS}
        part, pager = paged(look, others, "differences", name="more", columns=columns)
        heads = sort_heads(look, columns, "more", part.total)
        yield table_of(_OTHERS, part.rows, "Other differences")._replace(headers=heads)
        yield pager


_OTHERS: Sequence[TextColumn[CacheDifference]] = (
    TextColumn(
        "OBJECT",
        lambda cache_difference: (
            object_ref(cache_difference.object)
            if cache_difference.name
            else cache_difference.object
        ),
    ),
    TextColumn("FIELD", lambda difference: difference.field or NONE),
    TextColumn("API SERVER", lambda difference: difference.truth or NONE),
    TextColumn("SCHEDULER'S CACHE", lambda difference: difference.belief or NONE),
    TextColumn("SINCE", lambda difference: moment_ref(difference.since)),
)


def _state(line: NodeLine) -> str:
    """Return the state of a node as the API server has it, or that it has none."""
    return line.truth.state if line.truth else ONLY_CACHED


def _of_truth(name: str) -> Callable[[NodeLine], str]:
    return lambda line: "" if line.truth is None else str(getattr(line.truth, name))


def _of_cache(name: str) -> Callable[[NodeLine], str]:
    return lambda line: "" if line.belief is None else str(getattr(line.belief, name))


_COLUMNS: Columns[NodeLine] = MappingProxyType(
    {
        "NODE": lambda line: line.name,
        "STATUS": _of_truth("state"),
        **{name.upper(): _of_truth(name) for name in ("pods", "used", "allocatable")},
        "CACHE STATE": _of_cache("state"),
        **{
            f"CACHE {name.upper()}": _of_cache(name)
            for name in ("pods", "used", "allocatable", "idle")
        },
        "DIFFERS": lambda line: str(len(line.differences) or ""),
    }
)
"""In the order in which the template has them."""

_TEXTS = MappingProxyType(
    {f"CACHE {name}": name for name in ("STATE", "PODS", "USED", "ALLOCATABLE", "IDLE")}
)


class _Sides:
    """Both sides of a moment, for one resource.

    :raises UsageError: no node has it.
    """

    def __init__(self, context: TableContext, cache: SchedulerCache, resource: str) -> None:
        self._context, self._cache, self.resource = context, cache, resource
        self._table, self._unknown = context.nodes, context.pods_unknown
        self._facts = {
            entry.reference.name: entry.fact
            for entry in context.truth.of(*NODE)
            if isinstance(entry.fact, NodeFact)
        }
        known = {name for fact in self._facts.values() for name in fact.allocatable}
        self.resources = in_order(known | {"cpu"})
        self._text = in_one_unit(
            resource, (fact.allocatable.get(resource, 0.0) for fact in self._facts.values())
        )
        if resource not in self.resources:
            raise UsageError(
                f"no node has {resource!r}", now=f"choose from: {', '.join(self.resources)}"
            )

    def lines(self, differences: Iterable[CacheDifference]) -> Iterator[NodeLine]:
        """Yield the nodes of either side, by name, with those of the differences that they have."""
        of_node = defaultdict[str, list[CacheDifference]](list)
        for difference in differences:
            if difference.kind == NODE[1]:
                of_node[difference.name].append(difference)
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
            used=self._text(used),
            allocatable=self._text(total),
        )

    def _belief(self, name: str) -> NodeSide:
        node = self._cache.nodes[name]
        amounts = {
            column: self._text(getattr(node, column).get(self.resource))
            for column in ("used", "allocatable", "idle")
        }
        unknown = self._unknown and not node.tasks
        state = node.reason or ("Skipped" if node.skipped else "Ready")
        return NodeSide(state=state, pods=len(node.tasks), unknown=unknown, **amounts)
