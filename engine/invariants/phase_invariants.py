"""Invariants that remember: phases that PodGroups leave, phases decided, evictions that repeat."""

from __future__ import annotations

from collections.abc import Iterator

from ..kubernetes.counts import counted
from ..kubernetes.objects import PodGroup
from .invariant import (
    NODE,
    POD,
    PODGROUP,
    QUEUE,
    SESSION,
    Invariant,
    Needs,
    Severity,
    Violation,
    newest,
)
from .remembered_moments import WAITING
from .view import EVICTIONS, ClusterView

_PATIENCE = 3
"""So many sessions decide a phase before it counts that the API server does not have it."""


def running_is_kept(view: ClusterView, key: str) -> Iterator[Violation]:
    """Yield a PodGroup that left Running while enough of its pods had, and have, a node.

    Pods that are being deleted have their node until they are gone.
    """
    group: PodGroup | None = view.truth.get("PodGroup", key)
    if group is None or view.phases.left.get(key) != group.uid:
        return
    occupied, least = view.occupied(key), group.spec.min_member
    leaving = sum(pod.metadata.deletion_timestamp is not None for pod in view.pods.of(key))
    if group.status.phase in WAITING and occupied >= least:
        message = (
            f"its phase went from Running to {group.status.phase}, "
            f"but {counted(occupied, 'pod has', 'pods have')} a node (minMember {least}, "
            f"{counted(leaving, 'is', 'are')} being deleted)"
        )
        yield Violation("PodGroup", key, message, newest=newest(group))


def phase_is_written(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield phases that sessions decide again and again, and that the API server does not get."""
    for key, phase in sorted(view.phases.decided.items()):
        group: PodGroup | None = view.truth.get("PodGroup", key)
        if group is not None and phase.times >= _PATIENCE:
            message = (
                f"sessions decide phase {phase.phase}, but the API server has "
                f"{group.status.phase or 'none'}"
            )
            yield Violation("PodGroup", key, message)


def evictions_end(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield PodGroups whose pods are evicted, although it leads back to where it began."""
    repeated = view.evictions.repeated
    for key, count in sorted(repeated.evictions.items()) if repeated else ():
        pods = "1 of its pods was" if count == 1 else f"{count} of its pods were"
        message = (
            f"{pods} evicted, nothing else changed, and each PodGroup has as many pods on nodes "
            f"as before: evictions repeat"
        )
        yield Violation("PodGroup", key, message)


INVARIANTS = (
    Invariant(
        id="I-12b",
        name="running-kept",
        severity=Severity.HIGH,
        statement="A PodGroup leaves Running only if fewer than minMember pods have a node.",
        needs=Needs.LOG,
        unit="PodGroup",
        kinds=(POD, PODGROUP),
        settles=True,
        check=running_is_kept,
        remembers=True,
    ),
    Invariant(
        id="I-12c",
        name="phase-written",
        severity=Severity.HIGH,
        statement="The API server has the phase that a session decided, two sessions later.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=(NODE, QUEUE, PODGROUP, POD),
        settles=True,
        check=phase_is_written,
        ranged=True,
    ),
    Invariant(
        id="I-17",
        name="no-livelock",
        severity=Severity.HIGH,
        statement="Evictions do not lead back to where they began while nothing else changes.",
        needs=Needs.LOG,
        unit=EVICTIONS,
        kinds=(NODE, POD, PODGROUP, QUEUE),
        settles=False,
        check=evictions_end,
        ranged=True,
    ),
)
"""The invariants of this module."""
