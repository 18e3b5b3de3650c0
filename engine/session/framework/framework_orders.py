"""The order of queues, jobs, tasks and victims: first by plugins, then by Volcano's defaults.

Source: ``framework/session_plugins.go`` (``JobOrderFn``, ``QueueOrderFn``, ``TaskOrderFn``,
``BuildVictimsPriorityQueue`` and the like).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...kubernetes.go.text import parse_int
from ..jobs.division import SubJob
from .priority_queue import ItemQueue, KeyedQueue, PriorityQueue
from .session import Session


def job_key(ssn: Session, job: int) -> tuple[Any, ...]:
    """Return the sort key of jobs: plugins' keys, the time of creation, then ns/name."""
    keys = [key(job) for _, key in ssn.registry.flat("JobOrder")]
    return (*keys, ssn.jobs.created[job], job)  # rows are in order of ns/name, the job's UID


def job_order(ssn: Session, left: int, right: int) -> bool:
    """Return whether the left job comes first."""
    return job_key(ssn, left) < job_key(ssn, right)


def job_queue(ssn: Session) -> ItemQueue[int]:
    """Return an empty queue for jobs that do not change while they are in it."""
    return KeyedQueue(lambda job: job_key(ssn, job))


def changing_job_queue(ssn: Session) -> PriorityQueue[int]:
    """Return an empty queue for jobs that may change while they are in it."""
    return PriorityQueue(lambda left, right: job_order(ssn, left, right))


def queue_order(ssn: Session, left: str, right: str) -> bool:
    """Return whether the left queue comes first."""
    for tier in ssn.registry.functions("QueueOrder"):
        for _, fn in tier:
            order = fn(left, right)
            if order:
                return bool(order < 0)
    # The UID of a queue is its name (`QueueID(queue.Name)`), so names decide between equals.
    left_created, right_created = ssn.queues[left].created, ssn.queues[right].created
    return left < right if left_created == right_created else left_created < right_created


def queues_in_order(ssn: Session, names: Iterable[str] = ()) -> PriorityQueue[str]:
    """Return a priority queue with these queues."""
    return PriorityQueue(lambda left, right: queue_order(ssn, left, right), names)


def victim_queue_order(ssn: Session, left: str, right: str, preemptor: str) -> bool:
    """Return whether the left queue's victims come first.

    :param preemptor: the queue of the preempting task.
    """
    for tier in ssn.registry.functions("VictimQueueOrder"):
        for _, fn in tier:
            order = fn(left, right, preemptor)
            if order:
                return bool(order < 0)
    # Without an opinion of plugins the queue that is served last loses first.
    return not queue_order(ssn, left, right)


def task_order(ssn: Session, left: int, right: int) -> bool:
    """Return whether the left task comes first.

    If no plugin decides: by the number at the end of the pod's name, then the time of
    creation, then the UID (``pkg/controllers/job/helpers:CompareTask``).
    """
    for _, order in ssn.registry.flat("TaskOrder"):
        opinion = order.compare(left, right)
        if opinion:
            return bool(opinion < 0)
    left_info, right_info = ssn.tasks.info[left], ssn.tasks.info[right]
    # Both need a number; a task without one is compared by its creation with any other
    # (`CompareTask`).
    index, others = pod_index(left_info.name), pod_index(right_info.name)
    if index is not None and others is not None and index != others:
        return index < others
    return (left_info.created, left_info.uid) < (right_info.created, right_info.uid)


def task_key(ssn: Session, task: int) -> tuple[Any, ...]:
    """Return the sort key of tasks, if all orders have keys; see :func:`task_queue`."""
    known = ssn.task_keys.get(task)
    if known is None:
        info = ssn.tasks.info[task]
        keys = [order.key(task) for _, order in ssn.registry.flat("TaskOrder")]
        # 0 is no guess: in a queue with keys all pods have numbers, or none has.
        known = (*keys, pod_index(info.name) or 0, info.created, info.uid)
        ssn.task_keys[task] = known
    return known


def task_queue(ssn: Session, tasks: list[int]) -> ItemQueue[int]:
    """Return a queue with these tasks.

    If some of their pods have numbers and others do not, no sort key exists.
    """
    numbered = {pod_index(ssn.tasks.info[task].name) is not None for task in tasks}
    keyed = all(order.key is not None for _, order in ssn.registry.flat("TaskOrder"))
    # In a mixture three tasks can each precede the next in a circle; then Go's heap decides.
    if keyed and len(numbered) == 1:
        return KeyedQueue(lambda task: task_key(ssn, task), tasks)
    return PriorityQueue(lambda left, right: task_order(ssn, left, right), tasks)


def victims_queue(ssn: Session, victims: list[int], preemptor: int) -> PriorityQueue[int]:
    """Return the victims with the least important first."""
    job_of, queue_of = ssn.tasks.job, ssn.jobs.queue
    by_queue = ssn.behaviours.victims_ordered_by_queue
    own_queue = queue_of[int(job_of[preemptor])]
    ties_by_task = ssn.behaviours.equal_victims_ordered_by_task

    def less(left: int, right: int) -> bool:
        left_job, right_job = int(job_of[left]), int(job_of[right])
        # Each order is reversed, as in `BuildVictimsPriorityQueue`: what is served last goes first.
        if left_job == right_job:
            return not task_order(ssn, left, right)
        if by_queue and queue_of[left_job] != queue_of[right_job]:
            return victim_queue_order(ssn, queue_of[left_job], queue_of[right_job], own_queue)
        if not ties_by_task:
            return not job_order(ssn, left_job, right_job)
        # `JobOrderCompareFn` asks the plugins only; creation and UID of jobs do not break the tie.
        ranks = [
            [key(job) for _, key in ssn.registry.flat("JobOrder")] for job in (left_job, right_job)
        ]
        if ranks[0] == ranks[1]:
            return not task_order(ssn, left, right)
        return ranks[0] > ranks[1]

    return PriorityQueue(less, victims)


def sub_job_key(ssn: Session, sub: SubJob) -> tuple[Any, ...]:
    """Return the sort key of a job's groups: plugins' keys, number, UID.

    It stays the same as long as nothing happens to the group's tasks.
    """
    keys = [key(sub) for _, key in ssn.registry.flat("SubJobOrder")]
    return (*keys, sub.match_index, sub.uid)


def pod_index(name: str) -> int | None:
    """Return the number at the end of a pod's name, or ``None``: ``job-task-index``.

    Source: ``pkg/controllers/job/helpers:GetPodIndexUnderTask``.
    """
    head, _, last = name.rpartition("-")
    return parse_int(last) if "-" in head else None
