"""The tasks on the nodes that a session could evict, and the nodes where evictions could help.

A task that preempts or reclaims tries node after node, and on each the plugins vote on its
victims. Most nodes cannot help with any vote; this module finds them for all nodes at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...model.session_tables import (
    NO_JOB,
    NO_NODE,
    PREEMPTABLE_STATUS,
    Floats,
    Ints,
    Rows,
    TaskStatus,
)
from ..framework.map_orders import tasks_on
from ..framework.plugin_registry import EvictableEntry
from .eviction_trials import keep_short

if TYPE_CHECKING:
    from ..framework.session import Session

Mask = NDArray[np.bool_]
Tier = Sequence[tuple[str, EvictableEntry]]

_EAGER = 4
"""The plugins vote on this many nodes before all nodes are checked together."""
_SLACK = 1.0
"""The possible rounding error of a sum; a node that lacks less is kept."""


class PromisingNodes(msgspec.Struct, frozen=True):
    """Nodes where evictions could help, and whether each could have a victim."""

    nodes: Rows
    victims: Mask


class EvictionCandidates:
    """The tasks in nodes' accounts, updated from the session's list of touched nodes."""

    def __init__(self, ssn: Session) -> None:
        self._ssn = ssn
        self._seen = len(ssn.touched)
        count, info = len(ssn.tasks), ssn.tasks.info
        self.node: Ints = np.full(count, NO_NODE, dtype=np.int32)
        """By task: the node that it is on, or ``NO_NODE``."""
        self._may_go: Mask = np.zeros(count, dtype=np.bool_)
        self._behaviours = ssn.behaviours
        # Else one array has both names, and `_read` writes it under the first.
        self._may_go_in_job = (
            self._may_go.copy()
            if self._behaviours.unpreemptable_preempted_within_job
            else self._may_go
        )
        """By task: whether it is on a node, evictable, and bound or running."""
        bound = ssn.behaviours.bound_pods_preempted
        self._preemptable_status = PREEMPTABLE_STATUS if bound else frozenset({TaskStatus.RUNNING})
        self._runs: Mask = np.zeros(count, dtype=np.bool_)
        """The same of those that run."""
        self._on: list[list[int]] = [[] for _ in range(len(ssn.nodes))]
        for node in range(len(ssn.nodes)):
            self._read(node)
        self._best_effort = np.array([each.best_effort for each in info], dtype=np.bool_)
        number = {name: index for index, name in enumerate(ssn.queues)}
        reclaimable = [queue.reclaimable for queue in ssn.queues.values()]
        self._reclaimable = np.array([*reclaimable, False])  # the last for tasks in no queue
        self._number = number
        of_job = np.array([number.get(name, -1) for name in ssn.jobs.queue], dtype=np.intp)
        has_job = ssn.tasks.job != NO_JOB
        self._queue = np.full(count, -1, dtype=np.intp)
        self._queue[has_job] = of_job[ssn.tasks.job[has_job]]

    def preemptable_by(self, task: int, *, own: bool) -> Mask:
        """Return, by task, whether it is a candidate: of the job if ``own``, else of its queue.

        A task without requests can only replace others without requests.
        """
        self._refresh()
        ssn = self._ssn
        job = ssn.tasks.job.item(task)
        mine: Mask = ssn.tasks.job == job
        who: Mask = mine if own else (self._queue == self._number[ssn.jobs.queue[job]]) & ~mine
        who &= self._may_go_in_job if own else self._may_go
        if ssn.behaviours.best_effort_victims_skipped:
            who &= ~self._best_effort
        elif ssn.tasks.info[task].best_effort:
            who &= self._best_effort
        return who

    def reclaimable_by(self, queue: str) -> Mask:
        """Return, by task, whether it runs in another queue that may be reclaimed from."""
        self._refresh()
        others = self._reclaimable.copy()
        others[self._number[queue]] = False
        # Only what runs: `PreemptableStatus`, with Bound pods, is for preempt; reclaim asks for
        # Running.
        who: Mask = self._runs & others[self._queue]
        return who

    def on(self, node: int, who: Mask) -> list[int]:
        """Return the tasks of a node that are selected, in order of name.

        `node.Tasks` is a map: Volcano offers its tasks to the plugins in random order, and some of
        them allow the first ones only.
        """
        ssn, placed = self._ssn, self._ssn.nodes.tasks(node)
        keys = [key for key in sorted(placed) if who.item(placed[key][0])]
        if len(keys) > 1 and not ssn.map_orders.ascending:
            walk = ssn.map_order(tasks_on(ssn.nodes.names[node]), len(keys), lambda: keys)
            keys = [keys[place] for place in walk.tolist()]
        return [placed[key][0] for key in keys]

    def nodes_of(self, who: Mask) -> Mask:
        """Return, by node, whether it has any of these tasks."""
        there = np.zeros(len(self._ssn.nodes), dtype=np.bool_)
        there[self.node[who]] = True
        return there

    def reclaimed_on(self, task: int, nodes: Rows, who: Mask) -> Iterator[int]:
        """Yield the nodes with candidates where a vote could help, in the given order.

        Mostly one of the first is used, so these are not checked beforehand.
        """
        occupied = nodes[self.nodes_of(who)[nodes]]
        # A release whose `FutureIdle` can panic visits all nodes, as each visit may be the crash.
        first = len(occupied) if self._ssn.behaviours.overfull_nodes_crash else _EAGER
        yield from occupied[:first].tolist()
        if len(occupied) > first:
            yield from self.could_help("Reclaimable", task, occupied[first:], who).nodes.tolist()

    def could_help(self, point: str, task: int, nodes: Rows, who: Mask) -> PromisingNodes:
        """Leave out nodes that lack room for a task even if all possible victims are evicted.

        :param point: the extension point whose plugins vote.
        """
        ssn, candidates = self._ssn, np.flatnonzero(who)
        chosen = np.zeros(len(who), dtype=np.bool_)
        for tier in ssn.registry.functions(point) if len(candidates) else ():
            # Of all tiers: any of them may be the first that decides on some node.
            chosen[self._chosen(tier, task, candidates)] = True
        room = ssn.nodes.future_idle() + self._freed(np.flatnonzero(chosen))
        enough: Mask = np.all(ssn.named_request(task) - room < _SLACK, axis=1)
        with_room: Rows = nodes[np.take(enough, nodes)]
        if ssn.trace.on:
            victims = np.bincount(self.node[np.flatnonzero(chosen)], minlength=len(ssn.nodes))
            keep_short(ssn, task, nodes[(victims > 0)[nodes] & ~enough[nodes]], victims, room)
        return PromisingNodes(with_room, self.nodes_of(chosen)[with_room])

    def _freed(self, victims: Rows) -> Floats:
        """Return, by node and resource, what victims would free."""
        count, dims = len(self._ssn.nodes), len(self._ssn.dims)
        freed = np.zeros((count, dims))
        node, request = self.node[victims], self._ssn.tasks.request[victims]
        for dim in range(dims) if len(victims) else ():
            freed[:, dim] = np.bincount(node, request[:, dim], count)
        return freed

    def _chosen(self, tier: Tier, task: int, candidates: Rows) -> Rows:
        """Return which tasks a tier could choose as victims.

        The tier decides nothing on a node where one of its plugins chooses no task. A task that the
        last plugin does not choose is no victim. For the others, see ``Extensions.preemptable``.
        """
        on_every: Mask | None = None
        last = candidates[:0]
        for _, entry in tier:
            if entry.may is None:
                last = candidates
                continue
            last = candidates[entry.may(task, candidates)]
            if not len(last):
                return last
            there = np.zeros(len(self._ssn.nodes), dtype=np.bool_)
            there[self.node[last]] = True
            on_every = there if on_every is None else on_every & there
        return last if on_every is None else last[on_every[self.node[last]]]

    def _refresh(self) -> None:
        touched = self._ssn.touched
        assert self._seen <= len(touched), "the journal of touched nodes only grows"
        if self._seen < len(touched):
            for node in sorted(set(touched[self._seen :])):
                self._read(node)
            self._seen = len(touched)

    def _read(self, node: int) -> None:
        for task in self._on[node]:
            # One that has moved may be noted on its new node already.
            if self.node.item(task) == node:
                self.node[task] = NO_NODE
                self._may_go[task] = self._runs[task] = self._may_go_in_job[task] = False
        placed, info = self._ssn.nodes.tasks(node), self._ssn.tasks.info
        self._on[node] = [task for task, _ in placed.values()]
        for task, status in placed.values():
            self.node[task] = node
            self._may_go[task] = info[task].preemptable and status in self._preemptable_status
            if self._behaviours.unpreemptable_preempted_within_job:
                self._may_go_in_job[task] = status in self._preemptable_status
            self._runs[task] = info[task].preemptable and status == TaskStatus.RUNNING
