"""Recorded cases of controllers, run on Plinian's controllers and its API server.

A case is run as it was recorded: a step is done to the API server or the informers; then everything
is delivered and worked off, unless the step says ``idle``. What came of each step is told in the
form of the recording (see ``tests/data/README.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from recording_client import Fault, RecordingClient

from plinian.engine.controllers.component import Component
from plinian.engine.controllers.podgroup import PodGroupController
from plinian.engine.kubernetes.api_errors import AlreadyExists, NotFound, Refused
from plinian.engine.kubernetes.api_server import ApiServer, Change, Document, place_of
from plinian.engine.kubernetes.object_table import ObjectTable
from plinian.engine.kubernetes.resources import kind_plural
from plinian.engine.kubernetes.units import SECOND_US
from plinian.engine.kubernetes.work_queue import WorkQueue
from plinian.engine.volcano.controllers.behaviours import ControllerBehaviours
from plinian.engine.volcano.table import controller_behaviours

GROUP_NAME = "scheduling.k8s.io/group-name"


class Controller(Component, Protocol):
    """A component that can be put together again."""

    def restore(self, kept: Any) -> None:
        """Hold what another one held, and nothing else."""


class Recorded(NamedTuple):
    """How a controller is run, and how it was recorded.

    :param make: makes it for a release.
    :param queues: its work queues by the names in recordings, which are also those of its steps.
    :param item: how an item of a queue was recorded.
    :param seen: what else was recorded of it, such as ``jobs``, if it has any.
    """

    make: Callable[[ControllerBehaviours, ObjectTable], Controller]
    queues: Callable[[Any], Mapping[str, WorkQueue[Any]]]
    item: Callable[[Any], str] = str
    seen: Callable[[Any], Mapping[str, Any]] = lambda _: {}


CONTROLLERS: Mapping[str, Recorded] = MappingProxyType(
    {
        "podgroup": Recorded(PodGroupController, lambda controller: {"podgroup": controller.queue}),
    }
)
"""By their names in recordings."""


class ControllerRun:
    """One case on the controllers of one release.

    :param restored: put every controller together again after each step, from what is kept of it.
    :ivar told: what came of the steps so far.
    """

    def __init__(self, case: dict[str, Any], release: str, *, restored: bool = False) -> None:
        self._behaviours = controller_behaviours(release)
        self._objects = ObjectTable()
        self._restored = restored
        self.api = ApiServer()
        self.client = RecordingClient(self.api)
        self.told: list[dict[str, Any]] = []
        self._notices: list[Change] = []
        self._held: set[str] = set()
        self._worked: list[str] = []
        self._seen: dict[str, Any] = {}
        self._now = 0
        for step in case.get("before", ()):
            self.client.made(step["create"])
        self._controllers = {name: self._made(name) for name in case["controllers"]}
        self._settle()

    def _made(self, name: str) -> Controller:
        return CONTROLLERS[name].make(self._behaviours, self._objects)

    def step(self, given: dict[str, Any]) -> None:
        """Do a step and note what came of it."""
        told: dict[str, Any] = {}
        try:
            self._do(given)
        except Refused as refused:
            told["refused"] = str(refused)
        if given.get("idle"):
            while self._deliver():
                pass
        else:
            self._settle()
            self._wait(round(given.get("wait", 0) * SECOND_US))
        self._tell(told)
        if self._restored:
            self._restore()

    def _restore(self) -> None:
        for name, controller in self._controllers.items():
            again = self._made(name)
            again.restore(controller.kept())
            assert again.kept() == controller.kept()
            self._controllers[name] = again

    def _do(self, given: dict[str, Any]) -> None:
        for name, act in (
            *(("create", self._create), ("update", self._change), ("status", self._change)),
            *(("delete", self._delete), ("gone", self._gone)),
        ):
            if name in given:
                act(given[name])
        if "hold" in given:
            self._held |= set(given["hold"])
        elif "release" in given:
            self._held -= set(given["release"])
        elif "fail" in given:
            self.client.faults.append(Fault(given["fail"]))
        elif "see" in given:
            seen = given["see"]
            self._notices.append(Change(seen["verb"], *place_of(seen["object"]), seen["object"]))

    def _create(self, given: Document) -> None:
        try:
            self.client.made(given)
        except AlreadyExists:
            raise AlreadyExists(f"{_subject(given)} already exists") from None

    def _change(self, given: Document) -> None:
        self._check(given)
        self.api.patch(*place_of(given), given)

    def _delete(self, given: Document) -> None:
        self._check(given)
        self.api.delete(*place_of(given))

    def _gone(self, given: Document) -> None:
        self._check(given)
        self.api.delete(*place_of(given), grace=0)

    def _check(self, given: Document) -> None:
        if self.api.find(*place_of(given)) is None:
            raise NotFound(f"{_subject(given)} not found")

    def _settle(self) -> None:
        """Deliver and work until nothing is left to do at this time."""
        while self._deliver() or self._work():
            pass

    def _deliver(self) -> bool:
        """Deliver everything that is not held; say whether there was anything."""
        self._notices += self.api.take_changes()
        waiting = [notice for notice in self._notices if notice.kind not in self._held]
        self._notices = [notice for notice in self._notices if notice.kind in self._held]
        for notice in waiting:
            for controller in self._controllers.values():
                if notice.kind in controller.kinds:
                    controller.deliver(*self.client.as_recorded(notice), self.client)
        self._notices += self.api.take_changes()
        return bool(waiting)

    def _work(self) -> bool:
        """Let every worker take one item; say whether there was any."""
        worked = False
        for name, controller in self._controllers.items():
            for step in controller.steps():
                worked = True
                queue = CONTROLLERS[name].queues(controller)[step]
                item = CONTROLLERS[name].item(queue.ready()[0])
                self._worked.append(f"{step} {item}")
                controller.step(step, self.client)
        return worked

    def _wait(self, time: int) -> None:
        """Let time pass."""
        end = self._now + time
        while (due := self._next_due()) is not None and self._now + due <= end:
            self._advance(due)
            self._settle()
        self._advance(end - self._now)

    def _next_due(self) -> int | None:
        dues = [controller.due() for controller in self._controllers.values()]
        return min((due for due in dues if due is not None), default=None)

    def _advance(self, by: int) -> None:
        self._now += by
        for controller in self._controllers.values():
            controller.advance(by)

    def _tell(self, told: dict[str, Any]) -> None:
        told |= {"api": self.client.requests, "events": sorted(self.client.events)}
        told |= {"worked": self._worked, "queues": dict(self._queues())}
        told["held"] = [f"{notice.verb} {notice.kind} {notice.key}" for notice in self._notices]
        self.client.requests, self.client.events, self._worked = [], [], []
        for name, controller in self._controllers.items():
            for what, seen in CONTROLLERS[name].seen(controller).items():
                if seen != self._seen.get(what):
                    told[what] = self._seen[what] = seen
        self.told.append({name: what for name, what in told.items() if what})

    def _queues(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, controller in self._controllers.items():
            for what, queue in CONTROLLERS[name].queues(controller).items():
                told = self._queue(queue, CONTROLLERS[name].item)
                if told:
                    yield what, told

    def _queue(self, queue: WorkQueue[Any], item: Callable[[Any], str]) -> dict[str, Any]:
        since = self._now - queue.now
        told = {
            "ready": [item(one) for one in queue.ready()],
            "later": sorted(
                f"{item(one)} at {(since + due) / SECOND_US:.3f}s"
                for one, due in queue.due().items()
            ),
            "failures": {item(one): times for one, times in queue.failures().items()},
            "never done": [item(one) for one in queue.taken()],
        }
        return {name: what for name, what in told.items() if what}

    def stored(self) -> dict[str, Any]:
        """Return what the API holds of pods, PodGroups, queues and jobs, in short."""
        return dict(sorted(self._stored()))

    def _stored(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for kind, tell in _STORED.items():
            for document in self.api.list(kind):
                told = {"uid": document["metadata"]["uid"], **tell(document)}
                name = f"{kind_plural(kind)} {place_of(document).key}"
                yield name, told

    def informers(self) -> int:
        """Return how many informers there are of each of Volcano's kinds."""
        return 1 if self._behaviours.informers_shared else len(self._controllers)


