"""How a release behaves: one record, complete, with a field for every effect that differs.

Code asks a field and never a release. A field is named by what an operator can see; its docstring
says what that is in either case.
"""

from __future__ import annotations

from dataclasses import dataclass

from .kube_behaviours import KubeBehaviours
from .variants import (
    BackfillFailure,
    CapacityVictims,
    Comparison,
    Elastic,
    FailedPipelining,
    Filtering,
    JobRequeue,
    NoBestNode,
    Nomination,
    PodsWithoutClaims,
    QueueStatusCounts,
    ReclaimingJobs,
    ReclaimsFor,
    ReclaimUnit,
    RootQueueBounds,
    RootQueueSpec,
    RunningWhen,
    SharedDevices,
    TreeDeserved,
    UnknownAction,
    VirtualGpuUse,
)

__all__ = [
    "BackfillFailure",
    "Behaviours",
    "CapacityVictims",
    "Comparison",
    "Elastic",
    "FailedPipelining",
    "Filtering",
    "JobRequeue",
    "NoBestNode",
    "Nomination",
    "PodsWithoutClaims",
    "QueueStatusCounts",
    "ReclaimUnit",
    "ReclaimingJobs",
    "ReclaimsFor",
    "RootQueueBounds",
    "RootQueueSpec",
    "RunningWhen",
    "SharedDevices",
    "TreeDeserved",
    "UnknownAction",
    "VirtualGpuUse",
]


