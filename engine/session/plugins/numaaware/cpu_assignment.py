"""Which CPUs a container gets: whole sockets, then whole cores, then single CPUs.

Source: pkg/scheduler/plugins/numaaware/provider/cpumanager/cpu_assignment.go.
"""

from __future__ import annotations

from ..shared.insertion_sort import insertion_sort
from .cpu_topology import CpuDetails, CpuSet

NONE: CpuSet = frozenset()


class Accumulator:
    """The taken CPUs, and the available ones.

    :param topology: all CPUs of the node.
    """

    def __init__(self, topology: CpuDetails, available: CpuSet, needed: int) -> None:
        self._topology = topology
        self.details = topology.keep_only(available)
        self.needed = needed
        self.result = NONE

    def take(self, cpus: CpuSet) -> None:
        """Take CPUs."""
        self.result |= cpus
        self.details = self.details.keep_only(self.details.cpus - self.result)
        self.needed -= len(cpus)

    def free_sockets(self) -> list[int]:
        """Return sockets in ascending order, only those whose number is also that of a free CPU."""
        # Numbers of sockets meet numbers of CPUs here: `freeSockets` mixes the two, and so must we.
        return sorted(self.details.sockets() & self.details.cpus)

    def free_cores(self) -> list[int]:
        """Return cores whose number is also that of a free CPU; sockets with fewer such first."""
        details = self.details

        def count(socket: int) -> int:
            return len(details.cores_in_socket(socket) & details.cpus)

        sockets = insertion_sort(
            sorted(details.sockets()),
            # An or, no tie-break: two sockets may each come first, and the algorithm of
            # `sort.Slice` decides.
            lambda left, right: count(left) < count(right) or left < right,
        )
        return [
            core
            for socket in sockets
            for core in sorted(details.cores_in_socket(socket) & details.cpus)
        ]

    def free_cpus(self) -> list[int]:
        """Return free CPUs by core: near taken ones, on full sockets, on full cores first.

        Each of these alone puts a core before another, so that two cores may each come before the
        other. The order then depends on the sorting algorithm.
        """
        details, topology = self.details, self._topology
        keys = {}
        for core in details.cores():
            socket = topology.socket(min(topology.cpus_in_core(core)))
            keys[core] = (
                -len(topology.cpus_in_socket(socket) & self.result),
                len(details.cpus_in_socket(socket)),
                len(details.cpus_in_core(core)),
                socket,
                core,
            )
        cores = insertion_sort(
            list(keys),
            lambda left, right: any(a < b for a, b in zip(keys[left], keys[right], strict=True)),
        )
        return [cpu for core in cores for cpu in sorted(details.cpus_in_core(core))]


def take_by_topology(topology: CpuDetails, available: CpuSet, needed: int) -> CpuSet | None:
    """Return as many of the available CPUs as are needed; None if there are not enough."""
    accumulator = Accumulator(topology, available, needed)
    if needed < 1:
        return NONE
    if needed > len(accumulator.details.cpus):
        return None
    wholes = (
        (topology.cpus_per_socket(), accumulator.free_sockets, CpuDetails.cpus_in_socket),
        (topology.cpus_per_core(), accumulator.free_cores, CpuDetails.cpus_in_core),
    )
    for size, free, cpus_in in wholes:
        if accumulator.needed >= size:
            for whole in free():
                accumulator.take(cpus_in(accumulator.details, whole))
                if accumulator.needed < 1:
                    return accumulator.result
                if accumulator.needed < size:
                    break
    for cpu in accumulator.free_cpus():
        accumulator.take(frozenset({cpu}))
        if accumulator.needed < 1:
            return accumulator.result
    return None
