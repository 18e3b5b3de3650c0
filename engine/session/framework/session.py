"""A scheduling session: a snapshot, the plugins that were opened on it, and what it changed.

Source: ``pkg/scheduler/framework/session.go`` and ``framework.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ...kubernetes.go.text import parse_int
from ...model.resource import Resource
from ...model.subtraction import subtraction
from ...model.tables import IS_ALLOCATED, NO_JOB, NO_NODE, TOLERANCE, Status
from ..jobs.jobs import JobTable
from ..jobs.sub_jobs import SubJobs
from ..nodes.eviction_candidates import Lying
from ..nodes.node_selection import NodeSelection
from ..topology.top_hypernode import session_tree
from .chooser import Chooser, LeastName
from .priority_queue import KeyedQueue, PriorityQueue, Queue
from .reasons import Reasons
from .registration import SearchPurpose
from .sub_job_extension import SubJobExtensions
from .trace import Trace

if TYPE_CHECKING:
    from ...cache.snapshot import Snapshot
    from ...volcano.conf import Arguments, SchedulerConf
    from ...volcano.session.behaviours import Behaviours

_NEW = frozenset({Status.ALLOCATED, Status.PIPELINED, Status.BINDING})
"""Statuses with which a task comes to a node."""


class CacheActions(Protocol):
    """What a session asks of the cache at once: it may refuse."""

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


@dataclass(slots=True)
class ProcessState:
    """What a scheduler process keeps from session to session outside its cache.

    ``gauges`` are the exported metrics by queue; ``kept`` belongs to plugins and actions, by name.
    ``from_start``: it is known since its start; else it ran for long before its first session here.
    """

    gauges: dict[str, dict[str, float]] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)
    from_start: bool = False


class Condition(NamedTuple):
    """A condition of a PodGroup; ``ours`` says that this session wrote it (its transition id)."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    ours: bool = False


