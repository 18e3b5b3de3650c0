"""Filter ``NodePorts``: the pod's host ports must be free.

A port that two pods of a node occupy is free as soon as one of them goes, as nodes keep a set.

Source: pkg/scheduler/framework/plugins/nodeports/node_ports.go Filter, of Kubernetes.
"""

from __future__ import annotations

from ...kube.node_columns import Mask
from ...kube.node_map import NodeMap
from ...kube.pod_class import PodClass
from ...reasons.objections import NodeCode, Objection

OCCUPIED = Objection(
    "node(s) didn't have free ports for the requested pod ports", NodeCode.HOST_PORTS
)


def occupied(nodes: NodeMap, pod: PodClass) -> Mask:
    """Return which nodes lack a port that a pod requests."""
    return nodes.ports_taken(pod.ports)
