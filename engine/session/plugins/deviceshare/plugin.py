"""Plugin ``deviceshare``: pods that share GPUs are placed where their part is free.

A pod's part is in its annotations; the process remembers what sessions assign
until the annotations show it. Only virtual GPUs score.

Source: pkg/scheduler/plugins/deviceshare/deviceshare.go; what happens to devices when tasks are
placed is in pkg/scheduler/plugins/predicates/predicates.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from ....kubernetes.objects import Node, Pod
from ....model.panic import Panic
from ....model.tables import Floats, Ints, Rows, Status
from ....volcano.conf import Arguments
from ....volcano.session.devices import SharedDevices, VirtualGpuUse
from ...framework.registry import Per
from ...framework.session import Session
from ...reasons.statuses import PASS, StatusCode
from ..shared.type_assertion import text_or_panic
from . import gpu_share, vgpu
from .device_config import VGPU
from .gpu_share import SharedGpus, most_of
from .queue_amounts import queue_amounts
from .vgpu import Sharing, VirtualGpus, gang_of
from .vgpu_request import Names, asks, names_of

GPU_SHARING = "deviceshare.GPUSharingEnable"
GPU_NUMBER = "deviceshare.GPUNumberEnable"
NODE_LOCK = "deviceshare.NodeLockEnable"
SCHEDULE_WEIGHT = "deviceshare.ScheduleWeight"
SCHEDULE_POLICY = "deviceshare.SchedulePolicy"

_PLACE = "plugins/deviceshare.enablePredicate"
_NO_INTEGER = -(2**63)
"""Go's result for a number that is not an integer."""
_NO_CONFIG: Mapping[str, Any] = MappingProxyType({})
_TAKING = frozenset({SharedDevices.LATE, SharedDevices.REFUSALS_HEEDED})
_MODELESS = frozenset({SharedDevices.ERRORS_REPORTED, SharedDevices.FAULTS_REPORTED})
_PIPELINED = frozenset({Status.PIPELINED})
_RELEASED = _PIPELINED | {Status.RELEASING}
_UNCUT = "deviceshare: no device configuration was recorded; cards in mode mig count as uncut"


@dataclass(slots=True)
class DeviceMemory:
    """The process's memory: switches keep their last values."""

    sharing: bool = False
    number: bool = False
    virtual: bool = False
    annotations: dict[str, dict[str, str]] = field(default_factory=dict)
    """What sessions wrote on pods, by UID."""
    unknown: dict[str, Node] = field(default_factory=dict)
    """Names of nodes whose last update was before the plugin was enabled."""
    uncounted: dict[str, tuple[Pod, Node]] = field(default_factory=dict)
    """By UID: pods on nodes when the plugin was enabled, whose shared cards are not counted."""

    def __deepcopy__(self, _: dict[int, Any]) -> DeviceMemory:
        """Return a copy with the same objects: another object is an update."""
        annotations = {uid: {**written} for uid, written in self.annotations.items()}
        return replace(
            self, annotations=annotations, unknown={**self.unknown}, uncounted={**self.uncounted}
        )

    @property
    def on(self) -> bool:
        """Whether devices of any kind are shared."""
        return self.sharing or self.number or self.virtual


