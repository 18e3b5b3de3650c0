"""Nodes and their accounts: which nodes a session sees, and nodes that are overfull."""

from __future__ import annotations

from ..releases import FIRST, behaviour, since, subject


@subject
class NodeBehaviours:
    """Nodes and their accounts: what differs between releases."""

    not_ready_nodes_excluded: bool = behaviour(
        "A node whose condition Ready is not True is not in sessions, whatever its taints.",
        since(FIRST, True).means(
            "A node that is not ready is not in sessions: its resources do not count."
        ),
        since("v1.11.0", False, pull=3756).means(
            "A node that is not ready is only excluded by its taints: its resources count."
        ),
        source="api/node_info.go setNodeState",
    )

    overfull_nodes_crash: bool = behaviour(
        "A node with more used or pipelined than it has crashes sessions that check it.",
        since(FIRST, True).means(
            "A node that shrinks below what it runs crashes sessions until its pods are gone."
        ),
        since("v1.9.0", False, pull=3391).means(
            "A node that shrinks below what it runs takes no more pods."
        ),
        source="api/node_info.go FutureIdle",
    )

    overfull_nodes_skipped: bool = behaviour(
        "A node that uses more than it has gets no pods until that ends.",
        since(FIRST, False).means(
            "A node that uses more than it has is a candidate like others.",
            source="api/node_info.go setNodeState, allocateIdleResource",
        ),
        since("hardened", True).means(
            "A node that uses more than it has gets no pods until that ends.",
            source="engine/session/nodes/node_selection.py, engine/model/node.py; "
            "tests/session/test_hardened_nodes.py",
        ),
    )

    subtractions_checked: bool = behaviour(
        "No account goes below zero: subtractions are checked, and do not crash.",
        since(FIRST, False).means(
            "Accounts of nodes go below zero; those of jobs and queues crash the scheduler.",
            source="api/resource_info.go Sub, api/node_info.go allocateIdleResource",
        ),
        since("hardened", True).means(
            "A placement without room is refused; a wrong sum does not crash the scheduler.",
            source="engine/model/subtraction.py; tests/session/test_hardened_nodes.py",
        ),
    )

    binding_pods_always_count: bool = behaviour(
        "Pods being bound count on their node though others have taken the room; else sessions do "
        "not see those that do not fit any more.",
        since(FIRST, False).means(
            "A node that another scheduler fills during a bind seems to have room.",
            source="api/node_info.go Clone, AddTask",
        ),
        since("hardened", True).means(
            "A node that another scheduler fills during a bind is out of sync.",
            source="engine/model/node.py; tests/cache/test_hardened_cache.py",
        ),
    )

    returning_nodes_keep_pods: bool = behaviour(
        "A recreated node still has its pods; else it seems empty.",
        since(FIRST, False).means(
            "A recreated node gets too many pods: its old pods are unknown until they change.",
            source="cache/event_handlers.go RemoveNode, AddOrUpdateNode",
        ),
        since("hardened", True).means(
            "A recreated node still has its pods.",
            source="engine/cache/node_cache.py; tests/cache/test_hardened_cache.py",
        ),
    )

    pods_are_a_resource: bool = behaviour(
        "The number of pods is a resource of nodes; else it is only a limit.",
        since(FIRST, False).means(
            "Numbers of pods are not compared.",
            source="api/resource_info.go NewResource",
        ),
        since("v1.8.2", True, pull=3188).means(
            "Pods are evicted to make room in a node's number of pods.",
            source="api/resource_info.go NewResource, api/pod_info.go GetPodResourceRequest",
        ),
    )

    volumes_are_a_resource: bool = behaviour(
        "Volumes of each CSI driver are a resource of nodes, up to the attach limit.",
        since(FIRST, False).means(
            "Only a filter checks how many volumes a node takes.",
            source="cache/event_handlers.go addPod",
        ),
        since("v1.8.2", True, pull=3211).means(
            "Pods are evicted to make room in a node's number of volumes.",
            source="cache/event_handlers.go addPodCSIVolumesToTask, setCSIResourceOnNode",
        ),
    )
