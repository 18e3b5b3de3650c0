"""The CPUs of a node, with socket, core and NUMA node of each.

Core numbers may repeat between sockets; the functions here ignore that, as Volcano's do.

Source: k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology/topology.go CPUDetails, CPUTopology.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ....kubernetes.go.text import parse_int
from ....kubernetes.objects import Numatopology
from ....kubernetes.objects.nodes import CpuDetail

CpuSet = frozenset[int]


class CpuDetails:
    """Some of the CPUs of a node."""

    def __init__(self, details: Mapping[int, CpuDetail]) -> None:
        self._details = details
        self.cpus: CpuSet = frozenset(details)

    @classmethod
    def of(cls, topology: Numatopology) -> CpuDetails:
        """Return all CPUs that a node's Numatopology reports; one whose number is none is 0.

        Source: pkg/scheduler/cache/event_handlers.go getNumaInfo.
        """
        given = topology.spec.cpu_detail.items()
        return cls({parse_int(number) or 0: detail for number, detail in given})

    def keep_only(self, cpus: CpuSet) -> CpuDetails:
        """Return those that are among ``cpus``."""
        return CpuDetails({cpu: self._details[cpu] for cpu in sorted(self.cpus & cpus)})

    def numa_node(self, cpu: int) -> int:
        """Return the NUMA node of a CPU; 0 for one that is not known."""
        detail = self._details.get(cpu)
        return 0 if detail is None else detail.numa

    def socket(self, cpu: int) -> int:
        """Return the socket of a CPU that is known."""
        return self._details[cpu].socket

    def numa_nodes(self) -> list[int]:
        """Return the NUMA nodes in ascending order."""
        return sorted({detail.numa for detail in self._details.values()})

    def sockets(self) -> CpuSet:
        """Return the numbers of the sockets."""
        return frozenset(detail.socket for detail in self._details.values())

    def cores(self) -> list[int]:
        """Return the numbers of the cores in ascending order."""
        return sorted({detail.core for detail in self._details.values()})

    def cores_in_socket(self, socket: int) -> CpuSet:
        """Return the numbers of a socket's cores."""
        return frozenset(d.core for d in self._details.values() if d.socket == socket)

    def cpus_in_core(self, core: int) -> CpuSet:
        """Return the CPUs of the cores of that number."""
        return frozenset(cpu for cpu, d in self._details.items() if d.core == core)

    def cpus_in_socket(self, socket: int) -> CpuSet:
        """Return the CPUs of a socket."""
        return frozenset(cpu for cpu, d in self._details.items() if d.socket == socket)

    def cpus_in_numa_nodes(self, numa_nodes: Collection[int]) -> CpuSet:
        """Return the CPUs of NUMA nodes."""
        return frozenset(cpu for cpu, d in self._details.items() if d.numa in numa_nodes)

    def physical_cores(self) -> int:
        """Return how many cores there are, those of each socket on their own."""
        return len({(d.socket, d.core) for d in self._details.values()})

    def cpus_per_core(self) -> int:
        """Return how many CPUs a core has."""
        cores = self.physical_cores()
        return len(self.cpus) // cores if cores else 0

    def cpus_per_socket(self) -> int:
        """Return how many CPUs a socket has."""
        sockets = len(self.sockets())
        return len(self.cpus) // sockets if sockets else 0


def parse_cpu_set(text: str) -> CpuSet:
    """Return the CPUs of a list such as ``0-3,8``; none if the text is no such list.

    Source: k8s.io/utils/cpuset Parse.
    """
    cpus: set[int] = set()
    for part in text.split(",") if text else ():
        first, dash, last = part.partition("-")
        low, high = parse_int(first), parse_int(last if dash else first)
        if low is None or high is None or low > high or low < 0:
            return frozenset()
        cpus.update(range(low, high + 1))
    return frozenset(cpus)
