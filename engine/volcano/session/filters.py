"""Filters of nodes: which are run, and which of their reasons are reported.

The filters of ``predicates`` are kube-scheduler's own, of the version of Kubernetes in a release's
``go.mod``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class Filtering(StrEnum):
    """How long a node is asked about once it was turned down."""

    ALL = "all"
    """All filters are asked, and none is told: a node takes the pod or does not."""
    FIRST_FAULT = "first fault"
    """The first filter that turns it down ends the asking, and is named in the reason. That a node
    has all the pods it may have comes before all filters, and evicting does not help."""
    FIRST_REASON = "first reason"
    """The first filter that turns it down ends the asking. That a node has all the pods it may have
    is told, but alone it is no reason."""
    FIRST_ERROR = "first error"
    """The first filter that turns it down ends the asking, and is named in the reason. That a node
    has all the pods it may have is a reason if no filter has one."""
    CURABLE_GO_ON = "curable go on"
    """Only what eviction cannot cure ends the asking."""


@dataclass(frozen=True)
class FilterBehaviours:
    """Filters of nodes: what differs between releases."""

    filtering: Filtering
    """How long a node is asked about."""

    pod_message_shows_filter_errors: bool
    """A pod is told a filter's error, which says nothing of evicting; else the reason beside it."""

    pod_message_names_taints: bool
    """A pod that does not tolerate a taint is told which."""

    volume_binding_filter: bool
    """Whether volumes can be bound is asked of every node, before one is chosen."""

    volume_zone_pre_filter: bool
    """What is wrong with a pod's claims is told by the filter of zones, once for all nodes."""

    volume_zone_checks_unlabelled_nodes: bool
    """What is wrong with a pod's claims is a reason of the filter of zones on every node; else only
    on those that say in what zone they are."""

    beta_zone_labels_translated: bool
    """A volume's zone by the old name of the label is looked for under the present one too."""

    extended_spread_constraints: bool
    """Constraints of a pod's spread are looked at with ``minDomains``, ``matchLabelKeys`` and
    policies of affinity and taints, and count no pods where they select all."""

    proportional_in_predicates: bool
    """``predicates`` reads ``predicate.ProportionalEnable`` and ``predicate.resources``."""

    nodegroup_skips_later_filters: bool
    """With ``nodegroup``, the filters of plugins after it are not asked."""

    nodegroup_uses_job_queue: bool
    """``nodegroup`` goes by the queue of a pod's job, and knows ``strict`` and ancestors."""

    extender_lists_statuses: bool
    """``extender`` takes a list of statuses for an answer about a node; else a text and a code."""

    extender_managed_resources: bool
    """``extender`` is asked only about pods that name what it manages, if that is given."""

    extender_notified_of_placements: bool
    """``extender`` is told when a pod is placed, which it may refuse, and when it is taken away."""


ROWS: tuple[Row, ...] = (
    Row(
        "filtering",
        Filtering.ALL,
        FIRST,
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod is told of each node that its status is not success, and not why.",
    ),
    Row(
        "filtering",
        Filtering.FIRST_FAULT,
        landed("v1.8.1"),
        source="plugins/predicates/predicates.go OnSessionOpen",
        why="A pod is told why; nobody is preempted for it where a filter objects.",
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
        why="Not all reasons are told; pods without requests exceed the number of pods.",
        pull=3553,
    ),
    Row(
        "filtering",
        Filtering.CURABLE_GO_ON,
        landed("v1.10.1", "v1.11.0"),
        source="plugins/predicates/predicates.go ShouldAbort",
        why="All reasons are told, up to one that eviction cannot cure.",
        pull=3840,
    ),
    Row(
        "pod_message_shows_filter_errors",
        True,
        FIRST,
        source="plugins/numaaware/numaaware.go OnSessionOpen",
        why="A pod is told what plugin fails; from v1.9 on, preempted is on nodes that only err.",
    ),
    Row(
        "pod_message_shows_filter_errors",
        False,
        landed("v1.10.0"),
        source="plugins/numaaware/numaaware.go OnSessionOpen",
        why="A pod is told the reason alone; nobody is evicted on nodes that numa-aware refuses.",
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
        why="A pod whose claim is not bound is told so by VolumeBinding.",
    ),
    Row(
        "volume_zone_pre_filter",
        True,
        landed("v1.14.4", "v1.15.1"),
        source="plugins/predicates/predicates.go InitPlugin",
        why="A pod whose claim is not bound is told by VolumeZone: PersistentVolume had no name.",
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
        why="A service of one's own says in a list, each with Code and Reason, why not a node.",
    ),
    Row(
        "extender_lists_statuses",
        False,
        landed("v1.10.0"),
        source="plugins/extender/argument.go PredicateResponse",
        why="A service of one's own says with one text and one code why not a node.",
        pull=3553,
    ),
    Row(
        "extender_managed_resources",
        False,
        FIRST,
        source="plugins/extender/extender.go OnSessionOpen",
        why="A service of one's own is asked about every pod.",
    ),
    Row(
        "extender_managed_resources",
        True,
        landed("v1.13.0"),
        source="plugins/extender/extender.go IsInterested",
        why="A service of one's own can be kept from pods that are none of its business.",
        pull=4482,
    ),
    Row(
        "extender_notified_of_placements",
        False,
        FIRST,
        source="plugins/extender/extender.go OnSessionOpen",
        why="A service of one's own does not learn where pods go.",
    ),
    Row(
        "extender_notified_of_placements",
        True,
        landed("v1.13.0"),
        source="plugins/extender/extender.go addEventHandler",
        why="A service of one's own can refuse a placement.",
        pull=4377,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
