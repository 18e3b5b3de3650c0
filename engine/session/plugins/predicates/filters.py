"""The filters in Volcano's order, and their results that can be cached for a class.

Source: pkg/scheduler/plugins/predicates/predicates.go OnSessionOpen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from ....model.session_tables import Ints, Rows
from ...framework.plugin_registry import PartAnswer, Per
from ...framework.vote_details import Unprepared
from ...kube.node_map import PODS, NodeMap
from ...reasons.statuses import PASS, StatusCode
from ..shared.proportional import Proportional
from .dynamic_resources import DynamicResources
from .filter_answers import LIMITS, POD_NUMBER, RULES, FilterAnswers, NamedIn, PodNumber
from .inter_pod_affinity import InterPodAffinityFilter
from .node_ports import OCCUPIED, occupied
from .parted_filters import parted
from .pod_topology_spread import PodTopologySpreadFilter
from .predicates_arguments import PredicateOptions
from .stable import StableFilters
from .states import States
from .volume_filters import VolumeFilters

if TYPE_CHECKING:
    from ...framework.session import Session


PROPORTIONAL = "Proportional"
"""What the check of argument ``predicate.ProportionalEnable`` is called here."""
UNPREPARED = "unprepared"
"""What details about filters are kept under that could not be prepared."""


class _Parts(msgspec.Struct, frozen=True):
    """The filters that depend on more than a task's class and a single node."""

    affinity: bool
    spread: bool
    volumes: bool
    devices: bool
    per: Per


