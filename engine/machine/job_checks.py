"""Invariants of Volcano's jobs, checked on a machine's state at rest.

At rest the job controller has seen everything, and has done all that it is ever going to do. So a
job that lacks pods then lacks them until somebody changes something.

- I-02: the cache of the job controller has each job, and not an earlier one of its name.
- I-02b: an event changes a job only if it is about one of the job's own pods. What is checked is
  what an operator sees: a job whose pods all still run, or are still to be made, has ended.
- I-02c: the cache has each pod of a job, and not an earlier one of its name.
- I-02e: a job that is admitted and has not ended has its pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from ..controllers.job import cache, controller
from ..kubernetes.api_server import ENDED, ApiServer, Document, controller_of, place_of
from .layout import API
from .natural import AtRest, Check, Violation

if TYPE_CHECKING:
    from .machine import Machine, State

JOBS = "jobs"
"""The name of the job controller among the components."""

_OVER = frozenset({"Completed", "Failed", "Terminated", "Aborted"})
_ENDING = frozenset({"Completing", "Terminating", "Aborting", "Restarting"})


def jobs_at_rest(machine: Machine) -> Check:
    """Return a check of what becomes of jobs if a state is left alone.

    :param machine: a cluster with a job controller.
    """
    return AtRest(machine, _Jobs(machine))


class _Jobs:
    """Checks jobs in a state at rest."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._part = machine.layout.names.index(JOBS)

    def __call__(self, state: State) -> Sequence[Violation]:
        """Return what is wrong with a state at rest."""
        transitions = self._machine.transitions
        server = transitions.server(state[API])
        held = cast("controller.Kept", transitions.kept(self._part, state[self._part + 1]))
        found: list[Violation] = []
        for job in server.list("Job"):
            if "deletionTimestamp" not in job["metadata"]:
                pods = _pods_of(server, job)
                found += self._unknown(held.jobs, job, pods)
                found += _lacking(server, job, pods)
                found += _ended_for_no_reason(job, pods)
        return found

    def _unknown(
        self, held: cache.Kept, job: Document, pods: Sequence[Document]
    ) -> Iterator[Violation]:
        """Yield which of a job and its pods the controller's cache does not have."""
        document = self._machine.objects.document
        key = place_of(job).key
        number = dict(held.keys).get(key)
        entry = None if number is None else held.entries[number]
        known = None if entry is None or entry.job is None else document(entry.job)
        if known is None:
            yield Violation("I-02", f"the job controller's cache has no job {key}")
        elif _uid(known) != _uid(job):
            yield Violation("I-02", f"the job controller's cache has an earlier job {key}")
        listed = entry.pods if entry is not None else ()
        uids = {name: _uid(document(pod)) for _, name, pod in listed}
        for pod in pods:
            place, uid = place_of(pod), uids.get(pod["metadata"]["name"])
            if uid is None:
                yield Violation("I-02c", f"the job controller's cache has no pod {place.key}")
            elif uid != _uid(pod):
                sentence = f"the job controller's cache has an earlier pod {place.key}"
                yield Violation("I-02c", sentence)


def _lacking(
    server: ApiServer, job: Document, pods: Sequence[Document]
) -> Iterator[Violation]:
    """Say whether an admitted job lacks pods; tasks that wait for others are not looked at."""
    tasks = cache.tasks_of(job)
    if _phase(job) in _OVER | _ENDING or any(task.get("dependsOn") for task in tasks):
        return
    groups = [one for one in server.list("PodGroup") if _is_of(one, job)]
    wanted = sum(task.get("replicas", 0) for task in tasks)
    if len(pods) < wanted and any(_phase(one, "") not in {"", "Pending"} for one in groups):
        sentence = f"job {place_of(job).key} has {len(pods)} of {wanted} pods"
        yield Violation("I-02e", sentence)
    if wanted and not groups:
        yield Violation("I-02e", f"job {place_of(job).key} has no PodGroup")


def _ended_for_no_reason(job: Document, pods: Sequence[Document]) -> Iterator[Violation]:
    """Say whether a job has ended, though no pod of it has, and none was deleted."""
    phase = _phase(job)
    ended = any(
        cache.phase_of(pod) in ENDED or "deletionTimestamp" in pod["metadata"] for pod in pods
    )
    own = (job.get("status") or {}).get("version", 0)
    if phase in (_OVER | _ENDING) - {"Completed", "Completing"} and own and not ended:
        yield Violation("I-02b", f"job {place_of(job).key} is {phase} for pods of an earlier job")


def _pods_of(server: ApiServer, job: Document) -> list[Document]:
    return [pod for pod in server.list("Pod") if _is_of(pod, job)]


def _is_of(one: Document, job: Document) -> bool:
    owner = controller_of(one)
    return owner is not None and owner.get("uid") == _uid(job)


def _phase(one: Document, absent: str = "") -> str:
    status = one.get("status") or {}
    found = status.get("phase") or (status.get("state") or {}).get("phase")
    return str(found or absent)


def _uid(one: Document) -> str:
    return str(one["metadata"]["uid"])
