"""An API server for recorded cases of the scheduler's cache: objects, faults, and informers."""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from plinian.engine.cache.cache_requests import (
    BindPod,
    CreateQueue,
    DeletePod,
    GetQueue,
    Request,
    WriteAllocated,
    WriteConditions,
    WritePodGroup,
)
from plinian.engine.kubernetes.api_errors import AlreadyExists, NotFound, Refused
from plinian.engine.kubernetes.objects import Object, Pod, decode

Document = dict[str, Any]

RESOURCES: Mapping[str, str] = MappingProxyType(
    {
        "Pod": "pods",
        "Node": "nodes",
        "CSINode": "csinodes.storage.k8s.io",
        "PodGroup": "podgroups.scheduling.volcano.sh",
        "Queue": "queues.scheduling.volcano.sh",
    }
)
SCHEDULING = "scheduling.volcano.sh/v1beta1"


class Notice(NamedTuple):
    """What an informer is still to deliver."""

    verb: str
    kind: str
    key: str
    document: Document

    def __str__(self) -> str:
        return f"{self.verb} {self.kind} {self.key}"


class Fault:
    """So many requests fail; of -1 all do."""

    def __init__(self, verb: str, resource: str, error: str, times: int) -> None:
        self.what = f"{verb} {resource}"
        self.error = error
        self.left = times


