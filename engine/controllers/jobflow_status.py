"""The status of a JobFlow: its jobs by phase, their histories, and the flow's phase.

There is no clock here: histories have no times.

Source: pkg/controllers/jobflow/jobflow_controller_action.go getAllJobStatus, getRunningHistories;
pkg/controllers/jobflow/state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ..kubernetes.api_server import Document
from ..volcano.controllers.jobflow import JobFlowBehaviours
from .flow_names import phase_of

PENDING, RUNNING, SUCCEED, FAILED = "Pending", "Running", "Succeed", "Failed"
TERMINATING = "Terminating"
"""Phases of JobFlows."""

PHASES = frozenset({"", PENDING, RUNNING, SUCCEED, FAILED, TERMINATING})

_LISTS: Mapping[str, str] = MappingProxyType(
    {
        "Pending": "pendingJobs",
        "Running": "runningJobs",
        "Failed": "failedJobs",
        "Completed": "completedJobs",
        "Terminated": "terminatedJobs",
    }
)
_NOT_LISTED = frozenset({"Completing", "Terminating"})
_OTHERS = "unKnowJobs"

Status = dict[str, Any]


def flow_status(flow: Document, jobs: Iterable[Document], own: JobFlowBehaviours) -> Status:
    """Return the status of a JobFlow with these jobs; what is empty is missing."""
    jobs, before = [*jobs], flow.get("status", {})
    status: Status = {}
    for job in jobs:
        phase = phase_of(job)
        # getAllJobStatus collects these phases, but a status has no field for them.
        if phase not in _NOT_LISTED:
            status.setdefault(_LISTS.get(phase, _OTHERS), []).append(job["metadata"]["name"])
    status["conditions"] = {job["metadata"]["name"]: _condition(job) for job in jobs}
    status["jobStatusList"] = _job_statuses(before.get("jobStatusList") or (), jobs)
    phase = _next_phase(phase_of(flow), status, len(flow["spec"].get("flows") or ()), own)
    status["state"] = {"phase": phase}
    return {name: value for name, value in status.items() if value}


def _next_phase(phase: str, status: Status, flows: int, own: JobFlowBehaviours) -> str:
    """Return the phase of a JobFlow with its jobs by phase; one that has succeeded stays so.

    Source: pkg/controllers/jobflow/state/pending.go, running.go, succeed.go.
    """
    failed = bool(status.get("failedJobs"))
    if phase == RUNNING:
        # Where jobs of other flows count too (OF_TEMPLATES), these numbers may never meet.
        if len(status.get("completedJobs", ())) == flows:
            return SUCCEED
        return FAILED if failed and own.failed_jobs_fail_flows else RUNNING
    if phase not in {"", PENDING}:
        return phase
    if failed:
        return FAILED
    if status.get("runningJobs") or status.get("completedJobs"):
        return RUNNING
    ended = status.get("terminatedJobs") and own.terminated_jobs_fail_pending_flows
    return FAILED if ended else PENDING


def _condition(job: Document) -> dict[str, Any]:
    status = job.get("status", {})
    parts = {
        "phase": phase_of(job),
        "createTime": job["metadata"].get("creationTimestamp"),
        "runningDuration": status.get("runningDuration"),
        "taskStatusCount": status.get("taskStatusCount"),
    }
    return _present(parts)


def _job_statuses(known: Iterable[Status], jobs: Iterable[Document]) -> list[Status]:
    """Return the statuses of all jobs that ever were in the flow, each as it was last."""
    statuses = {status["name"]: status for status in known}
    for job in jobs:
        name, phase = job["metadata"]["name"], phase_of(job)
        before = statuses.get(name, {}).get("runningHistories") or []
        histories = before
        if phase if not before else before[-1].get("state", "") != phase:
            histories = [*before, _present({"state": phase})]
        parts = {
            "name": name,
            "state": phase,
            "restartCount": job.get("status", {}).get("retryCount"),
            "runningHistories": histories,
        }
        statuses[name] = _present(parts)
    return [*statuses.values()]


def _present(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if value}
