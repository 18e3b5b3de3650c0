"""Plugin ``numa-aware``: guaranteed pods are placed where the topology manager would admit them.

For each container the CPUs are chosen as the node's kubelet would choose them; of the nodes that
admit a pod, those that need fewer NUMA nodes for it score higher.

Source: pkg/scheduler/plugins/numaaware/numaaware.go.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from ....kubernetes.quantity import parse
from ....model.panic import NIL_POINTER, Panic
from ....model.session_tables import Floats, Ints, Rows, TaskStatus
from ....volcano.conf import Arguments
from ...framework.session import Session
from ...reasons.objections import NodeCode, Objection, around
from ...reasons.statuses import PASS, StatusCode
from ..shared.filter_errors import error_code
from ..shared.pod_qos import GUARANTEED, pod_qos
from .cpu_assignment import NONE, take_by_topology
from .cpu_topology import CpuSet
from .hints import admit, assign_cpus, cpu_hints
from .scheduler_numa import (
    CPU_MANAGER_POLICY,
    TOPOLOGY_MANAGER_POLICY,
    ResourceSets,
    SchedulerNuma,
    refresh_all,
)


class NodeMemo:
    """Verdicts by node row, each with the version of its node."""

    def __init__(self, nodes: int) -> None:
        self._verdicts = np.zeros(nodes, dtype=np.int32)
        self._versions = np.full(nodes, -1, dtype=np.int64)

    def verdicts(self, rows: Rows, versions: NDArray[np.int64], find: Callable[[int], int]) -> Ints:
        """Return the verdicts of rows; ``find`` computes those with another version."""
        stale = rows[self._versions[rows] != versions[rows]]
        for node in stale.tolist():
            self._verdicts[node] = find(node)
        self._versions[stale] = versions[stale]
        verdicts_of_rows: Ints = self._verdicts[rows]
        return verdicts_of_rows


MAX_NODE_SCORE = 100
CPU = "cpu"
_RESERVABLE = frozenset({"cpu", "memory", "ephemeral-storage"})
"""The resources that can be reserved; if any other is named, none is."""

_PLACED = frozenset({TaskStatus.ALLOCATED, TaskStatus.PIPELINED})

_NAME = "numa-aware"
NO_NUMA = Objection("numa info is empty", NodeCode.NUMA_UNREPORTED, by=_NAME)
"""With this, nodes are refused that have no Numatopology."""
_NOT_STATIC = Objection("cpu manager policy isn't static", NodeCode.CPU_MANAGER, by=_NAME)
_NO_CPU = Objection("cpu allocatable map is empty", NodeCode.NUMA_NO_CPU, by=_NAME)


class NumaMemory(msgspec.Struct):
    """The process's memory: by node, what the scheduler assigned since the last report."""

    by_node: dict[str, SchedulerNuma] = msgspec.field(default_factory=dict)


class ClassFits:
    """The results for tasks of a class: verdicts, and the CPUs that each node would assign."""

    def __init__(self, nodes: int) -> None:
        self.memo = NodeMemo(nodes)
        self.assigned: dict[int, CpuSet] = {}
        self.refused: dict[int, Objection] = {}
        """By node that would not admit a container: which one it is."""


