"""An informer as client-go has it, in a few lines: it lists, watches, and keeps a store."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx
from serving import Running

PODS = "/api/v1/pods"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
METADATA = (
    "application/json;as=PartialObjectMetadata{0};v=v1;g=meta.k8s.io,"
    "application/json;as=PartialObjectMetadata{0};v=v1beta1;g=meta.k8s.io,application/json"
)


def lines(client: httpx.Client, path: str, accept: str = "", **query: Any) -> Iterator[Any]:
    """Yield the events of a watch until the server ends it."""
    headers = {"Accept": accept} if accept else {}
    asked = {"watch": "true", **{name: str(value) for name, value in query.items()}}
    with client.stream("GET", path, params=asked, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        for line in answer.iter_lines():
            yield json.loads(line)


def told(client: httpx.Client, path: str, **query: Any) -> list[tuple[str, str, str]]:
    """Return type, name and resourceVersion of the events of a watch of a second."""
    return [
        (one["type"], one["object"]["metadata"].get("name", ""), version(one["object"]))
        for one in lines(client, path, **{"timeoutSeconds": 1, **query})
    ]


def version(document: Any) -> str:
    """Return an object's resourceVersion."""
    found: str = document["metadata"]["resourceVersion"]
    return found


def listed(server: Running, path: str) -> dict[str, str]:
    """Return the resourceVersions of the objects of a list by uid."""
    items = server.client.get(path).json()["items"]
    return {one["metadata"]["uid"]: version(one) for one in items}


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.05)


class Informer:
    """Keeps what a server says of a resource, in a thread, until it is closed.

    :param streaming: begin with a watch that lists, as client-go does from 0.35 on.
    :ivar relisted: how often it began again.
    """

    def __init__(self, base: str, path: str, *, streaming: bool = False) -> None:
        self._client = httpx.Client(base_url=base, timeout=60)
        self._path, self._streaming = path, streaming
        self.store: dict[str, Any] = {}
        self.synced = threading.Event()
        self.relisted = -1
        self._version = ""
        self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it, once the server ends its watch."""
        self._closed = True

    def versions(self) -> dict[str, str]:
        """Return the resourceVersions of the objects by uid."""
        return {uid: version(one) for uid, one in list(self.store.items())}

    def _run(self) -> None:
        with self._client, suppress(httpx.TransportError):  # The server ends before it does.
            while not self._closed:
                self.relisted += 1
                if not self._streaming:
                    self._list()
                self._watch()

    def _list(self) -> None:
        found: dict[str, Any] = {}
        query = {"limit": "500"}
        while True:
            page = self._client.get(self._path, params=query).json()
            found |= {one["metadata"]["uid"]: one for one in page["items"]}
            if "continue" not in page["metadata"]:
                break
            query["continue"] = page["metadata"]["continue"]
        self.store, self._version = found, version(page)
        self.synced.set()

    def _watch(self) -> None:
        """Follow until the server says that it cannot go on."""
        fresh: dict[str, Any] | None = {} if self._streaming else None
        query = {"allowWatchBookmarks": "true", "resourceVersion": self._version}
        if fresh is not None:
            query = {
                "allowWatchBookmarks": "true",
                "sendInitialEvents": "true",
                "resourceVersionMatch": "NotOlderThan",
            }
        while not self._closed:
            for one in lines(self._client, self._path, **query):
                if one["type"] == "ERROR":
                    assert one["object"]["code"] == 410
                    return
                fresh = self._take(one, fresh)
            query = {"allowWatchBookmarks": "true", "resourceVersion": self._version}

    def _take(self, one: Any, fresh: dict[str, Any] | None) -> dict[str, Any] | None:
        document = one["object"]
        self._version = version(document)
        if one["type"] == "BOOKMARK":
            ends = document["metadata"].get("annotations", {})
            if ends.get("k8s.io/initial-events-end") == "true":
                assert fresh is not None, "only a watch that lists says so"
                self.store = fresh
                self.synced.set()
                return None
            return fresh
        store = self.store if fresh is None else fresh
        if one["type"] == "DELETED":
            store.pop(document["metadata"]["uid"], None)
        else:
            store[document["metadata"]["uid"]] = document
        return fresh
