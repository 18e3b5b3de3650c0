"""Filter ``VolumeZone``: a node must be in a zone and region of the volumes that a pod claims.

Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go, of Kubernetes.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from ....kubernetes.objects import PersistentVolume, Pod
from ....model.session_tables import Ints
from ...kube.claims import WAIT_FOR_FIRST_CONSUMER, claim_class, no_claim, no_class
from ...kube.node_columns import Mask, NodeColumns
from ...reasons.objections import NodeCode, Objection
from ...reasons.statuses import StatusCode

if TYPE_CHECKING:
    from ...framework.session import Session

NO_ZONE = Objection("node(s) had no available volume zone", NodeCode.VOLUME_ZONE)

_SUCCESSORS = MappingProxyType(
    {
        "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region": "topology.kubernetes.io/region",
    }
)
"""Labels for a volume's zone or region, and the new name of each."""


class _Placed(msgspec.Struct, frozen=True):
    """Where a volume is."""

    key: str
    values: tuple[str, ...]


class VolumeZone:
    """Compares labels of volumes with those of nodes."""

    def __init__(self, ssn: Session, columns: NodeColumns) -> None:
        self._columns = columns
        self._objects = ssn.objects
        self._reasons = ssn.reasons
        self._behaviours = ssn.behaviours

    def pre_filter(self, pod: Pod) -> str | None:
        """Return why a pod fits no node, or ``None``."""
        places = self._places(pod)
        return places if isinstance(places, str) else None

    def filter(self, pod: Pod) -> Ints:
        """Return a verdict for each node."""
        places = self._places(pod)
        somewhere = np.zeros(len(self._columns), dtype=np.bool_)
        for key in _SUCCESSORS:
            somewhere |= self._columns.has(key)
        if isinstance(places, str):
            asked = somewhere | self._behaviours.volume_zone_checks_unlabelled_nodes
            return np.where(asked, self._verdict(Objection(places)), 0).astype(np.int32)
        outside = np.zeros(len(self._columns), dtype=np.bool_)
        for place in places:
            outside |= ~self._within(place)
        # A node with none of these labels is in no zone, and takes every volume.
        return np.where(outside & somewhere, self._verdict(NO_ZONE), 0).astype(np.int32)

    def _verdict(self, objection: Objection) -> int:
        return self._reasons.intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, objection)

    def _within(self, place: _Placed) -> Mask:
        columns, successor = self._columns, _SUCCESSORS[place.key]
        within = columns.has_one_of(place.key, place.values)
        if successor == place.key or not self._behaviours.beta_zone_labels_translated:
            return within
        return np.where(columns.has(place.key), within, columns.has_one_of(successor, place.values))

    def _places(self, pod: Pod) -> list[_Placed] | str:
        """Return where the pod's volumes are, or why it fits no node."""
        places: list[_Placed] = []
        for volume in pod.spec.volumes:
            if volume.persistent_volume_claim is None:
                continue
            bound = self._bound(pod.namespace, volume.persistent_volume_claim.claim_name)
            if isinstance(bound, str):
                return bound
            if bound is not None:
                places += _places_of(bound)
        return places

    def _bound(self, namespace: str, name: str) -> PersistentVolume | str | None:
        """Return the volume of a claim, ``None`` if it will be bound with the pod, or an error."""
        if not name:
            return "PersistentVolumeClaim had no name"
        objects = self._objects
        claim = objects.persistent_volume_claims.get(f"{namespace}/{name}")
        if claim is None:
            return no_claim(name)
        if claim.spec.volume_name:
            volume = objects.persistent_volumes.get(claim.spec.volume_name)
            return volume or f'persistentvolume "{claim.spec.volume_name}" not found'
        named = claim_class(claim)
        if not named:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        storage_class = objects.storage_classes.get(named)
        if storage_class is None:
            return no_class(named)
        if storage_class.volume_binding_mode is None:
            return f'VolumeBindingMode not set for StorageClass "{named}"'
        if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
            return None
        return "PersistentVolume had no name"


def _places_of(volume: PersistentVolume) -> list[_Placed]:
    places = []
    for key in _SUCCESSORS:
        if key in volume.labels:
            values = tuple(value.strip() for value in volume.labels[key].split("__"))
            if all(values):
                places.append(_Placed(key, values))
    return places
