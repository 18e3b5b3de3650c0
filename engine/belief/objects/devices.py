"""Claims of devices (``resource.k8s.io``): what pods ask for beside containers' resources.

Source: k8s.io/api/resource/v1/types.go. A request of v1beta1 says itself what one of v1 says
within ``exactly``; an API server turns one into the other.
"""

from __future__ import annotations

import msgspec

from .metadata import Int64, Object, Part


class DeviceSubRequest(Part, frozen=True, gc=False):
    """One of several wishes; the first that can be had counts."""

    name: str = ""
    device_class_name: str = ""
    allocation_mode: str = ""
    count: Int64 = 0


class ExactDeviceRequest(Part, frozen=True, gc=False):
    """So many devices of a class."""

    device_class_name: str = ""
    allocation_mode: str = ""
    count: Int64 = 0


class DeviceRequest(Part, frozen=True, gc=False):
    """One request of a claim: exactly these devices, or the first of several wishes."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] | None = None
    device_class_name: str = ""
    allocation_mode: str = ""
    count: Int64 = 0

    @property
    def exact(self) -> ExactDeviceRequest | None:
        """What is asked for, if it is one wish and not several."""
        if self.first_available is not None or self.exactly is not None:
            return None if self.first_available is not None else self.exactly
        if not self.device_class_name:
            return None
        return ExactDeviceRequest(self.device_class_name, self.allocation_mode, self.count)


class DeviceClaimDevices(Part, frozen=True, gc=False):
    """The requests of a claim."""

    requests: tuple[DeviceRequest, ...] = ()


class ResourceClaimSpec(Part, frozen=True, gc=False):
    """What a claim asks for."""

    devices: DeviceClaimDevices = msgspec.field(default_factory=DeviceClaimDevices)


class ResourceClaim(Object, frozen=True, gc=False):
    """A claim of devices."""

    spec: ResourceClaimSpec = msgspec.field(default_factory=ResourceClaimSpec)
