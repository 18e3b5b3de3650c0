"""A scheduling session: its tables, its configuration, and what it has changed so far.

A session is data. Plugins register functions in its registry; :mod:`.voting` combines their
answers, and :mod:`.framework_orders` sorts by them. :mod:`.immediate` and :mod:`.statement` change
it.

Source: ``pkg/scheduler/framework/session.go`` and ``framework.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from ...model.resource import Resource
from ...model.session_tables import NO_JOB, TOLERANCE, Floats, TaskStatus
from ...model.subtraction import subtraction
from ..jobs.allocated_hypernodes import AllocatedHypernodes, HypernodeMemory
from ..jobs.jobs import JobTable
from ..jobs.sub_jobs import SubJobs
from ..reasons.statuses import Reasons
from ..topology.top_hypernode import session_tree
from .chooser import Chooser, LeastName
from .map_orders import Ascending, MapOrders, MapWalk, Names
from .plugin_registry import Registry
from .trace import StepOutcome, Trace

if TYPE_CHECKING:
    from ...cache.snapshot import Snapshot
    from ...model.session_tables import Rows
    from ...volcano.conf import SchedulerConf
    from ...volcano.session.behaviours import Behaviours
    from .process_parts import ProcessState
    from .session_outcome import GroupCondition, StoppedByQueues

_NEW = frozenset({TaskStatus.ALLOCATED, TaskStatus.PIPELINED, TaskStatus.BINDING})
"""Statuses with which a task comes to a node."""


class CacheActions(Protocol):
    """What a session requests of the cache at once; the cache may refuse."""

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Bind a task of a job (``ns/podgroup``); return the error, or ``None``.

        Source: ``cache/cache.go:AddBindTask``.
        """
        ...

    def evict(self, job: str, uid: str, reason: str) -> str | None:
        """Evict a task of a job (``ns/podgroup``); return the error, or ``None``.

        Source: ``cache/cache.go:Evict``.
        """
        ...


class Plugin(Protocol):
    """A plugin of one session."""

    name: ClassVar[str]

    def on_session_open(self, ssn: Session) -> None:
        """Compute what is needed, and register functions."""
        ...

    def on_session_close(self, ssn: Session) -> None:
        """Write what is to be written."""
        ...


