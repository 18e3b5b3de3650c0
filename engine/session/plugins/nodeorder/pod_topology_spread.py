"""Score ``PodTopologySpread``: domains with fewer of a pod's like are better.

Pods without constraints of their own that belong to a service, or to a replica or stateful set, are
spread over hosts and zones by default.

Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go and common.go, helper/spread.go,
of Kubernetes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....belief.informers import Objects
from ....belief.objects import LabelSelector, Pod
from ...extension import ScoreError
from ...kube.node_columns import HOSTNAME, Codes, LabelColumn, Mask
from ...kube.node_map import DomainCounts, NodeMap
from ...kube.pod_class import PodClass, Spread, default_spread
from ...kube.selectors import (
    Requirement,
    Selector,
    SelectorError,
    exactly,
    label_selector,
)
from ...kube.spreading import counting_nodes, matching_classes
from ...tables import Floats, Rows

HIGHEST = 100


class _Spread(NamedTuple):
    """One constraint, with what is counted for it.

    :param counts: the counts of all constraints over the same label: they share them.
    :param repeats: whether an earlier constraint is over the same label.
    """

    max_skew: int
    column: LabelColumn
    counts: tuple[DomainCounts, ...]
    by_host: bool
    repeats: bool


class _Plan(NamedTuple):
    """The constraints of a class; ``scored`` are the nodes that are not passed over."""

    spreads: tuple[_Spread, ...]
    scored: Mask | None


class PodTopologySpread:
    """Counts pods by domain for the constraints that only weigh."""

    def __init__(self, nodes: NodeMap, objects: Objects) -> None:
        self._nodes = nodes
        self._objects = objects
        self._plans: dict[int, _Plan] = {}

    def concerns(self, klass: int) -> bool:
        """Return whether pods of a class are to be spread, or cannot be scored."""
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
        total = np.zeros(len(rows))
        for spread in plan.spreads:
            codes = spread.column.codes[rows]
            labelled = codes != spread.column.absent
            weight = math.log(_size(spread, codes, scored) + 2)
            pods = sum(counts.by_domain[counts.codes[rows]] for counts in spread.counts)
            total += np.where(labelled, pods * weight + float(spread.max_skew - 1), 0.0)
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
                    columns.label(constraint.key),
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
        constraint: Spread,
        scored: Mask | None,
    ) -> DomainCounts:
        """Count pods in the domains; on hosts, every node counts for itself, whatever it is."""
        nodes = self._nodes
        classes = matching_classes(nodes, pod, constraint.selector)
        if constraint.key == HOSTNAME:
            return nodes.count(name, classes, nodes.hosts(), living=True)
        among = counting_nodes(nodes.columns, pod, constraint)
        if scored is not None:
            among = among & scored
        return nodes.count(name, classes, nodes.columns.label(constraint.key), among, living=True)

    def _constraints(self, pod: PodClass) -> tuple[Spread, ...]:
        if pod.spreads_by_default:
            return default_spread(self._default_selector(pod.pod))
        return pod.soft_spread

    def _default_selector(self, pod: Pod) -> Selector:
        """Return what selects a pod's like: its services, and its owner. Source: DefaultSelector."""
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


def _requirements(source: LabelSelector | None) -> tuple[Requirement, ...]:
    """Return the conditions of an owner's selector; none if it does not parse."""
    try:
        return label_selector(source).requirements
    except SelectorError:
        return ()


def _size(spread: _Spread, codes: Codes, scored: Mask | None) -> int:
    """Return how many domains the candidates have; for hosts, how many candidates count.

    A label that was looked at before counts nothing again.
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
    passed_over = scores == -1 if scored is None else ~scored
    counted = scores if scored is None else scores[scored]
    if scored is not None:
        passed_over = passed_over | (scores == -1)
    most = max(float(counted.max(initial=0.0)), 0.0)
    if not most:
        return np.where(passed_over, 0.0, float(HIGHEST))
    left = np.trunc(HIGHEST * (most + float(counted.min(initial=np.inf)) - scores) / most)
    return np.where(passed_over, 0.0, left)
