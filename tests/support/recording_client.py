"""A client that notes what it sends to an API server as recordings do, and lets some of it fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from plinian.engine.kubernetes.api_errors import AlreadyExists, Conflict, NotFound, Refused
from plinian.engine.kubernetes.api_server import MERGE, ApiServer, Change, Document, place_of
from plinian.engine.kubernetes.resources import kind_plural

Answer = TypeVar("Answer")

INJECTED: Mapping[str, type[Refused]] = MappingProxyType(
    {
        "conflict": Conflict,
        "exists": AlreadyExists,
        "notfound": NotFound,
        "timeout": Refused,
    }
)
"""Errors that a step of a case injects."""

OWN_FIELDS = frozenset({"name", "namespace"})
NOT_TOLD = frozenset({"resourceVersion", "creationTimestamp", "deletionTimestamp"})


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
    """

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.requests: list[dict[str, Any]] = []
        self.events: list[str] = []
        self.faults: list[Fault] = []
        self.typed: set[tuple[str, str, str]] = set()
        self._made: Counter[tuple[str, str]] = Counter()

    def find(self, kind: str, key: str) -> Document | None:
        """Return an object, or None."""
        try:
            return self.get(kind, key)
        except NotFound:
            return None

    def get(self, kind: str, key: str) -> Document:
        """Return an object."""
        return self._send(f"get {kind_plural(kind)}", key, lambda: self.api.get(kind, key))

    def list(
        self, kind: str, namespace: str = "", selector: Mapping[str, str] | None = None
    ) -> Iterable[Document]:
        """Return objects of a kind."""
        labels = ",".join(f"{name}={value}" for name, value in sorted((selector or {}).items()))
        told = {"selector": labels} if labels else {}
        return self._send(
            f"list {kind_plural(kind)}",
            f"{namespace}/",
            lambda: self.api.list(kind, namespace, selector),
            **told,
        )

    def create(self, given: Document) -> Document:
        """Create an object, with a uid as in recordings."""
        kind, key = place_of(given)
        meant = _without(given, frozenset({"apiVersion", "kind"}))
        meant["metadata"] = _without(given["metadata"], OWN_FIELDS | NOT_TOLD)
        made = self._send(
            f"create {kind_plural(kind)}", key, lambda: self.made(given), object=pruned(meant)
        )
        self.typed.add((kind, key, made["metadata"]["resourceVersion"]))
        return made

    def made(self, given: Document) -> Document:
        """Create an object without noting it: recordings count how often a name was tried."""
        metadata = given["metadata"]
        made = (given["kind"], metadata["name"])
        self._made[made] += 1
        uid = f"{made[0].lower()}-{made[1]}-{self._made[made]}"
        return self.api.create({**given, "metadata": {"uid": uid, **metadata}})

    def update(self, given: Document, *, status: bool = False) -> Document:
        """Replace an object, or its status."""
        kind, key = place_of(given)
        before = self.api.find(kind, key)
        made = self._send(
            f"update {kind_plural(kind)}{'/status' if status else ''}",
            key,
            lambda: self.api.update(given, status=status),
        )
        if made is not before:
            self.typed.add((kind, key, made["metadata"]["resourceVersion"]))
        self.requests[-1]["change"] = difference(_told(before or {}), _told(made))
        return made

    def patch(
        self, kind: str, key: str, part: Document, *, how: str = MERGE, status: bool = False
    ) -> Document:
        """Merge parts of an object into it."""
        return self._send(
            f"patch {kind_plural(kind)}{'/status' if status else ''}",
            key,
            lambda: self.api.patch(kind, key, part, how=how, status=status),
            patch=part,
            type=how,
        )

    def bind(self, key: str, node: str) -> None:
        """Give a pod a node."""
        self._send("create pods/binding", key, lambda: self.api.bind(key, node), node=node)

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
            f"delete {kind_plural(kind)}",
            key,
            lambda: self.api.delete(kind, key, uid=uid, version=version, grace=grace),
            **({"uid": uid} if uid else {}),
        )

    def emit(self, about: Document, reason: str, message: str) -> None:
        """Note an event."""
        name = about["metadata"]["name"]
        self.events.append(f"{about['kind']} {name}: {reason}: {message}")

    def as_recorded(self, change: Change) -> Change:
        """Return a change as informers had it when cases were recorded.

        The API server of the recordings kept what a controller wrote as Go has it in memory, with
        labels and annotations that were empty maps. A real one would leave them out.
        """
        metadata = change.document["metadata"]
        if (change.kind, change.key, metadata.get("resourceVersion")) not in self.typed:
            return change
        filled = {"labels": {}, "annotations": {}, **metadata}
        return change._replace(document={**change.document, "metadata": filled})

    def _send(self, what: str, key: str, send: Callable[[], Answer], **told: Any) -> Answer:
        """Note a request with what is told of it, and send it, unless it is to fail."""
        request: dict[str, Any] = {"do": f"{what} {key}"}
        self.requests.append(request)
        for fault in self.faults:
            if fault.left and fault.what == what:
                fault.left -= 1
                request["error"] = fault.error
                raise INJECTED[fault.error](f"{what} {key}: injected")
        try:
            answer = send()
        except Refused as refused:
            request["error"] = refused.reason
            if not isinstance(refused, NotFound) or what.startswith("patch"):
                request.update(told)
            raise
        request.update(told)
        return answer


def pruned(value: Any) -> Any:
    """Return a document without what is empty."""
    if isinstance(value, dict):
        kept = {name: pruned(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part not in ({}, [], "", None)}
    if isinstance(value, list):
        return [pruned(part) for part in value]
    return value


def difference(before: Document, after: Document) -> Document:
    """Return what makes one document of another, as a merge patch."""
    found: Document = dict.fromkeys((name for name in before if name not in after), None)
    for name, value in after.items():
        held = before.get(name)
        if isinstance(held, dict) and isinstance(value, dict):
            inner = difference(held, value)
            if inner:
                found[name] = inner
        elif held != value:
            found[name] = value
    return found


def _without(document: Document, names: frozenset[str]) -> Document:
    return {name: value for name, value in document.items() if name not in names}


def _told(document: Document) -> Document:
    """Return a document without times and versions."""
    return {**document, "metadata": _without(document.get("metadata") or {}, NOT_TOLD)}
