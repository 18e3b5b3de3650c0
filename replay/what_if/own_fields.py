"""Changes of a job's own fields: its gang, its topology, its queue, and what its pods ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import to_builtins

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import (
    HyperNode,
    NetworkTopology,
    Pod,
    PodGroup,
    PriorityClass,
)
from ...engine.session.framework.vote_details import Gate, Spares
from ..answers.answering_session import POD, PODGROUP, pending
from ..answers.records import EvictionTry, Gang, Hypernodes, Link, Nodes
from ..objects.kind_names import ObjectName
from .cluster_changes import Apply, SetField
from .suggestion import (
    GANG,
    MOVE,
    PODS,
    RESTORE,
    TOPOLOGY,
    Suggestion,
    group_name,
    single,
)

_ROOT = "root"
_MOVES = 8
"""So many other queues are tried, by name."""

_SOFT = 1_000
"""More than any tier: a topology that is only preferred is tried last."""

_CLASSES = 3
"""So many higher PriorityClasses are tried, the lowest first."""

_TOPOLOGY = ("spec", "networkTopology")


def of_job(chain: Iterable[Link], podgroup: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield changes of what a job and its pods ask for."""
    for link in chain:
        if isinstance(link, Gang):
            yield from _smaller(link, podgroup)
        elif isinstance(link, Hypernodes):
            yield from _wider(link, podgroup, cache)
        elif isinstance(link, EvictionTry):
            yield from _stronger(link, podgroup, cache)
    yield from _freer_pods(chain, podgroup, cache)
    yield from _other_queues(cache, podgroup)


def restored(was: Mapping[str, Any]) -> Iterator[Suggestion]:
    """Yield a PodGroup that is created again, with the name and the spec that it had."""
    about = was["metadata"]
    fields = ("name", "namespace", "labels", "annotations", "ownerReferences")
    again = {
        "apiVersion": f"{PODGROUP[0]}/v1beta1",
        "kind": PODGROUP[1],
        "metadata": {name: about[name] for name in fields if name in about},
        "spec": was.get("spec") or {},
        # Its old status is gone with it: sessions treat it as any new PodGroup.
        "status": {"phase": "Pending"},
    }
    text = f"podgroup {about['namespace']}/{about['name']} is created again"
    yield single(RESTORE, 0, text, Apply(again))


def _smaller(gang: Gang, podgroup: str) -> Iterator[Suggestion]:
    """Yield a gang of all the pods that a job has, and one of those that have a place.

    Of a role that lacks pods, those that it has suffice.
    """
    for fits in (gang.valid, gang.ready + gang.waiting + len(gang.planned)):
        if 0 < fits < gang.least:
            text = f"minMember of the PodGroup: {fits} instead of {gang.least}"
            change = SetField(group_name(podgroup), ("spec", "minMember"), fits)
            yield single(GANG, gang.least - fits, text, change)
    if gang.valid >= gang.least and gang.lacking:
        roles = sorted(gang.lacking.items())
        parts = [f"{exist} instead of {least} {role}" for role, (least, exist) in roles]
        changes = [
            SetField(group_name(podgroup), ("spec", "minTaskMember", role), exist)
            for role, (_, exist) in roles
        ]
        size = sum(least - exist for _, (least, exist) in roles)
        text = f"minTaskMember of the PodGroup: {', '.join(parts)}"
        yield single(GANG, size, text, *changes)


