"""The devices of a node that claims would get: a full search, which returns the first solution.

Pools and devices are tried in order of name; Volcano takes pools in the order of a map.

Source: k8s.io/dynamic-resource-allocation/structured/internal/stable: allocator_stable.go,
pools_stable.go, as far as no feature gate that is off asks for more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ...kubernetes.expressions.cel import CelError, CelUnknown, Semver, compile_cel
from ...kubernetes.objects import (
    Device,
    DeviceAttribute,
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    ResourceClaim,
    ResourceSlice,
)
from ...kubernetes.quantity import parse

MOST_DEVICES = 32
"""A claim has no more."""
ALL = "All"
EXACT_COUNT = "ExactCount"
MOST_STEPS = 200_000
"""The most devices tried for a pod on a node; Volcano stops after a time instead."""
UNKNOWN = "CEL is not simulated"
TOO_LONG = "timed out trying to allocate devices"
INVALID = "invalid resource pools were encountered"


class AllocationError(Exception):
    """A claim, a class or a pool is invalid; the message is the scheduler's.

    :ivar here: other nodes may work.
    """

    def __init__(self, text: str, *, here: bool = False) -> None:
        super().__init__(text)
        self.here = here


class DeviceId(NamedTuple):
    """Which device."""

    driver: str
    pool: str
    device: str


class Offer(msgspec.Struct, frozen=True):
    """A device that a node can use, and the slice that has it."""

    id: DeviceId
    device: Device
    slice: ResourceSlice


class GivenDevice(msgspec.Struct, frozen=True):
    """A device that a claim gets; with ``admin`` other claims may have it as well."""

    offer: Offer
    admin: bool


class Pool(msgspec.Struct):
    """The slices of a pool that a node can use."""

    driver: str
    name: str
    generation: int
    slices: list[ResourceSlice] = msgspec.field(default_factory=list)
    incomplete: bool = False
    invalid: bool = False

    def offers(self) -> Iterator[Offer]:
        """Yield the devices."""
        for each in self.slices:
            for device in each.spec.devices:
                yield Offer(DeviceId(self.driver, self.name, device.name), device, each)


def gather_pools(usable: Iterable[ResourceSlice], every: Sequence[ResourceSlice]) -> list[Pool]:
    """Return the pools of a node's slices: of each the newest generation.

    :param every: all existing slices, which show whether a pool is complete.

    Source: ``GatherPools``.
    """
    pools: dict[tuple[str, str], Pool] = {}
    for each in usable:
        spec = each.spec
        key, generation = (spec.driver, spec.pool.name), spec.pool.generation
        pool = pools.setdefault(key, Pool(*key, generation))
        if generation > pool.generation:
            pool.generation, pool.slices = generation, []
        if generation == pool.generation:
            pool.slices.append(each)
    newest = []
    for key in sorted(pools):
        pool = pools[key]
        of_pool = [each.spec for each in every if (each.spec.driver, each.spec.pool.name) == key]
        # A newer generation outdates these slices, even if all of its slices are for other nodes.
        if any(spec.pool.generation > pool.generation for spec in of_pool):
            continue
        there = sum(spec.pool.generation == pool.generation for spec in of_pool)
        pool.incomplete = there != pool.slices[0].spec.pool.resource_slice_count
        names = [offer.id.device for offer in pool.offers()]
        pool.invalid = len(set(names)) < len(names)
        newest.append(pool)
    return newest


class _Wish(msgspec.Struct, frozen=True):
    """A request as the search sees it.

    :param parent: name of the request of which this is one alternative; else empty.
    :param every: all devices that match, if the request is for all.
    """

    claim: int
    name: str
    parent: str
    asked: DeviceSubRequest
    of_class: DeviceClass
    devices: int
    every: tuple[Offer, ...] | None

    @property
    def admin(self) -> bool:
        return bool(self.asked.admin_access) and not self.parent


class Allocator:
    """Searches for devices on one node after the other.

    :param taken: devices that claims already have.
    """

    def __init__(self, classes: Mapping[str, DeviceClass], taken: frozenset[DeviceId]) -> None:
        self._classes = classes
        self._taken = taken
        self._matches: dict[tuple[str, DeviceId, int], bool] = {}

    def allocate(
        self, claims: Sequence[ResourceClaim], pools: Sequence[Pool]
    ) -> list[list[GivenDevice]] | None:
        """Return by claim the devices that it would get; None if there are too few.

        :raises AllocationError: an object is invalid, or too many devices were tried.
        """
        search = _Search(self, claims, pools)
        try:
            if search.place(0, 0, 0, None):
                return search.given
        # The search is as deep as there are devices to give: one that is too deep takes too long.
        except RecursionError:
            raise AllocationError(TOO_LONG, here=True) from None
        if any(pool.invalid for pool in pools):
            raise AllocationError(INVALID, here=True)
        return None

    def wishes(
        self, claims: Sequence[ResourceClaim], pools: Sequence[Pool]
    ) -> list[list[list[_Wish]]]:
        """Return by claim and request its alternatives; the first possible one counts."""
        alternatives = []
        for number, claim in enumerate(claims):
            of_claim = [
                [self._counted(claim, wish, pools) for wish in self._plain(number, request)]
                for request in claim.spec.devices.requests
            ]
            least = sum(min((wish.devices for wish in each), default=0) for each in of_claim)
            if least > MOST_DEVICES:
                raise AllocationError(
                    f"claim {claim.key}: number of requested devices {least} exceeds the claim"
                    f" limit of {MOST_DEVICES}"
                )
            alternatives.append(of_claim)
        return alternatives

    def _plain(self, claim: int, request: DeviceRequest) -> Iterator[_Wish]:
        """Yield the wishes of a request."""
        exact = request.exact
        if exact is not None:
            yield self._wish(claim, request.name, "", exact)
        for each in request.first_available or ():
            yield self._wish(claim, each.name, request.name, each)

    def _wish(self, claim: int, name: str, parent: str, asked: DeviceSubRequest) -> _Wish:
        of_class = self._classes[asked.device_class_name]
        return _Wish(claim, name, parent, asked, of_class, 0, None)

    def _counted(self, claim: ResourceClaim, wish: _Wish, pools: Sequence[Pool]) -> _Wish:
        """Return a request with its number of devices; an API server's defaults are assumed.

        Source: ``validateDeviceRequest``.
        """
        asked, where = wish.asked, f"claim {claim.key}, request {wish.name}"
        for place, selector in enumerate(asked.selectors):
            if selector.cel is None:
                raise AllocationError(
                    f"{where}, selector #{place}: CEL expression empty (unsupported selector type?)"
                )
        mode = asked.allocation_mode or EXACT_COUNT
        if mode == EXACT_COUNT:
            return msgspec.structs.replace(wish, devices=asked.count or 1)
        if mode != ALL:
            raise AllocationError(f"{where}: unsupported count mode {mode}")
        for pool in pools:
            state = "being updated" if pool.incomplete else "invalid" if pool.invalid else ""
            if state:
                raise AllocationError(
                    f"{where}: asks for all devices, but resource pool {pool.driver}/{pool.name}"
                    f" is currently {state}"
                )
        every = tuple(
            offer for pool in pools for offer in pool.offers() if self.selects(claim, wish, offer)
        )
        return msgspec.structs.replace(wish, devices=len(every), every=every)

    def selects(self, claim: ResourceClaim, wish: _Wish, offer: Offer) -> bool:
        """Return whether a device matches a request. Source: ``isSelectable``."""
        if offer.device.traits.binding_conditions:
            return False
        key = (claim.uid or claim.key, offer.id, id(wish.asked))
        known = self._matches.get(key)
        if known is None:
            about = f"class {wish.of_class.name}"
            known = _meets(wish.of_class.spec.selectors, offer, about) and _meets(
                wish.asked.selectors, offer, f"claim {claim.key}"
            )
            self._matches[key] = known
        return known

    def is_taken(self, device: DeviceId) -> bool:
        """Return whether a claim has a device."""
        return device in self._taken


class _Search:
    """The search for one pod's claims on one node."""

    def __init__(
        self, allocator: Allocator, claims: Sequence[ResourceClaim], pools: Sequence[Pool]
    ) -> None:
        self._allocator = allocator
        self._claims = claims
        self._pools = pools
        self._steps = 0
        self._wishes = allocator.wishes(claims, pools)
        self._holders: dict[DeviceId, set[int]] = {}
        self.given: list[list[GivenDevice]] = [[] for _ in claims]
        self._constraints = [
            [
                _Match(frozenset(each.requests), _attribute(claim, number, each.match_attribute))
                for number, each in enumerate(claim.spec.devices.constraints)
            ]
            for claim in claims
        ]

    def place(self, claim: int, request: int, device: int, wish: _Wish | None) -> bool:
        """Allocate the rest, starting at a device of an alternative of a request of a claim.

        Source: ``allocateOne``.
        """
        if claim >= len(self._claims):
            return True
        if request >= len(self._wishes[claim]):
            return self.place(claim + 1, 0, 0, None)
        if wish is None:
            return any(self.place(claim, request, 0, each) for each in self._wishes[claim][request])
        if wish.every is not None and not wish.every:
            return False
        if device >= wish.devices:
            return self.place(claim, request + 1, 0, None)
        if len(self.given[claim]) + wish.devices - device > MOST_DEVICES:
            return False
        # A request for all devices: if the next one is not available, the request fails.
        offers = self._offers(wish) if wish.every is None else (wish.every[device],)
        return any(self._place_with(offer, claim, request, device, wish) for offer in offers)

    def _place_with(self, offer: Offer, claim: int, request: int, device: int, wish: _Wish) -> bool:
        if not self._take(wish, offer):
            return False
        if self.place(claim, request, device + 1, wish):
            return True
        self._give_back(wish, offer)
        return False

    def _offers(self, wish: _Wish) -> Iterator[Offer]:
        claim = self._claims[wish.claim]
        for pool in self._pools:
            if not pool.incomplete and not pool.invalid:
                for offer in pool.offers():
                    if self._is_free(wish, offer) and self._allocator.selects(claim, wish, offer):
                        yield offer

    def _is_free(self, wish: _Wish, offer: Offer) -> bool:
        holders = self._holders.get(offer.id, ())
        if wish.admin:
            return wish.claim not in holders
        return not holders and not self._allocator.is_taken(offer.id)

    def _take(self, wish: _Wish, offer: Offer) -> bool:
        """Source: ``allocateDevice``."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise AllocationError(TOO_LONG, here=True)
        if not self._is_free(wish, offer) or offer.device.traits.consumes_counters:
            return False
        constraints = self._constraints[wish.claim]
        for number, constraint in enumerate(constraints):
            if not constraint.add(wish, offer):
                for earlier in constraints[:number]:
                    earlier.remove(wish)
                if wish.every is not None:
                    raise AllocationError(
                        f"claim {self._claims[wish.claim].key}, request {wish.name}: cannot add"
                        f" device {'/'.join(offer.id)} because a claim constraint would not be"
                        " satisfied"
                    )
                return False
        self._holders.setdefault(offer.id, set()).add(wish.claim)
        self.given[wish.claim].append(GivenDevice(offer, wish.admin))
        return True

    def _give_back(self, wish: _Wish, offer: Offer) -> None:
        for constraint in self._constraints[wish.claim]:
            constraint.remove(wish)
        self._holders[offer.id].discard(wish.claim)
        self.given[wish.claim].pop()


class _Match:
    """A constraint: devices of some requests, or of all, have the same value of an attribute."""

    def __init__(self, requests: frozenset[str], attribute: str) -> None:
        self._requests = requests
        self._attribute = attribute
        self._value: DeviceAttribute | None = None
        self._devices = 0

    def add(self, wish: _Wish, offer: Offer) -> bool:
        """Add a device, if it matches the earlier ones."""
        if not self._concerns(wish):
            return True
        value = _lookup(offer, self._attribute)
        if value is None or (self._devices and value != self._value):
            return False
        self._value = value
        self._devices += 1
        return True

    def remove(self, wish: _Wish) -> None:
        """Count a device out again."""
        if self._concerns(wish):
            self._devices -= 1

    def _concerns(self, wish: _Wish) -> bool:
        names = {wish.parent, f"{wish.parent}/{wish.name}"} if wish.parent else {wish.name}
        return not self._requests or bool(self._requests & names)


def _attribute(claim: ResourceClaim, number: int, name: str | None) -> str:
    if name is None:
        raise AllocationError(
            f"claim {claim.key}, constraint #{number}: empty constraint"
            " (unsupported constraint type?)"
        )
    return name


def _lookup(offer: Offer, name: str) -> DeviceAttribute | None:
    """Return an attribute by its full name; the driver's own have no domain."""
    attributes = offer.device.traits.attributes
    if name in attributes:
        return attributes[name]
    domain, slash, short = name.partition("/")
    return attributes.get(short) if slash and domain == offer.id.driver else None


