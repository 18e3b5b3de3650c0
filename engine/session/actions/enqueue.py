"""enqueue: which PodGroups leave Pending.

Source: ``pkg/scheduler/actions/enqueue/enqueue.go``.
"""

from __future__ import annotations

from ..framework import framework_orders as orders
from ..framework import voting
from ..framework.priority_queue import ItemQueue
from ..framework.session import Session
from ..framework.trace import StepOutcome
from ..nodes.node_views import NodeViews


def execute(ssn: Session, _: NodeViews) -> None:
    """Take queues and their pending jobs in order, and enqueue each job that no plugin rejects.

    A job without minResources is enqueued without votes. A rejected job is not tried again.
    """
    queues = orders.queues_in_order(ssn)
    jobs_of: dict[str, ItemQueue[int]] = {}
    for job in range(len(ssn.jobs)):
        if not ssn.jobs.is_pending(job):
            continue  # a queue without pending jobs would only be taken and dropped
        queue = ssn.jobs.queue[job]
        if queue not in jobs_of:
            jobs_of[queue] = orders.job_queue(ssn)
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
    if ssn.jobs.info[job].min_resources is not None and not voting.job_enqueueable(ssn, job, key):
        # Plugins reserve while they vote; those that agreed before another refused give it back
        # here.
        for give_back in ssn.reserved.pop(job, ()):
            give_back()
        ssn.trace.add("enqueue", key, outcome=StepOutcome.STAYS_PENDING)
        return
    voting.job_enqueued(ssn, job)
    ssn.jobs.phase[job] = "Inqueue"
    ssn.trace.add("enqueue", key, outcome=StepOutcome.ENQUEUED)
