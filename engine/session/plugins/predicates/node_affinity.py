"""Filter ``NodeAffinity``: the nodes that a pod's selector and required terms allow.

Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go Filter, of Kubernetes.
"""

from __future__ import annotations

from ...kube.node_columns import Mask, NodeColumns
from ...kube.pod_class import PodClass
from ...reasons.objections import NodeCode, Objection

NO_MATCH = Objection("node(s) didn't match Pod's node affinity/selector", NodeCode.NODE_AFFINITY)


def matching(columns: NodeColumns, pod: PodClass) -> Mask:
    """Return which nodes a pod may run on."""
    return columns.required(pod.required_nodes)
