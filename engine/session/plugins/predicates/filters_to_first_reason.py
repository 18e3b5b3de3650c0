"""The filters of releases that ask no further once a filter has turned a node down.

Source: pkg/scheduler/plugins/predicates/predicates.go OnSessionOpen, before ``ShouldAbort``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...kube.node_map import PODS, NodeMap
from ...reasons import PASS, StatusCode
from ...tables import Ints, Rows
from .filters import POD_NUMBER, Filters
from .inter_pod_affinity import AFFINITY, ANTI_AFFINITY, EXISTING
from .node_affinity import NO_MATCH
from .node_ports import OCCUPIED
from .options import Options
from .pod_topology_spread import UNEVEN
from .taint_toleration import CORDONED
from .verdicts import Verdicts
from .volume_limits import TOO_MANY
from .volume_zone import NO_ZONE

if TYPE_CHECKING:
    from ...session import Session


class FiltersToFirstReason(Filters):
    """The first filter that turns a node down ends the asking.

    That a node has all the pods it may have is only told beside another reason.
    """

    def __init__(self, ssn: Session, nodes: NodeMap, options: Options) -> None:
        super().__init__(ssn, nodes, options)
        self._beside = self._join
        self._join = Verdicts(ssn.reasons, goes_on=False)

    def of_class(self, task: int, rows: Rows) -> Ints:
        """Return verdicts of what depends on the class and on the node's own pods only."""
        return self._with_pod_number(super().of_class(task, rows), rows)

    def of_class_on(self, task: int, row: int) -> int:
        """Do as :meth:`of_class` for one row."""
        return self.of_class(task, np.array((row,))).item()

    def of_task(self, task: int, rows: Rows) -> Ints:
        """Return the verdicts for a task about which more than its class matters."""
        return self._with_pod_number(super().of_task(task, rows), rows)

    def _is_full(self, rows: Rows) -> NDArray[np.bool_]:
        return np.zeros(len(rows), dtype=np.bool_)

    def _one(self, klass: int, row: int) -> int:
        rows = np.array((row,))
        return self._head(klass, self._stable.verdicts(klass)[rows], rows).item()

    def _with_pod_number(self, verdicts: Ints, rows: Rows) -> Ints:
        """Tell of the number of pods first where another reason is told."""
        full = (self._nodes.accounts[rows, PODS] >= self._max_pods[rows]) & (verdicts != PASS)
        if not full.any():
            return verdicts
        told = np.where(full, self._full, PASS).astype(np.int32)
        return self._beside.all_then(told, verdicts)


_PLUGINS = (
    (CORDONED, "NodeUnschedulable"),
    (NO_MATCH, "NodeAffinity"),
    ("node(s) had untolerated taint", "TaintToleration"),
    (OCCUPIED, "NodePorts"),
    *((text, "InterPodAffinity") for text in (AFFINITY, ANTI_AFFINITY, EXISTING)),
    (UNEVEN, "PodTopologySpread"),
    *((text, "VolumeZone") for text in (NO_ZONE, "PersistentVolume", "VolumeBindingMode")),
    *((text, "VolumeZone") for text in ("persistentvolume", "storageclass.storage.k8s.io")),
)
"""How reasons begin, and the plugin of kube-scheduler that they are of."""


class FiltersToFirstError(FiltersToFirstReason):
    """The first filter that turns a node down ends the asking, and is named.

    That a node has all the pods it may have is a reason where no filter has one.
    """

    _plugins = _PLUGINS

    def __init__(self, ssn: Session, nodes: NodeMap, options: Options) -> None:
        super().__init__(ssn, nodes, options)
        self._reasons = ssn.reasons
        self._final = ssn.behaviours.filter_errors_final
        self._named: dict[int, int] = {PASS: PASS}

    def _with_pod_number(self, verdicts: Ints, rows: Rows) -> Ints:
        told = self._all_named(verdicts)
        full = self._nodes.accounts[rows, PODS] >= self._max_pods[rows]
        told[full & (told == PASS)] = self._full
        return told

    def _all_named(self, verdicts: Ints) -> Ints:
        return np.array([self._naming(verdict) for verdict in verdicts.tolist()], dtype=np.int32)

    def _naming(self, verdict: int) -> int:
        """Return the verdict that names its filter."""
        known = self._named.get(verdict)
        if known is None:
            (status,) = self._reasons.statuses(verdict)
            names = (name for start, name in self._plugins if status.message.startswith(start))
            name = next(names, "")
            text = f"plugin {name} predicates failed {status.message}" if name else status.message
            code = StatusCode.ERROR if self._final and name else status.code
            known = self._named[verdict] = self._reasons.intern(code, text)
        return known


class FiltersToFirstFault(FiltersToFirstError):
    """The first filter that turns a node down ends the asking, and is named.

    The number of pods comes before all filters, and evicting does not help against it.
    """

    _plugins = (*_PLUGINS, (TOO_MANY, "NodeVolumeLimits"))

    def _with_pod_number(self, verdicts: Ints, rows: Rows) -> Ints:
        told = self._all_named(verdicts)
        full = self._nodes.accounts[rows, PODS] >= self._max_pods[rows]
        told[full] = self._reasons.intern(StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, POD_NUMBER)
        return told
