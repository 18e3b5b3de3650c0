"""Scores ``LeastAllocated``, ``MostAllocated`` and ``BalancedAllocation`` of nodes.

Every formula stands twice: over many nodes at once, and for one node without the cost of calling
NumPy for a few numbers. Both calculate with int64, and divide as Go does, towards zero.

Source: pkg/scheduler/framework/plugins/noderesources: resource_allocation.go, least_allocated.go,
most_allocated.go, balanced_allocation.go, of Kubernetes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....model.session_tables import Floats, Rows
from ...kube.node_columns import Amounts
from ...kube.node_map import GPU, NONZERO_CPU, PODS, NodeMap
from ...kube.pod_class import PodClass

HIGHEST = 100
_SMALL = 2**56
"""Numbers below can be multiplied by :data:`HIGHEST` within an int64."""

Portions = Callable[[Amounts, Amounts], Amounts]
"""From (requested, allocatable) of one resource to its score, over many nodes."""


class Weights(NamedTuple):
    """How much the scores count."""

    least: int
    most: int
    balanced: int


def least_requested(requested: int, allocatable: int) -> int:
    """Return how much would stay free, of 100."""
    if requested > allocatable:
        return 0
    return (allocatable - requested) * HIGHEST // allocatable


def most_requested(requested: int, allocatable: int) -> int:
    """Return how much would be used, of 100."""
    return min(requested, allocatable) * HIGHEST // allocatable


def balanced(used: tuple[float, ...]) -> int:
    """Return how near the used fractions of two or three resources are, of 100."""
    fractions = [fraction if fraction < 1 else 1.0 for fraction in used]
    # Of two, half the difference is the deviation; Kubernetes has this case, too, and digits depend
    # on it.
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    else:
        cpu, memory, gpu = fractions
        mean = (cpu + memory + gpu) / 3
        squares = (cpu - mean) * (cpu - mean) + (memory - mean) * (memory - mean)
        deviation = math.sqrt((squares + (gpu - mean) * (gpu - mean)) / 3)
    return int((1 - deviation) * HIGHEST)


def all_least_requested(requested: Amounts, allocatable: Amounts) -> Amounts:
    """Return :func:`least_requested` of many nodes; ``allocatable`` must not be 0."""
    free = _quotient((allocatable - requested) * HIGHEST, allocatable)
    return np.where(requested > allocatable, 0, free)


def all_most_requested(requested: Amounts, allocatable: Amounts) -> Amounts:
    """Return :func:`most_requested` of many nodes; ``allocatable`` must not be 0."""
    return _quotient(np.minimum(requested, allocatable) * HIGHEST, allocatable)


def all_balanced(requested: Amounts, allocatable: Amounts) -> Amounts:
    """Return :func:`balanced` of many nodes, of two or three resources by column.

    Resources that a node lacks do not count; with one resource left, it is balanced.
    """
    there = allocatable != 0
    every = bool(there.all())
    fractions = np.minimum(
        requested / (allocatable if every else np.where(there, allocatable, 1)), 1.0
    )
    if every and fractions.shape[1] == 2:
        return _of_100(np.abs((fractions[:, 0] - fractions[:, 1]) / 2))
    number = there.sum(axis=1)
    first = np.where(there[:, 0], fractions[:, 0], fractions[:, 1])
    last = np.where(there[:, -1], fractions[:, -1], fractions[:, 1])
    deviation = np.where(number == 2, np.abs((first - last) / 2), 0.0)
    if (number > 2).any():
        mean = (fractions[:, 0] + fractions[:, 1] + fractions[:, 2]) / 3
        squares = np.zeros(len(number))
        for fraction in fractions.T:
            squares = squares + (fraction - mean) * (fraction - mean)
        deviation = np.where(number > 2, np.sqrt(squares / 3), deviation)
    return _of_100(deviation)


def _of_100(deviation: Floats) -> Amounts:
    with np.errstate(invalid="ignore"):  # beyond an int64 it is the least one, as in Go on amd64
        scores: Amounts = ((1 - deviation) * HIGHEST).astype(np.int64)
    return scores


def _quotient(dividend: Amounts, divisor: Amounts | int) -> Amounts:
    """Divide as Go does: towards zero."""
    quotient: Amounts = dividend // divisor
    below = quotient < 0
    if below.any():
        quotient += (dividend % divisor != 0) & below
    return quotient


class ResourceAllocation:
    """The weighted sum of the three scores, of tasks on nodes as they are."""

    def __init__(
        self, nodes: NodeMap, weights: Weights, *, balanced_allocation_scores_best_effort: bool
    ) -> None:
        self._nodes = nodes
        self._balanced_allocation_scores_best_effort = balanced_allocation_scores_best_effort
        self._weights = weights
        self._has = nodes.columns.amounts
        self._amounts = nodes.columns.amount_lists

    def one(self, pod: PodClass, row: int) -> int:
        """Return the score of a pod on one node."""
        has_cpu, has_memory, has_gpu = self._amounts[row]
        if not (0 < has_cpu < _SMALL and 0 < has_memory < _SMALL and has_gpu >= 0):
            return self.all(pod, np.array([row])).item()
        least, most, balance = self._weights
        cpu, memory, gpu, nonzero_cpu, nonzero_memory, _ = self._nodes.accounts[row].tolist()
        asked = pod.requests
        nonzero_cpu += asked.nonzero_cpu
        nonzero_memory += asked.nonzero_memory
        score = 0
        if least:
            sum_of_both = least_requested(nonzero_cpu, has_cpu)
            sum_of_both += least_requested(nonzero_memory, has_memory)
            score += least * (sum_of_both // 2)
        if most:
            sum_of_both = most_requested(nonzero_cpu, has_cpu)
            sum_of_both += most_requested(nonzero_memory, has_memory)
            score += most * (sum_of_both // 2)
        if balance and self._balances(pod):
            used_cpu, used_memory = (
                (cpu + asked.cpu) / has_cpu,
                (memory + asked.memory) / has_memory,
            )
            if asked.gpu and has_gpu:
                used_gpu = (gpu + asked.gpu) / has_gpu
                score += balance * balanced((used_cpu, used_memory, used_gpu))
            else:
                score += balance * balanced((used_cpu, used_memory))
        return score

    def _balances(self, pod: PodClass) -> bool:
        """Return whether the balance of nodes counts for a pod."""
        asked = pod.requests
        return self._balanced_allocation_scores_best_effort or bool(
            asked.cpu or asked.memory or asked.gpu
        )

    def all(self, pod: PodClass, rows: Rows) -> Amounts:
        """Return the scores of a pod on many nodes."""
        accounts, has = self._nodes.accounts.take(rows, axis=0), self._has.take(rows, axis=0)
        asked, weights = pod.requests, self._weights
        score: Amounts = np.zeros(len(rows), dtype=np.int64)
        if weights.least or weights.most:
            counted = accounts[:, NONZERO_CPU:PODS] + (asked.nonzero_cpu, asked.nonzero_memory)
            if weights.least:
                score += weights.least * _mean(all_least_requested, counted, has[:, :GPU])
            if weights.most:
                score += weights.most * _mean(all_most_requested, counted, has[:, :GPU])
        if weights.balanced and self._balances(pod):
            used = accounts[:, :NONZERO_CPU] + (asked.cpu, asked.memory, asked.gpu)
            number = 3 if asked.gpu else 2
            score += weights.balanced * all_balanced(used[:, :number], has[:, :number])
        return score


def _mean(portions: Portions, requested: Amounts, allocatable: Amounts) -> Amounts:
    """Return the mean over the resources that a node has, each counting the same."""
    there = allocatable != 0
    if there.all():
        return _quotient(portions(requested, allocatable).sum(axis=1), allocatable.shape[1])
    each = np.where(there, portions(requested, np.where(there, allocatable, 1)), 0)
    return _quotient(each.sum(axis=1), np.maximum(there.sum(axis=1), 1))
