"""Plugin ``deviceshare``: pods that share GPUs are placed where their part is free.

A pod's part is in its annotations; the process remembers what sessions assign
until the annotations show it. Only virtual GPUs score.

Source: pkg/scheduler/plugins/deviceshare/deviceshare.go; what happens to devices when tasks are
placed is in pkg/scheduler/plugins/predicates/predicates.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ....kubernetes.objects import Pod
from ....kubernetes.units import SECOND_US
from ....model.panic import NIL_POINTER, Panic
from ....model.session_tables import Floats, Ints, Rows
from ....volcano.conf import Arguments
from ....volcano.session.devices import SharedDevices, VirtualGpuUse
from ...framework.plugin_registry import Per
from ...framework.session import Session
from ...reasons.objections import NodeCode, Objection
from ...reasons.statuses import PASS, StatusCode
from ..shared.type_assertion import text_or_panic
from . import gpu_share, vgpu
from .accounts import CardAccount
from .device_config import GPU_NUMBER, GPU_SHARING, VGPU
from .gpu_share import most_of
from .ledger import Ledger
from .memory_sharing import MODELESS, NO_CONFIG, DeviceMemory, known_how
from .queue_amounts import queue_amounts
from .register import UNREGISTERED, unregistered
from .vgpu import Sharing, VirtualGpus, gang_of
from .vgpu_request import CardNames, asks, names_of

PREDICATES = "predicates"
NODE_LOCK = "deviceshare.NodeLockEnable"
SCHEDULE_WEIGHT = "deviceshare.ScheduleWeight"
SCHEDULE_POLICY = "deviceshare.SchedulePolicy"

_PLACE = "plugins/deviceshare.enablePredicate"
_NO_INTEGER = -(2**63)
"""Go's result for a number that is not an integer."""
_CARDS = frozenset({gpu_share.INDEX, gpu_share.TIME})
_GIVEN = (
    *(vgpu.ASSIGNED_NODE, vgpu.ASSIGNED, vgpu.TO_ALLOCATE),
    *(vgpu.TIME, vgpu.BIND_TIME, vgpu.BIND_PHASE),
)
_UNMARKED = (
    "Device GpuShare release failed for pod {}: it lacks the annotations that name its cards"
)
_NANOSECONDS = 1000
"""Of a microsecond."""
_UNCUT = "deviceshare: no device configuration was recorded; cards in mode mig count as uncut"


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
        self._open(ssn)
        if not self._memory.on:
            return
        ssn.registry.add_predicate(self.name, self._predicate, per=self._depends)
        if self._weight > 0 if ssn.behaviours.devices_scored else self._sharing.policy:
            ssn.registry.add_node_order(self.name, self._score, per="task")

    def stay_open(self, ssn: Session) -> None:
        """Give devices to the tasks of a session whose configuration lacks the plugin.

        The process's switches keep their values, and ``predicates`` gives devices by them.
        """
        memory = ssn.process.memory.find(DeviceMemory)
        if memory is not None and memory.on:
            self._open(ssn)

    def _open(self, ssn: Session) -> None:
        """Set the switches, build the accounts of cards, and register handlers."""
        self._ssn = ssn
        self._memory = ssn.process.memory.of(DeviceMemory)
        self._devices = known_how(ssn)
        was_on = self._memory.on
        self._set_switches()
        self._ledger = Ledger(ssn, self._memory, self._devices, self._sharing)
        self._holding: dict[int, dict[str, str]] = {}
        """By task with virtual GPUs at the opening: their annotations, if these are restored."""
        self._left: dict[int, list[int]] = {}
        """By simulated victim: the shared cards that it had."""
        self._scores: Floats = np.zeros(len(ssn.nodes))
        """By node: its cards' score for the last pod that passed the filter."""
        if not self._memory.on:
            return
        self._build(was_on=was_on)
        ssn.share_devices, ssn.take_devices = self._allocate, self._deallocate
        # Devices are given by the handlers of `predicates`; without it only `NodeInfo.AddTask`
        # counts.
        if not any(option.name == PREDICATES for tier in ssn.conf.tiers for option in tier):
            ssn.registry.add_event_handler(
                allocate=self._ledger.enter, deallocate=self._ledger.exit
            )
        if self._ledger.returns and self._holding:
            ssn.registry.add_event_handler(allocate=self._stay, deallocate=self._go)
        if self._ledger.heeds:
            ssn.registry.add_simulation_handler(back=self._come_back, removed=self._leave)
            ssn.devices_allow = self._allows
        else:
            ledger = self._ledger
            ssn.registry.add_simulation_handler(back=ledger.come_back, removed=ledger.leave)

    def on_session_close(self, ssn: Session) -> None:
        """Keep the scores of the cards."""
        for row, account in self._ledger.accounts.items():
            account.score = float(self._scores[row])

    def _set_switches(self) -> None:
        given, memory = self._arguments, self._memory
        # Package variables there: a switch that the arguments leave out keeps its last value.
        memory.sharing = given.get_bool(GPU_SHARING, memory.sharing)
        memory.number = given.get_bool(GPU_NUMBER, memory.number)
        memory.virtual = given.get_bool(VGPU, memory.virtual)
        if SCHEDULE_POLICY in given.raw and not self._ssn.behaviours.devices_scored:
            text_or_panic(given.raw[SCHEDULE_POLICY], _PLACE)
        use, policy = self._ssn.behaviours.virtual_gpu_use, given.get_str(SCHEDULE_POLICY, "")
        config = self._ssn.process.external.device_config or NO_CONFIG
        names = CardNames() if use is VirtualGpuUse.FROM_LAST else names_of(config)
        how = self._ssn.behaviours
        self._sharing = Sharing(
            use,
            policy,
            names,
            memory_unsigned=self._devices is SharedDevices.ERRORS_REPORTED,
            cores_unsigned=how.free_cores_unsigned,
            counts_once=self._devices not in MODELESS,
            unwanted_allowed=how.one_unwanted_type_allowed,
            unknown_crash=how.unknown_virtual_gpus_crash,
        )
        self._weight = given.get_int(SCHEDULE_WEIGHT, 0)
        if not self._ssn.behaviours.devices_scored:
            self._weight = 0  # a score is worked out, if there is a policy, and thrown away
        if memory.sharing and memory.number:
            raise Panic("can not define true in both gpu sharing and gpu number", (_PLACE,))
        if (memory.sharing or memory.number) and memory.virtual:
            raise Panic("gpu-share and vgpu can't be used together", (_PLACE,))
        if given.get_bool(NODE_LOCK, False):
            self._ssn.errors.append("deviceshare: locks of nodes are not taken into account")

    def _build(self, *, was_on: bool) -> None:
        """Build the accounts from nodes and from their pods' devices, or go on with those kept.

        :param was_on: the process counted devices before this session.
        """
        ssn, memory = self._ssn, self._memory
        config = ssn.process.external.device_config or NO_CONFIG
        nodes = [info.node for info in ssn.nodes.info if info.node is not None]
        if memory.virtual and not config and any(map(vgpu.registers_mig, nodes)):
            ssn.errors.append(_UNCUT)
        keeps = ssn.process.from_start
        if keeps:
            memory.annotations.clear()  # the pods show what sessions wrote
        self._ledger.open(was_on=was_on)
        for row, account in self._ledger.accounts.items():
            if account.virtual is not None:
                account.virtual.sharing = self._sharing
            self._scores[row] = account.score
            for task, status in ssn.nodes.tasks(row).values():
                if status not in self._ledger.without:
                    self._find(task, account, counts=not keeps)

    def _find(self, task: int, account: CardAccount, *, counts: bool) -> None:
        """Note what a pod has of devices from an earlier session.

        :param counts: count it, too.
        """
        pod, virtual = self._ssn.tasks.info[task].pod, account.virtual
        annotations = self._noted(pod)
        if counts and account.shared is not None:
            account.shared.add(pod, annotations)
        if virtual is not None:
            if counts:
                virtual.add(pod.uid, annotations, gang_of(pod))
            if self._ledger.returns and annotations.get(vgpu.ASSIGNED):
                self._holding[task] = annotations
            self._counts_in_queues(task, virtual, annotations)

    def _tell_queues(self, task: int, node: int) -> None:
        """Note what the annotations say of a task that is placed: an earlier session's promise."""
        virtual, pod = self._ledger.virtual(node), self._ssn.tasks.info[task].pod
        if virtual is not None and vgpu.ASSIGNED in pod.annotations:
            self._counts_in_queues(task, virtual, pod.annotations)

    def _counts_in_queues(
        self, task: int, virtual: VirtualGpus, annotations: Mapping[str, str]
    ) -> None:
        pod = self._ssn.tasks.info[task].pod
        if self._sharing.use is not VirtualGpuUse.FROM_LAST and self._asks_virtual(pod):
            self._ssn.device_amounts[task] = queue_amounts(virtual, annotations)

    def _knows(self, row: int) -> bool:
        """Return whether a node's devices are checked."""
        return self._ledger.accounts[row].known

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
        asked = self._asks_virtual(pod) or (self._memory.virtual and not self._ledger.takes)
        return self._weight > 0 and asked

    def _predicate(self, task: int, rows: Rows) -> Ints | None:
        pod = self._ssn.tasks.info[task].pod
        if not self._asks_virtual(pod) and self._keeps_score(pod):
            self._scores[rows] = 0
        if not (self._asks_shared(pod) or self._asks_virtual(pod)):
            return None
        return np.array([self._filter(pod, node) for node in rows.tolist()], dtype=np.int32)

    def _filter(self, pod: Pod, node: int) -> int:
        fault = self._shared_fault(pod, node) or self._virtual_fault(pod, node)
        return self._ssn.reasons.intern(StatusCode.UNSCHEDULABLE, fault) if fault else PASS

    def _shared_fault(self, pod: Pod, node: int) -> Objection | None:
        if not self._asks_shared(pod):
            return None
        self._ledger.catch_up(node)
        shared = self._ledger.shared(node)
        if shared is None:
            return self._missing("GpuShare")
        fault = shared.filter(pod, sharing=self._memory.sharing, number=self._memory.number)
        return None if fault is None else Objection(self._reported(*fault))

    def _virtual_fault(self, pod: Pod, node: int) -> Objection | None:
        if not self._asks_virtual(pod):
            return None
        self._ledger.catch_up(node)
        virtual = self._ledger.virtual(node)
        if virtual is None:
            self._note_unregistered(node)
            return self._missing(vgpu.DEVICE)
        score = virtual.tries(pod)
        if score is not None:
            self._scores[node] = score
            return None
        if self._ssn.trace.follows(pod.key):
            about = f"{pod.key} {self._ssn.nodes.names[node]}"
            self._ssn.trace.detail(vgpu.SHORTAGES, about, virtual.shortages(pod))
        tells = self._devices in MODELESS
        fault = self._reported("hami-vgpuDeviceSharing", virtual.refusal(pod) if tells else "error")
        return Objection(fault, NodeCode.CARDS_FULL, by=self.name)

    def _missing(self, device: str) -> Objection | None:
        """Return the fault of a node without a kind of device; None if that is none."""
        if self._ledger.takes:
            return None
        space = " " if self._devices is SharedDevices.ERRORS_REPORTED else ""
        said = f"node not initialized with device{space}{device}"
        return Objection(said, NodeCode.NO_VIRTUAL_GPUS, device)

    def _note_unregistered(self, node: int) -> None:
        """Keep why a node has no virtual GPUs for this release, if the trace follows something."""
        ssn, info = self._ssn, self._ssn.nodes.info[node]
        if not ssn.trace.closely or info.node is None:
            return
        by_handshake = ssn.behaviours.virtual_gpus_by_handshake
        modes = self._devices not in MODELESS
        now = ssn.now if by_handshake else 0
        why = unregistered(info.node, now, handshake=by_handshake, modes=modes)
        if why is not None:
            ssn.trace.detail(UNREGISTERED, info.name, why)

    def _reported(self, device: str, fault: str) -> str:
        """Return a fault as it is reported to pods: with the kind of device or without."""
        return fault if self._devices is SharedDevices.ERRORS_REPORTED else f"{device} {fault}"

    def _allocate(self, task: int, node: int) -> str:
        """Assign a pod its part and write the annotations; return the error if it is not free.

        :raises Panic: the node has no such devices.
        """
        self._ledger.enter(task, node)
        self._ledger.catch_up(node)
        self._tell_queues(task, node)
        error = self._give_shared(task, node) or self._give_virtual(task, node)
        if error:
            self._ssn.errors.append(f"AllocateToPod failed {error}")
        return error

    def _give_shared(self, task: int, node: int) -> str:
        pod = self._ssn.tasks.info[task].pod
        if not self._asks_shared(pod):
            return ""
        shared = self._ledger.shared(node)
        if shared is None:
            return self._give_nothing(node, "gpushare")
        cards, error = shared.allocate(pod)
        if cards:
            time = str(self._ssn.now * _NANOSECONDS)
            self._write(task, {gpu_share.TIME: time, gpu_share.INDEX: ",".join(map(str, cards))})
        return error

    def _give_virtual(self, task: int, node: int) -> str:
        pod = self._ssn.tasks.info[task].pod
        if not self._asks_virtual(pod):
            return ""
        virtual = self._ledger.virtual(node)
        if virtual is None:
            return self._give_nothing(node, "vgpu")
        # `alreadyAssignedOnNode`: a repeated plan does not give a pod its devices a second time.
        if self._ledger.returns and self._has_some(pod, virtual.node):
            return ""
        # `rollbackTentative` undoes what was counted before a container got nothing; older releases
        # keep it.
        before = virtual.clone() if self._ledger.returns else virtual
        fit = virtual.fit(pod)
        if fit is None:
            self._ledger.accounts[node].virtual = before
            return before.refusal(pod)
        seconds, ids = str(self._ssn.now // SECOND_US), vgpu.encode_given(fit.given)
        written = {
            vgpu.ASSIGNED_NODE: virtual.node,
            vgpu.TIME: seconds,
            vgpu.ASSIGNED: ids,
            vgpu.TO_ALLOCATE: ids,
            vgpu.BIND_PHASE: "allocating",
            vgpu.BIND_TIME: seconds,
        }
        self._write(task, written)
        # `fit` has counted already; `addResource` does so again for a pod that its map does not
        # know.
        if self._ssn.behaviours.virtual_gpus_counted_twice:
            virtual.add(pod.uid, written)
        else:
            virtual.note(pod.uid, fit.given, gang_of(pod))
        return ""

    def _has_some(self, pod: Pod, node: str) -> bool:
        """Return whether a pod's annotations say that it has virtual GPUs of a node."""
        has = self._noted(pod)
        return has.get(vgpu.ASSIGNED_NODE) == node and bool(has.get(vgpu.ASSIGNED))

    def _take_virtual(self, task: int, virtual: VirtualGpus) -> None:
        """Release virtual GPUs, and remove the pod's annotations, unless it is already bound.

        Source: device_info.go Release.
        """
        pod = self._ssn.tasks.info[task].pod
        noted = self._noted(pod)
        virtual.remove(pod.uid, noted)
        if noted.get(vgpu.BIND_PHASE) != "success":
            self._write(task, dict.fromkeys(_GIVEN))

    def _go(self, task: int, node: int) -> None:
        """Release the cards of an evicted pod.

        Source: api/node_info.go RemoveTask, AddTask.
        """
        virtual = self._ledger.virtual(node)
        if task in self._holding and virtual is not None:
            virtual.remove(self._ssn.tasks.info[task].pod.uid, self._holding[task])

    def _stay(self, task: int, node: int) -> None:
        """Assign the cards again to a pod whose eviction is undone."""
        virtual = self._ledger.virtual(node)
        if task in self._holding and virtual is not None:
            pod = self._ssn.tasks.info[task].pod
            virtual.add(pod.uid, self._holding[task], gang_of(pod))

    def _leave(self, task: int, node: int) -> None:
        """Release the cards of a simulated victim."""
        self._go(task, node)
        shared = self._ledger.shared(node)
        if shared is not None:
            self._left[task] = shared.release(self._ssn.tasks.info[task].pod)

    def _come_back(self, task: int, node: int) -> None:
        """Assign its cards again to a simulated victim that may stay."""
        self._stay(task, node)
        shared, pod = self._ledger.shared(node), self._ssn.tasks.info[task].pod
        if shared is not None:
            for card in self._left.pop(task, ()):
                shared.pods[card][pod.uid] = pod

    def _allows(self, task: int, node: int) -> bool:
        """Return whether devices of a node suffice for a task while victims are simulated.

        Source: predicates.go, the function of ``AddSimulatePredicateFn``.
        """
        pod = self._ssn.tasks.info[task].pod
        if self._shared_fault(pod, node):
            return False
        virtual = self._ledger.virtual(node)
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
            if self._ledger.virtual(node) is None:
                self._score_nothing(node)
        scores = self._scores[rows]
        whole = np.where(np.isfinite(scores), np.floor(scores + 0.5), _NO_INTEGER)
        return whole * self._weight

    def _score_nothing(self, node: int) -> None:
        known = self._ssn.nodes.info[node].node
        if known is not None and self._knows(node):
            place = "api/devices/nvidia/vgpu.(*GPUDevices).ScoreNode"
            raise Panic(NIL_POINTER, (place,))

    def _give_nothing(self, node: int, package: str) -> str:
        known = self._ssn.nodes.info[node].node
        if not self._ledger.heeds and known is not None and self._knows(node):
            place = f"api/devices/nvidia/{package}.(*GPUDevices).Allocate"
            raise Panic(NIL_POINTER, (place,))
        return ""

    def _noted(self, pod: Pod) -> dict[str, str]:
        """Return a pod's annotations with what sessions wrote."""
        written: dict[str, str | None] = {
            **pod.annotations,
            **self._memory.annotations.get(pod.uid, {}),
        }
        return {key: value for key, value in written.items() if value is not None}

    def _write(self, task: int, changes: Mapping[str, str | None]) -> None:
        """Write annotations on a pod; ``None`` removes one."""
        pod = self._ssn.tasks.info[task].pod
        self._memory.annotations.setdefault(pod.uid, {}).update(changes)
        self._ssn.annotated.setdefault(task, {}).update(changes)

    def _deallocate(self, task: int, node: int) -> str:
        """Release the shared cards in the pod's annotation; virtual ones may stay.

        They stay as well if the annotations are missing: removing them fails then.

        :returns: the error.
        """
        self._ledger.exit(task, node)
        self._ledger.catch_up(node)
        pod = self._ssn.tasks.info[task].pod
        shared, virtual = self._ledger.shared(node), self._ledger.virtual(node)
        if self._ledger.returns and virtual is not None and self._asks_virtual(pod):
            self._take_virtual(task, virtual)
        if shared is None or not self._asks_shared(pod):
            return ""
        if not self._noted(pod).keys() >= _CARDS:
            return _UNMARKED.format(self._ssn.task_name(task))
        shared.remove(pod)
        self._write(task, dict.fromkeys(_CARDS))
        return ""
