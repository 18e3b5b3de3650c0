"""Numbers of devices that the tasks of queues hold, as queues' statuses show them.

Source: pkg/scheduler/framework/session_dra_queue_status.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ...kubernetes.go.int64 import counting
from ...model.session_tables import IS_ALLOCATED, NO_JOB
from .session import Session

PREFIX = "deviceclass/"
"""The prefix of resource names for numbers of devices; the class follows."""


def devices_held(
    ssn: Session, lineage: Callable[[str], Iterable[str]]
) -> dict[str, dict[str, str]]:
    """Return by queue the device classes in ``status.allocated``.

    :param lineage: returns a queue and its ancestors, each of which counts a claim once.
    """
    merge = counting(saturates=ssn.behaviours.device_counts_saturate).merge
    counted: dict[str, set[str]] = {}
    by_queue: dict[str, dict[str, int]] = {}
    for task in _claiming(ssn):
        for queue in lineage(ssn.jobs.queue[ssn.tasks.job.item(task)]):
            known, amounts = counted.setdefault(queue, set()), by_queue.setdefault(queue, {})
            for claim in ssn.tasks.info[task].devices:
                if claim.key not in known:
                    known.add(claim.key)
                    merge(amounts, claim.counts)
    return {
        queue: {f"{PREFIX}{name}": str(count) for name, count in amounts.items() if count > 0}
        for queue, amounts in by_queue.items()
    }


def _claiming(ssn: Session) -> list[int]:
    """Return the tasks with resources and claims; a class has claims in all tasks or none."""
    tasks = ssn.tasks
    rows = np.flatnonzero(IS_ALLOCATED[tasks.status] & (tasks.job != NO_JOB))
    first = tasks.first_of_class(rows)
    classes = [
        klass
        for klass in np.flatnonzero(first >= 0).tolist()
        if tasks.info[first[klass]].pod.spec.resource_claims
    ]
    return rows[np.isin(tasks.klass[rows], classes)].tolist() if classes else []
