"""Which nodes refuse a task, why, and how much they lack: details for a trace that follows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...model.session_tables import Ints, Rows
from ..framework.vote_details import NodeMiss, NodesChecked, RefusingNodes
from ..reasons.objections import Objection
from ..reasons.statuses import PASS
from .class_columns import ClassColumns

if TYPE_CHECKING:
    from ..framework.session import Session

NEAREST = 5
"""How many nodes of each group are described."""

_EPSILON = 0.1
"""Amounts that differ by less are equal (``api/resource_info.go:minResource``)."""


def nodes_checked(
    ssn: Session,
    columns: ClassColumns,
    rows: Rows,
    verdicts: Ints,
    others: Mapping[int, int],
) -> NodesChecked:
    """Return the nodes that were checked for a task, grouped by their verdicts.

    :param columns: of the task's class. :param verdicts: by row.
    :param others: by node, the task of another class for which the verdict was found.
    """
    task = columns.task
    request = ssn.named_request(task)
    future = ssn.nodes.future_idle(ssn.all_rows)
    names, filtered = np.array(ssn.nodes.names, dtype=object), columns.filter_all()
    missing = np.where(request - future < _EPSILON, 0.0, request - future)

    def amounts(row: int, matrix: np.ndarray) -> Mapping[str, float]:
        asked = np.flatnonzero(np.isfinite(request)).tolist()
        return {ssn.dims[dim]: float(matrix[row, dim]) for dim in asked}

    def miss(row: int, reasons: tuple[Objection, ...]) -> NodeMiss:
        lacks = {name: much for name, much in amounts(row, missing).items() if much > 0}
        further = ssn.reasons.plain(filtered.item(row))
        also = tuple(objection for objection in further if objection not in reasons)
        return NodeMiss(names[row], lacks, amounts(row, future), _allocatable(ssn, row), also)

    shared = np.isin(rows, list(others))
    by_reasons: dict[tuple[tuple[Objection, ...], bool, str], list[int]] = {}
    for verdict in np.unique(verdicts[verdicts != PASS]).tolist():
        reasons = ssn.reasons.plain(verdict)
        final = ssn.reasons.unresolvable(verdict)
        own = rows[(verdicts == verdict) & ~shared].tolist()
        if own:
            by_reasons.setdefault((reasons, final, ""), []).extend(own)
        for row in rows[(verdicts == verdict) & shared].tolist():
            key = reasons, final, ssn.task_name(others[row])
            by_reasons.setdefault(key, []).append(row)
    groups = []
    for (reasons, final, of), refusing in by_reasons.items():
        members = np.array(sorted(refusing))
        order = np.argsort(_distance(request, missing[members]), kind="stable")[:NEAREST]
        nearest = tuple(miss(row, reasons) for row in members[order].tolist())
        named = tuple(names[members].tolist())
        groups.append(RefusingNodes(reasons, final, named, nearest, of))
    groups.sort(key=lambda group: (-len(group.nodes), _messages(group), group.of))
    passing = tuple(names[rows[verdicts == PASS]].tolist())
    info = ssn.tasks.info[task].request
    asked = {"cpu": info.cpu, "memory": info.memory, **(info.scalars or {})}
    return NodesChecked(asked, passing, tuple(groups))


def _messages(group: RefusingNodes) -> list[str]:
    return [reason.message for reason in group.reasons]


def _distance(request: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return by row how much is missing: the sum of the parts of each requested resource."""
    asked = np.isfinite(request) & (request > 0)
    parts: np.ndarray = (missing[:, asked] / request[asked]).sum(axis=1)
    return parts


def _allocatable(ssn: Session, row: int) -> dict[str, float]:
    amounts = ssn.nodes.allocatable[row].tolist()
    return dict(zip(ssn.dims, amounts, strict=True))
