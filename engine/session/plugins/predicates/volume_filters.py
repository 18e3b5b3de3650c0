"""The filters about volumes, for the tasks that have any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....model.session_tables import Ints, Rows, TaskStatus
from ...kube.node_map import NodeMap
from ...reasons.statuses import StatusCode
from .predicates_arguments import PredicateOptions
from .volume_binding import UNREACHABLE, UNREACHABLE_BEFORE, BindingNeeds, PodClaims, VolumeBinding
from .volume_limits import VolumeLimits
from .volume_zone import VolumeZone

if TYPE_CHECKING:
    from ...framework.session import Session


class VolumeFilters:
    """Runs the filters for volumes, and notifies them of added and removed pods.

    :param unclaimed: the verdict for a missing claim in the filter of volume limits.
    """

    def __init__(
        self, ssn: Session, nodes: NodeMap, options: PredicateOptions, unclaimed: StatusCode
    ) -> None:
        self._tasks = ssn.tasks
        self._nodes = nodes
        columns, objects, reasons = nodes.columns, ssn.objects, ssn.reasons
        self._limits = (
            VolumeLimits(columns, objects, reasons, unclaimed) if options.volume_limits else None
        )
        self._zone = VolumeZone(ssn, columns) if options.volume_zone else None
        by_affinity = ssn.behaviours.volume_conflicts_name_node_affinity
        self._binding = (
            VolumeBinding(
                columns, objects, reasons, UNREACHABLE if by_affinity else UNREACHABLE_BEFORE
            )
            if options.volume_binding
            else None
        )
        self._behaviours = ssn.behaviours
        self._claims: dict[int, PodClaims] = {}
        self._found: dict[int, BindingNeeds] = {}
        if self._limits is not None:
            for task in nodes.placed_where(lambda pod: pod.has_claims).tolist():
                self._limits.add(ssn.tasks.info[task].pod, nodes.on.item(task))

    def concerns(self, klass: int) -> bool:
        """Return whether pods of a class claim volumes, and a filter looks at them."""
        filter_on = self._limits or self._zone or self._binding
        return filter_on is not None and self._nodes.classes[klass].has_claims

    def pre_filter_zone(self, task: int) -> str | None:
        """Look up where a task's volumes are; return an error, or ``None``."""
        if self._zone is None or not self._behaviours.volume_zone_pre_filter:
            return None
        return self._zone.pre_filter(self._tasks.info[task].pod)

    def pre_filter(self, task: int) -> str | None:
        """Look up a task's claims; return an error, or ``None``."""
        self._found.pop(task, None)
        if self._binding is None:
            return None
        claims = self._binding.pre_filter(self._tasks.info[task].pod)
        if isinstance(claims, str):
            return claims
        self._claims[task] = claims
        return None

    def limits(self, task: int, rows: Rows) -> Ints:
        """Return verdicts about the number of volumes."""
        if self._limits is None:
            return np.zeros(len(rows), dtype=np.int32)
        return self._limits.filter(self._tasks.info[task].pod)[rows]

    def zone(self, task: int, rows: Rows) -> Ints:
        """Return verdicts about the zones of volumes."""
        if self._zone is None:
            return np.zeros(len(rows), dtype=np.int32)
        return self._zone.filter(self._tasks.info[task].pod)[rows]

    def binding(self, task: int, rows: Rows) -> Ints:
        """Return verdicts about binding volumes."""
        claims = self._claims.get(task)
        if self._binding is None or claims is None:
            return np.zeros(len(rows), dtype=np.int32)
        needs = self._found[task] = self._binding.filter(claims)
        return needs.verdicts[rows]

    def reserve(self, task: int, node: int) -> None:
        """Reserve the volumes of an allocated task; a pipelined one reserves none yet."""
        if not self._nodes.class_of(task).has_claims:
            return
        if self._limits is not None:
            self._limits.add(self._tasks.info[task].pod, node)
        needs = self._found.get(task)
        allocated = self._tasks.status[task] == TaskStatus.ALLOCATED
        if allocated and needs is not None and self._binding is not None:
            self._binding.reserve(needs, node)

    def unreserve(self, task: int, node: int) -> None:
        """Give back the volumes of a task."""
        if not self._nodes.class_of(task).has_claims:
            return
        if self._limits is not None:
            self._limits.remove(self._tasks.info[task].pod, node)
        needs = self._found.get(task)
        if needs is not None and self._binding is not None:
            self._binding.unreserve(needs, node)
