"""Jobs as gangs: when a gang is ready, and the groups within a PodGroup."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class GangBehaviours:
    """Jobs as gangs: what differs between releases."""

    best_effort_is_ready: bool
    """Pending pods without requests count as ready: gangs preempt less, and are preempted."""

    removed_min_task_members_forgotten: bool
    """The minima of roles that a PodGroup no longer names are forgotten."""

    sub_groups: bool
    """A PodGroup's policy divides its pods into groups, each with a minimum and a topology."""

    sub_groups_need_hard_topology: bool
    """Groups are only placed if the job or one of them has a hard topology."""

    sub_group_tier_names: bool
    """A group's highest tier may be a name."""


ROWS: tuple[Row, ...] = (
    Row(
        "best_effort_is_ready",
        True,
        FIRST,
        source="api/job_info.go ReadyTaskNum",
        why="Pending pods without requests count towards their gang's minimum.",
        fault="Pending pods without requests count towards their gang's minimum.",
    ),
    Row(
        "best_effort_is_ready",
        False,
        landed("v1.9.0"),
        source="api/job_info.go ReadyTaskNum, PendingBestEffortTaskNum",
        why="Pending pods without requests do not count towards their gang's minimum.",
        pull=3335,
    ),
    Row(
        "removed_min_task_members_forgotten",
        False,
        FIRST,
        source="api/job_info.go ParseMinMemberInfo",
        why="A role that was removed from a PodGroup still has its minimum.",
    ),
    Row(
        "removed_min_task_members_forgotten",
        True,
        landed("v1.12.3", "v1.13.1"),
        source="api/job_info.go ParseMinMemberInfo",
        why="A role that is removed from a PodGroup has no minimum any more.",
        pull=4803,
    ),
    Row(
        "sub_groups",
        False,
        FIRST,
        source="api/job_info.go",
        why="A job is one group: subGroupPolicy has no effect.",
    ),
    Row(
        "sub_groups",
        True,
        landed("v1.14.0"),
        source="api/job_info.go getOrCreateSubJob",
        why="Pods wait until their group of subGroupPolicy is complete, and stay near each other.",
        pull=4721,
    ),
    Row(
        "sub_groups_need_hard_topology",
        True,
        FIRST,
        source="actions/allocate/allocate.go allocateResources",
        why="Without a hard topology, pods of a subGroupPolicy are never placed.",
    ),
    Row(
        "sub_groups_need_hard_topology",
        False,
        landed("v1.14.1"),
        source="actions/allocate/allocate.go allocateResources",
        why="A subGroupPolicy works without a network topology.",
        pull=5038,
    ),
    Row(
        "sub_group_tier_names",
        False,
        FIRST,
        source="actions/allocate/allocate.go updateJobTier",
        why="highestTierName in a subGroupPolicy has no effect.",
        fault="highestTierName in a subGroupPolicy is ignored.",
    ),
    Row(
        "sub_group_tier_names",
        True,
        landed("v1.14.2"),
        source="framework/session.go adjustNetworkTopologySpec",
        why="highestTierName in a subGroupPolicy limits groups, as highestTierAllowed does.",
        pull=5190,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
