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
from ...reasons.objections import NodeCode, Objection

CORDONED = Objection("node(s) were unschedulable", NodeCode.CORDONED)


def cordoned(columns: NodeColumns, pod: PodClass) -> Mask:
    """Return which nodes are cordoned for a pod."""
    if tolerates(pod.tolerations, UNSCHEDULABLE_TAINT):
        return np.zeros(len(columns), dtype=np.bool_)
    return columns.unschedulable


UNTOLERATED = Objection("node(s) had untolerated taint(s)", NodeCode.UNTOLERATED_TAINT)


def objection_to(taint: Taint) -> Objection:
    """Return the objection that names a taint which a pod does not tolerate."""
    return Objection(
        f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}",
        NodeCode.UNTOLERATED_TAINT,
        taint.key,
        data={"value": taint.value},
    )


def tainted(
    columns: NodeColumns, pod: PodClass, *, named: bool = True
) -> tuple[Codes, list[Objection]]:
    """Return, by node, the place of an objection to a taint, -1 without one; and the objections.

    :param named: they say which taint it is.
    """
    objections: list[Objection] = []
    places = []
    for taints in columns.taint_sets:
        taint = untolerated(taints, pod.tolerations)
        if taint is None:
            places.append(-1)
        else:
            places.append(len(objections))
            objections.append(objection_to(taint) if named else UNTOLERATED)
    return np.array(places, dtype=np.int32)[columns.taint_codes], objections
