"""The action ``allocate``: the order of queues, jobs and tasks, and what a failure ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class JobRequeue(StrEnum):
    """When ``allocate`` puts a job back that still has tasks to place."""

    IF_READY = "if ready"
    """If it is ready; else its turn is over."""
    ALWAYS = "always"
    """Whenever it has tasks that were not tried."""
    IF_COMMITTED = "if committed"
    """If it is ready after its turn, even if its last task was not placed."""


class NoBestNode(StrEnum):
    """What ``allocate`` does with a task for which no node has a score above the lowest."""

    CRASHES = "crashes"
    """The scheduler crashes."""
    SKIPS = "skips"
    """The task is passed over."""


class FailedPipelining(StrEnum):
    """What happens to a task that a plugin refuses to pipeline, or that cannot be bound."""

    ERRORS_IGNORED = "errors ignored"
    """It is pipelined; a task that cannot be bound keeps its resources until the end."""
    UNNOTICED = "unnoticed"
    """It is pipelined without an error. From here on, a task that cannot be bound is undone."""
    UNDONE = "undone"
    """It is taken back."""
    LEFT = "left"
    """In ``allocate`` it stays on its node; undoing its job's statement does not undo it."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class AllocateBehaviours:
    """The action ``allocate``: what differs between releases."""

    queue_requeued_before_placing: bool
    """``allocate`` requeues a queue before it places its pods, so with an old share."""

    overused_checked_for_idle_queues: bool
    """``allocate`` also checks whether queues without tasks to place are overused."""

    job_requeue: JobRequeue
    """When a job that has tasks left is looked at again."""

    unfit_task_ends_job: bool
    """A pod that fits nowhere ends its job's turn; else other roles are still tried."""

    tasks_without_role_share_failures: bool
    """If a pod without a role fails, no other one of its job is tried in that turn."""

    skipped_tasks_get_reason: bool
    """A skipped task's message says that another task of its role fits nowhere."""

    failed_placement_continues_job: bool
    """A failed placement does not end its job's turn, even if the job is ready."""

    impossible_gangs_stop_early: bool
    """A gang that cannot reach its minimum is given up at the first pod that fits nowhere."""

    pre_predicate_failures_skipped: bool
    """A task for which PrePredicate fails is skipped, if its gang can be ready without it."""

    nominated_node_first: bool
    """A pod's nominated node is tried before all others."""

    nominated_node_uses_future_idle: bool
    """A nominated node is tried first even if it has room only after evictions end."""

    plain_jobs_use_nominations: bool
    """A job without groups and topology also tries first where a gang action made room."""

    no_best_node: NoBestNode
    """What happens to a task for which no node has a score that counts."""

    negative_scores_accepted: bool
    """The best node or hypernode is used with any score; else its score must exceed -1."""

    failed_pipelining: FailedPipelining
    """What happens to a task that a plugin refuses to pipeline, or that cannot be bound."""


