"""The ReplicaSet controller: it creates pods, and deletes surplus ones."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kubernetes.api_errors import NotFound, Refused
from ..kubernetes.api_server import ADDED, DELETED, Document, place_of
from ..kubernetes.object_table import ObjectTable
from .component import Client
from .workloads import WorkloadController, is_active, is_ready, phase_of, pod_of, write_status

_PHASES = ("Pending", "Unknown", "Running")
"""From the phase of pods that are deleted first to that of pods that are deleted last."""


class Expected(NamedTuple):
    """What a ReplicaSet's pods are still to be seen doing.

    :param creations: how many are to be seen created. :param deletions: which pods, ending.
    """

    creations: int = 0
    deletions: frozenset[str] = frozenset()


class ReplicaSetController(WorkloadController):
    """Creates pods up to the number that a ReplicaSet wants, and deletes those above it.

    It waits until its informer has delivered all that it did before it counts pods again. Pods are
    named by the number of creations, as in ``web-1``, where Kubernetes picks names at random.

    Source: k8s.io/kubernetes/pkg/controller/replicaset/replica_set.go.
    """

    own, of = "ReplicaSet", "Pod"

    def __init__(self, objects: ObjectTable) -> None:
        super().__init__(objects)
        self._expected: dict[str, Expected] = {}
        self._created: dict[str, int] = {}
        """By key, of all ReplicaSets that had it."""

    def _sync(self, document: Document, client: Client) -> None:
        key = place_of(document).key
        pods = self._owned_by(document)
        active = [pod for pod in pods if is_active(pod)]
        surplus = len(active) - document["spec"].get("replicas", 1)
        # While something is expected the pods are not counted; the status is still written.
        if "deletionTimestamp" not in document["metadata"] and key not in self._expected:
            if surplus > 0:
                self._delete(key, sorted(active, key=_worth)[:surplus], client)
            else:
                self._create(key, document, -surplus, client)
        ready = sum(map(is_ready, active))
        status = {"replicas": len(active), "readyReplicas": ready, "availableReplicas": ready}
        write_status(document, status, client)

    def _create(self, key: str, document: Document, number: int, client: Client) -> None:
        if number:
            self._expected[key] = Expected(creations=number)
        for done in range(number):
            try:
                self._create_one(key, document, client)
            except Refused:
                # This one and those behind it were not created: nothing will report them.
                self._expect_no_more(key, number - done)
                raise

    def _create_one(self, key: str, document: Document, client: Client) -> None:
        """Create a pod of the next name.

        :raises Refused: the request fails; if there is such a pod, the next name is tried later.
        """
        number = self._created[key] = self._created.get(key, 0) + 1
        client.create(pod_of(document, f"{document['metadata']['name']}-{number}", {}))

    def _expect_no_more(self, key: str, number: int) -> None:
        """Take back what was expected of creations that did not come about."""
        for _ in range(number):
            self._observe_one(key, ADDED, "")

    def _delete(self, key: str, pods: list[Document], client: Client) -> None:
        keys = [place_of(pod).key for pod in pods]
        self._expected[key] = Expected(deletions=frozenset(keys))
        for number, pod in enumerate(pods):
            try:
                client.delete("Pod", keys[number], uid=pod["metadata"]["uid"])
            except NotFound:
                # It is gone: its deletion may have been delivered before it was expected.
                self._observe_one(key, DELETED, keys[number])
            except Refused:
                for left in keys[number:]:
                    self._observe_one(key, DELETED, left)
                raise

    def _observe(self, owner: str, verb: str, key: str, document: Document) -> None:
        """Note that a pod was seen created, or ending."""
        if verb == DELETED or "deletionTimestamp" in document["metadata"]:
            self._observe_one(owner, DELETED, key)
        elif verb == ADDED:
            self._observe_one(owner, ADDED, key)

    def _observe_one(self, owner: str, verb: str, key: str) -> None:
        expected = self._expected.get(owner)
        if expected is None:
            return
        if verb == ADDED:
            expected = expected._replace(creations=max(expected.creations - 1, 0))
        else:
            expected = expected._replace(deletions=expected.deletions - {key})
        if expected == Expected():
            del self._expected[owner]
        else:
            self._expected[owner] = expected

    def _forget(self, key: str) -> None:
        self._expected.pop(key, None)

    def _more(self) -> tuple[tuple[Any, ...], ...]:
        expected = (
            (key, pending.creations, tuple(sorted(pending.deletions)))
            for key, pending in sorted(self._expected.items())
        )
        return tuple(expected), tuple(sorted(self._created.items()))

    def _restore_more(self, more: Any) -> None:
        expected, created = more
        self._expected = {
            key: Expected(creations, frozenset(deletions)) for key, creations, deletions in expected
        }
        self._created = dict(created)


def _worth(pod: Document) -> tuple[bool, int, list[int]]:
    """Return how late a pod is to be deleted: pods without a node first, and younger ones.

    Source: k8s.io/kubernetes/pkg/controller/controller_utils.go ActivePodsWithRanks.
    """
    phase = phase_of(pod)
    younger_first = [-ord(letter) for letter in pod["metadata"]["creationTimestamp"]]
    return "nodeName" in pod["spec"], _PHASES.index(phase), younger_first
