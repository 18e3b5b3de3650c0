"""Truth in columns: nodes and queues by resource, podgroups by the status of their members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
import numpy as np
import numpy.typing as npt

from .facts import NodeFact, PodFact, PodGroupFact, QueueFact, Resources
from .truth_fold import Entry, Truth

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_FINISHED = frozenset({"Succeeded", "Failed"})


class NodeAmounts(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes by name order; ``allocatable`` and ``used`` are nodes × resources.

    :param used: requests of the pods that have the node and have not finished.
    :param pods: how many those are.
    """

    names: list[str]
    resources: list[str]
    allocatable: Floats
    used: Floats
    pods: Ints


class QueueTable(msgspec.Struct, frozen=True, kw_only=True):
    """Queues by name order; ``allocated`` is queues × resources.

    :param allocated: requests of the pods of the queue, and of the queues below it, that have a
        node and have not finished. :param pods: how many those are.
    """

    names: list[str]
    resources: list[str]
    allocated: Floats
    pods: Ints


def _pods(truth: Truth) -> list[tuple[Entry, PodFact]]:
    return [(entry, entry.fact) for entry in truth.of("", "Pod") if isinstance(entry.fact, PodFact)]


def _resource_names(amounts: Iterable[Resources]) -> list[str]:
    """Return resource names: cpu and memory first, the others by name."""
    names = sorted({name for amount in amounts for name in amount} - {"cpu", "memory"})
    return ["cpu", "memory", *names]


def _matrix(rows: list[Resources], resources: list[str]) -> Floats:
    matrix = np.zeros((len(rows), len(resources)))
    column = {name: index for index, name in enumerate(resources)}
    for index, amounts in enumerate(rows):
        for name, amount in amounts.items():
            matrix[index, column[name]] = amount
    return matrix


def _sum_by(
    keys: list[str], pods: Iterable[tuple[str, PodFact]], resources: list[str]
) -> tuple[Floats, Ints]:
    """Add up pods' requests by key, in the order given; pods of unknown keys are left out."""
    totals = np.zeros((len(keys), len(resources)))
    counts = np.zeros(len(keys), np.int64)
    row_of = {key: index for index, key in enumerate(keys)}
    column = {name: index for index, name in enumerate(resources)}
    for key, pod in pods:
        row = row_of.get(key)
        if row is None:
            continue
        counts[row] += 1
        for name, amount in pod.requests.items():
            totals[row, column[name]] += amount
    return totals, counts


def _occupies(pod: PodFact) -> bool:
    return bool(pod.node) and pod.phase not in _FINISHED


def node_table(truth: Truth) -> NodeAmounts:
    """Return allocatable and used resources of every node."""
    nodes = [
        (entry.reference.name, entry.fact)
        for entry in truth.of("", "Node")
        if isinstance(entry.fact, NodeFact)
    ]
    pods = [pod for _, pod in _pods(truth) if _occupies(pod)]
    names = [name for name, _ in nodes]
    allocatable = [fact.allocatable for _, fact in nodes]
    resources = _resource_names([*allocatable, *(pod.requests for pod in pods)])
    used, counts = _sum_by(names, ((pod.node, pod) for pod in pods), resources)
    return NodeAmounts(
        names=names,
        resources=resources,
        allocatable=_matrix(allocatable, resources),
        used=used,
        pods=counts,
    )


def queue_by_podgroup(truth: Truth) -> Mapping[tuple[str, str], str]:
    """Return the queue of every PodGroup, by (namespace, name)."""
    return {
        (entry.reference.namespace, entry.reference.name): entry.fact.queue or "default"
        for entry in truth.of("scheduling.volcano.sh", "PodGroup")
        if isinstance(entry.fact, PodGroupFact)
    }


def queue_parents(truth: Truth) -> Mapping[str, str]:
    """Return the parent that every queue names; empty if it names none."""
    return {
        entry.reference.name: entry.fact.parent
        for entry in truth.of("scheduling.volcano.sh", "Queue")
        if isinstance(entry.fact, QueueFact)
    }


def queues_from(name: str, parents: Mapping[str, str]) -> list[str]:
    """Return a queue and those above it; a circle ends where it began."""
    queues = [name]
    while (parent := parents.get(queues[-1], "")) and parent not in queues:
        queues.append(parent)
    return queues


def in_tree(parents: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield queues with how many are above each: parents first, names in order.

    A queue whose parent does not exist begins a tree. Queues on a circle of parents come last, the
    first by name as the top.

    :param parents: the parent of each queue; empty where it names none.
    """
    children: dict[str, list[str]] = {}
    for name in sorted(parents, reverse=True):
        children.setdefault(parents[name], []).append(name)
    tops = [name for name in sorted(parents) if parents[name] not in parents]
    seen: set[str] = set()
    for top in (*tops, *sorted(parents)):  # The second: queues on a circle.
        left = [(0, top)]
        while left:
            depth, name = left.pop()
            if name not in seen:
                seen.add(name)
                yield depth, name
                left += [(depth + 1, child) for child in children.get(name, ())]


def queue_table(truth: Truth) -> QueueTable:
    """Return the requests of the pods of every queue; a pod belongs to its PodGroup's queue."""
    parents = queue_parents(truth)
    queues = queue_by_podgroup(truth)
    pods = [
        (queues.get((entry.reference.namespace, pod.podgroup), pod.queue), pod)
        for entry, pod in _pods(truth)
        if _occupies(pod) and (pod.podgroup or pod.queue)
    ]
    resources = _resource_names(pod.requests for _, pod in pods)
    own, counted = _sum_by(list(parents), pods, resources)
    row_of = {name: row for row, name in enumerate(parents)}
    allocated, counts = np.zeros_like(own), np.zeros_like(counted)
    for name, row in row_of.items():
        above = [row_of[queue] for queue in queues_from(name, parents) if queue in row_of]
        allocated[above] += own[row]
        counts[above] += counted[row]
    return QueueTable(names=list(parents), resources=resources, allocated=allocated, pods=counts)


def podgroup_members(truth: Truth) -> dict[tuple[str, str], dict[str, int]]:
    """Return, for every (namespace, PodGroup) with pods, how many are in each status."""
    members: dict[tuple[str, str], dict[str, int]] = {}
    for entry, pod in _pods(truth):
        if pod.podgroup:
            counts = members.setdefault((entry.reference.namespace, pod.podgroup), {})
            counts[pod.status] = counts.get(pod.status, 0) + 1
    return {key: dict(sorted(counts.items())) for key, counts in sorted(members.items())}
