"""What ``preempt`` and ``reclaim`` share: nodes to evict on, and the order of victims."""

from __future__ import annotations

from ..releases import FIRST, behaviour, landed, since, subject


@subject
class EvictionBehaviours:
    """What ``preempt`` and ``reclaim`` share: what differs between releases."""

    filter_errors_unresolvable: bool = behaviour(
        "No pod is evicted on a node that a filter refused for any reason.",
        since(FIRST, True).means("Preemption is not tried on nodes without a free port."),
        since("v1.9.0", False, pull=3458).means("Preemption is tried on nodes where it may help."),
        source="actions/preempt/preempt.go preempt",
    )

    unresolvable_nodes_skipped: bool = behaviour(
        "No pod is evicted where ``allocate`` found that evictions do not help.",
        since(FIRST, False).means(
            "preempt and reclaim also try nodes where no eviction can help.",
            source="actions/preempt/preempt.go, actions/reclaim/reclaim.go",
        ),
        since("v1.10.0", True, pull=3432).means(
            "preempt and reclaim skip nodes where no eviction can help.",
            source="framework/session.go GetUnschedulableAndUnresolvableNodesForTask",
        ),
    )

    tdm_refusals_resolvable: bool = behaviour(
        "With ``tdm``, pods are also evicted on revocable nodes that the pod may not use.",
        since(FIRST, True).means(
            "Pods on revocable nodes are evicted for pods that may not use these nodes."
        ),
        since("v1.10.0", False, pull=3553).means(
            "No pod is evicted for pods that may not use a revocable node."
        ),
        source="plugins/tdm/tdm.go OnSessionOpen",
    )

    pod_affinity_resolvable: bool = behaviour(
        "``preempt`` tries nodes that pod affinity or anti-affinity excludes.",
        since(FIRST, True).means(
            "preempt and reclaim also evict on nodes that anti-affinity forbids."
        ),
        since(landed("v1.10.1", "v1.11.0"), False, pull=3840).means(
            "preempt and reclaim skip nodes where pod affinity is not satisfied."
        ),
        since("v1.13.0", True, pull=4279).means(
            "preempt and reclaim also evict on nodes that anti-affinity forbids."
        ),
        source="plugins/predicates/predicates.go OnSessionOpen",
    )

    victim_selection_restarts: bool = behaviour(
        "Where plugins agree on no victim, the next plugin decides alone; else no pod is evicted.",
        since(FIRST, False).means("Where plugins agree on no victim, no pod is evicted."),
        since("v1.11.0", True, pull=3551).means(
            "Where plugins agree on no victim, the next one chooses alone: more pods are evicted."
        ),
        source="framework/session_plugins.go Reclaimable, Preemptable",
    )

    victims_ordered_by_queue: bool = behaviour(
        "Victims of several queues are in the order of queues; else in the order of jobs.",
        since(FIRST, False).means(
            "Reclaim takes from jobs of low priority first, whatever their queue."
        ),
        since("v1.10.0", True, pull=3700).means("Reclaim takes from queues of large share first."),
        source="framework/session_plugins.go BuildVictimsPriorityQueue",
    )

    equal_victims_ordered_by_task: bool = behaviour(
        "Of victims in equal jobs, the least important task is evicted first.",
        since(FIRST, False).means("The pods of the youngest job are evicted first."),
        since("v1.15.0", True, pull=5115).means(
            "The youngest pods of equal jobs are evicted first."
        ),
        source="framework/session_plugins.go BuildVictimsPriorityQueue",
    )

    evictions_on_unused_nodes_undone: bool = behaviour(
        "``preempt`` and ``reclaim`` undo evictions on nodes that they do not use.",
        since(FIRST, False).means(
            "Pods may be evicted on a node that is not used in the end.",
            source="actions/reclaim/reclaim.go",
        ),
        since("v1.15.0", True, pull=5067).means(
            "Evictions on a node that is not used are undone.",
            source="actions/reclaim/reclaim.go reclaimForTask",
        ),
    )

    undone_evictions_missed_by_filters: bool = behaviour(
        "Filters and scores do not see a pod whose eviction is undone.",
        since(FIRST, False).means("A pod whose eviction is undone counts on its node again."),
        since("v1.15.0", True, pull=5116).means(
            "After an undone preemption, nodes look emptier to scores than they are."
        ),
        source="plugins/predicates/predicates.go OnSessionOpen (AllocateFunc)",
    )
