"""What a request makes the controller do: the action of a command, or of the job's policies.

Source: pkg/controllers/job/job_controller_util.go applyPolicies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...kubernetes.api_server import Document
from ...kubernetes.duration import parse_go_duration
from ...volcano.controllers.behaviours import ControllerBehaviours
from .controller_job_cache import task_of
from .job_names import JobAction, JobEvent
from .job_request import JobRequest


class PolicyDecision(NamedTuple):
    """What is to be done.

    :param delay: nanoseconds until then.
    """

    action: str = JobAction.SYNC
    delay: int = 0


def decide(job: Document, request: JobRequest, own: ControllerBehaviours) -> PolicyDecision:
    """Return what a request makes the controller do with a job.

    What only says that something changed, and what is about another job of the name or pods of an
    earlier version, syncs the job.

    :raises ValueError: a policy's timeout is no duration.
    """
    # A command counts whichever version or uid the job has: it names neither.
    if request.action:
        return PolicyDecision(request.action)
    if request.event == JobEvent.OUT_OF_SYNC or _is_internal(request.event, own):
        return PolicyDecision()
    of_other_job = request.job_uid and request.job_uid != job["metadata"].get("uid", "")
    if own.requests_of_other_jobs_only_sync and of_other_job:
        return PolicyDecision()
    # Requests that name no version have 0: after the first kill of a job they only sync.
    if request.version < job.get("status", {}).get("version", 0):
        return PolicyDecision()
    return next(
        (PolicyDecision(*policy) for policy in _of_policies(job, request, own)), PolicyDecision()
    )


def _is_internal(event: str, own: ControllerBehaviours) -> bool:
    """Say whether an event acts on nothing though it is one, in releases with timeouts."""
    return own.policies_have_timeouts and event in {JobEvent.COMMAND_ISSUED, JobEvent.POD_RUNNING}


def _of_policies(
    job: Document, request: JobRequest, own: ControllerBehaviours
) -> Iterator[tuple[str, int]]:
    """Yield actions and delays of policies that apply, those of the task first."""
    for policy in _policies(job, request.task):
        timeout = policy.get("timeout") if own.policies_have_timeouts else None
        # Each pod begins Pending: without a timeout, a policy for any event would act at once.
        waits = own.policies_have_timeouts and request.event == JobEvent.POD_PENDING
        named = request.event and {request.event, JobEvent.ANY} & {*_events(policy)}
        exit_code = policy.get("exitCode")
        # A request without an exit code has 0; admission refuses policies for 0.
        failed = exit_code is not None and exit_code == request.exit_code
        if (named and not (waits and timeout is None)) or failed:
            yield policy.get("action", ""), parse_go_duration(timeout) if timeout else 0


def _policies(job: Document, task: str) -> Iterator[Document]:
    if task:
        yield from (task_of(job, task) or {}).get("policies") or ()
    yield from job["spec"].get("policies") or ()


def _events(policy: Document) -> Iterable[str]:
    yield from policy.get("events") or ()
    if policy.get("event"):
        yield policy["event"]
