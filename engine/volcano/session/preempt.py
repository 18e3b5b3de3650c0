"""The action ``preempt``: who may evict pods of the same queue, and which."""

from __future__ import annotations

from ..releases import FIRST, behaviour, landed, since, subject


@subject
class PreemptBehaviours:
    """The action ``preempt``: what differs between releases."""

    best_effort_victims_skipped: bool = behaviour(
        "``preempt`` skips victims without requests; else pods without requests can evict them.",
        since(FIRST, True).means("Pods without requests are never preempted."),
        since("v1.9.0", False, pull=3335).means(
            "Pods without requests can be preempted by others without requests."
        ),
        source="actions/preempt/preempt.go Execute",
    )

    bound_pods_preempted: bool = behaviour(
        "``preempt`` also evicts pods that are bound but do not run yet.",
        since(FIRST, False).means(
            "Bound pods that do not run yet are not preempted.",
            source="actions/preempt/preempt.go Execute",
        ),
        since("v1.8.2", True, pull=3208).means(
            "Bound pods that do not run yet can be preempted.",
            source="api/helpers.go PreemptableStatus",
        ),
    )

    unpreemptable_preempted_within_job: bool = behaviour(
        "Within a job, pods marked as not preemptable are evicted too.",
        since(FIRST, True).means(
            "Pods marked as not preemptable are evicted for others of their job.",
            fault="Pods marked as not preemptable are evicted.",
        ),
        since("v1.10.0", False, pull=3683).means(
            "Pods marked as not preemptable are never evicted."
        ),
        source="actions/preempt/preempt.go Execute",
    )

    preempt_checks_overused: bool = behaviour(
        "``preempt`` checks whether a queue is overused; else whether the pod is allocatable.",
        since(FIRST, True).means("A queue at its limit preempts within itself in vain."),
        since("v1.9.0", False, pull=3230).means("A queue preempts until it may take the pod."),
        source="actions/preempt/preempt.go preempt",
    )

    preempt_in_queue_order: bool = behaviour(
        "``preempt`` takes queues in order, each with its jobs only.",
        since(FIRST, False).means(
            "Queues preempt in any order; jobs of other queues lose their turn."
        ),
        since(landed("v1.12.4", "v1.13.3", "v1.14.2"), True, pull=5142).means(
            "Queues that lack more preempt first."
        ),
        source="actions/preempt/preempt.go",
    )

    preemption_policy_respected: bool = behaviour(
        "Pods with ``preemptionPolicy: Never`` evict no pod.",
        since(FIRST, False).means(
            "preemptionPolicy of a pod has no effect.",
            source="actions/preempt/preempt.go",
            fault="Pods with preemptionPolicy Never evict others.",
        ),
        since("v1.11.0", True, pull=3739).means(
            "Pods with preemptionPolicy Never evict no pod.",
            source="actions/preempt/preempt.go taskEligibleToPreempt",
        ),
    )

    nominated_pods_wait: bool = behaviour(
        "A pod with a nominated node does not preempt again while that node may still become free.",
        since(FIRST, False).means(
            "A preemptor may preempt on other nodes while its victims terminate."
        ),
        since("v1.13.0", True, pull=4279).means("A preemptor waits for its nominated node."),
        source="actions/preempt/preempt.go taskEligibleToPreempt",
    )

    topology_jobs_never_preempt: bool = behaviour(
        "Jobs with a network topology do not preempt.",
        since(FIRST, False).means("A job may preempt where its topology does not allow it."),
        since("v1.14.0", True, pull=4721).means("A job with a network topology waits for room."),
        source="actions/preempt/preempt.go",
    )

    preempt_evicts_victim_tasks: bool = behaviour(
        "``preempt`` ends by evicting the pods that plugins name as victims (VictimTasks, of tdm).",
        since(FIRST, True).means(
            "Pods in a revocable zone that closes are evicted by preempt.",
            source="actions/preempt/preempt.go victimTasks",
        ),
        since("v1.12.0", False, pull=4138).means(
            "Pods in a revocable zone that closes are evicted by shuffle only.",
            source="actions/preempt/preempt.go Execute",
        ),
    )

    topology_aware_preemption: bool = behaviour(
        "``preempt`` has the argument ``enableTopologyAwarePreemption``.",
        since(FIRST, False).means(
            "preempt takes the best-scored node where evicting helps.",
            source="actions/preempt/preempt.go",
        ),
        since("v1.13.0", True, pull=4279).means(
            "preempt can choose the node whose victims are the least important.",
            source="actions/preempt/preempt.go topologyAwarePreempt",
        ),
    )

    important_victims_reprieved_first: bool = behaviour(
        "In topology-aware preemption, the most important victims on a node are reprieved first.",
        since(FIRST, False).means("The least important victims are reprieved first."),
        since("v1.14.3", True, pull=5214).means(
            "If not all victims are needed, the most important ones stay."
        ),
        source="actions/preempt/preempt.go SelectVictimsOnNode",
    )
