"""Plugin ``nodeorder``: which of the nodes that fit a task is best.

Source: pkg/scheduler/plugins/nodeorder/nodeorder.go (up to v1.14); the scores of candidates against
each other are put together in pkg/scheduler/plugins/util/nodescore/score_helper.go.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import msgspec
import numpy as np

from ....model.panic import NIL_POINTER, Panic
from ....model.session_tables import Floats, Rows
from ....volcano.conf import Arguments
from ...framework.plugin_registry import ScoreError
from ...kube.node_columns import Amounts
from ...kube.node_map import NodeMap, node_map
from ..shared.kube_metrics import KubeMetrics
from .image_locality import locality
from .inter_pod_affinity_score import InterPodAffinityScore
from .node_affinity_score import cannot_prefer, normalised, preference
from .pod_topology_spread_score import PodTopologySpreadScore
from .resource_allocation import ResourceAllocation, Weights
from .taint_toleration_score import TaintToleration

if TYPE_CHECKING:
    from ...framework.session import Session


_NO_METRICS = (
    "plugins/util/nodescore.CalculatePluginScore",
    "plugins/nodeorder.interPodAffinityScore",
    "plugins/nodeorder.(*nodeOrderPlugin).OnSessionOpen.func2",
    "framework.(*Session).BatchNodeOrderFn",
)
"""kube-scheduler counts its workers in a metric that was never created."""


class ScoreWeights(msgspec.Struct, frozen=True):
    """How much each score counts; 0 switches a score off."""

    least_requested: int
    most_requested: int
    node_affinity: int
    pod_affinity: int
    balanced_resource: int
    taint_toleration: int
    image_locality: int
    topology_spread: int


def read_weights(arguments: Arguments) -> ScoreWeights:
    """Return the weights that arguments give. Source: ``calculateWeight``."""
    return ScoreWeights(
        least_requested=arguments.get_int("leastrequested.weight", 1),
        most_requested=arguments.get_int("mostrequested.weight", 0),
        node_affinity=arguments.get_int("nodeaffinity.weight", 2),
        pod_affinity=arguments.get_int("podaffinity.weight", 2),
        balanced_resource=arguments.get_int("balancedresource.weight", 1),
        taint_toleration=arguments.get_int("tainttoleration.weight", 3),
        image_locality=arguments.get_int("imagelocality.weight", 1),
        topology_spread=arguments.get_int("podtopologyspread.weight", 2),
    )


class NodeOrder:
    """Adds up kube-scheduler's scores."""

    name: ClassVar[str] = "nodeorder"

    def __init__(self, arguments: Arguments) -> None:
        self._weights = read_weights(arguments)

    def on_session_open(self, ssn: Session) -> None:
        """Register the scores of single nodes, and those of candidates against each other."""
        scores = Scores(ssn, node_map(ssn), self._weights)
        ssn.registry.add_node_order(
            self.name,
            scores.order,
            per="class",
            partial=scores.partial,
            one=scores.order_on,
            late=ssn.behaviours.node_affinity_normalised,  # since then all are scores over lists
        )
        ssn.registry.add_batch_node_order(self.name, scores.batch, uniform=scores.uniform)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""


