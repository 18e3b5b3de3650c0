"""What each filter says of each node: rows of nodes of which all filters say the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ...engine.session.framework.vote_details import (
    FURTHER,
    CheckedNode,
    CheckState,
    FilterCell,
    FilterName,
    FilterTable,
    NodeMiss,
    RefusingNodes,
)
from ...engine.session.nodes.filter_table import FILTERS, RESOURCES, SCORES
from ...engine.session.nodes.refusals import NEAREST
from ..answers.amounts import amounts_of, joined
from ..answers.answering_session import PLACING, Run
from ..answers.demands import Demands, demands_of
from ..answers.node_words import node_reason, says_of
from ..answers.undecoded import undecoded_names
from ..tabular.record_columns import Amounts
from .path_records import FilteredNodes, FilterSays, NodesByFilter

ALL = "all"
"""Instead of names of nodes: each node has its own row."""


class NodesShown(msgspec.Struct, frozen=True):
    """Which nodes have their own rows. :param names: only these are shown, if any is named."""

    names: tuple[str, ...] = ()
    each: bool = False


def last_table(run: Run, pod: str) -> tuple[str, FilterTable] | None:
    """Return the action that checked nodes for a pod last, and what it found.

    If none did, it is what would be found at the end of the session.
    """
    # Only one places a pod: allocate one with requests, backfill one without.
    for action in (*PLACING, FURTHER):
        table = run.detail(FilterTable, FILTERS, pod, action)
        if table is not None:
            return action, table
    return None


def nodes_by_filter(run: Run, pod: str, shown: NodesShown) -> NodesByFilter | None:
    """Return what each filter says of each node for a pod; None if no session checks them."""
    found = last_table(run, pod)
    if found is None:
        return None
    action, table = found
    reading = _Reading(run, pod, action, table)
    rows = [*reading.rows(shown), *_not_seen(run, table, shown)]
    return NodesByFilter(
        action="" if action == FURTHER else action,
        reached=action != FURTHER,
        request=amounts_of(reading.request, zeros=False),
        filters=tuple(map(_named, table.filters)),
        silent=tuple(map(_named, table.silent)),
        rows=tuple(rows),
        total=len(table.nodes) + len(_skipped(run)),
        each=shown.each or bool(shown.names),
    )


def _named(name: FilterName) -> str:
    return f"{name.plugin}/{name.name}" if name.plugin not in {"", name.name} else name.name


def _skipped(run: Run) -> Mapping[str, str]:
    return {**run.not_ready, **undecoded_names(run)}


def _not_seen(run: Run, table: FilterTable, shown: NodesShown) -> Iterator[FilteredNodes]:
    """Yield the nodes that sessions do not see: those that are not ready, or cannot be decoded."""
    checked = {node.miss.node for node in table.nodes}
    by_reason: dict[str, list[str]] = {}
    for name, reason in sorted(_skipped(run).items()):
        if name not in checked and name in (shown.names or (name,)):
            by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        apart = shown.each or bool(shown.names)
        for some in [[name] for name in names] if apart else [names]:
            state, text = CheckState.NOT_REACHED, f"not in sessions: {reason}"
            yield FilteredNodes(nodes=tuple(some), state=state, text=text)


class _Reading:
    """A table of filters while it is put into rows."""

    def __init__(self, run: Run, pod: str, action: str, table: FilterTable) -> None:
        self._table = table
        self._own = demands_of(run, pod)
        self.request = self._own.request
        self._scores: Mapping[str, object] = run.detail(dict, SCORES, pod, action) or {}
        placed = [
            step.named
            for step in run.trace.steps
            if step.action == action and step.what in {"allocate", "pipeline"} and pod in step.about
        ]
        # The last plan stands: the session took the earlier ones back.
        self._chosen = placed[-1] if placed else ""

    def rows(self, shown: NodesShown) -> list[FilteredNodes]:
        """Return the rows: first nodes that take the pod, then those that lack least."""
        nodes = [
            node for node in self._table.nodes if not shown.names or node.miss.node in shown.names
        ]
        groups: dict[object, list[CheckedNode]] = {}
        for node in nodes:
            apart = shown.each or bool(shown.names) or node.miss.node == self._chosen
            # The cells say the same of all of them; so do the reasons, of nodes not checked again.
            key = node.miss.node if apart else (node.pattern, node.reasons, node.final, node.of)
            groups.setdefault(key, []).append(node)
        rows = [self._row(some) for some in groups.values()]
        return sorted(rows, key=self._place)

    def _place(self, row: FilteredNodes) -> tuple[bool, bool, float, int, tuple[str, ...]]:
        refused, best = row.state != CheckState.PASSED, -(row.score_most or 0.0)
        return (refused, not row.chosen, best, -len(row.nodes), row.nodes)

    def _row(self, nodes: Sequence[CheckedNode]) -> FilteredNodes:
        first, names = nodes[0], tuple(sorted(node.miss.node for node in nodes))
        cells = self._table.patterns[first.pattern]
        group = self._group(nodes, names)
        # Without any reached cell the nodes are not checked again: they refused another pod.
        asked_again = any(cell.state is not CheckState.NOT_REACHED for cell in cells)
        state = CheckState.FAILED if asked_again or not cells else CheckState.NOT_REACHED
        scores = [float(str(self._scores[name])) for name in names if name in self._scores]
        return FilteredNodes(
            nodes=names,
            state=state if first.reasons else CheckState.PASSED,
            cells=tuple(
                self._cell(name, cell, group)
                for name, cell in zip(self._table.filters, cells, strict=True)
            ),
            text=node_reason(group, self._own).text if first.reasons else "",
            final=first.final,
            of=first.of,
            **_bounds(nodes),
            score_least=min(scores, default=None),
            score_most=max(scores, default=None),
            chosen=self._chosen if self._chosen in names else "",
        )

    def _group(self, nodes: Sequence[CheckedNode], names: tuple[str, ...]) -> RefusingNodes:
        """Return the nodes of a row as ``why`` has them."""
        near = sorted((node.miss for node in nodes), key=self._far)[:NEAREST]
        first = nodes[0]
        return RefusingNodes(first.reasons, first.final, names, tuple(near), first.of)

    def _far(self, miss: NodeMiss) -> tuple[float, str]:
        """Return how much a node lacks: the sum of the parts of each requested resource."""
        parts = (much / self.request[name] for name, much in miss.missing.items())
        return sum(parts), miss.node

    def _cell(self, name: FilterName, cell: FilterCell, group: RefusingNodes) -> FilterSays:
        return FilterSays(
            plugin=name.plugin,
            filter=name.name,
            state=cell.state,
            text=_why(name, cell, group, self._own),
            reasons=tuple(objection.message for objection in cell.objections),
            codes=tuple(objection.full_code for objection in cell.objections),
        )


def _why(name: FilterName, cell: FilterCell, group: RefusingNodes, own: Demands) -> str:
    """Return why a filter refuses nodes, without their names."""
    if not cell.objections:
        return ""
    # Of one node it can be said how much it lacks; several lack different amounts.
    if name == FilterName("", RESOURCES) and len(group.nodes) == 1:
        return joined(says_of(group, own))
    return joined(says_of(msgspec.structs.replace(group, reasons=cell.objections, nearest=()), own))


def _bounds(nodes: Sequence[CheckedNode]) -> dict[str, Amounts]:
    """Return the bounds of what is free on nodes, now and later, and of what they have."""
    names = list(nodes[0].miss.free)
    sides = {
        "": [node.miss.free for node in nodes],
        "idle_": [node.idle for node in nodes],
        "total_": [node.miss.allocatable for node in nodes],
    }
    found = {}
    for side, amounts in sides.items():
        for bound, pick in (("least", min), ("most", max)):
            of_all = {name: pick(each.get(name, 0.0) for each in amounts) for name in names}
            found[f"{side}{bound}"] = amounts_of(of_all)
    return found
