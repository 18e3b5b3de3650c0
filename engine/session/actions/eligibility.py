"""Which tasks may preempt.

Source: ``actions/preempt/preempt.go:taskEligibleToPreempt``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kubernetes.objects import Pod
from ...model.tables import NO_NODE
from ..framework.details import EvictionSearch, EvictionVotes
from ..framework.session import Session
from ..nodes.node_selection import NodeSelection, Purpose

Mask = NDArray[np.bool_]

DISRUPTION_TARGET = "DisruptionTarget"
BY_PREEMPTION = "PreemptionByScheduler"


def never_preempts(ssn: Session, task: int) -> bool:
    """Return whether a pod's policy forbids preemption."""
    policy = ssn.tasks.info[task].pod.spec.preemption_policy
    return policy == "Never" and ssn.behaviours.preemption_policy_respected


def not_allowed(ssn: Session, task: int) -> str:
    """Return why a task may not preempt, for the details of a trace."""
    if never_preempts(ssn, task):
        return "its preemptionPolicy is Never"
    nominated = ssn.sub_jobs.nominated_node(task)
    return f"it waits for its nominated node {nominated}" if nominated else "its filters failed"


def keep_search(
    ssn: Session,
    task: int,
    counts: tuple[int, int, int] = (0, 0, 0),
    *,
    own: bool = False,
    forbidden: str = "",
) -> None:
    """Keep how far a search for victims came, if the trace follows the task.

    :param counts: nodes, candidates and promising nodes, as in :class:`.EvictionSearch`.
    :param own: victims are tasks of the same job.
    """
    name = ssn.task_name(task)
    if ssn.trace.follows(name):
        what = "victims in its job" if own else "victims"
        ssn.trace.detail(what, name, EvictionSearch(forbidden, *counts))


def keep_votes(ssn: Session, task: int, point: str, who: Mask, *, own: bool = False) -> None:
    """Keep what plugins say of all candidates, once for each job that the trace follows.

    Volcano asks only about the candidates on one node, and not where no vote could help.

    :param point: the extension point. :param who: by task, whether it is a candidate.
    """
    key = ssn.jobs.keys[ssn.tasks.job.item(task)]
    what = "votes in its job" if own else "votes"
    if key not in ssn.trace.fully or (ssn.trace.action, what, key) in ssn.trace.details:
        return
    candidates = np.flatnonzero(who).tolist()
    tiers = []
    for tier in ssn.registry.functions(point) if candidates else ():
        answers = {plugin: entry.function(task, candidates) for plugin, entry in tier}
        tiers.append(
            {plugin: len(chosen or ()) for plugin, (chosen, vote) in answers.items() if vote}
        )
    ssn.trace.detail(what, key, EvictionVotes(tuple(one for one in tiers if one)))


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
    if node == NO_NODE:
        return False
    row = ssn.all_rows[node : node + 1]
    found, errors = selection.predicate(task, row, Purpose.BACKFILL, None)
    prepared = ssn.prepared is None or task in ssn.prepared
    if len(found) and prepared:
        return False
    if errors.unresolvable_nodes()[node]:
        return True
    priority = pod.spec.priority or 0
    placed = ssn.nodes.tasks(node).values()
    return not any(
        (other.spec.priority or 0) < priority and _goes_by_preemption(other)
        for other in (ssn.tasks.info[row].pod for row, _ in placed)
    )


def _goes_by_preemption(pod: Pod) -> bool:
    if pod.metadata.deletion_timestamp is None:
        return False
    for condition in pod.status.conditions:
        if condition.type == DISRUPTION_TARGET:
            return condition.status == "True" and condition.reason == BY_PREEMPTION
    return False
