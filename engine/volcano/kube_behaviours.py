"""What of a release's behaviour is that of the version of Kubernetes whose plugins it links.

Filters and scores of nodes are kube-scheduler's own, of the version in a release's ``go.mod``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KubeBehaviours:
    """How kube-scheduler's filters and scores work where its versions differ."""

    sidecars_scored: bool
    """Scores of nodes count init containers that go on running, those of the pod that is placed."""

    lying_sidecars_scored: bool
    """Scores of nodes count init containers that go on running, of the pods that are there."""

    overhead_scored_in_cores: bool
    """Scores of nodes take a pod's overhead of cpu in whole cores, and those for thousandths."""

    unconstrained_spread_scores: bool
    """Pods without constraints on their spread get the full score of it on every node."""

    init_images_scored: bool
    """Where images count, those of init containers do as well."""

    spread_refined: bool
    """Constraints of a pod's spread are looked at with ``minDomains``, ``matchLabelKeys`` and
    policies of affinity and taints, and count no pods where they select all."""

    zoneless_nodes_asked: bool
    """What is wrong with a pod's claims is a reason of the filter of zones on every node; else only
    on those that say in what zone they are."""

    zone_labels_renamed: bool
    """A volume's zone by the old name of the label is looked for under the present one too."""

    scores_need_predicates: bool
    """``nodeorder`` crashes the process unless ``predicates`` has prepared for a pod before."""
