"""Volcano's JobTemplate controller: a template's status lists the jobs that were created from it.

Source: pkg/controllers/jobtemplate/jobtemplate_controller.go, jobtemplate_controller_handler.go,
jobtemplate_controller_action.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..kubernetes import work_queue
from ..kubernetes.api_errors import Refused
from ..kubernetes.api_server import DELETED, MODIFIED, Document
from ..kubernetes.object_table import ObjectTable
from ..model.panic import NIL_POINTER, Panic
from ..volcano.controllers.jobflow import JobFlowBehaviours
from .component import Client
from .flow_names import CREATED_BY_TEMPLATE, FlowRequest, dotted, labels_of, namespace_of
from .lister import Listed, Lister
from .pointer_requests import Numbered, Requests, next_due, try_again

WORK = "jobtemplate"
"""The only step: a worker takes the first request."""


class JobTemplateState(NamedTuple):
    """All that the controller holds: what the listers hold, and the requests that wait."""

    templates: Listed
    jobs: Listed
    requests: work_queue.WorkQueueState[Numbered[FlowRequest]]


class JobTemplateController:
    """Writes the statuses of templates; jobs that are gone leave them as they are.

    :ivar requests: what workers take.
    """

    kinds: tuple[str, ...] = ("JobTemplate", "Job")

    def __init__(self, behaviours: JobFlowBehaviours, objects: ObjectTable) -> None:
        self._own = behaviours
        self._templates = Lister(objects)
        self._jobs = Lister(objects)
        self.requests = Requests[FlowRequest](merged=behaviours.equal_flow_requests_merged)

    def deliver(
        self,
        verb: str,
        kind: str,
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- these handlers send nothing
    ) -> None:
        """Let an informer deliver a change: new templates, and new jobs of templates, are queued.

        A label names a template only if there is one dot in it, so none whose name has a dot.
        """
        lister = self._templates if kind == "JobTemplate" else self._jobs
        known = lister.get(key) is not None
        lister.deliver(verb, key, document)
        if known or verb == DELETED:
            return
        if kind == "JobTemplate":
            self.requests.add(FlowRequest(namespace_of(document), document["metadata"]["name"]))
            return
        namespace, dot, name = labels_of(document).get(CREATED_BY_TEMPLATE, "").partition(".")
        if dot and "." not in name:
            self.requests.add(FlowRequest(namespace, name))

    def steps(self) -> Sequence[str]:
        """Return whether a worker has something to do."""
        return (WORK,) if len(self.requests) else ()

    def step(self, name: str, client: Client) -> None:
        """Let a worker take the first request, and work on it.

        Source: pkg/controllers/jobtemplate/jobtemplate_controller.go handleJobTemplate,
        handleJobTemplateErr.

        :raises Panic: the controllers crash when the request is given up.
        """
        assert name == WORK
        item = self.requests.take()
        key, queue = item.request.key, self.requests.queue
        template = self._templates.get(key)
        try:
            if template is not None:
                self._sync(template, key, client)
        except Refused as refused:
            if not try_again(queue, item) and template is not None:
                self._give_up(template, refused, client)
        else:
            queue.forget(item)
        queue.done(item)

    def due(self) -> int | None:
        """Return in how many microseconds the first delay is over; None if nothing waits."""
        return next_due(self.requests.queue)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self.requests.queue.advance(self.requests.queue.now + by)

    def kept(self) -> JobTemplateState:
        """Return all that the controller holds."""
        return JobTemplateState(self._templates.kept(), self._jobs.kept(), self.requests.kept())

    def restore(self, kept: JobTemplateState) -> None:
        """Hold what another controller held, and nothing else."""
        self._templates.restore(kept.templates)
        self._jobs.restore(kept.jobs)
        self.requests.restore(kept.requests)

    def _sync(self, template: Document, key: str, client: Client) -> None:
        """Write the names of a template's jobs into its status, if there are any.

        The status is written into the object that the lister has, too, even if the request fails.

        Source: pkg/controllers/jobtemplate/jobtemplate_controller_action.go syncJobTemplate.

        :raises Refused: the request fails.
        """
        namespace = namespace_of(template)
        label = dotted(namespace, template["metadata"]["name"])
        jobs = self._jobs.list(namespace, {CREATED_BY_TEMPLATE: label})
        # syncJobTemplate returns before it writes an empty list.
        if jobs:
            names = [job["metadata"]["name"] for job in jobs]
            status = {**template.get("status", {}), "jobDependsOnList": names}
            changed = {**template, "status": status}
            self._templates.deliver(MODIFIED, key, changed)
            client.update(changed, status=True)

    def _give_up(self, template: Document, refused: Refused, client: Client) -> None:
        if self._own.given_up_templates_crash:
            where = "jobtemplate.(*jobtemplatecontroller).handleJobTemplateErr"
            raise Panic(NIL_POINTER, (where,))
        # The text names JobFlowName, Event and Action of the request, which are all empty here.
        message = (
            f" JobTemplate failed for sync jobTemplate  failed for {refused}, event is , action is "
        )
        client.emit(template, "", message)
