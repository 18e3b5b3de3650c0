"""A client that notes what it sends to an API server as recordings do, and lets some of it fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from recorded_documents import COUNTS, RESOURCES, difference, pruned, without

from plinian.engine.kubernetes.api_errors import AlreadyExists, Conflict, NotFound, Refused
from plinian.engine.kubernetes.api_server import MERGE, ApiServer, Document, WatchEvent, place_of
from plinian.engine.kubernetes.json_patch import Operation
from plinian.engine.kubernetes.resources import kind_plural

Answer = TypeVar("Answer")

OWN_FIELDS = frozenset({"name", "namespace", "resourceVersion", "creationTimestamp"})


class Fault:
    """So many requests fail; of -1 all do."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.what = f"{given['verb']} {given['resource']}"
        self.error: str = given["error"]
        self.left: int = given["times"]


class RecordingClient:
    """Notes what is sent, in the form of recordings.

    :ivar requests: what was sent since they were last taken; ``events`` likewise.
    :ivar faults: what is to fail.
    :ivar typed: versions that were written by a controller, by kind, key and resourceVersion.
    :ivar compares: the controller at work writes what its own comparison finds different; others
        are taken to have found nothing in what they were given as they wrote it.
    :ivar decoded: objects that were decoded from JSON since a controller wrote them. The recorded
        API handed out all others as they had been given to it. Releases that compare quantities
        with their texts found these to be as they should be, and wrote nothing.
    """

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.requests: list[dict[str, Any]] = []
        self.events: list[str] = []
        self.faults: list[Fault] = []
        self.typed: set[tuple[str, str, str]] = set()
        self.compares = True
        self.decoded: set[tuple[str, str]] = set()
        self._made: Counter[tuple[str, str]] = Counter()

    def find(self, kind: str, key: str) -> Document | None:
        """Return an object, or None."""
        try:
            return self.get(kind, key)
        except NotFound:
            return None

    def get(self, kind: str, key: str) -> Document:
        """Return an object."""
        return self._send("get", kind, key, lambda: self.api.get(kind, key))

    def list(
        self, kind: str, namespace: str = "", selector: Mapping[str, str] | None = None
    ) -> Iterable[Document]:
        """Return objects of a kind."""
        labels = ",".join(f"{name}={value}" for name, value in sorted((selector or {}).items()))
        noted = {"selector": labels} if labels else {}
        return self._send(
            "list", kind, f"{namespace}/", lambda: self.api.list(kind, namespace, selector), **noted
        )

    def create(self, given: Document) -> Document:
        """Create an object, with a uid as in recordings."""
        kind, key = place_of(given)
        meant = without(given, {"apiVersion", "kind"})
        meant["metadata"] = without(given["metadata"], OWN_FIELDS)
        made = self._send("create", kind, key, lambda: self.made(given), object=pruned(meant))
        self.typed.add((kind, key, made["metadata"]["resourceVersion"]))
        return made

    def made(self, given: Document) -> Document:
        """Create an object without noting it: recordings count how often a name was tried."""
        metadata = given["metadata"]
        made = (given["kind"], metadata["name"])
        self._made[made] += 1
        uid = f"{given['kind'].lower()}-{metadata['name']}-{self._made[made]}"
        return self.api.create({**given, "metadata": {"uid": uid, **metadata}})

    def update(self, given: Document, *, status: bool = False) -> Document:
        """Replace an object, or its status; recordings have the status that was meant in both."""
        kind, key = place_of(given)
        before = self.api.find(kind, key)
        if self._needless(kind, key, before, given):
            return given
        sent = _as_stored(given, before)
        noted = _allocated(given) if status else {}
        if before is not None and "status" in sent:
            noted["change"] = difference(before, {**before, "status": sent["status"]})
        made = self._send(
            *("update", kind, key),
            lambda: self.api.update(sent, status=status),
            status=status,
            **noted,
        )
        if not status:
            meant = {"status": sent["status"]} if "status" in sent else {}
            self.requests[-1]["change"] = difference(before, {**made, **meant})
        if made is not before:
            self.typed.add((kind, key, made["metadata"]["resourceVersion"]))
        self.decoded.discard((kind, key))
        return made

    def _needless(self, kind: str, key: str, before: Document | None, given: Document) -> bool:
        """Say whether the recorded controller saw that there is nothing to write to a PodGroup."""
        if self.compares or kind != "PodGroup" or (kind, key) in self.decoded:
            return False
        return _same(before, given)

    def patch(
        self,
        kind: str,
        key: str,
        part: Document | Sequence[Operation],
        *,
        how: str = MERGE,
        status: bool = False,
    ) -> Document:
        """Change parts of an object."""
        return self._send(
            "patch",
            kind,
            key,
            lambda: self.api.patch(kind, key, part, how=how, status=status),
            status=status,
            patch=part,
            type=how,
        )

    def bind(self, key: str, node: str) -> None:
        """Give a pod a node."""
        what = "create pods/binding"
        self._note(what, key)
        self.api.bind(key, node)
        self.requests[-1]["node"] = node

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
        self._send(
            "delete",
            kind,
            key,
            lambda: self.api.delete(kind, key, uid=uid, version=version, grace=grace),
            **({"uid": uid} if uid else {}),
        )

    def emit(self, about: Document, reason: str, message: str) -> None:
        """Note an event."""
        name = about["metadata"]["name"]
        self.events.append(f"{about['kind']} {name}: {reason}: {message}")

    def as_typed(self, change: WatchEvent) -> WatchEvent:
        """Return a change as informers had it when PodGroup controllers were recorded.

        The API server of the recordings kept what a controller wrote as Go has it in memory, with
        labels and annotations that were empty maps. A real one would leave them out.
        """
        metadata = change.document["metadata"]
        if (change.kind, change.key, metadata.get("resourceVersion")) not in self.typed:
            return change
        filled = {"labels": {}, "annotations": {}, **metadata}
        return change._replace(document={**change.document, "metadata": filled})

    def _send(
        self,
        verb: str,
        kind: str,
        key: str,
        send: Callable[[], Answer],
        *,
        status: bool = False,
        **noted: Any,
    ) -> Answer:
        """Note a request with what belongs to it, and send it, unless it is to fail."""
        what = f"{verb} {kind_plural(kind)}{'/status' if status else ''}"
        request = self._note(what, key, subject(kind, key))
        try:
            answer = send()
        except Refused as refused:
            request["error"] = refused.reason
            if not isinstance(refused, NotFound) or verb == "patch":
                request.update(noted)
            if isinstance(refused, NotFound):
                raise NotFound(f"{subject(kind, key)} not found") from None
            if isinstance(refused, Conflict):
                raise _injected("conflict", subject(kind, key)) from None
            raise
        request.update(noted)
        return answer

    def _note(self, what: str, key: str, about: str = "") -> dict[str, Any]:
        """Note a request, and let it fail if it is to.

        :raises Refused: it is.
        """
        request: dict[str, Any] = {"do": f"{what} {key}"}
        self.requests.append(request)
        for fault in self.faults:
            if fault.left and fault.what == what:
                fault.left -= 1
                request["error"] = fault.error
                raise _injected(fault.error, about)
        return request


