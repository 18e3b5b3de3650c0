"""Which nodes and which pods count for topologySpreadConstraints.

Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, of Kubernetes.
"""

from __future__ import annotations

from .node_columns import Mask, NodeColumns
from .node_map import NodeMap
from .pod_class import PodClass, SpreadConstraint


def counting_nodes(columns: NodeColumns, pod: PodClass, constraint: SpreadConstraint) -> Mask:
    """Return which nodes count for a pod's constraint. Source: ``matchNodeInclusionPolicies``."""
    mask = columns.every
    if constraint.honors_affinity:
        mask = mask & columns.required(pod.required_nodes)
    if constraint.honors_taints:
        mask = mask & columns.tolerable(pod.tolerations)
    return mask


def matching_classes(nodes: NodeMap, pod: PodClass, constraint: SpreadConstraint) -> list[int]:
    """Return the classes of the pod's namespace that a constraint counts.

    An empty selector means none, or all.

    Source: ``countPodsMatchSelector``.
    """
    selector = constraint.selector
    if selector.empty and not constraint.empty_means_all:
        return []
    return nodes.classes_where(
        lambda placed: placed.namespace == pod.namespace and selector.matches(placed.labels)
    )
