"""Filter ``InterPodAffinityFilter``: required affinity and anti-affinity.

The counts are fixed before nodes are filtered (PreFilter); pods that are evicted or placed while
nodes are filtered do not change them until the next PreFilter of the task. A task for which
there was nothing to check once is not checked for the rest of the session.

Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, of Kubernetes;
pkg/scheduler/plugins/predicates/predicates.go, where every failure is final.
"""

from __future__ import annotations

import msgspec
import numpy as np

from ....model.session_tables import Ints
from ...kube.affinity_terms import Namespaces, namespace_labels, own_terms
from ...kube.node_columns import Mask
from ...kube.node_map import DomainCounts, NodeMap
from ...kube.pod_class import AffinityTerm, PodClass
from ...reasons.objections import NodeCode, Objection
from ...reasons.statuses import Reasons, StatusCode
from .states import States

AFFINITY = Objection("node(s) didn't match pod affinity rules", NodeCode.POD_AFFINITY)
ANTI_AFFINITY = Objection(
    "node(s) didn't match pod anti-affinity rules", NodeCode.POD_ANTI_AFFINITY
)
EXISTING = Objection(
    "node(s) didn't satisfy existing pods anti-affinity rules", NodeCode.ANTI_AFFINITY_OF_OTHERS
)


class _Plan(msgspec.Struct, frozen=True):
    """What is counted for pods of a class.

    :param near: pods that match all required terms, by the domains of each term.
    :param matches_itself: whether the pod is one of them.
    :param away: pods that match a required anti-affinity term, likewise.
    :param repelling: pods whose required anti-affinity excludes this pod, by domain.
    """

    near: tuple[DomainCounts, ...]
    matches_itself: bool
    away: tuple[DomainCounts, ...]
    repelling: tuple[DomainCounts, ...]

    @property
    def idle(self) -> bool:
        """Whether there is nothing to check."""
        return not self.near and not self.away and not any(c.total for c in self.repelling)


class InterPodAffinityFilter:
    """Checks the required terms of pods that are placed and of those on the nodes.

    :param curable: evicting pods can help where there is one too many.
    """

    def __init__(
        self,
        nodes: NodeMap,
        namespaces: Namespaces,
        reasons: Reasons,
        states: States,
        *,
        curable: bool,
    ) -> None:
        self._nodes = nodes
        self._namespaces = namespaces
        final = StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE
        code = StatusCode.UNSCHEDULABLE if curable else final
        self._ids = [
            reasons.intern(final, AFFINITY),
            reasons.intern(code, ANTI_AFFINITY),
            reasons.intern(code, EXISTING),
        ]
        self._with_anti = nodes.classes_where(lambda pod: pod.has_required_anti)
        self._concerned: dict[int, bool] = {}
        self._plans: dict[int, _Plan] = {}
        self._skipped: set[int] = set()
        self._states = states

    def concerns(self, klass: int) -> bool:
        """Return whether pods of a class have required terms, or others may for them."""
        known = self._concerned.get(klass)
        if known is None:
            pod = self._nodes.classes[klass]
            known = self._concerned[klass] = (
                pod.has_affinity and self._has_terms(pod)
            ) or self._is_feared(pod)
        return known

    def pre_filter(self, task: int, klass: int) -> str | None:
        """Count pods for a task (PreFilter); return an error, or ``None``."""
        pod = self._nodes.classes[klass]
        if pod.affinities.error:
            return f"parsing pod: {pod.affinities.error}"
        if self._plan_of(klass).idle:
            self._skipped.add(task)
        self._states.note(task, self.anew(task, klass))
        return None

    def filter(self, task: int, klass: int) -> Ints | None:
        """Return a verdict for each node, as counted for the task last; ``None`` if all pass."""
        if task not in self._states:
            self.pre_filter(task, klass)
        return self._states.of(task)

    def anew(self, task: int, klass: int) -> Ints | None:
        """Return the result of :meth:`filter` for the pods on the nodes now.

        A task for which there was something to check when it was prepared for is checked.
        """
        return None if task in self._skipped else self._judge(self._plan_of(klass))

    def _plan_of(self, klass: int) -> _Plan:
        plan = self._plans.get(klass)
        if plan is None:
            plan = self._plans[klass] = self._plan(klass, self._nodes.classes[klass])
        return plan

    def _has_terms(self, pod: PodClass) -> bool:
        terms = pod.affinities
        return bool(terms.required or terms.required_anti or terms.error)

    def _is_feared(self, pod: PodClass) -> bool:
        labels = namespace_labels(self._namespaces, pod.namespace)
        return any(
            term.matches(pod, labels)
            for number in self._with_anti
            for term in self._nodes.classes[number].affinities.required_anti
        )

    def _judge(self, plan: _Plan) -> Ints:
        verdicts = np.zeros(len(self._nodes.columns), dtype=np.int32)
        affinity, anti_affinity, existing = self._ids
        # Backwards: `Filter` checks affinity first, then anti-affinity, then that of other pods.
        for counts in plan.repelling:
            if counts.by_domain.any():
                verdicts[counts.by_node() > 0] = existing
        for counts in plan.away:
            if counts.by_domain.any():
                verdicts[counts.by_node() > 0] = anti_affinity
        if plan.near:
            verdicts[~self._near(plan)] = affinity
        return verdicts

    def _near(self, plan: _Plan) -> Mask:
        """Return the nodes near the pods that a pod must be near.

        The first of pods that must be near each other may be wherever the labels exist.
        """
        first = plan.matches_itself and not any(counts.by_domain.any() for counts in plan.near)
        near = self._nodes.columns.every.copy()
        for counts in plan.near:
            near &= counts.codes != counts.absent if first else counts.by_node() > 0
        return near

    def _plan(self, klass: int, pod: PodClass) -> _Plan:
        terms = own_terms(pod.affinities.required, self._namespaces)
        near = tuple(self._count(("near", klass, term.key), terms, term.key) for term in terms)
        away = tuple(
            self._count(("away", klass, place), (term,), term.key)
            for place, term in enumerate(own_terms(pod.affinities.required_anti, self._namespaces))
        )
        return _Plan(
            near, bool(terms) and _all_match(terms, pod), away, self._repelling(klass, pod)
        )

    def _count(
        self, name: tuple[str, int, object], terms: tuple[AffinityTerm, ...], key: str
    ) -> DomainCounts:
        nodes = self._nodes
        meant = nodes.classes_where(lambda pod: _all_match(terms, pod))
        return nodes.count(name, meant, nodes.columns.label(key))

    def _repelling(self, klass: int, pod: PodClass) -> tuple[DomainCounts, ...]:
        """Count pods whose anti-affinity excludes this one, on nodes with such at the opening."""
        nodes, labels = self._nodes, namespace_labels(self._namespaces, pod.namespace)
        by_key: dict[str, list[int]] = {}
        for number in self._with_anti:
            terms = nodes.classes[number].affinities.required_anti
            for key in sorted({term.key for term in terms if term.matches(pod, labels)}):
                by_key.setdefault(key, []).append(number)
        return tuple(
            nodes.count(
                ("feared", klass, key), numbers, nodes.columns.label(key), nodes.had_required_anti
            )
            for key, numbers in by_key.items()
        )


def _all_match(terms: tuple[AffinityTerm, ...], pod: PodClass) -> bool:
    return all(term.matches(pod, {}) for term in terms)
