"""What the scheduler reads from pods: their role, gates and requests, and when a pod is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class PodsWithoutClaims(StrEnum):
    """What happens to a pod whose claim is missing when the pod is first seen."""

    KEPT = "kept"
    """It is known, and looked at again."""
    DROPPED = "dropped"
    """It is ignored until the pod changes."""
    AWAITED = "awaited"
    """It is known, if the claim may still be created; else it is dropped."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class PodBehaviours:
    """What the scheduler reads from pods: what differs between releases."""

    scheduling_gates: bool
    """Pods with scheduling gates are left alone."""

    role_by_label: bool
    """A label gives a pod's role, if no annotation does."""

    sidecar_requests_counted: bool
    """Init containers that go on running count with a pod's containers."""

    pod_level_requests_counted: bool
    """Pod-level requests replace those of containers; overhead counts in init too."""

    in_place_resizes_counted: bool
    """What containers that were resized have, by their status, counts where it is more than what
    they request."""

    pods_without_claims: PodsWithoutClaims
    """What happens to a pod that is created before one of its claims."""

    device_claims_needed: bool
    """A pod with a ResourceClaim is known only when the claim exists."""

    ended_pods_not_removed_from_node: bool
    """The deletion of an ended pod does not change its node."""

    job_cleanup_removes_recreated_job: bool
    """Forgetting a deleted PodGroup may also forget a new one of the same name."""

    stale_deletions_ignored: bool
    """The deletion of an object removes nothing that has another UID, or a newer version."""


ROWS: tuple[Row, ...] = (
    Row(
        "scheduling_gates",
        False,
        FIRST,
        source="api/job_info.go NewTaskInfo",
        why="Pods with scheduling gates are placed, but cannot be bound.",
        fault="Pods with scheduling gates are placed, but cannot be bound.",
    ),
    Row(
        "scheduling_gates",
        True,
        landed("v1.10.0"),
        source="api/job_info.go calSchedulingGated",
        why="Pods with scheduling gates wait, and reserve nothing.",
        pull=3658,
    ),
    Row(
        "role_by_label",
        False,
        FIRST,
        source="api/job_info.go getTaskID",
        why="Only the annotation volcano.sh/task-spec gives a pod's role.",
    ),
    Row(
        "role_by_label",
        True,
        landed("v1.10.0"),
        source="api/job_info.go getTaskRole",
        why="A label volcano.sh/task-spec gives a pod's role too.",
        pull=3430,
    ),
    Row(
        "sidecar_requests_counted",
        False,
        FIRST,
        source="api/pod_info.go GetPodResourceRequest",
        why="Pods with sidecars overfill nodes.",
        fault="Requests of sidecars do not count, so pods overfill nodes.",
    ),
    Row(
        "sidecar_requests_counted",
        True,
        landed("v1.10.0"),
        source="api/pod_info.go GetPodResourceRequest",
        why="Sidecars count in the requests of their pods.",
        pull=3706,
    ),
    Row(
        "pod_level_requests_counted",
        False,
        FIRST,
        source="api/pod_info.go GetPodResourceRequest",
        why="Only the containers' requests count.",
        fault="Requests of a pod for all its containers together do not count.",
    ),
    Row(
        "pod_level_requests_counted",
        True,
        landed("v1.15.0"),
        source="api/pod_info.go amendResourceAccordingToPodFeatures",
        why="Pods can request cpu and memory for all containers together.",
        pull=5020,
    ),
    Row(
        "in_place_resizes_counted",
        False,
        FIRST,
        source="api/pod_info.go GetPodResourceRequest",
        why="A pod that is resized in place counts with its new requests.",
    ),
    Row(
        "in_place_resizes_counted",
        True,
        landed("v1.14.0"),
        source="api/pod_info.go GetPodResourceRequest, determineContainerReqs",
        why="A pod that shrinks in place counts with its old requests until kubelet resizes it.",
        pull=3839,
    ),
    Row(
        "pods_without_claims",
        PodsWithoutClaims.KEPT,
        FIRST,
        source="cache/event_handlers.go addPod",
        why="A pod that is created before its claim is known; its volumes are counted later.",
    ),
    Row(
        "pods_without_claims",
        PodsWithoutClaims.DROPPED,
        landed("v1.15.0"),
        source="cache/event_handlers.go addPod",
        why="A pod that is created before its claim stays pending until the pod changes.",
        pull=5058,
    ),
    Row(
        "pods_without_claims",
        PodsWithoutClaims.AWAITED,
        landed("v1.15.1"),
        source="cache/event_handlers.go addPod, isPendingPVCError",
        why="A pod that is created before its claim is scheduled when the claim exists.",
        pull=5596,
    ),
    Row(
        "device_claims_needed",
        False,
        FIRST,
        source="cache/event_handlers.go NewTaskInfo",
        why="ResourceClaims are not checked when a pod is created.",
    ),
    Row(
        "device_claims_needed",
        True,
        landed("v1.15.0"),
        source="cache/event_handlers.go NewTaskInfo, cache/cache.go buildTaskDRAInfo",
        why="A pod that is created before its ResourceClaim stays pending until the pod changes.",
        pull=5058,
    ),
    Row(
        "ended_pods_not_removed_from_node",
        False,
        FIRST,
        source="cache/event_handlers.go deleteTask",
        why="When an old pod is deleted, a new one of the same name may be removed from its node.",
    ),
    Row(
        "ended_pods_not_removed_from_node",
        True,
        landed("v1.13.1"),
        source="cache/event_handlers.go deleteTask",
        why="Deleting an ended pod changes only its job.",
        pull=4650,
    ),
    Row(
        "job_cleanup_removes_recreated_job",
        True,
        FIRST,
        source="cache/cache.go processCleanupJob",
        why="A PodGroup that is deleted and created again may stay Pending until the next restart.",
    ),
    Row(
        "job_cleanup_removes_recreated_job",
        False,
        landed("v1.9.0"),
        source="cache/cache.go processCleanupJob",
        why="A PodGroup that is deleted and created again is scheduled.",
        pull=3375,
    ),
    Row(
        "stale_deletions_ignored",
        False,
        FIRST,
        source="cache/event_handlers.go deletePodGroup, deleteTask; cache/cache.go syncTask",
        why="A late event about a deleted object may affect the new one of its name.",
    ),
    Row(
        "stale_deletions_ignored",
        True,
        landed("hardened"),
        source="engine/cache/job_cache.py; tests/cache/test_hardened_cache.py",
        why="A PodGroup or pod that was created again is not confused with the deleted one.",
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
