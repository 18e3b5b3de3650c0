"""Devices that pods claim (``resource.k8s.io``): claims, classes, and what nodes have.

Source: k8s.io/api/resource/v1/types.go. In v1beta1 a request has the fields that v1 has within
``exactly``, and a device has fields within ``basic`` that v1 has directly. An API server converts
one into the other.
"""

from __future__ import annotations

import msgspec

from .metadata import Int64, NodeSelector, Object, ObjectPart


class CelExpression(ObjectPart, frozen=True, gc=False):
    """A condition in the Common Expression Language."""

    expression: str = ""


class DeviceSelector(ObjectPart, frozen=True, gc=False):
    """A condition on devices."""

    cel: CelExpression | None = None


class DeviceSubRequest(ObjectPart, frozen=True, gc=False):
    """A number of devices of a class: an exact request, or one of several alternatives."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None


class DeviceRequest(DeviceSubRequest, frozen=True, gc=False):
    """One request of a claim: exactly these devices, or the first possible alternative."""

    exactly: DeviceSubRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] | None = None

    @property
    def exact(self) -> DeviceSubRequest | None:
        """The exact request; None if it lists several alternatives."""
        if self.first_available is not None:
            return None
        if self.exactly is None and self.device_class_name:
            return self
        return self.exactly


class DeviceConstraint(ObjectPart, frozen=True, gc=False):
    """Devices of these requests, or of all, must have the same value of an attribute."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None


class DeviceClaimDevices(ObjectPart, frozen=True, gc=False):
    """The requests of a claim."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()


class ResourceClaimSpec(ObjectPart, frozen=True, gc=False):
    """What a claim asks for."""

    devices: DeviceClaimDevices = msgspec.field(default_factory=DeviceClaimDevices)


class AllocatedDevice(ObjectPart, frozen=True, gc=False):
    """A device allocated to a claim; with ``admin_access`` other claims may have it as well."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None


class AllocatedDevices(ObjectPart, frozen=True, gc=False):
    """The devices that a claim has."""

    results: tuple[AllocatedDevice, ...] = ()


class Allocation(ObjectPart, frozen=True, gc=False):
    """The allocation of a claim, and the nodes that can use it; all nodes without a selector."""

    devices: AllocatedDevices = msgspec.field(default_factory=AllocatedDevices)
    node_selector: NodeSelector | None = None


class Consumer(ObjectPart, frozen=True, gc=False):
    """Who uses a claim."""

    uid: str = ""


class ResourceClaimStatus(ObjectPart, frozen=True, gc=False):
    """What a claim has, and who uses it."""

    allocation: Allocation | None = None
    reserved_for: tuple[Consumer, ...] = ()


class ResourceClaim(Object, frozen=True, gc=False):
    """A claim of devices."""

    spec: ResourceClaimSpec = msgspec.field(default_factory=ResourceClaimSpec)
    status: ResourceClaimStatus = msgspec.field(default_factory=ResourceClaimStatus)


class DeviceClassSpec(ObjectPart, frozen=True, gc=False):
    """The conditions that devices of a class meet."""

    selectors: tuple[DeviceSelector, ...] = ()


class DeviceClass(Object, frozen=True, gc=False):
    """A class of devices."""

    spec: DeviceClassSpec = msgspec.field(default_factory=DeviceClassSpec)


class DeviceAttribute(ObjectPart, frozen=True, gc=False):
    """One value of a device."""

    number: Int64 | None = msgspec.field(default=None, name="int")
    truth: bool | None = msgspec.field(default=None, name="bool")
    string: str | None = None
    version: str | None = None


class DeviceCapacity(ObjectPart, frozen=True, gc=False):
    """An amount that a device has."""

    value: str | Int64 | float = 0


class DeviceTraits(ObjectPart, frozen=True, gc=False):
    """A device's attributes and capacity; feature gates for the other fields are off."""

    attributes: dict[str, DeviceAttribute] = msgspec.field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = msgspec.field(default_factory=dict)
    consumes_counters: tuple[dict[str, object], ...] = ()
    binding_conditions: tuple[str, ...] = ()


class Device(DeviceTraits, frozen=True, gc=False):
    """A device of a slice."""

    name: str = ""
    basic: DeviceTraits | None = None

    @property
    def traits(self) -> DeviceTraits:
        """What the device is."""
        return self if self.basic is None else self.basic


class ResourcePool(ObjectPart, frozen=True, gc=False):
    """The pool of a slice: the slices of its newest generation."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(ObjectPart, frozen=True, gc=False):
    """Devices, and the nodes that can use them."""

    driver: str = ""
    pool: ResourcePool = msgspec.field(default_factory=ResourcePool)
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: tuple[Device, ...] = ()


class ResourceSlice(Object, frozen=True, gc=False):
    """A part of a pool of devices."""

    spec: ResourceSliceSpec = msgspec.field(default_factory=ResourceSliceSpec)