ROWS: tuple[Row, ...] = (
    Row(
        "queue_requeued_before_placing",
        True,
        FIRST,
        source="actions/allocate/allocate.go Execute",
        why="The order of queues uses outdated shares.",
    ),
    Row(
        "queue_requeued_before_placing",
        False,
        landed("v1.10.0"),
        source="actions/allocate/allocate.go allocateResources",
        why="The order of queues uses current shares.",
        pull=3515,
    ),
    Row(
        "overused_checked_for_idle_queues",
        True,
        FIRST,
        source="actions/allocate/allocate.go pickUpQueuesAndJobs",
        why="The metric overused is set for every queue with a job.",
    ),
    Row(
        "overused_checked_for_idle_queues",
        False,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go buildAllocateContext",
        why="The metric overused is only set for queues with tasks to place.",
        pull=4721,
    ),
    Row(
        "job_requeue",
        JobRequeue.IF_READY,
        FIRST,
        source="actions/allocate/allocate.go",
        why="A gang that could not be placed is not tried twice in a session.",
    ),
    Row(
        "job_requeue",
        JobRequeue.ALWAYS,
        landed("v1.12.0"),
        source="actions/allocate/allocate.go allocateResources",
        why="A gang that could not be placed is tried again with its other tasks.",
        pull=4310,
    ),
    Row(
        "job_requeue",
        JobRequeue.IF_COMMITTED,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go allocateResources",
        why="Again, a gang that could not be placed is not tried twice in a session.",
        pull=4721,
    ),
    Row(
        "unfit_task_ends_job",
        True,
        FIRST,
        source="actions/allocate/allocate.go",
        why="One pod that fits nowhere keeps the rest of its job pending.",
    ),
    Row(
        "unfit_task_ends_job",
        False,
        landed("v1.10.0"),
        source="api/job_info.go NeedContinueAllocating",
        why="Pods of other roles are placed, if the gang can still be met.",
        pull=3430,
    ),
    Row(
        "tasks_without_role_share_failures",
        True,
        FIRST,
        source="util/predicate_helper.go taskGroupID",
        why="A pod without a role is refused if another one of its job did not fit.",
    ),
    Row(
        "tasks_without_role_share_failures",
        False,
        landed("v1.10.0"),
        source="util/predicate_helper.go PredicateNodes",
        why="Pods without a role are checked one by one.",
        pull=3649,
    ),
    Row(
        "skipped_tasks_get_reason",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A pod of a role that fits nowhere has no separate reason.",
    ),
    Row(
        "skipped_tasks_get_reason",
        True,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A pod of a role that fits nowhere says that it was skipped.",
        pull=4721,
    ),
    Row(
        "failed_placement_continues_job",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A ready job's turn ends when a plugin refuses a pod.",
    ),
    Row(
        "failed_placement_continues_job",
        True,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A ready job continues when a plugin refuses a pod.",
        pull=4721,
    ),
    Row(
        "impossible_gangs_stop_early",
        False,
        FIRST,
        source="api/job_info.go NeedContinueAllocating",
        why="Only a gang of exactly its minimum is given up at once.",
    ),
    Row(
        "impossible_gangs_stop_early",
        True,
        landed("v1.14.0"),
        source="api/job_info.go NeedContinueAllocating",
        why="A gang that cannot reach its minimum is given up at once.",
        pull=4721,
    ),
    Row(
        "pre_predicate_failures_skipped",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="One pod for which PrePredicate fails keeps its whole gang pending.",
    ),
    Row(
        "pre_predicate_failures_skipped",
        True,
        landed("v1.14.4", "v1.15.1"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A gang is placed without a pod for which PrePredicate fails, if its minimum allows.",
        pull=5528,
    ),
    Row(
        "nominated_node_first",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A preemptor may be placed on another node than that of its victims.",
    ),
    Row(
        "nominated_node_first",
        True,
        landed("v1.12.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A preemptor is placed on the node of its victims, if there is room now.",
        pull=4079,
    ),
    Row(
        "nominated_node_uses_future_idle",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A preemptor whose victims still run may be given another node.",
    ),
    Row(
        "nominated_node_uses_future_idle",
        True,
        landed("v1.13.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A preemptor waits for the node that its victims leave.",
        pull=4588,
    ),
    Row(
        "plain_jobs_use_nominations",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResources",
        why="A job without groups ignores the nodes where room was made for it.",
    ),
    Row(
        "plain_jobs_use_nominations",
        True,
        landed("v1.15.1"),
        source="actions/allocate/allocate.go allocateResources",
        why="A job is placed where gangpreempt made room, if allocate follows in the session.",
        pull=5440,
    ),
    Row(
        "no_best_node",
        NoBestNode.CRASHES,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="Scores of -1 and less, or a pod that cannot be scored, end the process.",
    ),
    Row(
        "no_best_node",
        NoBestNode.SKIPS,
        landed("v1.12.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A pod that cannot be scored stays pending without a reason.",
        pull=4310,
    ),
    Row(
        "negative_scores_accepted",
        False,
        FIRST,
        source="util/scheduler_helper.go SelectBestNodeAndScore",
        why="A pod whose best node scores -1 or less stays pending without a reason.",
    ),
    Row(
        "negative_scores_accepted",
        True,
        landed("v1.12.2"),
        source="util/scheduler_helper.go SelectBestNodeAndScore",
        why="The best node is taken, also with a negative score.",
        pull=4445,
    ),
    Row(
        "failed_pipelining",
        FailedPipelining.ERRORS_IGNORED,
        FIRST,
        source="framework/statement.go Pipeline, Commit",
        why="A pod that cannot be bound keeps its resources until the session ends.",
    ),
    Row(
        "failed_pipelining",
        FailedPipelining.UNNOTICED,
        landed("v1.9.0"),
        source="framework/statement.go Commit",
        why="A pod that cannot be bound frees its resources.",
        pull=3360,
    ),
    Row(
        "failed_pipelining",
        FailedPipelining.UNDONE,
        landed("v1.9.1", "v1.10.1", "v1.11.0"),
        source="actions/allocate/allocate.go, framework/statement.go Pipeline",
        why="A pod that a custom plugin refuses is not pipelined.",
        pull=3863,
    ),
    Row(
        "failed_pipelining",
        FailedPipelining.LEFT,
        landed("v1.12.0"),
        source="actions/allocate/allocate.go allocateResourcesForTask",
        why="A pod that a plugin refuses keeps its resources until the session ends.",
        pull=4310,
    ),
    Row(
        "failed_pipelining",
        FailedPipelining.UNDONE,
        landed("v1.15.0"),
        source="framework/statement.go Pipeline",
        why="A pod that a plugin refuses is undone at once.",
        pull=5073,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
