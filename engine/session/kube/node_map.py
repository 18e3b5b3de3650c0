"""The nodes as kube-scheduler sees them: their pods, and what the pods request.

It is built when a session is opened, from all pods on the nodes in any status; then only
plugin ``predicates`` updates it, with each event. An evicted pod is removed from
it at once, a pipelined one is added at once.

Source: pkg/scheduler/framework/util.go GenerateNodeMapAndSlice;
k8s.io/kubernetes/pkg/scheduler/framework/types.go NodeInfo.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...model.session_tables import NO_JOB, NO_NODE, TaskStatus
from .node_columns import Amounts, LabelColumn, Mask, NodeColumns
from .pod_class import ANY_ADDRESS, HostPort, PodClass, Reading, class_of
from .pod_requests import PodRequests, pod_requests, requests_on_nodes

if TYPE_CHECKING:
    from ...kubernetes.objects import Pod
    from ...model.session_tables import Ints
    from ..framework.session import Session

CPU, MEMORY, GPU, NONZERO_CPU, NONZERO_MEMORY, PODS = range(6)
"""Columns of :attr:`NodeMap.accounts`."""

_COLUMNS = 6
_DENSE = 8
"""With more (node, class) pairs per pod than this, pods are summed one by one."""


class DomainCounts:
    """How many pods of some classes are in each domain, kept up to date.

    :param column: the domains.
    :param among: the nodes whose pods count; all that have the label if ``None``.
    """

    __slots__ = ("_counted", "absent", "by_domain", "codes", "total")

    def __init__(self, column: LabelColumn, among: Mask | None) -> None:
        self.codes = column.codes
        """By node, its domain; ``absent`` for nodes without one."""
        self.absent = column.absent
        self._counted = self.codes
        if among is not None:
            self._counted = np.where(among, self.codes, self.absent).astype(np.int32)
        self.by_domain: Amounts = np.zeros(self.absent + 1, dtype=np.int64)
        """Pods by domain; the last number is 0, for nodes without a domain."""
        self.total = 0

    def fill(self, nodes: Ints) -> None:
        """Count one pod on each of these nodes."""
        counted = np.bincount(self._counted[nodes], minlength=self.absent + 1)
        counted[self.absent] = 0
        self.by_domain += counted
        assert self.by_domain[self.absent] == 0, "what is in no domain is not counted"
        self.total += int(counted.sum())

    def move(self, node: int, sign: int) -> None:
        """Count a pod that came (1) or went (-1)."""
        domain = self._counted.item(node)
        if domain != self.absent:
            self.by_domain[domain] += sign
            self.total += sign

    def by_node(self) -> Amounts:
        """Return, by node, the count of its domain."""
        return self.by_domain[self.codes]


class NodeMap:
    """The pods on the nodes, by row."""

    def __init__(self, ssn: Session, columns: NodeColumns, known: dict[int, PodClass]) -> None:
        self.columns = columns
        self._tasks = ssn.tasks
        self._errors = ssn.errors
        self._touched = ssn.touched
        self.klass = ssn.tasks.class_list
        """Class by task."""
        self.on: Ints = _placed(ssn)
        """By task: the node that it is on, or ``NO_NODE``."""
        self._twice: dict[tuple[int, int], int] = {}
        """(task, node) to which a pod was added while it was on another node."""
        self.classes, self._vectors = _classes(ssn, known)
        """Classes of the session's tasks."""
        self._placed_tasks = np.flatnonzero(self.on != NO_NODE)
        self.accounts: Amounts = self._accounts()
        """Nodes × (cpu, memory, cards, cpu and memory with defaults, pods)."""
        self._counts: dict[Hashable, DomainCounts] = {}
        self._followers: dict[int, list[DomainCounts]] = {}
        self._living_followers: dict[int, list[DomainCounts]] = {}
        self._ports: dict[HostPort, Mask] = {}
        self._fill_ports()
        self.had_affinity = self._nodes_with(lambda pod: pod.has_affinity)
        """Nodes that had a pod with terms about other pods when the session was opened."""
        self.had_required_anti = self._nodes_with(lambda pod: pod.has_required_anti)
        """Likewise with required anti-affinity; neither list is updated."""

    def belongs_to(self, ssn: Session) -> bool:
        """Return whether this was made for a session."""
        return self._tasks is ssn.tasks

    def class_of(self, task: int) -> PodClass:
        """Return what filters and scores read of a task's pod."""
        return self.classes[self.klass[task]]

    def add_pod(self, task: int, node: int) -> None:
        """Note that a pod is on a node. Source: ``NodeInfo.AddPod``."""
        # `NodeInfo.AddPod` appends and does not look: a pod is so counted on two nodes, or twice on
        # one.
        if self.on.item(task) != NO_NODE:
            self._twice[task, node] = self._twice.get((task, node), 0) + 1
            self._touched.append(node)
        else:
            self.on[task] = node
        self._move(task, node, 1)

    def remove_pod(self, task: int, node: int) -> None:
        """Note that a pod is no longer on a node. Source: ``NodeInfo.RemovePod``."""
        if self.on.item(task) == node:
            self.on[task] = NO_NODE
        elif self._twice.get((task, node)):
            self._twice[task, node] -= 1
            self._touched.append(node)
        else:
            pod = self._tasks.info[task]
            self._errors.append(
                f"predicates, remove pod {pod.key} from node [{self.columns.names[node]}] error:"
                f" no corresponding pod {pod.name} in pods of node {self.columns.names[node]}"
            )
            return
        self._move(task, node, -1)

    def count_back(self, task: int, node: int) -> None:
        """Count a pod again whose eviction is simulated no longer; it is not put on the node.

        Source: ``interpodaffinity.AddPod``, which changes a copy of the counts.
        """
        self._recount(task, node, 1)

    def count_out(self, task: int, node: int) -> None:
        """Count a pod out whose eviction is simulated; it stays on the node.

        It may never have been counted: then counts can be below zero, as in the original.

        Source: ``interpodaffinity.RemovePod``.
        """
        self._recount(task, node, -1)

    def classes_where(self, matches: Callable[[PodClass], bool]) -> list[int]:
        """Return the numbers of the classes of the session's pods that match."""
        return [number for number, pod in self.classes.items() if matches(pod)]

    def placed_where(self, matches: Callable[[PodClass], bool]) -> NDArray[np.intp]:
        """Return the tasks that were on nodes at the opening and whose class matches."""
        good = self.classes_where(matches)
        if not good:
            return np.zeros(0, dtype=np.intp)
        table = np.zeros(len(self._vectors), dtype=np.bool_)
        table[good] = True
        return self._placed_tasks[table[self._tasks.klass[self._placed_tasks]]]

    def ports_taken(self, wanted: tuple[HostPort, ...]) -> Mask:
        """Return which nodes lack a wanted port. Source: ``HostPortInfo.CheckConflict``."""
        taken = np.zeros(len(self.columns), dtype=np.bool_)
        for port in wanted:
            for used, nodes in self._ports.items():
                same = used.protocol == port.protocol and used.port == port.port
                if same and (
                    ANY_ADDRESS in (port.address, used.address) or used.address == port.address
                ):
                    taken |= nodes
        return taken

    def count(
        self,
        name: Hashable,
        classes: Iterable[int],
        domains: LabelColumn,
        among: Mask | None = None,
        *,
        living: bool = False,
    ) -> DomainCounts:
        """Return the count of pods of some classes in each domain; it is updated from now on.

        :param name: identifies the count; the other parameters are used only for a new one.
        :param among: the nodes that count; all that have the label if ``None``.
        :param living: whether pods that are being deleted do not count.
        """
        known = self._counts.get(name)
        if known is None:
            known = self._counts[name] = self._counted(classes, domains, among, living=living)
        return known

    def terminating(self, task: int) -> bool:
        """Return whether a pod was being deleted when the session was opened."""
        return self._tasks.info[task].pod.metadata.deletion_timestamp is not None

    def _counted(
        self,
        classes: Iterable[int],
        domains: LabelColumn,
        among: Mask | None,
        *,
        living: bool,
    ) -> DomainCounts:
        counts = DomainCounts(domains, among)
        good = np.zeros(len(self._vectors), dtype=np.bool_)
        followers = self._living_followers if living else self._followers
        for klass in classes:
            good[klass] = True
            followers.setdefault(klass, []).append(counts)
        tasks = np.flatnonzero((self.on != NO_NODE) & good[self._tasks.klass])
        if living:
            tasks = np.array(
                [task for task in tasks.tolist() if not self.terminating(task)], dtype=np.intp
            )
        counts.fill(self.on[tasks])
        for (task, node), times in self._twice.items():
            if good[self.klass[task]] and not (living and self.terminating(task)):
                for _ in range(times):
                    counts.move(node, 1)
        return counts

    def _move(self, task: int, node: int, sign: int) -> None:
        klass, account = self.klass[task], self.accounts[node]
        if sign > 0:
            account += self._vectors[klass]
        else:
            account -= self._vectors[klass]
        for port in self.classes[klass].ports:
            self._port_nodes(port)[node] = sign > 0
        self._recount(task, node, sign)

    def _recount(self, task: int, node: int, sign: int) -> None:
        klass = self.klass[task]
        for counts in self._followers.get(klass, ()):
            counts.move(node, sign)
        if self._living_followers and not self.terminating(task):
            for counts in self._living_followers.get(klass, ()):
                counts.move(node, sign)

    def _accounts(self) -> Amounts:
        nodes, klass = (
            self.on[self._placed_tasks].astype(np.intp),
            self._tasks.klass[self._placed_tasks],
        )
        count, classes = len(self.columns), len(self._vectors)
        if count * classes <= _DENSE * len(nodes):
            pods = np.bincount(nodes * classes + klass, minlength=count * classes)
            return pods.reshape(count, classes) @ self._vectors
        accounts = np.zeros((count, _COLUMNS), dtype=np.int64)
        np.add.at(accounts, nodes, self._vectors[klass])
        return accounts

    def _fill_ports(self) -> None:
        for task in self.placed_where(lambda pod: bool(pod.ports)):
            for port in self.classes[self.klass[task]].ports:
                self._port_nodes(port)[self.on[task]] = True

    def _port_nodes(self, port: HostPort) -> Mask:
        """Return the nodes on which a port is occupied; removing one of its pods frees it."""
        nodes = self._ports.get(port)
        if nodes is None:
            nodes = self._ports[port] = np.zeros(len(self.columns), dtype=np.bool_)
        return nodes

    def _nodes_with(self, matches: Callable[[PodClass], bool]) -> Mask:
        mask = np.zeros(len(self.columns), dtype=np.bool_)
        mask[self.on[self.placed_where(matches)]] = True
        return mask