def _subject(document: Document) -> str:
    group = document["apiVersion"].rpartition("/")[0]
    resource = kind_plural(document["kind"]) + (f".{group}" if group else "")
    return f'{resource} "{document["metadata"]["name"]}"'


def _pod(document: Document) -> dict[str, Any]:
    metadata = document["metadata"]
    told = {
        "phase": document["status"].get("phase"),
        "group": (metadata.get("annotations") or {}).get(GROUP_NAME),
        "terminating": "deletionTimestamp" in metadata,
    }
    return {name: value for name, value in told.items() if value}


def _group(document: Document) -> dict[str, Any]:
    owners = document["metadata"].get("ownerReferences") or ()
    spec = {name: value for name, value in document["spec"].items() if value}
    told = {
        "owner": next((owner["uid"] for owner in owners if owner.get("controller")), None),
        "phase": (document.get("status") or {}).get("phase"),
        "spec": spec,
    }
    return {name: value for name, value in told.items() if value}


def _queue(document: Document) -> dict[str, Any]:
    told = {
        "parent": document["spec"].get("parent"),
        "status": document.get("status"),
    }
    annotations = document["metadata"].get("annotations")
    return {
        "annotations": annotations,
        **{name: value for name, value in told.items() if value},
    }


def _status(document: Document) -> dict[str, Any]:
    return {"status": document["status"]} if document.get("status") else {}


_STORED: Mapping[str, Callable[[Document], dict[str, Any]]] = MappingProxyType(
    {"Pod": _pod, "PodGroup": _group, "Queue": _queue, "Job": _status, "JobFlow": _status}
)


def run(case: dict[str, Any], release: str, *, restored: bool = False) -> dict[str, Any]:
    """Return what Plinian's controllers of a release do with a case, as it was recorded."""
    made = ControllerRun(case, release, restored=restored)
    for step in case["steps"]:
        made.step(step)
    return {"steps": made.told, "stored": made.stored(), "informers": made.informers()}
