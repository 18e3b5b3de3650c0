"""Plugin ``resource-strategy-fit``: for each resource, prefer full nodes or free ones.

    most[r]  = (used[r] + request[r]) / allocatable[r]
    least[r] = (allocatable[r] − used[r] − request[r]) / allocatable[r]
    score = 100 × weight × Σ w[r] × most[r] or least[r]  /  Σ w[r]

over what a task asks for and a strategy is known of; 0 if one of them would not fit. With ``sra``,
tasks that ask for no scarce resource are kept from nodes that have some; with ``proportional``,
they leave cpu and memory for it.

Source: pkg/scheduler/plugins/resource-strategy-fit/{resource_strategy_fit,sra,proportional}.go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec
import numpy as np

from ...model.session_tables import Floats, Rows
from ...volcano.arguments import is_int
from ...volcano.conf import Arguments
from .shared.decoded_arguments import ValueType, decode
from .shared.proportional import CardRate, Proportional

if TYPE_CHECKING:
    from ..framework.session import Session

SCORING_TYPE = "volcano.sh/resource-strategy-scoring-type"
SCORING_WEIGHTS = "volcano.sh/resource-strategy-weight"
MOST, LEAST = "MostAllocated", "LeastAllocated"
DEFAULT_WEIGHT = 10
MAX_SCORE = 100.0


class FitStrategy(NamedTuple):
    """The strategy for a resource: most or least allocated, and its weight."""

    type: str
    weight: int


class _Part(NamedTuple):
    """One requested resource with a strategy."""

    dim: int
    request: float
    strategy: FitStrategy


_DEFAULT: Mapping[str, FitStrategy] = MappingProxyType(
    {"cpu": FitStrategy(LEAST, 1), "memory": FitStrategy(LEAST, 1)}
)


class ScarceResources(msgspec.Struct, frozen=True):
    """Scarce resources: nodes with them are reserved for tasks that need them."""

    weight: int = 0
    weights: dict[str, int] = {}


class ResourceStrategyFit:
    """Scores nodes by resource; filters them if ``proportional`` is enabled.

    Arguments ``resourceStrategyFitWeight`` (10), ``resources`` (by name, or by prefix and ``*``:
    ``type`` and ``weight``), ``sra`` and ``proportional``.
    """

    name: ClassVar[str] = "resource-strategy-fit"

    def __init__(self, arguments: Arguments) -> None:
        weight = decode(arguments, "resourceStrategyFitWeight", ValueType.INT)
        self._weight = DEFAULT_WEIGHT if weight is None or weight < 0 else weight
        self._strategies = read_strategies(arguments)
        self._scarce = read_scarce_resources(arguments)
        self._rates = read_rates(arguments)
        self._parts: dict[int, list[_Part]] = {}

    def on_session_open(self, ssn: Session) -> None:
        """Register the score, unless its weights are 0, and the filter if there are rates."""
        self._ssn = ssn
        if self._rates is not None:
            checks = Proportional(ssn, self._rates, ssn.reasons)
            ssn.registry.add_predicate(self.name, checks.filter, per="class")
        if self._weight > 0 or self._scarce.weight > 0:
            ssn.registry.add_node_order(self.name, self._score, per="class")

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def _score(self, task: int, rows: Rows) -> Floats:
        score = np.zeros(len(rows))
        if self._weight > 0:
            score += self._fit(task, rows)
        if self._scarce.weight > 0:
            score += self._spare(task, rows)
        return score

    def _fit(self, task: int, rows: Rows) -> Floats:
        """Return the score of how full nodes would be. Source: resource_strategy_fit.go Score."""
        allocatable, used = self._ssn.nodes.allocatable[rows], self._ssn.nodes.used[rows]
        score, crowded, weights = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.bool_), 0
        for dim, request, (kind, weight) in self._parts_of(task):
            # A resource that the node lacks scores 0, and its weight counts all the same
            # (`weightSum`).
            weights += weight
            has = allocatable[:, dim]
            counts = (has != 0) if weight and kind in {MOST, LEAST} else np.zeros_like(crowded)
            full = request + used[:, dim]
            crowded |= counts & (full > has)
            part = full if kind == MOST else has - full
            score += np.where(counts, part * weight / np.where(counts, has, 1.0), 0.0)
        if weights > 0:
            score /= weights
        return np.where(crowded, 0.0, score * (MAX_SCORE * self._weight))

    def _spare(self, task: int, rows: Rows) -> Floats:
        """Return the score of how few scarce resources nodes have. Source: sra.go sraScore."""
        ssn = self._ssn
        allocatable = ssn.nodes.allocatable[rows]
        score, useless = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.bool_)
        for name in ssn.tasks.info[task].request.resource_names():
            useless |= allocatable[:, ssn.dims.index(name)] == 0
        for name, weight in self._scarce.weights.items():
            if name in ssn.dims:
                score += np.where(allocatable[:, ssn.dims.index(name)] > 0, float(weight), 0.0)
        total = sum(self._scarce.weights.values())
        if total > 0:
            score = 1.0 - score / total
        return np.where(useless, 0.0, score * (MAX_SCORE * self._scarce.weight))

    def _parts_of(self, task: int) -> list[_Part]:
        """Return a task's requests, with the strategies of its annotations, if any."""
        klass = int(self._ssn.tasks.klass[task])
        known = self._parts.get(klass)
        if known is None:
            info = self._ssn.tasks.info[task]
            own = own_strategies(info.pod.annotations)
            known = self._parts[klass] = []
            for name in info.request.resource_names():
                strategy = strategy_of(name, self._strategies) if own is None else own.get(name)
                if strategy is not None:
                    part = _Part(self._ssn.dims.index(name), info.request.get(name), strategy)
                    known.append(part)
        return known


