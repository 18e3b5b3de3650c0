"""Volcano's PodGroup controller: it gives pods a PodGroup that have none.

Source: pkg/controllers/podgroup/pg_controller.go, pg_controller_handler.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from ..kubernetes import work_queue
from ..kubernetes.api_errors import AlreadyExists, Refused
from ..kubernetes.api_server import DELETED, Document, place_of
from ..kubernetes.object_table import ObjectTable
from ..kubernetes.work_queue import WorkQueue
from ..volcano.controllers.podgroup import PodGroupBehaviours
from .component import Client
from .lister import Listed, Lister
from .podgroup_content import GROUP_NAME, PREFIX, group_name, group_of, named_group, sent
from .pointer_requests import next_due

ADDED = "ADDED"
WORK = "podgroup"
"""The only step: a worker takes the first pod."""

STRATEGIC_MERGE = "application/strategic-merge-patch+json"
_REVISION = "controller-revision-hash"
_WORKLOADS = ("ReplicaSet", "StatefulSet")


class PodGroupControllerState(NamedTuple):
    """All that the controller holds.

    :param pods, groups: what the listers hold. :param queue: pods that wait for a worker.
    """

    pods: Listed
    groups: Listed
    queue: work_queue.WorkQueueState[str]


class PodGroupController:
    """Makes PodGroups of pods from a queue; those of ReplicaSets and StatefulSets also at once.

    Of the queue's limits only those of each item are kept: that not more than 100 items may fail
    within 10 seconds plays no part.

    :param schedulers: pods of other schedulers are ignored (``--scheduler-name``).
    """

    def __init__(
        self,
        behaviours: PodGroupBehaviours,
        objects: ObjectTable,
        schedulers: Sequence[str] = ("volcano",),
    ) -> None:
        self._behaviours = behaviours
        self._schedulers = frozenset(schedulers)
        self._pods = Lister(objects)
        self._groups = Lister(objects)
        self._queue = WorkQueue[str]()
        followed = _WORKLOADS if behaviours.statefulsets_have_podgroups else _WORKLOADS[:1]
        self.kinds: tuple[str, ...] = ("Pod", "PodGroup", *followed)

    def deliver(self, verb: str, kind: str, key: str, document: Document, client: Client) -> None:
        """Let an informer deliver a change: new pods are queued, changed workloads handled now."""
        if kind == "Pod":
            self._pods.deliver(verb, key, document)
            if verb == ADDED:
                # Only AddFunc is registered: no later change of a pod is looked at.
                self._queue.add(key)
        elif kind == "PodGroup":
            self._groups.deliver(verb, key, document)
        elif kind in self.kinds and verb != DELETED:
            # addReplicaSet and addStatefulSet only log errors: the next change tries again.
            with suppress(Refused):
                self._follow(document, client)

    def steps(self) -> Sequence[str]:
        """Return whether a worker has something to do."""
        return (WORK,) if len(self._queue) else ()

    def step(self, name: str, client: Client) -> None:
        """Let a worker take the first pod, and give it a PodGroup if it has none.

        A pod is forgotten only when that succeeds: one that is gone by then, or has a PodGroup
        from elsewhere, keeps the number of its failures.

        Source: pkg/controllers/podgroup/pg_controller.go processNextReq.
        """
        assert name == WORK
        key = self._queue.take()
        pod = self._pods.get(key)
        if pod is not None and self._is_ours(pod) and not named_group(pod):
            try:
                self._provide(pod, client)
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

    @property
    def queue(self) -> WorkQueue[str]:
        """The queue of pods, to be looked at."""
        return self._queue

    def kept(self) -> PodGroupControllerState:
        """Return all that the controller holds."""
        return PodGroupControllerState(self._pods.kept(), self._groups.kept(), self._queue.kept())

    def restore(self, kept: PodGroupControllerState) -> None:
        """Hold what another controller held, and nothing else."""
        self._pods.restore(kept.pods)
        self._groups.restore(kept.groups)
        self._queue.restore(kept.queue)

    def _is_ours(self, pod: Document) -> bool:
        return pod["spec"].get("schedulerName") in self._schedulers

    def _follow(self, workload: Document, client: Client) -> None:
        """Delete the PodGroup of a workload without replicas; restore that of one with some.

        Source: pkg/controllers/podgroup/pg_controller_handler.go addReplicaSet, addStatefulSet.

        :raises Refused: a request fails; nothing is tried again.
        """
        if not workload["spec"].get("replicas", 1):
            self._delete(workload, client)
            return
        pod = self._pod_of(workload, client)
        if pod is None or not self._is_ours(pod):
            return
        own = self._behaviours
        stateful = workload["kind"] == "StatefulSet"
        skips = (
            own.statefulsets_skip_annotated_pods
            if stateful
            else own.replicasets_skip_annotated_pods
        )
        updates = (
            own.statefulsets_update_podgroups if stateful else own.replicasets_update_podgroups
        )
        named = named_group(pod)
        restores = own.named_podgroups_restored and named == group_name(pod)
        if restores or not (skips and named):
            self._provide(pod, client, updates=updates and not restores)

    def _pod_of(self, workload: Document, client: Client) -> Document | None:
        """Return the first pod with a workload's labels: a StatefulSet's in any namespace."""
        labels = workload["spec"]["selector"].get("matchLabels") or {}
        if workload["kind"] == "StatefulSet":
            if self._behaviours.statefulset_pods_by_revision:
                revision = (workload.get("status") or {}).get("updateRevision") or ""
                # Empty until the StatefulSet's status is written: until then no pod matches.
                labels = {**labels, _REVISION: revision}
            return next(iter(self._pods.list(selector=labels)), None)
        if not self._behaviours.replicasets_restore_podgroups:
            return None
        namespace = place_of(workload).key.partition("/")[0]
        # From the API server (`Items[0]`), where a StatefulSet's pod comes from the lister.
        return next(iter(client.list("Pod", namespace, labels)), None)

    def _delete(self, workload: Document, client: Client) -> None:
        namespace = place_of(workload).key.partition("/")[0]
        key = f"{namespace}/{PREFIX}{workload['metadata']['uid']}"
        if not self._behaviours.podgroup_deletions_checked:
            client.delete("PodGroup", key)
        elif (seen := self._groups.get(key)) is not None:
            # A PodGroup that no informer has delivered has no version to check: it stays.
            metadata = seen["metadata"]
            client.delete("PodGroup", key, uid=metadata["uid"], version=metadata["resourceVersion"])

    def _provide(self, pod: Document, client: Client, *, updates: bool = False) -> None:
        """Create the PodGroup of a pod if none is known, or update it, and let the pod name it.

        Source: pkg/controllers/podgroup/pg_controller_handler.go createNormalPodPGIfNotExist,
        createOrUpdateNormalPodPG, updatePodAnnotations.

        :raises Refused: a request fails.
        """
        key = place_of(pod).key
        name = group_name(pod)
        known = self._known(f"{key.partition('/')[0]}/{name}", client)
        if known is None:
            # The lister is behind, or another pod of the same owner was first: the pod joins it.
            with suppress(AlreadyExists):
                client.create(sent(group_of(pod, self._behaviours, client)))
        elif updates:
            self._update(known, group_of(pod, self._behaviours, client), client)
        # Last: a worker drops a pod that names its PodGroup, so that one has to exist by then. A
        # pod that names another one keeps it, and this PodGroup stays empty.
        if not named_group(pod):
            part = {"metadata": {"annotations": {GROUP_NAME: name}}}
            if self._behaviours.pods_annotated_by_uid:
                part["metadata"]["uid"] = pod["metadata"]["uid"]
            client.patch("Pod", key, part, how=STRATEGIC_MERGE)

    def _known(self, key: str, client: Client) -> Document | None:
        """Return a PodGroup as the lister has it, or as the API server does."""
        if self._behaviours.named_podgroups_restored:
            return client.find("PodGroup", key)
        return self._groups.get(key)

    def _update(self, known: Document, wanted: Document, client: Client) -> None:
        """Update a PodGroup to what it would be made with now, if that differs.

        In Go an empty map is not equal to none. So a PodGroup without labels or annotations, as an
        API server delivers it, is always updated, though that changes nothing.

        Source: pkg/controllers/podgroup/pg_controller_handler.go shouldUpdateExistingPodGroup.
        """
        own = {name: wanted["metadata"][name] for name in ("labels", "annotations")}
        same = all(value == known["metadata"].get(name) for name, value in own.items())
        if not same or wanted["spec"] != known["spec"]:
            metadata = {**known["metadata"], **own}
            client.update(sent({**known, "metadata": metadata, "spec": wanted["spec"]}))
