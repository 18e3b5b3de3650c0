"""Taints that exclude pods from nodes, and tolerations.

Source: k8s.io/api/core/v1/toleration.go ToleratesTaint;
k8s.io/component-helpers/scheduling/corev1/helpers.go FindMatchingUntoleratedTaint.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...kubernetes.objects import Taint, Toleration

NO_SCHEDULE = "NoSchedule"
PREFER_NO_SCHEDULE = "PreferNoSchedule"
NO_EXECUTE = "NoExecute"

_DO_NOT_SCHEDULE = frozenset({NO_SCHEDULE, NO_EXECUTE})

UNSCHEDULABLE_TAINT = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)
"""What a pod must tolerate to be placed on a cordoned node."""


def tolerated(taint: Taint, toleration: Toleration) -> bool:
    """Return whether a toleration tolerates a taint.

    An empty key or effect of the toleration stands for all of them. Source: ``ToleratesTaint``.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def tolerates(tolerations: Sequence[Toleration], taint: Taint) -> bool:
    """Return whether one of the tolerations fits a taint."""
    return any(tolerated(taint, toleration) for toleration in tolerations)


def untolerated(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> Taint | None:
    """Return the first taint against scheduling or running that is not tolerated."""
    return next(
        (
            taint
            for taint in taints
            if taint.effect in _DO_NOT_SCHEDULE and not tolerates(tolerations, taint)
        ),
        None,
    )


def preferring(tolerations: Sequence[Toleration]) -> tuple[Toleration, ...]:
    """Return the tolerations that can match a taint with PreferNoSchedule.

    Source: tainttoleration/taint_toleration.go getAllTolerationPreferNoSchedule.
    """
    return tuple(
        toleration for toleration in tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE)
    )


def intolerable(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> int:
    """Return how many PreferNoSchedule taints these :func:`preferring` tolerations do not tolerate.

    Source: tainttoleration/taint_toleration.go countIntolerableTaintsPreferNoSchedule.
    """
    return sum(
        taint.effect == PREFER_NO_SCHEDULE and not tolerates(tolerations, taint) for taint in taints
    )
