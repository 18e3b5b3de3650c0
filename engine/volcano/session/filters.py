"""Filters of nodes: which are run, and which of their reasons are reported.

The filters of ``predicates`` are kube-scheduler's own, of the version of Kubernetes in a release's
``go.mod``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class Filtering(StrEnum):
    """Which filters are run on a node after one refused it."""

    ALL = "all"
    """All filters are run, and no reason is reported."""
    FIRST_FAULT = "first fault"
    """The first filter that refuses the node is the last, and is named in the reason. That a node
    has all the pods it may have comes before all filters, and evicting does not help."""
    FIRST_REASON = "first reason"
    """The first filter that refuses the node is the last. That a node has all the pods it may have
    is reported, but alone it is no reason."""
    FIRST_ERROR = "first error"
    """The first filter that refuses the node is the last, and is named in the reason. That a node
    has all the pods it may have is a reason if no filter has one."""
    RESOLVABLE_GO_ON = "resolvable go on"
    """Only a refusal that eviction cannot resolve ends the filters."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class FilterBehaviours:
    """Filters of nodes: what differs between releases."""

    filtering: Filtering
    """How many filters are run on a node, and which of their reasons are reported."""

    pod_message_shows_filter_errors: bool
    """A pod's message quotes a filter's error, which allows evictions; else its reason."""

    volume_conflicts_name_node_affinity: bool
    """Of a node that cannot reach a volume, the message says that it "didn't match
    PersistentVolume's node affinity"; else that it "had volume node affinity conflict"."""

    pod_message_names_taints: bool
    """A pod's message names the taint that the pod does not tolerate."""

    volume_binding_filter: bool
    """Before a node is chosen, each is checked for whether it can bind the pod's volumes."""

    volume_zone_pre_filter: bool
    """Faults of a pod's claims are reported by the filter VolumeZone, once for all nodes."""

    volume_zone_checks_unlabelled_nodes: bool
    """Faults of a pod's claims are reported by the filter VolumeZone on every node; else only
    on those that say in what zone they are."""

    beta_zone_labels_translated: bool
    """A volume's zone in the old label also matches nodes with the new label."""

    extended_spread_constraints: bool
    """Constraints of a pod's spread are read with ``minDomains``, ``matchLabelKeys`` and
    policies of affinity and taints, and count no pods where they select all."""

    proportional_in_predicates: bool
    """``predicates`` reads ``predicate.ProportionalEnable`` and ``predicate.resources``."""

    nodegroup_skips_later_filters: bool
    """With ``nodegroup``, filters of later plugins are not run."""

    nodegroup_uses_job_queue: bool
    """``nodegroup`` uses the queue of the pod's job, and supports ``strict`` and ancestors."""

    extender_lists_statuses: bool
    """``extender`` answers for a node with a list of statuses; else with a text and a code."""

    extender_managed_resources: bool
    """If managed resources are set, ``extender`` is called only for pods that request one."""

    extender_notified_of_placements: bool
    """``extender`` is notified of placements, which it may refuse, and of removals."""


