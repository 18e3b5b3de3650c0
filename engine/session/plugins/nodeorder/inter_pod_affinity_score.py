"""Score ``InterPodAffinityScore``: by preferred affinity and anti-affinity.

Preferred terms of the pod count, and those of the pods that run on nodes. For a pod without
preferred terms, the latter are found only on nodes that had a pod with terms when the session was
opened.

Source: pkg/scheduler/framework/plugins/interpodaffinity/scoring.go, of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ....model.session_tables import Floats, Rows
from ...framework.plugin_registry import ScoreError
from ...kube.affinity_terms import Namespaces, namespace_labels, own_terms
from ...kube.node_columns import Amounts, Mask
from ...kube.node_map import DomainCounts, NodeMap
from ...kube.pod_class import AffinityTerm, PodClass


class _Weighed(NamedTuple):
    """Pods that count, each with a weight."""

    weight: int
    counts: DomainCounts


def _matching(term: AffinityTerm) -> Callable[[PodClass], bool]:
    return lambda pod: term.matches(pod, {})


class InterPodAffinityScore:
    """Counts what is preferred, by domain."""

    def __init__(self, nodes: NodeMap, namespaces: Namespaces) -> None:
        self._nodes = nodes
        self._namespaces = namespaces
        self._with_preference = nodes.classes_where(
            lambda pod: pod.has_affinity and bool(pod.affinities.preferred)
        )
        self._plans: dict[int, tuple[_Weighed, ...]] = {}

    def concerns(self, klass: int) -> bool:
        """Return whether any preferred term can count for pods of a class."""
        return bool(self._plan_of(klass)) or bool(self.fault(klass))

    def score(self, klass: int, rows: Rows) -> Floats | None:
        """Return the normalised scores of candidates, ``None`` if all are 0.

        :raises ScoreError: a term of the pod does not parse.
        """
        if self.fault(klass):
            raise ScoreError(f"failed to parse pod: {self.fault(klass)}")
        plan = [weighed for weighed in self._plan_of(klass) if weighed.counts.total]
        if not plan or not len(rows):
            return None
        scores: Amounts = np.zeros(len(rows), dtype=np.int64)
        for weight, counts in plan:
            scores += weight * counts.by_domain[counts.codes[rows]]
        least, most = int(scores.min()), int(scores.max())
        if least == most:
            return None
        normalised: Floats = np.trunc(100.0 * ((scores - least) / float(most - least)))
        return normalised

    def fault(self, klass: int) -> str:
        """Return why the terms of pods of a class do not parse; empty if they do."""
        pod = self._nodes.classes[klass]
        return pod.affinities.error if pod.has_affinity else ""

    def _plan_of(self, klass: int) -> tuple[_Weighed, ...]:
        known = self._plans.get(klass)
        if known is None:
            known = self._plans[klass] = tuple(self._plan(klass, self._nodes.classes[klass]))
        return known

    def _plan(self, klass: int, pod: PodClass) -> list[_Weighed]:
        nodes = self._nodes
        weighed = []
        own = pod.affinities.preferred if pod.has_affinity else ()
        terms = own_terms((preferred.term for preferred in own), self._namespaces)
        for place, (preferred, term) in enumerate(zip(own, terms, strict=True)):
            meant = nodes.classes_where(partial(term.matches, namespace_labels={}))
            name = ("preferred", klass, place)
            counts = nodes.count(name, meant, nodes.columns.label(term.key))
            weighed.append(_Weighed(preferred.weight, counts))
        among: Mask | None = None if own else nodes.had_affinity
        labels = namespace_labels(self._namespaces, pod.namespace)
        by_weight: dict[tuple[str, int], list[int]] = {}
        for number in self._with_preference:
            for weight, term in nodes.classes[number].affinities.preferred:
                if term.matches(pod, labels):
                    by_weight.setdefault((term.key, weight), []).append(number)
        for (key, weight), numbers in by_weight.items():
            for times, classes in _multiplicities(numbers).items():
                counted = ("preferring", klass, key, weight, times)
                counts = nodes.count(counted, classes, nodes.columns.label(key), among)
                weighed.append(_Weighed(weight * times, counts))
        return weighed


def _multiplicities(numbers: list[int]) -> dict[int, list[int]]:
    """Return the numbers by how often they occur: a pod may prefer the same twice."""
    by_times: dict[int, list[int]] = {}
    for number in dict.fromkeys(numbers):
        by_times.setdefault(numbers.count(number), []).append(number)
    return by_times
