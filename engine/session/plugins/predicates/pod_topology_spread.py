"""Filter ``PodTopologySpreadFilter``: constraints with DoNotSchedule.

As for affinity, the counts are fixed before nodes are filtered (PreFilter). Constraints over the
same label share their counts: on a node, the last one that the node counts for wins.

Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, of Kubernetes.
"""

from __future__ import annotations

import msgspec
import numpy as np

from ....kubernetes.expressions.selectors import SelectorError
from ....model.session_tables import Ints
from ...kube.node_columns import Amounts, LabelColumn, Mask
from ...kube.node_map import DomainCounts, NodeMap
from ...kube.pod_class import PodClass, SpreadConstraint
from ...kube.spreading import counting_nodes, matching_classes
from ...reasons.objections import NodeCode, Objection
from ...reasons.statuses import Reasons, StatusCode
from .states import States

UNEVEN = Objection("node(s) didn't match pod topology spread constraints", NodeCode.TOPOLOGY_SPREAD)
UNLABELLED = Objection(f"{UNEVEN.message} (missing required label)", NodeCode.TOPOLOGY_SPREAD_LABEL)


class _Domains(msgspec.Struct, frozen=True):
    """The domains of one label, with what is counted there.

    :param eligible: domains with a node that counts; the last place stands for no domain.
    """

    column: LabelColumn
    counts: tuple[DomainCounts, ...]
    eligible: Mask


class _Check(msgspec.Struct, frozen=True):
    """One constraint."""

    max_skew: int
    min_domains: int
    counts_itself: int
    domains: _Domains


class PodTopologySpreadFilter:
    """Checks the constraints with DoNotSchedule."""

    def __init__(self, nodes: NodeMap, reasons: Reasons, states: States) -> None:
        self._nodes = nodes
        self._uneven = reasons.intern(StatusCode.UNSCHEDULABLE, UNEVEN)
        self._unlabelled = reasons.intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, UNLABELLED)
        self._plans: dict[int, tuple[_Check, ...]] = {}
        self._states = states

    def concerns(self, klass: int) -> bool:
        """Return whether pods of a class have constraints with DoNotSchedule."""
        return self._nodes.classes[klass].must_spread

    def pre_filter(self, task: int, klass: int) -> str | None:
        """Count pods for a task (PreFilter); return an error, or ``None``."""
        pod = self._nodes.classes[klass]
        plan = self._plans.get(klass)
        if plan is None:
            try:
                plan = self._plans[klass] = self._plan(klass, pod)
            except SelectorError as fault:
                return (
                    "get constraints from pod: obtaining pod's hard topology spread"
                    f" constraints: {fault}"
                )
        self._states.note(task, self._judge(plan))
        return None

    def filter(self, task: int, klass: int) -> Ints | None:
        """Return a verdict for each node, as counted for the task last; ``None`` if all pass."""
        if task not in self._states:
            self.pre_filter(task, klass)
        return self._states.of(task)

    def _judge(self, plan: tuple[_Check, ...]) -> Ints:
        verdicts = np.zeros(len(self._nodes.columns), dtype=np.int32)
        # Backwards, as in a node's verdict the first constraint that fails is named.
        for check in reversed(plan):
            column, eligible = check.domains.column, check.domains.eligible
            if eligible.any():
                crowded = _crowded(check, _sum(check.domains.counts))
                verdicts[crowded[column.codes]] = self._uneven
            # Last, as `Filter` looks for the label before it works out the skew of that constraint.
            verdicts[column.codes == column.absent] = self._unlabelled
        return verdicts

    def _plan(self, klass: int, pod: PodClass) -> tuple[_Check, ...]:
        constraints = pod.hard_spread
        domains = {
            key: self._domains(klass, pod, key, constraints)
            for key in dict.fromkeys(constraint.key for constraint in constraints)
        }
        return tuple(
            _Check(
                constraint.max_skew,
                constraint.min_domains,
                int(constraint.selector.matches(pod.labels)),
                domains[constraint.key],
            )
            for constraint in constraints
        )

    def _domains(
        self, klass: int, pod: PodClass, key: str, constraints: tuple[SpreadConstraint, ...]
    ) -> _Domains:
        columns = self._nodes.columns
        column = columns.label(key)
        labelled = np.ones(len(columns), dtype=np.bool_)
        for constraint in constraints:
            its_column = columns.label(constraint.key)
            # A node counts only with the labels of all constraints
            # (`nodeLabelsMatchSpreadConstraints`).
            labelled &= its_column.codes != its_column.absent
        taken = ~labelled
        counts = []
        for place in range(len(constraints) - 1, -1, -1):
            constraint = constraints[place]
            if constraint.key == key:
                among = counting_nodes(columns, pod, constraint) & ~taken
                taken |= among
                classes = matching_classes(self._nodes, pod, constraint)
                name = ("hard spread", klass, place)
                counts.append(self._nodes.count(name, classes, column, among, living=True))
        eligible = np.zeros(column.absent + 1, dtype=np.bool_)
        eligible[column.codes[taken & labelled]] = True
        return _Domains(column, tuple(counts), eligible)


def _sum(counts: tuple[DomainCounts, ...]) -> Amounts:
    total = counts[0].by_domain
    for more in counts[1:]:
        total = total + more.by_domain
    return total


def _crowded(check: _Check, pods: Amounts) -> Mask:
    """Return, by domain, whether one more pod there exceeds the skew."""
    eligible = check.domains.eligible
    least = 0
    # `minMatchNum`: with fewer domains than `minDomains`, one that is still empty is assumed.
    if np.count_nonzero(eligible) >= check.min_domains:
        least = int(pods[eligible].min())
    crowded: Mask = pods + (check.counts_itself - least) > check.max_skew
    return crowded
