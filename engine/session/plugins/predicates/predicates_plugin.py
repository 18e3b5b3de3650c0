"""Plugin ``predicates``: the filters of nodes.

Source: pkg/scheduler/plugins/predicates/predicates.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import msgspec

from ....volcano.conf import Arguments
from ....volcano.session.devices import SharedDevices
from ...framework.plugin_registry import EventFn
from ...kube.node_map import NodeMap, node_map
from ..shared.kube_metrics import KubeMetrics
from .filters import Filters
from .predicates_arguments import PredicateOptions, read_options

if TYPE_CHECKING:
    from ...framework.session import Session

_NO_STATE = "not found"
"""The error of volume reservation if PrePredicate never ran for a task."""
_RESERVING = f"Reserve plugin VolumeBinding failed for pod {{}}: {_NO_STATE}"
_DEVICES = "Reserve plugin DynamicResources failed for pod {}: {}"

_SIMULATING = frozenset({"Preemptable", "Allocatable"})
"""Without one of these switches, the filters do not see which pods a preemption would evict."""


Preparing = Callable[[int], str | None]
"""Prepares the filters for a task; returns the error, or ``None``."""


class Predicates:
    """Registers the filters, and keeps the view of the pods on the nodes up to date.

    Not computable from what a log holds, and left out: the capacity of storage (``--csi-storage``).
    Devices that pods claim are looked for where the release does so by default. The score of volume
    binding is 0 as long as the gate ``VolumeCapacityPriority`` is off, which is the default.
    """

    name: ClassVar[str] = "predicates"

    def __init__(self, arguments: Arguments) -> None:
        self._options = read_options(arguments)

    def on_session_open(self, ssn: Session) -> None:
        """Register the filters and the events."""
        nodes = node_map(ssn)
        options = self._options
        if not ssn.behaviours.volume_binding_filter:
            options = msgspec.structs.replace(options, volume_binding=False)
        filters = self._filters = Filters(ssn, nodes, options)
        enabled = self._enabled(ssn)
        prepared = "Predicate" in enabled
        fails = options.volume_binding and not prepared
        heeds = ssn.behaviours.shared_devices is SharedDevices.REFUSALS_HEEDED
        misses = options.volume_binding and ssn.behaviours.undone_evictions_missed_by_filters
        noted: set[int] = set()

        def allocate(task: int, node: int) -> str | None:
            if misses and task not in noted:
                ssn.errors.append(_RESERVING.format(ssn.task_name(task)))
                return _NO_STATE
            # v1.12 would go on to `AddPod` after a failed Reserve, but claims of devices are off
            # there by default.
            error = filters.reserve(task, node)
            if error is not None:
                ssn.errors.append(_DEVICES.format(ssn.task_name(task), error))
                return error
            refusal = ssn.share_devices(task, node)
            if refusal:
                # Older releases, v1.14.0 too, log it and leave `event.Err` empty, so the statement
                # goes on; in all of them filters do not see the pod, as `AddPod` is not reached.
                return refusal if heeds else None
            nodes.add_pod(task, node)
            return _NO_STATE if fails else None

        if options.pod_affinity:
            ssn.expect_simulations(self.name)
        if prepared:
            ssn.simulated_predicate = filters.affinity_allows
            ssn.affinity_counts_victims = bool(enabled & _SIMULATING)
        ssn.registry.add_event_handler(
            allocate=allocate, deallocate=_deallocating(ssn, filters, nodes)
        )
        ssn.registry.add_simulation_handler(back=nodes.count_back, removed=nodes.count_out)
        if prepared and self._waits(ssn, options):
            ssn.prepared = noted

        notes = noted if misses or ssn.prepared is noted else None
        ssn.registry.add_pre_predicate(self.name, _preparing(ssn, filters, notes))
        _add_filters(ssn, filters)

    def _enabled(self, ssn: Session) -> set[str]:
        """Return the extension points at which some tier has the plugin."""
        options = (
            option for tier in ssn.registry.tiers for option in tier if option.name == self.name
        )
        return {point for option in options for point in option.enabled}

    def _waits(self, ssn: Session, options: PredicateOptions) -> bool:
        """Return whether nominated pods need to know if PrePredicate ran for them."""
        stateful = (
            options.node_ports,
            options.pod_affinity,
            options.topology_spread,
            options.volume_binding,
        )
        return ssn.behaviours.nominated_pods_wait and any(stateful)

    def on_session_close(self, ssn: Session) -> None:
        """Store the devices of bound pods."""
        self._filters.settle()


def _add_filters(ssn: Session, filters: Filters) -> None:
    """Register the filters, with what each of them says for itself."""
    ssn.registry.add_predicate(
        Predicates.name,
        filters.verdicts,
        per=filters.per,
        one=filters.of_class_on,
        parts=filters.parts,
    )


def _deallocating(ssn: Session, filters: Filters, nodes: NodeMap) -> EventFn:
    """Return what happens when a task leaves a node, or is evicted.

    To the filters it is still there if its devices cannot be released.
    """

    def deallocate(task: int, node: int) -> str | None:
        filters.unreserve(task, node)
        fault = ssn.take_devices(task, node)
        if fault:
            ssn.errors.append(fault)
        else:
            nodes.remove_pod(task, node)
        return None

    return deallocate


def _preparing(ssn: Session, filters: Filters, noted: set[int] | None) -> Preparing:
    """Return the PrePredicate function, which records its tasks if needed."""
    registers = ssn.behaviours.nodeorder_needs_predicates
    if noted is None and not registers:
        return filters.pre_predicate

    def prepare(task: int) -> str | None:
        if noted is not None:
            noted.add(task)
        if registers:
            ssn.process.memory.of(KubeMetrics).registered = True
        return filters.pre_predicate(task)

    return prepare
