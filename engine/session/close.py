"""The close of a session: phases and conditions of PodGroups, status of queues, conditions of pods.

Source: ``framework/framework.go:CloseSession``, ``framework/session.go`` (``jobStatus``,
``updateQueueStatus``), ``framework/job_updater.go``, ``cache/cache.go:RecordJobStatusEvent``.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from ..kubernetes.quantity import parse
from ..model.panic import NIL_POINTER, Panic
from ..model.resource import Resource
from ..model.session_tables import (
    ALLOCATED_STATUS,
    COMPLETED_STATUS,
    IS_ALLOCATED,
    NO_JOB,
    TaskStatus,
)
from ..volcano.session.queue_tree import RootQueueSpec
from ..volcano.session.status import Nomination, QueueStatusCounts, RunningWhen
from .framework.conditions import given_conditions
from .framework.queue_devices import devices_held
from .framework.session import Session
from .framework.session_outcome import (
    ClosedPodGroupStatus,
    ClosedQueueStatus,
    GroupCondition,
    SessionResult,
    UnscheduledCondition,
)
from .reasons.fit_errors import ALL_NODES_UNAVAILABLE

ROOT_QUEUE = "root"

_UPDATING_QUEUES = (
    "framework.updateQueueStatus",
    "framework.closeSession",
    "framework.CloseSession",
)

_COUNTS_AS_RUNNING = MappingProxyType(
    {
        RunningWhen.PLACED_OR_SUCCEEDED: (*ALLOCATED_STATUS, TaskStatus.SUCCEEDED),
        RunningWhen.PLACED: tuple(ALLOCATED_STATUS | COMPLETED_STATUS),
        RunningWhen.BOUND: (TaskStatus.BOUND, TaskStatus.RUNNING, *COMPLETED_STATUS),
    }
)
_UNDECIDED = (TaskStatus.ALLOCATED, TaskStatus.PENDING, TaskStatus.PIPELINED)


def close(ssn: Session, result: SessionResult) -> None:
    """Write all statuses of a session into its result."""
    statuses = _COUNTS_AS_RUNNING[ssn.behaviours.running_when]
    for job, key in enumerate(ssn.jobs.keys):
        result.pod_groups[key] = _pod_group_status(ssn, job, statuses)
    for job, counts in enumerate(ssn.jobs.counts):
        if any(map(counts.__getitem__, _UNDECIDED)):
            _pod_conditions(ssn, job, result)
    # Last, as in `closeSession`: where the parent of a queue is missing, the release panics only
    # after it wrote the PodGroups.
    result.queues = _queue_statuses(ssn)


def _phase(ssn: Session, job: int, statuses: tuple[TaskStatus, ...]) -> str:
    """Return the PodGroup's phase. Source: ``framework/session.go:jobStatus``."""
    counts = ssn.jobs.counts[job]
    unschedulable = job in ssn.conditions and any(
        each.ours and each.type == "Unschedulable" and each.status == "True"
        for each in ssn.conditions[job]
    )
    # This is asked before the gang's minimum: a job that runs, and was found unschedulable in this
    # session, is Unknown even if it has its minimum.
    if counts[TaskStatus.RUNNING] and unschedulable:
        return "Unknown"
    scheduled = sum([counts[status] for status in statuses])
    if scheduled >= ssn.jobs.pod_group(job).spec.min_member:
        # With minMember 0 a PodGroup without pods is here, too: 0 of 0 tasks have ended.
        completed = counts[TaskStatus.SUCCEEDED]
        if ssn.behaviours.running_when is not RunningWhen.PLACED_OR_SUCCEEDED:
            completed += counts[TaskStatus.FAILED]
        return "Completed" if completed == scheduled else "Running"
    # Only Inqueue stays: a PodGroup that ran and has too few tasks left must be enqueued again.
    return "Inqueue" if ssn.jobs.phase[job] == "Inqueue" else "Pending"


