"""Another scheduler beside Volcano, as a component of a machine: it fills the same nodes.

It has separate informers, so until they deliver, it takes a node for free that is full in truth.
Which node it takes of those that fit is not modelled: each of them is a separate step. Nodes fit by
the requests of pods, labels of ``nodeSelector``, taints, and ``unschedulable``; affinity, volumes
and the other plugins of kube-scheduler are not looked at.

Source: k8s.io/kubernetes/pkg/scheduler/schedule_one.go, framework/plugins/noderesources/fit.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..controllers.component import Client
from ..controllers.lister import Listed, Lister
from ..kubernetes.api_errors import Refused
from ..kubernetes.api_server import DELETED, ENDED, Document, selects
from ..kubernetes.object_table import ObjectTable
from ..kubernetes.objects import Node, Pod, decode
from ..kubernetes.pod_quota import asked
from ..kubernetes.quantity_lists import ONE, Amount, Amounts, add, amounts
from ..session.kube.tolerations import untolerated

DEFAULT_SCHEDULER = "default-scheduler"
"""The scheduler of pods that name none."""

BINDS, TO = "binds ", " to "
_PODS = "pods"
_NONE = Amount(0)


class OtherSchedulerState(NamedTuple):
    """All that the scheduler holds.

    :param assumed: pods that it has bound, and has not seen bound yet: key, uid and node.
    """

    nodes: Listed
    pods: Listed
    assumed: tuple[tuple[str, str, str], ...]


class OtherScheduler:
    """Binds the pods that name another scheduler than Volcano, each to any node that it fits.

    Steps are named as in ``binds default/a to n1``.

    :param volcano: names of schedulers whose pods are left alone.
    """

    kinds: tuple[str, ...] = ("Node", "Pod")

    def __init__(self, volcano: Sequence[str], objects: ObjectTable) -> None:
        self._volcano = volcano
        self._nodes = Lister(objects)
        self._pods = Lister(objects)
        self._assumed: dict[str, tuple[str, str]] = {}

    def deliver(
        self,
        verb: str,
        kind: str,
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- handlers send nothing
    ) -> None:
        """Let an informer deliver a change; a pod that is seen bound need not be assumed."""
        if kind == "Node":
            self._nodes.deliver(verb, key, document)
            return
        self._pods.deliver(verb, key, document)
        uid, _ = self._assumed.get(key, ("", ""))
        # A pod of another uid replaced the one that was bound.
        if uid and (verb == DELETED or node_of(document) or uid != document["metadata"]["uid"]):
            del self._assumed[key]

    def steps(self) -> Sequence[str]:
        """Return which pods could be bound, and to which nodes."""
        return [
            f"{BINDS}{key}{TO}{node}"
            for key, pod in self._pods.items()
            if self._is_waiting(key, pod)
            for node, document in self._nodes.items()
            if self._fits(pod, node, document)
        ]

    def step(self, name: str, client: Client) -> None:
        """Bind a pod; one that is refused waits as before."""
        key, _, node = name.removeprefix(BINDS).partition(TO)
        pod = self._pods.get(key)
        assert pod is not None
        uid = pod["metadata"]["uid"]
        with suppress(Refused):
            client.bind(key, node, uid=uid)
            self._assumed[key] = uid, node

    def due(self) -> int | None:
        """Return None: it waits for no time."""

    def advance(self, by: int) -> None:
        """Let time pass."""

    def kept(self) -> OtherSchedulerState:
        """Return all that the scheduler holds."""
        assumed = tuple((key, *pod) for key, pod in sorted(self._assumed.items()))
        return OtherSchedulerState(self._nodes.kept(), self._pods.kept(), assumed)

    def restore(self, kept: OtherSchedulerState) -> None:
        """Hold what another one held, and nothing else."""
        self._nodes.restore(kept.nodes)
        self._pods.restore(kept.pods)
        self._assumed = {key: (uid, node) for key, uid, node in kept.assumed}

    def _is_waiting(self, key: str, pod: Document) -> bool:
        if node_of(pod) or key in self._assumed or "deletionTimestamp" in pod["metadata"]:
            return False
        return scheduler_of(pod) not in self._volcano

    def _fits(self, pod: Document, name: str, document: Document) -> bool:
        spec = document.get("spec") or {}
        if spec.get("unschedulable") or not selects(
            pod["spec"].get("nodeSelector") or {}, document
        ):
            return False
        node, tolerating = decode(Node, document), decode(Pod, pod).spec.tolerations
        if untolerated(node.spec.taints, tolerating) is not None:
            return False
        wanted = request_of(pod)
        used: Amounts = {**wanted}
        for other in self._on(name):
            add(used, request_of(other))
        all_of_it = amounts((document.get("status") or {}).get("allocatable"))
        return all(
            used[resource].billionths <= all_of_it.get(resource, _NONE).billionths
            for resource in wanted
        )

    def _on(self, node: str) -> Iterator[Document]:
        """Yield the pods on a node as this scheduler knows them."""
        for key, pod in self._pods.items():
            _, assumed = self._assumed.get(key, ("", ""))
            ended = (pod.get("status") or {}).get("phase") in ENDED
            if (node_of(pod) or assumed) == node and not ended:
                yield pod


def scheduler_of(pod: Document) -> str:
    """Return the name of the scheduler that a pod waits for."""
    return str(pod["spec"].get("schedulerName") or DEFAULT_SCHEDULER)


def node_of(pod: Document) -> str:
    """Return the node of a pod; empty if it has none."""
    return str(pod["spec"].get("nodeName") or "")


def request_of(pod: Document) -> Amounts:
    """Return what a pod takes of a node: its requests, and one place."""
    return {**asked(pod, "requests"), _PODS: ONE}
