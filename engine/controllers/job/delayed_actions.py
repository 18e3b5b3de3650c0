"""Actions of policies that wait for their timeout.

Source: pkg/controllers/job/job_controller.go AddDelayActionForJob, CleanPodDelayActionsIfNeed,
cleanupDelayActions.
"""

from __future__ import annotations

from typing import NamedTuple

from .job_names import JobAction, JobEvent
from .job_request import JobRequest

FIRED = -1
"""When an action was due that is not due any more, but still noted."""

_POD_EVENTS = frozenset({JobEvent.POD_RUNNING, JobEvent.POD_FAILED, JobEvent.POD_EVICTED})
_RECOVERED = frozenset({JobEvent.POD_FAILED, JobEvent.POD_EVICTED})
_OF_PARTS = frozenset({JobAction.RESTART_TASK, JobAction.RESTART_POD, JobAction.RESTART_PARTITION})


class Delayed(NamedTuple):
    """An action that waits.

    :param due: microseconds from now, or :data:`FIRED`. :param noted: whether it can be called
        off: of each pod only the newest is noted, but older ones are carried out all the same.
    """

    due: int
    noted: bool
    action: str
    request: JobRequest


class DelayedActions:
    """All actions that wait."""

    def __init__(self) -> None:
        self._all: list[Delayed] = []

    def add(self, request: JobRequest, action: str, delay: int) -> None:
        """Let an action wait, unless the same is noted for the pod, even if it was due already.

        :param delay: microseconds.
        """
        same = [
            delayed for delayed in self._all if delayed.noted and _about_same_pod(delayed, request)
        ]
        if any(delayed.action == action for delayed in same):
            return
        # The map has one action a pod: the older goroutine runs on, and nothing can cancel it.
        for delayed in same:
            self._all[self._all.index(delayed)] = delayed._replace(noted=False)
        self._all.append(Delayed(delay, True, action, request))

    def called_off_by(self, request: JobRequest) -> None:
        """Call off what waits for a pod that has left the phase, or runs again."""
        if request.event in _POD_EVENTS:
            self._all = [delayed for delayed in self._all if not _is_called_off(delayed, request)]

    def done(self, request: JobRequest, action: str) -> None:
        """Call off what is done already by an action: for the job, or the same part of it."""
        self._all = [delayed for delayed in self._all if not _is_done(delayed, request, action)]

    def ready(self) -> bool:
        """Say whether an action is due now."""
        return any(delayed.due == 0 for delayed in self._all)

    def take(self) -> Delayed:
        """Return the first action that is due now, which stays noted.

        :raises StopIteration: there is none.
        """
        place, taken = next((p, delayed) for p, delayed in enumerate(self._all) if delayed.due == 0)
        # The goroutine does not touch the map. If the job is gone by then it returns before
        # cleanupDelayActions, and the entry blocks the same action of that pod until something
        # calls it off.
        if taken.noted:
            self._all[place] = taken._replace(due=FIRED)
        else:
            del self._all[place]
        return taken

    def due(self) -> int | None:
        """Return in how many microseconds the next action is due; None if none is to come."""
        return min((delayed.due for delayed in self._all if delayed.due > 0), default=None)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self._all = [
            delayed._replace(due=max(delayed.due - by, 0)) if delayed.due > 0 else delayed
            for delayed in self._all
        ]

    def kept(self) -> tuple[Delayed, ...]:
        """Return all that waits."""
        # Each action waits in a goroutine: the order in which they were added has no meaning.
        return tuple(sorted(self._all))

    def restore(self, kept: tuple[Delayed, ...]) -> None:
        """Hold what others held, and nothing else."""
        self._all = [*kept]


def _about_same_pod(delayed: Delayed, request: JobRequest) -> bool:
    return (delayed.request.key, delayed.request.pod) == (request.key, request.pod)


def _is_called_off(delayed: Delayed, request: JobRequest) -> bool:
    if not delayed.noted or not _about_same_pod(delayed, request):
        return False
    if delayed.request.event == JobEvent.POD_PENDING:
        # A pod that is recreated may be Pending before the deletion of the old one is handled.
        return delayed.request.pod_uid == request.pod_uid
    return delayed.request.event in _RECOVERED and request.event == JobEvent.POD_RUNNING


def _is_done(delayed: Delayed, request: JobRequest, action: str) -> bool:
    """Say whether an action makes one needless: of the same job and unit, and the same part."""
    if (
        not delayed.noted
        or delayed.request.key != request.key
        or _unit(delayed.action) != _unit(action)
    ):
        return False
    parts = {
        JobAction.RESTART_TASK: delayed.request.task == request.task,
        JobAction.RESTART_POD: delayed.request.pod == request.pod,
        JobAction.RESTART_PARTITION: delayed.request.partition == request.partition,
    }
    return parts.get(JobAction(action), True) if action in _OF_PARTS else True


def _unit(action: str) -> str:
    """Return what an action restarts a part of; empty for actions on the whole job."""
    return action if action in _OF_PARTS else ""
