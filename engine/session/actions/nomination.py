"""Groups for which an earlier action of the session made room: they are placed there.

``gangpreempt`` and ``gangreclaim`` nominate a hypernode for each planned group; its pods
must have nominated nodes in it, from an earlier session. If any condition fails, the
nominations are dropped, and the group is placed like others.

Source: ``pkg/scheduler/actions/allocate/allocate.go`` (``allocateFromNomination``,
``validateNomination``, ``invalidateSubJobNomination``) since v1.15.
"""

from __future__ import annotations

import numpy as np

from ..framework import voting
from ..framework.priority_queue import ItemQueue
from ..framework.statement import Statement
from ..jobs.division import SubJob
from ..nodes.node_selection import Purpose, new_error_cache
from ..topology.top_hypernode import lca
from .job_hypernode import hypernode_rows
from .placing import Placing

Plan = list[tuple[int, int]]
"""(task, node), in order."""


def place_nominated(placing: Placing, sub: SubJob, tasks: ItemQueue[int]) -> Statement | None:
    """Place a group's tasks on the nodes that they were nominated for; ``None`` if that fails.

    On success, no task is left over, and the group is in the hypernode.
    """
    assert sub.nominated, "only a group for which room was made is placed where it was made"
    ssn = placing.ssn
    plan = _plan(placing, sub, tasks.clone())
    statement = Statement(ssn)
    for task, node in plan or ():
        if sub.topology:
            ssn.tasks.job_hypernode[task] = sub.nominated
        if placing.place(statement, task, node) is not None:
            statement.discard()
            plan = None
            break
    if plan is None:
        sub.nominated = ""
        # `invalidateSubJobNomination` clears the pods' `NominatedNodeName`; no other way may use
        # it.
        ssn.sub_jobs.nominations_dropped.update(_all(tasks.clone()))
        return None
    # The plan came from a clone. Emptied, the group is not put back among those to place.
    _all(tasks)
    sub.hypernode = lca(ssn.hypernodes, sub.hypernode, sub.nominated)
    return statement


def _plan(placing: Placing, sub: SubJob, tasks: ItemQueue[int]) -> Plan | None:
    """Return the tasks' nominated nodes; ``None`` if one of them does not fit there."""
    ssn = placing.ssn
    rows = hypernode_rows(ssn, sub.nominated)
    within = set() if rows is None else set(rows.tolist())
    cache = new_error_cache() if placing.uses_cache else None
    plan: Plan = []
    while tasks and within:
        task = tasks.pop()
        node = placing.nominated_row(task)
        if (
            not voting.allocatable(ssn, ssn.jobs.queue[sub.job], task)
            or node not in within
            or voting.pre_predicate(ssn, task) is not None
        ):
            return None
        only = np.array([node], dtype=np.intp)
        fitting, _ = placing.selection.predicate(task, only, Purpose.ALLOCATE, cache)
        if not len(fitting):
            return None
        plan.append((task, node))
    return plan if within else None


def _all(tasks: ItemQueue[int]) -> list[int]:
    """Take all tasks out of a queue."""
    taken = []
    while tasks:
        taken.append(tasks.pop())
    return taken
