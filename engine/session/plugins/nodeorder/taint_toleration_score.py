"""Score ``TaintToleration``: fewer untolerated PreferNoSchedule taints are better.

Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go and
helper/normalize_score.go DefaultNormalizeScore, of Kubernetes.
"""

from __future__ import annotations

from ....model.session_tables import Floats, Rows
from ...kube.node_columns import Codes, NodeColumns
from ...kube.node_map import NodeMap
from ...kube.tolerations import PREFER_NO_SCHEDULE, intolerable, preferring

HIGHEST = 100


class TaintToleration:
    """Counts the taints that a class does not tolerate, once for all nodes."""

    def __init__(self, nodes: NodeMap) -> None:
        self._nodes = nodes
        self._any = _any_preference(nodes.columns)
        self._counts: dict[int, Codes] = {}

    def score(self, klass: int, rows: Rows) -> Floats | int:
        """Return the normalised scores of candidates; one number if all have the same."""
        if not self._any:
            return HIGHEST
        counts = self._of_class(klass)[rows]
        most = int(counts.max(initial=0))
        if not most:
            return HIGHEST
        scores: Floats = (HIGHEST - HIGHEST * counts // most).astype(float)
        return scores

    def uniform(self, klass: int) -> int | None:
        """Return the score that every node has in every list, ``None`` if they differ."""
        return None if self._any and self._of_class(klass).any() else HIGHEST

    def _of_class(self, klass: int) -> Codes:
        known = self._counts.get(klass)
        if known is None:
            tolerations = preferring(self._nodes.classes[klass].tolerations)
            known = self._counts[klass] = self._nodes.columns.by_taints(
                lambda taints: intolerable(taints, tolerations)
            )
        return known


def _any_preference(columns: NodeColumns) -> bool:
    return any(
        taint.effect == PREFER_NO_SCHEDULE for taints in columns.taint_sets for taint in taints
    )
