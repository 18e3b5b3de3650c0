"""The history of remedies that no release of Volcano has in full: our own release ``hardened``.

Each behaviour's first row says what all of Volcano's releases do. The others say where the remedy
is to be read in this repository, and which test holds it.
"""

from __future__ import annotations

from .behaviours import RootQueueBounds
from .releases import FIRST, Row, landed

_NODES = "tests/session/test_hardened_nodes.py"
_BELIEF = "tests/cache/test_hardened_cache.py"
_QUEUES = "tests/session/plugins/test_hardened_queues.py"

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
        source=f"engine/session/nodes/node_selection.py, engine/model/node.py; {_NODES}",
        why="Nothing comes to a node on which more is used than it has, until it is whole again.",
    ),
    Row(
        "subtractions_checked",
        False,
        FIRST,
        source="api/resource_info.go Sub, api/node_info.go allocateIdleResource",
        why="Accounts of nodes go below nothing; those of jobs and queues crash the scheduler.",
    ),
    Row(
        "subtractions_checked",
        True,
        landed("hardened"),
        source=f"engine/model/subtraction.py; {_NODES}",
        why="A placement that a node has no room for is refused, and a wrong sum crashes nothing.",
    ),
    Row(
        "binding_pods_always_count",
        False,
        FIRST,
        source="api/node_info.go Clone, AddTask",
        why="A node that another scheduler fills while a pod is being bound seems to have room.",
    ),
    Row(
        "binding_pods_always_count",
        True,
        landed("hardened"),
        source=f"engine/model/node.py; {_BELIEF}",
        why="A node that another scheduler fills while a pod is being bound is out of sync.",
    ),
    Row(
        "returning_nodes_keep_pods",
        False,
        FIRST,
        source="cache/event_handlers.go RemoveNode, AddOrUpdateNode",
        why="A node that goes and comes back is overfilled: its pods are unknown till they change.",
    ),
    Row(
        "returning_nodes_keep_pods",
        True,
        landed("hardened"),
        source=f"engine/cache/node_cache.py; {_BELIEF}",
        why="A node that goes and comes back has the pods that it had.",
    ),
    Row(
        "children_may_exceed_parent",
        True,
        FIRST,
        source="plugins/capacity/capacity.go checkHierarchicalQueue",
        why="A queue that is guaranteed more than its parent has leaves others beside it nothing.",
    ),
    Row(
        "children_may_exceed_parent",
        False,
        landed("hardened"),
        source=f"engine/session/plugins/capacity/granting.py; {_QUEUES}",
        why="A queue that claims more than its parent has harms none but those below it.",
    ),
    Row(
        "root_queue_bounds",
        RootQueueBounds.ENDLESS_WHERE_UNSET,
        landed("hardened"),
        source=f"engine/session/plugins/capacity/soundness.py; {_QUEUES}",
        why="A capability of the root that names only cpu bounds only cpu.",
    ),
    Row(
        "stale_deletions_ignored",
        False,
        FIRST,
        source="cache/event_handlers.go deletePodGroup, deleteTask; cache/cache.go syncTask",
        why="What is told late of an object that is gone may hit the new one of its name.",
    ),
    Row(
        "stale_deletions_ignored",
        True,
        landed("hardened"),
        source=f"engine/cache/job_cache.py; {_BELIEF}",
        why="A PodGroup or pod that was made again is not taken for the one that is gone.",
    ),
    Row(
        "reservation_kept_after_refusal",
        True,
        FIRST,
        source="plugins/capacity/capacity.go, plugins/proportion/proportion.go OnSessionOpen",
        why="A queue is fuller for the rest of a session by each job that another plugin refused.",
    ),
    Row(
        "reservation_kept_after_refusal",
        False,
        landed("hardened"),
        source=f"engine/session/actions/enqueue.py; {_QUEUES}",
        why="What was reserved for a job is given back, in all its queues, if it is refused.",
    ),
)
