"""What filters and scores read of a pod, parsed once for all pods of a class.

Source: pkg/scheduler/framework/types.go PodInfo; podtopologyspread/common.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import msgspec

from ...kubernetes.expressions.selectors import (
    IN,
    NOTHING,
    LabelRequirement,
    NodeTerm,
    Selector,
    SelectorError,
    exactly,
    label_selector,
    node_term,
)
from ...kubernetes.objects import (
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    Toleration,
    TopologySpreadConstraint,
)
from .node_columns import HOSTNAME, ZONE, RequiredNodes, normalized_image
from .pod_requests import PodRequests, pod_requests

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - the API's name for all addresses of a node

TEMPLATE_UID = "volcano.sh/template-uid"
"""Annotation of pods that share cached results of plugin ``predicates``."""

SCHEDULE_ANYWAY = "ScheduleAnyway"
DO_NOT_SCHEDULE = "DoNotSchedule"

Term = TypeVar("Term")


class HostPort(msgspec.Struct, frozen=True):
    """A port of the node that a pod occupies."""

    address: str
    protocol: str
    port: int


class AffinityTerm(msgspec.Struct, frozen=True):
    """The selected pods, and the node label whose values are the domains."""

    namespaces: frozenset[str]
    selector: Selector
    key: str
    namespace_selector: Selector

    def matches(self, pod: PodClass, namespace_labels: Mapping[str, str]) -> bool:
        """Return whether pods of a class are selected, given the labels of their namespace."""
        if pod.namespace in self.namespaces or self.namespace_selector.matches(namespace_labels):
            return self.selector.matches(pod.labels)
        return False


class WeightedTerm(NamedTuple):
    """A term with its weight; negative for anti-affinity."""

    weight: int
    term: AffinityTerm


class Affinities(msgspec.Struct, frozen=True):
    """A pod's affinity terms; a list that does not parse is empty.

    :param error: the scheduler's message for what does not parse; else empty.
    """

    required: tuple[AffinityTerm, ...]
    required_anti: tuple[AffinityTerm, ...]
    preferred: tuple[WeightedTerm, ...]
    error: str


class NodePreference(NamedTuple):
    """A preference of nodes."""

    weight: int
    term: NodeTerm


class SpreadConstraint(msgspec.Struct, frozen=True):
    """A constraint on how evenly pods are spread over the domains of a label of nodes."""

    max_skew: int
    key: str
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool
    empty_means_all: bool = False


class Reading(msgspec.Struct, frozen=True):
    """How a release of Kubernetes reads pods.

    :param sidecars: sidecars count with the containers.
    :param overhead_in_cores: see :func:`.pod_requests`.
    :param extended_spread_constraints: topologySpreadConstraints are read in full.
    """

    sidecars: bool = True
    overhead_in_cores: bool = False
    extended_spread_constraints: bool = True

    def requests(self, pod: Pod) -> PodRequests:
        """Return a pod's request for scores."""
        return pod_requests(pod, sidecars=self.sidecars, overhead_in_cores=self.overhead_in_cores)


PRESENT = Reading()