class NumaAware:
    """Filters and scores nodes for guaranteed pods.

    Argument ``weight`` (int, default 1). The process remembers what the scheduler assigned since a
    node's last report.
    """

    name: ClassVar[str] = _NAME

    def __init__(self, arguments: Arguments) -> None:
        self._weight = arguments.get_int("weight", 1)

    def on_session_open(self, ssn: Session) -> None:
        """Read the nodes' reports, and register filter, score and handlers."""
        self._ssn = ssn
        known = ssn.process.memory.of(NumaMemory).by_node
        reports = {info.name: info.numatopology for info in ssn.nodes.info}
        refresh_all(known, reports, crashes=ssn.behaviours.new_numa_resources_crash)
        self._numa = [known.get(name) for name in ssn.nodes.names]
        self._free: list[ResourceSets] = [{} if n is None else dict(n.free) for n in self._numa]
        self._version = np.zeros(len(ssn.nodes), dtype=np.int64)
        self._classes: dict[int, ClassFits | None] = {}
        self._last: tuple[int, ClassFits] | None = None
        self._given: dict[int, dict[int, CpuSet]] = {}
        self._bound: dict[int, int] = {}
        tasks = (task for tasks in ssn.jobs.tasks for task in tasks)
        if not any(self._numa) and not any(map(self._has_policy, tasks)):
            return  # every node would take every task
        ssn.registry.add_event_handler(
            allocate=self._task_allocated, deallocate=self._task_deallocated
        )
        ssn.registry.add_predicate(self.name, self._predicate, per="task")
        ssn.registry.add_batch_node_order(
            self.name,
            self._batch_node_order,
            uniform=lambda task: None if self._has_policy(task) else 0.0,
        )

    def on_session_close(self, ssn: Session) -> None:
        """Remove assigned CPUs from those stored as free."""
        for task, node in self._bound.items():
            numa, given = self._numa[node], self._given.get(task, {}).get(node)
            if numa is not None and given is not None and CPU in numa.free:
                numa.free[CPU] -= given

    def _has_policy(self, task: int) -> bool:
        return self._ssn.tasks.info[task].numa_policy not in {"", "none"}

    def _predicate(self, task: int, rows: Rows) -> Ints | None:
        """Filter nodes; results of the class hold where no CPU was assigned since."""
        info = self._ssn.tasks.info[task]
        if info.klass not in self._classes:
            guaranteed = pod_qos(info.pod) == GUARANTEED
            self._classes[info.klass] = ClassFits(len(self._ssn.nodes)) if guaranteed else None
        fits = self._classes[info.klass]
        if fits is None:
            return None
        self._last = task, fits
        verdicts = fits.memo.verdicts(
            rows, self._version, lambda node: self._admit(task, node, fits)
        )
        if self._ssn.behaviours.pod_message_shows_filter_errors:
            for place, row in enumerate(rows.tolist()):
                if row in fits.refused:
                    verdicts[place] = self._refusal_by_name(task, row, fits.refused[row])
        return verdicts

    def _refusal_by_name(self, task: int, node: int, why: Objection) -> int:
        """Return the verdict on a node that would not admit a container, in the error's words."""
        pod, name = self._ssn.tasks.info[task].name, self._ssn.nodes.names[node]
        error = f"predicates failed for task {pod} container {why.subject} on node {name}"
        code = error_code(self._ssn, StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE)
        return self._ssn.reasons.intern(code, around(f"plugin {self.name} {error}", why))

    def _admit(self, task: int, node: int, fits: ClassFits) -> int:
        """Return the verdict on a node; store its CPUs for the task, or the refused container."""
        fits.assigned.pop(node, None)
        fits.refused.pop(node, None)
        info, numa = self._ssn.tasks.info[task], self._numa[node]
        free: CpuSet | None = self._free[node].get(CPU)
        if self._has_policy(task):
            why = self._policy_error(info.numa_policy, numa, free)
            if why is not None:
                return self._policy_refusal(why)
        if numa is None or not _is_simulated(numa):
            return PASS
        reserved = _reserved(numa)
        given = NONE
        for container in info.pod.spec.containers:
            # What earlier containers of the pod got is off `free`; what is reserved is taken off
            # each time (`GetTopologyHints`).
            available = None if free is None else free - reserved
            hints = cpu_hints(container, numa.details, available)
            policy = numa.policy(TOPOLOGY_MANAGER_POLICY)
            hint, admitted = admit(policy, numa.details.numa_nodes(), hints)
            if not admitted:
                fits.refused[node] = why = Objection(
                    f"container {container.name} cannot be assigned by numa",
                    NodeCode.NUMA_CONTAINER,
                    container.name,
                    by=self.name,
                    data={"container": container.name, "policy": policy},
                )
                return self._ssn.reasons.intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, why)
            cpus = assign_cpus(container, hint, numa.details, (free or NONE) - reserved)
            given |= cpus
            free = (free or NONE) - cpus
        fits.assigned[node] = given
        return PASS

    def _policy_refusal(self, why: Objection) -> int:
        """Return the verdict on a node that cannot serve the policy of a task.

        If errors do not exclude evictions, preemption is tried on the node.
        """
        code = StatusCode.ERROR
        if self._ssn.behaviours.pod_message_shows_filter_errors:
            code = error_code(self._ssn, StatusCode.UNSCHEDULABLE)
        return self._ssn.reasons.intern(code, why)

    def _policy_error(
        self, policy: str, numa: SchedulerNuma | None, free: CpuSet | None
    ) -> Objection | None:
        """Return why a node cannot serve a task that has a topology policy; None if it can.

        Source: numaaware.go filterNodeByPolicy.
        """
        if numa is None:
            return NO_NUMA
        if numa.policy(CPU_MANAGER_POLICY) != "static":
            return _NOT_STATIC
        own = numa.policy(TOPOLOGY_MANAGER_POLICY)
        if policy != own:
            word = "polocy" if self._ssn.behaviours.numa_policy_misspelt else "policy"
            return Objection(
                f"task topology {word}[{policy}] is different with node[{own}]",
                NodeCode.NUMA_POLICY,
                by=self.name,
                data={"has": own, "wanted": policy},
            )
        return None if free else _NO_CPU

    def _batch_node_order(self, task: int, rows: Rows) -> Floats | None:
        """Return (100 − 100 × NUMA nodes needed / the most needed) × weight, in whole numbers.

        A node without a report, which only v1.9 lets through, and only to preempt there, is a crash
        if another would admit the task.
        """
        if not self._has_policy(task) or self._last is None or self._last[0] != task:
            return None
        assigned = self._last[1].assigned
        if not assigned:
            return None
        counts = np.array(
            [self._numa_count(node, assigned.get(node, NONE)) for node in rows.tolist()]
        )
        most = int(counts.max(initial=0))
        scores = counts * 0 + MAX_NODE_SCORE
        if most:
            # `NormalizeScore` divides whole numbers first and reverses then; with no CPUs at all,
            # all get 100.
            scores -= MAX_NODE_SCORE * counts // most
        return (scores * self._weight).astype(np.float64)

    def _numa_count(self, node: int, cpus: CpuSet) -> int:
        numa = self._numa[node]
        if numa is None:
            place = "plugins/numaaware.getNodeNumaNumForTask.func1"
            raise Panic(NIL_POINTER, (place,), fatal=True)
        return len({numa.details.numa_node(cpu) for cpu in cpus})

    def _task_allocated(self, task: int, node: int) -> None:
        """Remove a task's CPUs from its node: those found last, or at the opening."""
        if self._ssn.tasks.status[task] not in _PLACED:
            return
        if self._last is not None and self._last[0] == task:
            cpus = self._last[1].assigned.get(node)
            if cpus is not None:
                self._given.setdefault(task, {})[node] = cpus
        given = self._given.get(task, {}).get(node)
        if given is not None:
            self._change(node, given, taken=True)
            self._bound[task] = node

    def _task_deallocated(self, task: int, node: int) -> None:
        given = self._given.get(task, {}).get(node)
        if given is not None:
            # Only `taskBindNodeMap` forgets: what was found for the task on the node stays in
            # `assignRes`.
            self._bound.pop(task, None)
            self._change(node, given, taken=False)

    def _change(self, node: int, cpus: CpuSet, *, taken: bool) -> None:
        free = self._free[node]
        if CPU in free:
            free[CPU] = free[CPU] - cpus if taken else free[CPU] | cpus
        self._version[node] += 1


def _is_simulated(numa: SchedulerNuma) -> bool:
    """Return whether a node's kubelet assigns CPUs by NUMA nodes."""
    managed = numa.policy(TOPOLOGY_MANAGER_POLICY) not in {"", "none"}
    return managed and numa.policy(CPU_MANAGER_POLICY) == "static"


def _reserved(numa: SchedulerNuma) -> CpuSet:
    """Return the CPUs reserved for the system: whole ones, chosen as for a container."""
    reserved = numa.described.spec.res_reserved
    if CPU not in reserved or not _RESERVABLE.issuperset(reserved):
        return NONE
    needed = ceil(parse(reserved[CPU]).milli_value() / 1000)
    return take_by_topology(numa.details, numa.details.cpus, needed) or NONE
