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
    """A node on which more is used or promised than it has crashes a session that looks at it."""

    overfull_nodes_skipped: bool
    """Nothing new comes to a node on which more is used than it has, until it is whole again."""

    subtractions_checked: bool
    """Nothing is taken from what is not there: no account goes below nothing, and none crashes."""

    binding_pods_always_count: bool
    """Pods being bound count on their node though others have taken the room; else sessions do not
    see those that do not fit any more."""

    returning_nodes_keep_pods: bool
    """A node that went and comes back still has the pods that were on it; else it seems empty."""

    pods_are_a_resource: bool
    """Pods are a resource that nodes have and pods request; else nodes have only a limit."""

    volumes_are_a_resource: bool
    """Volumes are a resource too: of each CSI driver, a node takes as many as it can attach."""


ROWS: tuple[Row, ...] = (
    Row(
        "not_ready_nodes_excluded",
        True,
        FIRST,
        source="api/node_info.go setNodeState",
        why="A node that is not ready is as if it were gone: its room does not count.",
    ),
    Row(
        "not_ready_nodes_excluded",
        False,
        landed("v1.11.0"),
        source="api/node_info.go setNodeState",
        why="A node that is not ready is only kept out by its taints: its room counts.",
        pull=3756,
    ),
    Row(
        "overfull_nodes_crash",
        True,
        FIRST,
        source="api/node_info.go FutureIdle",
        why="A node that shrinks below what runs there ends the process, until its pods are gone.",
    ),
    Row(
        "overfull_nodes_crash",
        False,
        landed("v1.9.0"),
        source="api/node_info.go FutureIdle",
        why="A node that shrinks below what runs there takes no more.",
        pull=3391,
    ),
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
        source="engine/session/nodes/node_selection.py, engine/model/node.py; "
        "tests/session/test_hardened_nodes.py",
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
        source="engine/model/subtraction.py; tests/session/test_hardened_nodes.py",
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
        source="engine/model/node.py; tests/cache/test_hardened_cache.py",
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
        source="engine/cache/node_cache.py; tests/cache/test_hardened_cache.py",
        why="A node that goes and comes back has the pods that it had.",
    ),
    Row(
        "pods_are_a_resource",
        False,
        FIRST,
        source="api/resource_info.go NewResource",
        why="What a queue has of pods is not compared with anything.",
    ),
    Row(
        "pods_are_a_resource",
        True,
        landed("v1.8.2"),
        source="api/resource_info.go NewResource, api/pod_info.go GetPodResourceRequest",
        why="Pods are evicted so that a node has room for one more.",
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
        why="Pods are evicted so that a node has room for another's volumes.",
        pull=3211,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
