"""Classes of tasks: pods whose differences no plugin looks at.

A result for one task of a class holds for the whole class. So a session with ten thousand pods runs
the filters only a few dozen times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ..kubernetes.objects import LabelSelector, Pod, PodAffinity

ANNOTATIONS = (
    "volcano.sh/task-spec",
    "volcano.sh/task-priority",
    "volcano.sh/preemptable",
    "volcano.sh/revocable-zone",
    "volcano.sh/numa-topology-policy",
    "volcano.sh/topology-decision",
    "volcano.sh/cooldown-time",
    "volcano.sh/queue-name",
    "volcano.sh/resource-strategy-scoring-type",
    "volcano.sh/resource-strategy-weight",
    "volcano.sh/template-uid",
    "volcano.sh/vgpu-mode",
    "nvidia.com/use-gputype",
    "nvidia.com/nouse-gputype",
    "volcano.sh/vgpu-number",
    "volcano.sh/vgpu-podgroup-policy",
    "scheduling.volcano.sh/queue-name",
)
"""Annotations of a pod that some plugin reads."""

LABELS = (
    "volcano.sh/task-spec",
    "volcano.sh/preemptable",
    "volcano.sh/cooldown-time",
    "volcano.sh/queue-name",
)
"""Labels that a plugin reads by name; other labels count only if a selector uses them."""

_SPREADING_OWNERS = frozenset({"ReplicationController", "ReplicaSet", "StatefulSet"})
"""Kinds of owners whose selectors choose the pods for spreading by default."""


class TaskClasses:
    """Assigns equal pods the same small number, in the order of their first use."""

    def __init__(self) -> None:
        self._encoder = msgspec.msgpack.Encoder(order="deterministic")
        self._known: dict[bytes, int] = {}
        self._selected: tuple[str, ...] = ()
        self._finer: dict[tuple[int, tuple[str | None, ...]], int] = {}

    @property
    def selected(self) -> tuple[str, ...]:
        """The label names that selectors use; when one is added, all numbers are assigned again."""
        return self._selected

    def of(self, pod: Pod) -> int:
        """Return the class of a pod; labels that only selectors use are ignored."""
        key = self._encoder.encode(_key(pod))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self._known)
            # A new class may bring selectors with it; pods of a known class have the same ones.
            self.select(_selectors(pod))
        return known

    def begin(self, pods: Iterable[Pod], selected: Iterable[str]) -> None:
        """Reset the classes to those of some pods, in their order.

        :param selected: label names that selectors use.
        """
        self._known = {self._encoder.encode(_key(pod)): number for number, pod in enumerate(pods)}
        self._selected, self._finer = tuple(sorted(selected)), {}

    def select(self, selectors: Iterable[LabelSelector | dict[str, str]]) -> None:
        """Add selectors that are applied to pods: their labels count from now on."""
        selected = set(self._selected)
        for selector in selectors:
            if isinstance(selector, dict):
                selected.update(selector)
            else:
                selected.update(selector.match_labels)
                selected.update(expression.key for expression in selector.match_expressions)
        if len(selected) > len(self._selected):
            self._selected = tuple(sorted(selected))
            self._finer = {}

    def finer(self, klass: int, pod: Pod) -> int:
        """Return a number for a pod of a class that also depends on labels in selectors.

        Only compare numbers with the same :attr:`selected`.
        """
        key = (klass, tuple(map(pod.labels.get, self._selected)))
        return self._finer.setdefault(key, len(self._finer))


def is_of_class_of(pod: Pod, other: Pod) -> bool:
    """Return whether two pods are certainly of one class: they only run on different nodes."""
    mine, theirs = pod.metadata, other.metadata
    if (
        mine.labels != theirs.labels
        or mine.annotations != theirs.annotations
        or mine.owner_references != theirs.owner_references
        or mine.name != theirs.name
        or mine.namespace != theirs.namespace
    ):
        return False
    spec, node = pod.spec, other.spec.node_name
    if spec.node_name != node:
        spec = msgspec.structs.replace(spec, node_name=node)
    return spec == other.spec


def _key(pod: Pod) -> tuple[object, ...]:
    """Return all fields of a pod that a plugin reads before the pod runs."""
    spec, annotations = pod.spec, pod.annotations
    owners = pod.metadata.owner_references
    return (
        pod.namespace,
        [pod.labels.get(name) for name in LABELS],
        [annotations.get(name) for name in ANNOTATIONS],
        [(o.kind, o.name) for o in owners if o.controller and o.kind in _SPREADING_OWNERS],
        spec.containers,
        spec.init_containers,
        spec.overhead,
        spec.priority,
        spec.priority_class_name,
        spec.preemption_policy,
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        spec.topology_spread_constraints,
        _volumes(pod),
        spec.scheduling_gates,
        spec.host_network,
        spec.resource_claims,
        spec.resources,
    )


def _volumes(pod: Pod) -> list[object]:
    """Return the volumes that bind a pod to nodes; a claim made for a pod is named after it."""
    volumes: list[object] = []
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None:
            volumes.append((pod.name, volume))
        elif volume.persistent_volume_claim is not None:
            volumes.append(volume.persistent_volume_claim)
        elif volume.binds:
            volumes.append(volume)
    return volumes


def _selectors(pod: Pod) -> Iterator[LabelSelector | dict[str, str]]:
    """Yield what a pod asks of the labels of pods."""
    for constraint in pod.spec.topology_spread_constraints:
        if constraint.label_selector is not None:
            yield constraint.label_selector
        yield dict.fromkeys(constraint.match_label_keys, "")
    affinity = pod.spec.affinity
    for side in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ():
        yield from _affinity_selectors(side)


def _affinity_selectors(side: PodAffinity | None) -> Iterator[LabelSelector | dict[str, str]]:
    if side is None:
        return
    for term in (*side.required, *(weighted.pod_affinity_term for weighted in side.preferred)):
        if term.label_selector is not None:
            yield term.label_selector
        yield dict.fromkeys((*term.match_label_keys, *term.mismatch_label_keys), "")
