"""The path of a pod as frozen records: checks in the scheduler's order, and nodes by filter."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from ..answers.records import Asked, Link
from ..moments.unknown import Unknown
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.record_columns import AmountColumns, Amounts
from ..tabular.tabular import Tabular


class Check(StrEnum):
    """A check, in the order in which the scheduler comes to it."""

    SESSION = "session"
    """The session runs."""
    POD = "pod"
    """The pod exists, waits for this scheduler, and has no gates."""
    PODGROUP = "podgroup"
    """Its PodGroup exists, and sessions see it."""
    QUEUE = "queue"
    """Its queue exists, and is open."""
    ENQUEUE = "enqueue"
    """A plugin lets the PodGroup leave Pending."""
    ENQUEUED = "enqueued"
    """The PodGroup has left Pending."""
    GANG = "gang"
    """The gang has enough pods that could run."""
    OVERUSED = "overused"
    """A plugin does not count the queue as overused."""
    TURN = "turn"
    """Allocate comes to the job."""
    ALLOCATABLE = "allocatable"
    """A plugin lets the queue take the pod."""
    PREPARED = "prepared"
    """The filters are prepared for the pod."""
    NODES = "nodes"
    """A node takes the pod."""
    PLACE = "place"
    """The pod gets a node."""
    TOGETHER = "together"
    """Enough pods of the gang get nodes."""
    EVICTION = "eviction"
    """An action makes room for it."""


class PathCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One check.

    :param check: one of :class:`Check`. :param by: the plugin or action that makes it; empty if it
        is none.
    :param state: ``passed``, ``failed``, ``not-reached`` or ``not-known``.
    :param text: what was compared; empty if nothing was.
    :param numbers: of it, as a step of the session's trace has them.
    :param reason: as in the chain of ``why``, with all its numbers.
    """

    check: str
    state: str
    by: str = ""
    text: str = ""
    numbers: dict[str, Any] = {}
    reason: Link | None = None


class FilterSays(msgspec.Struct, frozen=True, kw_only=True):
    """What a filter says of nodes.

    :param plugin: empty if the action itself compares, as it does resources.
    :param state: ``passed``, ``failed``, ``not-reached``, ``not-known``, or ``ignored``: it refuses
        the nodes, and the release does not count that.
    :param text: why it fails. :param reasons: the same in the words of the scheduler; ``codes`` in
        any release the same.
    """

    plugin: str
    filter: str
    state: str
    text: str = ""
    reasons: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


class FilteredNodes(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of which all filters say the same, or one node.

    :param state: ``passed`` if they take the pod, ``failed`` if not, ``not-reached`` if they were
        not checked for it.
    :param text: why they do not take it, as ``why`` says it.
    :param of: the other pod of the job whose result the session uses for this one.
    :param least, most: the bounds of what will be free of each resource that the pod requests,
        when pods that leave are gone; ``idle_least`` and ``idle_most``: of what is free now.
    :param total_least, total_most: the bounds of what the nodes have of it.
    :param score_least, score_most: of those that were scored.
    :param chosen: the node of them that the session chose; empty if none.
    """

    nodes: tuple[str, ...]
    state: str
    cells: tuple[FilterSays, ...] = ()
    text: str = ""
    final: bool = False
    of: str = ""
    least: Amounts = {}
    most: Amounts = {}
    idle_least: Amounts = {}
    idle_most: Amounts = {}
    total_least: Amounts = {}
    total_most: Amounts = {}
    score_least: float | None = None
    score_most: float | None = None
    chosen: str = ""


class NodesByFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What each filter says of each node for a pod.

    :param action: that checked them last.
    :param reached: False if the session does not come to it: this is what it would find at its end.
    :param filters: in their order, each with its plugin before it (``predicates/NodeAffinity``).
    :param silent: the filters that have nothing to check for this pod.
    :param rows: nodes that pass first. :param total: how many nodes.
    :param each: whether each node has its own row.
    """

    action: str
    reached: bool
    request: Amounts
    filters: tuple[str, ...]
    silent: tuple[str, ...]
    rows: tuple[FilteredNodes, ...]
    total: int
    each: bool


class FilterRow(msgspec.Struct, frozen=True, kw_only=True):
    """A node, and what one filter says of it."""

    node: str
    plugin: str
    filter: str
    state: str
    text: str
    codes: tuple[str, ...]


class FilteredRow(msgspec.Struct, frozen=True, kw_only=True):
    """A node or several, and what came of them."""

    nodes: tuple[str, ...]
    state: str
    text: str
    chosen: str
    score_least: float | None
    score_most: float | None
    least: AmountColumns
    most: AmountColumns


class CheckRow(msgspec.Struct, frozen=True, kw_only=True):
    """A check in a table."""

    check: str
    by: str
    state: str
    text: str


class PodPath(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """The path of a pod through the session of a moment.

    :param sentence: the answer of ``why``. :param waits: and ``cause``: as in :class:`Why`.
    :param checks: in the order in which the scheduler comes to them.
    :param nodes: None if no session compares the pod with nodes.
    :param before: of a pod with a node, the moment before it got it, as ``--at`` takes it; empty if
        the log does not have it.
    """

    asked: Asked
    sentence: str
    waits: bool | None
    cause: str
    checks: tuple[PathCheck, ...]
    nodes: NodesByFilter | None = None
    before: str = ""
    not_known: tuple[Unknown, ...] = ()

    @property
    def headline(self) -> str:
        """The answer."""
        return self.sentence

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the checks, the nodes, and what each filter says of each of them."""
        rows = () if self.nodes is None else self.nodes.rows
        checks = (
            CheckRow(check=check.check, by=check.by, state=check.state, text=check.text)
            for check in self.checks
        )
        return {
            "checks": table_of(CheckRow, checks),
            "nodes": table_of(FilteredRow, map(_node_row, rows)),
            "filters": table_of(FilterRow, (cell for row in rows for cell in _cell_rows(row))),
        }


def _node_row(row: FilteredNodes) -> FilteredRow:
    return FilteredRow(
        nodes=row.nodes,
        state=row.state,
        text=row.text,
        chosen=row.chosen,
        score_least=row.score_least,
        score_most=row.score_most,
        least=row.least,
        most=row.most,
    )


def _cell_rows(row: FilteredNodes) -> list[FilterRow]:
    return [
        FilterRow(
            node=node,
            plugin=cell.plugin,
            filter=cell.filter,
            state=cell.state,
            text=cell.text,
            codes=cell.codes,
        )
        for node in row.nodes
        for cell in row.cells
    ]
