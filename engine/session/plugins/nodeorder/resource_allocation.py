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
from numpy.typing import NDArray

from ...kube.node_columns import Amounts
from ...kube.node_map import CPU, GPU, MEMORY, NONZERO_CPU, NONZERO_MEMORY, NodeMap
from ...kube.pod_class import PodClass
from ...tables import Rows

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


def all_balanced(pairs: list[tuple[Amounts, Amounts]]) -> Amounts:
    """Return :func:`balanced` of many nodes.

    What a node has nothing of does not count; with one resource left, all is in balance.

    :param pairs: requested and allocatable of two or three resources.
    """
    counted = [has != 0 for _, has in pairs]
    fractions = [np.minimum(asked / np.where(has, has, 1), 1.0) for asked, has in pairs]
    number = np.sum(counted, axis=0)
    first = np.where(counted[0], fractions[0], fractions[1])
    last = fractions[1] if len(fractions) == 2 else np.where(counted[2], fractions[2], fractions[1])
    deviation = np.where(number == 2, np.abs((first - last) / 2), 0.0)
    if (number > 2).any():
        mean = (fractions[0] + fractions[1] + fractions[2]) / 3
        squares = np.zeros(len(number))
        for fraction in fractions:
            squares = squares + (fraction - mean) * (fraction - mean)
        deviation = np.where(number > 2, np.sqrt(squares / 3), deviation)
    scores: Amounts = ((1 - deviation) * HIGHEST).astype(np.int64)
    return scores


def _quotient(dividend: Amounts, divisor: Amounts) -> Amounts:
    """Divide as Go does: towards zero."""
    quotient: Amounts = dividend // divisor
    quotient += (dividend % divisor != 0) & (quotient < 0)
    return quotient


class ResourceAllocation:
    """The weighted sum of the three scores, of tasks on nodes as they are."""

    def __init__(self, nodes: NodeMap, weights: Weights) -> None:
        self._nodes = nodes
        self._weights = weights
        self._cpu: list[int] = nodes.columns.cpu.tolist()
        self._memory: list[int] = nodes.columns.memory.tolist()
        self._gpu: list[int] = nodes.columns.gpu.tolist()

    def one(self, pod: PodClass, row: int) -> int:
        """Return the score of a pod on one node."""
        has_cpu, has_memory, has_gpu = self._cpu[row], self._memory[row], self._gpu[row]
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
        if balance:
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

    def all(self, pod: PodClass, rows: Rows) -> Amounts:
        """Return the scores of a pod on many nodes."""
        columns, accounts = self._nodes.columns, self._nodes.accounts[rows]
        asked, weights = pod.requests, self._weights
        has_cpu, has_memory = columns.cpu[rows], columns.memory[rows]
        score: Amounts = np.zeros(len(rows), dtype=np.int64)
        if weights.least or weights.most:
            pairs = [
                (accounts[:, NONZERO_CPU] + asked.nonzero_cpu, has_cpu),
                (accounts[:, NONZERO_MEMORY] + asked.nonzero_memory, has_memory),
            ]
            if weights.least:
                score += weights.least * _all_mean(pairs, all_least_requested)
            if weights.most:
                score += weights.most * _all_mean(pairs, all_most_requested)
        if weights.balanced:
            used = [
                (accounts[:, CPU] + asked.cpu, has_cpu),
                (accounts[:, MEMORY] + asked.memory, has_memory),
            ]
            if asked.gpu:
                used.append((accounts[:, GPU] + asked.gpu, columns.gpu[rows]))
            score += weights.balanced * all_balanced(used)
        return score


def _all_mean(pairs: list[tuple[Amounts, Amounts]], portions: Portions) -> Amounts:
    """Return the mean over the resources that a node has, each counting the same."""
    total: Amounts = np.zeros(len(pairs[0][0]), dtype=np.int64)
    number: NDArray[np.int64] = np.zeros(len(total), dtype=np.int64)
    for asked, has in pairs:
        there = has != 0
        total += np.where(there, portions(asked, np.where(there, has, 1)), 0)
        number += there
    return _quotient(total, np.maximum(number, 1))
