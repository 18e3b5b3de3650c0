"""Claims of devices: a pod that names one which is not known does not become a task.

Source: pkg/scheduler/cache/cache.go buildTaskDRAInfo, resolvePodClaimName since v1.15.
"""

from __future__ import annotations

from collections.abc import Mapping

from .objects import Pod, ResourceClaim
from .volumes import ClaimMissing


class DeviceClaimMissing(ClaimMissing):
    """A claim of devices that a pod names is not there.

    :ivar awaited: it is made for the pod from a template, and will come.
    """

    def __init__(self, text: str, *, awaited: bool) -> None:
        super().__init__(text)
        self.awaited = awaited


def check_device_claims(pod: Pod, claims: Mapping[str, ResourceClaim]) -> None:
    """Look for the claims that a pod names.

    :param claims: by ``namespace/name``.
    :raises DeviceClaimMissing: one is not there; the text is Volcano's.
    """
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    for named in pod.spec.resource_claims:
        awaited = named.resource_claim_template_name is not None
        name = named.resource_claim_name
        if name is None:
            name = made.get(named.name) or ""
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