class Session(SubJobExtensions):
    """The state of one session; plugins and actions work on it."""

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
        samples_nodes: bool = False,
    ) -> None:
        super().__init__(conf.tiers, trace)
        self.samples_nodes = samples_nodes
        """Whether the search for nodes ends when enough are found."""
        self.snapshot = snapshot
        self.conf = conf
        self.behaviours = behaviours
        self.victim_selection_restarts = behaviours.victim_selection_restarts
        self.now = now
        """Microseconds since 1970: the time that the session believes it is."""
        self.process = process
        self.cache = cache
        self.chooser: Chooser = chooser or LeastName()
        self.reasons = Reasons()
        self.errors: list[str] = []
        """What the scheduler would log at error level."""
        self.events: list[tuple[int, str, str]] = []
        """(job, reason, message) of events about PodGroups."""

        self._take(snapshot)
        self.conditions: dict[int, list[Condition]] = {}
        """Conditions of the jobs whose conditions this session changed."""
        self.touched: list[int] = []
        """Rows of the nodes whose account changed, in order; grows only."""
        self.binds: list[tuple[int, int]] = []
        self.evictions: list[tuple[int, str]] = []
        self._selection: NodeSelection | None = None
        self._lying: Lying | None = None
        self.sub_jobs = SubJobs(self)
        self._task_keys: dict[int, tuple[Any, ...]] = {}
        self._named: dict[int, np.ndarray[Any, Any]] = {}
        self.ended: Callable[[str], None] = lambda _: None
        """Is told the name of each action when it is over."""
        self.node_scores: dict[int, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = {}
        """(rows, scores) of the last scoring of each task, while tracing."""

    def _take(self, snapshot: Snapshot) -> None:
        """Copy what the session changes of a snapshot, and share the rest."""
        self.dims = snapshot.dims
        self.nodes = snapshot.nodes.copy()
        self.tasks = snapshot.tasks.copy()
        self.jobs = JobTable(snapshot.jobs, self.tasks, self.nodes, self.behaviours)
        self.queues = snapshot.queues
        self.quotas = snapshot.quotas
        self.objects = snapshot.objects
        self.hypernodes = session_tree(snapshot, self.behaviours)
        self._checked = self.behaviours.subtractions_checked
        self.subtract = subtraction(checked=self._checked)
        """How accounts give back: with an assertion, or what there is."""
        self.out_of_sync = self.nodes.overfull() & self.behaviours.overfull_nodes_skipped
        """By node: whether it is passed over because more is used on it than it has."""
        self.total: Resource = snapshot.total()
        """Sum of the nodes' allocatable."""
        self.total_guarantee = Resource()
        """Set by capacity; written to the root queue at the close."""
        self.total_deserved = Resource()
        """Likewise, by releases that do not write the total there."""
        self.reserved: dict[int, list[Callable[[], object]]] = {}
        """By job: how plugins that permitted it to be enqueued give back what they reserved."""
        self.device_amounts: dict[int, dict[str, float]] = {}
        """By task: what queues' statuses tell of its shared devices instead of what it requests."""

    @property
    def selection(self) -> NodeSelection:
        """Return the filters and scores of nodes; to be asked for when all plugins are open."""
        if self._selection is None:
            self._selection = NodeSelection(self)
        return self._selection

    @property
    def lying(self) -> Lying:
        """Return what lies on the nodes, by task."""
        if self._lying is None:
            self._lying = Lying(self)
        return self._lying

    @property
    def gauges(self) -> dict[str, dict[str, float]]:
        """Return the exported metrics by queue."""
        return self.process.gauges

    def action_arguments(self, action: str) -> Arguments:
        """Return the arguments that the configuration gives an action."""
        return self.conf.action_arguments(action)

    def record_event(self, job: int, reason: str, message: str) -> None:
        """Say something about a PodGroup."""
        self.events.append((job, reason, message))
        self.trace.add("event", self.jobs.keys[job], outcome=reason, numbers={"message": message})

    def task_name(self, task: int) -> str:
        """Return ``ns/pod``."""
        name: str = self.tasks.info[task].key
        return name

    # Orders, with the fallbacks of session_plugins.go.

    def job_key(self, job: int) -> tuple[Any, ...]:
        """Return by what jobs are ordered: plugins' keys, the time of creation, then ns/name."""
        keys = [key(job) for _, key in self.flat("JobOrder")]
        return (*keys, self.jobs.created[job], job)  # rows are in order of ns/name, the job's UID

    def job_order(self, left: int, right: int) -> bool:
        """Return whether the left job comes first."""
        return self.job_key(left) < self.job_key(right)

    def job_queue(self) -> Queue[int]:
        """Return a queue for jobs to which nothing happens as long as they lie in it."""
        return KeyedQueue(self.job_key)

    def queue_order(self, left: str, right: str) -> bool:
        """Return whether the left queue comes first."""
        for tier in self.functions("QueueOrder"):
            for _, fn in tier:
                order = fn(left, right)
                if order:
                    return bool(order < 0)
        one, other = self.queues[left].created, self.queues[right].created
        return left < right if one == other else one < other

    def victim_queue_order(self, left: str, right: str, preemptor: str) -> bool:
        """Return whether the left queue's victims come first."""
        for tier in self.functions("VictimQueueOrder"):
            for _, fn in tier:
                order = fn(left, right, preemptor)
                if order:
                    return bool(order < 0)
        return not self.queue_order(left, right)

    def task_order(self, left: int, right: int) -> bool:
        """Return whether the left task comes first.

        Without an opinion of a plugin: the number at the end of the pod's name, then the time of
        creation, then the UID (``pkg/controllers/job/helpers:CompareTask``).
        """
        for _, order in self.flat("TaskOrder"):
            opinion = order.compare(left, right)
            if opinion:
                return bool(opinion < 0)
        one, other = self.tasks.info[left], self.tasks.info[right]
        at, beside = pod_index(one.name), pod_index(other.name)
        if at is not None and beside is not None and at != beside:
            return at < beside
        return (one.created, one.uid) < (other.created, other.uid)

    def task_key(self, task: int) -> tuple[Any, ...]:
        """Return by what tasks are ordered, if all orders have keys; see :meth:`task_queue`."""
        known = self._task_keys.get(task)
        if known is None:
            info = self.tasks.info[task]
            keys = [order.key(task) for _, order in self.flat("TaskOrder")]
            known = (*keys, pod_index(info.name) or 0, info.created, info.uid)
            self._task_keys[task] = known
        return known

    def task_queue(self, tasks: list[int]) -> Queue[int]:
        """Return a queue with these tasks.

        If some of their pods have numbers and others do not, no key says how they compare.
        """
        numbered = {pod_index(self.tasks.info[task].name) is not None for task in tasks}
        keyed = all(order.key is not None for _, order in self.flat("TaskOrder"))
        if keyed and len(numbered) == 1:
            return KeyedQueue(self.task_key, tasks)
        return PriorityQueue(self.task_order, tasks)

    def hierarchy_enabled(self, plugin: str) -> bool:
        """Return the flag ``enableHierarchy`` where the configuration names a plugin first.

        Source: ``framework/session.go:HierarchyEnabled``.
        """
        for tier in self.tiers:
            for option in tier:
                if option.name == plugin:
                    return option.enabled_hierarchy
        return False

    def hyper_node_gradient(
        self, root: str, highest: int, given: str, least: Resource, purpose: SearchPurpose
    ) -> list[list[str]]:
        """Return the hypernodes that the first plugin with an opinion wants tried, by gradient.

        :param root: the hypernode within which is searched; it alone, if no plugin says more.
        :param highest: the highest tier that a job may span.
        :param given: the hypernode that the job is in; empty if in none.
        :param least: what there must be room for.
        :param purpose: for a job that evicts, the widest are tried first, and not all.
        """
        for _, fn in self.flat("HyperNodeGradient"):
            found: list[list[str]] = fn(root, highest, given, least, purpose)
            return found
        return [[root]]

    # What happens to tasks.

    def set_status(self, task: int, status: int) -> None:
        """Move a task to another status within its job."""
        job = self.tasks.job.item(task)
        if job != NO_JOB:
            self.jobs.move(job, task, status)

    def place(self, task: int, node: int) -> str | None:
        """Put a task with its present status on a node's account; return the error, or ``None``.

        Source: ``api/node_info.go:AddTask``.
        """
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
        """Take a task off a node's account, by what the node noted of it.

        Source: ``api/node_info.go:RemoveTask``.
        """
        noted = self.nodes.own_tasks(node).pop(self.tasks.info[task].key, None)
        if noted is not None:
            self._account(noted[0], node, noted[1], -1.0)

    def replace(self, task: int, node: int) -> str | None:
        """Note a task's new status on its node.

        Source: ``api/node_info.go:UpdateTask``.
        """
        self.unplace(task, node)
        return self.place(task, node)

    def tell_allocated(self, task: int, node: int) -> list[str]:
        """Tell the plugins that a task was placed; return their errors."""
        return [error for handle in self._on_allocate if (error := handle(task, node))]

    def tell_deallocated(self, task: int, node: int) -> None:
        """Tell the plugins that a task was taken away."""
        for handle in self._on_deallocate:
            handle(task, node)

    def dispatch(self, task: int) -> str | None:
        """Ask the cache to bind an allocated task; return the error, or ``None``.

        Source: ``framework/session.go:dispatch``.
        """
        info, node = self.tasks.info[task], self.tasks.node.item(task)
        name = self.nodes.names[node]
        error = self.cache.add_bind_task(info.job, info.uid, name)
        if error is not None:
            return error
        self.binds.append((task, node))
        self.set_status(task, Status.BINDING)
        if self.trace.on:
            self.trace.add("bind", info.key, outcome=name)
        return None

    def allocate(self, task: int, node: int) -> str | None:
        """Place a task at once, and bind all allocated tasks of its job if that is ready.

        Nothing is rolled back on an error, unless accounts are checked.
        Source: ``framework/session.go:Allocate``.
        """
        self.set_status(task, Status.ALLOCATED)
        self.tasks.node[task] = node
        error = self.place(task, node)
        if error is not None:
            self.errors.append(f"Failed to add task <{self.task_name(task)}> to node: {error}")
            if self._checked:
                self.set_status(task, Status.PENDING)
                self.tasks.node[task] = NO_NODE
            return error
        self.tell_allocated(task, node)
        job = int(self.tasks.job[task])
        if self.job_ready(job):
            for ready in self.jobs.tasks_with(job, (Status.ALLOCATED,)):
                error = self.dispatch(ready)
                if error is not None:
                    self.errors.append(
                        f"Failed to dispatch task <{self.task_name(ready)}>: {error}"
                    )
                    return error
        return None

    def pipeline(self, task: int, node: int) -> str | None:
        """Pipeline a task at once. Source: ``framework/session.go:Pipeline``."""
        self.set_status(task, Status.PIPELINED)
        self.tasks.node[task] = node
        error = self.place(task, node)
        if error is None:
            self.tell_allocated(task, node)
        return error

    def evict(self, task: int, reason: str) -> str | None:
        """Evict a task at once. Source: ``framework/session.go:Evict``."""
        error = self.evict_in_cache(task, reason)
        if error is not None:
            return error
        self.set_status(task, Status.RELEASING)
        node = int(self.tasks.node[task])
        if node != NO_NODE:
            self.replace(task, node)
        self.tell_deallocated(task, node)
        return None

    def evict_in_cache(self, task: int, reason: str) -> str | None:
        """Ask the cache to evict a task; return the error, or ``None``."""
        info = self.tasks.info[task]
        error = self.cache.evict(info.job, info.uid, reason)
        if error is None:
            self.evictions.append((task, reason))
            self.trace.add("evict", info.key, outcome=reason)
        return error

    def asked(self, task: int) -> np.ndarray[Any, Any]:
        """Return a task's request, with -inf for what it does not name: of that there is enough.

        A node may have less than nothing, for instance of GPUs that it lost.
        """
        klass = self.tasks.klass.item(task)
        known = self._named.get(klass)
        if known is None:
            named = {"cpu", "memory", *(self.tasks.info[task].request.scalars or ())}
            unnamed = [dim for dim, name in enumerate(self.dims) if name not in named]
            known = self._named[klass] = self.tasks.request[task].copy()
            known[unnamed] = -np.inf
        return known

    def _takes(self, task: int, node: int, status: int) -> bool:
        """Return whether a node has room; what is not to be bound is asked only if all is checked.

        Source: ``api/node_info.go:AddTask``, which asks when a task is to be bound.
        """
        if self.out_of_sync.item(node) and status in _NEW:
            return False
        if status == Status.BINDING or (self._checked and status == Status.ALLOCATED):
            return fits(self.asked(task), self.nodes.idle[node])
        if self._checked and status == Status.PIPELINED:
            return fits(self.asked(task), self.nodes.future_idle(node))
        return True

    def _account(self, task: int, node: int, status: int, sign: float) -> None:
        request = self.tasks.request[task]
        self.nodes.account(node, -request if sign < 0 else request, status, checked=self._checked)
        self.touched.append(node)


def pod_index(name: str) -> int | None:
    """Return the number at the end of a pod's name, or ``None``: ``job-task-index``.

    Source: ``pkg/controllers/job/helpers:GetPodIndexUnderTask``.
    """
    head, _, last = name.rpartition("-")
    return parse_int(last) if "-" in head else None


def fits(request: np.ndarray[Any, Any], room: np.ndarray[Any, Any]) -> bool:
    """Return whether every part of a request is at most the room, or within 0.1 of it.

    :param request: as :meth:`Session.asked` gives it: what is not named is not compared.

    Source: ``api/resource_info.go:LessEqual`` with dimensions that the room lacks as zero.
    """
    return bool(np.all((request < room) | (np.abs(request - room) < TOLERANCE)))


def allocated_mask(session: Session) -> np.ndarray[Any, Any]:
    """Return, by task row, whether the task held resources when the session was opened."""
    mask: np.ndarray[Any, Any] = IS_ALLOCATED[session.snapshot.tasks.status]
    return mask


Execute = Callable[[Session], None]
"""An action: it works on the session and returns nothing."""