def read_strategies(arguments: Arguments) -> Mapping[str, FitStrategy]:
    """Return the strategies by resource or pattern that arguments give; else those of cpu, memory.

    Source: resource_strategy_fit.go calculateWeight.
    """
    fields = {"type": ValueType.TEXT, "weight": ValueType.INT}
    given: dict[str, dict[str, Any]] | None = decode(arguments, "resources", (fields,))
    if not given:
        return _DEFAULT
    return {
        name: FitStrategy(
            entry["type"] if entry["type"] in {MOST, LEAST} else LEAST, max(entry["weight"], 0) or 1
        )
        for name, entry in given.items()
        if "*" not in name or (name != "*" and name.find("*") == len(name) - 1)
    }


def read_scarce_resources(arguments: Arguments) -> ScarceResources:
    """Return the scarce resources, if enabled. Source: sra.go calculateSraWeight."""
    fields = {"enable": ValueType.BOOL, "resources": ValueType.TEXT, "weight": ValueType.INT}
    given = decode(arguments, "sra", {**fields, "resourceWeight": (ValueType.INT,)})
    if given is None or not given["enable"]:
        return ScarceResources()
    weights = {}
    for name in filter(None, map(str.strip, given["resources"].split(","))):
        weight = given["resourceWeight"].get(name, 1)
        weights[name] = weight if weight >= 0 else 1
    return ScarceResources(given["weight"], weights)


def read_rates(arguments: Arguments) -> dict[str, CardRate] | None:
    """Return what is reserved per card, by resource; ``None`` if that is not enabled.

    Source: proportional.go calculateProportionalResources.
    """
    fields = {"enable": ValueType.BOOL, "resources": ValueType.TEXT}
    given = decode(arguments, "proportional", {**fields, "resourceProportion": (ValueType.NUMBER,)})
    if given is None or not given["enable"]:
        return None
    rates = {}
    for name in filter(None, map(str.strip, given["resources"].split(","))):
        cpu = given["resourceProportion"].get(f"{name}.cpu", 1.0)
        memory = given["resourceProportion"].get(f"{name}.memory", 1.0)
        rates[name] = CardRate(cpu if cpu >= 0 else 1.0, memory if memory >= 0 else 1.0)
    return rates


def strategy_of(name: str, strategies: Mapping[str, FitStrategy]) -> FitStrategy | None:
    """Return the strategy for a resource: its own, or that of the longest prefix.

    Source: resource_strategy_fit.go findResourceConfigWithPrefix.
    """
    if name in strategies:
        return strategies[name]
    prefixes = [key for key in strategies if key.endswith("*") and name.startswith(key[:-1])]
    return strategies[max(prefixes, key=len)] if prefixes else None


def own_strategies(annotations: dict[str, str]) -> dict[str, FitStrategy] | None:
    """Return a pod's own strategies; ``None`` without any, and empty if they cannot be read."""
    kind = annotations.get(SCORING_TYPE, "")
    if not kind:
        return None
    try:
        weights = json.loads(annotations.get(SCORING_WEIGHTS, ""))
    except ValueError:
        return {}
    if not isinstance(weights, dict) or not all(map(is_int, weights.values())):
        return {}
    return {name: FitStrategy(kind, weight) for name, weight in weights.items()}
