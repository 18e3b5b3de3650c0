"""Which tasks may preempt.

Source: ``actions/preempt/preempt.go:taskEligibleToPreempt``.
"""

from __future__ import annotations

from ...kubernetes.objects import Pod
from ...model.session_tables import NO_NODE
from ..framework.session import Session
from ..framework.vote_details import Gate, Gated
from ..nodes.node_selection import NodeSelection, Purpose

DISRUPTION_TARGET = "DisruptionTarget"
BY_PREEMPTION = "PreemptionByScheduler"


def never_preempts(ssn: Session, task: int) -> bool:
    """Return whether a pod's policy forbids preemption."""
    policy = ssn.tasks.info[task].pod.spec.preemption_policy
    return policy == "Never" and ssn.behaviours.preemption_policy_respected


def not_allowed(ssn: Session, task: int) -> Gated:
    """Return why a task may not preempt, for the details of a trace."""
    if never_preempts(ssn, task):
        return Gated(Gate.POLICY)
    nominated = ssn.sub_jobs.nominated_node(task)
    return Gated(Gate.NOMINATED, about=nominated) if nominated else Gated(Gate.UNPREPARED)


def may_preempt(ssn: Session, selection: NodeSelection, task: int) -> bool:
    """Return whether a task may preempt: its policy allows it, and it need not wait.

    A pod with a nominated node waits if it fits there, or if pods of lower priority that it
    preempted still terminate. It may preempt again if the node can never fit. If filters were not
    prepared for the pod in this session, they report an error, and the pod does not fit.
    """
    if never_preempts(ssn, task):
        return False
    pod = ssn.tasks.info[task].pod
    nominated = ssn.sub_jobs.nominated_node(task)
    if not nominated or not ssn.behaviours.nominated_pods_wait:
        return True
    node = ssn.nodes.row.get(nominated, NO_NODE)
    # While its nominated node is not in the session, a pod does not preempt at all.
    if node == NO_NODE:
        return False
    # As for backfill: `taskEligibleToPreempt` runs the filters, and compares no resources.
    row = ssn.all_rows[node : node + 1]
    fitting, errors = selection.predicate(task, row, Purpose.BACKFILL, None)
    prepared = ssn.prepared is None or task in ssn.prepared
    if len(fitting) and prepared:
        return False
    if errors.unresolvable_nodes()[node]:
        return True
    priority = pod.spec.priority or 0
    placed = ssn.nodes.tasks(node).values()
    return not any(
        (placed_pod.spec.priority or 0) < priority and _goes_by_preemption(placed_pod)
        for placed_pod in (ssn.tasks.info[row].pod for row, _ in placed)
    )


def _goes_by_preemption(pod: Pod) -> bool:
    if pod.metadata.deletion_timestamp is None:
        return False
    for condition in pod.status.conditions:
        if condition.type == DISRUPTION_TARGET:
            return condition.status == "True" and condition.reason == BY_PREEMPTION
    return False
