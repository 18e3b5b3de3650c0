"""The history of remedies that no release of Volcano has in full: our own release ``hardened``.

Each behaviour's first row says what all of Volcano's releases do.
"""

from __future__ import annotations

from .releases import FIRST, Row, landed

ROWS_HARDENED: tuple[Row, ...] = (
    Row(
        "overfull_nodes_skipped",
        False,
        FIRST,
        source="api/node_info.go setNodeState, allocateIdleResource",
        why="A node on which more is used than it has is a candidate like any other.",
    ),
    Row(
        "overfull_nodes_skipped",
        True,
        landed("hardened"),
        source="engine/session/scoring.py; tests/session/test_hardened_nodes.py",
        why="Nothing comes to a node on which more is used than it has, until it is whole again.",
    ),
)
