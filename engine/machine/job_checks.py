"""Invariants of Volcano's jobs, checked on a machine's state at rest.

At rest the job controller has seen everything, and has done all that it is ever going to do. So a
job that lacks pods then lacks them until somebody changes something.

- I-02: the cache of the job controller has each job, and not an earlier one of its name; a job that
  is admitted and has not ended has its pods.
- I-02b: an event changes a job only if it is about one of the job's own pods. What is checked is
  what an operator sees: a job that replaced another one has ended, though nothing could end its
  pods. So it is not checked where users delete pods or nodes or send commands, where pods end by
  themselves, or where sessions evict.
- I-02c: the cache has each pod of a job, and not an earlier one of its name.
- I-02d: a pod that has not ended belongs to a job that exists.
- I-13: a job that has not ended has its PodGroup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ..controllers.component import Component
from ..controllers.job import controller
from ..controllers.job import controller_job_cache as cache
from ..controllers.kubelet import ENDS_AS
from ..kubernetes.api_server import DELETED, ENDED, ApiServer, Document, controller_of, place_of
from ..kubernetes.counts import counted
from .machine_layout import API
from .natural import USER, StateViolation
from .scheduler import SCHEDULER, SchedulerComponent
from .user import UserComponent

if TYPE_CHECKING:
    from .machine import Machine, State

JOBS = "jobs"
"""The name of the job controller among the components."""

_OVER = frozenset({"Completed", "Failed", "Terminated", "Aborted"})
_ENDING = frozenset({"Completing", "Terminating", "Aborting", "Restarting"})


JOB_IDS = ("I-02", "I-02b", "I-02c", "I-02d", "I-13")
"""The invariants that are checked here."""


class JobsAtRest:
    """Checks jobs in a state at rest.

    :param machine: a cluster with a job controller.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._part = machine.layout.names.index(JOBS)
        self._pods_stay = not _may_end_pods(machine)

    def __call__(self, state: State) -> Sequence[StateViolation]:
        """Return what is wrong with a state at rest."""
        transitions = self._machine.transitions
        server = transitions.server(state[API])
        job_controller_state = cast(
            "controller.JobControllerState", transitions.kept(self._part, state[self._part + 1])
        )
        violations: list[StateViolation] = []
        for job in server.list("Job"):
            if "deletionTimestamp" not in job["metadata"]:
                pods = _pods_of(server, job)
                violations += self._unknown(job_controller_state.jobs, job, pods)
                violations += _lacking(server, job, pods)
                if self._pods_stay:
                    violations += _ended_for_no_reason(job)
        return [*violations, *_without_job(server)]

    def _unknown(
        self, job_cache_state: cache.JobCacheState, job: Document, pods: Sequence[Document]
    ) -> Iterator[StateViolation]:
        """Yield which of a job and its pods the controller's cache does not have."""
        document = self._machine.objects.document
        key = place_of(job).key
        number = dict(job_cache_state.keys).get(key)
        entry = None if number is None else job_cache_state.entries[number]
        known = None if entry is None or entry.job is None else document(entry.job)
        if known is None:
            yield StateViolation("I-02", f"the job controller's cache has no job {key}")
        elif _uid(known) != _uid(job):
            yield StateViolation("I-02", f"the job controller's cache has an earlier job {key}")
        listed = entry.pods if entry is not None else ()
        uids = {name: _uid(document(pod)) for _, name, pod in listed}
        for pod in pods:
            place, uid = place_of(pod), uids.get(pod["metadata"]["name"])
            if uid is None:
                yield StateViolation("I-02c", f"the job controller's cache has no pod {place.key}")
            elif uid != _uid(pod):
                sentence = f"the job controller's cache has an earlier pod {place.key}"
                yield StateViolation("I-02c", sentence)


def _lacking(
    server: ApiServer, job: Document, pods: Sequence[Document]
) -> Iterator[StateViolation]:
    """Say whether an admitted job lacks pods; tasks that wait for others are not looked at."""
    tasks = cache.tasks_of(job)
    if _phase(job) in _OVER | _ENDING or any(task.get("dependsOn") for task in tasks):
        return
    groups = [group for group in server.list("PodGroup") if _is_of(group, job)]
    wanted = sum(task.get("replicas", 0) for task in tasks)
    if len(pods) < wanted and any(_phase(group, "") not in {"", "Pending"} for group in groups):
        sentence = f"job {place_of(job).key} has {len(pods)} of {counted(wanted, 'pod')}"
        yield StateViolation("I-02", sentence)
    if wanted and not groups:
        yield StateViolation("I-13", f"job {place_of(job).key} has no PodGroup")


def _may_end_pods(machine: Machine) -> bool:
    """Say whether anything but the controller of a pod may end it."""
    user, scheduler = (_component(machine, name) for name in (USER, SCHEDULER))
    assert isinstance(user, UserComponent)
    assert isinstance(scheduler, SchedulerComponent)
    return scheduler.evicts or any(
        (verb == DELETED and document["kind"] in {"Pod", "Node"})
        or document["kind"] == "Command"
        or any(ENDS_AS in _annotations(task) for task in _tasks_in(document))
        for verb, document in user.script
    )


def _component(machine: Machine, name: str) -> Component:
    """Return a component as it starts."""
    place = machine.layout.place[name]
    return machine.transitions.component(place - 1, machine.start[place])


def _tasks_in(document: Document) -> list[Document]:
    """Return the tasks that a user writes; what is deleted need not have any."""
    has_tasks = document["kind"] == "Job" and document.get("spec")
    return cache.tasks_of(document) if has_tasks else []


def _annotations(task: Document) -> Mapping[str, str]:
    return (task["template"].get("metadata") or {}).get("annotations") or {}


def _ended_for_no_reason(job: Document) -> Iterator[StateViolation]:
    """Say whether a job has ended that replaced another one, though its pods could not end."""
    phase = _phase(job)
    # The API server counts the objects of one name in their uids: from 2 on, a job replaced
    # another.
    if phase in (_OVER | _ENDING) and int(_uid(job).rpartition("-")[2]) > 1:
        yield StateViolation(
            "I-02b", f"job {place_of(job).key} is {phase} for pods of an earlier job"
        )


def _without_job(server: ApiServer) -> Iterator[StateViolation]:
    """Yield which live pods belong to a job that does not exist."""
    jobs = {_uid(job) for job in server.list("Job")}
    for pod in server.list("Pod"):
        owner = controller_of(pod)
        live = cache.phase_of(pod) not in ENDED and "deletionTimestamp" not in pod["metadata"]
        if live and owner is not None and owner["kind"] == "Job" and owner["uid"] not in jobs:
            message = f"its job of uid {owner['uid']} does not exist"
            yield StateViolation("I-02d", message, "Pod", place_of(pod).key)


def _pods_of(server: ApiServer, job: Document) -> list[Document]:
    return [pod for pod in server.list("Pod") if _is_of(pod, job)]


def _is_of(document: Document, job: Document) -> bool:
    owner = controller_of(document)
    return owner is not None and owner.get("uid") == _uid(job)


def _phase(document: Document, absent: str = "") -> str:
    status = document.get("status") or {}
    phase = status.get("phase") or (status.get("state") or {}).get("phase")
    return str(phase or absent)


def _uid(document: Document) -> str:
    return str(document["metadata"]["uid"])
