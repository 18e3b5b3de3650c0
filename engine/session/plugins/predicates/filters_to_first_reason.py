"""The filters of releases before all reasons that eviction could cure were told.

Source: pkg/scheduler/plugins/predicates/predicates.go OnSessionOpen, before ``ShouldAbort``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ....model.tables import Ints, Rows
from ...framework.reasons import PASS, StatusCode
from ...kube.node_columns import Mask
from ...kube.node_map import PODS, NodeMap
from .filters import LIMITS, POD_NUMBER, Filters
from .options import Options
from .verdicts import EndsWith, Verdicts

if TYPE_CHECKING:
    from ...framework.session import Session


class FiltersToLast(Filters):
    """All filters are asked, whatever those before have said."""

    _cache_forgives = True
    _unclaimed = StatusCode.ERROR

    def _verdicts(self) -> Verdicts:
        return Verdicts(self._reasons, EndsWith.NONE)

    def _asked(self, verdicts: Ints, answers: Iterator[tuple[str, Ints]]) -> Ints:
        for plugin, found in answers:
            told = _each(found, found != PASS, partial(self._erring, plugin)) if plugin else found
            verdicts = self._join.all_then(verdicts, told)
        return verdicts

    def _erring(self, plugin: str, verdict: int) -> int:
        """Return the verdict that names its filter, if it is an error."""
        (status,) = self._reasons.statuses(verdict)
        if status.code is not StatusCode.ERROR:
            return verdict
        return self._reasons.intern(status.code, _of_plugin(plugin, status.message))


class FiltersToFirstReason(Filters):
    """The first filter that turns a node down ends the asking.

    That a node has all the pods it may have is only told beside another reason.
    """

    def __init__(self, ssn: Session, nodes: NodeMap, options: Options) -> None:
        super().__init__(ssn, nodes, options)
        self._beside = Verdicts(ssn.reasons)

    def of_class(self, task: int, rows: Rows) -> Ints:
        """Return verdicts of what depends on the class and on the node's own pods only."""
        return self._with_pod_number(super().of_class(task, rows), rows)

    def of_class_on(self, task: int, row: int) -> int:
        """Do as :meth:`of_class` for one row."""
        return self.of_class(task, np.array((row,))).item()

    def of_task(self, task: int, rows: Rows) -> Ints:
        """Return the verdicts for a task about which more than its class matters."""
        return self._with_pod_number(super().of_task(task, rows), rows)

    def _verdicts(self) -> Verdicts:
        return Verdicts(self._reasons, EndsWith.ANY)

    def _is_full(self, rows: Rows) -> Mask:
        return np.zeros(len(rows), dtype=np.bool_)

    def _one(self, klass: int, row: int) -> int:
        rows = np.array((row,))
        return self._head(klass, self._stable.verdicts(klass)[rows], rows).item()

    def _with_pod_number(self, verdicts: Ints, rows: Rows) -> Ints:
        """Tell of the number of pods first where another reason is told."""
        full = (self._nodes.accounts[rows, PODS] >= self._max_pods[rows]) & (verdicts != PASS)
        if not full.any():
            return verdicts
        told = np.where(full, self._full, PASS).astype(np.int32)
        return self._beside.all_then(told, verdicts)


class FiltersToFirstError(FiltersToFirstReason):
    """The first filter that turns a node down ends the asking, and is named.

    Two end nothing, and are only told where no other objects, in one sentence: that a node has all
    the pods it may have, and what is wrong with volumes for which it has to have room.
    """

    _limits_end: ClassVar = False
    _unclaimed = StatusCode.ERROR

    def __init__(self, ssn: Session, nodes: NodeMap, options: Options) -> None:
        self._final = ssn.behaviours.filter_errors_unresolvable
        self._named: dict[tuple[str, int], int] = {}
        self._about_limits = {PASS}
        super().__init__(ssn, nodes, options)

    def _tell(self, plugin: str, code: StatusCode, message: str) -> int:
        text = _of_plugin(plugin, message) if plugin else message
        return self._reasons.intern(StatusCode.ERROR if self._final else code, text)

    def _cached_code(self) -> StatusCode:
        """Return the code of an error without a status: what counts may be the status alone."""
        return StatusCode.ERROR if self._final else StatusCode.UNSCHEDULABLE

    def _asked(self, verdicts: Ints, answers: Iterator[tuple[str, Ints]]) -> Ints:
        limits = np.zeros(len(verdicts), dtype=np.int32)
        for plugin, found in answers:
            if plugin == LIMITS and not self._limits_end:
                limits = found
            else:
                verdicts = self._join.all_then(verdicts, self._naming(plugin, found))
        if not limits.any():
            return verdicts
        self._about_limits.update(limits.tolist())
        hard = self._reasons.stop_preemption()[limits] & (verdicts != PASS)
        return np.where(verdicts == PASS, limits, _each(verdicts, hard, self._hardened))

    def _naming(self, plugin: str, verdicts: Ints) -> Ints:
        """Return verdicts that name their filter."""

        def naming(verdict: int) -> int:
            known = self._named.get((plugin, verdict))
            if known is None:
                (status,) = self._reasons.statuses(verdict)
                known = self._named[plugin, verdict] = self._tell(plugin, *status)
            return known

        return _each(verdicts, verdicts != PASS, naming)

    def _hardened(self, verdict: int) -> int:
        """Return a verdict that says the same, and that evicting pods does not help."""
        (status,) = self._reasons.statuses(verdict)
        return self._reasons.intern(StatusCode.ERROR, status.message)

    def _with_pod_number(self, verdicts: Ints, rows: Rows) -> Ints:
        full = self._nodes.accounts[rows, PODS] >= self._max_pods[rows]
        return _each(verdicts, full, self._full_beside)

    def _full_beside(self, verdict: int) -> int:
        """Return the verdict on a node that has all its pods, and one verdict besides."""
        if verdict == PASS:
            return self._full
        if verdict not in self._about_limits:
            return verdict
        (status,) = self._reasons.statuses(verdict)
        return self._reasons.intern(status.code, f"{POD_NUMBER},{status.message}")


class FiltersToFirstFault(FiltersToFirstError):
    """The first filter that turns a node down ends the asking, and is named.

    The number of pods comes before all filters, and evicting does not help against it.
    """

    _limits_end = True

    def _with_pod_number(self, verdicts: Ints, rows: Rows) -> Ints:
        full = self._nodes.accounts[rows, PODS] >= self._max_pods[rows]
        final = self._reasons.intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, POD_NUMBER)
        return np.where(full, final, verdicts).astype(np.int32)


def _of_plugin(plugin: str, message: str) -> str:
    return f"plugin {plugin} predicates failed {message}"


def _each(verdicts: Ints, where: Mask, change: Callable[[int], int]) -> Ints:
    """Return verdicts of which some are changed, every distinct one once."""
    if not where.any():
        return verdicts
    changed = verdicts.copy()
    for verdict in np.unique(verdicts[where]).tolist():
        changed[where & (verdicts == verdict)] = change(verdict)
    return changed
