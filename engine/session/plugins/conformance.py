"""Plugin ``conformance``: critical pods of the cluster are never victims.

Source: pkg/scheduler/plugins/conformance/conformance.go.
"""

from __future__ import annotations

from typing import ClassVar

from ...volcano.conf import Arguments
from ..framework.plugin_registry import GangEviction
from ..framework.session import Session
from ..framework.trace import PERMIT
from ..framework.vote_details import Spares

_CRITICAL_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})
_SYSTEM_NAMESPACE = "kube-system"


class Conformance:
    """Keeps critical pods, and those of ``kube-system``, from being preempted or reclaimed."""

    name: ClassVar[str] = "conformance"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments."""

    def on_session_open(self, ssn: Session) -> None:
        """Register the filters of victims for preempt and reclaim, by tasks and by gangs."""
        tasks = ssn.tasks.info

        def critical(task: int) -> bool:
            info = tasks[task]
            return (
                info.namespace == _SYSTEM_NAMESPACE
                or info.pod.spec.priority_class_name in _CRITICAL_CLASSES
            )

        def evictable(evictor: int | GangEviction, candidates: list[int]) -> tuple[list[int], int]:
            if ssn.trace.staying is not None:
                for task in filter(critical, candidates):
                    spare(task)
            return [task for task in candidates if not critical(task)], PERMIT

        def spare(task: int) -> None:
            if tasks[task].namespace == _SYSTEM_NAMESPACE:
                ssn.trace.spare(Spares.NAMESPACE, _SYSTEM_NAMESPACE)
            else:
                ssn.trace.spare(Spares.CRITICAL, tasks[task].pod.spec.priority_class_name)

        ssn.registry.add_preemptable(self.name, evictable)
        ssn.registry.add_reclaimable(self.name, evictable)
        ssn.registry.add_unified_evictable(self.name, evictable)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""
