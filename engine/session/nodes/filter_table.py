"""What each filter says of each node for a task: a table for a trace that follows its path.

Decisions need only the first refusal of a node. So each filter is run here once more, right after
the nodes were checked, on the nodes that come to it. Where its answers do not make up the verdict
that the session goes on with, they are not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...model.session_tables import Ints, Rows
from ..framework.plugin_registry import PartAnswer, PredicateEntry
from ..framework.vote_details import CheckedNode, CheckState, FilterCell, FilterName, FilterTable
from ..reasons.statuses import PASS, Reasons
from .class_columns import ClassColumns
from .refusals import RequestedOnNodes

if TYPE_CHECKING:
    from ..framework.session import Session

FILTERS = "filters"
"""What details about filters are kept under, by action."""
SCORES = "scores"
"""What details about the scores of nodes are kept under, by action."""
RESOURCES = "Resources"
"""What the comparison of a request with what is free is called here."""
OUT_OF_SYNC = "OutOfSync"

_NOT_REACHED = FilterCell(CheckState.NOT_REACHED)
_PASSED = FilterCell(CheckState.PASSED)
_NOT_KNOWN = FilterCell(CheckState.NOT_KNOWN)


class CheckedRows(msgspec.Struct, frozen=True):
    """Nodes that were checked for a task.

    :param own: what the filters say. :param verdicts: with which the session goes on: those of an
        earlier task of the role may replace them.
    :param kept: where they do. :param others: by node, the task of another class of which they are.
    :param resources: whether the request was compared with what is free.
    """

    rows: Rows
    own: Ints
    verdicts: Ints
    kept: NDArray[np.bool_]
    others: Mapping[int, int]
    resources: bool


class _Column(msgspec.Struct, frozen=True):
    """A filter, and what it says. :param reached: where it is run."""

    name: FilterName
    reached: NDArray[np.bool_]
    verdicts: Ints
    ignored: NDArray[np.bool_]
    concerns: bool = True


def filter_table(
    ssn: Session,
    columns: ClassColumns,
    entries: Sequence[PredicateEntry],
    task: int,
    checked: CheckedRows,
) -> FilterTable:
    """Return what each filter says of the nodes that were checked for a task.

    :param columns: of the task's class. :param entries: the filters of plugins that run.
    """
    errors = len(ssn.errors)
    every = list(_columns(columns, entries, task, checked))
    del ssn.errors[errors:]  # What they log was logged when they decided.
    found = [column for column in every if column.concerns]
    cells = _Cells(ssn.reasons, found)
    amounts = RequestedOnNodes(ssn, columns)
    nodes = []
    for place, row in enumerate(checked.rows.tolist()):
        verdict = checked.verdicts.item(place)
        other = checked.others.get(row)
        kept = checked.kept.item(place) or other is not None
        reasons = ssn.reasons.plain(verdict)
        nodes.append(
            CheckedNode(
                miss=amounts.miss(row, reasons),
                idle=amounts.idle(row),
                pattern=cells.pattern(place, None if kept else checked.own.item(place)),
                reasons=reasons,
                final=ssn.reasons.unresolvable(verdict),
                of="" if other is None else ssn.task_name(other),
            )
        )
    return FilterTable(
        filters=tuple(column.name for column in found),
        silent=tuple(column.name for column in every if not column.concerns),
        patterns=tuple(cells.patterns),
        nodes=tuple(nodes),
    )


def merged(before: FilterTable | None, now: FilterTable) -> FilterTable:
    """Return a table with the nodes of an earlier one that were not checked this time.

    A job with a topology is tried on the nodes of one hypernode after the other.
    """
    if before is None or before.filters != now.filters:
        return now
    again = {node.miss.node for node in now.nodes}
    more = len(now.patterns)
    earlier = [
        msgspec.structs.replace(node, pattern=node.pattern + more)
        for node in before.nodes
        if node.miss.node not in again
    ]
    return msgspec.structs.replace(
        now, patterns=(*now.patterns, *before.patterns), nodes=(*now.nodes, *earlier)
    )


def _columns(
    columns: ClassColumns, entries: Sequence[PredicateEntry], task: int, checked: CheckedRows
) -> Iterator[_Column]:
    """Yield the filters in the order in which an action asks them."""
    rows = checked.rows
    left: NDArray[np.bool_] = np.ones(len(rows), dtype=np.bool_)
    nowhere = ~left
    compared = not checked.resources
    for entry in entries:
        if entry.plugin and not compared:
            compared = True
            short = np.where(left, columns.insufficient[rows], PASS).astype(np.int32)
            yield _Column(FilterName("", RESOURCES), left, short, nowhere)
            left = left & (short == PASS)
        for column in _of_entry(entry, task, rows, left):
            yield column
            left = left & ((column.verdicts == PASS) | column.ignored | ~column.reached)
    if not compared:
        short = np.where(left, columns.insufficient[rows], PASS).astype(np.int32)
        yield _Column(FilterName("", RESOURCES), left, short, nowhere)


def _of_entry(
    entry: PredicateEntry, task: int, rows: Rows, left: NDArray[np.bool_]
) -> list[_Column]:
    """Return what a plugin says of the nodes that no earlier one refuses."""
    some = np.flatnonzero(left)
    all_there = np.ones(len(some), dtype=np.bool_)
    if entry.parts is None:
        answer = entry.function(task, rows[some])
        said = np.zeros(len(some), dtype=np.int32) if answer is None else answer
        name = entry.plugin or OUT_OF_SYNC
        answers = [PartAnswer(name, all_there, said, ~all_there, answer is not None)]
    else:
        answers = entry.parts(task, rows[some])
    found = []
    for part in answers:
        reached, ignored = np.zeros_like(left), np.zeros_like(left)
        verdicts = np.zeros(len(rows), dtype=np.int32)
        reached[some], verdicts[some], ignored[some] = part.reached, part.verdicts, part.ignored
        named = FilterName(entry.plugin, part.name)
        found.append(_Column(named, reached, verdicts, ignored, part.concerns))
    return found


class _Cells:
    """The cells of nodes; equal rows of cells are kept once."""

    def __init__(self, reasons: Reasons, columns: Sequence[_Column]) -> None:
        self._reasons = reasons
        self._columns = columns
        self._known: dict[object, int] = {}
        self._failing: dict[int, FilterCell] = {}
        self._ignored: dict[int, FilterCell] = {}
        self.patterns: list[tuple[FilterCell, ...]] = []

    def pattern(self, place: int, verdict: int | None) -> int:
        """Return the place of a node's cells in the patterns.

        :param verdict: all that the filters say of it; None if they were not run for the task.
        """
        if verdict is None:
            key: object = None
        else:
            states = tuple(
                (
                    column.reached.item(place),
                    column.verdicts.item(place),
                    column.ignored.item(place),
                )
                for column in self._columns
            )
            key = (verdict, states)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self.patterns)
            self.patterns.append(self._cells(place, verdict))
        return known

    def _cells(self, place: int, verdict: int | None) -> tuple[FilterCell, ...]:
        if verdict is None:
            return tuple(_NOT_REACHED for _ in self._columns)
        cells = tuple(self._cell(column, place) for column in self._columns)
        said = {
            objection
            for cell in cells
            if cell.state is CheckState.FAILED
            for objection in cell.objections
        }
        if said == set(self._reasons.plain(verdict)):
            return cells
        return tuple(cell if cell is _NOT_REACHED else _NOT_KNOWN for cell in cells)

    def _cell(self, column: _Column, place: int) -> FilterCell:
        if not column.reached.item(place):
            return _NOT_REACHED
        verdict = column.verdicts.item(place)
        if verdict == PASS:
            return _PASSED
        state = CheckState.IGNORED if column.ignored.item(place) else CheckState.FAILED
        return FilterCell(state, self._reasons.plain(verdict))
