"""The phases of a job: what an action does in each, and how a job leaves it.

Source: pkg/controllers/job/state/factory.go NewState, pending.go, running.go, restarting.go,
aborting.go, aborted.go, completing.go, terminating.go, finished.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...kubernetes.api_server import Document
from ...volcano.controllers.job import RestartUnit
from ..component import Client
from .controller_job_cache import ControllerJobInfo, minimum_of, tasks_of
from .held import ControllerListers
from .job_names import JobAction, JobPhase
from .job_status import Status, phase, set_phase
from .kill import ENDED, NONE, KillTarget, UpdateStatus, kill_job, kill_target
from .sync import sync_job


class Action(NamedTuple):
    """What is to be done, and to which pods if not to all."""

    name: str
    target: KillTarget | None = None


class _Work:
    """A job in hand, and what can be done to it."""

    def __init__(self, listers: ControllerListers, client: Client, info: ControllerJobInfo) -> None:
        assert info.job is not None
        self.own = listers.own
        self.job: Document = info.job
        self._held = listers
        self._client = client
        self._info = info

    def sync(self, update: UpdateStatus) -> None:
        sync_job(self._held, self._client, self._info, update)

    def kill(self, retain: frozenset[str], update: UpdateStatus | None) -> None:
        kill_job(self._held, self._client, self._info, retain, update)

    def kill_target(self, target: KillTarget, update: UpdateStatus) -> None:
        kill_target(self._held, self._client, self._info, target, update)


def execute(
    listers: ControllerListers, client: Client, info: ControllerJobInfo, action: Action
) -> None:
    """Do an action as the phase of the job has it.

    :raises Refused, Failed: a request failed.
    :raises Panic: the controllers crash, see :func:`.kill.kill_target`.
    """
    work = _Work(listers, client, info)
    # "It's pending by default" (NewState): no phase, or one that is not known.
    _PHASES.get(phase(work.job.get("status", {})), _pending)(work, action)


_TARGETS = MappingProxyType(
    {
        RestartUnit.JOB: frozenset[str](),
        RestartUnit.POD: frozenset({JobAction.RESTART_TASK, JobAction.RESTART_POD}),
        RestartUnit.PARTITION: frozenset(
            {JobAction.RESTART_TASK, JobAction.RESTART_POD, JobAction.RESTART_PARTITION}
        ),
    }
)
_ENDINGS = MappingProxyType(
    {
        JobAction.ABORT: JobPhase.ABORTING,
        JobAction.COMPLETE: JobPhase.COMPLETING,
        JobAction.TERMINATE: JobPhase.TERMINATING,
    }
)


def _pending(work: _Work, action: Action) -> None:
    def update(status: Status) -> bool:
        alive = _count(status, "running", "succeeded", "failed")
        return alive >= _minimum(work.job) and _to(status, JobPhase.RUNNING)

    _restart_end_or(work, action, update)


def _running(work: _Work, action: Action) -> None:
    def update(status: Status) -> bool:
        replicas = sum(task.get("replicas", 0) for task in tasks_of(work.job))
        # Scaled down to zero: the phase stays, or the job would end with 0 of 0 pods.
        if not replicas:
            return False
        succeeded, enough = _count(status, "succeeded"), work.job["spec"].get("minSuccess")
        if enough is not None and succeeded >= enough:
            return _to(status, JobPhase.COMPLETED)
        if _count(status, "succeeded", "failed") == replicas:
            return _to(status, _end(work.job, status))
        # Back to Pending: so many pods wait that fewer than minAvailable can run.
        waits = _count(status, "pending") > replicas - _minimum(work.job)
        return waits and _to(status, JobPhase.PENDING)

    _restart_end_or(work, action, update)


def _restart_end_or(work: _Work, action: Action, update: UpdateStatus) -> None:
    """Restart a job or some pods, end it, or sync it."""
    if action.name == JobAction.RESTART:
        work.kill(NONE, _restart)
    elif action.target is not None and action.name in _TARGETS[work.own.restart_unit]:
        # A restart of a part that the release does not know falls through to a sync.
        work.kill_target(action.target, _restart)
    elif action.name in _ENDINGS:
        work.kill(ENDED, lambda status: _to(status, _ENDINGS[JobAction(action.name)]))
    else:
        work.sync(update)


def _end(job: Document, status: Status) -> JobPhase:
    """Return how a job ends whose pods have all ended."""
    tasks, succeeded = tasks_of(job), _count(status, "succeeded")
    # With a lower minAvailable the job may succeed though one of its tasks does not.
    if _minimum(job) >= minimum_of(job) and any(_falls_short(task, status) for task in tasks):
        return JobPhase.FAILED
    # Had minSuccess succeeded, the job would be Completed by now.
    enough = job["spec"].get("minSuccess") is None and succeeded >= _minimum(job)
    return JobPhase.COMPLETED if enough else JobPhase.FAILED


def _falls_short(task: Document, status: Status) -> bool:
    """Say whether fewer pods of a task succeeded than it needs; one without counts does not."""
    counted = (status.get("taskStatusCount") or {}).get(task.get("name", ""))
    if "minAvailable" not in task or counted is None:
        return False
    done: int = (counted.get("phase") or {}).get("Succeeded", 0)
    return done < int(task["minAvailable"])


def _restarting(work: _Work, action: Action) -> None:
    def update(status: Status) -> bool:
        if _count(status, "retryCount") >= work.job["spec"].get("maxRetry", 0):
            return _to(status, JobPhase.FAILED)
        replicas: int = sum(task.get("replicas", 0) for task in tasks_of(work.job))
        left = replicas - _count(status, "terminating")
        # status.minAvailable, as the last sync wrote it; a changed spec counts only after that.
        return left >= _count(status, "minAvailable") and _to(status, JobPhase.PENDING)

    if work.own.restarting_jobs_sync and action.name == JobAction.SYNC:
        work.sync(update)
    elif action.target is not None and action.name in _TARGETS[work.own.restart_unit]:
        work.kill_target(action.target, update)
    else:
        work.kill(NONE, update)


def _aborting(work: _Work, action: Action) -> None:
    if action.name == JobAction.RESUME:
        work.kill(ENDED, _restart)
    else:
        _ending(JobPhase.ABORTED)(work, action)


def _aborted(work: _Work, action: Action) -> None:
    # Without an update the phase stays, but the kill still writes counts and a version.
    work.kill(ENDED, _restart if action.name == JobAction.RESUME else None)


def _ending(last: JobPhase) -> Callable[[_Work, Action], None]:
    """Return what is done until no pod is alive any more, when the last phase begins."""

    def update(status: Status) -> bool:
        alive = _count(status, "terminating", "pending", "running")
        return not alive and _to(status, last)

    return lambda work, _: work.kill(ENDED, update)


def _finished(work: _Work, _: Action) -> None:
    work.kill(ENDED, None)


_PHASES: Mapping[str, Callable[[_Work, Action], None]] = MappingProxyType(
    {
        JobPhase.PENDING: _pending,
        JobPhase.RUNNING: _running,
        JobPhase.RESTARTING: _restarting,
        JobPhase.TERMINATED: _finished,
        JobPhase.COMPLETED: _finished,
        JobPhase.FAILED: _finished,
        JobPhase.TERMINATING: _ending(JobPhase.TERMINATED),
        JobPhase.ABORTING: _aborting,
        JobPhase.ABORTED: _aborted,
        JobPhase.COMPLETING: _ending(JobPhase.COMPLETED),
    }
)


def _restart(status: Status) -> bool:
    status["retryCount"] = _count(status, "retryCount") + 1
    return _to(status, JobPhase.RESTARTING)


def _to(status: Status, new: JobPhase) -> bool:
    set_phase(status, new)
    return True


def _minimum(job: Document) -> int:
    minimum: int = job["spec"].get("minAvailable", 0)
    return minimum


def _count(status: Status, *counts: str) -> int:
    return sum(status.get(name) or 0 for name in counts)
