"""The action ``allocate``: the order of queues, jobs and tasks, and what a failure ends."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


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


@subject
class AllocateBehaviours:
    """The action ``allocate``: what differs between releases."""

    queue_requeued_before_placing: bool = behaviour(
        "``allocate`` requeues a queue before it places its pods, so with an old share.",
        since(FIRST, True).means(
            "The order of queues uses outdated shares.",
            source="actions/allocate/allocate.go Execute",
        ),
        since("v1.10.0", False, pull=3515).means(
            "The order of queues uses current shares.",
            source="actions/allocate/allocate.go allocateResources",
        ),
    )

    overused_checked_for_idle_queues: bool = behaviour(
        "``allocate`` also checks whether queues without tasks to place are overused.",
        since(FIRST, True).means(
            "The metric overused is set for every queue with a job.",
            source="actions/allocate/allocate.go pickUpQueuesAndJobs",
        ),
        since("v1.14.0", False, pull=4721).means(
            "The metric overused is only set for queues with tasks to place.",
            source="actions/allocate/allocate.go buildAllocateContext",
        ),
    )

    job_requeue: JobRequeue = behaviour(
        "When a job that has tasks left is looked at again.",
        since(FIRST, JobRequeue.IF_READY).means(
            "A gang that could not be placed is not tried twice in a session.",
            source="actions/allocate/allocate.go",
        ),
        since("v1.12.0", JobRequeue.ALWAYS, pull=4310).means(
            "A gang that could not be placed is tried again with its other tasks.",
            source="actions/allocate/allocate.go allocateResources",
        ),
        since("v1.14.0", JobRequeue.IF_COMMITTED, pull=4721).means(
            "Again, a gang that could not be placed is not tried twice in a session.",
            source="actions/allocate/allocate.go allocateResources",
        ),
    )

    unfit_task_ends_job: bool = behaviour(
        "A pod that fits nowhere ends its job's turn; else other roles are still tried.",
        since(FIRST, True).means(
            "One pod that fits nowhere keeps the rest of its job pending.",
            source="actions/allocate/allocate.go",
        ),
        since("v1.10.0", False, pull=3430).means(
            "Pods of other roles are placed, if the gang can still be met.",
            source="api/job_info.go NeedContinueAllocating",
        ),
    )

    tasks_without_role_share_failures: bool = behaviour(
        "If a pod without a role fails, no other one of its job is tried in that turn.",
        since(FIRST, True).means(
            "A pod without a role is refused if another one of its job did not fit.",
            source="util/predicate_helper.go taskGroupID",
        ),
        since("v1.10.0", False, pull=3649).means(
            "Pods without a role are checked one by one.",
            source="util/predicate_helper.go PredicateNodes",
        ),
    )

    skipped_tasks_get_reason: bool = behaviour(
        "A skipped task's message says that another task of its role fits nowhere.",
        since(FIRST, False).means("A pod of a role that fits nowhere has no separate reason."),
        since("v1.14.0", True, pull=4721).means(
            "A pod of a role that fits nowhere says that it was skipped."
        ),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
    )

    failed_placement_continues_job: bool = behaviour(
        "A failed placement does not end its job's turn, even if the job is ready.",
        since(FIRST, False).means("A ready job's turn ends when a plugin refuses a pod."),
        since("v1.14.0", True, pull=4721).means(
            "A ready job continues when a plugin refuses a pod."
        ),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
    )

    impossible_gangs_stop_early: bool = behaviour(
        "A gang that cannot reach its minimum is given up at the first pod that fits nowhere.",
        since(FIRST, False).means("Only a gang of exactly its minimum is given up at once."),
        since("v1.14.0", True, pull=4721).means(
            "A gang that cannot reach its minimum is given up at once."
        ),
        source="api/job_info.go NeedContinueAllocating",
    )

    pre_predicate_failures_skipped: bool = behaviour(
        "A task for which PrePredicate fails is skipped, if its gang can be ready without it.",
        since(FIRST, False).means(
            "One pod for which PrePredicate fails keeps its whole gang pending."
        ),
        since(landed("v1.14.4", "v1.15.1"), True, pull=5528).means(
            "A gang is placed without a pod for which PrePredicate fails, if its minimum allows."
        ),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
    )

    nominated_node_first: bool = behaviour(
        "A pod's nominated node is tried before all others.",
        since(FIRST, False).means(
            "A preemptor may be placed on another node than that of its victims."
        ),
        since("v1.12.0", True, pull=4079).means(
            "A preemptor is placed on the node of its victims, if there is room now."
        ),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
    )

    nominated_node_uses_future_idle: bool = behaviour(
        "A nominated node is tried first even if it has room only after evictions end.",
        since(FIRST, False).means("A preemptor whose victims still run may be given another node."),
        since("v1.13.0", True, pull=4588).means(
            "A preemptor waits for the node that its victims leave."
        ),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
    )

    plain_jobs_use_nominations: bool = behaviour(
        "A job without groups and topology also tries first where a gang action made room.",
        since(FIRST, False).means(
            "A job without groups ignores the nodes where room was made for it."
        ),
        since("v1.15.1", True, pull=5440).means(
            "A job is placed where gangpreempt made room, if allocate follows in the session."
        ),
        source="actions/allocate/allocate.go allocateResources",
    )

    no_best_node: NoBestNode = behaviour(
        "What happens to a task for which no node has a score that counts.",
        since(FIRST, NoBestNode.CRASHES).means(
            "Scores of -1 and less, or a pod that cannot be scored, end the process."
        ),
        since("v1.12.0", NoBestNode.SKIPS, pull=4310).means(
            "A pod that cannot be scored stays pending without a reason."
        ),
        source="actions/allocate/allocate.go allocateResourcesForTasks",
    )

    negative_scores_accepted: bool = behaviour(
        "The best node or hypernode is used with any score; else its score must exceed -1.",
        since(FIRST, False).means(
            "A pod whose best node scores -1 or less stays pending without a reason."
        ),
        since("v1.12.2", True, pull=4445).means(
            "The best node is taken, also with a negative score."
        ),
        source="util/scheduler_helper.go SelectBestNodeAndScore",
    )

    failed_pipelining: FailedPipelining = behaviour(
        "What happens to a task that a plugin refuses to pipeline, or that cannot be bound.",
        since(FIRST, FailedPipelining.ERRORS_IGNORED).means(
            "A pod that cannot be bound keeps its resources until the session ends.",
            source="framework/statement.go Pipeline, Commit",
        ),
        since("v1.9.0", FailedPipelining.UNNOTICED, pull=3360).means(
            "A pod that cannot be bound frees its resources.",
            source="framework/statement.go Commit",
        ),
        since(landed("v1.9.1", "v1.10.1", "v1.11.0"), FailedPipelining.UNDONE, pull=3863).means(
            "A pod that a custom plugin refuses is not pipelined.",
            source="actions/allocate/allocate.go, framework/statement.go Pipeline",
        ),
        since("v1.12.0", FailedPipelining.LEFT, pull=4310).means(
            "A pod that a plugin refuses keeps its resources until the session ends.",
            source="actions/allocate/allocate.go allocateResourcesForTask",
        ),
        since("v1.15.0", FailedPipelining.UNDONE, pull=5073).means(
            "A pod that a plugin refuses is undone at once.",
            source="framework/statement.go Pipeline",
        ),
    )
