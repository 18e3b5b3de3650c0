"""The history of what v1.15 changed first, and of fixes that older lines got at the time.

Each behaviour's first row says what was so before.
"""

from __future__ import annotations

from .releases import FIRST, Row, landed

ROWS_V1_15: tuple[Row, ...] = (
    Row(
        "nodegroup_preferred_order",
        False,
        FIRST,
        source="plugins/nodegroup/nodegroup.go score",
        why="All preferred node groups score alike.",
    ),
    Row(
        "nodegroup_preferred_order",
        True,
        landed("v1.15.0"),
        source="plugins/nodegroup/nodegroup.go score",
        why="Preferred node groups can be ranked.",
    ),
    Row(
        "reclaim_spares_unused_nodes",
        False,
        FIRST,
        source="actions/reclaim/reclaim.go",
        why="Pods may be evicted on a node that is not used in the end.",
    ),
    Row(
        "reclaim_spares_unused_nodes",
        True,
        landed("v1.15.0"),
        source="actions/reclaim/reclaim.go reclaimForTask",
        why="Evictions on a node that does not suffice are taken back.",
    ),
)