def _pod_group_status(
    ssn: Session, job: int, statuses: tuple[TaskStatus, ...]
) -> ClosedPodGroupStatus:
    """Return a PodGroup's status.

    :param statuses: tasks that count towards its phase.
    """
    group, counts = ssn.jobs.pod_group(job), ssn.jobs.counts[job]
    phase = ssn.jobs.phase[job] = _phase(ssn, job, statuses)
    running, succeeded = counts[TaskStatus.RUNNING], counts[TaskStatus.SUCCEEDED]
    failed, old = counts[TaskStatus.FAILED], group.status
    before = given_conditions(ssn, job)
    now = ssn.conditions.get(job, before)
    changed = (
        phase != old.phase
        or (running, succeeded, failed) != (old.running, old.succeeded, old.failed)
        or (
            now is not before
            and [_comparable(condition) for condition in now]
            != [_comparable(condition) for condition in before]
        )
    )
    return ClosedPodGroupStatus(
        group.metadata.uid,
        phase,
        tuple(now),
        running,
        succeeded,
        failed,
        changed,
        ssn.jobs.hypernode.get(job),
    )


def _comparable(condition: GroupCondition) -> tuple[str, str, str, str]:
    return condition.type, condition.status, condition.reason, condition.message


def _pod_conditions(ssn: Session, job: int, result: SessionResult) -> None:
    """Set each undecided pod's condition: why it is not bound, if that has changed.

    Source: ``cache/cache.go:RecordJobStatusEvent`` and ``taskUnschedulable``.
    """
    base = ""
    for status in _UNDECIDED:
        for task in ssn.jobs.tasks_with(job, (status,)):
            info = ssn.tasks.info[task]
            # The API server itself writes the condition of gated pods (`SchedulingGated`).
            if info.gated:
                continue
            reason, message, nominated = ssn.jobs.task_scheduling_reason(task)
            if not message:
                base = base or _of_gang(ssn, job)
                message = base
            known = info.pod.status
            written = next((c for c in known.conditions if c.type == "PodScheduled"), None)
            news = written is None or (written.status, written.reason, written.message) != (
                "False",
                reason,
                message,
            )
            before = ssn.sub_jobs.nominated_node(task)
            pipelined = ssn.behaviours.nomination is Nomination.PIPELINED
            # v1.9.1 writes the nomination of this session, also an empty one. Later releases keep
            # the old one then: victims may still end, though this session evicted none
            # (`taskUnschedulable`).
            lost = pipelined and bool(before) and not nominated
            renominated = bool(nominated) and nominated != before
            if news or renominated or lost:
                dropped = lost or task in ssn.sub_jobs.nominations_dropped
                result.pod_conditions[info.key] = UnscheduledCondition(
                    reason, message, nominated if renominated else "", dropped
                )


def _of_gang(ssn: Session, job: int) -> str:
    """Return the message of pods for which the session found no separate reason."""
    if ssn.behaviours.gang_message_includes_pod_reason:
        return ssn.jobs.fit_error(job) or ALL_NODES_UNAVAILABLE
    return ssn.jobs.job_fit_errors.get(job) or ALL_NODES_UNAVAILABLE


def _queue_statuses(ssn: Session) -> dict[str, ClosedQueueStatus]:
    """Return every queue's status: what its tasks hold, and those of the queues below it."""
    allocated = {name: Resource() for name in ssn.queues}
    for queue, resource in _held_by_queue(ssn).items():
        for name in _lineage(ssn, queue):
            allocated[name].add(resource)
    devices: dict[str, dict[str, str]] = {}
    if ssn.behaviours.device_quotas:
        devices = devices_held(ssn, lambda queue: _lineage(ssn, queue))
    writes_root = ssn.behaviours.root_queue_spec is not RootQueueSpec.KEPT
    return {
        name: _root_status(ssn, amount)
        if writes_root and name == ROOT_QUEUE
        else _status(ssn, name, {**amount.resource_list(), **devices.get(name, {})})
        for name, amount in allocated.items()
    }