ROWS: tuple[Row, ...] = (
    Row(
        "filtering",
        Filtering.ALL,
        FIRST,
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod's message says for each node only that its status is not success.",
    ),
    Row(
        "filtering",
        Filtering.FIRST_FAULT,
        landed("v1.8.1"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod's message says why; where a filter refuses the node, nothing is preempted.",
        pull=3051,
    ),
    Row(
        "filtering",
        Filtering.FIRST_ERROR,
        landed("v1.8.2"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="Preemption is also tried on nodes at their limit of pods or volumes.",
        pull=3188,
    ),
    Row(
        "filtering",
        Filtering.FIRST_REASON,
        landed("v1.10.0"),
        source="plugins/predicates/predicates.go",
        why="Not all reasons are reported; pods without requests can exceed the number of pods.",
        fault="Pods without requests can exceed a node's number of pods.",
        pull=3553,
    ),
    Row(
        "filtering",
        Filtering.RESOLVABLE_GO_ON,
        landed("v1.10.1", "v1.11.0"),
        source="plugins/predicates/predicates.go ShouldAbort",
        why="All reasons are reported, up to one that eviction cannot resolve.",
        pull=3840,
    ),
    Row(
        "pod_message_shows_filter_errors",
        True,
        FIRST,
        source="plugins/numaaware/numaaware.go OnSessionOpen",
        why="A pod's message names the plugin; from v1.9, filter errors still allow preemption.",
    ),
    Row(
        "pod_message_shows_filter_errors",
        False,
        landed("v1.10.0"),
        source="plugins/numaaware/numaaware.go OnSessionOpen",
        why="A pod's message has only the reason; where numa-aware refuses, nothing is evicted.",
        pull=3553,
    ),
    Row(
        "volume_conflicts_name_node_affinity",
        False,
        FIRST,
        source="capabilities/volumebinding/binder.go ErrReasonNodeConflict",
        why='Messages say "node(s) had volume node affinity conflict".',
    ),
    Row(
        "volume_conflicts_name_node_affinity",
        True,
        landed("v1.13.0"),
        source="capabilities/volumebinding/binder.go ErrReasonNodeConflict",
        why="Messages say \"node(s) didn't match PersistentVolume's node affinity\": searches of"
        " logs for the older text find nothing.",
        pull=4430,
    ),
    Row(
        "pod_message_names_taints",
        True,
        FIRST,
        source="plugins/predicates/predicates.go",
        why="A pod's message names each taint that keeps it from a node.",
    ),
    Row(
        "pod_message_names_taints",
        False,
        landed("v1.15.0"),
        source="plugins/predicates/predicates.go",
        why="A pod's message only counts nodes with taints that it does not tolerate.",
        pull=5000,
    ),
    Row(
        "volume_binding_filter",
        False,
        FIRST,
        source="framework/statement.go Allocate, cache/cache.go GetPodVolumes",
        why="A pod may be tried on a node that cannot take its volumes.",
        fault="Nodes that cannot take a pod's volumes are not filtered out.",
    ),
    Row(
        "volume_binding_filter",
        True,
        landed("v1.12.0"),
        source="plugins/predicates/predicates.go",
        why="Nodes that cannot take a pod's volumes are filtered out.",
        pull=4152,
    ),
    Row(
        "volume_zone_pre_filter",
        False,
        FIRST,
        source="plugins/predicates/predicates.go InitPlugin",
        why="VolumeBinding reports that a pod's claim is not bound.",
    ),
    Row(
        "volume_zone_pre_filter",
        True,
        landed("v1.14.4", "v1.15.1"),
        source="plugins/predicates/predicates.go InitPlugin",
        why="For a pod with an unbound claim, VolumeZone reports: PersistentVolume had no name.",
        pull=5505,
    ),
    Row(
        "volume_zone_checks_unlabelled_nodes",
        False,
        FIRST,
        source="plugins/predicates/predicates.go (volumezone of Kubernetes 1.25)",
        why="A pod whose claims have no volume yet can be placed on nodes without a zone label.",
    ),
    Row(
        "volume_zone_checks_unlabelled_nodes",
        True,
        landed("v1.8.1"),
        source="plugins/predicates/predicates.go (volumezone of Kubernetes 1.27)",
        why="A pod is placed nowhere while its claims with immediate binding have no volume.",
        pull=3083,
    ),
    Row(
        "beta_zone_labels_translated",
        False,
        FIRST,
        source="plugins/predicates/predicates.go (volumezone of Kubernetes until 1.28)",
        why="A volume labelled failure-domain.beta.kubernetes.io/zone needs a node with it.",
    ),
    Row(
        "beta_zone_labels_translated",
        True,
        landed("v1.9.0"),
        source="plugins/predicates/predicates.go (volumezone of Kubernetes 1.29)",
        why="Volumes labelled failure-domain.beta.kubernetes.io/zone match nodes' new label.",
        pull=3295,
    ),
    Row(
        "extended_spread_constraints",
        False,
        FIRST,
        source="plugins/predicates/predicates.go (feature gates of Kubernetes 1.25)",
        why="In topologySpreadConstraints, only skew, key and selector have an effect.",
        fault="minDomains, matchLabelKeys and policies of topologySpreadConstraints are ignored.",
    ),
    Row(
        "extended_spread_constraints",
        True,
        landed("v1.8.1"),
        source="plugins/predicates/predicates.go (feature gates of Kubernetes 1.27)",
        why="minDomains, matchLabelKeys and policies of topologySpreadConstraints have an effect.",
        pull=3083,
    ),
    Row(
        "proportional_in_predicates",
        True,
        FIRST,
        source="plugins/predicates/predicates.go enablePredicate",
        why="predicates can keep cpu and memory free for cards.",
    ),
    Row(
        "proportional_in_predicates",
        False,
        landed("v1.13.0"),
        source="plugins/predicates/predicates.go enablePredicate",
        why="resource-strategy-fit does this now; the old arguments have no effect.",
        pull=4454,
    ),
    Row(
        "nodegroup_skips_later_filters",
        False,
        FIRST,
        source="plugins/nodegroup/nodegroup.go OnSessionOpen",
        why="Plugins filter nodes in any order of the configuration.",
    ),
    Row(
        "nodegroup_skips_later_filters",
        True,
        landed("v1.10.0"),
        source="plugins/nodegroup/nodegroup.go OnSessionOpen",
        why="Pods are placed on nodes that plugins after nodegroup would refuse.",
        fault="Plugins after nodegroup do not filter nodes.",
        pull=3553,
    ),
    Row(
        "nodegroup_skips_later_filters",
        False,
        landed("v1.11.0"),
        source="plugins/nodegroup/nodegroup.go OnSessionOpen",
        why="Plugins after nodegroup filter nodes again.",
        pull=3886,
    ),
    Row(
        "nodegroup_uses_job_queue",
        False,
        FIRST,
        source="plugins/nodegroup/nodegroup.go GetPodQueue",
        why="Only pods that name a queue by label or annotation use its node groups.",
    ),
    Row(
        "nodegroup_uses_job_queue",
        True,
        landed("v1.13.0"),
        source="plugins/nodegroup/nodegroup.go OnSessionOpen",
        why="All pods use their queue's node groups.",
        pull=4455,
    ),
    Row(
        "extender_lists_statuses",
        True,
        FIRST,
        source="plugins/extender/argument.go PredicateResponse",
        why="A custom extender refuses a node with a list; each entry has Code and Reason.",
    ),
    Row(
        "extender_lists_statuses",
        False,
        landed("v1.10.0"),
        source="plugins/extender/argument.go PredicateResponse",
        why="A custom extender refuses a node with one text and one code.",
        pull=3553,
    ),
    Row(
        "extender_managed_resources",
        False,
        FIRST,
        source="plugins/extender/extender.go OnSessionOpen",
        why="A custom extender is called for every pod.",
    ),
    Row(
        "extender_managed_resources",
        True,
        landed("v1.13.0"),
        source="plugins/extender/extender.go IsInterested",
        why="A custom extender can be limited to pods that request what it manages.",
        pull=4482,
    ),
    Row(
        "extender_notified_of_placements",
        False,
        FIRST,
        source="plugins/extender/extender.go OnSessionOpen",
        why="A custom extender is not notified of placements.",
    ),
    Row(
        "extender_notified_of_placements",
        True,
        landed("v1.13.0"),
        source="plugins/extender/extender.go addEventHandler",
        why="A custom extender can refuse a placement.",
        pull=4377,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
