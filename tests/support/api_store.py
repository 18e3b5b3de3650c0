"""The store behind a model of an API server: one revision over all kinds, history, compaction."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

Document = dict[str, Any]

FIRST = 100
"""The revision at which a store begins."""


class StoredKind(NamedTuple):
    """A kind that a store has. :param built_in: a list leaves out what each item would repeat."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    built_in: bool = True
    empty: str = ""

    @property
    def api_version(self) -> str:
        """The version as objects have it."""
        return f"{self.group}/{self.version}" if self.group else self.version


POD = StoredKind("", "v1", "Pod", "pods", empty='"spec":{"containers":null},"status":{}')
CONTROLLER = StoredKind(
    *("", "v1", "ReplicationController", "replicationcontrollers"),
    empty='"spec":{},"status":{"replicas":0}',
)
QUEUE = StoredKind(
    *("scheduling.volcano.sh", "v1beta1", "Queue", "queues"), namespaced=False, built_in=False
)


class StoreChange(NamedTuple):
    """A version that a store ever had, or a deletion.

    :param document: of a deletion, the last version with the revision of the deletion.
    """

    revision: int
    verb: str
    kind: StoredKind
    document: Document

    @property
    def key(self) -> tuple[str, str]:
        """The namespace and the name."""
        metadata = self.document["metadata"]
        return metadata.get("namespace", ""), metadata["name"]

    @property
    def uid(self) -> str:
        """Return the uid of the object."""
        uid: str = self.document["metadata"]["uid"]
        return uid


class ApiStore:
    """Objects of several kinds as etcd has them; threads may share it.

    :ivar changes: all of them, by revision. :ivar compacted: what is older cannot be read.
    """

    def __init__(self) -> None:
        self.revision = FIRST
        self.compacted = 0
        self.changes: list[StoreChange] = []
        self.changed = threading.Condition()
        self._made = 0

    def create(self, kind: StoredKind, name: str, namespace: str = "default") -> StoreChange:
        """Create an object; it must not exist."""
        assert self.found(kind, name, namespace) is None, f"{name} exists"
        self._made += 1
        metadata: Document = {"name": name}
        if kind.namespaced:
            metadata["namespace"] = namespace
        metadata["uid"] = f"{kind.plural}-{name}-{self._made}"
        # Kinds whose defaults are filled in need them, or a version says that it was assumed.
        rest: Document = {"spec": {"weight": 1}, "status": {"state": "Open"}}
        if kind is POD:
            rest = {
                "spec": {"containers": [{"name": "c", "image": "i"}]},
                "status": {"phase": "Pending"},
            }
        document = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata, **rest}
        return self.put("ADDED", kind, document)

    def change(self, kind: StoredKind, name: str, namespace: str = "default") -> StoreChange:
        """Change an object, which must exist."""
        document = self.found(kind, name, namespace)
        assert document is not None, f"{name} does not exist"
        document["metadata"]["annotations"] = {"at": str(self.revision)}
        return self.put("MODIFIED", kind, document)

    def delete(self, kind: StoredKind, name: str, namespace: str = "default") -> StoreChange:
        """Delete an object, which must exist."""
        document = self.found(kind, name, namespace)
        assert document is not None, f"{name} does not exist"
        return self.put("DELETED", kind, document)

    def put(
        self, verb: str, kind: StoredKind, document: Document, revision: int | None = None
    ) -> StoreChange:
        """Note a change, at the next revision unless another one is given."""
        with self.changed:
            self.revision = self.revision + 1 if revision is None else revision
            document = copy.deepcopy(document)
            document["metadata"]["resourceVersion"] = str(self.revision)
            made = StoreChange(self.revision, verb, kind, document)
            self.changes.append(made)
            self.changed.notify_all()
            return made

    def elsewhere(self, count: int = 1) -> None:
        """Let kinds change that nobody here reads."""
        with self.changed:
            self.revision += count
            self.changed.notify_all()

    def compact(self) -> None:
        """Forget all that is older than now."""
        self.compacted = self.revision

    def found(self, kind: StoredKind, name: str, namespace: str = "default") -> Document | None:
        """Return a copy of an object; None if there is none."""
        where = namespace if kind.namespaced else ""
        return copy.deepcopy(self.at(kind, self.revision).get((where, name)))

    def at(self, kind: StoredKind, revision: int) -> dict[tuple[str, str], Document]:
        """Return all objects of a kind at a revision, by namespace and name, sorted."""
        objects: dict[tuple[str, str], Document] = {}
        for change in self.changes:
            if change.kind is not kind or change.revision > revision:
                continue
            if change.verb == "DELETED":
                del objects[change.key]
            else:
                objects[change.key] = change.document
        return dict(sorted(objects.items()))

    def after(self, kind: StoredKind, revision: int) -> Iterator[StoreChange]:
        """Yield the changes of a kind after a revision."""
        for change in list(self.changes):
            if change.kind is kind and change.revision > revision:
                yield change
