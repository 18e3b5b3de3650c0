"""Filters of nodes: which are run, and which of their reasons are reported.

The filters of ``predicates`` are kube-scheduler's own, of the version of Kubernetes in a release's
``go.mod``.
"""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


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


@subject
class FilterBehaviours:
    """Filters of nodes: what differs between releases."""

    filtering: Filtering = behaviour(
        "How many filters are run on a node, and which of their reasons are reported.",
        since(FIRST, Filtering.ALL).means(
            "A pod's message says for each node only that its status is not success.",
            source="plugins/predicates/predicates.go OnSessionOpen",
        ),
        since("v1.8.1", Filtering.FIRST_FAULT, pull=3051).means(
            "A pod's message says why; where a filter refuses the node, nothing is preempted.",
            source="plugins/predicates/predicates.go OnSessionOpen",
        ),
        since("v1.8.2", Filtering.FIRST_ERROR, pull=3188).means(
            "Preemption is also tried on nodes at their limit of pods or volumes.",
            source="plugins/predicates/predicates.go OnSessionOpen",
        ),
        since("v1.10.0", Filtering.FIRST_REASON, pull=3553).means(
            "Not all reasons are reported; pods without requests can exceed the number of pods.",
            source="plugins/predicates/predicates.go",
            fault="Pods without requests can exceed a node's number of pods.",
        ),
        since(landed("v1.10.1", "v1.11.0"), Filtering.RESOLVABLE_GO_ON, pull=3840).means(
            "All reasons are reported, up to one that eviction cannot resolve.",
            source="plugins/predicates/predicates.go ShouldAbort",
        ),
    )

    pod_message_shows_filter_errors: bool = behaviour(
        "A pod's message quotes a filter's error, which allows evictions; else its reason.",
        since(FIRST, True).means(
            "A pod's message names the plugin; from v1.9, filter errors still allow preemption."
        ),
        since("v1.10.0", False, pull=3553).means(
            "A pod's message has only the reason; where numa-aware refuses, nothing is evicted."
        ),
        source="plugins/numaaware/numaaware.go OnSessionOpen",
    )

    volume_conflicts_name_node_affinity: bool = behaviour(
        "Of a node that cannot reach a volume, the message says that it \"didn't match "
        'PersistentVolume\'s node affinity"; else that it "had volume node affinity conflict".',
        since(FIRST, False).means('Messages say "node(s) had volume node affinity conflict".'),
        since("v1.13.0", True, pull=4430).means(
            "Messages say \"node(s) didn't match PersistentVolume's node affinity\": searches of "
            "logs for the older text find nothing."
        ),
        source="capabilities/volumebinding/binder.go ErrReasonNodeConflict",
    )

    pod_message_names_taints: bool = behaviour(
        "A pod's message names the taint that the pod does not tolerate.",
        since(FIRST, True).means("A pod's message names each taint that keeps it from a node."),
        since("v1.15.0", False, pull=5000).means(
            "A pod's message only counts nodes with taints that it does not tolerate."
        ),
        source="plugins/predicates/predicates.go",
    )

    volume_binding_filter: bool = behaviour(
        "Before a node is chosen, each is checked for whether it can bind the pod's volumes.",
        since(FIRST, False).means(
            "A pod may be tried on a node that cannot take its volumes.",
            source="framework/statement.go Allocate, cache/cache.go GetPodVolumes",
            fault="Nodes that cannot take a pod's volumes are not filtered out.",
        ),
        since("v1.12.0", True, pull=4152).means(
            "Nodes that cannot take a pod's volumes are filtered out.",
            source="plugins/predicates/predicates.go",
        ),
    )

    volume_zone_pre_filter: bool = behaviour(
        "Faults of a pod's claims are reported by the filter VolumeZone, once for all nodes.",
        since(FIRST, False).means("VolumeBinding reports that a pod's claim is not bound."),
        since(landed("v1.14.4", "v1.15.1"), True, pull=5505).means(
            "For a pod with an unbound claim, VolumeZone reports: PersistentVolume had no name."
        ),
        source="plugins/predicates/predicates.go InitPlugin",
    )

    volume_zone_checks_unlabelled_nodes: bool = behaviour(
        "Faults of a pod's claims are reported by the filter VolumeZone on every node; else only "
        "on those that say in what zone they are.",
        since(FIRST, False).means(
            "A pod whose claims have no volume yet can be placed on nodes without a zone label.",
            source="plugins/predicates/predicates.go (volumezone of Kubernetes 1.25)",
        ),
        since("v1.8.1", True, pull=3083).means(
            "A pod is placed nowhere while its claims with immediate binding have no volume.",
            source="plugins/predicates/predicates.go (volumezone of Kubernetes 1.27)",
        ),
    )

    beta_zone_labels_translated: bool = behaviour(
        "A volume's zone in the old label also matches nodes with the new label.",
        since(FIRST, False).means(
            "A volume labelled failure-domain.beta.kubernetes.io/zone needs a node with it.",
            source="plugins/predicates/predicates.go (volumezone of Kubernetes until 1.28)",
        ),
        since("v1.9.0", True, pull=3295).means(
            "Volumes labelled failure-domain.beta.kubernetes.io/zone match nodes' new label.",
            source="plugins/predicates/predicates.go (volumezone of Kubernetes 1.29)",
        ),
    )

    extended_spread_constraints: bool = behaviour(
        "Constraints of a pod's spread are read with ``minDomains``, ``matchLabelKeys`` and "
        "policies of affinity and taints, and count no pods where they select all.",
        since(FIRST, False).means(
            "In topologySpreadConstraints, only skew, key and selector have an effect.",
            source="plugins/predicates/predicates.go (feature gates of Kubernetes 1.25)",
            fault="minDomains, matchLabelKeys and policies of topologySpreadConstraints are "
            "ignored.",
        ),
        since("v1.8.1", True, pull=3083).means(
            "minDomains, matchLabelKeys and policies of topologySpreadConstraints have an effect.",
            source="plugins/predicates/predicates.go (feature gates of Kubernetes 1.27)",
        ),
    )

    proportional_in_predicates: bool = behaviour(
        "``predicates`` reads ``predicate.ProportionalEnable`` and ``predicate.resources``.",
        since(FIRST, True).means("predicates can keep cpu and memory free for cards."),
        since("v1.13.0", False, pull=4454).means(
            "resource-strategy-fit does this now; the old arguments have no effect."
        ),
        source="plugins/predicates/predicates.go enablePredicate",
    )

    nodegroup_skips_later_filters: bool = behaviour(
        "With ``nodegroup``, filters of later plugins are not run.",
        since(FIRST, False).means("Plugins filter nodes in any order of the configuration."),
        since("v1.10.0", True, pull=3553).means(
            "Pods are placed on nodes that plugins after nodegroup would refuse.",
            fault="Plugins after nodegroup do not filter nodes.",
        ),
        since("v1.11.0", False, pull=3886).means("Plugins after nodegroup filter nodes again."),
        source="plugins/nodegroup/nodegroup.go OnSessionOpen",
    )

    nodegroup_uses_job_queue: bool = behaviour(
        "``nodegroup`` uses the queue of the pod's job, and supports ``strict`` and ancestors.",
        since(FIRST, False).means(
            "Only pods that name a queue by label or annotation use its node groups.",
            source="plugins/nodegroup/nodegroup.go GetPodQueue",
        ),
        since("v1.13.0", True, pull=4455).means(
            "All pods use their queue's node groups.",
            source="plugins/nodegroup/nodegroup.go OnSessionOpen",
        ),
    )

    extender_lists_statuses: bool = behaviour(
        "``extender`` answers for a node with a list of statuses; else with a text and a code.",
        since(FIRST, True).means(
            "A custom extender refuses a node with a list; each entry has Code and Reason."
        ),
        since("v1.10.0", False, pull=3553).means(
            "A custom extender refuses a node with one text and one code."
        ),
        source="plugins/extender/argument.go PredicateResponse",
    )

    extender_managed_resources: bool = behaviour(
        "If managed resources are set, ``extender`` is called only for pods that request one.",
        since(FIRST, False).means(
            "A custom extender is called for every pod.",
            source="plugins/extender/extender.go OnSessionOpen",
        ),
        since("v1.13.0", True, pull=4482).means(
            "A custom extender can be limited to pods that request what it manages.",
            source="plugins/extender/extender.go IsInterested",
        ),
    )

    extender_notified_of_placements: bool = behaviour(
        "``extender`` is notified of placements, which it may refuse, and of removals.",
        since(FIRST, False).means(
            "A custom extender is not notified of placements.",
            source="plugins/extender/extender.go OnSessionOpen",
        ),
        since("v1.13.0", True, pull=4377).means(
            "A custom extender can refuse a placement.",
            source="plugins/extender/extender.go addEventHandler",
        ),
    )