def subject(kind: str, key: str) -> str:
    """Return an object as errors name it."""
    return f'{RESOURCES.get(kind, kind_plural(kind))} "{key.rpartition("/")[2]}"'


def _injected(error: str, about: str) -> Refused:
    if error == "conflict":
        return Conflict(f"Operation cannot be fulfilled on {about}: injected")
    if error == "notfound":
        return NotFound(f"{about} not found")
    if error == "exists":
        return AlreadyExists(f"{about} already exists")
    return Refused("Internal error occurred: injected")


def _same(before: Document | None, given: Document) -> bool:
    return before is not None and not difference(before, given)


def _as_stored(given: Document, before: Document | None) -> Document:
    """Return an object as the recorded API stored it.

    It kept counts of no task that a controller wrote, where JSON has none. A status of a queue with
    empty resources was to it as one without, if nothing else changed.
    """
    if given["kind"] == "Queue" and _same(before, given):
        return {**given, "status": (before or {}).get("status", {})}
    state = (before or {}).get("status", {}).get("state", {})
    if given["kind"] == "Job" and state.get("phase"):
        return {**given, "status": {COUNTS: {}, **given["status"]}}
    return given


def _allocated(document: Document) -> dict[str, Any]:
    """Return what was noted of resources that the status of a queue does not have."""
    allocated = document.get("status", {}).get("allocated")
    if allocated or document["kind"] != "Queue":
        return {}
    return {"allocated": "null" if allocated is None else "{}"}