class DeviceShare:
    """Filters nodes by free GPUs, and assigns GPUs.

    Arguments (bool, default false): ``deviceshare.GPUSharingEnable``,
    ``deviceshare.GPUNumberEnable``, ``deviceshare.VGPUEnable``, ``deviceshare.NodeLockEnable``.
    """

    name: ClassVar[str] = "deviceshare"

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments

    def on_session_open(self, ssn: Session) -> None:
        """Set the switches, build the accounts of cards, and register filter and handlers.

        :raises Panic: switches that exclude each other are on.
        """
        self._ssn = ssn
        self._memory = ssn.process.memory.of(DeviceMemory)
        self._devices = ssn.behaviours.shared_devices
        self._takes = self._devices in _TAKING
        self._heeds = self._devices is SharedDevices.REFUSALS_HEEDED
        was_on = self._memory.on
        self._set_switches()
        self._shared: dict[int, SharedGpus] = {}
        self._virtual: dict[int, VirtualGpus] = {}
        self._holding: dict[int, dict[str, str]] = {}
        """By task with virtual GPUs at the opening: their annotations, if these are restored."""
        self._left: dict[int, list[int]] = {}
        """By simulated victim: the shared cards that it had."""
        self._scores: Floats = np.zeros(len(ssn.nodes))
        """By node: its cards' score for the last pod that passed the filter."""
        if not self._memory.on:
            return
        if ssn.process.from_start and not was_on:
            self._note_what_was_there()
        self._build()
        ssn.registry.add_predicate(self.name, self._predicate, per=self._depends)
        if self._weight > 0 if ssn.behaviours.devices_scored else self._sharing.policy:
            ssn.registry.add_node_order(self.name, self._score, per="task")
        ssn.share_devices, ssn.take_devices = self._allocate, self._deallocate
        if self._holding:
            ssn.registry.add_event_handler(allocate=self._stay, deallocate=self._go)
        if self._heeds:
            ssn.registry.add_simulation_handler(back=self._come_back, removed=self._leave)
            ssn.devices_allow = self._allows

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _note_what_was_there(self) -> None:
        """Note the nodes and pods whose devices the process does not count until an update.

        Source: api/node_info.go setNodeOthersResource, addResource.
        """
        ssn, memory = self._ssn, self._memory
        known = [(row, info.node) for row, info in enumerate(ssn.nodes.info) if info.node]
        if self._takes:
            memory.unknown = {node.name: node for _, node in known}
        if self._devices is SharedDevices.PODS_LATE:
            pods = (
                (ssn.tasks.info[task].pod, node)
                for row, node in known
                for task, _ in ssn.nodes.tasks(row).values()
            )
            memory.uncounted = {pod.uid: (pod, node) for pod, node in pods}

    def _set_switches(self) -> None:
        given, memory = self._arguments, self._memory
        memory.sharing = given.get_bool(GPU_SHARING, memory.sharing)
        memory.number = given.get_bool(GPU_NUMBER, memory.number)
        memory.virtual = given.get_bool(VGPU, memory.virtual)
        if SCHEDULE_POLICY in given.raw and not self._ssn.behaviours.devices_scored:
            text_or_panic(given.raw[SCHEDULE_POLICY], _PLACE)
        use, policy = self._ssn.behaviours.virtual_gpu_use, given.get_str(SCHEDULE_POLICY, "")
        config = self._ssn.process.external.device_config or _NO_CONFIG
        names = Names() if use is VirtualGpuUse.FROM_LAST else names_of(config)
        unsigned = self._devices is SharedDevices.ERRORS_REPORTED
        self._sharing = Sharing(use, policy, names, unsigned)
        self._weight = given.get_int(SCHEDULE_WEIGHT, 0)
        if not self._ssn.behaviours.devices_scored:
            self._weight = 0  # a score is worked out, if there is a policy, and thrown away
        if memory.sharing and memory.number:
            raise Panic("can not define true in both gpu sharing and gpu number", (_PLACE,))
        if (memory.sharing or memory.number) and memory.virtual:
            raise Panic("gpu-share and vgpu can't be used together", (_PLACE,))
        if given.get_bool(NODE_LOCK, False):
            self._ssn.errors.append("deviceshare: locks of nodes are not taken into account")

    def _build(self) -> None:
        """Build the accounts from nodes and from their pods' devices."""
        ssn, memory = self._ssn, self._memory
        config = ssn.process.external.device_config or _NO_CONFIG
        nodes = [info.node for info in ssn.nodes.info if info.node is not None]
        if memory.virtual and not config and any(map(vgpu.registers_mig, nodes)):
            ssn.errors.append(_UNCUT)
        handshake = ssn.behaviours.virtual_gpus_by_handshake
        modes = self._devices not in _MODELESS
        without = _RELEASED if self._heeds else _PIPELINED
        for row, info in enumerate(ssn.nodes.info):
            if info.node is None or not self._knows(info.node):
                continue
            shared = SharedGpus.of(info.node) if memory.sharing or memory.number else None
            virtual = (
                VirtualGpus.of(
                    info.node,
                    config,
                    ssn.now,
                    handshake=handshake,
                    modes=modes,
                    sharing=self._sharing,
                )
                if memory.virtual
                else None
            )
            for task, status in ssn.nodes.tasks(row).values():
                if status not in without:
                    self._add(task, info.node, shared, virtual)
            if shared is not None:
                self._shared[row] = shared
            if virtual is not None:
                self._virtual[row] = virtual

    def _add(
        self, task: int, node: Node, shared: SharedGpus | None, virtual: VirtualGpus | None
    ) -> None:
        """Count a pod's devices from an earlier session."""
        pod = self._ssn.tasks.info[task].pod
        annotations = {**pod.annotations, **self._memory.annotations.get(pod.uid, {})}
        if shared is not None and not self._is_uncounted(pod, node):
            shared.add(pod, annotations)
        if virtual is not None:
            virtual.add(pod.uid, annotations, gang_of(pod))
            if self._returns and annotations.get(vgpu.ASSIGNED):
                self._holding[task] = annotations
            if self._sharing.use is not VirtualGpuUse.FROM_LAST and self._asks_virtual(pod):
                self._ssn.device_amounts[task] = queue_amounts(virtual, annotations)

    def _is_uncounted(self, pod: Pod, node: Node) -> bool:
        was = self._memory.uncounted.get(pod.uid)
        return was is not None and was[0] is pod and was[1] is node

    def _knows(self, node: Node) -> bool:
        """Return whether a node's devices are checked."""
        return self._memory.unknown.get(node.name) is not node

    def _asks_shared(self, pod: Pod) -> bool:
        memory = self._memory
        return (memory.sharing and most_of(pod, gpu_share.MEMORY) > 0) or (
            memory.number and most_of(pod, gpu_share.NUMBER) > 0
        )

    def _asks_virtual(self, pod: Pod) -> bool:
        return self._memory.virtual and asks(pod, self._sharing.names)

    def _depends(self, task: int) -> Per:
        """Return whether verdicts hold for a class.

        They do not if they depend on the pods of the gang; nor if the filter stores
        a score on the node, because then its order matters.
        """
        pod = self._ssn.tasks.info[task].pod
        keeps = self._keeps_score(pod)
        return "task" if keeps or vgpu.GANG_POLICY in pod.annotations else "class"

    def _keeps_score(self, pod: Pod) -> bool:
        """Return whether nodes keep a score from the filter of a pod.

        Before v1.14 the filter runs even if the pod requests no device; then the score is 0.
        """
        asked = self._asks_virtual(pod) or (self._memory.virtual and not self._takes)
        return self._weight > 0 and asked

    def _predicate(self, task: int, rows: Rows) -> Ints | None:
        pod = self._ssn.tasks.info[task].pod
        if not self._asks_virtual(pod) and self._keeps_score(pod):
            self._scores[rows] = 0
        if not (self._asks_shared(pod) or self._asks_virtual(pod)):
            return None
        return np.array([self._filter(pod, node) for node in rows.tolist()], dtype=np.int32)

    def _filter(self, pod: Pod, node: int) -> int:
        error = self._shared_fault(pod, node) or self._virtual_fault(pod, node)
        return self._ssn.reasons.intern(StatusCode.UNSCHEDULABLE, error) if error else PASS

    def _shared_fault(self, pod: Pod, node: int) -> str:
        if not self._asks_shared(pod):
            return ""
        shared = self._shared.get(node)
        if shared is None:
            return self._missing("GpuShare")
        return self._reported(
            shared.filter(pod, sharing=self._memory.sharing, number=self._memory.number)
        )

    def _virtual_fault(self, pod: Pod, node: int) -> str:
        if not self._asks_virtual(pod):
            return ""
        virtual = self._virtual.get(node)
        if virtual is None:
            return self._missing("hamivgpu")
        score = virtual.tries(pod)
        if score is not None:
            self._scores[node] = score
            return ""
        tells = self._devices in _MODELESS
        return self._reported(
            f"hami-vgpuDeviceSharing {virtual.refusal(pod) if tells else 'error'}"
        )

    def _missing(self, device: str) -> str:
        """Return the fault of a node without a kind of device; empty if that is none."""
        if self._takes:
            return ""
        space = " " if self._devices is SharedDevices.ERRORS_REPORTED else ""
        return f"node not initialized with device{space}{device}"

    def _reported(self, fault: str) -> str:
        """Return a fault as it is reported to pods: with the kind of device or without."""
        bare = self._devices is SharedDevices.ERRORS_REPORTED
        return fault.partition(" ")[2] if bare else fault

    def _allocate(self, task: int, node: int) -> str:
        """Assign a pod its part and write the annotations; return the error if it is not free.

        :raises Panic: the node has no such devices.
        """
        pod = self._ssn.tasks.info[task].pod
        error = self._give_shared(pod, node) or self._give_virtual(pod, node)
        if error:
            self._ssn.errors.append(f"AllocateToPod failed {error}")
        return error

    def _give_shared(self, pod: Pod, node: int) -> str:
        if not self._asks_shared(pod):
            return ""
        shared = self._shared.get(node)
        if shared is None:
            return self._give_nothing(node, "gpushare")
        cards, error = shared.allocate(pod)
        if cards:
            self._written(pod)[gpu_share.INDEX] = ",".join(map(str, cards))
        return error

    def _give_virtual(self, pod: Pod, node: int) -> str:
        if not self._asks_virtual(pod):
            return ""
        virtual = self._virtual.get(node)
        if virtual is None:
            return self._give_nothing(node, "vgpu")
        written = self._written(pod)
        if self._returns and self._has_some(pod, virtual.node):
            return ""
        before = virtual.clone() if self._returns else virtual
        fit = virtual.fit(pod)
        if fit is None:
            self._virtual[node] = before
            return before.refusal(pod)
        written[vgpu.ASSIGNED] = vgpu.encode_given(fit.given)
        written[vgpu.ASSIGNED_NODE] = virtual.node
        if self._ssn.behaviours.virtual_gpus_counted_twice:
            virtual.add(pod.uid, written)
        else:
            virtual.note(pod.uid, fit.given, gang_of(pod))
        return ""

    @property
    def _returns(self) -> bool:
        """Whether released virtual GPUs are free at once."""
        return self._sharing.use is VirtualGpuUse.BY_POLICY

    def _has_some(self, pod: Pod, node: str) -> bool:
        """Return whether a pod's annotations say that it has virtual GPUs of a node."""
        has = {**pod.annotations, **self._written(pod)}
        return has.get(vgpu.ASSIGNED_NODE) == node and bool(has.get(vgpu.ASSIGNED))

    def _take_virtual(self, task: int, virtual: VirtualGpus) -> None:
        """Release virtual GPUs, and remove the pod's annotations, unless it is already bound.

        Source: device_info.go Release.
        """
        pod = self._ssn.tasks.info[task].pod
        written = self._written(pod)
        virtual.remove(pod.uid, {**pod.annotations, **written})
        if pod.annotations.get(vgpu.BIND_PHASE) != "success":
            written.update(dict.fromkeys((vgpu.ASSIGNED, vgpu.ASSIGNED_NODE), ""))

    def _go(self, task: int, node: int) -> None:
        """Release the cards of an evicted pod.

        Source: api/node_info.go RemoveTask, AddTask.
        """
        if task in self._holding and node in self._virtual:
            self._virtual[node].remove(self._ssn.tasks.info[task].pod.uid, self._holding[task])

    def _stay(self, task: int, node: int) -> None:
        """Assign the cards again to a pod whose eviction is undone."""
        if task in self._holding and node in self._virtual:
            pod = self._ssn.tasks.info[task].pod
            self._virtual[node].add(pod.uid, self._holding[task], gang_of(pod))

    def _leave(self, task: int, node: int) -> None:
        """Release the cards of a simulated victim."""
        self._go(task, node)
        if node in self._shared:
            self._left[task] = self._shared[node].release(self._ssn.tasks.info[task].pod)

    def _come_back(self, task: int, node: int) -> None:
        """Assign its cards again to a simulated victim that may stay."""
        self._stay(task, node)
        for card in self._left.pop(task, ()):
            pod = self._ssn.tasks.info[task].pod
            self._shared[node].pods[card][pod.uid] = pod

    def _allows(self, task: int, node: int) -> bool:
        """Return whether devices of a node suffice for a task while victims are simulated.

        Source: predicates.go, the function of ``AddSimulatePredicateFn``.
        """
        pod = self._ssn.tasks.info[task].pod
        if self._shared_fault(pod, node):
            return False
        virtual = self._virtual.get(node)
        return virtual is None or not self._asks_virtual(pod) or virtual.tries(pod) is not None

    def _score(self, task: int, rows: Rows) -> Floats:
        """Return weight · ⌊what the cards score that a pod would get + ½⌋.

        The filter stored it. A node without room, or that an earlier filter refused,
        still has the score for another pod: with evictions, it is still a candidate.

        :raises Panic: a node has no cards, and a pod requests some.

        Source: deviceshare.go getDeviceScore.
        """
        if not self._asks_virtual(self._ssn.tasks.info[task].pod):
            return np.zeros(len(rows))
        for node in rows.tolist():
            if node not in self._virtual:
                self._score_nothing(node)
        scores = self._scores[rows]
        whole = np.where(np.isfinite(scores), np.floor(scores + 0.5), _NO_INTEGER)
        return whole * self._weight

    def _score_nothing(self, node: int) -> None:
        known = self._ssn.nodes.info[node].node
        if known is not None and self._knows(known):
            place = "api/devices/nvidia/vgpu.(*GPUDevices).ScoreNode"
            raise Panic(
                "runtime error: invalid memory address or nil pointer dereference", (place,)
            )

    def _give_nothing(self, node: int, package: str) -> str:
        known = self._ssn.nodes.info[node].node
        if not self._heeds and known is not None and self._knows(known):
            place = f"api/devices/nvidia/{package}.(*GPUDevices).Allocate"
            raise Panic(
                "runtime error: invalid memory address or nil pointer dereference", (place,)
            )
        return ""

    def _written(self, pod: Pod) -> dict[str, str]:
        return self._memory.annotations.setdefault(pod.uid, {})

    def _deallocate(self, task: int, node: int) -> None:
        """Release the shared cards in the pod's annotation; virtual ones may stay."""
        pod = self._ssn.tasks.info[task].pod
        shared, virtual = self._shared.get(node), self._virtual.get(node)
        if self._returns and virtual is not None and self._asks_virtual(pod):
            self._take_virtual(task, virtual)
        if shared is not None and self._asks_shared(pod):
            shared.remove(pod)
            self._memory.annotations.get(pod.uid, {}).pop(gpu_share.INDEX, None)
