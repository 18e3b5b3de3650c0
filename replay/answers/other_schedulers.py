"""Pods that name the PodGroup of a job and another scheduler: sessions see none of them."""

from __future__ import annotations

from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.objects import Pod
from .amounts import counted, joined
from .run import Run

_NAMED = 3
"""How many of these pods a text names."""


def pods_of_others(run: Run, key: str) -> dict[str, str]:
    """Return the pods of a PodGroup that another scheduler has to place, with its name.

    Source: pkg/scheduler/cache/util.go responsibleForPod.

    :param key: ``ns/podgroup``.
    """
    return {
        at: pod.spec.scheduler_name or "default-scheduler"
        for at, pod in sorted(run.cache.stores.of("Pod").items())
        if isinstance(pod, Pod) and job_of(pod) == key and not run.cache.job_cache.handles(pod)
    }


def whose_they_are(run: Run, foreign: dict[str, str]) -> str:
    """Return in words which pods wait for which other scheduler, and whose pods sessions see.

    :param foreign: as :func:`pods_of_others` gives it, and not empty.
    """
    shown = [f"pod {key}" for key in list(foreign)[:_NAMED]]
    if len(foreign) > _NAMED:
        shown.append(counted(len(foreign) - _NAMED, "more", "more"))
    verb = "has" if len(foreign) == 1 else "have"
    theirs = joined(sorted(set(foreign.values())), "or")
    own = joined(run.cache.options.scheduler_names, "or")
    return f"{joined(shown)} {verb} the schedulerName {theirs}, not {own}"
