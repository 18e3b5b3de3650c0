"""Plugin ``rescheduling``: at intervals, evict pods of busy nodes, so that they run elsewhere.

Source: pkg/scheduler/plugins/rescheduling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from ...kubernetes.duration import parse_go_duration
from ...kubernetes.objects import Node, Pod
from ...kubernetes.quantity import parse
from ...volcano.conf import Arguments
from ..framework.session import Session
from .shared.insertion_sort import insertion_sort
from .shared.node_usage import node_usage
from .shared.pod_qos import BEST_EFFORT, BURSTABLE, GUARANTEED, pod_qos
from .shared.type_assertion import int_or_panic, text_or_panic

DEFAULT_INTERVAL_US = 5 * 60 * 1_000_000
DEFAULT_METRICS_PERIOD = "5m"
LOW_NODE_UTILIZATION = "lowNodeUtilization"
COUNTED = ("cpu", "memory")

_PARSE = "plugins/rescheduling.(*Configs).parseArguments"
_PARSE_LOW_NODE = "plugins/rescheduling.(*LowNodeUtilizationConf).parse"


class ReschedulingMemory(msgspec.Struct):
    """What a process remembers.

    :ivar last: when it rescheduled last, or started, in microseconds since 1970.
    :ivar period: the period of the metrics; it stays when the argument goes.
    """

    last: int
    period: str = DEFAULT_METRICS_PERIOD


class Utilization(msgspec.Struct):
    """How busy a node is, in percent."""

    name: str
    node: Node
    used: dict[str, float]
    pods: list[Pod] = msgspec.field(default_factory=list)


class Rescheduling:
    """Names victims, if the interval since the last time has passed.

    Arguments: ``interval`` (a duration, 5m), ``metricsPeriod`` (a text, 5m), ``strategies`` (a list
    of ``name`` and ``params``; only ``lowNodeUtilization`` exists, and has ``thresholds`` and
    ``targetThresholds`` in whole percent of ``cpu`` and ``memory``, 100). The scheduler files its
    metrics under 10m: with another period all nodes are idle.
    """

    name: ClassVar[str] = "rescheduling"

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments.raw

    def on_session_open(self, ssn: Session) -> None:
        """Register the strategies' victims, if it is time.

        :raises Panic: an argument has a wrong type.
        """
        self._ssn = ssn
        # The process started before its first session.
        self._memory = ssn.process.memory.of(
            ReschedulingMemory, lambda: ReschedulingMemory(ssn.now - 1)
        )
        interval = self._interval()
        if "metricsPeriod" in self._arguments:
            self._memory.period = text_or_panic(self._arguments["metricsPeriod"], _PARSE)
        self._memory.period = self._memory.period or DEFAULT_METRICS_PERIOD
        strategies = read_strategies(self._arguments)
        if self._memory.last + interval >= ssn.now:
            return
        self._memory.last = ssn.now
        self._usage = node_usage(ssn, self.name)
        # Of several entries of one name the last one's parameters count for all.
        params = dict(strategies).get(LOW_NODE_UTILIZATION, {})
        for name, _ in strategies:
            if name == LOW_NODE_UTILIZATION:
                ssn.registry.add_victim_tasks(self.name, lambda tasks: self._victims(params, tasks))

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _interval(self) -> int:
        interval = self._arguments.get("interval", "")
        try:
            return parse_go_duration(text_or_panic(interval, _PARSE)) // 1000
        except ValueError:
            return DEFAULT_INTERVAL_US

    def _victims(self, params: Mapping[str, Any], tasks: list[int]) -> list[int]:
        """Return pods of nodes above their target, as long as others are below their threshold.

        Source: low_node_utilization.go victimsFnForLnu.
        """
        thresholds = read_thresholds(params, "thresholds")
        # A fault in the first leaves the second as it is by default.
        targets = read_thresholds(params if thresholds is not None else {}, "targetThresholds")
        low, high = _thresholds(thresholds), _thresholds(targets)
        nodes = [self._utilization(row) for row in range(len(self._ssn.nodes))]
        idle, busy = [], []
        for each in nodes:
            if not each.node.spec.unschedulable and all(each.used[n] < low[n] for n in COUNTED):
                idle.append(each)
            elif any(each.used[n] > high[n] for n in COUNTED):
                busy.append(each)
        if not idle or len(idle) == len(nodes):
            return []
        room = {name: sum(_room(each, name, high[name]) for each in idle) for name in COUNTED}
        busy.sort(key=lambda each: -(each.used["cpu"] + each.used["memory"]))
        return [task for each in busy for task in self._evict(each, room, tasks, high)]

    def _utilization(self, row: int) -> Utilization:
        ssn = self._ssn
        info = ssn.nodes.info[row]
        assert info.node is not None
        known = self._usage.get(info.name)
        period = self._memory.period
        cpu, memory = (known.cpu, known.memory) if known else ({}, {})
        used = {"cpu": cpu.get(period, 0.0), "memory": memory.get(period, 0.0)}
        placed = ssn.nodes.tasks(row)
        pods = [ssn.tasks.info[placed[key][0]].pod for key in sorted(placed)]
        return Utilization(info.name, info.node, used, pods)

    def _evict(
        self, busy: Utilization, room: dict[str, int], tasks: list[int], high: dict[str, float]
    ) -> list[int]:
        """Return the victims on one node: the least important pods, until it is below its target.

        Pods are matched by name only; their namespace is ignored.

        Source: node_utilization_util.go evict.
        """
        victims = []
        info = self._ssn.tasks.info
        capacity = busy.node.status.capacity
        for pod in insertion_sort(busy.pods, _goes_first):
            # Only a room of exactly 0 stops it (`CmpInt64(0) == 0`); one that is overdrawn does
            # not.
            if not any(busy.used[n] >= high[n] for n in COUNTED) or 0 in room.values():
                break
            victim = next((task for task in tasks if info[task].pod.name == pod.name), None)
            if victim is not None:
                request = info[victim].request
                for name, amount, unit in (
                    ("cpu", int(request.cpu), 0.001),
                    ("memory", int(request.memory), 1),
                ):
                    room[name] -= amount
                    whole = _float(capacity.get(name, 0))
                    busy.used[name] -= _percent(amount * unit, whole)
                victims.append(victim)
        return victims


def read_strategies(arguments: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the (name, parameters) of the strategies; by default the only one, without any.

    An entry of another shape is left out.

    Source: rescheduling.go parseArguments.
    """
    given = arguments.get("strategies")
    if not isinstance(given, list) or not given:
        return [(LOW_NODE_UTILIZATION, {})]
    strategies = []
    for entry in given:
        if not isinstance(entry, Mapping):
            continue
        fields = {str(key).lower(): value for key, value in entry.items()}
        name, params = fields.get("name", ""), fields.get("params")
        if isinstance(name, str) and (params is None or isinstance(params, Mapping)):
            strategies.append((name, params or {}))
    return strategies


