"""Filter ``VolumeBinding``: the node can reach a pod's volumes, or they can be provisioned there.

What a placement takes (a volume for a claim, a node for a claim that is yet to be provisioned) is
remembered for the rest of the session, as the scheduler's cache of assumed objects does; what
binding then really did is up to the objects that are delivered. The capacity of storage
(``--csi-storage``) is not looked at.

Source: pkg/scheduler/capabilities/volumebinding/volume_binding.go and binder.go;
k8s.io/component-helpers/storage/volume/pv_helpers.go FindMatchingVolume.
"""

from __future__ import annotations

import msgspec
import numpy as np

from ....cache.informers import Objects
from ....kubernetes.expressions.selectors import SelectorError, label_selector
from ....kubernetes.objects import PersistentVolume, PersistentVolumeClaim, Pod
from ....kubernetes.quantity import parse
from ....model.session_tables import Ints
from ...kube.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_class,
    mounted_claims,
    no_claim,
    not_for_pod,
    provisionable,
    reaches,
    volume_class,
)
from ...kube.node_columns import Mask, NodeColumns
from ...reasons.objections import NodeCode, Objection
from ...reasons.statuses import Reasons, StatusCode

UNREACHABLE = Objection(
    "node(s) didn't match PersistentVolume's node affinity", NodeCode.VOLUME_UNREACHABLE
)
UNREACHABLE_BEFORE = Objection(
    "node(s) had volume node affinity conflict", NodeCode.VOLUME_UNREACHABLE
)
"""The text of older releases."""
NOTHING_TO_BIND = Objection(
    "node(s) didn't find available persistent volumes to bind", NodeCode.NO_VOLUME
)
VOLUME_MISSING = Objection(
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    NodeCode.VOLUME_MISSING,
)

_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_NO_PROVISIONER = frozenset({"", "kubernetes.io/no-provisioner"})
_NONE = -1


class PodClaims(msgspec.Struct, frozen=True):
    """A pod's claims: those with a volume, and those that get one with the pod."""

    bound: tuple[PersistentVolumeClaim, ...]
    delayed: tuple[PersistentVolumeClaim, ...]


class _Match(msgspec.Struct, frozen=True):
    """By node: the place of the volume that a claim would take, ``_NONE`` without one."""

    claim: PersistentVolumeClaim
    volumes: list[PersistentVolume]
    chosen: Ints


class BindingNeeds(msgspec.Struct, frozen=True):
    """What binding needs on each node."""

    verdicts: Ints
    matches: list[_Match]
    provisioned: list[tuple[PersistentVolumeClaim, Mask]]