def _wider(link: Hypernodes, podgroup: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield network topologies that allow each higher tier, and one that is only preferred.

    They are those of the PodGroup and of the groups in it. A tier is named as they name it, if it
    has a name.
    """
    group = cache.stores.get("PodGroup", podgroup)
    if not isinstance(group, PodGroup):
        return
    spec = group.spec
    named, tiers = group_name(podgroup), _tiers_above(link.highest, cache)
    for text, size, fields in _topologies(
        "the PodGroup", spec.network_topology, link.highest, tiers
    ):
        yield single(TOPOLOGY, size, text, SetField(named, _TOPOLOGY, fields))
    # A merge replaces a list as a whole, so all policies are set again.
    policies = [to_builtins(policy) for policy in spec.sub_group_policy]
    for place, policy in enumerate(spec.sub_group_policy):
        whose = f"subGroupPolicy {policy.name}"
        for text, size, fields in _topologies(whose, policy.network_topology, link.highest, tiers):
            changed = {**policies[place], "networkTopology": fields}
            changed_policies = [*policies[:place], changed, *policies[place + 1 :]]
            yield single(
                TOPOLOGY, size, text, SetField(named, ("spec", "subGroupPolicy"), changed_policies)
            )


def _topologies(
    whose: str, wanted: NetworkTopology | None, highest: int, tiers: Mapping[int, str]
) -> Iterator[tuple[str, int, dict[str, object]]]:
    """Yield wider topologies than a hard one: what is said of each, its size and its fields."""
    if wanted is None or wanted.mode != "hard":
        return
    name, hard = wanted.highest_tier_name, {"mode": "hard"}
    for tier, tier_name in sorted(tiers.items()):
        if name and tier_name:
            text = f"highestTierName of {whose}: {tier_name} instead of {name}"
            yield text, tier, {**hard, "highestTierName": tier_name}
        elif name:
            text = f"highestTierAllowed {tier} of {whose} instead of highestTierName {name}"
            yield text, tier, {**hard, "highestTierName": None, "highestTierAllowed": tier}
        else:
            text = f"highestTierAllowed of {whose}: {tier} instead of {highest}"
            yield text, tier, {**hard, "highestTierAllowed": tier}
    text = f"mode of {whose}'s network topology: soft instead of hard"
    yield text, _SOFT, {"mode": "soft"}


def _tiers_above(highest: int, cache: SchedulerCache) -> dict[int, str]:
    """Return the tiers of hypernodes above one, each with a name that hypernodes give it."""
    tiers: dict[int, str] = {}
    for _, node in sorted(cache.stores.of("HyperNode").items()):
        if isinstance(node, HyperNode) and node.spec.tier > highest:
            tiers[node.spec.tier] = tiers.get(node.spec.tier, "") or node.spec.tier_name
    return tiers


def _other_queues(cache: SchedulerCache, podgroup: str) -> Iterator[Suggestion]:
    """Yield the PodGroup in each other queue that is open and has no queue below it."""
    job = cache.jobs.get(podgroup)
    if job is None or job.pod_group is None:
        return
    parents = {info.parent for info in cache.queues.values()} | {_ROOT, job.queue}
    names = [
        name for name in sorted(cache.queues.keys() - parents) if cache.queues[name].state == "Open"
    ]
    for rank, name in enumerate(names[:_MOVES]):
        change = SetField(group_name(podgroup), ("spec", "queue"), name)
        yield single(MOVE, rank, f"queue of the PodGroup: {name} instead of {job.queue}", change)


class _Field(NamedTuple):
    """A field of pods that keeps them from nodes.

    :param text: what is said of pods without it. :param path: from the pod on.
    """

    text: str
    path: Sequence[str]


def _freer_pods(
    chain: Iterable[Link], podgroup: str, cache: SchedulerCache
) -> Iterator[Suggestion]:
    """Yield the pods of a job that wait without a gate, and without what keeps them from nodes."""
    pods = [
        pod
        for key in pending(cache, podgroup)
        if isinstance(pod := cache.stores.get("Pod", key), Pod)
    ]
    refused = any(isinstance(link, Nodes) and link.blocks for link in chain)
    fields: dict[str, list[SetField]] = {}
    for pod in pods:
        for field in (*_gates(pod), *(_constraints(pod) if refused else ())):
            change = SetField(ObjectName(*POD, pod.name, pod.namespace), tuple(field.path), None)
            fields.setdefault(field.text, []).append(change)
    for rank, (text, changes) in enumerate(fields.items()):
        yield single(PODS, rank, text, *changes)


def _gates(pod: Pod) -> Iterator[_Field]:
    names = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
    if names:
        yield _Field(f"no scheduling gate {names} on its pods", ("spec", "schedulingGates"))


def _constraints(pod: Pod) -> Iterator[_Field]:
    """Yield what a pod demands of nodes besides resources, as far as a field says it alone."""
    spec, required = pod.spec, "requiredDuringSchedulingIgnoredDuringExecution"
    if spec.node_selector:
        pairs = ",".join(f"{name}={value}" for name, value in sorted(spec.node_selector.items()))
        yield _Field(f"no node selector {pairs} on its pods", ("spec", "nodeSelector"))
    affinity = spec.affinity
    if affinity is not None:
        for field, title, has in (
            ("nodeAffinity", "node affinity", affinity.node_affinity),
            ("podAffinity", "pod affinity", affinity.pod_affinity),
            ("podAntiAffinity", "pod anti-affinity", affinity.pod_anti_affinity),
        ):
            if has is not None and has.required:
                there = ("spec", "affinity", field, required)
                yield _Field(f"no required {title} of its pods", there)
    if any(
        constraint.when_unsatisfiable != "ScheduleAnyway"
        for constraint in spec.topology_spread_constraints
    ):
        path = ("spec", "topologySpreadConstraints")
        yield _Field("no topologySpreadConstraints of its pods", path)


def _stronger(link: EvictionTry, podgroup: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield pods that may evict others: by their preemptionPolicy, and by a higher priority."""
    names = [
        ObjectName(*POD, name, place)
        for place, _, name in (key.partition("/") for key in pending(cache, podgroup))
    ]
    if link.gate == Gate.POLICY:
        changes = [SetField(name, ("spec", "preemptionPolicy"), None) for name in names]
        yield single(PODS, _CLASSES, "preemptionPolicy of its pods: PreemptLowerPriority", *changes)
    lower = [stay for stay in link.stays if stay.reason == Spares.PRIORITY]
    if not lower:
        return
    own = max(float(stay.limit.get("", "0")) for stay in lower)
    classes = [
        (priority_class.value, name)
        for name, priority_class in sorted(cache.stores.of("PriorityClass").items())
        if isinstance(priority_class, PriorityClass)
        and priority_class.value > own
        # Kubernetes reserves this prefix for pods that the cluster cannot do without.
        and not name.startswith("system-")
    ]
    for rank, (value, name) in enumerate(sorted(classes)[:_CLASSES]):
        group = SetField(group_name(podgroup), ("spec", "priorityClassName"), name)
        # Admission copies the value of a class into a pod only when that is created.
        spec = {"priorityClassName": name, "priority": value}
        pods = [SetField(object_name, ("spec",), spec) for object_name in names]
        yield single(
            PODS, rank, f"PriorityClass {name} for the PodGroup and its pods", group, *pods
        )
