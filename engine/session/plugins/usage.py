"""Plugin ``usage``: busy nodes are excluded, and idle ones are preferred.

Source: pkg/scheduler/plugins/usage/usage.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ...kubernetes.units import SECOND_US
from ...model.session_tables import Floats, Ints, Rows
from ...volcano.conf import Arguments
from ..framework.process_parts import NodeUsage
from ..framework.session import Session
from ..reasons.objections import NodeCode, Objection, around
from ..reasons.statuses import StatusCode
from .shared.filter_errors import error_code
from .shared.node_usage import NODE_METRICS_PERIOD, node_usage

THRESHOLDS = "thresholds"
METRICS_ACTIVE_US = 5 * 60 * SECOND_US
CPU_EXCEEDS = "the CPU load of the node exceeds the upper limit."
MEMORY_EXCEEDS = "the memory load of the node exceeds the upper limit."
_ERROR = "Plugin usage predicates failed, because of {}"
MAX_NODE_SCORE = 100


class Usage:
    """Filters and scores nodes by their average use; what was measured over 5 min ago is ignored.

    Arguments: ``usage.weight`` (int, 5), ``cpu.weight`` and ``memory.weight`` (int, 1),
    ``thresholds`` (``cpu`` and ``mem`` in whole percent, 80).
    """

    name: ClassVar[str] = "usage"

    def __init__(self, arguments: Arguments) -> None:
        self._weight = arguments.get_int("usage.weight", 5)
        self._cpu_weight = arguments.get_int("cpu.weight", 1)
        self._memory_weight = arguments.get_int("memory.weight", 1)
        self._thresholds, self._error = read_thresholds(arguments.raw)

    def on_session_open(self, ssn: Session) -> None:
        """Filter and score all nodes at once: neither depends on the task."""
        if self._error:
            ssn.errors.append(self._error)
        known = node_usage(ssn, self.name)
        fresh = [
            (row, known[name])
            for row, name in enumerate(ssn.nodes.names)
            if name in known and ssn.now - known[name].time <= METRICS_ACTIVE_US
        ]
        verdicts = self._verdicts(ssn, fresh)
        scores = self._scores(ssn, fresh)

        def predicate(_: int, rows: Rows) -> Ints | None:
            return verdicts[rows]

        def node_order(_: int, rows: Rows) -> Floats:
            return scores[rows]

        ssn.registry.add_predicate(self.name, predicate, per="class")
        ssn.registry.add_node_order(self.name, node_order, per="class")

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _verdicts(self, ssn: Session, fresh: list[tuple[int, NodeUsage]]) -> Ints:
        code = error_code(ssn, StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE)
        template = _ERROR if ssn.behaviours.pod_message_shows_filter_errors else "{}"
        verdicts = np.zeros(len(ssn.nodes), dtype=np.int32)
        cpu, memory = dict[str, float](), dict[str, float]()
        cpu_exceeds, memory_exceeds = (
            ssn.reasons.intern(
                code,
                around(
                    template.format(text),
                    Objection(text, node_code, by=self.name, data={"limit": limit}, at=measured),
                ),
            )
            for text, node_code, limit, measured in (
                (CPU_EXCEEDS, NodeCode.CPU_USE, self._thresholds["cpu"], cpu),
                (MEMORY_EXCEEDS, NodeCode.MEMORY_USE, self._thresholds["mem"], memory),
            )
        )
        for row, usage in fresh:
            name = ssn.nodes.names[row]
            # An average that is missing is 0 to the filter (a Go map); only the score leaves the
            # node out.
            cpu[name] = usage.cpu.get(NODE_METRICS_PERIOD, 0.0)
            memory[name] = usage.memory.get(NODE_METRICS_PERIOD, 0.0)
            if cpu[name] > self._thresholds["cpu"]:
                verdicts[row] = cpu_exceeds
            elif memory[name] > self._thresholds["mem"]:
                verdicts[row] = memory_exceeds
        return verdicts

    def _scores(self, ssn: Session, fresh: list[tuple[int, NodeUsage]]) -> Floats:
        """Return the weighted mean of what is idle of cpu and memory × 100 × weight."""
        scores = np.zeros(len(ssn.nodes))
        for row, usage in fresh:
            cpu, memory = (each.get(NODE_METRICS_PERIOD) for each in (usage.cpu, usage.memory))
            if cpu is not None and memory is not None:
                idle_cpu = (100 - cpu) / 100 * self._cpu_weight
                idle_memory = (100 - memory) / 100 * self._memory_weight
                weights = np.float64(self._cpu_weight + self._memory_weight)
                with np.errstate(all="ignore"):  # weights of 0 make it no number, as in Go
                    mean = np.float64(idle_cpu + idle_memory) / weights
                scores[row] = mean * float(MAX_NODE_SCORE * self._weight)
        return scores


def read_thresholds(raw: Mapping[str, object]) -> tuple[dict[str, float], str]:
    """Return the limits in percent, and the log line if they are missing.

    A value that is not an integer counts 0.

    Source: usage.go New.
    """
    thresholds = {"cpu": 80.0, "mem": 80.0}
    given = raw.get(THRESHOLDS)
    if THRESHOLDS not in raw:
        return thresholds, "Failed to obtain thresholds information for the usage plugin"
    if not isinstance(given, Mapping):
        return thresholds, f"Failed to convert the thresholds information: {given}"
    for name, value in given.items():
        if name in thresholds:
            thresholds[name] = float(value) if type(value) is int else 0.0
    return thresholds, ""
