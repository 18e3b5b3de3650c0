"""An API server that notes requests as they were recorded of controllers, and may refuse them."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from plinian.engine.controllers.job.kill import JSON_PATCH
from plinian.engine.kubernetes.api_errors import AlreadyExists, Conflict, NotFound, Refused
from plinian.engine.kubernetes.api_server import (
    MERGE,
    ApiServer,
    Document,
    controller_of,
    merged,
    place_of,
)

RESOURCES: Mapping[str, str] = MappingProxyType(
    {
        "Pod": "pods",
        "Job": "jobs.batch.volcano.sh",
        "PodGroup": "podgroups.scheduling.volcano.sh",
        "Queue": "queues.scheduling.volcano.sh",
        "Command": "commands.bus.volcano.sh",
        "PriorityClass": "priorityclasses.scheduling.k8s.io",
    }
)

TIMES = frozenset({"resourceVersion", "creationTimestamp", "runningDuration"})
"""What recordings leave out."""


COUNTS = "taskStatusCount"
"""The recorded API kept counts of no task that a component wrote, where JSON has none."""


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

    def __init__(self, what: str, error: str, times: int) -> None:
        self.what = what
        self.error = error
        self.left = times


class RecordingServer:
    """Carries out steps of a case, and what a component sends, which is noted.

    :param parents_known: queues keep their parent.
    """

    def __init__(self, *, parents_known: bool) -> None:
        self._server = ApiServer()
        self._notices: list[Notice] = []
        self._requests: list[dict[str, Any]] = []
        self._events: list[str] = []
        self._faults: list[Fault] = []
        self._made: Counter[tuple[str, str]] = Counter()
        self._decoded: set[str] = set()
        """PodGroups that were decoded from JSON since a component wrote them.

        The recorded API handed out all others as they had been given to it. Releases that compare
        quantities with their texts found these to be as they should be, and wrote nothing.
        """
        self._parents_known = parents_known

    def notices(self) -> list[Notice]:
        """Return what informers are still to deliver, in order."""
        self._notices += (Notice(*change) for change in self._server.take_changes())
        return [*self._notices]

    def delivered(self, notice: Notice) -> None:
        """Know that an informer has delivered something."""
        self._notices.remove(notice)

    def taken(self) -> dict[str, Any]:
        """Return what was sent since this was asked."""
        told: dict[str, Any] = {"api": self._requests, "events": self._events}
        self._requests, self._events = [], []
        return told

    # Steps of a case.

    def given(self, given: Document) -> Document:
        """Create an object.

        :raises Refused: there is one of that name.
        """
        document = copy.deepcopy(given)
        kind, metadata = document["kind"], document["metadata"]
        self._made[kind, metadata["name"]] += 1
        if self._server.find(*place_of(document)) is not None:
            raise AlreadyExists(f"{_subject(kind, metadata['name'])} already exists")
        number = self._made[kind, metadata["name"]]
        metadata.setdefault("uid", f"{kind.lower()}-{metadata['name']}-{number}")
        if kind == "Pod":
            document.setdefault("status", {}).setdefault("phase", "Pending")
        return self._server.create(document)

    def change(self, given: Document) -> None:
        """Merge parts of an object into it.

        :raises Refused: there is none of that name.
        """
        kind, key = place_of(given)
        held = self._held(kind, key)
        if held.get("status", {}).get(COUNTS) == {}:
            given = merged(given, {"status": {COUNTS: None}})
        self._server.patch(kind, key, given)
        if kind == "PodGroup":
            self._decoded.add(key)

    def gone(self, given: Document) -> None:
        """Let an object be gone at once.

        :raises Refused: there is none of that name.
        """
        kind, key = place_of(given)
        self._held(kind, key)
        self._server.delete(kind, key, grace=0)

    def end(self, given: Document) -> None:
        """Delete an object as a user does.

        :raises Refused: there is none of that name.
        """
        kind, key = place_of(given)
        self._held(kind, key)
        self._server.delete(kind, key)

    def fail(self, given: dict[str, Any]) -> None:
        """Let requests fail from now on."""
        what = f"{given['verb']} {given['resource']}"
        self._faults.append(Fault(what, given["error"], given["times"]))

    def see(self, given: dict[str, Any]) -> None:
        """Let informers see what did not happen."""
        document = copy.deepcopy(given["object"])
        self.notices()
        place = place_of(document)
        self._notices.append(Notice(given["verb"], *place, document))

    # Requests of a component.

    def find(self, kind: str, key: str) -> Document | None:
        """Return an object, or None."""
        try:
            return self.get(kind, key)
        except NotFound:
            return None

    def get(self, kind: str, key: str) -> Document:
        """Return an object."""
        self._note("get", kind, key)
        return self._held(kind, key)

    def list(
        self, kind: str, namespace: str = "", selector: Mapping[str, str] | None = None
    ) -> list[Document]:
        """Return objects of a kind."""
        return self._server.list(kind, namespace, selector)

    def create(self, given: Document) -> Document:
        """Store a new object."""
        kind, key = place_of(given)
        noted = self._note("create", kind, key)
        metadata = {n: v for n, v in given["metadata"].items() if n not in {"name", "namespace"}}
        parts = {"metadata": metadata, "spec": given["spec"]}
        noted["object"] = _without_empty(parts)
        try:
            return self.given(given)
        except AlreadyExists:
            noted["error"] = "AlreadyExists"
            raise

    def update(self, given: Document, *, status: bool = False) -> Document:
        """Replace an object, but for its status; or its status alone."""
        kind, key = place_of(given)
        if kind == "PodGroup" and self._needless(given):
            return given
        noted = self._note("update", kind, key, "/status" if status else "")
        held = self._held(kind, key)
        if kind == "Job" and held.get("status", {}).get("state", {}).get("phase"):
            given = {**given, "status": {COUNTS: {}, **given["status"]}}
        try:
            made = self._server.update(given, status=status)
        except Conflict:
            noted["error"] = "Conflict"
            raise
        noted["change"] = difference(held, made)
        if kind == "PodGroup":
            self._decoded.discard(key)
        return made

    def _needless(self, given: Document) -> bool:
        """Say whether the recorded component saw that there is nothing to write to a PodGroup."""
        kind, key = place_of(given)
        held = self._server.find(kind, key)
        return key not in self._decoded and held is not None and not difference(held, given)

    def patch(
        self, kind: str, key: str, part: Document, *, how: str = MERGE, status: bool = False
    ) -> Document:
        """Merge parts of an object into it."""
        noted = self._note("patch", kind, key, "/status" if status else "")
        noted["type"] = how
        noted["patch"] = [*_operations(part)] if how == JSON_PATCH else part
        self._held(kind, key)
        return self._server.patch(kind, key, part, how=how, status=status)

    def bind(self, key: str, node: str) -> None:
        """Give a pod a node."""
        self._note("create", "Pod", key, "/binding")
        self._server.bind(key, node)

    def delete(
        self,
        kind: str,
        key: str,
        *,
        uid: str | None = None,
        version: str | None = None,
        grace: int | None = None,
    ) -> None:
        """Delete an object, or begin to."""
        self._note("delete", kind, key)
        self._held(kind, key)
        self._server.delete(kind, key, uid=uid, version=version, grace=grace)

    def emit(self, about: Document, reason: str, message: str) -> None:
        """Note an event."""
        self._events.append(f"{about['kind']} {about['metadata']['name']}: {reason}: {message}")

    def _note(self, verb: str, kind: str, key: str, part: str = "") -> dict[str, Any]:
        """Note a request, and let it fail if it is to.

        :raises Refused: it is.
        """
        plural = RESOURCES[kind].partition(".")[0]
        noted: dict[str, Any] = {"do": f"{verb} {plural}{part} {key}"}
        self._requests.append(noted)
        for fault in self._faults:
            if fault.left and fault.what == f"{verb} {plural}{part}":
                fault.left -= 1
                noted["error"] = fault.error
                raise _error(fault.error, _subject(kind, key.rpartition("/")[2]))
        return noted

    def _held(self, kind: str, key: str) -> Document:
        found = self._server.find(kind, key)
        if found is None:
            if self._requests and self._requests[-1]["do"].endswith(f" {key}"):
                self._requests[-1].setdefault("error", "NotFound")
            raise NotFound(f"{_subject(kind, key.rpartition('/')[2])} not found")
        return found

    def stored(self) -> dict[str, Any]:
        """Return what the API holds, in short."""
        return dict(sorted(self._stored()))

    def _stored(self) -> Iterator[tuple[str, dict[str, Any]]]:
        shown = {"Pod": _pod, "PodGroup": _group, "Job": _job, "Queue": self._queue}
        for place, document in self._server.kept().objects:
            if place.kind in shown:
                plural = RESOURCES[place.kind].partition(".")[0]
                told = {"uid": document["metadata"]["uid"], **shown[place.kind](document)}
                yield f"{plural} {place.key}", told

    def _queue(self, queue: Document) -> dict[str, Any]:
        told = {"annotations": queue["metadata"].get("annotations")}
        if self._parents_known and queue["spec"].get("parent"):
            told["parent"] = queue["spec"]["parent"]
        return {**told, **_present(status=queue.get("status"))}


def _pod(pod: Document) -> dict[str, Any]:
    annotations = pod["metadata"].get("annotations") or {}
    return _present(
        phase=pod["status"]["phase"],
        group=annotations.get("scheduling.k8s.io/group-name"),
        terminating="deletionTimestamp" in pod["metadata"],
    )


def _group(group: Document) -> dict[str, Any]:
    owner = controller_of(group) or {}
    phase = group.get("status", {}).get("phase")
    return _present(owner=owner.get("uid"), phase=phase, spec=group["spec"])


def _job(job: Document) -> dict[str, Any]:
    return _present(status=_plain(job.get("status")))


def _present(**told: Any) -> dict[str, Any]:
    return {name: what for name, what in told.items() if what}


def _subject(kind: str, name: str) -> str:
    return f'{RESOURCES[kind]} "{name}"'


def _error(error: str, subject: str) -> Refused:
    if error == "conflict":
        return Conflict(f"Operation cannot be fulfilled on {subject}: injected")
    if error == "notfound":
        return NotFound(f"{subject} not found")
    if error == "exists":
        return AlreadyExists(f"{subject} already exists")
    return Refused("Internal error occurred: injected")


def difference(before: Any, after: Any) -> Document:
    """Return a merge patch that makes one document of another, without times and versions."""
    one, other = _plain(before), _plain(after)
    found: Document = {name: None for name in one if name not in other}
    for name, value in other.items():
        held = one.get(name)
        if isinstance(value, dict) and isinstance(held, dict):
            inner = difference(held, value)
            if inner:
                found[name] = inner
        elif held != value:
            found[name] = value
    assert _plain(merged(one, found)) == other
    return found


def _plain(value: Any) -> Any:
    """Return a document without times and versions."""
    if isinstance(value, dict):
        plain = {name: _plain(inner) for name, inner in value.items() if name not in TIMES}
        return {name: inner for name, inner in plain.items() if (name, inner) != (COUNTS, {})}
    return value


def _without_empty(value: Any) -> Any:
    """Return a document without what is empty."""
    if not isinstance(value, dict):
        return value
    inner = {name: _without_empty(one) for name, one in value.items()}
    return {name: one for name, one in inner.items() if one not in ({}, [], "")}


def _operations(part: Document, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations of a JSON patch that adds the same."""
    for name, value in part.items():
        here = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        if isinstance(value, dict):
            yield from _operations(value, here)
        else:
            yield {"op": "add", "path": here, "value": value}
