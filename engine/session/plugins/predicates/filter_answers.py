"""How the verdicts of filters are worded and combined, which depends on the release.

Each way of filtering (:class:`.Filtering`) is a record of :data:`RULES`.

Source: pkg/scheduler/plugins/predicates/predicates.go OnSessionOpen and ``ShouldAbort``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum, auto
from functools import partial
from types import MappingProxyType

import msgspec
import numpy as np

from ....model.session_tables import Ints
from ....volcano.session.filters import Filtering
from ...kube.node_columns import Mask
from ...reasons.objections import NodeCode, Objection, around
from ...reasons.statuses import PASS, Reasons, StatusCode
from .verdicts import EndsWith, FilterVerdicts

POD_NUMBER = Objection("node(s) pod number exceeded", NodeCode.TOO_MANY_PODS)
LIMITS = "NodeVolumeLimits"


class NamedIn(Enum):
    """Which verdicts name the filter that gave them."""

    NONE = auto()
    ERRORS = auto()
    """Errors of the filters that look at more than the class of a task."""
    ALL = auto()


class PodNumber(Enum):
    """When a node's limit of pods counts."""

    AS_FILTER = auto()
    """Like a filter, before all others."""
    BESIDE_ANOTHER = auto()
    """Only beside another reason: alone it does not exclude the node."""
    UNLESS_ANOTHER = auto()
    """If no filter refuses, except for the number of volumes."""
    BEFORE_ALL = auto()
    """Instead of any other reason; then evictions do not help."""


class FilterRules(msgspec.Struct, frozen=True):
    """One way of filtering.

    :ivar ends: after which verdict no other filter is run.
    :ivar limits_apart: whether the number of volumes ends nothing, and counts where no other filter
        objects.
    :ivar unclaimed: the verdict for a missing claim in the filter of volume limits.
    :ivar cache_forgives: whether the cache of a template forgets failures.
    """

    ends: EndsWith
    named: NamedIn
    pod_number: PodNumber
    unclaimed: StatusCode = StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE
    limits_apart: bool = False
    cache_forgives: bool = False


RULES: Mapping[Filtering, FilterRules] = MappingProxyType(
    {
        Filtering.ALL: FilterRules(
            EndsWith.NONE,
            NamedIn.ERRORS,
            PodNumber.AS_FILTER,
            unclaimed=StatusCode.ERROR,
            cache_forgives=True,
        ),
        Filtering.FIRST_FAULT: FilterRules(
            EndsWith.ANY, NamedIn.ALL, PodNumber.BEFORE_ALL, unclaimed=StatusCode.ERROR
        ),
        Filtering.FIRST_ERROR: FilterRules(
            EndsWith.ANY,
            NamedIn.ALL,
            PodNumber.UNLESS_ANOTHER,
            unclaimed=StatusCode.ERROR,
            limits_apart=True,
        ),
        Filtering.FIRST_REASON: FilterRules(EndsWith.ANY, NamedIn.NONE, PodNumber.BESIDE_ANOTHER),
        Filtering.RESOLVABLE_GO_ON: FilterRules(EndsWith.FINAL, NamedIn.NONE, PodNumber.AS_FILTER),
    }
)


