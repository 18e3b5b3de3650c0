"""From all nodes to the chosen one: filters, error cache, scores, choice.

Source: ``pkg/scheduler/util/predicate_helper.go`` and ``scheduler_helper.go``.
"""

from __future__ import annotations

from enum import Enum
from math import inf
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...model.session_tables import NO_NODE, Floats, Ints, Rows
from ...volcano.session.filters import Filtering
from ..framework.chooser import LeastName
from ..framework.plugin_registry import BatchEntry, NodeOrderEntry, PredicateEntry, ScoreError
from ..framework.trace import StepOutcome
from ..framework.vote_details import FilterTable
from ..reasons.fit_errors import FitErrors
from ..reasons.objections import NodeCode, Objection, around
from ..reasons.statuses import PASS, StatusCode
from .class_columns import ClassColumns, apply_filters, batch_score, order_score
from .filter_table import FILTERS, SCORES, CheckedRows, filter_table, merged
from .refusals import nodes_checked
from .sampling import Sampling, SamplingMemory

if TYPE_CHECKING:
    from ..framework.session import Session

Group = tuple[int, str]
"""Job and role."""

BEST_NOTED = 5
"""Scores that a step of the trace shows."""


def lowest_score(ssn: Session) -> float:
    """Return the score that a node or hypernode must exceed to be chosen."""
    return -inf if ssn.behaviours.negative_scores_accepted else -1.0


OUT_OF_SYNC = Objection("node(s) were out of sync", NodeCode.OUT_OF_SYNC)
"""The reason of a node that uses more than it has."""

NO_TASK = -1
MANY = -1
"""Instead of a class: there were several, or not all nodes were checked."""


class Purpose(Enum):
    """The purpose of the search; it decides what excludes a node."""

    ALLOCATE = "allocate"
    """Any status excludes a node, and so do resources."""
    BACKFILL = "backfill"
    """Any status excludes a node; resources are not checked."""
    PREEMPT = "preempt"
    """A status that evictions could resolve does not exclude a node; resources are not checked."""
    SIMULATE = "simulate"
    """The same after evictions: resources exclude a node."""


_EVICTING = (Purpose.PREEMPT, Purpose.SIMULATE)


class ErrorCache(msgspec.Struct):
    """Why nodes refused a role of a job first, cached during a visit.

    While all tasks of a group are of one class whose filters depend on the class only, earlier
    failures hold, and only the class is stored. When another group has its turn, the failures are
    stored, too: its tasks may take more of a node, which then would lack something else.

    :ivar first: by group, the task whose failure is stored, by node; only while a trace is on.
    :ivar turn: the group that was last placed by its class; ``taken``: the node of its last task.

    Source: ``predicateHelper.taskPredicateErrorCache``.
    """

    failed: dict[Group, Ints] = msgspec.field(default_factory=dict)
    classes: dict[Group, int] = msgspec.field(default_factory=dict)
    turn: Group | None = None
    taken: int = NO_NODE
    first: dict[Group, Ints] = msgspec.field(default_factory=dict)


def new_error_cache() -> ErrorCache:
    """Return a cache that knows of no failure."""
    return ErrorCache()