class NodeMapCache(msgspec.Struct):
    """Caches: columns and classes from session to session, the map within a session."""

    columns: NodeColumns | None = None
    classes: dict[int, PodClass] = msgspec.field(default_factory=dict)
    map: NodeMap | None = None


def node_map(ssn: Session) -> NodeMap:
    """Return the session's view of its nodes, which its plugins share."""
    cache = ssn.process.caches.of(NodeMapCache)
    if cache.map is None or not cache.map.belongs_to(ssn):
        columns = cache.columns
        if columns is None or not columns.holds(ssn.nodes.info):
            columns = cache.columns = NodeColumns(ssn.nodes.info, columns)
        cache.map = NodeMap(ssn, columns, cache.classes)
    return cache.map


def _placed(ssn: Session) -> Ints:
    """Return, by task, the node of its pod; ended pods have none."""
    status = ssn.tasks.status
    # Nodes have no tasks of ended pods, while a task keeps the name of its node.
    ended = (status == TaskStatus.SUCCEEDED) | (status == TaskStatus.FAILED)
    on: Ints = np.where(ended, NO_NODE, ssn.tasks.node).astype(np.int32)
    # Where tasks and accounts differ, the accounts count: `GenerateNodeMapAndSlice` reads `Pods()`
    # of nodes.
    if np.count_nonzero(on != NO_NODE) != ssn.nodes.count_tasks():
        on[:] = NO_NODE
        for node in range(len(ssn.nodes)):
            for task, _ in ssn.nodes.tasks(node).values():
                on[task] = node
    return on


