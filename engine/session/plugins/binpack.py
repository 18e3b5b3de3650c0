"""Plugin ``binpack``: the fuller a node would be, the better.

    score = 100 × binpack.weight × Σ w[r] × (used[r] + request[r]) / allocatable[r]  /  Σ w[r]

over the resources that the task asks for and that have a weight; 0 if one of them would not fit.

Source: pkg/scheduler/plugins/binpack/binpack.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

import numpy as np

from ...volcano.conf import Arguments
from ..tables import Floats, Rows

if TYPE_CHECKING:
    from ..session import Session

_RESOURCES = "binpack.resources"

Score = TypeVar("Score", float, Floats)


class _Part(NamedTuple):
    """One resource that a task asks for."""

    dim: int
    request: float
    weight: int


def read_weights(arguments: Arguments) -> dict[str, int]:
    """Return the weights of resources that arguments give. Source: ``calculateWeight``."""
    weights = {}
    for name in filter(None, map(str.strip, arguments.get_str(_RESOURCES, "").split(","))):
        weights[name] = _not_negative(arguments.get_int(f"{_RESOURCES}.{name}", 1))
    weights["cpu"] = _not_negative(arguments.get_int("binpack.cpu", 1))
    weights["memory"] = _not_negative(arguments.get_int("binpack.memory", 1))
    return weights


def _not_negative(weight: int) -> int:
    return weight if weight >= 0 else 1


class Binpack:
    """Scores nodes by how full they would be."""

    name: ClassVar[str] = "binpack"

    def __init__(self, arguments: Arguments) -> None:
        self._weight = arguments.get_int("binpack.weight", 1)
        self._weights = read_weights(arguments)
        self._parts: dict[int, tuple[_Part, ...]] = {}

    def on_session_open(self, ssn: Session) -> None:
        """Register the score, unless its weight is 0."""
        if self._weight == 0:
            return
        self._dims = ssn.dims
        self._tasks = ssn.tasks
        self._used = ssn.nodes.used
        self._allocatable = ssn.nodes.allocatable
        ssn.add_node_order(self.name, self.score, per="class")

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def score(self, task: int, rows: Rows) -> Floats:
        """Return the scores of nodes."""
        parts = self._parts_of(task)
        if len(rows) == 1:
            return np.array([self._one(parts, rows.item())])
        score, crowded = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.bool_)
        for dim, request, weight in parts:
            has = self._allocatable[rows, dim]
            if weight:
                there = has != 0
                full = request + self._used[rows, dim]
                crowded |= there & (full > has)
                score += np.where(there, full * float(weight) / np.where(there, has, 1.0), 0.0)
        return np.where(crowded, 0.0, self._scaled(score, parts))

    def _one(self, parts: tuple[_Part, ...], row: int) -> float:
        """Do as :meth:`score` for one row, without the cost of calling NumPy for a few numbers."""
        score = 0.0
        for dim, request, weight in parts:
            has = self._allocatable.item(row, dim)
            if weight and has:
                full = request + self._used.item(row, dim)
                if full > has:
                    return 0.0
                score += full * float(weight) / has
        scaled: float = self._scaled(score, parts)
        return scaled

    def _scaled(self, score: Score, parts: tuple[_Part, ...]) -> Score:
        total = sum(part.weight for part in parts)
        if total > 0:
            score = score / float(total)
        return score * float(100 * self._weight)

    def _parts_of(self, task: int) -> tuple[_Part, ...]:
        klass = self._tasks.klass.item(task)
        known = self._parts.get(klass)
        if known is None:
            request = self._tasks.info[task].request
            known = self._parts[klass] = tuple(
                _Part(self._dims.index(name), request.get(name), self._weights[name])
                for name in request.resource_names()
                if name in self._weights
            )
        return known