class VolumeBinding:
    """Matches claims with volumes.

    :param unreachable: the objection of a node that cannot reach a volume.
    """

    def __init__(
        self, columns: NodeColumns, objects: Objects, reasons: Reasons, unreachable: Objection
    ) -> None:
        self._columns = columns
        self._objects = objects
        self._reasons = reasons
        self._unreachable = unreachable
        self._taken: dict[str, str] = {}
        """Claim by volume, as assumed in this session."""
        self._selected: dict[str, str] = {}
        """Node by claim, likewise."""

    def pre_filter(self, pod: Pod) -> PodClaims | str:
        """Return the claims of a pod, or an error.

        Source: ``podHasPVCs``, ``GetPodVolumeClaims``.
        """
        bound: list[PersistentVolumeClaim] = []
        delayed: list[PersistentVolumeClaim] = []
        immediate = False
        claims = self._mounted(pod)
        if isinstance(claims, str):
            return claims
        for claim in claims:
            # A volume alone is not enough: until the annotation is there, the controller still
            # binds the claim.
            if claim.spec.volume_name and _BIND_COMPLETED in claim.annotations:
                bound.append(claim)
                continue
            delays = self._delays(claim)
            if isinstance(delays, str):
                return delays
            if delays and not claim.spec.volume_name:
                delayed.append(claim)
            else:
                immediate = True
        if immediate:
            return "pod has unbound immediate PersistentVolumeClaims"
        return PodClaims(tuple(bound), tuple(delayed))

    def filter(self, claims: PodClaims) -> BindingNeeds:
        """Return a verdict for each node, and what the pod would take there.

        Source: ``FindPodVolumes``.
        """
        columns = self._columns
        reachable, missing = self._check_bound(claims.bound)
        bindable = columns.every
        faults: dict[str, Mask] = {}
        matches: list[_Match] = []
        provisioned: list[tuple[PersistentVolumeClaim, Mask]] = []
        if claims.delayed:
            selected, to_match = self._selected_nodes(claims.delayed)
            matches = self._match(to_match)
            bindable = selected.copy()
            order = [claim for claim in claims.delayed if claim not in to_match]
            asking = [(claim, selected) for claim in order]
            asking += [(m.claim, selected & (m.chosen == _NONE)) for m in matches]
            for claim, nodes in asking:
                possible = self._provision(claim)
                # `checkVolumeProvisions` ends at the first claim that fails: this error is met only
                # where none did.
                if isinstance(possible, str):
                    faults[possible] = nodes & bindable
                else:
                    bindable &= possible | ~nodes
                    provisioned.append((claim, nodes))
        return BindingNeeds(
            self._verdicts(reachable, bindable, missing, faults), matches, provisioned
        )

    def reserve(self, needs: BindingNeeds, node: int) -> None:
        """Assume a pod's volumes on a node. Source: ``AssumePodVolumes``."""
        for match in needs.matches:
            place = match.chosen.item(node)
            if place != _NONE:
                self._taken[match.volumes[place].name] = match.claim.key
        for claim, nodes in needs.provisioned:
            if nodes[node]:
                self._selected[claim.key] = self._columns.names[node]

    def unreserve(self, needs: BindingNeeds, node: int) -> None:
        """Forget a pod's assumed volumes on a node. Source: ``RevertAssumedPodVolumes``."""
        for match in needs.matches:
            place = match.chosen.item(node)
            if place != _NONE:
                self._taken.pop(match.volumes[place].name, None)
        for claim, nodes in needs.provisioned:
            if nodes[node]:
                self._selected.pop(claim.key, None)

    def _mounted(self, pod: Pod) -> list[PersistentVolumeClaim] | str:
        claims = []
        for mounted in mounted_claims(pod):
            name = mounted.name
            claim = self._objects.persistent_volume_claims.get(f"{pod.namespace}/{name}")
            if claim is None:
                if mounted.own:
                    return (
                        "waiting for ephemeral volume controller to create the"
                        f' persistentvolumeclaim "{name}"'
                    )
                return no_claim(name)
            if claim.status.phase == "Lost":
                return (
                    f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume'
                    f' "{claim.spec.volume_name}"'
                )
            if claim.metadata.deletion_timestamp is not None:
                return f'persistentvolumeclaim "{name}" is being deleted'
            error = not_for_pod(claim, pod) if mounted.own else None
            if error is not None:
                return error
            claims.append(claim)
        return claims

    def _delays(self, claim: PersistentVolumeClaim) -> bool | str:
        """Return whether a claim waits for its pod, or an error. Source: ``IsDelayBindingMode``."""
        named = claim_class(claim)
        storage_class = self._objects.storage_classes.get(named) if named else None
        if storage_class is None:
            return False
        if storage_class.volume_binding_mode is None:
            return f'VolumeBindingMode not set for StorageClass "{named}"'
        return storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    def _check_bound(self, claims: tuple[PersistentVolumeClaim, ...]) -> tuple[Mask, Mask]:
        """Return which nodes reach the volumes, and for which one does not exist.

        Source: ``checkBoundClaims``, which stops at the first claim in its way.
        """
        reachable, missing = self._columns.every, ~self._columns.every
        for claim in claims:
            volume = self._objects.persistent_volumes.get(claim.spec.volume_name)
            if volume is None:
                return reachable, reachable & ~missing
            reachable = reachable & reaches(self._columns, volume)
        return reachable, missing

    def _selected_nodes(
        self, claims: tuple[PersistentVolumeClaim, ...]
    ) -> tuple[Mask, list[PersistentVolumeClaim]]:
        """Return the nodes that no claim excludes, and the claims for which none is selected."""
        mask = self._columns.every
        free = []
        for claim in claims:
            node = self._selected.get(claim.key, claim.annotations.get(_SELECTED_NODE))
            if node is None:
                free.append(claim)
            else:
                mask = mask & np.array([name == node for name in self._columns.names])
        return mask, free

    def _match(self, claims: list[PersistentVolumeClaim]) -> list[_Match]:
        """Return the volumes that claims would take: the smallest claim chooses first.

        Source: ``findMatchingVolumes``.
        """
        used: dict[str, Mask] = {}
        matches = []
        for claim in sorted(claims, key=lambda claim: _size(claim.spec.resources.requests)):
            volumes = self._candidates(claim)
            chosen = np.full(len(self._columns), _NONE, dtype=np.int32)
            for place, volume in enumerate(volumes):
                free = ~used.get(volume.name, ~self._columns.every)
                fits = (chosen == _NONE) & free & reaches(self._columns, volume)
                chosen[fits] = place
                used[volume.name] = used.get(volume.name, ~self._columns.every) | fits
                if self._is_bound_to(volume, claim):
                    break
            matches.append(_Match(claim, volumes, chosen))
        return matches

    def _candidates(self, claim: PersistentVolumeClaim) -> list[PersistentVolume]:
        """Return the volumes that a claim may take: the one that is its own, or by size.

        Source: ``FindMatchingVolume``.
        """
        selector = None
        if claim.spec.selector is not None:
            try:
                selector = label_selector(claim.spec.selector)
            except SelectorError:
                return []
        wanted, asked = claim_class(claim), _size(claim.spec.resources.requests)
        fitting = []
        for volume in self._objects.persistent_volumes.values():
            spec = volume.spec
            mine = self._is_bound_to(volume, claim)
            if (
                volume_class(volume) != wanted
                or (self._is_claimed(volume) and not mine)
                or _size(spec.capacity) < asked
                or (spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem")
                or volume.metadata.deletion_timestamp is not None
            ):
                continue
            if mine:
                return [volume]
            if (
                volume.status.phase == "Available"
                and (selector is None or selector.matches(volume.labels))
                and set(claim.spec.access_modes) <= set(spec.access_modes)
            ):
                fitting.append(volume)
        return sorted(fitting, key=lambda volume: _size(volume.spec.capacity))

    def _is_claimed(self, volume: PersistentVolume) -> bool:
        return volume.name in self._taken or volume.spec.claim_ref is not None

    def _is_bound_to(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
        if volume.name in self._taken:
            return self._taken[volume.name] == claim.key
        claimed = volume.spec.claim_ref
        return (
            claimed is not None
            and (claimed.namespace, claimed.name) == (claim.namespace, claim.name)
            and claimed.uid in ("", claim.uid)
        )

    def _provision(self, claim: PersistentVolumeClaim) -> Mask | str:
        """Return for which nodes a volume can be provisioned, or an error.

        Source: ``checkVolumeProvisions``.
        """
        named = claim_class(claim)
        if not named:
            return f'no class for claim "{claim.key}"'
        storage_class = self._objects.storage_classes.get(named)
        if storage_class is None:
            return f'failed to find storage class "{named}"'
        if storage_class.provisioner in _NO_PROVISIONER:
            return ~self._columns.every
        return provisionable(self._columns, storage_class)

    def _verdicts(
        self, reachable: Mask, bindable: Mask, missing: Mask, faults: dict[str, Mask]
    ) -> Ints:
        verdicts = np.zeros(len(self._columns), dtype=np.int32)
        combined = (~reachable) * 1 + (~bindable) * 2 + missing * 4
        for kind in np.unique(combined).tolist():
            objections = [
                objection
                for bit, objection in (
                    *((1, self._unreachable), (2, NOTHING_TO_BIND)),
                    (4, VOLUME_MISSING),
                )
                if kind & bit
            ]
            if objections:
                joined = Objection(", ".join(objection.message for objection in objections))
                verdicts[combined == kind] = self._reasons.intern(
                    StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE,
                    objections[0] if len(objections) == 1 else joined,
                )
        for text, nodes in faults.items():
            verdicts[nodes] = self._reasons.intern(StatusCode.ERROR, Objection(text))
        return verdicts


def _size(amounts: dict[str, str | int | float]) -> float:
    """Return the amount of storage, in billionths of a byte; exactly, however large."""
    text = amounts.get("storage")
    if text is None:
        return 0
    quantity = parse(text)
    return quantity.number * int(10 ** (quantity.power + 9))
