"""Nodes and their accounts: which nodes a session sees, and nodes that are overfull."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class NodeBehaviours:
    """Nodes and their accounts: what differs between releases."""

    not_ready_nodes_excluded: bool
    """A node whose condition Ready is not True is not in sessions, whatever its taints."""

    overfull_nodes_crash: bool
    """A node with more used or pipelined than it has crashes sessions that check it."""

    overfull_nodes_skipped: bool
    """A node that uses more than it has gets no pods until that ends."""

    subtractions_checked: bool
    """No account goes below zero: subtractions are checked, and do not crash."""

    binding_pods_always_count: bool
    """Pods being bound count on their node though others have taken the room; else sessions do not
    see those that do not fit any more."""

    returning_nodes_keep_pods: bool
    """A recreated node still has its pods; else it seems empty."""

    pods_are_a_resource: bool
    """The number of pods is a resource of nodes; else it is only a limit."""

    volumes_are_a_resource: bool
    """Volumes of each CSI driver are a resource of nodes, up to the attach limit."""


ROWS: tuple[Row, ...] = (
    Row(
        "not_ready_nodes_excluded",
        True,
        FIRST,
        source="api/node_info.go setNodeState",
        why="A node that is not ready is not in sessions: its resources do not count.",
    ),
    Row(
        "not_ready_nodes_excluded",
        False,
        landed("v1.11.0"),
        source="api/node_info.go setNodeState",
        why="A node that is not ready is only excluded by its taints: its resources count.",
        pull=3756,
    ),
    Row(
        "overfull_nodes_crash",
        True,
        FIRST,
        source="api/node_info.go FutureIdle",
        why="A node that shrinks below what it runs crashes sessions until its pods are gone.",
    ),
    Row(
        "overfull_nodes_crash",
        False,
        landed("v1.9.0"),
        source="api/node_info.go FutureIdle",
        why="A node that shrinks below what it runs takes no more pods.",
        pull=3391,
    ),
    Row(
        "overfull_nodes_skipped",
        False,
        FIRST,
        source="api/node_info.go setNodeState, allocateIdleResource",
        why="A node that uses more than it has is a candidate like others.",
    ),
    Row(
        "overfull_nodes_skipped",
        True,
        landed("hardened"),
        source="engine/session/nodes/node_selection.py, engine/model/node.py; "
        "tests/session/test_hardened_nodes.py",
        why="A node that uses more than it has gets no pods until that ends.",
    ),
    Row(
        "subtractions_checked",
        False,
        FIRST,
        source="api/resource_info.go Sub, api/node_info.go allocateIdleResource",
        why="Accounts of nodes go below zero; those of jobs and queues crash the scheduler.",
    ),
    Row(
        "subtractions_checked",
        True,
        landed("hardened"),
        source="engine/model/subtraction.py; tests/session/test_hardened_nodes.py",
        why="A placement without room is refused; a wrong sum does not crash the scheduler.",
    ),
    Row(
        "binding_pods_always_count",
        False,
        FIRST,
        source="api/node_info.go Clone, AddTask",
        why="A node that another scheduler fills during a bind seems to have room.",
    ),
    Row(
        "binding_pods_always_count",
        True,
        landed("hardened"),
        source="engine/model/node.py; tests/cache/test_hardened_cache.py",
        why="A node that another scheduler fills during a bind is out of sync.",
    ),
    Row(
        "returning_nodes_keep_pods",
        False,
        FIRST,
        source="cache/event_handlers.go RemoveNode, AddOrUpdateNode",
        why="A recreated node gets too many pods: its old pods are unknown until they change.",
    ),
    Row(
        "returning_nodes_keep_pods",
        True,
        landed("hardened"),
        source="engine/cache/node_cache.py; tests/cache/test_hardened_cache.py",
        why="A recreated node still has its pods.",
    ),
    Row(
        "pods_are_a_resource",
        False,
        FIRST,
        source="api/resource_info.go NewResource",
        why="Numbers of pods are not compared.",
    ),
    Row(
        "pods_are_a_resource",
        True,
        landed("v1.8.2"),
        source="api/resource_info.go NewResource, api/pod_info.go GetPodResourceRequest",
        why="Pods are evicted to make room in a node's number of pods.",
        pull=3188,
    ),
    Row(
        "volumes_are_a_resource",
        False,
        FIRST,
        source="cache/event_handlers.go addPod",
        why="Only a filter checks how many volumes a node takes.",
    ),
    Row(
        "volumes_are_a_resource",
        True,
        landed("v1.8.2"),
        source="cache/event_handlers.go addPodCSIVolumesToTask, setCSIResourceOnNode",
        why="Pods are evicted to make room in a node's number of volumes.",
        pull=3211,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
