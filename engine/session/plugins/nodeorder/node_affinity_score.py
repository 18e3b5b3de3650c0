"""Score ``NodeAffinity``: the weights of the preferred terms that a node satisfies.

Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go Score, of Kubernetes; only
newer releases of Volcano normalise it.
"""

from __future__ import annotations

import numpy as np

from ....kubernetes.expressions.selectors import SelectorError
from ...kube.node_columns import Amounts, NodeColumns
from ...kube.pod_class import PodClass


def cannot_prefer(pod: PodClass) -> bool:
    """Return whether a preference of a pod does not parse, so that no node can be scored."""
    try:
        return pod.preferred_nodes is None
    except SelectorError:
        return True


def preference(columns: NodeColumns, pod: PodClass) -> Amounts | None:
    """Return the sum of weights by node, ``None`` if the pod prefers none.

    :raises SelectorError: a term does not parse.
    """
    if not pod.preferred_nodes:
        return None
    scores: Amounts = np.zeros(len(columns), dtype=np.int64)
    for weight, term in pod.preferred_nodes:
        scores += weight * columns.term(term)
    return scores


def normalised(scores: Amounts) -> Amounts:
    """Return scores of 100 at most: each as a part of the highest.

    Source: helper/normalize_score.go DefaultNormalizeScore, of Kubernetes.
    """
    highest = int(scores.max(initial=0))
    return scores if highest == 0 else scores * 100 // highest
