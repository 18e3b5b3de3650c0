"""Results for all tasks of a class, by node: computed once, then only where nodes changed.

A class's columns follow the session's list of touched nodes: before they are read, the rows that
were touched since are computed again in one call.
"""

from __future__ import annotations

from math import inf, isnan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...model.panic import Panic
from ...model.resource_names import ATTACHABLE, PODS
from ...model.session_tables import Floats, Ints, Rows
from ..framework.plugin_registry import BatchEntry, NodeOrderEntry, PredicateEntry
from ..reasons.objections import too_little
from ..reasons.statuses import PASS, StatusCode

if TYPE_CHECKING:
    from ..framework.session import Session

_FEW = 16
"""So many rows are faster done one by one."""
_EPSILON = 0.1
"""Amounts that differ by less are equal (``api/resource_info.go:minResource``)."""


class ClassColumns:
    """The columns of one class of tasks over all nodes.

    :param task: any task of the class: plugins are called with it.
    :param late_scores: scores that are summed separately, see :class:`.NodeOrderEntry`.
    """

    def __init__(
        self,
        ssn: Session,
        task: int,
        predicates: list[PredicateEntry],
        scores: list[NodeOrderEntry],
        late_scores: list[NodeOrderEntry],
    ) -> None:
        self._ssn = ssn
        self.task = task
        """A task of the class."""
        self._predicates = predicates
        self._scores = scores
        self._late_scores = late_scores
        self._seen = len(ssn.touched)
        count = len(ssn.nodes)
        self._dims = _requested(ssn, task)
        request = ssn.tasks.request[task]
        self._asked: list[tuple[int, float]] = [(dim, request.item(dim)) for dim in self._dims]
        self._request: Floats = np.full(len(ssn.dims), -inf)
        """The request; -inf for a resource that the task does not name, so any amount is enough."""
        self._request[self._dims] = request[self._dims]
        self._partial = any(entry.partial for entry in scores)
        self.fits_idle: NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)
        """Whether the request is at most what the node has idle."""
        self.insufficient: Ints = np.zeros(count, dtype=np.int32)
        """Verdict about the resources: ``PASS`` where the request is at most the future idle."""
        self.filtered: Ints = np.zeros(count, dtype=np.int32)
        """Verdict of the plugins' filters that depend on the class only."""
        self.score: Floats = np.zeros(count)
        """Sum of the plugins' scores that depend on the class only, in order of the plugins."""
        self.late: Floats = np.zeros(count)
        """Sum of the scores that are first added to the scores over lists."""
        self._short: dict[int, int] = {}
        """By dimension: the verdict that there is too little."""
        self._ranked: Floats | None = None
        self._uniform = 0.0
        self._unscored = True
        self._unfiltered = True
        self._all = np.arange(count)
        self._fit(self._all)

    def refresh(self) -> list[int]:
        """Update the columns; return the rows that were computed again."""
        touched = self._ssn.touched
        if self._seen == len(touched):
            return []
        assert self._seen < len(touched), "the journal of touched nodes only grows"
        rows = sorted(set(touched[self._seen :]))
        self._seen = len(touched)
        # A placement touches one node: calls of NumPy would cost more than the numbers.
        if len(rows) <= _FEW:
            for row in rows:
                self._update_one(row)
        else:
            self._update(np.array(rows))
        return rows

    def filter_all(self) -> Ints:
        """Return the filters' verdicts over all nodes."""
        if self._unfiltered:
            self._unfiltered = False
            self.filtered[:] = apply_filters(self._predicates, self.task, self._all)
        return self.filtered

    def score_all(self) -> tuple[Floats, Floats]:
        """Return the scores over all nodes, and the late scores."""
        if self._unscored:
            self._unscored = False
            self.score[:] = order_score(self._scores, self.task, self._all)
            self.late[:] = order_score(self._late_scores, self.task, self._all)
        return self.score, self.late

    def ranked(self, uniform: float) -> Floats:
        """Return, by node, the score of nodes with room for a task now; else -infinity.

        :param uniform: is added to every score; the same at every call.
        """
        if self._ranked is None:
            takes = self.fits_idle & (self.verdicts() == PASS)
            self._uniform = uniform
            score, late = self.score_all()
            # Added as in `NodeSelection.scores`: another order changes the last digits of a float.
            self._ranked = np.where(takes, score + (late + uniform), -inf)
        return self._ranked

    def verdicts(self) -> Ints:
        """Return why a task of the class does not fit nodes: resources first, then the filters."""
        # `predicate` of allocate returns at the first: where resources lack no filter is run.
        return np.where(self.insufficient == PASS, self.filter_all(), self.insufficient)

    def _update(self, rows: Rows) -> None:
        takes = self._fit(rows)
        if not self._unfiltered:
            filtered = self.filtered[rows] = apply_filters(self._predicates, self.task, rows)
            takes &= filtered == PASS
        if not self._unscored:
            score = self.score[rows] = order_score(self._scores, self.task, rows)
            late = self.late[rows] = order_score(self._late_scores, self.task, rows)
            if self._ranked is not None:
                self._ranked[rows] = np.where(takes, score + (late + self._uniform), -inf)

    def _update_one(self, row: int) -> None:
        """Run :meth:`_update` for one row, without calling NumPy for a few numbers."""
        task, takes = self.task, self._fit_one(row)
        if not self._unfiltered:
            filtered = PASS
            for entry in self._predicates:
                filtered = entry.one(task, row)
                if filtered != PASS:
                    takes = False
                    break
            self.filtered[row] = filtered
        if not self._unscored:
            score = 0.0
            for order in self._scores:
                score += order.one(task, row)
            if self._partial and isnan(score):
                score = 0.0
            self.score[row] = score
            late = 0.0
            for order in self._late_scores:
                late += order.one(task, row)
            self.late[row] = late
            if self._ranked is not None:
                self._ranked[row] = score + (late + self._uniform) if takes else -inf

    def _fit(self, rows: Rows) -> NDArray[np.bool_]:
        """Compare the request with what is free; return which nodes have enough, now and later."""
        nodes, request = self._ssn.nodes, self._request
        idle = nodes.idle.take(rows, axis=0)
        enough = request - idle < _EPSILON
        now: NDArray[np.bool_] = np.all(enough, axis=1)
        self.fits_idle[rows] = now
        later = now
        if not nodes.steady:
            future = idle + nodes.releasing.take(rows, axis=0) - nodes.pipelined.take(rows, axis=0)
            enough = request - future < _EPSILON
            later = np.all(enough, axis=1)
        later = later | self._ssn.out_of_sync[rows]  # that is reason enough
        self.insufficient[rows] = PASS
        if not later.all():
            names = np.array([self._verdict(dim) for dim in self._dims], dtype=np.int32)
            # The least of truth values is the first False: the first resource that is not enough.
            lacking = np.argmin(enough[~later][:, self._dims], axis=1)
            self.insufficient[rows[~later]] = names[lacking]
        return now & later

    def _fit_one(self, row: int) -> bool:
        """Do as :meth:`_fit` for one row."""
        nodes = self._ssn.nodes
        idle: list[float] = nodes.idle[row].tolist()
        future = idle if nodes.steady else nodes.future_idle(row).tolist()
        fits_idle, verdict = True, PASS
        for dim, asked in self._asked:
            if asked - idle[dim] >= _EPSILON:
                fits_idle = False
            if asked - future[dim] >= _EPSILON and verdict == PASS:
                verdict = self._verdict(dim)
        if self._ssn.out_of_sync[row]:
            verdict = PASS
        self.fits_idle[row] = fits_idle
        self.insufficient[row] = verdict
        return fits_idle and verdict == PASS

    def _verdict(self, dim: int) -> int:
        known = self._short.get(dim)
        if known is None:
            said = too_little(self._ssn.dims[dim])
            known = self._short[dim] = self._ssn.reasons.intern(StatusCode.UNSCHEDULABLE, said)
        return known


