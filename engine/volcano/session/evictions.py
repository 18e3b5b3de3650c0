"""What ``preempt`` and ``reclaim`` share: nodes to evict on, and the order of victims."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class EvictionBehaviours:
    """What ``preempt`` and ``reclaim`` share: what differs between releases."""

    filter_errors_unresolvable: bool
    """No pod is evicted on a node that a filter refused for any reason."""

    unresolvable_nodes_skipped: bool
    """No pod is evicted where ``allocate`` found that evictions do not help."""

    tdm_refusals_resolvable: bool
    """With ``tdm``, pods are also evicted on revocable nodes that the pod may not use."""

    pod_affinity_resolvable: bool
    """``preempt`` tries nodes that pod affinity or anti-affinity excludes."""

    victim_selection_restarts: bool
    """Where plugins agree on no victim, the next plugin decides alone; else no pod is evicted."""

    victims_ordered_by_queue: bool
    """Victims of several queues are in the order of queues; else in the order of jobs."""

    equal_victims_ordered_by_task: bool
    """Of victims in equal jobs, the least important task is evicted first."""

    evictions_on_unused_nodes_undone: bool
    """``preempt`` and ``reclaim`` undo evictions on nodes that they do not use."""

    undone_evictions_missed_by_filters: bool
    """Filters and scores do not see a pod whose eviction is undone."""


ROWS: tuple[Row, ...] = (
    Row(
        "filter_errors_unresolvable",
        True,
        FIRST,
        source="actions/preempt/preempt.go preempt",
        why="Preemption is not tried on nodes without a free port.",
    ),
    Row(
        "filter_errors_unresolvable",
        False,
        landed("v1.9.0"),
        source="actions/preempt/preempt.go preempt",
        why="Preemption is tried on nodes where it may help.",
        pull=3458,
    ),
    Row(
        "unresolvable_nodes_skipped",
        False,
        FIRST,
        source="actions/preempt/preempt.go, actions/reclaim/reclaim.go",
        why="preempt and reclaim also try nodes where no eviction can help.",
    ),
    Row(
        "unresolvable_nodes_skipped",
        True,
        landed("v1.10.0"),
        source="framework/session.go GetUnschedulableAndUnresolvableNodesForTask",
        why="preempt and reclaim skip nodes where no eviction can help.",
        pull=3432,
    ),
    Row(
        "tdm_refusals_resolvable",
        True,
        FIRST,
        source="plugins/tdm/tdm.go OnSessionOpen",
        why="Pods on revocable nodes are evicted for pods that may not use these nodes.",
    ),
    Row(
        "tdm_refusals_resolvable",
        False,
        landed("v1.10.0"),
        source="plugins/tdm/tdm.go OnSessionOpen",
        why="No pod is evicted for pods that may not use a revocable node.",
        pull=3553,
    ),
    Row(
        "pod_affinity_resolvable",
        True,
        FIRST,
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="preempt and reclaim also evict on nodes that anti-affinity forbids.",
    ),
    Row(
        "pod_affinity_resolvable",
        False,
        landed("v1.10.1", "v1.11.0"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="preempt and reclaim skip nodes where pod affinity is not satisfied.",
        pull=3840,
    ),
    Row(
        "pod_affinity_resolvable",
        True,
        landed("v1.13.0"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="preempt and reclaim also evict on nodes that anti-affinity forbids.",
        pull=4279,
    ),
    Row(
        "victim_selection_restarts",
        False,
        FIRST,
        source="framework/session_plugins.go Reclaimable, Preemptable",
        why="Where plugins agree on no victim, no pod is evicted.",
    ),
    Row(
        "victim_selection_restarts",
        True,
        landed("v1.11.0"),
        source="framework/session_plugins.go Reclaimable, Preemptable",
        why="Where plugins agree on no victim, the next one chooses alone: more pods are evicted.",
        pull=3551,
    ),
    Row(
        "victims_ordered_by_queue",
        False,
        FIRST,
        source="framework/session_plugins.go BuildVictimsPriorityQueue",
        why="Reclaim takes from jobs of low priority first, whatever their queue.",
    ),
    Row(
        "victims_ordered_by_queue",
        True,
        landed("v1.10.0"),
        source="framework/session_plugins.go BuildVictimsPriorityQueue",
        why="Reclaim takes from queues of large share first.",
        pull=3700,
    ),
    Row(
        "equal_victims_ordered_by_task",
        False,
        FIRST,
        source="framework/session_plugins.go BuildVictimsPriorityQueue",
        why="The pods of the youngest job are evicted first.",
    ),
    Row(
        "equal_victims_ordered_by_task",
        True,
        landed("v1.15.0"),
        source="framework/session_plugins.go BuildVictimsPriorityQueue",
        why="The youngest pods of equal jobs are evicted first.",
        pull=5115,
    ),
    Row(
        "evictions_on_unused_nodes_undone",
        False,
        FIRST,
        source="actions/reclaim/reclaim.go",
        why="Pods may be evicted on a node that is not used in the end.",
    ),
    Row(
        "evictions_on_unused_nodes_undone",
        True,
        landed("v1.15.0"),
        source="actions/reclaim/reclaim.go reclaimForTask",
        why="Evictions on a node that is not used are undone.",
        pull=5067,
    ),
    Row(
        "undone_evictions_missed_by_filters",
        False,
        FIRST,
        source="plugins/predicates/predicates.go OnSessionOpen (AllocateFunc)",
        why="A pod whose eviction is undone counts on its node again.",
    ),
    Row(
        "undone_evictions_missed_by_filters",
        True,
        landed("v1.15.0"),
        source="plugins/predicates/predicates.go OnSessionOpen (AllocateFunc)",
        why="After an undone preemption, nodes look emptier to scores than they are.",
        pull=5116,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