class NodeSelection:
    """Filters and scores nodes for tasks of one session."""

    def __init__(self, ssn: Session) -> None:
        self._ssn = ssn
        self._predicates: list[PredicateEntry] = [*_skipping(ssn), *_filters(ssn)]
        orders: list[NodeOrderEntry] = [entry for _, entry in ssn.registry.flat("NodeOrder")]
        self._batches: list[BatchEntry] = [
            entry for _, entry in ssn.registry.flat("BatchNodeOrder")
        ]
        self._orders = [entry for entry in orders if not entry.late]
        self._late_orders = [entry for entry in orders if entry.late]
        self._late_plugin = self._late_orders[0].plugin if self._late_orders else ""
        self._by_class = all(entry.per == "class" for entry in orders)
        self._orders_by_class = (self._orders, self._late_orders) if self._by_class else ([], [])
        self._classes: dict[int, ClassColumns] = {}
        self._not_of_class: dict[int, list[PredicateEntry]] = {}
        """By class: the filters that must run for every task."""
        self._uniform: dict[int, float | None] = {}
        self._lowest = lowest_score(ssn)
        self._least_name = isinstance(ssn.chooser, LeastName)
        self._sampling = (
            Sampling(ssn.process.memory.of(SamplingMemory)) if ssn.samples_nodes else None
        )
        self._gives_reasons = ssn.behaviours.filtering is not Filtering.ALL
        self._ranks_by_class = (
            self._by_class
            and self._least_name
            and bool(ssn.nodes)
            and self._sampling is None
            and self._gives_reasons
        )
        self._behaviours = ssn.behaviours
        self._klass = ssn.tasks.class_list
        self._all_rows = ssn.all_rows

    def columns(self, task: int) -> ClassColumns:
        """Return the up-to-date columns of a task's class."""
        klass = self._klass[task]
        known = self._classes.get(klass)
        if known is None:
            leading = _leading(self._predicates, task)
            self._not_of_class[klass] = self._predicates[len(leading) :]
            known = self._classes[klass] = ClassColumns(
                self._ssn, task, leading, *self._orders_by_class
            )
        known.refresh()
        return known

    def predicate(
        self, task: int, rows: Rows, purpose: Purpose, cache: ErrorCache | None
    ) -> tuple[Rows, FitErrors]:
        """Return the rows of nodes that fit a task, in order, and why the others do not.

        :param cache: failures of the task's role so far in this visit; ``None`` to ignore them.
        """
        own = verdicts = self._verdicts(task, rows, purpose)
        if not self._gives_reasons and purpose not in _EVICTING:
            verdicts = self._without_reasons(task, rows, verdicts, purpose)
        if self._sampling is not None:
            # A node with a cached failure is not found, and so does not bring the search nearer to
            # its end.
            passing = self._known(cache, task, rows, verdicts) == PASS
            # In order of rows again, since callers take the first of equals as the one of the least
            # name.
            visited = np.sort(self._sampling.visit(passing))
            rows, verdicts, own = rows[visited], verdicts[visited], own[visited]
        before = verdicts
        if cache is not None:
            verdicts = self._with_cache(cache, task, rows, verdicts)
        errors = FitErrors.none(self._ssn.reasons, len(self._ssn.nodes))
        errors.verdicts[rows] = verdicts
        fitting = rows[verdicts == PASS]
        if self._ssn.trace.on:
            self._ssn.trace.add(
                "predicate",
                self._ssn.task_name(task),
                by=purpose.value,
                outcome=StepOutcome.PASSING,
                many=len(fitting),
                of=len(rows),
                numbers=dict(sorted(errors.reasons().items())),
            )
            name = self._ssn.task_name(task)
            if self._ssn.trace.follows(name):
                others = self._others(cache, task, rows)
                seen = nodes_checked(self._ssn, self.columns(task), rows, verdicts, others)
                self._ssn.trace.detail(purpose.value, name, seen)
                if self._ssn.trace.keeps_path(name) and purpose not in _EVICTING:
                    resources = purpose is Purpose.ALLOCATE
                    kept = before != verdicts
                    checked = CheckedRows(rows, own, verdicts, kept, others, resources)
                    self._keep_filters(task, checked)
        return fitting, errors

    def _keep_filters(self, task: int, checked: CheckedRows) -> None:
        """Keep what each filter says of each node."""
        ssn = self._ssn
        name = ssn.task_name(task)
        table = filter_table(ssn, self.columns(task), self._predicates, task, checked)
        earlier = ssn.trace.details.get((ssn.trace.action, FILTERS, name))
        ssn.trace.detail(
            FILTERS, name, merged(earlier if isinstance(earlier, FilterTable) else None, table)
        )

    def scores(self, task: int, rows: Rows) -> Floats | None:
        """Return the scores of candidates, or ``None`` if a plugin could not score.

        Source: ``PrioritizeNodes``.
        """
        try:
            order, late = self._order_scores(task, rows)
            uniform = self._uniform_score(task)
            if uniform is None:
                # Summed as in `PrioritizeNodes`, first the nodes' scores, then those of lists:
                # floats differ else.
                total = order + batch_score(self._batches, task, rows, late, self._late_plugin)
            else:
                total = order + (late + uniform)
        except ScoreError as fault:
            self._ssn.errors.append(
                f"Error in Calculating batch Priority for the node, err {fault}"
            )
            return None
        if self._ssn.trace.on:
            if self._ssn.trace.scores:
                self._note_scores(task, rows, total)
            name = self._ssn.task_name(task)
            if self._ssn.trace.keeps_path(name):
                names = self._ssn.nodes.names
                noted = zip(rows.tolist(), total.tolist(), strict=True)
                self._ssn.trace.detail(SCORES, name, {names[row]: score for row, score in noted})
            self._trace_best(task, rows, total)
        return total

    def _order_scores(self, task: int, rows: Rows) -> tuple[Floats, Floats]:
        """Return the scores of single nodes, and the late scores."""
        if self._by_class:
            score, late = self.columns(task).score_all()
            return score[rows], late[rows]
        late = order_score(self._late_orders, task, rows)
        return order_score(self._orders, task, rows), late

    def _note_scores(self, task: int, rows: Rows, scores: Floats) -> None:
        """Store each node's score when it was last a candidate for a task."""
        known = self._ssn.node_scores
        if task in known:
            before, earlier = known[task]
            elsewhere = ~np.isin(before, rows)
            rows = np.concatenate((before[elsewhere], rows))
            scores = np.concatenate((earlier[elsewhere], scores))
        known[task] = (rows, scores)

    def _trace_best(self, task: int, rows: Rows, scores: Floats) -> None:
        """Add a step with the best few scores; all scores are stored beside the trace."""
        names = self._ssn.nodes.names
        order = _highest(scores, BEST_NOTED)
        best = zip(rows[order].tolist(), scores[order].tolist(), strict=True)
        self._ssn.trace.add(
            "score",
            self._ssn.task_name(task),
            outcome=StepOutcome.SCORED,
            of=len(rows),
            numbers={names[row]: score for row, score in best},
        )

    def best(self, task: int, rows: Rows) -> tuple[int | None, float]:
        """Return (the node with the highest score, its score); ``None`` if none can be chosen.

        Source: ``SelectBestNodeAndScore``.
        """
        scores = self.scores(task, rows)
        if scores is None or not len(scores):
            return None, 0.0
        best = int(np.argmax(scores))
        highest = float(scores[best])
        # Not "<=": a score that is no number is not chosen either.
        if not highest > self._lowest:
            return None, 0.0
        if self._least_name and not self._ssn.trace.on:
            return int(rows[best]), highest  # candidates come in order of name
        equals = np.flatnonzero(scores == highest)
        if len(equals) > 1:
            names = sorted(map(self._ssn.nodes.names.__getitem__, rows[equals].tolist()))
            about = self._ssn.task_name(task)
            taken = self._ssn.chooser.choose("node", about, names)
            if self._ssn.trace.on:
                named, numbers = names[taken], {"equals": names}
                self._ssn.trace.add(
                    "choice", about, outcome=StepOutcome.NODE, named=named, numbers=numbers
                )
            return self._ssn.nodes.row[names[taken]], highest
        return int(rows[best]), highest

    def sorted_places(self, task: int, rows: Rows, among: Rows) -> Rows:
        """Return the places of nodes in ``among``, by descending score; none if scoring fails.

        :param rows: the candidates that are scored, against each other, in ascending order.
        :param among: some of them, in the same order; equal ones keep it, unless maps are walked
            in another order.

        Source: ``SortNodes``.
        """
        scores = self.scores(task, rows)
        if scores is None or not len(among):
            return rows[:0]
        chosen = scores if len(among) == len(rows) else scores[np.searchsorted(rows, among)]
        if self._ssn.map_orders.ascending:
            return np.argsort(-chosen, kind="stable")
        about, names = self._ssn.task_name(task), self._ssn.nodes.names
        walk = self._ssn.map_order(
            about, len(among), lambda: [names[row] for row in among.tolist()]
        )
        return walk[np.argsort(-chosen[walk], kind="stable")]

    def _verdicts(self, task: int, rows: Rows, purpose: Purpose) -> Ints:
        """Return one verdict by row: the resources come first, then the filters in order."""
        columns = self.columns(task)
        everywhere = len(rows) == len(self._all_rows)
        filtered = columns.filter_all() if everywhere else columns.filter_all()[rows]
        short = columns.insufficient if everywhere else columns.insufficient[rows]
        if purpose is Purpose.ALLOCATE:
            filtered = np.where(short == PASS, filtered, short)
        remaining = self._not_of_class[self._klass[task]]
        if remaining:
            filtered = _asked_further(remaining, task, rows, filtered)
        if purpose in _EVICTING:
            filtered = self._stopping(filtered)
        return np.where(short == PASS, filtered, short) if purpose is Purpose.SIMULATE else filtered

    def _without_reasons(self, task: int, rows: Rows, verdicts: Ints, purpose: Purpose) -> Ints:
        """Report only that filters reject a node, not why; errors of plugins are reported.

        Source: the predicate functions of v1.8.0 in ``actions/{allocate,backfill}``.
        """
        ssn, reported = self._ssn, verdicts.copy()
        bad = verdicts != PASS
        if purpose is Purpose.ALLOCATE:
            bad &= self.columns(task).insufficient[rows] == PASS
        head = f"predicates failed in {purpose.value} for task <{ssn.task_name(task)}> on node"
        for place in np.flatnonzero(bad).tolist():
            statuses = ssn.reasons.statuses(verdicts.item(place))
            faults = (each.objection.message for each in statuses if each.code is StatusCode.ERROR)
            fault = next(faults, "")
            end = f": {fault}" if fault else ", status is not success"
            text = f"{head} <{ssn.nodes.names[rows.item(place)]}>{end}"
            if fault and purpose is Purpose.BACKFILL:
                text = fault
            said = around(text, *(each.objection for each in statuses))
            reported[place] = ssn.reasons.intern(StatusCode.ERROR, said)
        return reported

    def _stopping(self, verdicts: Ints) -> Ints:
        """Replace verdicts that evictions could resolve by ``PASS``."""
        return np.where(self._ssn.reasons.stop_preemption()[verdicts], verdicts, PASS)

    def quick_best(self, task: int, cache: ErrorCache | None) -> tuple[int, float] | None:
        """Return the best of all nodes with room for a task now, if its class decides that.

        :returns: (node, score), or ``None`` if it must be determined by :meth:`predicate` and
            :meth:`best`; also if there is none or only one, as then nothing is scored.
        """
        if cache is not None and cache.turn != self._group(task):
            self._store_turn(cache)
        if not self._ranks_by_class or self._is_recorded(task):
            return None
        uniform = self._uniform_score(task)
        if uniform is None:
            return None
        columns = self.columns(task)
        if self._not_of_class[self._klass[task]] or not self._one_class(task, cache):
            return None
        ranked = columns.ranked(uniform)
        best = int(ranked.argmax())
        highest = ranked.item(best)
        # Also where no node has room now (-infinity): the long way finds why, or room in the
        # future.
        if not highest > self._lowest:
            return None
        if cache is not None:
            cache.turn, cache.taken = self._group(task), best
        return best, highest

    def _is_recorded(self, task: int) -> bool:
        trace = self._ssn.trace
        return trace.on and trace.records_all(self._ssn.task_name(task))

    def depends_on_class_only(self, task: int) -> bool:
        """Return whether the found nodes and their scores depend on a task's class only."""
        self.columns(task)
        return (
            self._by_class
            and self._sampling is None
            and self._uniform_score(task) is not None
            and not self._not_of_class[self._klass[task]]
        )

    def _one_class(self, task: int, cache: ErrorCache | None) -> bool:
        """Return whether the group has had tasks of this class only."""
        group = self._group(task)
        if cache is None or not self._shares_failures(group):
            return True
        klass = self._klass[task]
        return cache.classes.setdefault(group, klass) == klass

    def _shares_failures(self, group: Group) -> bool:
        """Return whether tasks of a group are not tried where another of them failed."""
        _, role = group
        return bool(role) or self._behaviours.tasks_without_role_share_failures

    def _group(self, task: int) -> Group:
        return self._ssn.tasks.job.item(task), self._ssn.tasks.info[task].role

    def _known(self, cache: ErrorCache | None, task: int, rows: Rows, verdicts: Ints) -> Ints:
        """Return verdicts with earlier failures of the group; nothing is stored."""
        group = self._group(task)
        failed = None if cache is None else cache.failed.get(group)
        if failed is None or not self._shares_failures(group):
            return verdicts
        return np.where(failed[rows] == PASS, verdicts, failed[rows])

    def _with_cache(self, cache: ErrorCache, task: int, rows: Rows, verdicts: Ints) -> Ints:
        """Apply earlier failures of the group, if they are used, and store the new ones."""
        self._store_turn(cache)
        group = self._group(task)
        if not self._shares_failures(group):
            return verdicts  # failures of tasks without a role are never used
        cache.classes[group] = MANY
        failed = cache.failed.setdefault(group, self._no_failure())
        before = failed[rows]
        # A cached node is not asked again, so its first reason is reported for all of the role.
        verdicts = np.where(before == PASS, verdicts, before)
        bad: NDArray[np.bool_] = verdicts != PASS
        failed[rows[bad]] = verdicts[bad]
        if self._ssn.trace.on:
            self._first(cache, group)[rows[bad & (before == PASS)]] = task
        return verdicts

    def _first(self, cache: ErrorCache, group: Group) -> Ints:
        """Return by node the task whose failure a cache has of a group."""
        return cache.first.setdefault(group, np.full(len(self._ssn.nodes), NO_TASK, dtype=np.int32))

    def _others(self, cache: ErrorCache | None, task: int, rows: Rows) -> dict[int, int]:
        """Return by node the task of another class whose failure is used for a task."""
        known = None if cache is None else cache.first.get(self._group(task))
        if known is None:
            return {}
        klass = self._klass[task]
        return {
            row: first
            for row in rows.tolist()
            if (first := known.item(row)) != NO_TASK and self._klass[first] != klass
        }

    def _store_turn(self, cache: ErrorCache) -> None:
        """Store which nodes had refused a group when its class was last looked at."""
        group, cache.turn = cache.turn, None
        klass = MANY if group is None else cache.classes.get(group, MANY)
        if group is None or klass == MANY:
            return  # there was none, or each failure was stored at once
        assert cache.taken != NO_NODE, "a group has its turn from a placement on"
        columns = self._classes[klass]
        columns.refresh()
        now = columns.verdicts()
        now[cache.taken] = PASS  # the group has not looked at it since
        before = cache.failed.get(group)
        cache.failed[group] = now if before is None else np.where(before == PASS, now, before)
        if self._ssn.trace.on:
            known = self._first(cache, group)
            known[(known == NO_TASK) & (now != PASS)] = self._of_class(group[0], klass)

    def _of_class(self, job: int, klass: int) -> int:
        """Return the first task of a job that is of a class."""
        return next(task for task in self._ssn.jobs.tasks[job] if self._klass[task] == klass)

    def _no_failure(self) -> Ints:
        return np.zeros(len(self._ssn.nodes), dtype=np.int32)

    def _uniform_score(self, task: int) -> float | None:
        """Return the score over lists of every node, if it is one number."""
        klass = self._klass[task]
        if klass not in self._uniform:
            values = [entry.uniform(task) for entry in self._batches]
            known = [value for value in values if value is not None]
            self._uniform[klass] = sum(known) if len(known) == len(values) else None
        return self._uniform[klass]


