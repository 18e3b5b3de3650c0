"""Filters of nodes: which are run, and which of their reasons are reported.

The filters of ``predicates`` are kube-scheduler's own, of the version of Kubernetes in a release's
``go.mod``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class Filtering(StrEnum):
    """Whether more filters are run on a node after one refused it."""

    ALL = "all"
    """All filters are run and none is reported: a node takes the pod or does not."""
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
    """Only a refusal that eviction cannot resolve is the last."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class FilterBehaviours:
    """Filters of nodes: what differs between releases."""

    filtering: Filtering
    """How many filters are run on a node, and which of their reasons are reported."""

    pod_message_shows_filter_errors: bool
    """A pod's message quotes a filter's error, which still allows evicting; else its reason."""

    pod_message_names_taints: bool
    """A pod's message names the taint that the pod does not tolerate."""

    volume_binding_filter: bool
    """Every node is checked for whether it can bind the pod's volumes, before one is chosen."""

    volume_zone_pre_filter: bool
    """Faults of a pod's claims are reported by the filter VolumeZone, once for all nodes."""

    volume_zone_checks_unlabelled_nodes: bool
    """Faults of a pod's claims are reported by the filter VolumeZone on every node; else only
    on those that say in what zone they are."""

    beta_zone_labels_translated: bool
    """A volume's zone under the label's old name also matches nodes with the present name."""

    extended_spread_constraints: bool
    """Constraints of a pod's spread are read with ``minDomains``, ``matchLabelKeys`` and
    policies of affinity and taints, and count no pods where they select all."""

    proportional_in_predicates: bool
    """``predicates`` reads ``predicate.ProportionalEnable`` and ``predicate.resources``."""

    nodegroup_skips_later_filters: bool
    """With ``nodegroup``, the filters of plugins after it are not run."""

    nodegroup_uses_job_queue: bool
    """``nodegroup`` uses the queue of the pod's job, and supports ``strict`` and ancestors."""

    extender_lists_statuses: bool
    """``extender`` answers about a node with a list of statuses; else with a text and a code."""

    extender_managed_resources: bool
    """``extender`` is called only for pods that request what it manages, if that is given."""

    extender_notified_of_placements: bool
    """``extender`` is notified when a pod is placed, which it may refuse, or removed."""


ROWS: tuple[Row, ...] = (
    Row(
        "filtering",
        Filtering.ALL,
        FIRST,
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod's message says of each node that its status is not success, and not why.",
    ),
    Row(
        "filtering",
        Filtering.FIRST_FAULT,
        landed("v1.8.1"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod's message says why; no pod is preempted for it where a filter refuses the node.",
        pull=3051,
    ),
    Row(
        "filtering",
        Filtering.FIRST_ERROR,
        landed("v1.8.2"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="Nodes are preempted on that have all the pods, or volumes, that they may have.",
        pull=3188,
    ),
    Row(
        "filtering",
        Filtering.FIRST_REASON,
        landed("v1.10.0"),
        source="plugins/predicates/predicates.go",
        why="Not all reasons are reported; pods without requests can exceed the number of pods.",
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
        why="A pod's message names the plugin; from v1.9 on, nodes that only err are preempted on.",
    ),
    Row(
        "pod_message_shows_filter_errors",
        False,
        landed("v1.10.0"),
        source="plugins/numaaware/numaaware.go OnSessionOpen",
        why="A pod's message has the reason alone; no pod is evicted where numa-aware refuses.",
        pull=3553,
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
        why="A pod's message counts nodes with taints that it does not tolerate, and names none.",
        pull=5000,
    ),
    Row(
        "volume_binding_filter",
        False,
        FIRST,
        source="framework/statement.go Allocate, cache/cache.go GetPodVolumes",
        why="A pod may be tried on a node that cannot take its volumes.",
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
        why="VolumeZone reports of a pod whose claim is not bound: PersistentVolume had no name.",
        pull=5505,
    ),
    Row(
        "volume_zone_checks_unlabelled_nodes",
        False,
        FIRST,
        source="plugins/predicates/predicates.go (volumezone of Kubernetes 1.25)",
        why="A pod whose claims have no volume yet is placed on nodes that name no zone.",
    ),
    Row(
        "volume_zone_checks_unlabelled_nodes",
        True,
        landed("v1.8.1"),
        source="plugins/predicates/predicates.go (volumezone of Kubernetes 1.27)",
        why="A pod whose claims have no volume yet, and are not to wait for it, is placed nowhere.",
        pull=3083,
    ),
    Row(
        "beta_zone_labels_translated",
        False,
        FIRST,
        source="plugins/predicates/predicates.go (volumezone of Kubernetes until 1.28)",
        why="A volume labelled failure-domain.beta.kubernetes.io/zone needs a node labelled so.",
    ),
    Row(
        "beta_zone_labels_translated",
        True,
        landed("v1.9.0"),
        source="plugins/predicates/predicates.go (volumezone of Kubernetes 1.29)",
        why="Volumes labelled failure-domain.beta.kubernetes.io/zone go with today's nodes.",
        pull=3295,
    ),
    Row(
        "extended_spread_constraints",
        False,
        FIRST,
        source="plugins/predicates/predicates.go (feature gates of Kubernetes 1.25)",
        why="Of topologySpreadConstraints, only skew, key and selector have an effect.",
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
        why="That is now a part of resource-strategy-fit; the old arguments do nothing.",
        pull=4454,
    ),
    Row(
        "nodegroup_skips_later_filters",
        False,
        FIRST,
        source="plugins/nodegroup/nodegroup.go OnSessionOpen",
        why="Plugins filter nodes whatever their order.",
    ),
    Row(
        "nodegroup_skips_later_filters",
        True,
        landed("v1.10.0"),
        source="plugins/nodegroup/nodegroup.go OnSessionOpen",
        why="Pods land on nodes that plugins after nodegroup would turn down.",
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
        why="Only pods that name a queue by label or annotation are bound to its node groups.",
    ),
    Row(
        "nodegroup_uses_job_queue",
        True,
        landed("v1.13.0"),
        source="plugins/nodegroup/nodegroup.go OnSessionOpen",
        why="All pods are bound to their queue's node groups.",
        pull=4455,
    ),
    Row(
        "extender_lists_statuses",
        True,
        FIRST,
        source="plugins/extender/argument.go PredicateResponse",
        why="A custom extender says why not a node in a list, each entry with Code and Reason.",
    ),
    Row(
        "extender_lists_statuses",
        False,
        landed("v1.10.0"),
        source="plugins/extender/argument.go PredicateResponse",
        why="A custom extender says why not a node with one text and one code.",
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
        why="A custom extender is not notified where pods are placed.",
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