def apply_filters(predicates: list[PredicateEntry], task: int, rows: Rows) -> Ints:
    """Return the first verdict that is not ``PASS`` of some filters, by row."""
    verdicts: Ints | None = None
    for entry in predicates:
        answer = entry.function(task, rows)
        if answer is not None:
            verdicts = answer if verdicts is None else np.where(verdicts == PASS, answer, verdicts)
    return np.zeros(len(rows), dtype=np.int32) if verdicts is None else verdicts


def order_score(orders: list[NodeOrderEntry], task: int, rows: Rows) -> Floats:
    """Return the sum of the plugins' scores by row: 0 where one of them could not score.

    :raises Panic: a plugin panics, in one of the goroutines that score.

    Source: ``PrioritizeNodes``, which leaves such a node out of the scores.
    """
    total = np.zeros(len(rows))
    partial = False
    for entry in orders:
        try:
            total += entry.function(task, rows)
        except Panic as panic:
            raise panic.in_worker() from None
        partial = partial or entry.partial
    if partial:
        total[np.isnan(total)] = 0.0
    return total


def batch_score(
    batches: list[BatchEntry], task: int, rows: Rows, late: Floats, belongs_to: str
) -> Floats:
    """Return the sum of the plugins' scores over a list of candidates.

    :param late: scores of one plugin that are added to its scores over lists: sums of
        fractions depend on when they are added.
    :param belongs_to: that plugin; empty if there are none.
    :raises ScoreError: a plugin could not score.
    """
    total = np.zeros(len(rows))
    for entry in batches:
        answer = entry.function(task, rows)
        if entry.plugin == belongs_to:
            answer = late if answer is None else late + answer
            belongs_to = ""
        if answer is not None:
            total += answer
    return total if not belongs_to else total + late


def _requested(ssn: Session, task: int) -> list[int]:
    """Return the dimensions that a task's request names; cpu and memory always.

    The first that does not suffice is the reason given: there the first of a map's iteration, which
    begins in seven of eight cases with what was put in first. ``pods`` is put in after what
    containers request, volumes after that.
    """
    scalars = ssn.tasks.info[task].request.scalars or {}
    named = [(_put_in(name), name, dim) for dim, name in enumerate(ssn.dims) if name in scalars]
    return [0, 1, *(dim for _, _, dim in sorted(named))]


def _put_in(name: str) -> int:
    return 2 if name.startswith(ATTACHABLE) else int(name == PODS)
