"""The scheduler's account of free resources on NUMA nodes, kept between sessions.

A node's agent reports which CPUs are free; the scheduler subtracts what it assigned since. A
report with no less than the last one is used; one with less only where it has less than
the scheduler's own account.

Source: pkg/scheduler/cache/event_handlers.go addNumaInfo, pkg/scheduler/api/node_info.go
RefreshNumaSchedulerInfoByCrd, pkg/scheduler/api/numa_info.go.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ....kubernetes.objects import Numatopology
from ....model.panic import NIL_POINTER, Panic
from .cpu_topology import CpuDetails, CpuSet, parse_cpu_set

CPU_MANAGER_POLICY = "CPUManagerPolicy"
TOPOLOGY_MANAGER_POLICY = "TopologyManagerPolicy"

ResourceSets = dict[str, CpuSet]
"""Which parts of a resource, by its name."""


_NEW_RESOURCE = (
    "api.(*NodeInfo).RefreshNumaSchedulerInfoByCrd",
    "cache.(*SchedulerCache).Snapshot",
    "framework.openSession",
    "framework.OpenSession",
)


class SchedulerNuma(msgspec.Struct):
    """One node's account (``NumaSchedulerInfo``).

    :ivar reported: the last report that was read.
    :ivar described: the report with the policies and CPUs in use.
    :ivar free: what is free of each resource.
    """

    reported: Numatopology
    described: Numatopology
    details: CpuDetails
    free: ResourceSets

    @classmethod
    def of(cls, report: Numatopology) -> SchedulerNuma:
        """Return the account that a report makes."""
        return cls(report, report, CpuDetails.of(report), reported_sets(report))

    def refresh(self, report: Numatopology, *, crashes: bool = False) -> SchedulerNuma:
        """Return the account after the latest report.

        :param crashes: whether the scheduler panics on a new resource in a report with less.
        :raises Panic: it does.
        """
        if report == self.reported:
            return self
        before, now = reported_sets(self.reported), reported_sets(report)
        # `Compare` is true at the first resource that has not less; the others are not looked at.
        if any(len(cpus) <= len(now.get(name, ())) for name, cpus in before.items()):
            return SchedulerNuma.of(report)
        self.reported = report
        for name, cpus in now.items():
            if name not in self.free and crashes:
                raise Panic(NIL_POINTER, _NEW_RESOURCE)
            # Sizes are compared, not sets: a smaller report replaces the account even if other CPUs
            # are free.
            if name not in self.free or len(self.free[name]) >= len(cpus):
                self.free[name] = cpus
        return self

    def policy(self, name: str) -> str:
        """Return a policy of the node's kubelet; empty if it is not reported."""
        return self.described.spec.policies.get(name, "")


def reported_sets(report: Numatopology) -> ResourceSets:
    """Return what a report says is free."""
    given = report.spec.numares.items()
    return {name: parse_cpu_set(resource.allocatable) for name, resource in given}


def refresh_all(
    known: dict[str, SchedulerNuma],
    reports: Mapping[str, Numatopology | None],
    *,
    crashes: bool,
) -> None:
    """Update the accounts from the reports of the session's nodes, in place.

    :raises Panic: see :meth:`SchedulerNuma.refresh`.
    """
    for node, report in reports.items():
        if report is None:
            known.pop(node, None)
        elif node in known:
            known[node] = known[node].refresh(report, crashes=crashes)
        else:
            known[node] = SchedulerNuma.of(report)
