"""Classes of tasks: pods whose differences no plugin looks at.

What is computed for one task of a class holds for all of it, so that a session of ten thousand pods
works out what fits where a few dozen times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from .objects import LabelSelector, Pod, PodAffinity

ANNOTATIONS = (
    "volcano.sh/task-spec",
    "volcano.sh/task-priority",
    "volcano.sh/preemptable",
    "volcano.sh/revocable-zone",
    "volcano.sh/numa-topology-policy",
    "volcano.sh/topology-decision",
    "volcano.sh/cooldown-time",
    "volcano.sh/queue-name",
    "volcano.sh/template-uid",
    "volcano.sh/vgpu-mode",
    "nvidia.com/use-gputype",
    "nvidia.com/nouse-gputype",
    "volcano.sh/vgpu-number",
    "scheduling.volcano.sh/queue-name",
)
"""Annotations of a pod that some plugin reads."""

PER_POD_LABELS = (
    "volcano.sh/task-index",
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
    "controller-revision-hash",
)
"""Labels that tell the pods of one template apart; left out until a selector names one of them."""

_PER_POD = frozenset(PER_POD_LABELS)
_SPREADING_OWNERS = frozenset({"ReplicationController", "ReplicaSet", "StatefulSet"})
"""Owners whose selectors say with which pods a pod is to be spread by default."""


class TaskClasses:
    """Gives equal pods the same small number, in the order in which they are first seen."""

    def __init__(self) -> None:
        self._encoder = msgspec.msgpack.Encoder(order="deterministic")
        self._known: dict[bytes, int] = {}
        self._selected: frozenset[str] = frozenset()

    @property
    def selected(self) -> frozenset[str]:
        """The labels of :data:`PER_POD_LABELS` that some selector names."""
        return self._selected

    def of(self, pod: Pod) -> int:
        """Return the class of a pod, without regard to :data:`PER_POD_LABELS`."""
        key = self._encoder.encode(_key(pod))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self._known)
            self.select(_selectors(pod))
        return known

    def select(self, selectors: Iterable[LabelSelector | dict[str, str]]) -> None:
        """Take note of selectors that are applied to pods: their labels matter from now on."""
        for selector in selectors:
            if isinstance(selector, dict):
                names = list(selector)
            else:
                names = [*selector.match_labels, *(e.key for e in selector.match_expressions)]
            self._selected |= _PER_POD.intersection(names)

    def column(self, pods: Iterable[tuple[int, Pod]]) -> NDArray[np.int32]:
        """Return the classes of (class, pod) pairs, finer where a selector names labels of one pod.

        Every number is right for one call: with a new selector the same pod may get another.
        """
        if not self._selected:
            return np.array([klass for klass, _ in pods], dtype=np.int32)
        finer: dict[tuple[int, tuple[str | None, ...]], int] = {}
        names = sorted(self._selected)
        return np.array(
            [
                finer.setdefault((klass, tuple(map(pod.labels.get, names))), len(finer))
                for klass, pod in pods
            ],
            dtype=np.int32,
        )


def _key(pod: Pod) -> tuple[object, ...]:
    """Return all of a pod that some plugin looks at before the pod runs anywhere."""
    spec, annotations, labels = pod.spec, pod.annotations, pod.labels
    if not _PER_POD.isdisjoint(labels):
        labels = {name: value for name, value in labels.items() if name not in _PER_POD}
    owners = pod.metadata.owner_references
    return (
        pod.namespace,
        labels,
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
    found: list[object] = []
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None:
            found.append((pod.name, volume))
        elif volume.persistent_volume_claim is not None:
            found.append(volume.persistent_volume_claim)
        elif volume.binds:
            found.append(volume)
    return found


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
