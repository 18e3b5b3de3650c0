"""Score ``PodTopologySpreadScore``: domains with fewer matching pods are better.

Pods without constraints that belong to a Service, ReplicaSet or StatefulSet are spread over hosts
and zones by default.

Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go and common.go,
helper/spread.go, of Kubernetes.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from ....cache.informers import Objects
from ....kubernetes.expressions.selectors import (
    LabelRequirement,
    Selector,
    SelectorError,
    exactly,
    label_selector,
)
from ....kubernetes.objects import LabelSelector, Pod
from ....model.session_tables import Floats, Rows
from ...framework.plugin_registry import ScoreError
from ...kube.node_columns import HOSTNAME, Codes, LabelColumn, Mask
from ...kube.node_map import DomainCounts, NodeMap
from ...kube.pod_class import PodClass, SpreadConstraint, default_spread
from ...kube.spreading import counting_nodes, matching_classes

HIGHEST = 100
_PASSED_OVER = -1.0


class _Spread(msgspec.Struct, frozen=True):
    """One constraint, with what is counted for it.

    :param counts: the counts of all constraints over the same label: they share them.
    :param repeats: whether an earlier constraint is over the same label.
    """

    max_skew: int
    column: LabelColumn
    counts: tuple[DomainCounts, ...]
    by_host: bool
    repeats: bool


class _Plan(msgspec.Struct, frozen=True):
    """The constraints of a class; ``scored`` are the nodes that are not skipped."""

    spreads: tuple[_Spread, ...]
    scored: Mask | None


class PodTopologySpreadScore:
    """Counts pods by domain for constraints with ScheduleAnyway.

    :param counts_on_hosts: pods on a node count for it; without, all hosts are equally empty.
    """

    def __init__(self, nodes: NodeMap, objects: Objects, *, counts_on_hosts: bool) -> None:
        self._counts_on_hosts = counts_on_hosts
        self._nodes = nodes
        self._objects = objects
        self._plans: dict[int, _Plan] = {}

    def concerns(self, klass: int) -> bool:
        """Return whether pods of a class have such constraints, or cannot be scored."""
        try:
            return bool(self._plan_of(klass).spreads)
        except ScoreError:
            return True

    def score(self, klass: int, rows: Rows) -> Floats | None:
        """Return the normalised scores of candidates, ``None`` if the pod is not spread.

        :raises ScoreError: a selector does not parse.
        """
        plan = self._plan_of(klass)
        if not plan.spreads or not len(rows):
            return None
        scored = None if plan.scored is None else plan.scored[rows]
        total: Floats | None = None
        for spread in plan.spreads:
            codes = spread.column.codes[rows]
            by_domain = _by_domain(spread, _size(spread, codes, scored))
            if len(plan.spreads) == 1:
                return _normalised(_rounded(by_domain)[codes], scored)
            total = by_domain[codes] if total is None else total + by_domain[codes]
        assert total is not None
        return _normalised(_rounded(total), scored)

    def _plan_of(self, klass: int) -> _Plan:
        known = self._plans.get(klass)
        if known is None:
            known = self._plans[klass] = self._plan(klass, self._nodes.classes[klass])
        return known

    def _plan(self, klass: int, pod: PodClass) -> _Plan:
        try:
            constraints = self._constraints(pod)
        except SelectorError as fault:
            raise ScoreError(
                "calculating preScoreState: obtaining pod's soft topology spread constraints:"
                f" {fault}"
            ) from fault
        columns = self._nodes.columns
        scored = None
        # `requireAllTopologies`: for the default constraints a node without a zone still counts as
        # a host.
        if constraints and not pod.spreads_by_default:
            scored = columns.every
            for constraint in constraints:
                scored = scored & columns.has(constraint.key)
        counts = [
            self._count(("soft spread", klass, place), pod, constraint, scored)
            for place, constraint in enumerate(constraints)
        ]
        keys = [constraint.key for constraint in constraints]
        spreads = []
        for place, constraint in enumerate(constraints):
            by_host = constraint.key == HOSTNAME
            shared = [c for key, c in zip(keys, counts, strict=True) if key == constraint.key]
            spreads.append(
                _Spread(
                    constraint.max_skew,
                    self._domains(constraint.key),
                    (counts[place],) if by_host else tuple(shared),
                    by_host,
                    constraint.key in keys[:place],
                )
            )
        return _Plan(tuple(spreads), scored)

    def _count(
        self,
        name: tuple[str, int, int],
        pod: PodClass,
        constraint: SpreadConstraint,
        scored: Mask | None,
    ) -> DomainCounts:
        """Count pods in the domains; on hosts, for every node."""
        nodes = self._nodes
        classes = matching_classes(nodes, pod, constraint)
        among = None
        if constraint.key == HOSTNAME and not self._counts_on_hosts:
            classes = []
        if constraint.key != HOSTNAME:
            among = counting_nodes(nodes.columns, pod, constraint)
            if scored is not None:
                among = among & scored
        return nodes.count(name, classes, self._domains(constraint.key), among, living=True)

    def _domains(self, key: str) -> LabelColumn:
        """Return the domains of a label; hosts are nodes, though several say they are one host."""
        column = self._nodes.columns.label(key)
        if key != HOSTNAME:
            return column
        names = self._nodes.columns.names
        codes = np.where(column.codes == column.absent, len(names), np.arange(len(names)))
        return LabelColumn(codes.astype(np.int32), tuple(names))

    def _constraints(self, pod: PodClass) -> tuple[SpreadConstraint, ...]:
        if pod.spreads_by_default:
            return default_spread(self._default_selector(pod.pod))
        return pod.soft_spread

    def _default_selector(self, pod: Pod) -> Selector:
        """Return the default selector of a pod: from its Services and its owner.

        Source: ``DefaultSelector``.
        """
        selector = exactly(self._service_labels(pod))
        owner = pod.metadata.controller
        if owner is None:
            return selector
        key, objects = f"{pod.namespace}/{owner.name}", self._objects
        if (owner.api_version, owner.kind) == ("v1", "ReplicationController"):
            controller = objects.replication_controllers.get(key)
            if controller is not None:
                labels = {**self._service_labels(pod), **controller.spec.selector}
                selector = exactly(labels)
        elif (owner.api_version, owner.kind) == ("apps/v1", "ReplicaSet"):
            replica_set = objects.replica_sets.get(key)
            if replica_set is not None:
                selector = selector.add(_requirements(replica_set.spec.selector))
        elif (owner.api_version, owner.kind) == ("apps/v1", "StatefulSet"):
            stateful_set = objects.stateful_sets.get(key)
            if stateful_set is not None:
                selector = selector.add(_requirements(stateful_set.spec.selector))
        return selector

    def _service_labels(self, pod: Pod) -> dict[str, str]:
        labels: dict[str, str] = {}
        for service in self._objects.services.values():
            wanted = service.spec.selector
            if (
                service.namespace == pod.namespace
                and wanted
                and all(pod.labels.get(key) == value for key, value in wanted.items())
            ):
                labels.update(wanted)
        return labels


def _requirements(source: LabelSelector | None) -> tuple[LabelRequirement, ...]:
    """Return the conditions of an owner's selector; none if it does not parse."""
    try:
        return label_selector(source).requirements
    except SelectorError:
        return ()