@dataclass(frozen=True, slots=True)
class Behaviours(KubeBehaviours):
    """What a release's scheduler does where releases differ."""

    release: str
    """The release that this is the behaviour of, or was before single fields were changed."""

    plugins: frozenset[str]
    """Plugins that exist beyond those that all releases have."""

    bool_texts: bool
    """Arguments of plugins and actions that are true or false may be written as texts."""

    tdm_refusals_resolvable: bool
    """With ``tdm``, nodes are preempted on that a pod may not use; the reason names the pod."""

    overfull_nodes_crash: bool
    """A node on which more is used or promised than it has crashes a session that looks at it."""

    overcommit_crashes: bool
    """With ``overcommit``, more use than the factor allows crashes the scheduler."""

    best_effort_is_ready: bool
    """Pending pods that ask for nothing count as ready: gangs preempt less, and are preempted."""

    filter_errors_unresolvable: bool
    """Nobody is evicted on a node that a filter turned down, whatever for."""

    pod_message_shows_filter_errors: bool
    """A pod is told a filter's error, which says nothing of evicting; else the reason beside it."""

    best_effort_victims_skipped: bool
    """``preempt`` lets pods alone that ask for nothing; else only such pods evict such pods."""

    preempt_checks_overused: bool
    """``preempt`` asks whether a queue is overused; else whether it may take the pod."""

    reclaim_orders_victims: bool
    """``reclaim`` evicts the least important first; else in the order in which plugins chose."""

    job_cleanup_removes_recreated_job: bool
    """Forgetting a deleted PodGroup may also forget a new one of the same name."""

    scheduling_gates: bool
    """Pods with scheduling gates are left alone."""

    role_by_label: bool
    """A pod's role may be told by a label, where no annotation tells it."""

    sidecar_requests_counted: bool
    """Init containers that go on running count with a pod's containers."""

    queue_requeued_before_placing: bool
    """``allocate`` puts a queue back before it places pods of it, with the share of before."""

    unfit_task_ends_job: bool
    """A pod that fits nowhere ends its job's turn; else other roles are tried, and its own not."""

    tasks_without_role_share_failures: bool
    """Where one pod without a role failed, no other of its job is tried in that turn."""

    compared_resources: Comparison
    """What is compared when a queue takes a pod or a job."""

    queue_priority: bool
    """Queues have a priority, which comes before their shares."""

    preemptive_ignores_task: bool
    """Whether a queue may reclaim does not depend on the pod: it has less than it deserves."""

    unresolvable_nodes_skipped: bool
    """Nobody is evicted where ``allocate`` found that it would not help."""

    unpreemptable_preempted_within_job: bool
    """Within a job, pods go that are marked as not preemptable."""

    victims_ordered_by_queue: bool
    """Victims of several queues go by the order of queues; else by that of jobs."""

    gang_message_includes_pod_reason: bool
    """A gang that is not ready tells the reason of one pod; else each pod tells the gang's."""

    nomination: Nomination
    """Which pods are nominated for a node."""

    not_ready_nodes_excluded: bool
    """A node whose condition Ready is not True is not in sessions, whatever its taints."""

    elastic_resources: Elastic
    """What a job could give back."""

    victim_selection_restarts: bool
    """A plugin that is asked when others agreed on nobody decides alone; else nobody is evicted."""

    reclaiming_jobs: ReclaimingJobs
    """Whose pods ``reclaim`` evicts others for."""

    reclaim_checks_allocatable: bool
    """``reclaim`` evicts only for pods that their queue may take already."""

    preemption_policy_respected: bool
    """Pods with ``preemptionPolicy: Never`` evict nobody."""

    filtering: Filtering
    """How long a node is asked about."""

    queue_status_counts: QueueStatusCounts
    """Which tasks a queue's ``status.allocated`` counts."""

    queue_metrics_include_scalars: bool
    """The gauges of queues tell of scalars too, and of capability; else of cpu and memory only."""

    pod_message_shows_min_available: bool
    """A placed pod of a gang that is not complete is told that it waits for ``minAvailable``."""

    empty_podgroups_get_conditions: bool
    """A PodGroup without pods is told that its gang is not ready."""

    job_requeue: JobRequeue
    """When a job that has tasks left is looked at again."""

    nominated_node_first: bool
    """A pod's nominated node is tried before all others."""

    no_best_node: NoBestNode
    """What becomes of a task for which no node has a score that counts."""

    backfill_failure: BackfillFailure
    """How ``backfill`` goes on after a failure."""

    failed_pipelining: FailedPipelining
    """What becomes of a task that a plugin objects to, or that cannot be bound."""

    preempt_evicts_victim_tasks: bool
    """``preempt`` ends with evicting what plugins want evicted for its own sake (tdm)."""

    closed_queues_schedule: bool
    """Queues that are not Open enqueue and allocate like others."""

    deserved_capped_by_request: bool
    """With ``capacity``, a queue deserves no more than it requests."""

    enqueue_checks_ancestors: bool
    """With ``capacity``, a job is enqueued only if the queues above its own have room for it."""

    excess_guarantees_crash: bool
    """Guarantees that exceed the cluster crash the scheduler."""

    excess_child_guarantees_crash: bool
    """Guarantees of a queue's children that exceed what it may use crash the scheduler."""

    guarantees_above_remaining_crash: bool
    """``proportion`` crashes when guarantees give queues more than remains."""

    reclaim_skips_small_queues: bool
    """Nobody reclaims from a queue that holds less of anything than the reclaimer asks for."""

    cooldown_protects_from_reclaim: bool
    """With ``cdp``, a pod that has just started is safe from ``reclaim`` too."""

    volume_binding_filter: bool
    """Whether volumes can be bound is asked of every node, before one is chosen."""

    network_topology: bool
    """Jobs may ask to be placed within hypernodes."""

    unknown_action: UnknownAction
    """What becomes of a configuration that names an unknown action."""

    gang_eviction_actions: bool
    """The actions ``gangpreempt`` and ``gangreclaim`` exist."""

    root_queue: bool
    """The scheduler creates a queue ``root`` when it starts, and queues have parents."""

    running_when: RunningWhen
    """Which tasks make a PodGroup Running."""

    root_queue_spec: RootQueueSpec
    """What is written into the root queue's spec."""

    nominated_node_uses_future_idle: bool
    """A pod's nominated node is tried first also if it only has room when evicted pods are gone."""

    negative_scores_accepted: bool
    """A node, or hypernode, is taken however low the best score is; else it must exceed -1."""

    deserved_keeps_zero_scalars: bool
    """Scalars that a queue deserves nothing of, but names, stay named in what it deserves."""

    proportional_in_predicates: bool
    """``predicates`` reads ``predicate.ProportionalEnable`` and ``predicate.resources``."""

    pod_affinity_resolvable: bool
    """``preempt`` looks at nodes from which anti-affinity to pods, or theirs, keeps a pod."""

    nodegroup_skips_later_filters: bool
    """With ``nodegroup``, the filters of plugins after it are not asked."""

    nodegroup_uses_job_queue: bool
    """``nodegroup`` goes by the queue of a pod's job, and knows ``strict`` and ancestors."""

    nodegroup_preferred_order: bool
    """``nodegroup`` has the argument ``enablePreferredOrder``: earlier groups score more."""

    hard_topology_scores_nearby_nodes: bool
    """Within its hypernode, a job with a hard topology prefers nodes that are near its tasks."""

    nominated_pods_wait: bool
    """A pod that was nominated a node preempts no more as long as it can hope for that node."""

    hosts_spread_scored: bool
    """A soft constraint to spread over hosts weighs how many of a pod's like a node has."""

    balanced_allocation_scores_best_effort: bool
    """Pods that ask for no cpu, memory or GPU get the score BalancedAllocation too."""

    root_queue_bounds: RootQueueBounds
    """What all queues of a tree may use together."""

    children_inherit_scalars: bool
    """A queue in a tree that names no capability of a scalar has its parent's."""

    tree_deserved: TreeDeserved
    """What a queue in a tree deserves."""

    invalid_tree_stops_scheduling: bool
    """A tree in which children have more than their parent stops all scheduling."""

    tree_errors_show_amounts: bool
    """What is wrong with a tree of queues is logged with the amounts."""

    tree_metrics_show_capability: bool
    """The gauges of queues in a tree tell what each may use."""

    absent_scalar_metrics_reset: bool
    """The gauge of a scalar that a queue no longer has is set to 0."""

    capacity_reclaims_for: ReclaimsFor
    """With ``capacity``, for which tasks a queue may reclaim."""

    capacity_victims: CapacityVictims
    """With ``capacity``, whom a task may reclaim."""

    zero_deserved_share_is_one: bool
    """With ``capacity``, a queue that deserves nothing has the share 1 from the start."""

    reclaim_unit: ReclaimUnit
    """For what ``reclaim`` evicts at once."""

    evictions_on_unused_nodes_undone: bool
    """``preempt`` and ``reclaim`` evict nobody on nodes that they give up."""

    overused_checked_for_idle_queues: bool
    """``allocate`` asks whether queues have what they deserve in which no task is to be placed."""

    skipped_tasks_get_reason: bool
    """A task that is not tried because one of its role fits nowhere is told so."""

    failed_placement_continues_job: bool
    """A task whose placement fails does not end its job's turn, though the job may be ready."""

    impossible_gangs_stop_early: bool
    """A gang with fewer pods than its minimum is given up at the first that fits nowhere."""

    gang_message_says_ready: bool
    """A PodGroup that is ready says so in its condition though some of its pods wait."""

    pod_message_names_taints: bool
    """A pod that does not tolerate a taint is told which."""

    inqueue_jobs_reserve_missing_only: bool
    """In ``proportion`` and ``capacity``, enqueued jobs reserve what they lack of their minimum."""

    reserved_scalars_in_milli: bool
    """What a job lacks of its minimum is calculated in the same units for all resources."""

    equal_victims_ordered_by_task: bool
    """Of victims whose jobs are equal to the plugins, the least important task goes first."""

    preempt_in_queue_order: bool
    """``preempt`` takes queues in order, and each only with its own jobs."""

    topology_jobs_never_preempt: bool
    """Jobs that ask for a network topology do not preempt."""

    node_affinity_normalised: bool
    """The score of a pod's preference of nodes is 100 at most, as for other scores; ``nodeorder``
    adds up all of its scores before those of other plugins."""

    topology_gradients: bool
    """Hypernodes are tried in gradients below one that has all nodes; other pods fill them."""

    sub_groups: bool
    """A PodGroup's policy divides its pods into groups, each with a minimum and a topology."""

    sub_groups_need_hard_topology: bool
    """Groups are only placed if the job or one of them has a hard topology."""

    sub_group_tier_names: bool
    """A group's highest tier may be given by its name."""

    soft_topologies_tried_as_hard: bool
    """A soft topology is tried as a hard one that all tiers are allowed to."""

    narrower_hypernodes_tried: bool
    """Within the hypernode that is tried for a job, narrower ones are tried as well."""

    pre_predicate_failures_skipped: bool
    """A task that filters cannot be prepared for is skipped, if its gang can be met without it."""

    removed_min_task_members_forgotten: bool
    """The minima of roles that a PodGroup no longer names are forgotten."""

    ended_pods_not_removed_from_node: bool
    """When a pod that has ended is deleted, nothing is taken from its node."""

    missing_root_queue_crashes: bool
    """A tree of queues without a root crashes the scheduler."""

    topology_aware_preemption: bool
    """``preempt`` has the argument ``enableTopologyAwarePreemption``."""

    unchecked_queues_have_zero_limit: bool
    """A queue that the check of the tree does not reach has a limit of nothing, not none."""

    important_victims_reprieved_first: bool
    """With topology-aware preemption, the important of the victims on a node are spared first."""

    undone_evictions_missed_by_filters: bool
    """A pod whose eviction is taken back is not seen on its node by filters and scores."""

    device_claims_needed: bool
    """A pod that names a claim of devices is only known when the claim is."""

    extender_managed_resources: bool
    """``extender`` is asked only about pods that name what it manages, if that is given."""

    extender_lists_statuses: bool
    """``extender`` takes a list of statuses for an answer about a node; else a text and a code."""

    extender_notified_of_placements: bool
    """``extender`` is told when a pod is placed, which it may refuse, and when it is taken away."""

    nominated_node_within_hypernode: bool
    """A nominated node is tried first only if it is in the hypernode that is tried."""

    plain_jobs_use_nominations: bool
    """Also a job without groups and topology goes first to where a gang action made room for it."""

    pod_level_requests_counted: bool
    """What a pod requests as a whole stands for its containers; overhead counts in init too."""

    overfull_nodes_skipped: bool
    """Nothing new comes to a node on which more is used than it has, until it is whole again."""

    lowest_hypernode_found: bool
    """Where the running pods of a job are, a process finds out anew as the lowest hypernode that
    has them all; else as any of those with the fewest nodes."""

    in_place_resizes_counted: bool
    """What containers that were resized have, by their status, counts where it is more than what
    they request."""

    images_scored: bool
    """The images that nodes have count in their scores."""

    shared_devices: SharedDevices
    """How ``deviceshare`` knows of devices, and what pods are told."""

    virtual_gpus_counted_twice: bool
    """Within a session, what a pod is given of virtual GPUs is taken away twice."""

    new_numa_resources_crash: bool
    """A node that reports a resource of its NUMA nodes for the first time, and less of another,
    crashes the scheduler."""

    numa_policy_misspelt: bool
    """A pod is told of a node's other "topology polocy" for NUMA nodes; else of the policy."""

    virtual_gpus_by_handshake: bool
    """A node's virtual GPUs count while its agent answers; else while it has allocatable ones."""

    volume_zone_pre_filter: bool
    """What is wrong with a pod's claims is told by the filter of zones, once for all nodes."""

    pods_are_a_resource: bool
    """Pods are a resource that nodes have and pods ask for; else nodes have only a limit."""

    volumes_are_a_resource: bool
    """Volumes are a resource too: of each CSI driver, a node takes as many as it can attach."""

    bound_pods_preempted: bool
    """``preempt`` evicts pods that are bound and do not run yet, too."""

    unnamed_capability_unlimited: bool
    """With ``proportion``, a capability does not bound what it does not name; else a queue whose
    capability names one kind of GPU, or another such resource, may use no other."""

    backfill_scores_nodes: bool
    """``backfill`` takes the best node; else any that takes the pod."""

    pods_without_claims: PodsWithoutClaims
    """What becomes of a pod that comes before one of its claims."""

    virtual_gpu_use: VirtualGpuUse
    """Which virtual GPUs a pod is given, and how much of them."""

    devices_scored: bool
    """With ``deviceshare``, nodes score by their GPUs, if the score has a weight."""

    device_quotas: bool
    """With ``capacity``, a queue's capability bounds how many devices of a class its pods claim."""

    device_counts_saturate: bool
    """Numbers of devices end at the largest one; else they begin again below nothing."""

    subtractions_checked: bool
    """Nothing is taken from what is not there: no account goes below nothing, and none crashes."""

    binding_pods_always_count: bool
    """Pods being bound count on their node though others have taken the room; else sessions do not
    see those that do not fit any more."""

    returning_nodes_keep_pods: bool
    """A node that went and comes back still has the pods that were on it; else it seems empty."""

    children_may_exceed_parent: bool
    """In a tree, a guarantee that exceeds the parent is kept from the queues beside, and what
    children deserve together may exceed what their parent does."""

    stale_deletions_ignored: bool
    """What is told to be gone takes nothing away that has another UID, or a newer version."""

    reservation_kept_after_refusal: bool
    """What a queue permits and another plugin refuses is reserved until the session ends."""
