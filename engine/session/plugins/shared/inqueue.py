"""What is reserved for jobs that are enqueued, or run with less than their minResources.

Source: pkg/scheduler/plugins/util/util.go (``GetInqueueResource``, ``CalculateAllocatedTaskNum``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ....kubernetes.quantity import parse
from ....model.resource import Resource
from ....model.resource_names import PODS, is_scalar_name
from ....model.session_tables import IS_ALLOCATED
from ...framework.session import Session

_SHARED_DEVICES = (
    "volcano.sh/vgpu-memory",
    "volcano.sh/vgpu-memory-percentage",
    "volcano.sh/vgpu-cores",
)
"""Names that shared devices count themselves; here a part of a name is enough to leave it out."""


def reserved_by_job(ssn: Session, *, lacking: bool = False) -> Iterator[tuple[int, Resource]]:
    """Yield the reservation of each job that has one, at the opening of the session.

    An enqueued job keeps its minResources; a running one that has its minimum of tasks keeps what
    it lacks of them. What tasks with scheduling gates ask for is not kept.

    :param lacking: an enqueued job, too, keeps only what it lacks.
    """
    jobs, names = ssn.jobs, ssn.dims[2:]
    for job in _reserving(ssn):
        if jobs.phase[job] == "Inqueue" and not lacking:
            reserved = jobs.min_resources(job).clone()
        else:
            cpu, memory, *others = jobs.allocated[job].tolist()
            scalars = {name: amount for name, amount in zip(names, others, strict=True) if amount}
            group = jobs.info[job].pod_group
            wanted = (None if group is None else group.spec.min_resources) or {}
            allocated = Resource(cpu, memory, scalars)
            if ssn.behaviours.reserved_scalars_in_milli:
                reserved = lacking_resource(wanted, jobs.min_resources(job), allocated)
            else:
                reserved = inqueue_resource(wanted, allocated)
        yield job, jobs.deduct_sch_gated_resources(job, reserved)


def _reserving(ssn: Session) -> list[int]:
    """Return the jobs that may have a reservation."""
    jobs, least = ssn.snapshot.jobs, ssn.snapshot.jobs.min_resources(ssn.dims)
    enqueued = np.array([phase == "Inqueue" for phase in jobs.phase], dtype=np.bool_)
    running = np.array([phase == "Running" for phase in jobs.phase], dtype=np.bool_)
    running &= jobs.counts[:, IS_ALLOCATED].sum(axis=1) >= jobs.min_available
    running &= least.scalars | (least.amounts[:, :2] > jobs.allocated[:, :2]).any(axis=1)
    rows: list[int] = np.flatnonzero(least.given & (enqueued | running)).tolist()
    return rows


def lacking_resource(
    wanted: Mapping[str, str | float], least: Resource, allocated: Resource
) -> Resource:
    """Return what a job lacks of its minResources, in the units in which resources are held.

    :param wanted: minResources as they are written; ``least`` is the same in these units.
    """
    reserved = Resource(
        max(least.cpu - allocated.cpu, 0.0) if "cpu" in wanted else 0.0,
        max(least.memory - allocated.memory, 0.0) if "memory" in wanted else 0.0,
    )
    for name in wanted:
        if name in {"cpu", "memory"} or (name != PODS and not _counted(name)):
            continue
        holds, amount = (allocated.scalars or {}).get(name), least.get(name)
        # A scalar that the job holds none of is entered even with 0; `pods` has a separate branch
        # in `GetInqueueResource`, which enters only what is lacking.
        if (holds is None and name != PODS) or amount > (holds or 0.0):
            reserved.set_scalar(name, amount - (holds or 0.0))
    return reserved


def inqueue_resource(wanted: Mapping[str, str | float], allocated: Resource) -> Resource:
    """Return what a job lacks of its minResources.

    Scalars are wanted in units and held in milli, as the original has it: 1 GPU lacks nothing of 8.
    """
    reserved = Resource()
    for name, text in wanted.items():
        quantity = parse(text)
        if name == "cpu":
            reserved.cpu = max(quantity.milli_value() - allocated.cpu, 0.0)
        elif name == "memory":
            reserved.memory = max(quantity.value() - allocated.memory, 0.0)
        elif _counted(name):
            if reserved.scalars is None:
                reserved.scalars = {}
            holds = (allocated.scalars or {}).get(name)
            if holds is None:
                reserved.scalars[name] = float(quantity.value())
            elif quantity.value() > holds:
                reserved.scalars[name] = quantity.value() - holds
    return reserved


def _counted(name: str) -> bool:
    """Return whether a scalar is kept."""
    return is_scalar_name(name) and not any(device in name for device in _SHARED_DEVICES)