def _filters(ssn: Session) -> list[PredicateEntry]:
    """Return the plugins' filters that run."""
    entries: list[PredicateEntry] = []
    for _, entry in ssn.registry.flat("Predicate"):
        entries.append(entry)
        if entry.final:
            break
    return entries


def _skipping(ssn: Session) -> list[PredicateEntry]:
    """Return the filter that skips nodes that are out of sync, if there are any."""
    skipped = ssn.out_of_sync
    if not skipped.any():
        return []
    verdict = ssn.reasons.intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, OUT_OF_SYNC)
    verdicts = np.where(skipped, verdict, PASS).astype(np.int32)
    return [
        PredicateEntry(
            "", lambda _, rows: verdicts[rows], lambda _: "class", lambda _, row: verdicts.item(row)
        )
    ]


def _highest(scores: Floats, count: int) -> Rows:
    """Return the places of the highest scores, the first of equals first."""
    if len(scores) > count:
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        places = np.flatnonzero(scores >= least)
        return places[np.argsort(-scores[places], kind="stable")[:count]]
    return np.argsort(-scores, kind="stable")


def _asked_further(predicates: list[PredicateEntry], task: int, rows: Rows, verdicts: Ints) -> Ints:
    """Return verdicts with those of more filters, which run where all passed so far."""
    silent: NDArray[np.bool_] = verdicts == PASS
    if silent.all():
        return apply_filters(predicates, task, rows)
    verdicts = verdicts.copy()
    verdicts[silent] = apply_filters(predicates, task, rows[silent])
    return verdicts


def _leading(predicates: list[PredicateEntry], task: int) -> list[PredicateEntry]:
    """Return the filters before the first that depends on more than a task's class.

    The first error ends the asking, so the order of filters must be kept.
    """
    count = 0
    while count < len(predicates) and predicates[count].per(task) == "class":
        count += 1
    return predicates[:count]
