"""Score ``ImageLocality``: nodes with a pod's images; large and widespread ones count most.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go, of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kube.node_columns import Amounts, NodeColumns

_MB = 1024 * 1024
_LEAST = 23 * _MB
_MOST_OF_CONTAINER = 1000 * _MB


def locality(columns: NodeColumns, images: Sequence[str]) -> Amounts | None:
    """Return the score by node of a pod's images, ``None`` if no node has any image."""
    if not columns.has_images or not images:
        return None
    total: Amounts = np.zeros(len(columns), dtype=np.int64)
    for image in images:
        total = total + columns.image_scores(image)
    most = _MOST_OF_CONTAINER * len(images)
    scores: Amounts = 100 * (np.clip(total, _LEAST, most) - _LEAST) // (most - _LEAST)
    return scores
