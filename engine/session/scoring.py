"""From all nodes to the one that is taken: filters, error cache, scores, choice.

Source: ``pkg/scheduler/util/predicate_helper.go`` and ``scheduler_helper.go``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .class_columns import ClassColumns, apply_filters, batch_score
from .extension import BatchEntry, NodeOrderEntry, PredicateEntry, ScoreError
from .fit_errors import FitErrors
from .reasons import PASS
from .tables import Floats, Ints, Rows

if TYPE_CHECKING:
    from .session import Session

LOWEST_SCORE = -1.0
"""Only a node with a greater score can be taken."""


class Purpose(Enum):
    """What nodes are looked for; it decides what keeps a node out."""

    ALLOCATE = "allocate"
    """Any status keeps a node out, and so do resources."""
    BACKFILL = "backfill"
    """Any status keeps a node out; resources are not looked at."""
    PREEMPT = "preempt"
    """What evicting could cure does not keep a node out; resources are not looked at."""


@dataclass(slots=True)
class ErrorCache:
    """Nodes that were found not to take a role of a job, kept for the length of a visit.

    Source: ``predicateHelper.taskPredicateErrorCache``.
    """

    failed: dict[tuple[int, str], Ints]


def new_error_cache() -> ErrorCache:
    """Return a cache that knows of no failure."""
    return ErrorCache({})


class NodeSelection:
    """Filters and scores nodes for tasks of one session."""

    def __init__(self, ssn: Session) -> None:
        self._ssn = ssn
        predicates: list[PredicateEntry] = [entry for _, entry in ssn.flat("Predicate")]
        orders: list[NodeOrderEntry] = [entry for _, entry in ssn.flat("NodeOrder")]
        self._batches: list[BatchEntry] = [entry for _, entry in ssn.flat("BatchNodeOrder")]
        self._class_predicates = _leading(predicates)
        self._task_predicates = predicates[len(self._class_predicates) :]
        self._orders = orders
        self._by_class = all(entry.per == "class" for entry in orders)
        self._classes: dict[int, ClassColumns] = {}
        self._batch_known: dict[int, tuple[bytes, Floats]] = {}
        self.all_rows: Rows = np.arange(len(ssn.nodes))

    def columns(self, task: int) -> ClassColumns:
        """Return the up-to-date columns of a task's class."""
        klass = int(self._ssn.tasks.klass[task])
        known = self._classes.get(klass)
        if known is None:
            known = self._classes[klass] = ClassColumns(
                self._ssn, task, self._class_predicates, self._orders if self._by_class else []
            )
        known.refresh()
        return known

    def predicate(
        self, task: int, rows: Rows, purpose: Purpose, cache: ErrorCache | None
    ) -> tuple[Rows, FitErrors]:
        """Return the rows that take a task, in their order, and why the others do not.

        :param cache: failures of the task's role so far in this visit; ``None`` to look anew.
        """
        verdicts = self._verdicts(task, rows, purpose)
        info = self._ssn.tasks.info[task]
        if cache is not None:
            verdicts = _with_cache(
                cache,
                (int(self._ssn.tasks.job[task]), info.role),
                rows,
                verdicts,
                size=len(self._ssn.nodes),
                use=bool(info.role),
            )
        errors = FitErrors.none(self._ssn.reasons, len(self._ssn.nodes))
        errors.verdicts[rows] = verdicts
        return rows[verdicts == PASS], errors

    def scores(self, task: int, rows: Rows) -> Floats | None:
        """Return the scores of candidates, or ``None`` if a plugin could not score.

        Source: ``PrioritizeNodes``.
        """
        try:
            if self._by_class:
                order = self.columns(task).score_all()[rows]
            else:
                order = np.zeros(len(rows))
                for entry in self._orders:
                    order += entry.function(task, rows)
            total = order + self._batch(task, rows)
        except ScoreError as fault:
            self._ssn.errors.append(
                f"Error in Calculating batch Priority for the node, err {fault}"
            )
            return None
        if self._ssn.trace.on:
            self._ssn.node_scores[task] = (rows, total)
        return total

    def best(self, task: int, rows: Rows) -> tuple[int | None, float]:
        """Return (the node with the highest score, its score); ``None`` if none can be taken.

        Source: ``SelectBestNodeAndScore``.
        """
        scores = self.scores(task, rows)
        if scores is None or not len(scores):
            return None, 0.0
        best = int(np.argmax(scores))
        highest = float(scores[best])
        if not highest > LOWEST_SCORE:
            return None, 0.0
        equals = np.flatnonzero(scores == highest)
        if len(equals) > 1:
            names = sorted(self._ssn.nodes.names[row] for row in rows[equals])
            about = self._ssn.task_name(task)
            taken = self._ssn.chooser.choose("node", about, names)
            if self._ssn.trace.on:
                self._ssn.trace.add(
                    "choice", about, outcome=names[taken], numbers={"equals": names}
                )
            return self._ssn.nodes.row[names[taken]], highest
        return int(rows[best]), highest

    def sorted_nodes(self, task: int, rows: Rows) -> Rows:
        """Return candidates by descending score, equals in the order given; none if scoring fails.

        Source: ``SortNodes``.
        """
        scores = self.scores(task, rows)
        if scores is None:
            return rows[:0]
        return rows[np.argsort(-scores, kind="stable")]

    def _verdicts(self, task: int, rows: Rows, purpose: Purpose) -> Ints:
        """Return one verdict by row: the resources come first, then the filters in order."""
        columns = self.columns(task)
        everywhere = len(rows) == len(self.all_rows)
        filtered = columns.filter_all() if everywhere else columns.filter_all()[rows]
        if self._task_predicates:
            answer = apply_filters(self._task_predicates, task, rows)
            filtered = np.where(filtered == PASS, answer, filtered)
        if purpose is Purpose.ALLOCATE:
            short = columns.insufficient if everywhere else columns.insufficient[rows]
            return np.where(short == PASS, filtered, short)
        if purpose is Purpose.PREEMPT:
            return self._stopping(filtered)
        return filtered

    def _stopping(self, verdicts: Ints) -> Ints:
        """Let those verdicts pass that evicting pods could cure."""
        kinds = np.unique(verdicts)
        curable = [kind for kind in kinds if kind and not self._ssn.reasons.stops_preemption(kind)]
        return np.where(np.isin(verdicts, curable), PASS, verdicts) if curable else verdicts

    def _batch(self, task: int, rows: Rows) -> Floats:
        """Return the batch scores; from before, if only class and candidates matter and are equal."""
        if not all(entry.steady is not None and entry.steady(task) for entry in self._batches):
            return batch_score(self._batches, task, rows)
        klass = int(self._ssn.tasks.klass[task])
        told = rows.tobytes()
        known = self._batch_known.get(klass)
        if known is None or known[0] != told:
            known = self._batch_known[klass] = (told, batch_score(self._batches, task, rows))
        return known[1]


def _leading(predicates: list[PredicateEntry]) -> list[PredicateEntry]:
    """Return the filters before the first that depends on more than the class.

    The first error ends the asking, so the order of filters must be kept.
    """
    count = 0
    while count < len(predicates) and predicates[count].per == "class":
        count += 1
    return predicates[:count]


def _with_cache(
    cache: ErrorCache,
    group: tuple[int, str],
    rows: Rows,
    verdicts: Ints,
    *,
    size: int,
    use: bool,
) -> Ints:
    """Put earlier failures of the group in place, if they are used, and note the new ones."""
    failed = cache.failed.get(group)
    if failed is None:
        if not verdicts.any():
            return verdicts
        failed = cache.failed[group] = np.zeros(size, dtype=np.int32)
    elif use:
        before = failed[rows]
        verdicts = np.where(before == PASS, verdicts, before)
    bad: NDArray[np.bool_] = verdicts != PASS
    failed[rows[bad]] = verdicts[bad]
    return verdicts