class PodClass:
    """Pods that filters and scores cannot distinguish.

    :param pod: any of them.
    :param requests: its requests, if known.
    """

    def __init__(
        self, pod: Pod, requests: PodRequests | None = None, reading: Reading = PRESENT
    ) -> None:
        self.pod = pod
        self.namespace = pod.namespace
        self.labels = pod.labels
        self._extended_spread_constraints = reading.extended_spread_constraints
        self.requests = reading.requests(pod) if requests is None else requests

    @cached_property
    def tolerations(self) -> tuple[Toleration, ...]:
        """The taints that a pod bears."""
        return self.pod.spec.tolerations

    @cached_property
    def template(self) -> str:
        """The annotation for pods of one template; empty without one."""
        return self.pod.annotations.get(TEMPLATE_UID, "")

    @cached_property
    def ports(self) -> tuple[HostPort, ...]:
        """The ports of the node that a pod's containers occupy; not those of init containers.

        Source: pkg/scheduler/framework/types.go HostPortInfo.sanitize.
        """
        return tuple(
            HostPort(port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port)
            for container in self.pod.spec.containers
            for port in container.ports
            if port.host_port > 0
        )

    @cached_property
    def images(self) -> tuple[str, ...]:
        """The images of all containers, init containers first."""
        init = self.pod.spec.init_containers
        return (*(normalized_image(each.image) for each in init), *self.main_images)

    @cached_property
    def main_images(self) -> tuple[str, ...]:
        """The images of all containers but init containers."""
        return tuple(normalized_image(each.image) for each in self.pod.spec.containers)

    @cached_property
    def required_nodes(self) -> RequiredNodes:
        """The nodes that a pod must run on; terms that do not parse match none."""
        spec = self.pod.spec
        labels = tuple(
            LabelRequirement(key, IN, (spec.node_selector[key],))
            for key in sorted(spec.node_selector)
        )
        affinity = spec.affinity.node_affinity if spec.affinity is not None else None
        if affinity is None or affinity.required is None:
            return RequiredNodes(labels)
        return RequiredNodes(labels, node_terms(affinity.required.node_selector_terms))

    @cached_property
    def preferred_nodes(self) -> tuple[NodePreference, ...]:
        """The nodes that a pod should run on.

        :raises SelectorError: a term does not parse.
        """
        affinity = self.pod.spec.affinity
        if affinity is None or affinity.node_affinity is None:
            return ()
        preferred = []
        for source in affinity.node_affinity.preferred:
            term = node_term(source.preference) if source.weight else None
            if term is not None:
                preferred.append(NodePreference(source.weight, term))
        return tuple(preferred)

    @cached_property
    def has_affinity(self) -> bool:
        """Whether the pod has affinity or anti-affinity, even if empty."""
        affinity = self.pod.spec.affinity
        return affinity is not None and (
            affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None
        )

    @cached_property
    def has_required_anti(self) -> bool:
        """Whether the pod has required anti-affinity."""
        affinity = self.pod.spec.affinity
        return (
            affinity is not None
            and affinity.pod_anti_affinity is not None
            and bool(affinity.pod_anti_affinity.required)
        )

    @cached_property
    def affinities(self) -> Affinities:
        """The terms about other pods."""
        if not self.has_affinity:
            return Affinities((), (), (), "")
        affinity = self.pod.spec.affinity
        assert affinity is not None
        near = affinity.pod_affinity or PodAffinity()
        away = affinity.pod_anti_affinity or PodAffinity()
        faults: list[str] = []

        def parsed(field: str, parse: Callable[[], tuple[Term, ...]]) -> tuple[Term, ...]:
            try:
                return parse()
            except SelectorError as fault:
                faults.append(f"{field}: {fault}")
                return ()

        required = parsed("requiredAffinityTerms", lambda: self._terms(near.required))
        anti = parsed("requiredAntiAffinityTerms", lambda: self._terms(away.required))
        wanted = parsed("preferredAffinityTerms", lambda: self._weighted(near, 1))
        unwanted = parsed("preferredAntiAffinityTerms", lambda: self._weighted(away, -1))
        error = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]" if faults else ""
        return Affinities(required, anti, (*wanted, *unwanted), error)

    @cached_property
    def hard_spread(self) -> tuple[SpreadConstraint, ...]:
        """The constraints with DoNotSchedule.

        :raises SelectorError: a selector does not parse.
        """
        return self._spread(DO_NOT_SCHEDULE)

    @cached_property
    def soft_spread(self) -> tuple[SpreadConstraint, ...]:
        """The pod's own constraints that count for the score.

        :raises SelectorError: a selector does not parse.
        """
        return self._spread(SCHEDULE_ANYWAY)

    @cached_property
    def must_spread(self) -> bool:
        """Whether the pod has constraints with DoNotSchedule."""
        return any(
            source.when_unsatisfiable == DO_NOT_SCHEDULE
            for source in self.pod.spec.topology_spread_constraints
        )

    @cached_property
    def spreads_by_default(self) -> bool:
        """Whether the scheduler's default constraints are used, because the pod has none."""
        return not self.pod.spec.topology_spread_constraints

    @cached_property
    def has_claims(self) -> bool:
        """Whether the pod mounts claims of volumes."""
        return any(volume.claims for volume in self.pod.spec.volumes)

    def _terms(self, sources: Sequence[PodAffinityTerm]) -> tuple[AffinityTerm, ...]:
        return tuple(self._term(source) for source in sources)

    def _weighted(self, affinity: PodAffinity, sign: int) -> tuple[WeightedTerm, ...]:
        return tuple(
            WeightedTerm(sign * source.weight, self._term(source.pod_affinity_term))
            for source in affinity.preferred
        )

    def _term(self, source: PodAffinityTerm) -> AffinityTerm:
        selector = label_selector(source.label_selector)
        own = not source.namespaces and source.namespace_selector is None
        return AffinityTerm(
            frozenset((self.namespace,) if own else source.namespaces),
            selector,
            source.topology_key,
            label_selector(source.namespace_selector),
        )

    def _spread(self, action: str) -> tuple[SpreadConstraint, ...]:
        return tuple(
            _constraint(source, self.labels, refined=self._extended_spread_constraints)
            for source in self.pod.spec.topology_spread_constraints
            if source.when_unsatisfiable == action
        )


