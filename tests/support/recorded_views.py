"""How each controller is run on recorded cases, and how it looks in recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from plinian.engine.controllers import jobflow_controller as jobflow
from plinian.engine.controllers import podgroup_controller as podgroup
from plinian.engine.controllers import queue_controller as queue
from plinian.engine.controllers.component import Component
from plinian.engine.controllers.garbage_collector import GarbageCollector
from plinian.engine.controllers.job import controller as job
from plinian.engine.controllers.job.controller_job_cache import ControllerJobInfo
from plinian.engine.controllers.job.job_request import JobRequest
from plinian.engine.controllers.lister import Lister
from plinian.engine.kubernetes.api_server import Document
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.kubernetes.units import SECOND_US
from plinian.engine.kubernetes.work_queue import WorkQueue
from plinian.engine.volcano.controllers.behaviours import ControllerBehaviours

Queues = Mapping[str, WorkQueue[Any]]

FIELDS = {
    "action": "Action",
    "event": "Event",
    "exit_code": "ExitCode",
    "job": "JobName",
    "job_uid": "JobUid",
    "version": "JobVersion",
    "namespace": "Namespace",
    "partition": "PartitionID",
    "pod": "PodName",
    "pod_uid": "PodUID",
    "task": "TaskName",
}
"""Fields of requests about jobs, and their names in recordings, in the order of these."""


class View(Protocol):
    """One controller as recordings have it.

    :cvar informers: how many sets of informers it has where they are not shared.
    :cvar typed: informers have labels and annotations that are empty; see ``as_typed``.
    :cvar compares: see ``RecordingClient``.
    :ivar controller: the controller; another one can be put in its place.
    """

    informers: int = 1
    typed: bool = False
    compares: bool = True
    controller: Any

    def __init__(self, own: ControllerBehaviours, objects: ObjectTable) -> None:
        self.own = own
        self.objects = objects
        self.controller = self.make()

    def make(self) -> Component:
        """Return a new controller."""
        raise NotImplementedError

    def queues(self) -> Queues:
        """Return the work queues by their names, in the order in which workers took turns.

        The names are also those of the steps, or :meth:`steps` says which are.
        """
        raise NotImplementedError

    def steps(self) -> Sequence[tuple[str, str]]:
        """Return steps with the queues that they take from; none for what is not recorded."""
        return [(name, name) for name in self.queues()]

    def item(self, queue: str, item: Any) -> str:  # noqa: ARG002 -- views differ
        """Return an item of a queue."""
        return str(item)

    def later(self, due: int) -> str:
        """Return when an item is due, from microseconds."""
        return f"{due / SECOND_US:.3f}s"

    def seen(self) -> Mapping[str, Any]:
        """Return what else was recorded of it, if it changed."""
        return {}

    def listers(self) -> Mapping[str, Lister]:
        """Return the listers whose objects recordings look at, by kind."""
        return {}


class _PodGroups(View):
    typed = True

    def make(self) -> Component:
        return podgroup.PodGroupController(self.own, self.objects)

    def queues(self) -> Queues:
        return {"podgroup": self.controller.queue}


class _Queues(View):
    def make(self) -> Component:
        return queue.QueueController(self.own, self.objects)

    def queues(self) -> Queues:
        return {"queue": self.controller.requests.queue, "queue commands": self.controller.commands}

    def item(self, queue: str, item: Any) -> str:
        if queue == "queue commands":
            return "command"
        request = item.request
        shown = {"Action": request.action, "Event": request.event, "QueueName": request.queue}
        return _fields(shown)

    def seen(self) -> Mapping[str, Any]:
        return {"groups": self.controller.groups()}


class _Flows(View):
    informers = 3

    def make(self) -> Component:
        return jobflow.JobFlowController(self.own, self.objects)

    def queues(self) -> Queues:
        return {"jobflow": self.controller.requests.queue}

    def item(self, queue: str, item: Any) -> str:  # noqa: ARG002 -- there is one queue
        request = item.request
        shown = {"Action": request.action, "Event": request.event}
        return _fields({**shown, "JobFlowName": request.name, "Namespace": request.namespace})


class _Garbage(View):
    def make(self) -> Component:
        return GarbageCollector(self.own, self.objects)

    def queues(self) -> Queues:
        return {"gc": self.controller.queue}

    def later(self, due: int) -> str:
        return "a time of the clock" if due >= 10_000 * SECOND_US else super().later(due)


class _Jobs(View):
    compares = False

    def __init__(self, own: ControllerBehaviours, objects: ObjectTable) -> None:
        self._entries: dict[int, tuple[ControllerJobInfo, int]] = {}
        super().__init__(own, objects)

    def make(self) -> Component:
        return job.JobController(self.own, self.objects)

    def queues(self) -> Queues:
        held = self.controller.held
        return {
            "job": self.controller.requests,
            "job commands": self.controller.commands,
            "job deletedJobs": held.cache.deleted,
            "job errTasks": held.lookups,
        }

    def steps(self) -> Sequence[tuple[str, str]]:
        names = (job.WORK, job.COMMAND, job.FORGET, job.LOOK_UP)
        return [*zip(names, self.queues(), strict=True), (job.DELAYED, "")]

    def item(self, queue: str, item: Any) -> str:
        if isinstance(item, JobRequest):
            return _fields({shown: getattr(item, field) for field, shown in FIELDS.items()})
        if queue == "job commands":
            return "command"
        if queue == "job deletedJobs":
            info = self.controller.held.cache.entry(item)
            return f"{info.namespace}/{info.name} ({self._entry(info)})"
        metadata = self.objects.document(item)["metadata"]
        return f"{metadata['namespace']}/{metadata['name']} {metadata['uid']}"

    def seen(self) -> Mapping[str, Any]:
        jobs = self.controller.held.cache.jobs()
        return {"jobs": {key: self._job(info) for key, info in jobs.items()}}

    def listers(self) -> Mapping[str, Lister]:
        listers: Mapping[str, Lister] = self.controller.held.listers
        return listers

    def _entry(self, info: ControllerJobInfo) -> int:
        return self._entries.setdefault(id(info), (info, len(self._entries) + 1))[1]

    def _job(self, info: ControllerJobInfo) -> dict[str, Any]:
        shown: dict[str, Any] = {"entry": self._entry(info)}
        if info.job is not None:
            shown["uid"] = info.job["metadata"]["uid"]
            shown["phase"] = info.job.get("status", {}).get("state", {}).get("phase", "")
        shown["pods"] = sorted(_pod(pod) for pods in info.pods.values() for pod in pods.values())
        return shown


def _pod(pod: Document) -> str:
    metadata = pod["metadata"]
    ending = " terminating" if "deletionTimestamp" in metadata else ""
    return f"{metadata['name']} {metadata['uid']}{ending}"


def _fields(shown: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in shown.items() if value)


VIEWS: Mapping[str, type[View]] = MappingProxyType(
    {
        "podgroup": _PodGroups,
        "job": _Jobs,
        "queue": _Queues,
        "jobflow": _Flows,
        "gc": _Garbage,
    }
)
"""Controllers by their names in recordings."""