class Session:
    """The state of one session; plugins and actions work on it.

    Its methods keep its tables consistent with each other, and decide nothing.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        conf: SchedulerConf,
        behaviours: Behaviours,
        *,
        now: int,
        process: ProcessState,
        cache: CacheActions,
        trace: Trace,
        chooser: Chooser | None = None,
        map_orders: MapOrders | None = None,
        samples_nodes: bool = False,
    ) -> None:
        self.snapshot = snapshot
        self.conf = conf
        self.behaviours = behaviours
        self._now = now
        self.asked_time = False
        """Whether anything in the session asked for the current time."""
        self.process = process
        self.cache = cache
        self.trace = trace
        self.chooser: Chooser = chooser or LeastName()
        self.map_orders: MapOrders = map_orders or Ascending()
        """In which order the session goes through Go's maps."""
        self.samples_nodes = samples_nodes
        """Whether the search for nodes ends when enough are found."""
        self.registry = Registry(conf.tiers)
        self.victim_selection_restarts = behaviours.victim_selection_restarts
        """Whether a plugin decides alone if the earlier ones agreed on no victim."""
        self._take_tables(snapshot)
        self._begin_results()
        self._set_hooks()
        self._named_requests: dict[int, Floats] = {}

    @property
    def now(self) -> int:
        """The session's current time, in microseconds since 1970."""
        self.asked_time = True
        return self._now

    def map_order(self, about: str, count: int, names: Names) -> Rows:
        """Return the order of a walk through a map, as places of its keys in ascending order."""
        order = self.map_orders.order(MapWalk(self.trace.action, about), count, names)
        assert len(order) == count, "a walk comes to every key once"
        return order

    def _take_tables(self, snapshot: Snapshot) -> None:
        """Copy what the session changes of a snapshot, and share the rest."""
        behaviours = self.behaviours
        self.dims = snapshot.dims
        self.nodes = snapshot.nodes.copy()
        self.all_rows: Rows = np.arange(len(self.nodes))
        """The rows of all nodes; never changed."""
        self.tasks = snapshot.tasks.copy()
        self.jobs = JobTable(
            snapshot.jobs,
            self.tasks,
            self.nodes,
            behaviours,
            choose=lambda job, names: self.chooser.choose("reason", self.jobs.keys[job], names),
        )
        self.queues = snapshot.queues
        self.quotas = snapshot.quotas
        self.objects = snapshot.objects
        self.hypernodes = session_tree(snapshot, behaviours)
        self.accounts_checked = behaviours.subtractions_checked
        """Whether a task is added to a node only if its account has room."""
        self.subtract = subtraction(checked=self.accounts_checked)
        """How accounts subtract: with an assertion, or down to 0."""
        self.out_of_sync = self.nodes.overfull() & behaviours.overfull_nodes_skipped
        """By node: whether it is skipped because more is used on it than it has."""
        self.total: Resource = snapshot.total()
        """Sum of the nodes' allocatable."""
        recovery = AllocatedHypernodes(
            memory=self.process.memory.of(HypernodeMemory).by_job,
            jobs=self.jobs,
            tasks=self.tasks,
            opening=snapshot.tasks.status,
            tree=self.hypernodes,
            behaviours=behaviours,
            choose=lambda job, equals: self.chooser.choose("hypernode", job, equals),
        )
        self.sub_jobs = SubJobs(self.jobs, self.tasks, self.hypernodes, behaviours, recovery)

    def _begin_results(self) -> None:
        """Initialise the results: no decisions, no writes."""
        self.reasons = Reasons()
        self.errors: list[str] = []
        """What the scheduler would log at error level."""
        self.stopped: StoppedByQueues | None = None
        """Why no queue gets anything, if a plugin refuses everything."""
        self.events: list[tuple[int, str, str]] = []
        """(job, reason, message) of events about PodGroups."""
        self.conditions: dict[int, list[GroupCondition]] = {}
        """Conditions of the jobs whose conditions this session changed."""
        self.touched: list[int] = []
        """Rows of the nodes whose account changed, in order; grows only."""
        self.binds: list[tuple[int, int]] = []
        self.evictions: list[tuple[int, str]] = []
        self.node_scores: dict[int, tuple[Rows, Floats]] = {}
        """(rows, scores) of the last scoring of each task, while tracing."""
        self.task_keys: dict[int, tuple[Any, ...]] = {}
        """By task: its key in the order of tasks, if it was needed."""

    def _set_hooks(self) -> None:
        """Set what a plugin offers to others or to actions, as if that plugin were missing."""
        self.share_devices: Callable[[int, int], str] = lambda _task, _node: ""
        """Of deviceshare: give a task its part of a node's devices; returns the error."""
        self.take_devices: Callable[[int, int], str] = lambda _task, _node: ""
        """Of deviceshare: take the part back; returns the error."""
        self.annotated: dict[int, dict[str, str | None]] = {}
        """Of deviceshare, by task: annotations that it wrote on the pod; ``None``: removed."""
        self.device_amounts: dict[int, dict[str, float]] = {}
        """Of deviceshare, by task: what queues' statuses count of shared devices instead of its
        request."""
        self.simulated_predicate: Callable[[int, int], bool] = lambda _task, _node: True
        """Of predicates: whether pod affinity currently allows a task on a node."""
        self.affinity_counts_victims = True
        """Of predicates: whether that answer changes while evictions are simulated."""
        self.devices_allow: Callable[[int, int], bool] = lambda _task, _node: True
        """Of deviceshare: whether devices currently suffice for a task on a node."""
        self.prepared: set[int] | None = None
        """Of predicates: tasks that the filters were prepared for, if an action needs to know;
        ``None``: all are."""
        self.simulations_fail = False
        """Whether a plugin gets simulated evictions without PrePredicate for the pod."""
        self.reserved: dict[int, list[Callable[[], object]]] = {}
        """By job: functions of plugins that release its reservation from enqueueing."""
        self.total_guarantee = Resource()
        """Of capacity; written to the root queue at the close."""
        self.total_deserved = Resource()
        """Of capacity, for releases that do not write the total there."""
        self.deserved: dict[str, Resource] = {}
        """What each queue deserves, as the plugin says that limits queues; callers only read it."""

    def expect_simulations(self, plugin: str) -> None:
        """Determine whether simulated evictions fail for a plugin that needs PrePredicate.

        One enable flag gives it the victims, another one PrePredicate.
        """
        points = self.registry.enabled_points(plugin)
        simulates = bool(points & {"Preemptable", "Allocatable"})
        self.simulations_fail = self.simulations_fail or (simulates and "Predicate" not in points)

    def record_event(self, job: int, reason: str, message: str) -> None:
        """Record an event about a PodGroup."""
        self.events.append((job, reason, message))
        key, numbers = self.jobs.keys[job], {"message": message}
        self.trace.add("event", key, outcome=StepOutcome.REASON, named=reason, numbers=numbers)

    def task_name(self, task: int) -> str:
        """Return ``ns/pod``."""
        name: str = self.tasks.info[task].key
        return name

    def set_status(self, task: int, status: int) -> None:
        """Move a task to another status within its job."""
        job = self.tasks.job.item(task)
        # Pods of no job are only in the accounts of their nodes.
        if job != NO_JOB:
            self.jobs.move(job, task, status)

    def place(self, task: int, node: int) -> str | None:
        """Add a task with its current status to a node's account; return the error, or ``None``.

        Source: ``api/node_info.go:AddTask``.
        """
        # `PodKey` is ns/name, not the UID: a pod and its successor of that name are never both
        # there.
        key = self.tasks.info[task].key
        on_node = self.nodes.own_tasks(node)
        if key in on_node:
            return f"task <{key}> already on node <{self.nodes.names[node]}>"
        status = self.tasks.status.item(task)
        if not self._takes(task, node, status):
            return f"node <{self.nodes.names[node]}> has not enough idle for task <{key}>"
        self._account(task, node, status, 1.0)
        on_node[key] = (task, status)
        self.tasks.node[task] = node
        return None

    def unplace(self, task: int, node: int) -> None:
        """Remove a task from a node's account, with the status that the account has.

        Source: ``api/node_info.go:RemoveTask``.
        """
        noted = self.nodes.own_tasks(node).pop(self.tasks.info[task].key, None)
        # The account was charged for the status of then. The task has a new one already.
        if noted is not None:
            self._account(noted[0], node, noted[1], -1.0)

    def replace(self, task: int, node: int) -> str | None:
        """Set a task's new status in its node's account.

        Source: ``api/node_info.go:UpdateTask``.
        """
        self.unplace(task, node)
        return self.place(task, node)

    def named_request(self, task: int) -> Floats:
        """Return a task's request, with -inf for resources that it does not name.

        Of those there is always enough: a node may have less than nothing, for instance of GPUs
        that it lost.
        """
        klass = self.tasks.klass.item(task)
        known = self._named_requests.get(klass)
        if known is None:
            named = {"cpu", "memory", *(self.tasks.info[task].request.scalars or ())}
            unnamed = [dim for dim, name in enumerate(self.dims) if name not in named]
            known = self._named_requests[klass] = self.tasks.request[task].copy()
            known[unnamed] = -np.inf
        return known

    def _takes(self, task: int, node: int, status: int) -> bool:
        """Return whether a node has room; checked for binds, and for all if the release does so.

        Source: ``api/node_info.go:AddTask``, which checks when a task is to be bound.
        """
        # What is there may still be evicted or undone; only what comes is refused.
        if self.out_of_sync.item(node) and status in _NEW:
            return False
        if status == TaskStatus.BINDING or (
            self.accounts_checked and status == TaskStatus.ALLOCATED
        ):
            return fits(self.named_request(task), self.nodes.idle[node])
        if self.accounts_checked and status == TaskStatus.PIPELINED:
            return fits(self.named_request(task), self.nodes.future_idle(node))
        return True

    def _account(self, task: int, node: int, status: int, sign: float) -> None:
        request, checked = self.tasks.request[task], self.accounts_checked
        self.nodes.account(node, -request if sign < 0 else request, status, checked=checked)
        self.touched.append(node)


def fits(request: Floats, room: Floats) -> bool:
    """Return whether every part of a request is at most the room, or within 0.1 of it.

    :param request: as :meth:`Session.named_request` returns it: the rest is not compared.

    Source: ``api/resource_info.go:LessEqual`` with dimensions that the room lacks as zero.
    """
    return bool(np.all((request < room) | (np.abs(request - room) < TOLERANCE)))