def _held_by_queue(ssn: Session) -> dict[str, Resource]:
    """Return what the tasks of each queue's own jobs hold, for resources that they name."""
    tasks, names = ssn.tasks, list(ssn.queues)
    if ssn.behaviours.queue_status_counts is QueueStatusCounts.HOLDING:
        counted = IS_ALLOCATED[tasks.status]
    else:
        counted = tasks.status == TaskStatus.RUNNING
    rows = np.flatnonzero(counted & (tasks.job != NO_JOB))
    if not len(rows):
        return {}
    number = {name: index for index, name in enumerate(names)}
    queue_of_job = np.array([number[queue] for queue in ssn.jobs.queue], dtype=np.intp)
    queues = queue_of_job[tasks.job[rows]]
    sums = np.zeros((len(names), len(ssn.dims)))
    np.add.at(sums, queues, tasks.request[rows])
    by_queue: dict[str, Resource] = {}
    # One task of each class says which scalars are named: a sum of 0 is not the same as none.
    classes = int(tasks.klass.max()) + 1
    _, first = np.unique(queues * classes + tasks.klass[rows], return_index=True)
    for index in first.tolist():
        queue, request = int(queues[index]), tasks.info[int(rows[index])].request
        amount = by_queue.setdefault(names[queue], Resource(*sums[queue, :2].tolist()))
        for name in request.scalars or ():
            amount.set_scalar(name, float(sums[queue, ssn.dims.index(name)]))
    # `addNodeSharableDeviceUsage` writes these amounts into the task's request before it is added.
    for task, amounts in ssn.device_amounts.items():
        if counted[task] and tasks.job[task] != NO_JOB:
            amount, request = (
                by_queue[ssn.jobs.queue[tasks.job.item(task)]],
                tasks.info[task].request,
            )
            for name, given in amounts.items():
                amount.set_scalar(name, amount.get(name) - request.get(name) + given)
    return by_queue


def _lineage(ssn: Session, queue: str) -> list[str]:
    """Return a queue and those above it up to the root, if there is a root queue.

    :raises Panic: one above is missing; or there is a cycle, and the scheduler loops forever.
    """
    names = [queue]
    # Without a queue `root` nothing is passed upwards: `for ssn.Queues[rootQueue] != nil`.
    while ssn.behaviours.root_queue and ROOT_QUEUE in ssn.queues:
        # A job in `root` itself adds to it twice: as its queue, and as the parent that this stands
        # for.
        parent = ssn.queues[names[-1]].parent or ROOT_QUEUE
        if parent not in ssn.queues:
            raise Panic(
                NIL_POINTER,
                ("api.(*Resource).Add", *_UPDATING_QUEUES),
            )
        if parent in names and parent != ROOT_QUEUE:
            raise Panic(f"queue {parent} is above itself: this never ends", _UPDATING_QUEUES)
        names.append(parent)
        if parent == ROOT_QUEUE:
            break
    return names


def _status(ssn: Session, name: str, allocated: dict[str, str]) -> ClosedQueueStatus:
    changed = not _same(allocated, ssn.queues[name].queue.status.allocated)
    return ClosedQueueStatus(allocated=allocated, deserved=None, guarantee=None, written=changed)


def _root_status(ssn: Session, amount: Resource) -> ClosedQueueStatus:
    """Return the root queue's status; its spec gets its deserved and the sum of guarantees."""
    allocated = amount.resource_list()
    total = ssn.behaviours.root_queue_spec is RootQueueSpec.TOTAL
    deserved = (ssn.total if total else ssn.total_deserved).resource_list()
    guarantee = ssn.total_guarantee.resource_list()
    queue = ssn.queues[ROOT_QUEUE].queue
    changed = not (
        _same(deserved, queue.spec.deserved)
        and _same(guarantee, queue.spec.guarantee.resource)
        and _same(allocated, queue.status.allocated)
    )
    return ClosedQueueStatus(
        allocated=allocated, deserved=deserved, guarantee=guarantee, written=changed
    )


def _same(amounts: dict[str, str], stored: object) -> bool:
    """Return whether two resource lists have equal amounts, in any notation."""
    if not isinstance(stored, dict) or amounts.keys() != stored.keys():
        return False
    return all(
        text == stored[name] or parse(text).same_as(parse(stored[name]))
        for name, text in amounts.items()
    )
