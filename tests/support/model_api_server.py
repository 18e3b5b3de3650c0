"""A model of an API server within this process: what a recorder asks, in the bytes of a real one.

``tests/capture/test_wire_form.py`` holds its answers to those of a real kube-apiserver.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from api_store import POD, QUEUE, ApiStore, Document, StoredKind

from plinian.replay.capture.cluster_access import Body, ServerRefusal, Stalled, Unreachable

_METADATA = "PartialObjectMetadata"


class Fault(NamedTuple):
    """What happens to one request.

    :param code: the server refuses, with this code. :param retry_after: in that case.
    :param cut: after so many bytes the connection breaks off. :param stalls: or sends nothing more.
    :param ends: the server ends the answer there, as if it were whole.
    """

    code: int | None = None
    retry_after: float | None = None
    cut: int | None = None
    stalls: bool = False
    ends: bool = False
    words: str = ""


class Asked(NamedTuple):
    """A request. :param query: its options."""

    path: str
    query: Mapping[str, str]
    accept: str = ""

    @property
    def watches(self) -> bool:
        """Whether it is one for a watch."""
        return self.query.get("watch") == "true"


class ModelApiServer:
    """Answers from a store.

    :param kinds: that it serves. :param idle: called when a watch has nothing more to send; returns
        whether it goes on. By default each watch ends with a bookmark.
    :ivar asked: all requests so far. :ivar faults: of the next requests; None for one that is
        answered. :ivar cache_begins: the first revision that a watch may continue from.
    :ivar page: objects that a page of a list has at most, whatever is asked for.
    """

    def __init__(
        self,
        store: ApiStore,
        kinds: tuple[StoredKind, ...] = (POD, QUEUE),
        *,
        idle: Callable[[], bool] = bool,
        streams_lists: bool = True,
        page: int = 500,
    ) -> None:
        self.store, self.kinds = store, list(kinds)
        self.idle, self.page = idle, page
        self.asked: list[Asked] = []
        self.faults: deque[Fault | None] = deque()
        self.cache_begins = 0
        self.chunk = 2**16
        self._streams_lists = streams_lists

    def restart(self) -> None:
        """Begin the cache of watches again, as a server that was restarted does."""
        self.cache_begins = self.store.revision

    def open(self, path: str, query: Mapping[str, str], *, quiet: float, accept: str = "") -> Body:
        """Answer."""
        del quiet
        asked = Asked(path, dict(query), accept)
        self.asked.append(asked)
        fault = self.faults.popleft() if self.faults else None
        if fault is not None and fault.code is not None:
            raise ServerRefusal(
                fault.code, fault.words or "injected", where=path, retry_after=fault.retry_after
            )
        return ModelBody(self.answer(asked), fault, self.chunk)

    def answer(self, asked: Asked) -> Iterator[bytes]:
        """Return the pieces of an answer.

        :raises ServerRefusal: it is an error.
        """
        parts = asked.path.strip("/").split("/")
        root = 2 if parts[0] == "api" else 3
        if parts[0] == "apis" and len(parts) < root:
            return self._group(parts[1])
        if len(parts) == root:
            return self._resources(*((("", parts[1])) if root == 2 else (parts[1], parts[2])))
        namespace = parts[root + 1] if parts[root] == "namespaces" and len(parts) > root + 2 else ""
        group = "" if root == 2 else parts[1]
        kind = next((k for k in self.kinds if (k.group, k.plural) == (group, parts[-1])), None)
        if kind is None:
            raise refused(404, "NotFound", "the server could not find the requested resource")
        if asked.watches:
            return self._watch(kind, namespace, asked.query)
        return iter([self._list(kind, namespace, asked)])

    def _group(self, group: str) -> Iterator[bytes]:
        versions = list(dict.fromkeys(k.version for k in self.kinds if k.group == group))
        if not versions:
            raise ServerRefusal(404, "the server answered 404", retry_after=None)
        named = [{"groupVersion": f"{group}/{v}", "version": v} for v in versions]
        about = {"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": named}
        return iter([written({**about, "preferredVersion": named[0]})])

    def _resources(self, group: str, version: str) -> Iterator[bytes]:
        found = [
            {
                "name": kind.plural,
                "singularName": kind.kind.lower(),
                "namespaced": kind.namespaced,
                "kind": kind.kind,
                "verbs": ["get", "list", "watch"],
            }
            for kind in self.kinds
            if (kind.group, kind.version) == (group, version)
        ]
        within = f"{group}/{version}" if group else version
        about = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": within}
        return iter([written({**about, "resources": found})])

    def _list(self, kind: StoredKind, namespace: str, asked: Asked) -> bytes:
        query, store = asked.query, self.store
        revision, start = store.revision, ("", "")
        if query.get("continue"):
            told = json.loads(query["continue"])
            revision, start = told["rv"], tuple(told["start"])
        elif query.get("resourceVersionMatch") == "Exact":
            revision = int(query["resourceVersion"])
            if revision > store.revision:
                words = f"Timeout: Too large resource version: {revision}, current: "
                raise refused(504, "Timeout", f"{words}{store.revision}", retry_after=1)
        if revision < store.compacted:
            expired = "The provided continue parameter is too old to display a consistent list"
            raise refused(410, "Expired", expired if query.get("continue") else _TOO_OLD)
        name = query.get("fieldSelector", "").removeprefix("metadata.name=")
        found = [
            (key, document)
            for key, document in store.at(kind, revision).items()
            if key > start and namespace in ("", key[0]) and name in ("", key[1])
        ]
        limit = min(int(query.get("limit", len(found) or 1)), self.page)
        metadata: Document = {"resourceVersion": str(revision)}
        if len(found) > limit:
            metadata["continue"] = json.dumps({"rv": revision, "start": found[limit - 1][0]})
            metadata["remainingItemCount"] = len(found) - limit
        items = [self._item(kind, document, asked.accept) for _, document in found[:limit]]
        head = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version}
        if _METADATA in asked.accept:
            head = {"kind": f"{_METADATA}List", "apiVersion": "meta.k8s.io/v1"}
        return written({**head, "metadata": metadata, "items": items})

    def _item(self, kind: StoredKind, document: Document, accept: str) -> Document:
        if _METADATA in accept:
            head = {"kind": _METADATA, "apiVersion": "meta.k8s.io/v1"}
            return {**head, "metadata": document["metadata"]}
        if not kind.built_in:
            return document
        return {key: value for key, value in document.items() if key not in ("kind", "apiVersion")}

    def _watch(self, kind: StoredKind, namespace: str, query: Mapping[str, str]) -> Iterator[bytes]:
        store = self.store
        streams = query.get("sendInitialEvents") == "true"
        if streams and not self._streams_lists:
            words = "sendInitialEvents is forbidden for watch unless the WatchList feature gate"
            raise refused(422, "Invalid", words)
        since = store.revision if streams else int(query["resourceVersion"])
        return self._watched(kind, namespace, since, streams=streams)

    def _watched(
        self, kind: StoredKind, namespace: str, since: int, *, streams: bool
    ) -> Iterator[bytes]:
        store = self.store
        if streams:
            for (within, _), document in store.at(kind, since).items():
                if namespace in ("", within):
                    yield line("ADDED", document)
            yield bookmark(kind, since, ends_list=True)
        elif since < max(self.cache_begins, store.compacted):
            words = f"too old resource version: {since} ({store.revision})"
            yield line("ERROR", status(410, "Expired", words))
            return
        elif since > store.revision:
            raise Stalled("it keeps the connection and sends nothing")
        while True:
            for change in store.after(kind, since):
                since = change.revision
                if namespace in ("", change.key[0]):
                    yield line(change.verb, change.document)
            reached = max(since, store.revision)
            if not self.idle():
                yield bookmark(kind, reached)
                return
            yield b""


class ModelBody:
    """The body of an answer, with what happens to it."""

    def __init__(self, pieces: Iterator[bytes], fault: Fault | None, size: int) -> None:
        self._pieces, self._fault, self._size = pieces, fault, size
        self._closed = False

    def chunks(self) -> Iterator[bytes]:
        """Yield pieces, of a size, until the fault."""
        left = self._fault.cut if self._fault is not None else None
        for piece in self._pieces:
            if self._closed and not piece:  # Nothing more comes that was not under way.
                raise Unreachable("another thread closed it")
            for begin in range(0, len(piece), self._size):
                chunk = piece[begin : begin + self._size]
                if left is not None and len(chunk) > left:
                    yield chunk[:left]
                    self._break_off()
                    return
                left = None if left is None else left - len(chunk)
                yield chunk
        if self._fault is not None:
            self._break_off()

    def _break_off(self) -> None:
        assert self._fault is not None
        if self._fault.stalls:
            raise Stalled("it keeps the connection and sends nothing")
        if not self._fault.ends:
            raise Unreachable("Connection broken: IncompleteRead")

    def close(self) -> None:
        """Give the answer up."""
        self._closed = True


_TOO_OLD = "The resourceVersion for the provided list is too old."


def written(document: Document) -> bytes:
    """Return a document as an API server writes it."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def line(verb: str, document: Document) -> bytes:
    """Return a line of a watch."""
    return written({"type": verb, "object": document})


def bookmark(kind: StoredKind, revision: int, *, ends_list: bool = False) -> bytes:
    """Return the line of a bookmark; it has what an object of its kind has when it is empty."""
    metadata: Document = {"resourceVersion": str(revision)}
    if ends_list:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    head: dict[str, Any] = {"kind": kind.kind, "apiVersion": kind.api_version}
    return line("BOOKMARK", {**head, "metadata": metadata, **json.loads(f"{{{kind.empty}}}")})


def status(code: int, reason: str, message: str) -> Document:
    """Return an error as an API server says it."""
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return {**head, "message": message, "reason": reason, "code": code}


def refused(
    code: int, reason: str, message: str, *, retry_after: float | None = None
) -> ServerRefusal:
    """Return the error that an answer is."""
    del reason
    return ServerRefusal(code, message, retry_after=retry_after)
