"""Filter ``DynamicResources``: a node must have the devices that a pod claims.

The process remembers the devices of a placed pod's claims until the claims show them: for
bound pods as allocated, for others as being allocated, which excludes other pods
from the claim.

Source: k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go;
dra_manager.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from ....kubernetes.objects import (
    NodeSelector,
    NodeSelectorTerm,
    Pod,
    Requirement,
    ResourceClaim,
    ResourceSlice,
)
from ....model.session_tables import Ints, Rows, TaskStatus
from ...kube.device_allocation import (
    UNKNOWN,
    AllocationError,
    Allocator,
    DeviceId,
    GivenDevice,
    Pool,
    gather_pools,
)
from ...kube.node_columns import Mask, NodeColumns
from ...kube.pod_class import node_terms
from ...reasons.objections import NodeCode, Objection
from ...reasons.statuses import PASS, StatusCode

if TYPE_CHECKING:
    from ...framework.session import Session

NAME = "DynamicResources"
ELSEWHERE = Objection("resourceclaim not available on the node", NodeCode.CLAIM_ELSEWHERE)
TOO_FEW = Objection("cannot allocate all claims", NodeCode.TOO_FEW_DEVICES)
NOT_FOUND = "claim allocation not found for node"

_MOST_CONSUMERS = 256


class ClaimAllocation(msgspec.Struct, frozen=True):
    """What a claim has: its exclusive devices, and the nodes from which they can be used."""

    devices: frozenset[DeviceId]
    nodes: NodeSelector | None


class Assumed(msgspec.Struct, frozen=True):
    """A claim's assumed allocation, and the claim as it was then."""

    claim: ResourceClaim
    has: ClaimAllocation


class ClaimMemory(msgspec.Struct):
    """The process's memory, by UID of the claim."""

    pending: dict[str, ClaimAllocation] = msgspec.field(default_factory=dict)
    assumed: dict[str, Assumed] = msgspec.field(default_factory=dict)


class _State(msgspec.Struct):
    """The results for a task: the claims to allocate, and their devices by node."""

    wanting: list[ResourceClaim]
    usable: list[Mask]
    allocator: Allocator
    found: dict[int, list[list[GivenDevice]]] = msgspec.field(default_factory=dict)