class RecordedApiServer:
    """Carries out steps of a case and what a cache sends, and notes both as they were recorded.

    :ivar requests: what the cache sent since they were last taken; ``events`` likewise.
    :ivar notices: what informers are still to deliver, in order.
    :ivar volumes_fail: volumes and devices cannot be bound.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.events: list[str] = []
        self.notices: deque[Notice] = deque()
        self.faults: list[Fault] = []
        self.volumes_fail = False
        self._objects: dict[tuple[str, str], Document] = {}
        self._made: Counter[tuple[str, str]] = Counter()
        self._revision = 0

    def create(self, given: Document) -> None:
        """Create an object.

        :raises Refused: there is one of that name.
        """
        document = copy.deepcopy(given)
        kind, metadata = document["kind"], document["metadata"]
        place = _place(document)
        made = (kind, metadata["name"])
        self._made[made] += 1
        if place in self._objects:
            raise AlreadyExists(f'{RESOURCES[kind]} "{metadata["name"]}" already exists')
        metadata.setdefault("uid", f"{kind.lower()}-{metadata['name']}-{self._made[made]}")
        self._put("ADDED", place, document)

    def change(self, given: Document) -> None:
        """Merge parts of an object into it.

        :raises Refused: there is none of that name.
        """
        place = _place(given)
        self._put("MODIFIED", place, merged(self._held(place, given), given))

    def gone(self, given: Document) -> None:
        """Let an object be gone at once.

        :raises Refused: there is none of that name.
        """
        place = _place(given)
        document = self._held(place, given)
        del self._objects[place]
        self.notices.append(Notice("DELETED", *place, document))

    def delete(self, given: Document) -> None:
        """Delete an object as a user does: a pod on a node ends later, unless it has ended.

        :raises Refused: there is none of that name.
        """
        place = _place(given)
        document = self._held(place, given)
        running = document.get("status", {}).get("phase") not in {"Succeeded", "Failed"}
        if "deletionTimestamp" in document["metadata"]:
            return
        if document["kind"] == "Pod" and document["spec"].get("nodeName") and running:
            ending = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
            self._put("MODIFIED", place, merged(document, ending))
        else:
            self.gone(given)

    def _held(self, place: tuple[str, str], given: Document) -> Document:
        if place not in self._objects:
            raise NotFound(f'{RESOURCES[given["kind"]]} "{given["metadata"]["name"]}" not found')
        return self._objects[place]

    def _put(self, verb: str, place: tuple[str, str], document: Document) -> None:
        self._revision += 1
        document["metadata"]["resourceVersion"] = str(self._revision)
        self._objects[place] = document
        self.notices.append(Notice(verb, *place, document))

    def _fail(self, what: str, subject: str) -> Refused | None:
        """Return the error that a request is to fail with, and note that it did."""
        for fault in self.faults:
            if fault.left and what == fault.what:
                fault.left -= 1
                self.requests[-1]["error"] = fault.error
                text = {"conflict": f"Operation cannot be fulfilled on {subject}: injected"}
                return Refused(text.get(fault.error, fault.error))
        return None

    def send(self, request: Request) -> None:
        """Carry out a request and note it."""
        try:
            self._carry_out(request)
        except Refused as refused:
            told = {AlreadyExists: "AlreadyExists", NotFound: "NotFound"}.get(type(refused))
            if told:
                self.requests[-1]["error"] = told
            raise

    def _carry_out(self, request: Request) -> None:
        if isinstance(request, BindPod | WriteConditions | DeletePod):
            self._write_pod(request)
        elif isinstance(request, WritePodGroup):
            group = request.pod_group
            self._note(f"update podgroups {group.key}")
            self._check("update podgroups", f'{RESOURCES["PodGroup"]} "{group.name}"')
            self.requests[-1]["change"] = {}
        elif isinstance(request, WriteAllocated):
            self._write_allocated(request)
        elif isinstance(request, GetQueue):
            self._note(f"get queues {request.name}")
            self._held(("Queue", request.name), _queue(request.name))
        else:
            assert isinstance(request, CreateQueue)
            spec = {"reclaimable": request.reclaimable, "weight": 1}
            self._note(f"create queues {request.name}", object={"spec": spec})
            self.create(_queue(request.name, spec=spec))

    def _note(self, do: str, **told: Any) -> None:
        self.requests.append({"do": do, **told})

    def _check(self, what: str, subject: str) -> None:
        failure = self._fail(what, subject)
        if failure is not None:
            raise failure

    def _write_pod(self, request: BindPod | WriteConditions | DeletePod) -> None:
        pod = request.pod
        given = {"kind": "Pod", "metadata": {"namespace": pod.namespace, "name": pod.name}}
        subject = f'pods "{pod.name}"'
        if isinstance(request, BindPod):
            self._note(f"create pods/binding {pod.key}")
            self._check("create pods/binding", subject)
            self.change({**given, "spec": {"nodeName": request.node}})
            self.requests[-1]["node"] = request.node
        elif isinstance(request, DeletePod):
            self._note(f"delete pods {pod.key}")
            self._check("delete pods", subject)
            self.delete(given)
        else:
            self._note(f"update pods/status {pod.key}")
            self._check("update pods/status", subject)
            held = self._held(("Pod", pod.key), given)["metadata"]["resourceVersion"]
            if held != pod.metadata.resource_version:
                self.requests[-1]["error"] = "Conflict"
                raise Refused("the object has been modified")
            conditions = [
                {"type": c.type, "status": c.status, "reason": c.reason, "message": c.message}
                for c in request.conditions
            ]
            change = {"status": {"conditions": conditions}}
            self.change({**given, **change})
            self.requests[-1]["change"] = change

    def _write_allocated(self, request: WriteAllocated) -> None:
        name, status = request.queue.name, {"allocated": request.allocated}
        if request.apply:
            told = {"apiVersion": SCHEDULING, "kind": "Queue", "metadata": {"name": name}}
            self._note(
                f"patch queues/status {name}",
                patch={**told, "status": status},
                type="application/apply-patch+yaml",
            )
        else:
            self._note(f"update queues/status {name}", change={"status": status})
        self.change(_queue(name, status=status))

    def peek_pod(self, namespace: str, name: str) -> Pod | None:
        """Return a pod, and note nothing."""
        document = self._objects.get(("Pod", f"{namespace}/{name}"))
        return None if document is None else decode(Pod, document)

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """Return a pod."""
        key = f"{namespace}/{name}"
        self._note(f"get pods {key}")
        self._check("get pods", f'pods "{name}"')
        pod = self.peek_pod(namespace, name)
        if pod is None:
            self.requests[-1]["error"] = "NotFound"
        return pod

    def emit(self, about: Object, reason: str, message: str) -> None:
        """Note an event."""
        self.events.append(f"{type(about).__name__} {about.name}: {reason}: {message}")

    def bind_volumes(self, pod: Pod) -> str | None:  # noqa: ARG002 -- all fail, or none
        """Bind volumes."""
        return "injected" if self.volumes_fail else None

    def stored(self) -> dict[str, Any]:
        """Return what the API holds of pods, PodGroups and queues, in short."""
        return dict(sorted(self._stored()))

    def _stored(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for (kind, key), document in self._objects.items():
            metadata, status = document["metadata"], document.get("status", {})
            told = {"uid": metadata["uid"]}
            name = f"{RESOURCES[kind].partition('.')[0]} {key}"
            if kind == "Pod":
                told["phase"] = status["phase"]
                group = metadata.get("annotations", {}).get("scheduling.k8s.io/group-name")
                if group:
                    told["group"] = group
                if "deletionTimestamp" in metadata:
                    told["terminating"] = True
                yield name, told
            elif kind == "PodGroup":
                yield name, {**told, "phase": status["phase"], "spec": document["spec"]}
            elif kind == "Queue":
                shown = {"status": status} if status else {}
                yield name, {**told, "annotations": metadata.get("annotations"), **shown}


def _queue(name: str, **parts: Any) -> Document:
    return {"apiVersion": SCHEDULING, "kind": "Queue", "metadata": {"name": name}, **parts}


def _place(document: Document) -> tuple[str, str]:
    metadata = document["metadata"]
    namespace = metadata.get("namespace")
    return document["kind"], f"{namespace}/{metadata['name']}" if namespace else metadata["name"]


def merged(whole: Document, part: Document) -> Document:
    """Return a document with a merge patch applied."""
    made = {**whole}
    for name, value in part.items():
        held = made.get(name)
        both = isinstance(held, dict) and isinstance(value, dict)
        made[name] = merged(held, value) if both else value
    return made
