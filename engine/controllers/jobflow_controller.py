"""Volcano's JobFlow controller: it creates the jobs of a flow, each after those it depends on.

Of the queue's limits only those of each item are kept: that not more than 100 items may fail within
10 seconds plays no part.

Source: pkg/controllers/jobflow/jobflow_controller.go, jobflow_controller_handler.go,
jobflow_controller_action.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..kubernetes import work_queue
from ..kubernetes.api_errors import AlreadyExists, Refused
from ..kubernetes.api_server import DELETED, MODIFIED, Document, controller_of
from ..kubernetes.object_table import ObjectTable
from ..volcano.controllers.jobflow import FlowJobs, JobFlowBehaviours
from .component import Client
from .flow_names import (
    CREATED_BY_FLOW,
    CREATED_BY_TEMPLATE,
    FlowFailure,
    FlowRequest,
    dotted,
    labels_of,
    namespace_of,
    phase_of,
)
from .jobflow_status import FAILED, PHASES, SUCCEED, TERMINATING, flow_status
from .lister import Listed, Lister
from .pointer_requests import Numbered, Requests, next_due, try_again

WORK = "jobflow"
"""The only step: a worker takes the first request."""

FLOW_API, JOB_API = "flow.volcano.sh/v1alpha1", "batch.volcano.sh/v1alpha1"
SYNC = "SyncJobFlow"
DELETE = "delete"
"""The policy of a flow that deletes its jobs when it has succeeded."""

_KINDS = ("JobFlow", "JobTemplate", "Job")


class JobFlowState(NamedTuple):
    """All that the controller holds: what each lister holds, and the requests that wait."""

    listed: tuple[Listed, ...]
    requests: work_queue.WorkQueueState[Numbered[FlowRequest]]


class JobFlowController:
    """Creates the jobs of flows, and writes the statuses of flows.

    :ivar requests: what workers take.
    """

    kinds: tuple[str, ...] = _KINDS

    def __init__(self, behaviours: JobFlowBehaviours, objects: ObjectTable) -> None:
        self._own = behaviours
        self._listers = {kind: Lister(objects) for kind in _KINDS}
        self.requests = Requests[FlowRequest](merged=behaviours.equal_flow_requests_merged)

    def deliver(
        self,
        verb: str,
        kind: str,
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- these handlers send nothing
    ) -> None:
        """Let an informer deliver a change: the lister has it, then the handler is called."""
        old = self._listers[kind].get(key)
        self._listers[kind].deliver(verb, key, document)
        if verb == DELETED:
            return
        if kind == "JobFlow":
            succeeded = phase_of(document) == SUCCEED
            # updateJobFlow leaves every other change of a flow alone, also one of its spec.
            if old is None or (succeeded and _policy(document) == DELETE):
                self._sync(document, document["metadata"]["name"])
        elif kind == "Job" and old is not None and _is_of_flow(document):
            # Only UpdateFunc is registered: no new or deleted job syncs its flow.
            self._sync(document, _flow_name(document))

    def steps(self) -> Sequence[str]:
        """Return whether a worker has something to do."""
        return (WORK,) if len(self.requests) else ()

    def step(self, name: str, client: Client) -> None:
        """Let a worker take the first request, and work on it.

        Source: pkg/controllers/jobflow/jobflow_controller.go handleJobFlow, handleJobFlowErr.
        """
        assert name == WORK
        item = self.requests.take()
        request, queue = item.request, self.requests.queue
        flow = self._listers["JobFlow"].get(request.key)
        try:
            if flow is not None:
                self._handle(flow, request, client)
        except FlowFailure as failure:
            if not try_again(queue, item) and flow is not None:
                client.emit(flow, request.action, f"{request.action} JobFlow failed for {failure}")
        else:
            queue.forget(item)
        queue.done(item)

    def due(self) -> int | None:
        """Return in how many microseconds the first delay is over; None if nothing waits."""
        return next_due(self.requests.queue)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self.requests.queue.advance(self.requests.queue.now + by)

    def kept(self) -> JobFlowState:
        """Return all that the controller holds."""
        return JobFlowState(
            tuple(self._listers[kind].kept() for kind in _KINDS), self.requests.kept()
        )

    def restore(self, kept: JobFlowState) -> None:
        """Hold what another controller held, and nothing else."""
        for kind, listed in zip(_KINDS, kept.listed, strict=True):
            self._listers[kind].restore(listed)
        self.requests.restore(kept.requests)

    def _sync(self, document: Document, flow: str) -> None:
        self.requests.add(FlowRequest(namespace_of(document), flow, SYNC, "OutOfSync"))

    def _handle(self, flow: Document, request: FlowRequest, client: Client) -> None:
        """Sync a flow, but one that failed or is being ended.

        :raises FlowFailure: it is to be tried again.
        """
        phase = phase_of(flow)
        if phase not in PHASES:
            raise FlowFailure(f"jobflow {request.name} state {phase} is invalid")
        if phase in {FAILED, TERMINATING}:
            return
        try:
            self._sync_flow(flow, request.key, client)
        except (Refused, FlowFailure) as failure:
            raise FlowFailure(
                f"sync jobflow {request.name} failed for {failure}, event is {request.event}, "
                f"action is {request.action}"
            ) from failure

    def _sync_flow(self, flow: Document, key: str, client: Client) -> None:
        """Create the jobs whose time has come, and write the status; or delete all jobs.

        The status is written into the object that the lister has, too, even if the request fails.

        Source: pkg/controllers/jobflow/jobflow_controller_action.go syncJobFlow.

        :raises Refused, FlowFailure: it is to be tried again.
        """
        namespace = namespace_of(flow)
        if _policy(flow) == DELETE and phase_of(flow) == SUCCEED:
            for job in self._jobs_of(flow):
                # A job that is gone is an error too: deleteAllJobsCreatedByJobFlow excepts none.
                client.delete("Job", f"{namespace}/{job['metadata']['name']}")
            return
        for part in flow["spec"].get("flows") or ():
            known = self._job(flow, part["name"])
            if known is None and self._may_start(flow, part):
                # The first error ends deployJob: parts behind it wait, and no status is written.
                self._create(flow, part["name"], client)
        changed = {**flow, "status": flow_status(flow, self._jobs_of(flow), self._own)}
        # syncJobFlow sets the status of the lister's object, without a copy, before it sends it.
        self._listers["JobFlow"].deliver(MODIFIED, key, changed)
        client.update(changed, status=True)

    def _job(self, flow: Document, part: str) -> Document | None:
        name = f"{flow['metadata']['name']}-{part}"
        return self._listers["Job"].get(f"{namespace_of(flow)}/{name}")

    def _may_start(self, flow: Document, part: Mapping[str, Any]) -> bool:
        """Say whether all jobs that one depends on are completed."""
        targets = (part.get("dependsOn") or {}).get("targets") or ()
        jobs = [self._job(flow, target) for target in targets]
        # judge looks into the lister: a completed job that was deleted counts as not there.
        return all(job is not None and phase_of(job) == "Completed" for job in jobs)

    def _create(self, flow: Document, part: str, client: Client) -> None:
        """Create a job from its template; one that exists already is as good.

        Source: pkg/controllers/jobflow/jobflow_controller_action.go createJob,
        loadJobTemplateAndSetJob.

        :raises Refused: the request fails. :raises FlowFailure: the template is not known.
        """
        namespace, name = namespace_of(flow), flow["metadata"]["name"]
        template = self._listers["JobTemplate"].get(f"{namespace}/{part}")
        if template is None:
            raise FlowFailure(f'jobtemplate.flow.volcano.sh "{part}" not found')
        marks = {CREATED_BY_TEMPLATE: dotted(namespace, part)}
        if self._own.flow_jobs_labelled:
            marks[CREATED_BY_FLOW] = dotted(namespace, name)
        metadata = {
            "name": f"{name}-{part}",
            "namespace": namespace,
            "labels": marks,
            "annotations": marks,
            "ownerReferences": [_owner(flow)],
        }
        job = {"apiVersion": JOB_API, "kind": "Job", "metadata": metadata}
        with suppress(AlreadyExists):
            client.create({**job, "spec": template["spec"]})
            client.emit(flow, "Created", f"create a job named {metadata['name']}!")

    def _jobs_of(self, flow: Document) -> list[Document]:
        """Return the jobs of a flow, by key.

        Source: pkg/controllers/jobflow/jobflow_controller_action.go getAllJobsCreatedByJobFlow;
        getAllJobStatus and deleteAllJobsCreatedByJobFlow of v1.8.2.
        """
        namespace, name = namespace_of(flow), flow["metadata"]["name"]
        jobs = self._listers["Job"].list(namespace)
        if self._own.flow_jobs is FlowJobs.OWNED:
            return [job for job in jobs if _flow_name(job) == name]
        if self._own.flow_jobs is FlowJobs.LABELLED:
            flow_label = dotted(namespace, name)
            return [job for job in jobs if labels_of(job).get(CREATED_BY_FLOW) == flow_label]
        parts = flow["spec"].get("flows") or ()
        templates = {dotted(namespace, part["name"]) for part in parts}
        return [job for job in jobs if labels_of(job).get(CREATED_BY_TEMPLATE) in templates]


def _policy(flow: Document) -> str:
    policy: str = flow["spec"].get("jobRetainPolicy", "")
    return policy


def _is_of_flow(job: Document) -> bool:
    owner = controller_of(job)
    return owner is not None and (owner["apiVersion"], owner["kind"]) == (FLOW_API, "JobFlow")


def _flow_name(job: Document) -> str:
    """Return the name of the first JobFlow that owns a job; empty if none does."""
    owners = job["metadata"].get("ownerReferences") or ()
    names = (
        str(owner["name"])
        for owner in owners
        if owner["kind"] == "JobFlow" and "volcano" in owner["apiVersion"]
    )
    return next(names, "")


def _owner(flow: Document) -> dict[str, Any]:
    metadata = flow["metadata"]
    return {
        "apiVersion": FLOW_API,
        "kind": "JobFlow",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
