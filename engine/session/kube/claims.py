"""PersistentVolumeClaims: those of a pod, their class, and the nodes that can reach a volume.

Source: k8s.io/component-helpers/storage/volume/helpers.go and pv_helpers.go;
k8s.io/component-helpers/storage/ephemeral.
"""

from __future__ import annotations

import msgspec

from ...kubernetes.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from .node_columns import Mask, NodeColumns
from .pod_class import node_terms

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"

_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


class MountedClaim(msgspec.Struct, frozen=True):
    """A claim that a pod mounts; ``own`` if it is created for this pod."""

    name: str
    own: bool


def mounted_claims(pod: Pod) -> list[MountedClaim]:
    """Return the claims of a pod, in the order of its volumes."""
    claims = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            claims.append(MountedClaim(volume.persistent_volume_claim.claim_name, own=False))
        elif volume.ephemeral is not None:
            claims.append(MountedClaim(f"{pod.name}-{volume.name}", own=True))
    return claims


def not_for_pod(claim: PersistentVolumeClaim, pod: Pod) -> str | None:
    """Return the error for a claim that should be created for the pod, but is not.

    Source: ``VolumeIsForPod``.
    """
    owner = claim.metadata.controller
    if claim.namespace == pod.namespace and owner is not None and owner.uid == pod.uid:
        return None
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"


def no_claim(name: str) -> str:
    """Return the error for a claim that does not exist."""
    return f'persistentvolumeclaim "{name}" not found'


def no_class(name: str) -> str:
    """Return the error for a StorageClass that does not exist."""
    return f'storageclass.storage.k8s.io "{name}" not found'


def claim_class(claim: PersistentVolumeClaim) -> str:
    """Return the storage class of a claim; empty if it names none."""
    annotated = claim.annotations.get(_CLASS_ANNOTATION)
    return (claim.spec.storage_class_name or "") if annotated is None else annotated


def volume_class(volume: PersistentVolume) -> str:
    """Return the storage class of a volume."""
    return volume.annotations.get(_CLASS_ANNOTATION, volume.spec.storage_class_name)


def reaches(columns: NodeColumns, volume: PersistentVolume) -> Mask:
    """Return which nodes can reach a volume, by their labels only.

    Source: ``CheckNodeAffinity``.
    """
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return columns.every
    mask = ~columns.every
    for term in node_terms(affinity.required.node_selector_terms):
        # `CheckNodeAffinity` is given a node with labels only, so that terms over fields say
        # nothing.
        mask = mask | columns.term(term._replace(fields=()))
    return mask


def provisionable(columns: NodeColumns, storage_class: StorageClass) -> Mask:
    """Return for which nodes a volume of a class can be provisioned.

    Source: k8s.io/kubernetes/pkg/apis/core/v1/helper MatchTopologySelectorTerms.
    """
    if not storage_class.allowed_topologies:
        return columns.every
    mask = ~columns.every
    for term in storage_class.allowed_topologies:
        # A term without expressions matches no node.
        if term.match_label_expressions:
            matching = columns.every
            for expression in term.match_label_expressions:
                matching = matching & columns.has_one_of(expression.key, expression.values)
            mask = mask | matching
    return mask
