"""Volumes that a pod attaches through CSI drivers: each counts towards a node's limit.

Source: pkg/scheduler/cache/event_handlers.go getPodCSIVolumes;
k8s.io/kubernetes/pkg/volume/util/attach_limit.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ..kubernetes.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, Volume

IGNORED_PROVISIONERS = frozenset({"rancher.io/local-path", "hostpath.csi.k8s.io"})
"""Drivers whose volumes are never counted, with any flags of the scheduler."""

_PREFIX = "attachable-volumes-csi-"
_NAME_LIMIT = 63
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_DRIVER_PARAMETER = "csi.storage.k8s.io/csi-driver-name"


class ClaimMissing(Exception):
    """A claim that a pod mounts is unknown, or belongs to another pod: no volume is counted."""


class ClaimUnknown(ClaimMissing):
    """A claim that a pod mounts is unknown; it may still be created."""


def attach_limit_key(driver: str) -> str:
    """Return the resource under which volumes of a driver are counted; long names are hashed."""
    if len(_PREFIX) + len(driver) >= _NAME_LIMIT:
        import hashlib  # noqa: PLC0415 -- takes long to load, and few drivers have long names

        digest = hashlib.sha1(driver.encode(), usedforsecurity=False).hexdigest()
        return f"{_PREFIX}{driver[:23]}{digest[:16]}"
    return _PREFIX + driver


def csi_volumes(
    pod: Pod,
    claims: Mapping[str, PersistentVolumeClaim],
    volumes: Mapping[str, PersistentVolume],
    classes: Mapping[str, StorageClass],
    ignored: frozenset[str] = IGNORED_PROVISIONERS,
) -> Counter[str]:
    """Return the number of volumes that a pod attaches, by resource name of the driver.

    :param claims: by ``namespace/name``; ``volumes`` and ``classes`` by name.
    :raises ClaimMissing: one of its claims does not exist; the text is Volcano's.
    """
    counts: Counter[str] = Counter()
    for volume in pod.spec.volumes:
        if volume.claims:
            driver = driver_of(_claim(pod, volume, claims), volumes, classes)
            if driver and driver not in ignored:
                counts[attach_limit_key(driver)] += 1
    return counts


def _claim(
    pod: Pod, volume: Volume, claims: Mapping[str, PersistentVolumeClaim]
) -> PersistentVolumeClaim:
    own = volume.persistent_volume_claim
    name = f"{pod.name}-{volume.name}" if own is None else own.claim_name
    if not name:
        raise ClaimMissing("PersistentVolumeClaim had no name")
    claim = claims.get(f"{pod.namespace}/{name}")
    if claim is None:
        raise ClaimUnknown(
            f'looking up PVC {pod.namespace}/{name}: persistentvolumeclaim "{name}" not found'
        )
    if own is None:
        controller = claim.metadata.controller
        # The claim of an ephemeral volume is named after the pod, so another one may have its name.
        if controller is None or controller.uid != pod.uid:
            raise ClaimMissing(
                f"PVC {pod.namespace}/{name} was not created for pod {pod.key} (pod is not owner)"
            )
    return claim


def driver_of(
    claim: PersistentVolumeClaim,
    volumes: Mapping[str, PersistentVolume],
    classes: Mapping[str, StorageClass],
) -> str:
    """Return the driver of a claim's volume, or of its class while it has none; may be empty.

    Source: pkg/scheduler/cache/event_handlers.go getCSIDriverInfo, getCSIDriverInfoFromSC.
    """
    volume = volumes.get(claim.spec.volume_name) if claim.spec.volume_name else None
    if volume is not None:
        return volume.spec.csi.driver if volume.spec.csi is not None else ""
    named = claim.annotations.get(_CLASS_ANNOTATION, claim.spec.storage_class_name)
    storage_class = classes.get(named) if named else None
    if storage_class is None:
        return ""
    return storage_class.parameters.get(_DRIVER_PARAMETER, storage_class.provisioner)
