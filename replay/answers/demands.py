"""What a pod demands of nodes besides resources, in words: its selectors, ports and volumes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import msgspec

from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.expressions.selectors import NodeTerm
from ...engine.kubernetes.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from ...engine.kubernetes.objects.metadata import LabelSelector, NodeSelector, Requirement
from ...engine.kubernetes.objects.pods import PodAffinity
from ...engine.model.node import NodeInfo
from ...engine.session.kube.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_class,
    mounted_claims,
    no_claim,
    no_class,
)
from ...engine.session.kube.pod_class import node_terms
from ...engine.session.kube.tolerations import UNSCHEDULABLE_TAINT, tolerates, untolerated
from ...engine.session.plugins.numaaware.numaaware_plugin import NO_NUMA
from ...engine.session.plugins.predicates.inter_pod_affinity import AFFINITY, ANTI_AFFINITY
from ...engine.session.plugins.predicates.node_affinity import NO_MATCH
from ...engine.session.plugins.predicates.node_ports import OCCUPIED
from ...engine.session.plugins.predicates.pod_topology_spread import UNEVEN, UNLABELLED
from ...engine.session.plugins.predicates.predicates_arguments import PredicateOptions, read_options
from ...engine.session.plugins.predicates.taint_toleration import CORDONED, objection_to
from ...engine.session.plugins.predicates.volume_binding import (
    NOTHING_TO_BIND,
    UNREACHABLE,
    UNREACHABLE_BEFORE,
    VOLUME_MISSING,
)
from ...engine.session.reasons.objections import Objection
from .amounts import joined
from .answering_session import CLAIM, NUMA, STORAGE_CLASS, Run
from .capacities import given_before, request_of
from .coded_words import Phrases
from .device_words import cards_short, no_devices
from .limit_sources import releases_like
from .refusing_nodes import group_phrases

Given = tuple[str, Mapping[str, float]]
"""A pod, and what it requests."""

_Phrase = tuple[Objection, tuple[str, str]]
"""What a filter says, and what is said of one node and of several."""


class Demands(msgspec.Struct, frozen=True):
    """What a pod demands of nodes.

    :param phrases: what is said of nodes that refuse it.
    :param excluded: the nodes that its node selector or required node affinity excludes.
    :param closed: by node, all reasons for which it is closed to the pod: cordoned, and taints.
    :param request: by resource. :param nodes: all nodes, by name.
    :param given: returns the pods that this session gave a place on a node before.
    :param absent: by what a filter says, the cause of an answer that rests on what does not exist.
    :param devices: returns why the scheduler reads no virtual GPUs of a node, in words.
    :param cards: returns what the cards of a node lack for it, in words.
    :param shares: why it gets the results of other pods of its job, in words.
    :param behaviour: the one that makes the release do so; empty if all releases do.
    """

    phrases: Phrases = MappingProxyType({})
    excluded: frozenset[str] = frozenset()
    closed: Mapping[str, tuple[Objection, ...]] = MappingProxyType({})
    request: Mapping[str, float] = MappingProxyType({})
    nodes: Mapping[str, NodeInfo] = MappingProxyType({})
    given: Callable[[str], Sequence[Given]] = lambda _: ()
    absent: Mapping[Objection, str] = MappingProxyType({})
    devices: Callable[[str], str] = lambda _: ""
    cards: Callable[[str], str] = lambda _: ""
    shares: str = ""
    behaviour: str = ""

    def has(self, node: str, name: str) -> float:
        """Return how much of a resource a node has when it is empty."""
        info = self.nodes.get(node)
        return 0.0 if info is None else info.allocatable.get(name)

    def without_pods(self, node: str) -> bool:
        """Return whether a node does not say how many pods it may have."""
        info = self.nodes.get(node)
        return (
            info is not None
            and info.node is not None
            and "pods" not in info.node.status.allocatable
        )


NO_DEMANDS = Demands()

_ROLELESS = "tasks_without_role_share_failures"
"""The behaviour with which pods of a job without a role share why nodes refuse them."""

_MOST = 4
"""How many parts of a demand a sentence names."""


def demands_of(run: Run, key: str) -> Demands:
    """Return what a pod demands of nodes."""
    pod = run.pod(key)
    if pod is None:
        return NO_DEMANDS
    shares, behaviour = _shares(run, pod)
    return Demands(
        phrases=dict(_phrases(run, pod)),
        excluded=_unselected(run, pod),
        closed=dict(_closed(run, pod)),
        request=request_of(run, pod),
        nodes=run.cache.nodes,
        given=partial(given_before, run, key),
        absent={said: cause for said, _, cause in _missing(run, pod)},
        devices=partial(no_devices, run),
        cards=partial(cards_short, run, key),
        shares=shares,
        behaviour=behaviour,
    )


def _shares(run: Run, pod: Pod) -> tuple[str, str]:
    """Return why a pod may get results of other pods of its job, and the behaviour that does it."""
    job = run.job(job_of(pod))
    task = None if job is None else job.tasks.get(pod.uid)
    if task is not None and task.role:
        return f"uses that for all pods of the job with the role {task.role}", ""
    like = releases_like(run, _ROLELESS)
    return (
        f"uses that for all pods of the job without a role (as {like}, behaviour {_ROLELESS})",
        _ROLELESS,
    )


def _closed(run: Run, pod: Pod) -> Iterator[tuple[str, tuple[Objection, ...]]]:
    """Yield the nodes that are closed to a pod, with all reasons: a filter stops at the first."""
    options = _filtering(run)
    if options is None:
        return
    wanted = pod.spec.tolerations
    for name, info in run.closed.items():
        assert info.node is not None, "only nodes that exist are closed"
        # Kubernetes' NodeUnschedulable lets a pod pass that tolerates the taint of a cordon.
        cordoned = info.node.spec.unschedulable and not tolerates(wanted, UNSCHEDULABLE_TAINT)
        reasons = [CORDONED] if cordoned else []
        if options.taint_toleration:
            reasons += [
                objection_to(taint)
                # A cordon and its taint are one reason.
                for taint in info.taints
                if untolerated((taint,), wanted)
                and not (cordoned and taint.key == UNSCHEDULABLE_TAINT.key)
            ]
        if reasons:
            yield name, tuple(reasons)


def _filtering(run: Run) -> PredicateOptions | None:
    """Return which filters of nodes run; None without the plugin that has them."""
    for tier in run.conf.tiers:
        for option in tier:
            if option.name == "predicates":
                return read_options(option.arguments)
    return None


def _unselected(run: Run, pod: Pod) -> frozenset[str]:
    """Return the nodes that a pod's node selector or required node affinity excludes.

    A filter that comes before these says nothing of them: that a node is cordoned, for one.
    """
    affinity = None if pod.spec.affinity is None else pod.spec.affinity.node_affinity
    required = None if affinity is None else affinity.required
    terms = None if required is None else node_terms(required.node_selector_terms)
    wanted = pod.spec.node_selector.items()
    excluded = set()
    if terms is None and not wanted:
        return frozenset()
    for name, info in run.cache.nodes.items():
        labels = {} if info.node is None else info.node.labels
        chosen = terms is None or any(_selects(term, name, labels) for term in terms)
        if not chosen or not wanted <= labels.items():
            excluded.add(name)
    return frozenset(excluded)


def _selects(term: NodeTerm, name: str, labels: Mapping[str, str]) -> bool:
    # The API server accepts no other field in a selector of nodes.
    fields = {"metadata.name": name}
    return all(label.holds(labels.get(label.key)) for label in term.labels) and all(
        field.holds(fields.get(field.key)) for field in term.fields
    )


def unbound_claim(run: Run, pod: Pod | None) -> str:
    """Return which claim of a pod has no volume yet, and what has to give it one."""
    claims = () if pod is None else _claims(run, pod)
    for claim in claims:
        named = claim_class(claim)
        # Such a claim gets its volume when the pod has a node, so it keeps no pod waiting.
        storage = run.cache.stores.get("StorageClass", named)
        if _delays(storage) and not claim.spec.volume_name:
            continue
        if claim.status.phase == "Bound":
            continue
        if claim.status.phase == "Lost":
            lost = f"its volume {claim.spec.volume_name} is gone"
            return f"its PersistentVolumeClaim {claim.key} is Lost: {lost}"
        text = f"its PersistentVolumeClaim {claim.key} is not bound to a volume yet"
        if not named:
            return f"{text}, and it names no StorageClass"
        if not isinstance(storage, StorageClass):
            listed = bool(run.cache.stores.of("StorageClass"))
            absent = "does not exist" if listed else "is not known here"
            return f"{text}, and its StorageClass {named} {absent}"
        who = f"provisioner {storage.provisioner} of " if storage.provisioner else ""
        return f"{text}: {who}StorageClass {named} has to make one"
    return ""


def _phrases(run: Run, pod: Pod) -> Iterator[_Phrase]:
    places = _places(pod)
    if places:
        yield NO_MATCH, (f"does not match the pod's {places}", f"do not match the pod's {places}")
    affinity = pod.spec.affinity
    near = "" if affinity is None else _terms(affinity.pod_affinity)
    if near:
        yield AFFINITY, (f"is not near a pod with {near}", f"are not near a pod with {near}")
    apart = "" if affinity is None else _terms(affinity.pod_anti_affinity)
    if apart:
        says = f"near a pod with {apart}, from which the pod's anti-affinity keeps it away"
        yield ANTI_AFFINITY, (f"is {says}", f"are {says}")
    yield from _spread(pod)
    yield from _ports(pod)
    yield from _volumes(run, pod)
    yield from group_phrases(run.cache, pod)
    if run.never_listed(NUMA):
        lacks = "Numatopology that is known here (plugin numa-aware)"
        yield NO_NUMA, (f"has no {lacks}", f"have no {lacks}")


def _places(pod: Pod) -> str:
    """Return the node selector and the required node affinity of a pod."""
    spec, parts = pod.spec, []
    if spec.node_selector:
        equal = [f"{key}={value}" for key, value in sorted(spec.node_selector.items())]
        parts.append(f"node selector {_some(equal)}")
    affinity = None if spec.affinity is None else spec.affinity.node_affinity
    required = "" if affinity is None else _node_selector(affinity.required)
    if required:
        parts.append(f"node affinity {required}")
    return joined(parts)


def _node_selector(selector: NodeSelector | None) -> str:
    terms = () if selector is None else selector.node_selector_terms
    texts = [_some(map(_requirement, (*t.match_expressions, *t.match_fields))) for t in terms]
    return joined([text for text in texts if text][:_MOST], "or")


def _requirement(wanted: Requirement) -> str:
    """Return one expression of a selector, as kubectl writes it."""
    values = ",".join(wanted.values)
    match wanted.operator:
        case "In" if len(wanted.values) == 1:
            return f"{wanted.key}={values}"
        case "In" | "NotIn":
            return f"{wanted.key} {wanted.operator.lower()} ({values})"
        case "Exists":
            return wanted.key
        case "DoesNotExist":
            return f"!{wanted.key}"
        case "Gt":
            return f"{wanted.key}>{values}"
        case "Lt":
            return f"{wanted.key}<{values}"
    return f"{wanted.key} {wanted.operator} {values}".strip()


def _labels(selector: LabelSelector | None) -> str:
    if selector is None:
        return "no labels at all"
    equal = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    return _some([*equal, *map(_requirement, selector.match_expressions)]) or "any labels"


def _terms(affinity: PodAffinity | None) -> str:
    """Return the required terms: the labels, and the topology that counts as near."""
    terms = () if affinity is None else affinity.required
    texts = [f"{_labels(term.label_selector)} (by {term.topology_key})" for term in terms]
    return joined(texts[:_MOST])


def _spread(pod: Pod) -> Iterator[_Phrase]:
    keys = [
        constraint.topology_key
        for constraint in pod.spec.topology_spread_constraints
        if constraint.when_unsatisfiable == "DoNotSchedule"
    ]
    if keys:
        over = _some(dict.fromkeys(keys))
        says = f"would make the pod's topology spread over {over} too uneven"
        yield UNEVEN, (says, says)
        label = "label" if len(set(keys)) == 1 else "labels"
        lacks = f"the {label} {over} of the pod's topology spread"
        yield UNLABELLED, (f"lacks {lacks}", f"lack {lacks}")


def _ports(pod: Pod) -> Iterator[_Phrase]:
    ports = {
        f"{port.host_port}"
        for container in pod.spec.containers
        for port in container.ports
        if port.host_port > 0
    }
    if ports:
        noun = "host port" if len(ports) == 1 else "one of the host ports"
        named = f"{noun} {_some(sorted(ports, key=int))}"
        yield OCCUPIED, (f"has {named} in use", f"have {named} in use")


def _volumes(run: Run, pod: Pod) -> Iterator[_Phrase]:
    """Yield what is said of nodes that reach no volume of the pod, or offer none."""
    for said, absent, cause in _missing(run, pod):
        listed = not run.never_listed(CLAIM if cause == "no-claim" else STORAGE_CLASS)
        says = f"the pod, as its {absent} {'does not exist' if listed else 'is not known here'}"
        yield said, (f"refuses {says}", f"refuse {says}")
    claims = _claims(run, pod)
    stores = run.cache.stores
    tied = []
    for claim in claims:
        volume = stores.get("PersistentVolume", claim.spec.volume_name)
        affinity = volume.spec.node_affinity if isinstance(volume, PersistentVolume) else None
        if affinity is not None and affinity.required is not None:
            tied.append(f"{claim.spec.volume_name} ({_node_selector(affinity.required)})")
    if tied:
        named = f"the pod's {'volume' if len(tied) == 1 else 'volumes'} {_some(tied)}"
        # Releases say the same in two ways, by the Kubernetes that they are built with.
        for reason in (UNREACHABLE, UNREACHABLE_BEFORE):
            yield reason, (f"cannot reach {named}", f"cannot reach {named}")
    gone = [
        f"{claim.spec.volume_name} of claim {claim.name}"
        for claim in claims
        if claim.spec.volume_name and stores.get("PersistentVolume", claim.spec.volume_name) is None
    ]
    if gone:
        says = f"the pod's volume {_some(gone)}, which does not exist"
        yield VOLUME_MISSING, (f"cannot reach {says}", f"cannot reach {says}")
    # Such a claim gets its volume on the node that is chosen, so each node needs one to offer.
    delayed = [claim.name for claim in claims if not claim.spec.volume_name]
    if delayed:
        named = f"the pod's {'claim' if len(delayed) == 1 else 'claims'} {_some(delayed)}"
        says = f"no free persistent volume for {named}"
        yield NOTHING_TO_BIND, (f"has {says}", f"have {says}")


def _missing(run: Run, pod: Pod) -> Iterator[tuple[Objection, str, str]]:
    """Yield what a pod's volumes need and does not exist: what filters say, it, the cause."""
    for mounted in mounted_claims(pod):
        key = f"{pod.namespace}/{mounted.name}"
        claim = run.cache.stores.get("PersistentVolumeClaim", key)
        if not isinstance(claim, PersistentVolumeClaim):
            yield Objection(no_claim(mounted.name)), f"PersistentVolumeClaim {key}", "no-claim"
            continue
        named = claim_class(claim)
        if named and run.cache.stores.get("StorageClass", named) is None:
            missing = f"StorageClass {named} of its claim {key}"
            yield Objection(no_class(named)), missing, "unbound-claim"


def _claims(run: Run, pod: Pod) -> Sequence[PersistentVolumeClaim]:
    """Return the claims of a pod that exist."""
    keys = (f"{pod.namespace}/{claim.name}" for claim in mounted_claims(pod))
    claims = (run.cache.stores.get("PersistentVolumeClaim", key) for key in keys)
    return [claim for claim in claims if isinstance(claim, PersistentVolumeClaim)]


def _delays(storage: object) -> bool:
    if not isinstance(storage, StorageClass):
        return False
    return storage.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def _some(parts: Iterable[str]) -> str:
    """Return some parts, and how many more there are."""
    every = list(parts)
    rest = len(every) - _MOST
    return ",".join(every) if rest <= 0 else f"{','.join(every[:_MOST])} and {rest} more"
