"""The kubelets of all nodes: they start pods that have a node, and end those that are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from ..kubernetes.api_errors import NotFound
from ..kubernetes.api_server import DELETED, Document
from ..kubernetes.object_table import ObjectTable
from ..kubernetes.units import SECOND_US
from .component import Client
from .lister import Listed, Lister
from .workloads import phase_of

START, FINISH, END = "start", "finish", "end"

ENDS_AS = "plinian.dev/ends-as"
"""An annotation of pods whose containers end by themselves: ``Succeeded`` or ``Failed``."""


class KubeletState(NamedTuple):
    """All that the kubelets hold.

    :param pods: what the lister holds. :param ending: how long pods may still take, by key.
    :param done: what was done last with pods, by key: their uid, and ``start``, ``finish`` or
        ``end``.
    """

    pods: Listed
    ending: tuple[tuple[str, int], ...]
    done: tuple[tuple[str, tuple[str, str]], ...]


class Kubelets:
    """Start and end pods; a pod that is deleted takes all the time that it may take.

    Each pod is a separate step: ``start default/web-1``, ``end default/web-1``, and for those that
    end by themselves ``finish default/web-1``.

    Source: k8s.io/kubernetes/pkg/kubelet/kubelet.go SyncPod, SyncTerminatedPod;
    pkg/kubelet/status/status_manager.go syncPod.
    """

    kinds: tuple[str, ...] = ("Pod",)

    def __init__(self, objects: ObjectTable) -> None:
        self._pods = Lister(objects)
        self._ending: dict[str, int] = {}
        self._done: dict[str, tuple[str, str]] = {}

    def deliver(
        self,
        verb: str,
        kind: str,  # noqa: ARG002 -- there is only one
        key: str,
        document: Document,
        client: Client,  # noqa: ARG002 -- nothing is sent at once
    ) -> None:
        """Let an informer deliver a change of a pod; the time of one that is deleted begins."""
        metadata = document["metadata"]
        before = self._pods.get(key)
        if verb == DELETED or (before and before["metadata"]["uid"] != metadata["uid"]):
            self._ending.pop(key, None)
            self._done.pop(key, None)
        self._pods.deliver(verb, key, document)
        # An update that was sent before the end may arrive after it.
        over = self._done.get(key) == (metadata["uid"], END)
        if verb != DELETED and is_ending(document) and not over:
            seconds = int(metadata.get("deletionGracePeriodSeconds") or 0)
            # From the first update with a deletionTimestamp on; later ones do not begin it again.
            self._ending.setdefault(key, seconds * SECOND_US)

    def steps(self) -> Sequence[str]:
        """Return which pods can start, which can finish, and which end now."""
        starting = (
            f"{START} {key}"
            for key, pod in self._pods.items()
            if _can_start(pod) and self._done.get(key) != (pod["metadata"]["uid"], START)
        )
        finishing = (
            f"{FINISH} {key}"
            for key, pod in self._pods.items()
            if _can_finish(pod) and self._done.get(key) != (pod["metadata"]["uid"], FINISH)
        )
        ending = (f"{END} {key}" for key in sorted(self._ending) if not self._ending[key])
        return (*starting, *finishing, *ending)

    def step(self, name: str, client: Client) -> None:
        """Start a pod, let it finish, or let it be gone.

        :raises Refused: the request fails; the step can be done again.
        """
        act, _, key = name.partition(" ")
        pod = self._pods.get(key)
        assert pod is not None
        uid = pod["metadata"]["uid"]
        with suppress(NotFound):
            if act == START:
                status = {"phase": "Running", "conditions": ready_conditions(pod)}
                client.patch("Pod", key, {"status": status}, status=True)
            elif act == FINISH:
                status = {"phase": _end_of(pod), "conditions": ready_conditions(pod, "False")}
                client.patch("Pod", key, {"status": status}, status=True)
            else:
                client.delete("Pod", key, uid=uid, grace=0)
        # Until the informer delivers what was written, the lister still offers the step.
        self._done[key] = (uid, act)
        if act == END:
            del self._ending[key]

    def due(self) -> int | None:
        """Return in how many microseconds the first pod has to end; None if none has."""
        return min((left for left in self._ending.values() if left), default=None)

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""
        self._ending = {key: max(left - by, 0) for key, left in self._ending.items()}

    def kept(self) -> KubeletState:
        """Return all that the kubelets hold."""
        ending, done = sorted(self._ending.items()), sorted(self._done.items())
        return KubeletState(self._pods.kept(), tuple(ending), tuple(done))

    def restore(self, kept: KubeletState) -> None:
        """Hold what others held, and nothing else."""
        self._pods.restore(kept.pods)
        self._ending, self._done = dict(kept.ending), dict(kept.done)


def is_ending(pod: Document) -> bool:
    """Say whether a pod is being deleted that has a node."""
    return "deletionTimestamp" in pod["metadata"] and bool(pod["spec"].get("nodeName"))


def _can_start(pod: Document) -> bool:
    deleted = "deletionTimestamp" in pod["metadata"]
    return bool(pod["spec"].get("nodeName")) and phase_of(pod) == "Pending" and not deleted


def _end_of(pod: Document) -> str:
    return str((pod["metadata"].get("annotations") or {}).get(ENDS_AS) or "")


def _can_finish(pod: Document) -> bool:
    return bool(_end_of(pod)) and phase_of(pod) == "Running" and not is_ending(pod)


def ready_conditions(pod: Document, status: str = "True") -> list[Document]:
    """Return a pod's conditions, of which it is ready now, or no more."""
    given = (pod.get("status") or {}).get("conditions") or []
    others = [condition for condition in given if condition.get("type") != "Ready"]
    return [*others, {"type": "Ready", "status": status}]
