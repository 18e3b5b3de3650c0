"""Filter ``NodeVolumeLimits``: a node has a limit of volumes for each CSI driver.

Not counted are volumes that in-tree plugins hand over to CSI drivers, and those that a node still
has attached for no pod (VolumeAttachment): the log does not record them.

Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, of Kubernetes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from ....cache.informers import Objects
from ....kubernetes.objects import PersistentVolumeClaim, Pod
from ....model.session_tables import Ints
from ...kube.claims import claim_class, mounted_claims, no_claim, not_for_pod
from ...kube.node_columns import Amounts, NodeColumns
from ...reasons.objections import NodeCode, Objection, around
from ...reasons.statuses import Reasons, StatusCode

TOO_MANY = Objection("node(s) exceed max volume count", NodeCode.TOO_MANY_VOLUMES)

_UNLIMITED = 2**62
_IN_TREE = "kubernetes.io/"

Attached = dict[str, str]
"""Driver by volume."""


class _Unattachable(Exception):
    """A claim keeps a pod from every node."""

    def __init__(self, code: StatusCode, objection: Objection) -> None:
        super().__init__(objection.message)
        self.code = code
        self.objection = objection


class VolumeLimits:
    """Counts the volumes on nodes, with their pods.

    :param unclaimed: the verdict for a missing claim: a reason, or an error.
    """

    def __init__(
        self, columns: NodeColumns, objects: Objects, reasons: Reasons, unclaimed: StatusCode
    ) -> None:
        self._columns = columns
        self._objects = objects
        self._reasons = reasons
        self._unclaimed = unclaimed
        self._too_many = reasons.intern(StatusCode.UNSCHEDULABLE, TOO_MANY)
        self._uses: dict[str, Counter[int]] = {}
        """By volume: how many pods of which node use it."""
        self._attached: dict[str, Amounts] = {}
        """By driver: how many volumes each node has."""
        self._limits: dict[str, Amounts] = {}

    def add(self, pod: Pod, node: int) -> None:
        """Note that a pod is on a node."""
        for volume, driver in self._volumes(pod, new=False).items():
            uses = self._uses.setdefault(volume, Counter())
            if not uses[node]:
                self._on_nodes(driver)[node] += 1
            uses[node] += 1

    def remove(self, pod: Pod, node: int) -> None:
        """Note that a pod has gone from a node."""
        for volume, driver in self._volumes(pod, new=False).items():
            uses = self._uses.get(volume, Counter())
            if uses[node]:
                uses[node] -= 1
                if not uses[node]:
                    self._on_nodes(driver)[node] -= 1

    def filter(self, pod: Pod) -> Ints:
        """Return a verdict for each node."""
        size = len(self._columns)
        try:
            wanted = self._volumes(pod, new=True)
        except _Unattachable as fault:
            return np.full(size, self._reasons.intern(fault.code, fault.objection), dtype=np.int32)
        full = np.zeros(size, dtype=np.bool_)
        for driver in dict.fromkeys(wanted.values()):
            more = np.zeros(size, dtype=np.int64)
            for volume, its_driver in wanted.items():
                if its_driver == driver:
                    more += 1
                    # Where another pod uses the volume it is attached already.
                    more[[node for node, uses in self._users(volume).items() if uses]] -= 1
            full |= (more > 0) & (self._on_nodes(driver) + more > self._limit(driver))
        return np.where(full, self._too_many, 0).astype(np.int32)

    def _users(self, volume: str) -> Mapping[int, int]:
        return self._uses.get(volume, {})

    def _on_nodes(self, driver: str) -> Amounts:
        known = self._attached.get(driver)
        if known is None:
            known = self._attached[driver] = np.zeros(len(self._columns), dtype=np.int64)
        return known

    def _limit(self, driver: str) -> Amounts:
        known = self._limits.get(driver)
        if known is None:
            limits = [self._limit_of(name, driver) for name in self._columns.names]
            known = self._limits[driver] = np.array(limits, dtype=np.int64)
        return known

    def _limit_of(self, node: str, driver: str) -> int:
        csi_node = self._objects.csi_nodes.get(node)
        for entry in csi_node.spec.drivers if csi_node is not None else ():
            if entry.name == driver and entry.allocatable is not None:
                return _UNLIMITED if entry.allocatable.count is None else entry.allocatable.count
        return _UNLIMITED

    def _volumes(self, pod: Pod, *, new: bool) -> Attached:
        """Return the volumes of a pod; claims that are missing matter for a new pod only.

        :raises _Unattachable: a claim keeps the pod from every node.

        Source: ``filterAttachableVolumes``.
        """
        attached: Attached = {}
        for mounted in mounted_claims(pod):
            if not mounted.name:
                if new:
                    unnamed = Objection("PersistentVolumeClaim had no name")
                    raise _Unattachable(StatusCode.ERROR, unnamed)
                continue
            key = f"{pod.namespace}/{mounted.name}"
            claim = self._objects.persistent_volume_claims.get(key)
            if claim is None:
                if new:
                    plain = Objection(no_claim(mounted.name))
                    said = around(f"looking up PVC {key}: {plain.message}", plain)
                    raise _Unattachable(self._unclaimed, said)
                continue
            error = not_for_pod(claim, pod) if mounted.own else None
            if error is not None:
                if new:
                    raise _Unattachable(StatusCode.ERROR, Objection(error))
                continue
            driver, handle = self._driver(claim)
            if driver and handle:
                attached[f"{driver}/{handle}"] = driver
        return attached

    def _driver(self, claim: PersistentVolumeClaim) -> tuple[str, str]:
        """Return the driver of a claim's volume and the volume's name there; both may be empty.

        Source: ``getCSIDriverInfo``, ``getCSIDriverInfoFromSC``.
        """
        objects = self._objects
        volume = objects.persistent_volumes.get(claim.spec.volume_name)
        if claim.spec.volume_name and volume is not None:
            csi = volume.spec.csi
            return ("", "") if csi is None else (csi.driver, csi.volume_handle)
        storage_class = objects.storage_classes.get(claim_class(claim))
        if storage_class is None or storage_class.provisioner.startswith(_IN_TREE):
            return "", ""
        # There is no volume yet: the claim stands for it, under a name that no volume has.
        return storage_class.provisioner, f"\0{claim.key}"
