"""Plugin ``binpack``: fuller nodes score higher.

    score = 100 × binpack.weight × Σ w[r] × (used[r] + request[r]) / allocatable[r]  /  Σ w[r]

over the requested resources with a weight; 0 if one of them would not fit.

Source: pkg/scheduler/plugins/binpack/binpack.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import msgspec
import numpy as np

from ...model.session_tables import Floats, Rows
from ...volcano.conf import Arguments

if TYPE_CHECKING:
    from ..framework.session import Session

_RESOURCES = "binpack.resources"


class _Part(NamedTuple):
    """One resource that a task asks for."""

    dim: int
    request: float
    weight: float


class _Asked(msgspec.Struct, frozen=True):
    """The requests for resources with a weight, and the sum of these weights; 1 if that is 0."""

    parts: tuple[_Part, ...]
    weights: float


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
        self._scale = float(100 * self._weight)
        self._asked: dict[int, _Asked] = {}

    def on_session_open(self, ssn: Session) -> None:
        """Register the score, unless its weight is 0."""
        if self._weight == 0:
            return
        self._dims = ssn.dims
        self._tasks = ssn.tasks
        self._used = ssn.nodes.used
        self._allocatable = ssn.nodes.allocatable
        self._everywhere: list[bool] = np.all(ssn.nodes.allocatable, axis=0).tolist()
        """By resource: whether every node has some of it."""
        ssn.registry.add_node_order(self.name, self.score, per="class", one=self.score_on)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""

    def score(self, task: int, rows: Rows) -> Floats:
        """Return the scores of nodes."""
        asked = self._asked_by(task)
        score, crowded = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.bool_)
        allocatable = self._allocatable.take(rows, axis=0)
        used = self._used.take(rows, axis=0)
        for dim, request, weight in asked.parts:
            has, full = allocatable[:, dim], request + used[:, dim]
            # `ResourceBinPackingScore` returns 0 before it compares: without weight no node is too
            # full.
            if not weight:
                continue
            if self._everywhere[dim]:
                crowded |= full > has
                score += full * weight / has
            else:
                there = has != 0
                crowded |= there & (full > has)
                score += np.where(there, full * weight / np.where(there, has, 1.0), 0.0)
        return np.where(crowded, 0.0, score / asked.weights * self._scale)

    def score_on(self, task: int, row: int) -> float:
        """Return :meth:`score` for one row, without the cost of calling NumPy for a few numbers."""
        asked, score = self._asked_by(task), 0.0
        for dim, request, weight in asked.parts:
            has = self._allocatable.item(row, dim)
            if weight and has:
                full = request + self._used.item(row, dim)
                if full > has:
                    return 0.0
                score += full * weight / has
        return score / asked.weights * self._scale

    def _asked_by(self, task: int) -> _Asked:
        klass = self._tasks.klass.item(task)
        known = self._asked.get(klass)
        if known is None:
            request = self._tasks.info[task].request
            parts = tuple(
                _Part(self._dims.index(name), request.get(name), float(self._weights[name]))
                for name in request.resource_names()
                if name in self._weights
            )
            # Of all parts, though a node may lack some of them: there they lower the score
            # (`weightSum`).
            weights = sum(part.weight for part in parts)
            known = self._asked[klass] = _Asked(parts, weights if weights > 0 else 1.0)
        return known
