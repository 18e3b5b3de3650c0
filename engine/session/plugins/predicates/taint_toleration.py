"""Filters ``NodeUnschedulable`` and ``TaintToleration``: cordoned nodes, and taints.

Source: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go and
tainttoleration/taint_toleration.go Filter, of Kubernetes.
"""

from __future__ import annotations

import numpy as np

from ....kubernetes.objects import Taint
from ...kube.node_columns import Codes, Mask, NodeColumns
from ...kube.pod_class import PodClass
from ...kube.tolerations import UNSCHEDULABLE_TAINT, tolerates, untolerated

CORDONED = "node(s) were unschedulable"


def cordoned(columns: NodeColumns, pod: PodClass) -> Mask:
    """Return which nodes are cordoned for a pod."""
    if tolerates(pod.tolerations, UNSCHEDULABLE_TAINT):
        return np.zeros(len(columns), dtype=np.bool_)
    return columns.unschedulable


UNTOLERATED = "node(s) had untolerated taint(s)"


def message_of(taint: Taint) -> str:
    """Return the message that names a taint which a pod does not tolerate."""
    return f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"


def tainted(columns: NodeColumns, pod: PodClass, *, named: bool = True) -> tuple[Codes, list[str]]:
    """Return, by node, the place of a message about a taint, -1 without one; and the messages.

    :param named: the messages say which taint it is.
    """
    messages: list[str] = []
    places = []
    for taints in columns.taint_sets:
        taint = untolerated(taints, pod.tolerations)
        if taint is None:
            places.append(-1)
        else:
            places.append(len(messages))
            messages.append(message_of(taint) if named else UNTOLERATED)
    return np.array(places, dtype=np.int32)[columns.taint_codes], messages