def class_of(pod: Pod, before: PodClass, reading: Reading = PRESENT) -> PodClass:
    """Return the class of a pod: the earlier one, or the parts of it that are still valid."""
    if before.pod is pod:
        return before
    same = _read(pod) == _read(before.pod)
    if same and before.labels == pod.labels:
        return before
    # What differs then are labels, which request nothing.
    requests = before.requests if same else None
    return PodClass(pod, requests, reading)


def _read(pod: Pod) -> tuple[object, ...]:
    """Return all fields of a pod that are read, except labels."""
    # A field that is missing here would leave a changed pod with what its class was.
    spec = pod.spec
    return (
        spec.containers,
        spec.init_containers,
        spec.overhead,
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        spec.topology_spread_constraints,
        spec.volumes,
        pod.namespace,
        pod.metadata.owner_references,
        pod.annotations.get(TEMPLATE_UID),
    )


def node_terms(sources: Iterable[NodeSelectorTerm]) -> tuple[NodeTerm, ...]:
    """Return the terms of a node selector that can match; the others match no node."""
    terms = []
    for source in sources:
        try:
            term = node_term(source)
        except SelectorError:
            continue
        if term is not None:
            terms.append(term)
    return tuple(terms)


def default_spread(selector: Selector) -> tuple[SpreadConstraint, ...]:
    """Return the scheduler's default constraints for pods of a Service or an owner.

    Source: podtopologyspread/plugin.go systemDefaultConstraints.
    """
    if selector.empty:
        return ()
    return (
        SpreadConstraint(3, HOSTNAME, selector, 1, honors_affinity=True, honors_taints=False),
        SpreadConstraint(5, ZONE, selector, 1, honors_affinity=True, honors_taints=False),
    )


def _constraint(
    source: TopologySpreadConstraint, labels: Mapping[str, str], *, refined: bool
) -> SpreadConstraint:
    """Return a constraint. Source: podtopologyspread/common.go filterTopologySpreadConstraints.

    :param refined: else only its skew, key and selector are read.
    """
    selector = label_selector(source.label_selector)
    if not refined:
        return SpreadConstraint(
            source.max_skew,
            source.topology_key,
            selector,
            1,
            honors_affinity=True,
            honors_taints=False,
            empty_means_all=True,
        )
    own = {key: labels[key] for key in source.match_label_keys if key in labels}
    if own and selector != NOTHING:
        selector = exactly(own).add(selector.requirements)
    return SpreadConstraint(
        source.max_skew,
        source.topology_key,
        selector,
        1 if source.min_domains is None else source.min_domains,
        honors_affinity=source.node_affinity_policy in (None, "Honor"),
        honors_taints=source.node_taints_policy == "Honor",
    )