class DynamicResources:
    """Looks for devices."""

    def __init__(self, ssn: Session, columns: NodeColumns) -> None:
        self._ssn = ssn
        self._columns = columns
        self._objects = ssn.objects
        self._memory = ssn.process.memory.of(ClaimMemory)
        self._states: dict[int, _State] = {}
        self._on: dict[int, int] = {}
        """By task the node that its pod names: where it was allocated last in this session."""
        self._pools: dict[int, list[Pool]] = {}
        self._slices: dict[str, Mask] = {}

    def pre_filter(self, task: int) -> str | None:
        """Look up a task's claims; return why it cannot be placed anywhere, or ``None``."""
        self._states.pop(task, None)
        pod = self._ssn.tasks.info[task].pod
        try:
            claims = list(self._claims(pod))
        except LookupError as missing:
            return str(missing.args[0])
        state = _State([], [], Allocator(self._objects.device_classes, self._taken()))
        for claim in claims:
            has = self._has(claim)
            if has is None:
                fault = self._fault(claim)
                if fault is not None:
                    return fault
                state.wanting.append(claim)
                continue
            consumers = {each.uid for each in claim.status.reserved_for}
            if len(consumers) >= _MOST_CONSUMERS and pod.uid not in consumers:
                return "resourceclaim in use"
            if has.nodes is not None:
                state.usable.append(self._mask(has.nodes))
        self._states[task] = state
        return None

    def _claims(self, pod: Pod) -> Iterator[ResourceClaim]:
        """Yield the claims of a pod.

        :raises LookupError: one is not there, or not the pod's.

        Source: ``foreachPodResourceClaim``; resourceclaim.go Name, IsForPod.
        """
        created = {each.name: each for each in pod.status.resource_claim_statuses}
        for named in pod.spec.resource_claims:
            name, own = named.resource_claim_name, False
            if name is None:
                if named.resource_claim_template_name is None:
                    raise LookupError(
                        f'pod "{pod.key}", spec.resourceClaim "{named.name}":'
                        " none of the supported fields are set"
                    )
                if named.name not in created:
                    raise LookupError(f'pod "{pod.key}": ResourceClaim not created yet')
                name, own = created[named.name].resource_claim_name, True
                if name is None:
                    continue
            key = f"{pod.namespace}/{name}"
            claim = self._objects.resource_claims.get(key)
            if claim is None:
                raise LookupError(f'could not find ResourceClaim "{key}"')
            if claim.metadata.deletion_timestamp is not None:
                raise LookupError(f'resourceclaim "{name}" is being deleted')
            owner = claim.metadata.controller
            if own and (owner is None or owner.uid != pod.uid):
                raise LookupError(
                    f"ResourceClaim {key} was not created for pod {pod.key} (pod is not owner)"
                )
            yield claim

    def _has(self, claim: ResourceClaim) -> ClaimAllocation | None:
        """Return a claim's allocation: as recorded, or as assumed since its last version."""
        allocation = claim.status.allocation
        if allocation is not None:
            devices = (each for each in allocation.devices.results if not each.admin_access)
            ids = frozenset(DeviceId(each.driver, each.pool, each.device) for each in devices)
            return ClaimAllocation(ids, allocation.node_selector)
        assumed = self._memory.assumed.get(claim.uid)
        return assumed.has if assumed is not None and assumed.claim is claim else None

    def _taken(self) -> frozenset[DeviceId]:
        """Return the devices that are allocated, or being allocated."""
        has = [self._has(claim) for claim in self._objects.resource_claims.values()]
        by_claim = [each.devices for each in has if each is not None]
        return frozenset[DeviceId]().union(
            *by_claim, *(each.devices for each in self._memory.pending.values())
        )

    def _fault(self, claim: ResourceClaim) -> str | None:
        """Return why a claim cannot be allocated on any node."""
        if claim.uid in self._memory.pending:
            return f"resource claim {claim.key} is in the process of being allocated"
        for request in claim.spec.devices.requests:
            exact = request.exact
            if exact is not None:
                wishes = [(request.name, exact)]
            elif request.first_available:
                several = request.first_available
                wishes = [(f"{request.name}/{each.name}", each) for each in several]
            else:
                return f"resource claim {claim.key}, request {request.name}: unknown request type"
            for name, wish in wishes:
                if not wish.device_class_name:
                    return f"request {name}: unsupported request type"
                if wish.device_class_name not in self._objects.device_classes:
                    return f"request {name}: device class {wish.device_class_name} does not exist"
        return None

    def filter(self, task: int, rows: Rows) -> Ints:
        """Return a verdict for each node, and store the claims' devices there."""
        state, verdicts = self._states.get(task), np.zeros(len(rows), dtype=np.int32)
        if state is None:
            return verdicts
        for index, row in enumerate(rows.tolist()):
            verdicts[index] = self._verdict(state, row)
        return verdicts

    def _verdict(self, state: _State, row: int) -> int:
        intern = self._ssn.reasons.intern
        if state.wanting:
            try:
                devices = state.allocator.allocate(state.wanting, self._pools_of(row))
            except AllocationError as fault:
                if UNKNOWN in str(fault) and str(fault) not in self._ssn.errors:
                    self._ssn.errors.append(str(fault))
                code = StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE if fault.here else StatusCode.ERROR
                return intern(code, Objection(str(fault)))
            if devices is None:
                return intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, TOO_FEW)
            state.found[row] = devices
        if all(mask[row] for mask in state.usable):
            return PASS
        state.found.pop(row, None)
        return intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, ELSEWHERE)

    def reserve(self, task: int, node: int) -> str | None:
        """Reserve the devices found for the node; return the error, or ``None``.

        A pod names its node when it is allocated, and not when it is pipelined.
        """
        state = self._states.get(task)
        if state is None or not state.wanting:
            return None
        if self._ssn.tasks.status[task] == TaskStatus.ALLOCATED:
            self._on[task] = node
        by_claim = state.found.get(self._on.get(task, -1))
        if by_claim is None:
            return NOT_FOUND
        for claim, given in zip(state.wanting, by_claim, strict=True):
            devices = frozenset(each.offer.id for each in given if not each.admin)
            self._memory.pending[claim.uid] = ClaimAllocation(devices, _nodes_of(given))
        return None

    def unreserve(self, task: int) -> None:
        """Take back what a task's claims were to get."""
        state = self._states.get(task)
        for claim in state.wanting if state is not None else ():
            self._memory.pending.pop(claim.uid, None)

    def settle(self) -> None:
        """At the end of the session, mark the devices of bound pods as allocated."""
        memory, claims = self._memory, self._objects.resource_claims.values()
        for task, _ in self._ssn.binds:
            state = self._states.get(task)
            for claim in state.wanting if state is not None else ():
                has = memory.pending.pop(claim.uid, None)
                if has is not None:
                    memory.assumed[claim.uid] = Assumed(claim, has)
        there = {claim.uid for claim in claims if claim.status.allocation is None}
        for uid in [uid for uid in memory.assumed if uid not in there]:
            del memory.assumed[uid]

    def _pools_of(self, row: int) -> list[Pool]:
        known = self._pools.get(row)
        if known is None:
            every = tuple(self._objects.resource_slices.values())
            usable = [each for each in every if self._usable(each)[row]]
            known = self._pools[row] = gather_pools(usable, every)
        return known

    def _usable(self, item: ResourceSlice) -> Mask:
        """Return which nodes can use a slice. Source: ``NodeMatches``."""
        known = self._slices.get(item.name)
        if known is None:
            spec, columns = item.spec, self._columns
            if spec.per_device_node_selection is not None:
                known = ~columns.every
            elif spec.node_name:
                known = np.array([name == spec.node_name for name in columns.names], dtype=np.bool_)
            elif spec.all_nodes:
                known = columns.every
            elif spec.node_selector is not None:
                known = self._mask(spec.node_selector)
            else:
                known = ~columns.every
            self._slices[item.name] = known
        return known

    def _mask(self, selector: NodeSelector) -> Mask:
        mask = ~self._columns.every
        for term in node_terms(selector.node_selector_terms):
            mask = mask | self._columns.term(term)
        return mask


def _nodes_of(given: list[GivenDevice]) -> NodeSelector | None:
    """Return the nodes that can use all of these devices; None if all can.

    Source: ``createNodeSelector``.
    """
    together: list[NodeSelectorTerm] = []
    for each in given:
        spec = each.offer.slice.spec
        if spec.node_name is not None:
            name = Requirement("metadata.name", "In", (spec.node_name,))
            return NodeSelector((NodeSelectorTerm(match_fields=(name,)),))
        if spec.node_selector is not None:
            together += spec.node_selector.node_selector_terms
    fields = tuple(field for term in together for field in term.match_fields)
    labels = tuple(label for term in together for label in term.match_expressions)
    if not fields and not labels:
        return None
    return NodeSelector((NodeSelectorTerm(match_expressions=labels, match_fields=fields),))
