"""Volcano's job controller: requests of its queue, commands, deleted jobs, pods to look up.

All jobs share one queue of requests here, where the real controller has one for each worker, and
each job belongs to one of them. Of the queues' limits only those of each item are kept: that not
more than 100 items may fail within 10 seconds plays no part.

Source: pkg/controllers/job/job_controller.go, job_controller_handler.go, job_controller_resync.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ...kubernetes import work_queue
from ...kubernetes.api_errors import NotFound, Refused
from ...kubernetes.api_server import DELETED, Document
from ...kubernetes.duration import go_duration
from ...kubernetes.object_table import ObjectTable
from ...kubernetes.work_queue import WorkQueue
from ...volcano.controllers.behaviours import ControllerBehaviours
from ..component import Client
from ..lister import Listed
from ..pointer_requests import next_due
from . import controller_job_cache as cache
from . import handlers
from .controller_job_cache import ControllerJobInfo, key_of, namespace_of
from .delayed_actions import Delayed, DelayedActions
from .held import KINDS, ControllerListers
from .job_errors import Failed
from .job_names import JobAction, JobEvent
from .job_phases import Action, execute
from .job_request import JobRequest
from .kill import KillTarget
from .policies import decide

MAX_REQUEUES = 15
"""How often a request is tried again before its job is terminated (``--max-requeue-num``)."""

MAX_LOOKUPS = 10
"""How often a pod is looked up again."""

WORK, COMMAND, FORGET, LOOK_UP, DELAYED = "work", "command", "forget", "look up", "delayed"
"""The steps: a worker takes a request, a command, a deleted job, a pod; an action is due."""

_INTERNAL = frozenset({JobAction.SYNC, "EnqueueJob", "SyncQueue", "OpenQueue", "CloseQueue"})
"""Actions that call off no delayed ones."""


class JobControllerState(NamedTuple):
    """All that the controller holds.

    :param listed: what each lister holds. :param computed: see :class:`.held.Held`.
    :param requests, commands, lookups: its queues.
    :param delayed: actions that wait.
    """

    listed: tuple[Listed, ...]
    computed: tuple[str, ...]
    jobs: cache.JobCacheState
    requests: work_queue.WorkQueueState[JobRequest]
    commands: work_queue.WorkQueueState[int]
    lookups: work_queue.WorkQueueState[int]
    delayed: tuple[Delayed, ...]


class JobController:
    """Makes the pods and PodGroups of jobs, and ends, restarts and deletes them.

    :ivar held: listers, cache and pods to look up. :ivar requests: what workers take.
    :ivar commands: numbers of commands that are to be carried out.
    """

    kinds: tuple[str, ...] = KINDS

    def __init__(self, own: ControllerBehaviours, objects: ObjectTable) -> None:
        self._own = own
        self._objects = objects
        self.held = ControllerListers(own, objects)
        self.requests = WorkQueue[JobRequest]()
        self.commands = WorkQueue[int]()
        self._delays = DelayedActions()

    def deliver(
        self,
        verb: str,
        kind: str,
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- these handlers send nothing
    ) -> None:
        """Let an informer deliver a change: the lister has it, then the handler is called."""
        # client-go reads the old object before its store takes the new one; handlers compare both.
        old = self.held.find(kind, key)
        self.held.deliver(verb, kind, key, document)
        if kind == "Command":
            if verb != DELETED and old is None and handlers.is_command_for_jobs(document):
                self.commands.add(self._objects.number(document))
        elif verb == DELETED:
            self._deleted(kind, document)
        else:
            self._changed(kind, old, document)

    def _changed(self, kind: str, old: Document | None, document: Document) -> None:
        request = None
        if kind == "Job":
            request = handlers.job_changed(self.held, old, document)
        elif kind == "Pod":
            request = handlers.pod_changed(self.held, old, document)
        elif kind == "PodGroup":
            request = handlers.group_changed(old, document)
        if request is not None:
            self.requests.add(request)

    def _deleted(self, kind: str, document: Document) -> None:
        if kind == "Job":
            self.held.cache.delete(document)
        elif kind == "Pod":
            request = handlers.pod_deleted(self.held, document)
            if request is not None:
                self.requests.add(request)

    def steps(self) -> Sequence[str]:
        """Return which of the controller's workers have something to do."""
        names = [name for name, queue in self._queues().items() if len(queue)]
        return [*names, DELAYED] if self._delays.ready() else names

    def step(self, name: str, client: Client) -> None:
        """Let a worker take the first item of its queue, and work on it.

        :raises Panic: the controllers crash.
        """
        if name == DELAYED:
            self._carry_out_delayed(client)
        else:
            self.finish(name, self.take(name), client)

    def take(self, name: str) -> Any:
        """Let a worker take the first item of its queue."""
        return self._queues()[name].take()

    def finish(self, name: str, item: Any, client: Client) -> None:
        """Let a worker do its work on an item that it took.

        :raises Panic: the controllers crash.
        """
        queue = self._queues()[name]
        workers: dict[str, Callable[[Any, Client], bool]] = {
            WORK: self._handle,
            COMMAND: self._command,
            FORGET: self._forget,
            LOOK_UP: self._look_up,
        }
        if workers[name](item, client):
            queue.done(item)

    def due(self) -> int | None:
        """Return in how many microseconds something is due; None if nothing is."""
        dues = (self._delays.due(), next_due(*self._queues().values()))
        return min((due for due in dues if due is not None), default=None)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        for queue in self._queues().values():
            queue.advance(queue.now + by)
        self._delays.advance(by)

    def kept(self) -> JobControllerState:
        """Return all that the controller holds."""
        return JobControllerState(
            tuple(self.held.listers[kind].kept() for kind in KINDS),
            tuple(sorted(self.held.computed_groups)),
            self.held.cache.kept(),
            self.requests.kept(),
            self.commands.kept(),
            self.held.lookups.kept(),
            self._delays.kept(),
        )

    def restore(self, kept: JobControllerState) -> None:
        """Hold what another controller held, and nothing else."""
        for kind, listed in zip(KINDS, kept.listed, strict=True):
            self.held.listers[kind].restore(listed)
        self.held.computed_groups = set(kept.computed)
        self.held.cache.restore(kept.jobs)
        self.requests.restore(kept.requests)
        self.commands.restore(kept.commands)
        self.held.lookups.restore(kept.lookups)
        self._delays.restore(kept.delayed)

    def _queues(self) -> dict[str, WorkQueue[Any]]:
        return {
            WORK: self.requests,
            COMMAND: self.commands,
            FORGET: self.held.cache.deleted,
            LOOK_UP: self.held.lookups,
        }

    def _handle(self, request: JobRequest, client: Client) -> bool:
        """Work on a request; one about a job that is not known is dropped.

        Source: pkg/controllers/job/job_controller.go processNextReq.
        """
        # As processNextReq: before the cache is read, so also for a job that is not known.
        self._delays.called_off_by(request)
        info = self.held.cache.get(request.key)
        if info is None:
            return True
        assert info.job is not None
        action, delay = decide(info.job, request, self._own)
        # processNextReq returns before Forget here: earlier failures of the request still count.
        if delay:
            message = f"Execute action {action} after {go_duration(delay)}"
            client.emit(info.job, "ExecuteAction", message)
            self._delays.add(request, action, delay // 1000)
            return True
        if action != JobAction.SYNC:
            client.emit(info.job, "ExecuteAction", f"Start to execute action {action}")
        if self._succeeds(info, request, action, client):
            self.requests.forget(request)
            # Only after success: an action that failed leaves what others wait for.
            if action not in _INTERNAL:
                self._delays.done(request, action)
        return True

    def _succeeds(
        self, info: ControllerJobInfo, request: JobRequest, action: str, client: Client
    ) -> bool:
        """Do an action, and say whether the request is over; a failed one is tried again.

        Source: pkg/controllers/job/job_controller.go processNextReq, handleJobError.
        """
        try:
            execute(self.held, client, info, _action(request, action))
        except (Refused, Failed):
            # v1.11.0 alone called Forget after this, so failures never added up.
            if self.requests.failures().get(request, 0) < MAX_REQUEUES:
                self.requests.add_rate_limited(request)
                return self._own.failed_requests_retried_forever
            self._give_up(info, request, action, client)
            return self._own.given_up_requests_forgotten
        return True

    def _give_up(
        self, info: ControllerJobInfo, request: JobRequest, action: str, client: Client
    ) -> None:
        """Terminate a job: with what is left of the worker's copy of its entry."""
        # recordJobEvent reads the cache again: by now the job may be gone, and then has no event.
        known = self.held.cache.get(request.key)
        if known is not None and known.job is not None:
            message = f"Job failed on action {action} for retry limit reached"
            client.emit(known.job, "ExecuteAction", message)
        with suppress(Refused, Failed):
            execute(self.held, client, info, Action(JobAction.TERMINATE))

    def _carry_out_delayed(self, client: Client) -> None:
        """Do an action whose timeout is over, in the phase that the job has by then."""
        delayed = self._delays.take()
        request, action = delayed.request, delayed.action
        info = self.held.cache.get(request.key)
        if info is not None:
            # Unlike a worker, the goroutine of AddDelayActionForJob goes on after an error: it
            # forgets the request, also one that is queued for a retry, and calls off the rest.
            self._succeeds(info, request, action, client)
            self.requests.forget(request)
            self._delays.done(request, action)

    def _command(self, number: int, client: Client) -> bool:
        """Delete a command, then ask for its action; one that is gone is not carried out.

        Source: pkg/controllers/job/job_controller_handler.go processNextCommand.
        """
        command = self._objects.document(number)
        try:
            # The deletion is the lock: only one of several controllers carries it out.
            client.delete("Command", key_of(command))
        except NotFound:
            return True
        except Refused:
            self.commands.add_rate_limited(number)
            return True
        action, job = command.get("action", ""), command["target"]["name"]
        request = JobRequest(namespace_of(command), job, JobEvent.COMMAND_ISSUED, action)
        info = self.held.cache.get(request.key)
        if info is not None and info.job is not None:
            message = (
                f"Start to execute command {action}, "
                "and clean it up to make sure executed not more than once."
            )
            client.emit(info.job, "CommandIssued", message)
        self.requests.add(request)
        return True

    def _forget(self, number: int, client: Client) -> bool:  # noqa: ARG002 -- it sends nothing
        self.held.cache.forget(number)
        return True

    def _look_up(self, number: int, client: Client) -> bool:
        """Look up a pod that could not be deleted; say whether it is given back to the queue.

        Source: pkg/controllers/job/job_controller_resync.go processResyncTask, syncTask.
        """
        lookups = self.held.lookups
        # Before v1.12.0 this return came before `defer Done`: the queue keeps the pod as taken.
        if lookups.failures().get(number, 0) > MAX_LOOKUPS:
            lookups.forget(number)
            return not self._own.given_up_pods_never_retried
        pod = self._objects.document(number)
        try:
            self.held.cache.update_pod(client.get("Pod", key_of(pod)))
        except NotFound:
            self.held.cache.delete_pod(pod)
        except (Refused, Failed):
            lookups.add_rate_limited(number)
        return True


def _action(request: JobRequest, action: str) -> Action:
    """Return an action on what a request is about; whole jobs have no target."""
    if action in {JobAction.RESTART_TASK, JobAction.RESTART_POD, JobAction.RESTART_PARTITION}:
        return Action(action, KillTarget(action, request.task, request.pod, request.partition))
    return Action(action)
