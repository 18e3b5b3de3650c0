"""enqueue: which PodGroups leave Pending.

Source: ``pkg/scheduler/actions/enqueue/enqueue.go``.
"""

from __future__ import annotations

from ..framework.priority_queue import PriorityQueue, Queue
from ..framework.session import Session


def execute(ssn: Session) -> None:
    """Take queues and their pending jobs in order, and enqueue each job that no plugin rejects.

    A job without minResources is enqueued without asking. A rejected job is not looked at again.
    """
    queues: PriorityQueue[str] = PriorityQueue(ssn.queue_order)
    jobs_of: dict[str, Queue[int]] = {}
    for job in range(len(ssn.jobs)):
        if not ssn.jobs.is_pending(job):
            continue  # a queue without pending jobs would only be taken and dropped
        queue = ssn.jobs.queue[job]
        if queue not in jobs_of:
            jobs_of[queue] = ssn.job_queue()
            queues.push(queue)
        jobs_of[queue].push(job)
    while queues:
        queue = queues.pop()
        jobs = jobs_of[queue]
        if jobs:
            _enqueue(ssn, jobs.pop())
            queues.push(queue)


def _enqueue(ssn: Session, job: int) -> None:
    key = ssn.jobs.keys[job]
    if ssn.jobs.info[job].min_resources is not None and not ssn.job_enqueueable(job, key):
        for give_back in ssn.reserved.pop(job, ()):
            give_back()
        ssn.trace.add("enqueue", key, outcome="stays Pending")
        return
    ssn.job_enqueued(job)
    ssn.jobs.phase[job] = "Inqueue"
    ssn.trace.add("enqueue", key, outcome="Inqueue")
