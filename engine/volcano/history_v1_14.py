"""The history of what v1.14 changed first, and of fixes that older lines got at the time.

Each behaviour's first row says what was so before.
"""

from __future__ import annotations

from .behaviours import (
    CapacityVictims,
)
from .releases import FIRST, Row, landed

ROWS_V1_14: tuple[Row, ...] = (
    Row(
        "unsound_tree_stops",
        True,
        FIRST,
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="One wrong queue, or a node less, stops every queue.",
    ),
    Row(
        "unsound_tree_stops",
        False,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="A wrong tree is a line in the log, and scheduling goes on.",
    ),
    Row(
        "capacity_victims",
        CapacityVictims.OVER_DESERVED,
        FIRST,
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="A queue gives if it holds more of anything than it deserves.",
    ),
    Row(
        "capacity_victims",
        CapacityVictims.BY_DIMENSION,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="A queue gives a task only for what that task holds too much of.",
    ),
    Row(
        "capacity_victims",
        CapacityVictims.IN_ORDER_BY_DIMENSION,
        landed("v1.15.0"),
        source="plugins/capacity/capacity.go OnSessionOpen (AddReclaimableFn)",
        why="Of several victims the least important go first.",
    ),
    Row(
        "deserving_queues_first",
        False,
        FIRST,
        source="plugins/capacity/capacity.go updateShare",
        why="Queues without anything deserved come first.",
    ),
    Row(
        "deserving_queues_first",
        True,
        landed("v1.14.0"),
        source="plugins/capacity/capacity.go updateQueueAttrShare",
        why="Queues without anything deserved come after those that still lack theirs.",
    ),
)
