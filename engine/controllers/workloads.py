"""What the controllers of Deployments, ReplicaSets and StatefulSets have in common.

Each keeps the objects that it owns as its own kind of object wants them: changes of either queue
the key of the owner, and a worker compares what informers have delivered, and writes.

Source: k8s.io/kubernetes/pkg/controller: controller_utils.go, controller_ref_manager.go.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import msgspec

from ..kubernetes import work_queue
from ..kubernetes.api_errors import Refused
from ..kubernetes.api_server import DELETED, ENDED, Document, controller_of, place_of
from ..kubernetes.object_table import ObjectTable
from ..kubernetes.work_queue import WorkQueue
from .component import Client
from .lister import Listed, Lister
from .pointer_requests import next_due


class WorkloadsState(NamedTuple):
    """All that a controller of workloads holds.

    :param own, owned: what the listers hold. :param queue: keys that wait for a worker.
    :param more: what else the controller holds.
    """

    own: Listed
    owned: Listed
    queue: work_queue.WorkQueueState[str]
    more: Hashable


class WorkloadController:
    """A component that keeps what objects of one kind own as these objects want it.

    :cvar own, of: the kind, and the kind of what it owns.
    """

    own = ""
    of = ""

    def __init__(self, objects: ObjectTable) -> None:
        self.kinds: tuple[str, ...] = (self.own, self.of)
        self._own = Lister(objects)
        self._owned = Lister(objects)
        self._queue = WorkQueue[str]()

    def deliver(
        self,
        verb: str,
        kind: str,
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- handlers only queue
    ) -> None:
        """Let an informer deliver a change: the object's key is queued, or that of its owner."""
        if kind == self.own:
            before = self._own.get(key)
            self._own.deliver(verb, key, document)
            another = before and before["metadata"]["uid"] != document["metadata"]["uid"]
            # A new object of the name, seen as a change: what was noted is of the old one.
            if verb == DELETED or another:
                self._forget(key)
            self._queue.add(key)
            return
        self._owned.deliver(verb, key, document)
        owner = self._owner_of(document)
        if owner is not None:
            self._observe(owner, verb, key, document)
            self._queue.add(owner)

    def steps(self) -> Sequence[str]:
        """Return whether a worker has something to do."""
        return (self.own.lower(),) if len(self._queue) else ()

    def step(self, name: str, client: Client) -> None:
        """Let a worker take the first key, and bring about what the object wants.

        What fails is tried again, later each time.
        """
        assert name == self.own.lower()
        key = self._queue.take()
        document = self._own.get(key)
        try:
            if document is not None:
                self._sync(document, client)
        except Refused:
            self._queue.add_rate_limited(key)
        else:
            self._queue.forget(key)
        self._queue.done(key)

    def due(self) -> int | None:
        """Return in how many microseconds the first delay is over; None if nothing waits."""
        return next_due(self._queue)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self._queue.advance(self._queue.now + by)

    def kept(self) -> WorkloadsState:
        """Return all that the controller holds."""
        return WorkloadsState(
            self._own.kept(), self._owned.kept(), self._queue.kept(), self._more()
        )

    def restore(self, kept: WorkloadsState) -> None:
        """Hold what another controller held, and nothing else."""
        self._own.restore(kept.own)
        self._owned.restore(kept.owned)
        self._queue.restore(kept.queue)
        self._restore_more(kept.more)

    def _sync(self, document: Document, client: Client) -> None:
        """Bring about what an object wants.

        :raises Refused: a request fails; all is tried again.
        """
        raise NotImplementedError

    def _observe(self, owner: str, verb: str, key: str, document: Document) -> None:
        """Note a change of an object that is owned."""

    def _forget(self, key: str) -> None:
        """Forget what is only of use while an object exists."""

    def _more(self) -> Hashable:
        return ()

    def _restore_more(self, more: Any) -> None:
        assert not more

    def _owner_of(self, document: Document) -> str | None:
        """Return the key of the known object that controls another one."""
        reference = controller_of(document)
        if reference is None or reference["kind"] != self.own:
            return None
        key = f"{namespace_of(document)}/{reference['name']}"
        owner = self._own.get(key)
        # By uid, as resolveControllerRef: an owner of the same name may be a later one.
        return key if owner is not None and owner["metadata"]["uid"] == reference["uid"] else None

    def _owned_by(self, document: Document) -> list[Document]:
        """Return what an object controls, by key."""
        key = place_of(document).key
        listed = self._owned.list(namespace_of(document))
        return [owned for owned in listed if self._owner_of(owned) == key]


def namespace_of(document: Document) -> str:
    """Return the namespace of an object."""
    return place_of(document).key.partition("/")[0]


def is_active(pod: Document) -> bool:
    """Say whether a pod counts as a replica: it has not ended, and is not being deleted."""
    return "deletionTimestamp" not in pod["metadata"] and phase_of(pod) not in ENDED


def is_ready(pod: Document) -> bool:
    """Say whether a pod runs; nothing here delays its readiness."""
    return is_active(pod) and phase_of(pod) == "Running"


def phase_of(pod: Document) -> str:
    """Return a pod's phase."""
    return str((pod.get("status") or {}).get("phase") or "Pending")


def template_hash(template: Document) -> str:
    """Return a short text that differs between templates of pods."""
    return f"{zlib.crc32(msgspec.json.encode(template, order='sorted')):08x}"


def pod_of(owner: Document, name: str, labels: dict[str, str]) -> Document:
    """Return a pod of an owner's template, with more labels.

    Source: k8s.io/kubernetes/pkg/controller/controller_utils.go GetPodFromTemplate.
    """
    template = owner["spec"]["template"]
    given = template.get("metadata") or {}
    metadata: Document = {
        "name": name,
        "namespace": namespace_of(owner),
        "labels": {**(given.get("labels") or {}), **labels},
        "annotations": given.get("annotations") or {},
        "ownerReferences": [controller_reference(owner)],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {name: value for name, value in metadata.items() if value},
        "spec": template["spec"],
        "status": {"phase": "Pending"},
    }


def controller_reference(owner: Document) -> Document:
    """Return the reference to an owner that controls an object."""
    return {
        "apiVersion": owner["apiVersion"],
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }


def write_status(document: Document, status: Document, client: Client) -> None:
    """Write parts of a status, if they differ from what the object has.

    :raises Refused: the object has changed meanwhile, or the request fails.
    """
    before = document.get("status") or {}
    if any(before.get(name) != value for name, value in status.items()):
        client.update({**document, "status": {**before, **status}}, status=True)
