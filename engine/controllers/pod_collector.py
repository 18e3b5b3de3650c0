"""Kubernetes' collector of pods whose node is gone."""

from __future__ import annotations

from collections.abc import Sequence

from ..kubernetes.api_errors import NotFound
from ..kubernetes.api_server import DELETED, Document
from ..kubernetes.units import SECOND_US
from .component import Client

WAITS_US = 40 * SECOND_US
"""How long a node must be gone. The real collector also looks only every 20 seconds.

Source: k8s.io/kubernetes/pkg/controller/podgc/gc_controller.go quarantineTime.
"""


class PodCollector:
    """Deletes the pods of nodes that are gone.

    Source: k8s.io/kubernetes/pkg/controller/podgc/gc_controller.go gcOrphaned.
    """

    kinds: tuple[str, ...] = ("Node", "Pod")

    def __init__(self) -> None:
        self._pods: dict[str, tuple[str, str]] = {}
        """By key, the uid and the node."""
        self._gone: dict[str, int] = {}
        """Nodes that are gone, and how long they are still waited for."""
        self._nodes: set[str] = set()

    def deliver(
        self,
        verb: str,
        kind: str,
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- nothing is sent at once
    ) -> None:
        """Let an informer deliver a change of a node or a pod."""
        if kind == "Node":
            self._node(key, gone=verb == DELETED)
            return
        node = document["spec"].get("nodeName") or ""
        if verb == DELETED or not node:
            self._pods.pop(key, None)
            return
        self._pods[key] = document["metadata"]["uid"], node
        if node not in self._nodes:
            # A node that was never seen counts as gone as well, after the same wait.
            self._gone.setdefault(node, WAITS_US)

    def _node(self, name: str, *, gone: bool) -> None:
        if gone:
            self._nodes.discard(name)
            self._gone.setdefault(name, WAITS_US)
        else:
            self._nodes.add(name)
            self._gone.pop(name, None)

    def steps(self) -> Sequence[str]:
        """Return which pods are to be deleted now."""
        over = {node for node, left in self._gone.items() if not left}
        if not over:
            return ()
        return [key for key, (_, node) in sorted(self._pods.items()) if node in over]

    def step(self, name: str, client: Client) -> None:
        """Delete a pod at once."""
        uid, _ = self._pods.pop(name)
        try:
            # No kubelet is left that could report the pod's end.
            client.delete("Pod", name, uid=uid, grace=0)
        except NotFound:
            return

    def due(self) -> int | None:
        """Return in how many microseconds a node was gone for long enough; None if none is gone."""
        return min((left for left in self._gone.values() if left), default=None)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self._gone = {node: max(left - by, 0) for node, left in self._gone.items()}
