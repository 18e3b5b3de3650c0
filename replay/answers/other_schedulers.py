"""Pods that another scheduler has to place: what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.objects import Pod
from .amounts import joined
from .answering_session import Run

_NAMED = 3
"""How many pods a text names."""


def scheduler_of(pod: Pod) -> str:
    """Return the scheduler that has to place a pod."""
    # The API server fills this in; objects that it never stored may lack it.
    return pod.spec.scheduler_name or "default-scheduler"


def own_schedulers(run: Run) -> str:
    """Return in words the schedulers whose pods sessions see."""
    return joined(run.cache.options.scheduler_names, "or")


OTHER_SCHEDULER = "other-scheduler"
"""The cause of an answer about pods that wait for other schedulers."""


def schedulers_of(pods: Sequence[Pod]) -> tuple[str, ...]:
    """Return the schedulers that have to place some pods, by name."""
    return tuple(sorted(set(map(scheduler_of, pods))))


def whose_they_are(run: Run, pods: Sequence[Pod]) -> str:
    """Return in words which scheduler some pods name, and whose pods sessions see.

    :param pods: of other schedulers, at least one.
    """
    shown = [f"pod {pod.key}" for pod in pods[:_NAMED]]
    if len(pods) > _NAMED:
        shown.append(counted(len(pods) - _NAMED, "more", "more"))
    verb = "has" if len(pods) == 1 else "have"
    theirs = joined(schedulers_of(pods), "or")
    return f"{joined(shown)} {verb} the schedulerName {theirs}, not {own_schedulers(run)}"
