"""Jobs as gangs: when a gang is ready, and the groups within a PodGroup."""

from __future__ import annotations

from ..releases import FIRST, behaviour, landed, since, subject


@subject
class GangBehaviours:
    """Jobs as gangs: what differs between releases."""

    best_effort_is_ready: bool = behaviour(
        "Pending pods without requests count as ready: gangs preempt less, and are preempted.",
        since(FIRST, True).means(
            "Pending pods without requests count towards their gang's minimum.",
            source="api/job_info.go ReadyTaskNum",
            fault="Pending pods without requests count towards their gang's minimum.",
        ),
        since("v1.9.0", False, pull=3335).means(
            "Pending pods without requests do not count towards their gang's minimum.",
            source="api/job_info.go ReadyTaskNum, PendingBestEffortTaskNum",
        ),
    )

    removed_min_task_members_forgotten: bool = behaviour(
        "The minima of roles that a PodGroup no longer names are forgotten.",
        since(FIRST, False).means("A role that was removed from a PodGroup still has its minimum."),
        since(landed("v1.12.3", "v1.13.1"), True, pull=4803).means(
            "A role that is removed from a PodGroup has no minimum any more."
        ),
        source="api/job_info.go ParseMinMemberInfo",
    )

    sub_groups: bool = behaviour(
        "A PodGroup's policy divides its pods into groups, each with a minimum and a topology.",
        since(FIRST, False).means(
            "A job is one group: subGroupPolicy has no effect.",
            source="api/job_info.go",
        ),
        since("v1.14.0", True, pull=4721).means(
            "Pods wait until their group of subGroupPolicy is complete, and stay near each other.",
            source="api/job_info.go getOrCreateSubJob",
        ),
    )

    sub_groups_need_hard_topology: bool = behaviour(
        "Groups are only placed if the job or one of them has a hard topology.",
        since(FIRST, True).means(
            "Without a hard topology, pods of a subGroupPolicy are never placed."
        ),
        since("v1.14.1", False, pull=5038).means(
            "A subGroupPolicy works without a network topology."
        ),
        source="actions/allocate/allocate.go allocateResources",
    )

    sub_group_tier_names: bool = behaviour(
        "A group's highest tier may be a name.",
        since(FIRST, False).means(
            "highestTierName in a subGroupPolicy has no effect.",
            source="actions/allocate/allocate.go updateJobTier",
            fault="highestTierName in a subGroupPolicy is ignored.",
        ),
        since("v1.14.2", True, pull=5190).means(
            "highestTierName in a subGroupPolicy limits groups, as highestTierAllowed does.",
            source="framework/session.go adjustNetworkTopologySpec",
        ),
    )
