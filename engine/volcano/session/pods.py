"""What the scheduler reads from pods: their role, gates and requests, and when a pod is known."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, since, subject


class PodsWithoutClaims(StrEnum):
    """What happens to a pod whose claim is missing when the pod is first seen."""

    KEPT = "kept"
    """It is known, and looked at again."""
    DROPPED = "dropped"
    """It is ignored until the pod changes."""
    AWAITED = "awaited"
    """It is known, if the claim may still be created; else it is dropped."""


@subject
class PodBehaviours:
    """What the scheduler reads from pods: what differs between releases."""

    scheduling_gates: bool = behaviour(
        "Pods with scheduling gates are left alone.",
        since(FIRST, False).means(
            "Pods with scheduling gates are placed, but cannot be bound.",
            source="api/job_info.go NewTaskInfo",
            fault="Pods with scheduling gates are placed, but cannot be bound.",
        ),
        since("v1.10.0", True, pull=3658).means(
            "Pods with scheduling gates wait, and reserve nothing.",
            source="api/job_info.go calSchedulingGated",
        ),
    )

    role_by_label: bool = behaviour(
        "A label gives a pod's role, if no annotation does.",
        since(FIRST, False).means(
            "Only the annotation volcano.sh/task-spec gives a pod's role.",
            source="api/job_info.go getTaskID",
        ),
        since("v1.10.0", True, pull=3430).means(
            "A label volcano.sh/task-spec gives a pod's role too.",
            source="api/job_info.go getTaskRole",
        ),
    )

    sidecar_requests_counted: bool = behaviour(
        "Init containers that go on running count with a pod's containers.",
        since(FIRST, False).means(
            "Pods with sidecars overfill nodes.",
            fault="Requests of sidecars do not count, so pods overfill nodes.",
        ),
        since("v1.10.0", True, pull=3706).means("Sidecars count in the requests of their pods."),
        source="api/pod_info.go GetPodResourceRequest",
    )

    pod_level_requests_counted: bool = behaviour(
        "Pod-level requests replace those of containers; overhead counts in init too.",
        since(FIRST, False).means(
            "Only the containers' requests count.",
            source="api/pod_info.go GetPodResourceRequest",
            fault="Requests of a pod for all its containers together do not count.",
        ),
        since("v1.15.0", True, pull=5020).means(
            "Pods can request cpu and memory for all containers together.",
            source="api/pod_info.go amendResourceAccordingToPodFeatures",
        ),
    )

    in_place_resizes_counted: bool = behaviour(
        "What containers that were resized have, by their status, counts where it is more than "
        "what they request.",
        since(FIRST, False).means(
            "A pod that is resized in place counts with its new requests.",
            source="api/pod_info.go GetPodResourceRequest",
        ),
        since("v1.14.0", True, pull=3839).means(
            "A pod that shrinks in place counts with its old requests until kubelet resizes it.",
            source="api/pod_info.go GetPodResourceRequest, determineContainerReqs",
        ),
    )

    pods_without_claims: PodsWithoutClaims = behaviour(
        "What happens to a pod that is created before one of its claims.",
        since(FIRST, PodsWithoutClaims.KEPT).means(
            "A pod that is created before its claim is known; its volumes are counted later.",
            source="cache/event_handlers.go addPod",
        ),
        since("v1.15.0", PodsWithoutClaims.DROPPED, pull=5058).means(
            "A pod that is created before its claim stays pending until the pod changes.",
            source="cache/event_handlers.go addPod",
        ),
        since("v1.15.1", PodsWithoutClaims.AWAITED, pull=5596).means(
            "A pod that is created before its claim is scheduled when the claim exists.",
            source="cache/event_handlers.go addPod, isPendingPVCError",
        ),
    )

    device_claims_needed: bool = behaviour(
        "A pod with a ResourceClaim is known only when the claim exists.",
        since(FIRST, False).means(
            "ResourceClaims are not checked when a pod is created.",
            source="cache/event_handlers.go NewTaskInfo",
        ),
        since("v1.15.0", True, pull=5058).means(
            "A pod that is created before its ResourceClaim stays pending until the pod changes.",
            source="cache/event_handlers.go NewTaskInfo, cache/cache.go buildTaskDRAInfo",
        ),
    )

    ended_pods_not_removed_from_node: bool = behaviour(
        "The deletion of an ended pod does not change its node.",
        since(FIRST, False).means(
            "When an old pod is deleted, a new one of the same name may be removed from its node."
        ),
        since("v1.13.1", True, pull=4650).means("Deleting an ended pod changes only its job."),
        source="cache/event_handlers.go deleteTask",
    )

    job_cleanup_removes_recreated_job: bool = behaviour(
        "Forgetting a deleted PodGroup may also forget a new one of the same name.",
        since(FIRST, True).means(
            "A PodGroup that is deleted and created again may stay Pending until the next restart."
        ),
        since("v1.9.0", False, pull=3375).means(
            "A PodGroup that is deleted and created again is scheduled."
        ),
        source="cache/cache.go processCleanupJob",
    )

    stale_deletions_ignored: bool = behaviour(
        "The deletion of an object removes nothing that has another UID, or a newer version.",
        since(FIRST, False).means(
            "A late event about a deleted object may affect the new one of its name.",
            source="cache/event_handlers.go deletePodGroup, deleteTask; cache/cache.go syncTask",
        ),
        since("hardened", True).means(
            "A PodGroup or pod that was created again is not confused with the deleted one.",
            source="engine/cache/job_cache.py; tests/cache/test_hardened_cache.py",
        ),
    )
