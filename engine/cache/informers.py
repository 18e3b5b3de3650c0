"""The informers' stores: the last delivered version of every object, by kind and key.

Source: k8s.io/client-go/tools/cache: shared_informer.go HandleDeltas, store.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..kubernetes import objects
from ..kubernetes.objects import KINDS, Object

_FIELDS = MappingProxyType(
    {
        "Namespace": "namespaces",
        "Service": "services",
        "ReplicationController": "replication_controllers",
        "ReplicaSet": "replica_sets",
        "StatefulSet": "stateful_sets",
        "PodDisruptionBudget": "pod_disruption_budgets",
        "PersistentVolume": "persistent_volumes",
        "PersistentVolumeClaim": "persistent_volume_claims",
        "StorageClass": "storage_classes",
        "CSINode": "csi_nodes",
        "ResourceClaim": "resource_claims",
        "DeviceClass": "device_classes",
        "ResourceSlice": "resource_slices",
    }
)


class Objects(NamedTuple):
    """The other objects that sessions look up: by ``namespace/name`` or name.

    Keys are in ascending order; a lister of client-go returns them in any order.
    """

    namespaces: Mapping[str, objects.Namespace]
    services: Mapping[str, objects.Service]
    replication_controllers: Mapping[str, objects.ReplicationController]
    replica_sets: Mapping[str, objects.ReplicaSet]
    stateful_sets: Mapping[str, objects.StatefulSet]
    pod_disruption_budgets: Mapping[str, objects.PodDisruptionBudget]
    persistent_volumes: Mapping[str, objects.PersistentVolume]
    persistent_volume_claims: Mapping[str, objects.PersistentVolumeClaim]
    storage_classes: Mapping[str, objects.StorageClass]
    csi_nodes: Mapping[str, objects.CSINode]
    resource_claims: Mapping[str, objects.ResourceClaim]
    device_classes: Mapping[str, objects.DeviceClass]
    resource_slices: Mapping[str, objects.ResourceSlice]


class Undecoded(NamedTuple):
    """An object whose last version informers could not decode.

    :param fault: the field, its value, and what the value is not.
    :param within: of a pod, ``namespace/name`` of its PodGroup; of a PodGroup, its queue; empty if
        it names none.
    """

    namespace: str
    name: str
    uid: str
    fault: str
    within: str = ""


class Stores:
    """One store for each kind in :data:`.objects.KINDS`.

    :ivar undecoded: by kind and key, the objects whose last version could not be decoded; a store
        has the version before it, if there was one.
    """

    def __init__(self) -> None:
        self._stores: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        self.undecoded: dict[tuple[str, str], Undecoded] = {}
        self._frozen: dict[str, Mapping[str, Any]] = {}

    def of(self, kind: str) -> Mapping[str, Any]:
        """Return the store of a kind; later deliveries change it."""
        return self._stores[kind]

    def get(self, kind: str, key: str) -> Any:
        """Return the object of that key, or None."""
        return self._stores[kind].get(key)

    def has_undecoded(self, kind: str) -> bool:
        """Return whether the last version of any object of a kind could not be decoded."""
        return any(of == kind for of, _ in self.undecoded)

    def items(self) -> Iterator[Object]:
        """Yield all objects of all kinds."""
        for store in self._stores.values():
            yield from store.values()

    def put(self, kind: str, item: Object) -> Any:
        """Store a version; return the one before it, or None."""
        store, key = self._stores[kind], item.key
        before = store.get(key)
        store[key] = item
        self._frozen.pop(kind, None)
        return before

    def fill(self, kind: str, items: Mapping[str, Object]) -> None:
        """Store objects of a kind by their keys, in their order."""
        self._stores[kind].update(items)
        self._frozen.pop(kind, None)

    def remove(self, kind: str, key: str) -> Any:
        """Remove an object; return its last version, or None."""
        self._frozen.pop(kind, None)
        return self._stores[kind].pop(key, None)

    def arrange(self) -> None:
        """Put each store in the order of its keys; nothing looks at the order of arrival."""
        self._stores = {kind: dict(sorted(store.items())) for kind, store in self._stores.items()}

    def objects(self) -> Objects:
        """Return what sessions look up, as it is now."""
        return Objects(**{field: self._frozen_store(kind) for kind, field in _FIELDS.items()})

    def _frozen_store(self, kind: str) -> Mapping[str, Any]:
        frozen = self._frozen.get(kind)
        if frozen is None:
            frozen = self._frozen[kind] = dict(sorted(self._stores[kind].items()))
        return frozen


def is_resync(old: Object, new: Object) -> bool:
    """Return whether an update has nothing new."""
    return old.metadata.resource_version == new.metadata.resource_version
