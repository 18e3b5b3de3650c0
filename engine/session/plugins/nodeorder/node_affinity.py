"""Score ``NodeAffinity``: the weights of the preferred terms that a node satisfies, as they are.

Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go Score, of Kubernetes; Volcano
does not normalise it.
"""

from __future__ import annotations

import numpy as np

from ...extension import ScoreError
from ...kube.node_columns import Amounts, NodeColumns
from ...kube.pod_class import PodClass
from ...kube.selectors import SelectorError


def preference(columns: NodeColumns, pod: PodClass) -> Amounts | None:
    """Return the sum of weights by node, ``None`` if the pod prefers none.

    :raises ScoreError: a term does not parse.
    """
    try:
        preferred = pod.preferred_nodes
    except SelectorError as fault:
        raise ScoreError(str(fault)) from fault
    if not preferred:
        return None
    scores: Amounts = np.zeros(len(columns), dtype=np.int64)
    for weight, term in preferred:
        scores += weight * columns.term(term)
    return scores