def _classes(ssn: Session, known: dict[int, PodClass]) -> tuple[dict[int, PodClass], Amounts]:
    """Return the session's classes, and what a pod of each adds to a node's account.

    :param known: classes of earlier sessions by their number in the cache, to save time;
        the session's own numbers can be finer.
    """
    live = np.flatnonzero((ssn.tasks.job != NO_JOB) | (ssn.tasks.node != NO_NODE))
    first = ssn.tasks.first_of_class(live)
    vectors = np.zeros((len(first), _COLUMNS), dtype=np.int64)
    classes: dict[int, PodClass] = {}
    how = ssn.behaviours
    reading = Reading(
        how.placed_pod_sidecars_scored,
        how.overhead_scored_in_cores,
        how.extended_spread_constraints,
    )
    asked: dict[tuple[int, ...], PodRequests] = {}
    for number in np.flatnonzero(first >= 0).tolist():
        info = ssn.tasks.info[first[number]]
        before = known.get(info.klass) or _new_class(info.pod, reading, asked)
        pod_class = known[info.klass] = class_of(info.pod, before, reading)
        classes[number] = pod_class
        request = pod_class.requests
        if reading.overhead_in_cores and info.pod.spec.overhead:
            request = pod_requests(info.pod, sidecars=reading.sidecars)
        if not how.existing_pod_sidecars_scored and info.pod.spec.init_containers:
            request = requests_on_nodes(info.pod, request, sidecars=reading.sidecars)
        vectors[number] = (*request, 1)
    return classes, vectors


def _new_class(pod: Pod, reading: Reading, asked: dict[tuple[int, ...], PodRequests]) -> PodClass:
    """Return a class with this pod; pods share equal parts, so their requests are known by these.

    :param asked: requests so far, by the parts of pods that live on.
    """
    spec = pod.spec
    parts = (id(spec.containers), id(spec.init_containers), id(spec.overhead))
    new = PodClass(pod, asked.get(parts), reading)
    asked[parts] = new.requests
    return new
