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
    names, amounts = np.array(ssn.nodes.names, dtype=object), RequestedOnNodes(ssn, columns)

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
        order = np.argsort(_distance(amounts.request, amounts.missing[members]), kind="stable")[
            :NEAREST
        ]
        nearest = tuple(amounts.miss(row, reasons) for row in members[order].tolist())
        named = tuple(names[members].tolist())
        groups.append(RefusingNodes(reasons, final, named, nearest, of))
    groups.sort(key=lambda group: (-len(group.nodes), _messages(group), group.of))
    passing = tuple(names[rows[verdicts == PASS]].tolist())
    info = ssn.tasks.info[task].request
    asked = {"cpu": info.cpu, "memory": info.memory, **(info.scalars or {})}
    return NodesChecked(asked, passing, tuple(groups))


class RequestedOnNodes:
    """What nodes have of what a task requests.

    :param columns: of the task's class.
    :ivar request: -inf of what the task does not name. :ivar missing: by row, what must be free.
    """

    def __init__(self, ssn: Session, columns: ClassColumns) -> None:
        self._ssn = ssn
        self._filtered = columns.filter_all()
        self._future = ssn.nodes.future_idle(ssn.all_rows)
        self.request = request = ssn.named_request(columns.task)
        self._asked = np.flatnonzero(np.isfinite(request)).tolist()
        self.missing = np.where(request - self._future < _EPSILON, 0.0, request - self._future)

    def idle(self, row: int) -> Mapping[str, float]:
        """Return what a node has free now."""
        return self._amounts(row, self._ssn.nodes.idle)

    def miss(self, row: int, reasons: tuple[Objection, ...]) -> NodeMiss:
        """Return what a node lacks. :param reasons: which are not repeated as further ones."""
        ssn = self._ssn
        lacks = {name: much for name, much in self._amounts(row, self.missing).items() if much > 0}
        further = ssn.reasons.plain(self._filtered.item(row))
        also = tuple(objection for objection in further if objection not in reasons)
        free = self._amounts(row, self._future)
        return NodeMiss(ssn.nodes.names[row], lacks, free, _allocatable(ssn, row), also)

    def _amounts(self, row: int, matrix: np.ndarray) -> Mapping[str, float]:
        return {self._ssn.dims[dim]: float(matrix[row, dim]) for dim in self._asked}


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
