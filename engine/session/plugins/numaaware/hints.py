"""The NUMA nodes on which a container could have its CPUs, and the node's policy for them.

A set of NUMA nodes is a mask: bit n stands for NUMA node n.

Source: pkg/scheduler/plugins/numaaware/policy and provider/cpumanager/cpu_mng.go.
"""

from __future__ import annotations

from itertools import combinations

import msgspec

from ....kubernetes.objects import Container
from ....kubernetes.quantity import parse
from .cpu_assignment import NONE, take_by_topology
from .cpu_topology import CpuDetails, CpuSet

BEST_EFFORT = "best-effort"
RESTRICTED = "restricted"
SINGLE_NUMA_NODE = "single-numa-node"


class Hint(msgspec.Struct, frozen=True):
    """Possible NUMA nodes (None: any), and whether the hint is preferred."""

    mask: int | None
    preferred: bool


def guaranteed_cpus(container: Container) -> int:
    """Return how many exclusive CPUs a container requests: 0 unless a whole number.

    Source: cpu_mng.go guaranteedCPUs.
    """
    quantity = parse(container.resources.requests.get("cpu", 0))
    whole = quantity.value()
    return whole if whole * 1000 == quantity.milli_value() else 0


def cpu_hints(
    container: Container, topology: CpuDetails, available: CpuSet | None
) -> list[Hint] | None:
    """Return all sets of NUMA nodes with enough free CPUs, the smallest first.

    Preferred are those of the smallest possible size for the container. None means that the
    container needs no alignment.

    Source: cpu_mng.go GetTopologyHints, generateCPUTopologyHints.
    """
    needed = guaranteed_cpus(container)
    if needed == 0 or available is None:
        return None
    numa_nodes = topology.numa_nodes()
    least = len(numa_nodes)
    possible: list[tuple[int, int]] = []
    for size in range(1, len(numa_nodes) + 1):
        for chosen in combinations(numa_nodes, size):
            # By all CPUs, not by free ones: a full node may so have hints of which none is
            # preferred.
            if len(topology.cpus_in_numa_nodes(chosen)) >= needed:
                least = min(least, size)
            if sum(topology.numa_node(cpu) in chosen for cpu in available) >= needed:
                possible.append((sum(1 << numa for numa in chosen), size))
    return [Hint(mask, size == least) for mask, size in possible]


def admit(policy: str, numa_nodes: list[int], hints: list[Hint] | None) -> tuple[Hint, bool]:
    """Return the hint that a node's topology manager uses, and whether it admits the container.

    Source: policy_none.go, policy_best_effort.go, policy_restricted.go,
    policy_single_numa_node.go.
    """
    if policy not in {BEST_EFFORT, RESTRICTED, SINGLE_NUMA_NODE}:
        return Hint(None, preferred=False), True
    if hints is None:
        hints = [Hint(None, preferred=True)]
    elif not hints:
        hints = [Hint(None, preferred=False)]
    if policy == SINGLE_NUMA_NODE:
        hints = [h for h in hints if h.preferred and (h.mask is None or h.mask.bit_count() == 1)]
    best = best_hint(numa_nodes, hints)
    return best, policy == BEST_EFFORT or best.preferred


def best_hint(numa_nodes: list[int], hints: list[Hint]) -> Hint:
    """Return the narrowest of the preferred hints, or of all; all NUMA nodes if there is none.

    Of equally many NUMA nodes the lesser mask is narrower.

    Source: policy.go mergeFilteredHints.
    """
    everywhere = sum(1 << numa for numa in numa_nodes)
    best = Hint(everywhere, preferred=False)
    for hint in hints:
        mask = everywhere if hint.mask is None else everywhere & hint.mask
        if not mask or (best.preferred and not hint.preferred):
            continue
        if hint.preferred != best.preferred or _width(mask) < _width(best.mask or 0):
            best = Hint(mask, hint.preferred)
    return best


def _width(mask: int) -> tuple[int, int]:
    return mask.bit_count(), mask


def assign_cpus(
    container: Container, hint: Hint, topology: CpuDetails, available: CpuSet
) -> CpuSet:
    """Return the CPUs that a container gets: of the hint's NUMA nodes first; none if too few.

    Source: cpu_mng.go Allocate.
    """
    needed = guaranteed_cpus(container)
    result = NONE
    if hint.mask is not None:
        chosen = [n for n in range(hint.mask.bit_length()) if hint.mask >> n & 1]
        aligned = available & topology.cpus_in_numa_nodes(chosen)
        taken = take_by_topology(topology, aligned, min(len(aligned), needed))
        if taken is None:
            return NONE
        result = taken
    rest = take_by_topology(topology, available - result, needed - len(result))
    return NONE if rest is None else result | rest
