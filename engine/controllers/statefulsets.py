"""The StatefulSet controller: pods of fixed names, one after another."""

from __future__ import annotations

from ..kubernetes.api_server import ENDED, Document, place_of
from .component import Client
from .workloads import (
    WorkloadController,
    is_active,
    is_ready,
    phase_of,
    pod_of,
    template_hash,
    write_status,
)

REVISION = "controller-revision-hash"
"""The label of pods that says of which template they are."""

_NAME = "statefulset.kubernetes.io/pod-name"
_INDEX = "apps.kubernetes.io/pod-index"


class StatefulSetController(WorkloadController):
    """Creates, replaces and deletes the pods of a StatefulSet in order, one at a time.

    A pod is created only when all before it run, and one that is being deleted must be gone first.
    A pod that does not run holds up everything, even if its template was changed meanwhile. One
    that is missing is created from the newest template. Volumes, partitions and
    ``podManagementPolicy: Parallel`` play no part.

    Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_control.go
    updateStatefulSet.
    """

    own, of = "StatefulSet", "Pod"

    def _sync(self, document: Document, client: Client) -> None:
        name = document["metadata"]["name"]
        revision = f"{name}-{template_hash(document['spec']['template'])}"
        pods = {
            int(pod["metadata"]["name"].rpartition("-")[2]): pod for pod in self._owned_by(document)
        }
        if "deletionTimestamp" not in document["metadata"]:
            self._act(document, pods, revision, client)
        active = [pod for pod in pods.values() if phase_of(pod) not in ENDED]
        status = {
            "replicas": len(active),
            "readyReplicas": sum(map(is_ready, active)),
            "updateRevision": revision,
        }
        write_status(document, status, client)

    def _act(
        self, document: Document, pods: dict[int, Document], revision: str, client: Client
    ) -> None:
        """Do the one thing that is next, if anything is."""
        wanted = range(document["spec"].get("replicas", 1))
        for number in wanted:
            pod = pods.get(number)
            if pod is None:
                client.create(_pod_of(document, number, revision))
                return
            if phase_of(pod) in ENDED and "deletionTimestamp" not in pod["metadata"]:
                _delete(pod, client)
                return
            # Pods behind it wait until it runs: one at a time (OrderedReady).
            if not is_ready(pod):
                return
        surplus = max((number for number in pods if number not in wanted), default=None)
        if surplus is not None:
            # Else it is ending already: the next lower one goes when it is gone.
            if is_active(pods[surplus]):
                _delete(pods[surplus], client)
            return
        old = [pods[number] for number in wanted if _revision(pods[number]) != revision]
        if old:
            # From the highest number down, as updateStatefulSet does.
            _delete(old[-1], client)


def _revision(pod: Document) -> str:
    return str((pod["metadata"].get("labels") or {}).get(REVISION) or "")


def _delete(pod: Document, client: Client) -> None:
    client.delete("Pod", place_of(pod).key, uid=pod["metadata"]["uid"])


def _pod_of(document: Document, number: int, revision: str) -> Document:
    """Return the pod of a number.

    Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go newStatefulSetPod.
    """
    name = f"{document['metadata']['name']}-{number}"
    return pod_of(document, name, {REVISION: revision, _NAME: name, _INDEX: str(number)})