class FilterAnswers:
    """Words and joins the answers of one session's filters.

    :param errors_final: whether every named verdict is an error, which evictions cannot resolve.
    """

    def __init__(self, reasons: Reasons, rules: FilterRules, *, errors_final: bool) -> None:
        self._reasons = reasons
        self._rules = rules
        self._final = errors_final
        self._join = FilterVerdicts(reasons, rules.ends)
        self._beside = FilterVerdicts(reasons)
        self._named: dict[tuple[str, int], int] = {}
        self._about_limits = {PASS}
        self.then, self.all_then = self._join.then, self._join.all_then

    @property
    def rules(self) -> FilterRules:
        """The release's way of filtering."""
        return self._rules

    @property
    def cached_code(self) -> StatusCode:
        """The verdict if a pod of the same template failed before."""
        if self._rules.named is NamedIn.ALL and not self._final:
            return StatusCode.UNSCHEDULABLE
        return StatusCode.ERROR

    def verdict(self, plugin: str, code: StatusCode, objection: Objection) -> int:
        """Return the verdict for a result of a kube-scheduler filter.

        :param plugin: the filter; empty for one of Volcano's own.
        """
        if self._rules.named is not NamedIn.ALL:
            return self._reasons.intern(code, objection)
        said = _named(plugin, objection) if plugin else objection
        return self._reasons.intern(StatusCode.ERROR if self._final else code, said)

    def add(self, verdicts: Ints, answers: Iterator[tuple[str, Ints]]) -> Ints:
        """Return the verdicts joined with those of further filters, in order."""
        limits = np.zeros(len(verdicts), dtype=np.int32)
        for plugin, answer in answers:
            if plugin == LIMITS and self._rules.limits_apart:
                limits = answer
            else:
                verdicts = self.all_then(verdicts, self.worded(plugin, answer))
        return self._with_limits(verdicts, limits) if limits.any() else verdicts

    def with_pod_number(self, verdicts: Ints, full: Mask) -> Ints:
        """Return the verdicts joined with the pod number, where that does not count as a filter.

        :param full: the nodes at their limit of pods.
        """
        if self._rules.pod_number is PodNumber.BESIDE_ANOTHER:
            full = full & (verdicts != PASS)
            if not full.any():
                return verdicts
            number = self._reasons.intern(StatusCode.UNSCHEDULABLE, POD_NUMBER)
            return self._beside.all_then(np.where(full, number, PASS).astype(np.int32), verdicts)
        if self._rules.pod_number is PodNumber.UNLESS_ANOTHER:
            return _each(verdicts, full, self._full_unless_another)
        if self._rules.pod_number is PodNumber.BEFORE_ALL:
            number = self._reasons.intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, POD_NUMBER)
            return np.where(full, number, verdicts).astype(np.int32)
        return verdicts

    def worded(self, plugin: str, answer: Ints) -> Ints:
        """Return a filter's verdicts, with its name where the release names it."""
        if self._rules.named is NamedIn.ALL:
            return _each(answer, answer != PASS, partial(self._naming, plugin))
        if self._rules.named is NamedIn.ERRORS and plugin:
            return _each(answer, answer != PASS, partial(self._naming_error, plugin))
        return answer

    def _naming(self, plugin: str, verdict: int) -> int:
        known = self._named.get((plugin, verdict))
        if known is None:
            (status,) = self._reasons.statuses(verdict)
            known = self._named[plugin, verdict] = self.verdict(plugin, *status)
        return known

    def _naming_error(self, plugin: str, verdict: int) -> int:
        (status,) = self._reasons.statuses(verdict)
        if status.code is not StatusCode.ERROR:
            return verdict
        return self._reasons.intern(status.code, _named(plugin, status.objection))

    def _with_limits(self, verdicts: Ints, limits: Ints) -> Ints:
        """Return the verdicts with those about the number of volumes, if no filter refuses."""
        self._about_limits.update(limits.tolist())
        hard = self._reasons.stop_preemption()[limits] & (verdicts != PASS)
        return np.where(verdicts == PASS, limits, _each(verdicts, hard, self._hardened))

    def _hardened(self, verdict: int) -> int:
        """Return a verdict with the same message that evictions cannot resolve."""
        (status,) = self._reasons.statuses(verdict)
        return self._reasons.intern(StatusCode.ERROR, status.objection)

    def _full_unless_another(self, verdict: int) -> int:
        """Return the verdict on a node at its limit of pods, combined with another verdict."""
        if verdict == PASS:
            return self._reasons.intern(StatusCode.UNSCHEDULABLE, POD_NUMBER)
        if verdict not in self._about_limits:
            return verdict
        (status,) = self._reasons.statuses(verdict)
        text = f"{POD_NUMBER.message},{status.objection.message}"
        return self._reasons.intern(status.code, around(text, POD_NUMBER, status.objection))


def _named(plugin: str, objection: Objection) -> Objection:
    return around(f"plugin {plugin} predicates failed {objection.message}", objection)


def _each(verdicts: Ints, where: Mask, change: Callable[[int], int]) -> Ints:
    """Return verdicts of which some are changed, every distinct one once."""
    if not where.any():
        return verdicts
    changed = verdicts.copy()
    for verdict in np.unique(verdicts[where]).tolist():
        changed[where & (verdicts == verdict)] = change(verdict)
    return changed
