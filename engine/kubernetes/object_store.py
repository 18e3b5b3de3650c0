"""An API server's store, which completes objects with missing fields.

Scenario files leave out what an API server fills in. This store fills it in, the same way every
time: the log stores the completed versions, and a simulation starts from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .resources import CLUSTER_SCOPED_KINDS

Document = dict[str, Any]
Key = tuple[str, str, str, str]
"""API group, kind, namespace, name."""


class Store:
    """The objects, each in its last version; gives revisions from its own counter."""

    def __init__(self) -> None:
        self._objects: dict[Key, Document] = {}
        self._made: Counter[Key] = Counter()
        self._revision = 0

    def next_revision(self) -> int:
        """Return a revision that nothing else has."""
        self._revision += 1
        return self._revision

    def get(self, kind: str, namespace: str, name: str, *, group: str = "") -> Document | None:
        """Return the object, or None; only the store may change it."""
        return self._objects.get((group, kind, namespace, name))

    def holds(self, document: Document) -> bool:
        """Return whether there is an object of this kind and name, which may lack its namespace."""
        metadata = document["metadata"]
        if document["kind"] not in CLUSTER_SCOPED_KINDS and not metadata.get("namespace"):
            metadata = {**metadata, "namespace": "default"}
        return key_of({**document, "metadata": metadata}) in self._objects

    def of(self, kind: str) -> Iterable[tuple[str, Document]]:
        """Yield (``namespace/name`` or name, object) of a kind in the order of these keys."""
        named = [
            (f"{namespace}/{name}" if namespace else name, document)
            for (_, stored_kind, namespace, name), document in self._objects.items()
            if stored_kind == kind
        ]
        return sorted(named, key=lambda pair: pair[0])

    def kinds(self) -> list[str]:
        """Return which kinds there are, in alphabetical order."""
        return sorted({kind for _, kind, _, _ in self._objects})

    def apply(self, change: str, document: Document) -> str:
        """Apply one change, complete ``document``, and return its verb.

        :param change: ADDED (MODIFIED if the object exists), MODIFIED (ADDED if it does not) or
            DELETED.
        :raises KeyError: a document without a uid deletes an object that does not exist.
        """
        metadata = document["metadata"]
        kind = document["kind"]
        if kind not in CLUSTER_SCOPED_KINDS and not metadata.get("namespace"):
            metadata["namespace"] = "default"
        key = key_of(document)
        known = self._objects.get(key)
        if known is None and change == "DELETED" and not metadata.get("uid"):
            raise KeyError(key)
        if known is None:
            # The deletion of what never existed makes no object, so the next one is the first.
            self._made[key] += change != "DELETED"
            metadata["uid"] = metadata.get("uid") or self._uid(key)
        else:
            _keep(known, document)
        metadata["resourceVersion"] = str(self.next_revision())
        if change == "DELETED":
            self._objects.pop(key, None)
            return "deleted"
        self._objects[key] = document
        return "created" if known is None else "updated"

    def _uid(self, key: Key) -> str:
        _, kind, namespace, name = key
        parts = ["pg"] if kind == "PodGroup" else []
        parts += [part for part in (namespace, name) if part]
        if self._made[key] > 1:
            parts.append(str(self._made[key]))
        return "-".join(parts)


def key_of(document: Document) -> Key:
    """Return an object's key; versions of one API group share it."""
    metadata = document["metadata"]
    group = document["apiVersion"].rpartition("/")[0]
    return (group, document["kind"], metadata.get("namespace") or "", metadata["name"])


def _keep(known: Document, document: Document) -> None:
    """Keep fields that a change cannot change, or did not contain."""
    metadata, before = document["metadata"], known["metadata"]
    metadata["uid"] = before["uid"]
    if "creationTimestamp" in before:
        metadata.setdefault("creationTimestamp", before["creationTimestamp"])
    if "status" in known:
        document.setdefault("status", known["status"])
    node = (known.get("spec") or {}).get("nodeName")
    if document["kind"] == "Pod" and node and isinstance(document.get("spec"), dict):
        document["spec"]["nodeName"] = document["spec"].get("nodeName") or node


def default_queue(name: str) -> Document:
    """Return a queue as a scheduler creates it when it starts: ``default`` or ``root``.

    Source: pkg/scheduler/cache/cache.go newDefaultAndRootQueue.
    """
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"weight": 1, "reclaimable": name == "default"},
        "status": {"state": "Open"},
    }


def fault_of(document: Any) -> str:
    """Return what an object lacks to be stored; empty if it is complete."""
    if not isinstance(document, dict):
        return "expected an object"
    for field in ("kind", "apiVersion"):
        if not isinstance(document.get(field), str):
            return f"expected a string in {field}"
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return "expected a string in metadata.name"
    if not isinstance(metadata.get("namespace", ""), str):
        return "expected a string in metadata.namespace"
    return ""
