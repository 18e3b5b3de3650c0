"""Plugin ``cdp``: a pod is not evicted until its cool-down after placement ends.

Source: pkg/scheduler/plugins/cdp/cdp.go.
"""

from __future__ import annotations

from typing import ClassVar

from ...kubernetes.duration import parse_go_duration
from ...kubernetes.objects import Pod
from ...kubernetes.units import parse_time
from ...volcano.conf import Arguments
from ..framework.session import Session
from ..framework.trace import PERMIT
from ..framework.vote_details import Spares

COOLDOWN_TIME = "volcano.sh/cooldown-time"
"""Label, or else annotation, of a pod: a Go duration."""


class Cdp:
    """Cool-down protection of running pods, counted from when they were scheduled."""

    name: ClassVar[str] = "cdp"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments."""

    def on_session_open(self, ssn: Session) -> None:
        """Register who may be preempted and reclaimed."""
        tasks = ssn.tasks.info

        def evictable(evictor: int, candidates: list[int]) -> tuple[list[int], int]:
            if ssn.trace.staying is not None:
                for task in candidates:
                    if _cooling(tasks[task].pod, ssn.now):
                        ssn.trace.spare(Spares.COOLING, tasks[task].key)
            return [task for task in candidates if not _cooling(tasks[task].pod, ssn.now)], PERMIT

        ssn.registry.add_preemptable(self.name, evictable)
        if ssn.behaviours.cooldown_protects_from_reclaim:
            ssn.registry.add_reclaimable(self.name, evictable)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""


def _cooling(pod: Pod, now: int) -> bool:
    """Return whether a running pod's cool-down ends after ``now`` (microseconds since 1970).

    A malformed duration protects nothing.
    """
    text = pod.labels.get(COOLDOWN_TIME, pod.annotations.get(COOLDOWN_TIME))
    if text is None or pod.status.phase != "Running":
        return False
    try:
        cooldown = parse_go_duration(text)
    except ValueError:
        return False
    for condition in pod.status.conditions:
        # The first of that type decides: the loop of the original breaks there.
        if condition.type == "PodScheduled" and condition.status == "True":
            since = condition.last_transition_time
            return since is not None and parse_time(since) * 1000 + cooldown > now * 1000
    return False