def _by_domain(spread: _Spread, size: int) -> Floats:
    """Return each domain's part of its nodes' score; the last number is for no domain.

    Source: ``scoreForCount``.
    """
    pods = spread.counts[0].by_domain
    for more in spread.counts[1:]:
        pods = pods + more.by_domain
    scores: Floats = pods.astype(float) * math.log(size + 2) + float(spread.max_skew - 1)
    # `Score` adds nothing for a label that a node lacks, not even the part for the skew.
    scores[-1] = 0.0
    return scores


def _size(spread: _Spread, codes: Codes, scored: Mask | None) -> int:
    """Return how many domains the candidates have; for hosts, how many candidates count.

    A label that was already counted does not count again.
    """
    counted = codes if scored is None else codes[scored]
    if spread.by_host:
        return len(counted)
    return 0 if spread.repeats else int(np.count_nonzero(np.bincount(counted)))


def _rounded(scores: Floats) -> Floats:
    """Round halves away from zero, as Go does."""
    whole = np.trunc(scores)
    return whole + np.copysign(np.abs(scores - whole) >= 0.5, scores)


def _normalised(scores: Floats, scored: Mask | None) -> Floats:
    """Return the share that is left to the fullest candidate, of 100; 0 where nothing counts.

    Source: ``NormalizeScore``, which takes a score of -1 for that of a node to be passed over.
    """
    counted = scores if scored is None else scores[scored]
    least = float(counted.min(initial=np.inf))
    most = float(counted.max(initial=0.0))
    if most:
        left = np.trunc(HIGHEST * (most + least - scores) / most)
    else:
        left = np.full(len(scores), float(HIGHEST))
    if least == _PASSED_OVER:
        left = np.where(scores == _PASSED_OVER, 0.0, left)
    return left if scored is None else np.where(scored, left, 0.0)
