"""The filters that read only Node objects, and their cache by template.

Source: pkg/scheduler/plugins/predicates/predicates.go (``predicateByStablefilter``), cache.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ....model.session_tables import Ints, Rows
from ...kube.node_columns import Mask
from ...kube.node_map import NodeMap
from ...kube.pod_class import PodClass
from ...reasons.objections import NodeCode, Objection
from ...reasons.statuses import PASS, Reasons, StatusCode
from .node_affinity import NO_MATCH, matching
from .predicates_arguments import PredicateOptions
from .taint_toleration import CORDONED, cordoned, tainted

CORDON, AFFINITY, TAINTS = "NodeUnschedulable", "NodeAffinity", "TaintToleration"
CACHED = Objection("plugin equivalence cache predicates failed", NodeCode.CACHED)


class StableFilters:
    """Cordon, node affinity and taints: computed once for a class, for all nodes.

    :param report: returns the verdict of a filter: by its name, the code, and the objection.
    """

    def __init__(
        self,
        nodes: NodeMap,
        options: PredicateOptions,
        reasons: Reasons,
        report: Callable[[str, StatusCode, Objection], int],
        *,
        pod_message_names_taints: bool,
        cache_forgives: bool = False,
        cached: StatusCode = StatusCode.ERROR,
    ) -> None:
        self._nodes = nodes
        self._cache_forgives = cache_forgives
        self._pod_message_names_taints = pod_message_names_taints
        self._options = options
        self._cached = reasons.intern(cached, CACHED)
        self._report = report
        self._by_class: dict[int, Ints] = {}
        self._fit: dict[str, tuple[Ints, Ints]] = {}

    def verdicts(self, klass: int) -> Ints:
        """Return a verdict for each node: of the first filter that does not pass."""
        known = self._by_class.get(klass)
        if known is None:
            known = self._by_class[klass] = self._judge(self._nodes.classes[klass])
        return known

    def cached(self, klass: int, rows: Rows) -> Ints:
        """Return verdicts as :meth:`verdicts`; earlier failures of the template stay.

        What is noted of a template counts for all pods of it, however they differ. Where the cache
        forgives, it notes of every node that is asked that it takes the template.
        """
        pod = self._nodes.classes[klass]
        judged = self.verdicts(klass)[rows]
        template = pod.template
        if not template:
            return judged
        size = len(self._nodes.columns)
        if template not in self._fit:
            self._fit[template] = (np.zeros(size, np.int32), np.zeros(size, np.int32))
        asked, fit = self._fit[template]
        failed = self._cached
        verdicts: Ints = np.where(
            asked[rows] == 1, np.where(fit[rows] == 1, PASS, failed), judged
        ).astype(np.int32)
        # Noted only now: within one call a template's result does not replace what the filters say.
        new = rows[asked[rows] == 0]
        asked[new] = 1
        fit[new] = (self.verdicts(klass)[new] == PASS) | self._cache_forgives
        return verdicts

    def _judge(self, pod: PodClass) -> Ints:
        verdicts = np.zeros(len(self._nodes.columns), dtype=np.int32)
        for _, answer in self._apart(pod):
            verdicts = np.where(verdicts == PASS, answer, verdicts)
        return verdicts

    def apart(self, klass: int) -> list[tuple[str, Ints]]:
        """Return what each filter says of all nodes, in the order in which they run."""
        return list(self._apart(self._nodes.classes[klass]))

    def _apart(self, pod: PodClass) -> Iterator[tuple[str, Ints]]:
        columns, options = self._nodes.columns, self._options
        yield CORDON, self._where(cordoned(columns, pod), CORDON, CORDONED)
        if options.node_affinity:
            yield AFFINITY, self._where(~matching(columns, pod), AFFINITY, NO_MATCH)
        if options.taint_toleration:
            places, objections = tainted(columns, pod, named=self._pod_message_names_taints)
            ids = [self._final(TAINTS, objection) for objection in objections]
            yield TAINTS, np.array([*ids, PASS], dtype=np.int32)[places]

    def _where(self, refuses: Mask, plugin: str, objection: Objection) -> Ints:
        return np.where(refuses, self._final(plugin, objection), PASS).astype(np.int32)

    def _final(self, plugin: str, objection: Objection) -> int:
        return self._report(plugin, StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE, objection)
