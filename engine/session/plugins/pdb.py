"""Plugin ``pdb``: no more pods are evicted than their disruption budgets allow.

Source: pkg/scheduler/plugins/pdb/pdb.go.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ...kubernetes.expressions.selectors import Selector, SelectorError, label_selector
from ...kubernetes.objects import Pod, PodDisruptionBudget
from ...volcano.conf import Arguments
from ..framework.session import Session
from ..framework.trace import PERMIT
from ..framework.vote_details import Spares


class _Budget(msgspec.Struct, frozen=True):
    """A budget with its parsed selector."""

    budget: PodDisruptionBudget
    selector: Selector

    def counts(self, pod: Pod) -> bool:
        """Return whether evicting the pod uses the budget; terminating pods do not."""
        return (
            self.budget.namespace == pod.namespace
            and self.selector.matches(pod.labels)
            and pod.name not in self.budget.status.disrupted_pods
        )


class Pdb:
    """Keeps pods from being victims if that would break a budget.

    Each checked pod uses every matching budget, even if another budget protects the pod.
    Pods without labels are never victims.
    """

    name: ClassVar[str] = "pdb"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments."""

    def on_session_open(self, ssn: Session) -> None:
        """Register the filters of victims for preempt, reclaim and victim tasks."""
        tasks = ssn.tasks.info
        budgets = [
            _Budget(budget, selector)
            for budget in ssn.objects.pod_disruption_budgets.values()
            if (selector := _selector(budget)) is not None
        ]

        def within_budgets(candidates: list[int]) -> list[int]:
            allowed = [each.budget.status.disruptions_allowed for each in budgets]
            victims = []
            for task in candidates:
                pod = tasks[task].pod
                # No budget matches such a pod, so it is not checked; but the `continue` also keeps
                # it from the victims.
                if not pod.labels:
                    if ssn.trace.staying is not None:
                        ssn.trace.spare(Spares.NO_LABELS, "")
                    continue
                broken = _use(budgets, allowed, pod)
                if broken is None:
                    victims.append(task)
                elif ssn.trace.staying is not None:
                    most = broken.status.disruptions_allowed
                    name = f"{broken.namespace}/{broken.metadata.name}"
                    ssn.trace.spare(Spares.BUDGET, name, limit=most)
            return victims

        def evictable(evictor: int, candidates: list[int]) -> tuple[list[int], int]:
            return within_budgets(candidates), PERMIT

        ssn.registry.add_victim_tasks(self.name, within_budgets)
        ssn.registry.add_preemptable(self.name, evictable)
        ssn.registry.add_reclaimable(self.name, evictable)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""


def _use(budgets: list[_Budget], allowed: list[int], pod: Pod) -> PodDisruptionBudget | None:
    """Let a pod use every matching budget; return the first that allows it no more."""
    broken: PodDisruptionBudget | None = None
    for index, each in enumerate(budgets):
        if each.counts(pod):
            # Lessened by a pod that stays, too: it may use up a budget for those that come after
            # it.
            allowed[index] -= 1
            if allowed[index] < 0 and broken is None:
                broken = each.budget
    return broken


def _selector(budget: PodDisruptionBudget) -> Selector | None:
    """Return a budget's selector; ``None`` if it is empty or invalid: then it matches no pod."""
    try:
        selector = label_selector(budget.spec.selector)
    except SelectorError:
        return None
    return None if selector.empty else selector
