"""The action ``preempt``: who may evict pods of the same queue, and which."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class PreemptBehaviours:
    """The action ``preempt``: what differs between releases."""

    best_effort_victims_skipped: bool
    """``preempt`` skips victims without requests; else pods without requests can evict them."""

    bound_pods_preempted: bool
    """``preempt`` also evicts pods that are bound but do not run yet."""

    unpreemptable_preempted_within_job: bool
    """Within a job, pods marked as not preemptable are evicted too."""

    preempt_checks_overused: bool
    """``preempt`` checks whether a queue is overused; else whether the pod is allocatable."""

    preempt_in_queue_order: bool
    """``preempt`` takes queues in order, each with its jobs only."""

    preemption_policy_respected: bool
    """Pods with ``preemptionPolicy: Never`` evict no pod."""

    nominated_pods_wait: bool
    """A pod with a nominated node does not preempt again while that node may still become free."""

    topology_jobs_never_preempt: bool
    """Jobs with a network topology do not preempt."""

    preempt_evicts_victim_tasks: bool
    """``preempt`` ends by evicting the pods that plugins name as victims (VictimTasks, of tdm)."""

    topology_aware_preemption: bool
    """``preempt`` has the argument ``enableTopologyAwarePreemption``."""

    important_victims_reprieved_first: bool
    """In topology-aware preemption, the most important victims on a node are reprieved first."""


ROWS: tuple[Row, ...] = (
    Row(
        "best_effort_victims_skipped",
        True,
        FIRST,
        source="actions/preempt/preempt.go Execute",
        why="Pods without requests are never preempted.",
    ),
    Row(
        "best_effort_victims_skipped",
        False,
        landed("v1.9.0"),
        source="actions/preempt/preempt.go Execute",
        why="Pods without requests can be preempted by others without requests.",
        pull=3335,
    ),
    Row(
        "bound_pods_preempted",
        False,
        FIRST,
        source="actions/preempt/preempt.go Execute",
        why="Bound pods that do not run yet are not preempted.",
    ),
    Row(
        "bound_pods_preempted",
        True,
        landed("v1.8.2"),
        source="api/helpers.go PreemptableStatus",
        why="Bound pods that do not run yet can be preempted.",
        pull=3208,
    ),
    Row(
        "unpreemptable_preempted_within_job",
        True,
        FIRST,
        source="actions/preempt/preempt.go Execute",
        why="Pods marked as not preemptable are evicted for others of their job.",
        fault="Pods marked as not preemptable are evicted.",
    ),
    Row(
        "unpreemptable_preempted_within_job",
        False,
        landed("v1.10.0"),
        source="actions/preempt/preempt.go Execute",
        why="Pods marked as not preemptable are never evicted.",
        pull=3683,
    ),
    Row(
        "preempt_checks_overused",
        True,
        FIRST,
        source="actions/preempt/preempt.go preempt",
        why="A queue at its limit preempts within itself in vain.",
    ),
    Row(
        "preempt_checks_overused",
        False,
        landed("v1.9.0"),
        source="actions/preempt/preempt.go preempt",
        why="A queue preempts until it may take the pod.",
        pull=3230,
    ),
    Row(
        "preempt_in_queue_order",
        False,
        FIRST,
        source="actions/preempt/preempt.go",
        why="Queues preempt in any order; jobs of other queues lose their turn.",
    ),
    Row(
        "preempt_in_queue_order",
        True,
        landed("v1.12.4", "v1.13.3", "v1.14.2"),
        source="actions/preempt/preempt.go",
        why="Queues that lack more preempt first.",
        pull=5142,
    ),
    Row(
        "preemption_policy_respected",
        False,
        FIRST,
        source="actions/preempt/preempt.go",
        why="preemptionPolicy of a pod has no effect.",
        fault="Pods with preemptionPolicy Never evict others.",
    ),
    Row(
        "preemption_policy_respected",
        True,
        landed("v1.11.0"),
        source="actions/preempt/preempt.go taskEligibleToPreempt",
        why="Pods with preemptionPolicy Never evict no pod.",
        pull=3739,
    ),
    Row(
        "nominated_pods_wait",
        False,
        FIRST,
        source="actions/preempt/preempt.go taskEligibleToPreempt",
        why="A preemptor may preempt on other nodes while its victims terminate.",
    ),
    Row(
        "nominated_pods_wait",
        True,
        landed("v1.13.0"),
        source="actions/preempt/preempt.go taskEligibleToPreempt",
        why="A preemptor waits for its nominated node.",
        pull=4279,
    ),
    Row(
        "topology_jobs_never_preempt",
        False,
        FIRST,
        source="actions/preempt/preempt.go",
        why="A job may preempt where its topology does not allow it.",
    ),
    Row(
        "topology_jobs_never_preempt",
        True,
        landed("v1.14.0"),
        source="actions/preempt/preempt.go",
        why="A job with a network topology waits for room.",
        pull=4721,
    ),
    Row(
        "preempt_evicts_victim_tasks",
        True,
        FIRST,
        source="actions/preempt/preempt.go victimTasks",
        why="Pods in a revocable zone that closes are evicted by preempt.",
    ),
    Row(
        "preempt_evicts_victim_tasks",
        False,
        landed("v1.12.0"),
        source="actions/preempt/preempt.go Execute",
        why="Pods in a revocable zone that closes are evicted by shuffle only.",
        pull=4138,
    ),
    Row(
        "topology_aware_preemption",
        False,
        FIRST,
        source="actions/preempt/preempt.go",
        why="preempt takes the best-scored node where evicting helps.",
    ),
    Row(
        "topology_aware_preemption",
        True,
        landed("v1.13.0"),
        source="actions/preempt/preempt.go topologyAwarePreempt",
        why="preempt can choose the node whose victims are the least important.",
        pull=4279,
    ),
    Row(
        "important_victims_reprieved_first",
        False,
        FIRST,
        source="actions/preempt/preempt.go SelectVictimsOnNode",
        why="The least important victims are reprieved first.",
    ),
    Row(
        "important_victims_reprieved_first",
        True,
        landed("v1.14.3"),
        source="actions/preempt/preempt.go SelectVictimsOnNode",
        why="If not all victims are needed, the most important ones stay.",
        pull=5214,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