class Scores:
    """The scores of one session."""

    def __init__(self, ssn: Session, nodes: NodeMap, weights: ScoreWeights) -> None:
        self._nodes = nodes
        self._klass = nodes.klass
        self._weights = weights
        how = ssn.behaviours
        self._allocation = ResourceAllocation(
            nodes,
            Weights(weights.least_requested, weights.most_requested, weights.balanced_resource),
            balanced_allocation_scores_best_effort=how.balanced_allocation_scores_best_effort,
        )
        self._affinity = InterPodAffinityScore(nodes, ssn.objects.namespaces)
        self._taints = TaintToleration(nodes)
        self._spread = PodTopologySpreadScore(
            nodes, ssn.objects, counts_on_hosts=ssn.behaviours.hosts_spread_scored
        )
        self._behaviours = ssn.behaviours
        self._unspread = 0.0
        """The score of pods without topologySpreadConstraints."""
        if ssn.behaviours.unconstrained_pods_get_spread_score:
            self._unspread = 100.0 * weights.topology_spread
        self._fixed: dict[int, Floats] = {}
        self._metrics = ssn.process.memory.of(KubeMetrics)

    def order(self, task: int, rows: Rows) -> Floats:
        """Return the scores of single nodes; NaN for a pod that cannot be scored."""
        klass = self._klass[task]
        return self._fixed_of(klass)[rows] + self._allocation.all(self._nodes.classes[klass], rows)

    @property
    def partial(self) -> bool:
        """Whether there are pods that cannot be scored."""
        if self._behaviours.node_affinity_normalised or not self._weights.node_affinity:
            return False
        return bool(self._nodes.classes_where(cannot_prefer))

    def order_on(self, task: int, row: int) -> float:
        """Do as :meth:`order` for one row."""
        klass = self._klass[task]
        alone = self._allocation.one(self._nodes.classes[klass], row)
        return self._fixed_of(klass).item(row) + alone

    def batch(self, task: int, rows: Rows) -> Floats:
        """Return the scores that depend on the other candidates.

        :raises ScoreError: a term or selector of the pod does not parse.
        :raises Panic: the release needs PrePredicate of ``predicates`` first, and it did not run.
        """
        klass, weights = self._klass[task], self._weights
        self._check_metrics(klass, rows)
        # In the order of `batchNodeOrderFn`, since sums of floats depend on it.
        total = np.full(len(rows), 0.0)
        near = self._affinity.score(klass, rows)
        if near is not None:
            total += near * weights.pod_affinity
        total += self._taints.score(klass, rows) * weights.taint_toleration
        if self._behaviours.node_affinity_normalised and weights.node_affinity:
            preferred = self._preferred(klass, rows)
            if preferred is not None:
                total += preferred * weights.node_affinity
        spread = self._spread.score(klass, rows)
        if spread is not None:
            total += spread * weights.topology_spread
        elif self._unspread:
            total += self._unspread
        return total

    def uniform(self, task: int) -> float | None:
        """Return what :meth:`batch` gives every node in every list; ``None`` if they differ."""
        klass = self._klass[task]
        same = self._taints.uniform(klass)
        if (
            self._lacks_metrics()
            or same is None
            or self._affinity.concerns(klass)
            or self._spread.concerns(klass)
        ):
            return None
        if self._behaviours.node_affinity_normalised and self._weights.node_affinity:
            pod = self._nodes.classes[klass]
            if cannot_prefer(pod) or pod.preferred_nodes:
                return None
        return float(same * self._weights.taint_toleration) + self._unspread

    def _lacks_metrics(self) -> bool:
        return self._behaviours.nodeorder_needs_predicates and not self._metrics.registered

    def _check_metrics(self, klass: int, rows: Rows) -> None:
        """Panic where kube-scheduler's workers use the metric; the pod is parsed before that."""
        if len(rows) and not self._affinity.fault(klass) and self._lacks_metrics():
            raise Panic(NIL_POINTER, _NO_METRICS)

    def _preferred(self, klass: int, rows: Rows) -> Amounts | None:
        """Return the preference for candidates, the highest being 100; ``None`` without any.

        :raises ScoreError: a term does not parse.
        """
        pod = self._nodes.classes[klass]
        if cannot_prefer(pod):
            raise ScoreError("parsing preferred node affinity terms")
        preferred = preference(self._nodes.columns, pod)
        return None if preferred is None else normalised(preferred[rows])

    def _fixed_of(self, klass: int) -> Floats:
        """Return the scores that no placement changes: images and preferred nodes."""
        known = self._fixed.get(klass)
        if known is None:
            known = self._fixed[klass] = self._fix(klass)
        return known

    def _fix(self, klass: int) -> Floats:
        columns, pod, weights = self._nodes.columns, self._nodes.classes[klass], self._weights
        total = np.zeros(len(columns))
        if weights.image_locality and self._behaviours.images_scored:
            named = pod.images if self._behaviours.init_container_images_scored else pod.main_images
            images = locality(columns, named)
            if images is not None:
                total += images * weights.image_locality
        if weights.node_affinity and not self._behaviours.node_affinity_normalised:
            if cannot_prefer(pod):
                return total + math.nan
            preferred = preference(columns, pod)
            if preferred is not None:
                total += preferred * weights.node_affinity
        return total
