"""The status of a job: counts of pods, the phase, and conditions.

There is no clock here: conditions have no times, and a job has run for ``0s``.

Source: pkg/controllers/job/job_controller_actions.go classifyAndAddUpPodBaseOnPhase, calcPodStatus,
newCondition, appendJobCondition.
"""

from __future__ import annotations

from typing import Any

from ...kubernetes.api_server import Document
from ...volcano.controllers.job_writes import JobConditions
from .controller_job_cache import annotations_of, phase_of
from .job_names import TASK

Status = dict[str, Any]
"""A job's status as it stands in JSON; what is 0 or empty may be missing."""

PHASES = frozenset({"Pending", "Running", "Succeeded", "Failed"})
COUNTS = ("pending", "running", "succeeded", "failed", "terminating", "unknown")


class PodCounts:
    """Pods by phase, of the whole job and of each task."""

    def __init__(self) -> None:
        self._of_job: dict[str, int] = {}
        self._of_tasks: dict[str, dict[str, int]] = {}

    def __bool__(self) -> bool:
        """Whether any task has a count."""
        return bool(self._of_tasks)

    def add(self, pod: Document, written: Document | None = None) -> None:
        """Count a pod; its task counts what was written of it, if that is given."""
        self._raise(_known(phase_of(pod)).lower())
        counted = pod if written is None else written
        task = annotations_of(counted).get(TASK)
        if task is not None:
            phases = self._of_tasks.setdefault(task, {})
            phase = _known(phase_of(counted))
            phases[phase] = phases.get(phase, 0) + 1

    def terminating(self) -> None:
        """Count a pod that is being deleted."""
        self._raise("terminating")

    def fill(self, status: Status) -> None:
        """Write all counts into a status."""
        for name in COUNTS:
            status[name] = self._of_job.get(name, 0)
        status["taskStatusCount"] = {
            task: {"phase": phases} for task, phases in self._of_tasks.items()
        }

    def _raise(self, name: str) -> None:
        self._of_job[name] = self._of_job.get(name, 0) + 1


def status_of(job: Document) -> Status:
    """Return a copy of a job's status, with a separate state."""
    status = {**job.get("status", {})}
    return {**status, "state": {**status.get("state", {})}}


def phase(status: Status) -> str:
    """Return the phase in a status, empty if there is none."""
    name: str = status.get("state", {}).get("phase", "")
    return name


def set_phase(status: Status, new: str) -> None:
    """Write a phase into a status."""
    status["state"] = {**status.get("state", {}), "phase": str(new)}


def add_condition(status: Status, when: JobConditions) -> None:
    """Add a condition with the phase of the status, in place of one of that phase if it is so."""
    name = phase(status)
    conditions = status.get("conditions") or []
    if when is JobConditions.LATEST_OF_PHASE:
        conditions = [condition for condition in conditions if condition.get("status", "") != name]
    status["conditions"] = [*conditions, {"status": name}]


def with_status(job: Document, status: Status) -> Document:
    """Return a job with another status."""
    return {**job, "status": without_zeros(status)}


def without_zeros(status: Status) -> Status:
    """Return a status as it is sent: what is 0 or empty is missing, but for the state."""
    # `state` is a struct, which Go's omitempty never leaves out.
    return {name: value for name, value in status.items() if value or name == "state"}


def _known(phase: str) -> str:
    return phase if phase in PHASES else "Unknown"
