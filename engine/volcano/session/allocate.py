"""The action ``allocate``: the order of queues, jobs and tasks, and what a failure ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class JobRequeue(StrEnum):
    """When ``allocate`` puts a job back that still has tasks to place."""

    IF_READY = "if ready"
    """If it is ready; one that is not has had its turn."""
    ALWAYS = "always"
    """Whenever tasks are left, though those that were tried are not among them."""
    IF_COMMITTED = "if committed"
    """If it is ready after its turn, whatever its last task came to."""


class NoBestNode(StrEnum):
    """What ``allocate`` does with a task for which no node has a score above the lowest."""

    CRASHES = "crashes"
    """The scheduler crashes."""
    SKIPS = "skips"
    """The task is passed over."""


class FailedPipelining(StrEnum):
    """What happens to a task that a plugin refuses to pipeline, or that cannot be bound."""

    ERRORS_IGNORED = "errors ignored"
    """It is pipelined, and what cannot be bound keeps its place until the session ends."""
    UNNOTICED = "unnoticed"
    """It is pipelined without an error. From here on, what cannot be bound is undone."""
    UNDONE = "undone"
    """It is taken back."""
    LEFT = "left"
    """In ``allocate`` it stays where it is, but nothing takes it back with the rest of its job."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class AllocateBehaviours:
    """The action ``allocate``: what differs between releases."""

    queue_requeued_before_placing: bool
    """``allocate`` puts a queue back before it places pods of it, with the share of before."""

    overused_checked_for_idle_queues: bool
    """``allocate`` checks also queues without a task to place for whether they are overused."""

    job_requeue: JobRequeue
    """When a job that has tasks left is looked at again."""

    unfit_task_ends_job: bool
    """A pod that fits nowhere ends its job's turn; else other roles are tried, and its own not."""

    tasks_without_role_share_failures: bool
    """Where one pod without a role failed, no other of its job is tried in that turn."""

    skipped_tasks_get_reason: bool
    """The message of a task says that it was skipped because one of its role fits nowhere."""

    failed_placement_continues_job: bool
    """A task whose placement fails does not end its job's turn, though the job may be ready."""

    impossible_gangs_stop_early: bool
    """A gang with fewer pods than its minimum is given up at the first that fits nowhere."""

    pre_predicate_failures_skipped: bool
    """A task that filters cannot be prepared for is skipped, if its gang can be met without it."""

    nominated_node_first: bool
    """A pod's nominated node is tried before all others."""

    nominated_node_uses_future_idle: bool
    """A pod's nominated node is tried first also if it only has room when evicted pods are gone."""

    plain_jobs_use_nominations: bool
    """Also a job without groups and topology goes first to where a gang action made room for it."""

    no_best_node: NoBestNode
    """What happens to a task for which no node has a score that counts."""

    negative_scores_accepted: bool
    """A node, or hypernode, is taken however low the best score is; else it must exceed -1."""

    failed_pipelining: FailedPipelining
    """What happens to a task that a plugin refuses to pipeline, or that cannot be bound."""


ROWS: tuple[Row, ...] = (
    Row(
        "queue_requeued_before_placing",
        True,
        FIRST,
        source="actions/allocate/allocate.go Execute",
        why="Queues take turns by shares that are out of date.",
    ),
    Row(
        "queue_requeued_before_placing",
        False,
        landed("v1.10.0"),
        source="actions/allocate/allocate.go allocateResources",
        why="Queues take turns by what they now hold.",
        pull=3515,
    ),
    Row(
        "overused_checked_for_idle_queues",
        True,
        FIRST,
        source="actions/allocate/allocate.go pickUpQueuesAndJobs",
        why="The metric of overuse is set for every queue with a job.",
    ),
    Row(
        "overused_checked_for_idle_queues",
        False,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go buildAllocateContext",
        why="The metric of overuse is only set for queues with tasks to place.",
        pull=4721,
    ),
    Row(
        "job_requeue",
        JobRequeue.IF_READY,
        FIRST,
        source="actions/allocate/allocate.go",
        why="A gang that could not be met is not looked at twice in a session.",
    ),
    Row(
        "job_requeue",
        JobRequeue.ALWAYS,
        landed("v1.12.0"),
        source="actions/allocate/allocate.go allocateResources",
        why="A gang that could not be met is tried again with the tasks that are left.",
        pull=4310,
    ),
    Row(
        "job_requeue",
        JobRequeue.IF_COMMITTED,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go allocateResources",
        why="A gang that could not be met is not looked at twice in a session again.",
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
        why="A pod without a role is turned down where another of its job did not fit.",
    ),
    Row(
        "tasks_without_role_share_failures",
        False,
        landed("v1.10.0"),
        source="util/predicate_helper.go PredicateNodes",
        why="Pods without a role are looked at one by one.",
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
        why="A ready job's turn ends when a plugin objects to a pod.",
    ),
    Row(
        "failed_placement_continues_job",
        True,
        landed("v1.14.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A ready job goes on when a plugin objects to a pod.",
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
        why="A gang that cannot have its minimum is given up at once.",
        pull=4721,
    ),
    Row(
        "pre_predicate_failures_skipped",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="One pod that cannot be prepared keeps its whole gang waiting.",
    ),
    Row(
        "pre_predicate_failures_skipped",
        True,
        landed("v1.14.4", "v1.15.1"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A gang goes on without a pod that cannot be prepared, if it can be met.",
        pull=5528,
    ),
    Row(
        "nominated_node_first",
        False,
        FIRST,
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A preemptor may go elsewhere than where it evicted.",
    ),
    Row(
        "nominated_node_first",
        True,
        landed("v1.12.0"),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
        why="A preemptor goes where it evicted, if there is room now.",
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
        why="Where room was made for a job without groups, it is placed like any other.",
    ),
    Row(
        "plain_jobs_use_nominations",
        True,
        landed("v1.15.1"),
        source="actions/allocate/allocate.go allocateResources",
        why="A job goes where gangpreempt made room, if it comes to allocate in the same session.",
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
        why="A pod that cannot be bound keeps its place until the session ends.",
    ),
    Row(
        "failed_pipelining",
        FailedPipelining.UNNOTICED,
        landed("v1.9.0"),
        source="framework/statement.go Commit",
        why="A pod that cannot be bound gives its place back.",
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
        why="A pod that a plugin objects to holds its place until the session ends.",
        pull=4310,
    ),
    Row(
        "failed_pipelining",
        FailedPipelining.UNDONE,
        landed("v1.15.0"),
        source="framework/statement.go Pipeline",
        why="A pod that a plugin objects to is taken back at once.",
        pull=5073,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
