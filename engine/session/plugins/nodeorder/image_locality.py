"""Score ``ImageLocality``: nodes that have a pod's images, large and widespread ones above all.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go, of Kubernetes.
"""

from __future__ import annotations

import numpy as np

from ...kube.node_columns import Amounts, NodeColumns
from ...kube.pod_class import PodClass

_MB = 1024 * 1024
_LEAST = 23 * _MB
_MOST_OF_CONTAINER = 1000 * _MB


def locality(columns: NodeColumns, pod: PodClass) -> Amounts | None:
    """Return the score by node, ``None`` if no node has any image."""
    if not columns.has_images or not pod.images:
        return None
    total: Amounts = np.zeros(len(columns), dtype=np.int64)
    for image in pod.images:
        total = total + columns.image_scores(image)
    most = _MOST_OF_CONTAINER * len(pod.images)
    scores: Amounts = 100 * (np.clip(total, _LEAST, most) - _LEAST) // (most - _LEAST)
    return scores