class Filters:
    """All filters of one session; the release's way of filtering is in :data:`.RULES`."""

    def __init__(self, ssn: Session, nodes: NodeMap, options: PredicateOptions) -> None:
        self._ssn = ssn
        reasons, rules = ssn.reasons, RULES[ssn.behaviours.filtering]
        errors_final = rules.named is NamedIn.ALL and ssn.behaviours.filter_errors_unresolvable
        self._answers = FilterAnswers(reasons, rules, errors_final=errors_final)
        self._full_counts = rules.pod_number is PodNumber.AS_FILTER
        """Whether a filter refuses nodes at their limit of pods."""
        self._nodes = nodes
        self._options = options
        self._touched = ssn.touched
        self._klass = nodes.klass
        self._max_pods = ssn.nodes.max_pods
        self._full = reasons.intern(StatusCode.UNSCHEDULABLE, POD_NUMBER)
        self._occupied = self._answers.verdict("NodePorts", StatusCode.UNSCHEDULABLE, OCCUPIED)
        self._stable = StableFilters(
            nodes,
            options,
            reasons,
            self._answers.verdict,
            pod_message_names_taints=ssn.behaviours.pod_message_names_taints,
            cache_forgives=rules.cache_forgives,
            cached=self._answers.cached_code,
        )
        self._proportional = (
            Proportional(ssn, options.rates, reasons)
            if ssn.behaviours.proportional_in_predicates and options.proportional and options.rates
            else None
        )
        self._affinity = InterPodAffinityFilter(
            nodes,
            ssn.objects.namespaces,
            reasons,
            States(ssn),
            curable=ssn.behaviours.pod_affinity_resolvable,
        )
        self._spread = PodTopologySpreadFilter(nodes, reasons, States(ssn))
        self._volumes = VolumeFilters(ssn, nodes, options, rules.unclaimed)
        self._devices = DynamicResources(ssn, nodes.columns)
        self._behaviours = ssn.behaviours
        self._parts: dict[int, _Parts] = {}
        self._kept: dict[int, tuple[Ints, int]] = {}

    def per(self, task: int) -> Per:
        """Return whether the verdicts for a task depend on more than its class and each node."""
        return self._parts_of(self._klass[task]).per

    def _parts_of(self, klass: int) -> _Parts:
        known = self._parts.get(klass)
        if known is None:
            affinity = self._options.pod_affinity and self._affinity.concerns(klass)
            spread = self._options.topology_spread and self._spread.concerns(klass)
            volumes = self._volumes.concerns(klass)
            pods = self._nodes.classes[klass]
            devices = self._behaviours.device_claims_needed and bool(pods.pod.spec.resource_claims)
            template = self._options.cache and bool(pods.template)
            alone = not (affinity or spread or volumes or devices or template)
            per: Per = "class" if alone else "task"
            known = self._parts[klass] = _Parts(affinity, spread, volumes, devices, per)
        return known

    def pre_predicate(self, task: int) -> str | None:
        """Count and look up what the filters need for a task; return the error, or ``None``.

        kube-scheduler's list of nodes to check is not used.
        """
        klass = self._klass[task]
        parts = self._parts_of(klass)
        # Filters that look at the class only read no state that has to be prepared.
        if parts.per == "class":
            return None
        asked: tuple[tuple[str, bool, Callable[[], str | None]], ...] = (
            (
                "InterPodAffinity",
                parts.affinity,
                lambda: self._affinity.pre_filter(task, klass),
            ),
            ("VolumeZone", parts.volumes, lambda: self._volumes.pre_filter_zone(task)),
            ("PodTopologySpread", parts.spread, lambda: self._spread.pre_filter(task, klass)),
            ("VolumeBinding", parts.volumes, lambda: self._volumes.pre_filter(task)),
            ("DynamicResources", parts.devices, lambda: self._devices.pre_filter(task)),
        )
        # The first failure ends it: later filters keep the state of an earlier preparation, if any.
        for name, concerned, pre_filter in asked:
            error = pre_filter() if concerned else None
            if error is not None:
                about = self._ssn.task_name(task)
                if self._ssn.trace.follows(about):
                    self._ssn.trace.detail(UNPREPARED, about, Unprepared(name, error))
                return f"plugin {name} pre-predicates failed {error}"
        return None

    def affinity_allows(self, task: int, node: int) -> bool:
        """Return whether pod affinity allows a task on a node, counted again.

        The prepared state does not change: Volcano uses a copy.
        """
        klass = self._klass[task]
        if not self._parts_of(klass).affinity:
            return True
        verdicts = self._affinity.anew(task, klass)
        return verdicts is None or verdicts.item(node) == PASS

    def reserve(self, task: int, node: int) -> str | None:
        """Reserve the volumes and devices of a placed task; return the error, or ``None``."""
        self._volumes.reserve(task, node)
        return self._devices.reserve(task, node) if self._behaviours.device_claims_needed else None

    def unreserve(self, task: int, node: int) -> None:
        """Give back the volumes and devices of a task."""
        self._volumes.unreserve(task, node)
        if self._behaviours.device_claims_needed:
            self._devices.unreserve(task)

    def settle(self) -> None:
        """At the end of the session, store what bound pods have now."""
        if self._behaviours.device_claims_needed:
            self._devices.settle()

    def verdicts(self, task: int, rows: Rows) -> Ints:
        """Return the verdicts of all filters."""
        by_class = self._parts_of(self._klass[task]).per == "class"
        return self.of_class(task, rows) if by_class else self.of_task(task, rows)

    def of_class(self, task: int, rows: Rows) -> Ints:
        """Return verdicts of filters that depend only on the class and the node's own pods."""
        klass = self._klass[task]
        verdicts = self._head(klass, self._stable.verdicts(klass)[rows], rows)
        if self._proportional is not None:
            verdicts = self._answers.all_then(verdicts, self._proportional.filter(task, rows))
        return self._with_pod_number(verdicts, rows)

    def of_class_on(self, task: int, row: int) -> int:
        """Do as :meth:`of_class` for one row."""
        if self._proportional is not None or not self._full_counts:
            return self.of_class(task, np.array((row,))).item()
        return self._one(self._klass[task], row)

    def of_task(self, task: int, rows: Rows) -> Ints:
        """Return the verdicts for a task, with filters that depend on more than its class."""
        klass = self._klass[task]
        parts = self._parts_of(klass)
        if self._options.cache:
            verdicts = self._head(klass, self._stable.cached(klass, rows), rows)
        else:
            verdicts = self._kept_head(klass)[rows]
        further = self._further(task, klass, parts, rows)
        return self._with_pod_number(self._answers.add(verdicts, further), rows)

    def parts(self, task: int, rows: Rows) -> list[PartAnswer]:
        """Return what each filter says of nodes, and which have nothing to check for a task."""
        klass = self._klass[task]
        parts = self._parts_of(klass)
        answers = list(self._in_order(task, klass, parts, rows))
        together = [name for name, _ in self._stable.apart(klass)]
        found = parted(self._answers, self._ssn.reasons, self._is_full(rows), answers, together)
        nowhere = np.zeros(len(rows), dtype=np.bool_)
        silent = np.zeros(len(rows), dtype=np.int32)
        names = {answer.name for answer in found}
        idle = [name for name, on in self._switches().items() if on and name not in names]
        return [*found, *(PartAnswer(name, nowhere, silent, nowhere, False) for name in idle)]

    def _switches(self) -> dict[str, bool]:
        """Return the filters that have nothing to check for some pods, and whether they are on."""
        options = self._options
        return {
            "NodePorts": options.node_ports,
            "InterPodAffinity": options.pod_affinity,
            LIMITS: options.volume_limits,
            "VolumeZone": options.volume_zone,
            "PodTopologySpread": options.topology_spread,
            "VolumeBinding": options.volume_binding,
            "DynamicResources": self._behaviours.device_claims_needed,
        }

    def _in_order(
        self, task: int, klass: int, parts: _Parts, rows: Rows
    ) -> Iterator[tuple[str, Ints]]:
        """Yield the filters that check anything for a task, and their verdicts, in order."""
        for name, answer in self._stable.apart(klass):
            yield name, answer[rows]
        pod = self._nodes.classes[klass]
        if pod.ports and self._options.node_ports:
            taken = occupied(self._nodes, pod)[rows]
            yield "NodePorts", np.where(taken, self._occupied, PASS).astype(np.int32)
        switches = self._switches()
        for name, answer in self._further(task, klass, parts, rows):
            if switches.get(name, True):
                yield name or PROPORTIONAL, answer

    def _further(
        self, task: int, klass: int, parts: _Parts, rows: Rows
    ) -> Iterator[tuple[str, Ints]]:
        """Yield the filters that depend on more than the class, and their verdicts, in order."""
        if parts.affinity:
            of_all = self._affinity.filter(task, klass)
            if of_all is not None:
                yield "InterPodAffinity", of_all[rows]
        if parts.volumes:
            yield LIMITS, self._volumes.limits(task, rows)
            yield "VolumeZone", self._volumes.zone(task, rows)
        if parts.spread:
            of_all = self._spread.filter(task, klass)
            if of_all is not None:
                yield "PodTopologySpread", of_all[rows]
        if self._proportional is not None:
            yield "", self._proportional.filter(task, rows)
        if parts.volumes:
            yield "VolumeBinding", self._volumes.binding(task, rows)
        if parts.devices:
            yield "DynamicResources", self._devices.filter(task, rows)

    def _with_pod_number(self, verdicts: Ints, rows: Rows) -> Ints:
        if self._full_counts:
            return verdicts
        return self._answers.with_pod_number(verdicts, self._is_full(rows))

    def _head(self, klass: int, stable: Ints, rows: Rows) -> Ints:
        """Return the verdicts up to the ports: these and the pods' number end no filters."""
        verdicts = stable
        full = self._is_full(rows) if self._full_counts else None
        if full is not None and full.any():
            verdicts = self._answers.all_then(
                np.where(full, self._full, PASS).astype(np.int32), stable
            )
        pod = self._nodes.classes[klass]
        if pod.ports and self._options.node_ports:
            taken = occupied(self._nodes, pod)[rows]
            if taken.any():
                verdicts = self._answers.all_then(
                    verdicts, np.where(taken, self._occupied, PASS).astype(np.int32)
                )
        return verdicts

    def _is_full(self, rows: Rows) -> NDArray[np.bool_]:
        """Return the nodes at their limit of pods."""
        full: NDArray[np.bool_] = self._nodes.accounts[rows, PODS] >= self._max_pods[rows]
        return full

    def _one(self, klass: int, row: int) -> int:
        """Return :meth:`_head` for one row, without the cost of calling NumPy for a few numbers."""
        verdict = self._stable.verdicts(klass).item(row)
        if self._full_counts and self._nodes.accounts.item(row, PODS) >= self._max_pods.item(row):
            verdict = self._answers.then(self._full, verdict)
        pod = self._nodes.classes[klass]
        if pod.ports and self._options.node_ports and occupied(self._nodes, pod)[row]:
            verdict = self._answers.then(verdict, self._occupied)
        return verdict

    def _kept_head(self, klass: int) -> Ints:
        """Return :meth:`_head` over all nodes; only changed nodes are computed again."""
        touched = self._touched
        known = self._kept.get(klass)
        if known is None:
            rows = np.arange(len(self._nodes.columns))
            verdicts = self._head(klass, self._stable.verdicts(klass), rows).copy()
        else:
            verdicts, seen = known
            assert seen <= len(touched), "the journal of touched nodes only grows"
            if seen == len(touched):
                return verdicts
            for row in sorted(set(touched[seen:])):
                verdicts[row] = self._one(klass, row)
        self._kept[klass] = (verdicts, len(touched))
        return verdicts