def read_thresholds(params: Mapping[str, Any], key: str) -> dict[str, int] | None:
    """Return the percentages under a key; None if they are no map.

    :raises Panic: a name is no text, or a percentage no whole number.

    Source: low_node_utilization.go parse.
    """
    if key not in params:
        return {}
    given = params[key]
    if not isinstance(given, Mapping):
        return None
    return {
        text_or_panic(name, _PARSE_LOW_NODE): int_or_panic(value, _PARSE_LOW_NODE)
        for name, value in given.items()
    }


def _thresholds(given: Mapping[str, int] | None) -> dict[str, float]:
    return {name: float((given or {}).get(name, 100)) for name in COUNTED}


def _room(idle: Utilization, name: str, target: float) -> int:
    """Return how much of a resource a node may take up to its target: milli-cores or bytes.

    Source: node_utilization_util.go convertPercentToQuan.
    """
    amounts = idle.node.status.allocatable or idle.node.status.capacity
    quantity = parse(amounts.get(name, 0))
    amount = quantity.milli_value() if name == "cpu" else quantity.value()
    return int(target * float(amount) * 0.01) - int(idle.used[name] * float(amount) * 0.01)


def _float(text: str | float) -> float:
    """Return a quantity as a float, rounded as the original rounds it.

    Source: k8s.io/apimachinery/pkg/api/resource/quantity.go AsApproximateFloat64.
    """
    number, power, _ = parse(text)
    try:
        return float(number) * 10.0**power if power else float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _percent(amount: float, whole: float) -> float:
    if whole == 0:
        return float("inf") if amount else float("nan")
    return amount * 100 / whole


def _goes_first(left: Pod, right: Pod) -> bool:
    """Return whether a pod is evicted before another: by priority, then by class of service.

    Of two of best effort both go first, so that it depends on how they are sorted.

    Source: node_utilization_util.go sortPods.
    """
    left_priority, right_priority = left.spec.priority, right.spec.priority
    if (left_priority is None) is not (right_priority is None):
        return left_priority is None
    if left_priority is not None and right_priority is not None and left_priority != right_priority:
        return left_priority < right_priority
    qos = pod_qos(left)
    return qos == BEST_EFFORT or (qos == BURSTABLE and pod_qos(right) == GUARANTEED)
