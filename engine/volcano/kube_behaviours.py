"""What of a release's behaviour is that of the version of Kubernetes whose plugins it links.

Filters and scores of nodes are kube-scheduler's own, of the version in a release's ``go.mod``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KubeBehaviours:
    """How kube-scheduler's filters and scores work where its versions differ."""

    placed_pod_sidecars_scored: bool
    """Scores of nodes count init containers that go on running, those of the pod that is placed."""

    existing_pod_sidecars_scored: bool
    """Scores of nodes count init containers that go on running, of the pods that are there."""

    overhead_scored_in_cores: bool
    """Scores of nodes take a pod's overhead of cpu in whole cores, and those for thousandths."""

    unconstrained_pods_get_spread_score: bool
    """Pods without constraints on their spread get the full score of it on every node."""

    init_container_images_scored: bool
    """Where images count, those of init containers do as well."""

    extended_spread_constraints: bool
    """Constraints of a pod's spread are looked at with ``minDomains``, ``matchLabelKeys`` and
    policies of affinity and taints, and count no pods where they select all."""

    volume_zone_checks_unlabelled_nodes: bool
    """What is wrong with a pod's claims is a reason of the filter of zones on every node; else only
    on those that say in what zone they are."""

    beta_zone_labels_translated: bool
    """A volume's zone by the old name of the label is looked for under the present one too."""

    nodeorder_needs_predicates: bool
    """``nodeorder`` crashes the process unless ``predicates`` has prepared for a pod before."""