def _meets(selectors: Iterable[DeviceSelector], offer: Offer, about: str) -> bool:
    """Return whether a device meets all conditions. Source: ``selectorsMatch``."""
    for number, selector in enumerate(selectors):
        expression = "" if selector.cel is None else selector.cel.expression
        place = f"{about}: selector #{number}:"
        where = f"{place} CEL"
        try:
            evaluate = compile_cel(expression)
        except CelError as fault:
            raise AllocationError(f"{where} compile error: {fault}") from fault
        except CelUnknown as fault:
            raise AllocationError(f"{place} {UNKNOWN}: {fault}") from fault
        try:
            value = evaluate({"device": _scope(offer)})
        except CelError as fault:
            raise AllocationError(f"{where} runtime error: {fault}") from fault
        except RecursionError:
            raise AllocationError(f"{place} {UNKNOWN}: it is too long") from None
        if value is not True:
            if value is False:
                return False
            raise AllocationError(f"{where} runtime error: the result is no bool")
    return True


class _Domains(dict[str, dict[str, Any]]):
    """The attributes of a device by domain; empty for unknown domains."""

    def __missing__(self, domain: str) -> dict[str, Any]:
        return {}

    def __contains__(self, domain: object) -> bool:
        return True


def _scope(offer: Offer) -> dict[str, Any]:
    """Return a device as expressions see it. Source: cel/compile.go DeviceMatches."""
    attributes, capacity = _Domains(), _Domains()
    for name, attribute in offer.device.traits.attributes.items():
        domain, short = _qualified(name, offer.id.driver)
        attributes.setdefault(domain, {})[short] = _value(attribute)
    for name, amount in offer.device.traits.capacity.items():
        domain, short = _qualified(name, offer.id.driver)
        capacity.setdefault(domain, {})[short] = parse(amount.value)
    return {"driver": offer.id.driver, "attributes": attributes, "capacity": capacity}


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, short = name.partition("/")
    return (domain, short) if slash else (driver, name)


def _value(attribute: DeviceAttribute) -> Any:
    if attribute.version is not None:
        return Semver.parse(attribute.version)
    values = (attribute.number, attribute.truth, attribute.string)
    return next((value for value in values if value is not None), None)
