"""ResourceClaims of tasks, and pods whose claims are not known.

Source: pkg/scheduler/cache/cache.go buildTaskDRAInfo, resolvePodClaimName since v1.15.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..kubernetes.go.int64 import wrap
from ..kubernetes.objects import Pod, ResourceClaim
from .volumes import ClaimMissing

_ALL = "All"


class TaskDeviceClaim(NamedTuple):
    """One claim of a task.

    :param key: its ``namespace/name``.
    :param counts: the requested number of devices, by class.
    """

    key: str
    counts: tuple[tuple[str, int], ...]


class DeviceClaimMissing(ClaimMissing):
    """A ResourceClaim that a pod names does not exist.

    :ivar awaited: it is created for the pod from a template, so it will exist later.
    """

    def __init__(self, text: str, *, awaited: bool) -> None:
        super().__init__(text)
        self.awaited = awaited


def device_claims(pod: Pod, claims: Mapping[str, ResourceClaim]) -> tuple[TaskDeviceClaim, ...]:
    """Return the claims of a pod that request countable devices, by key; each once.

    :param claims: by ``namespace/name``.
    :raises DeviceClaimMissing: one does not exist; the text is Volcano's.
    """
    created = {
        status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses
    }
    counts: dict[str, tuple[tuple[str, int], ...]] = {}
    for named in pod.spec.resource_claims:
        awaited = named.resource_claim_template_name is not None
        name = named.resource_claim_name
        if name is None:
            # From a template: the pod's status has the name of the claim that was created for it.
            name = created.get(named.name) or ""
        if not name:
            text = f"for pod claim {named.name} in pod {pod.key}"
            raise DeviceClaimMissing(
                f"ResourceClaim {text} is not resolved yet"
                if awaited
                else f"failed to resolve ResourceClaim name {text}",
                awaited=awaited,
            )
        key = f"{pod.namespace}/{name}"
        if key not in claims:
            text = f'could not find ResourceClaim "{key}"'
            raise DeviceClaimMissing(
                f"ResourceClaim {key} for pod {pod.key} is not synced yet: {text}"
                if awaited
                else f"failed to get ResourceClaim {key}: {text}",
                awaited=awaited,
            )
        counts[key] = device_counts(claims[key])
    return tuple(TaskDeviceClaim(key, counts[key]) for key in sorted(counts) if counts[key])


def device_counts(claim: ResourceClaim) -> tuple[tuple[str, int], ...]:
    """Return the number of devices that a claim requests, by class.

    A request for all devices, or for the first of several alternatives, does not count. A request
    without a number is for one device.
    """
    counts: dict[str, int] = {}
    for request in claim.spec.devices.requests:
        exact = request.exact
        if exact is None or exact.allocation_mode == _ALL or not exact.device_class_name:
            continue
        before = counts.get(exact.device_class_name, 0)
        counts[exact.device_class_name] = wrap(before + (exact.count or 1))
    return tuple(counts.items())
