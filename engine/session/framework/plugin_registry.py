"""What plugins register in a session: their functions, by extension point and plugin.

The points have Volcano's names without ``Fn``. :mod:`.voting` combines the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...model.resource import Resource
from ...model.session_tables import Floats, Ints, Rows
from ..reasons.statuses import PASS
from .trace import Vote

if TYPE_CHECKING:
    from ...volcano.conf import PluginOption
    from ..jobs.division import SubJob

Compare = Callable[[Any, Any], float]
EvictableFn = Callable[[int, list[int]], tuple[list[int] | None, int]]
GangEvictableFn = Callable[["GangEviction", list[int]], tuple[list[int], int]]
MayFn = Callable[[Any, Rows], NDArray[np.bool_]]
PredicateFn = Callable[[int, Rows], Ints | None]
NodeOrderFn = Callable[[int, Rows], Floats]
BatchNodeOrderFn = Callable[[int, Rows], Floats | None]
OneVerdictFn = Callable[[int, int], int]
PartsFn = Callable[[int, Rows], list["PartAnswer"]]
OneScoreFn = Callable[[int, int], float]
HyperNodeOrderFn = Callable[[int, Sequence[int], dict[str, Rows]], dict[str, float]]
SearchPurpose = Literal["allocate", "evict"]
HyperNodeGradientFn = Callable[[str, int, str, Resource, SearchPurpose], list[list[str]]]
EventFn = Callable[[int, int], str | None]
Per = Literal["class", "task"]


class ScoreError(Exception):
    """A plugin could not score, so no node is chosen. The scheduler logs the message."""


PREEMPT: Final = "gangpreempt"
RECLAIM: Final = "gangreclaim"


class GangEviction(msgspec.Struct, frozen=True):
    """The gang that ``gangpreempt`` and ``gangreclaim`` evict for.

    Source: ``api/types.go:EvictionContext``.
    """

    action: Literal["gangpreempt", "gangreclaim"]
    """Its name, which is also the reason in the evictions."""
    job: int
    hypernode: str
    """In which the victims are."""
    name: str
    """The job's, as the trace names it."""


class EvictableEntry(msgspec.Struct, frozen=True):
    """A registered choice of victims on one node.

    ``may`` returns which candidates on all nodes could be chosen, independent of the other pods on
    their nodes. It may return more than are chosen; ``None`` excludes nothing. Where it excludes
    all candidates of a job, ``function`` keeps the same reason about that job or its queue for each
    (:meth:`.Trace.spare`). ``per`` says whether the answer depends on the evictor's job and class
    only, or on the task.
    """

    function: Callable[[Any, list[int]], tuple[list[int] | None, int]]
    may: MayFn | None
    per: Per


class PartAnswer(NamedTuple):
    """What one of the filters of which a plugin's filter consists says of nodes.

    :param reached: where it is run. :param verdicts: what it says there, else ``PASS``.
    :param ignored: where it refuses a node, and that does not count.
    :param concerns: False if it has nothing to check for the task.
    """

    name: str
    reached: NDArray[np.bool_]
    verdicts: Ints
    ignored: NDArray[np.bool_]
    concerns: bool = True


class PredicateEntry(msgspec.Struct, frozen=True):
    """A registered filter; ``one`` answers for a single node.

    ``per(task)`` says what the answer for tasks of that class depends on. ``final``: if it
    passes a node, no later filter is run. ``parts`` has what its parts say, for a trace.
    """

    plugin: str
    function: PredicateFn
    per: Callable[[int], Per]
    one: OneVerdictFn
    final: bool = False
    parts: PartsFn | None = None


class NodeOrderEntry(msgspec.Struct, frozen=True):
    """A registered score of nodes, and what it depends on.

    ``partial``: it may be no number for a node; then no plugin's score counts there. ``one``
    is the function for a single node. ``late``: it is summed up with the scores over lists, before
    both are added to the others; the last digits of sums of fractions depend on that order.
    """

    plugin: str
    function: NodeOrderFn
    per: Per
    partial: bool
    one: OneScoreFn
    late: bool


class TaskOrder(msgspec.Struct, frozen=True):
    """A registered order of tasks; with a ``key`` it only compares keys."""

    compare: Compare
    key: Callable[[int], float] | None


class BatchEntry(msgspec.Struct, frozen=True):
    """A registered score over a list of candidates.

    ``uniform(task)`` is the score of every candidate, where that depends on the task's class only
    and not on the candidates; ``None`` where the function must be called.
    """

    plugin: str
    function: BatchNodeOrderFn
    uniform: Callable[[int], float | None]


class Registry:
    """The functions that plugins registered in one session, and which are enabled.

    :param tiers: the plugins of the configuration, with their enable flags.
    """

    def __init__(self, tiers: Sequence[Sequence[PluginOption]]) -> None:
        self.tiers = tiers
        self.simulating = False
        """Whether evictions are being simulated: see :meth:`add_simulation_handler`."""
        self.undoing = False
        """Whether these are undone at the end, where the original drops the node that it copied."""
        self._on_allocate: list[EventFn] = []
        self._on_deallocate: list[EventFn] = []
        self._on_return: list[EventFn] = []
        self._on_removal: list[EventFn] = []
        self._registered: dict[str, dict[str, Any]] = {}
        self._by_tier: dict[str, list[list[tuple[str, Any]]]] = {}
        self._flat: dict[str, list[tuple[str, Any]]] = {}

    def functions(self, point: str) -> list[list[tuple[str, Any]]]:
        """Return, by tier, the (plugin, function) pairs of an extension point.

        Functions registered after the first call for a point do not count.
        """
        known = self._by_tier.get(point)
        if known is None:
            registered = self._registered.get(point, {})
            known = self._by_tier[point] = [
                [
                    (option.name, registered[option.name])
                    for option in tier
                    if option.name in registered and _counts(option, point)
                ]
                for tier in self.tiers
            ]
        return known

    def flat(self, point: str) -> list[tuple[str, Any]]:
        """Return the (plugin, function) pairs of all tiers, in order."""
        known = self._flat.get(point)
        if known is None:
            known = self._flat[point] = [pair for tier in self.functions(point) for pair in tier]
        return known

    def enabled_points(self, plugin: str) -> set[str]:
        """Return the enable flags that any tier sets for a plugin."""
        options = (option for tier in self.tiers for option in tier if option.name == plugin)
        return {point for option in options for point in option.enabled}

    def hierarchy_enabled(self, plugin: str) -> bool:
        """Return the flag ``enableHierarchy`` where the configuration names a plugin first.

        Source: ``framework/session.go:HierarchyEnabled``.
        """
        options = (option for tier in self.tiers for option in tier if option.name == plugin)
        first = next(options, None)
        return first is not None and first.enabled_hierarchy

    def notify_allocated(self, task: int, node: int) -> list[str]:
        """Notify the plugins that a task was placed; return their errors."""
        handlers = self._on_return if self.simulating else self._on_allocate
        return [error for handle in handlers if (error := handle(task, node))]

    def notify_deallocated(self, task: int, node: int) -> None:
        """Notify the plugins that a task was removed."""
        for handle in self._on_removal if self.simulating else self._on_deallocate:
            handle(task, node)

    def add_job_order(self, name: str, key: Callable[[int], Any]) -> None:
        """Register an order of jobs by a key; the least comes first.

        It may change only when the job itself changes.
        """
        self._add("JobOrder", name, key)

    def add_queue_order(self, name: str, fn: Callable[[str, str], float]) -> None:
        """Register an order of queues."""
        self._add("QueueOrder", name, fn)

    def add_victim_queue_order(self, name: str, fn: Callable[[str, str, str], float]) -> None:
        """Register an order of the queues of victims, given the preemptor's queue."""
        self._add("VictimQueueOrder", name, fn)

    def add_task_order(self, name: str, fn: Callable[[int, int], float]) -> None:
        """Register an order of tasks: negative if the left one comes first."""
        self._add("TaskOrder", name, TaskOrder(fn, None))

    def add_task_key(self, name: str, key: Callable[[int], float]) -> None:
        """Register an order of tasks by a key that never changes; the least comes first."""

        def compare(left: int, right: int) -> int:
            left_key, right_key = key(left), key(right)
            return (left_key > right_key) - (left_key < right_key)

        self._add("TaskOrder", name, TaskOrder(compare, key))

    def add_job_ready(self, name: str, fn: Callable[[int], bool]) -> None:
        """Register whether a job is ready to be bound."""
        self._add("JobReady", name, fn)

    def add_job_pipelined(self, name: str, fn: Callable[[int], int]) -> None:
        """Register a vote on whether a job would be ready after releasing tasks are gone."""
        self._add("JobPipelined", name, fn)

    def add_job_starving(self, name: str, fn: Callable[[int], bool]) -> None:
        """Register whether a job may preempt or reclaim."""
        self._add("JobStarving", name, fn)

    def add_job_valid(self, name: str, fn: Callable[[int], Vote | None]) -> None:
        """Register whether a job is to be looked at."""
        self._add("JobValid", name, fn)

    def add_job_enqueueable(self, name: str, fn: Callable[[int], Vote]) -> None:
        """Register a vote on whether a job leaves Pending."""
        self._add("JobEnqueueable", name, fn)

    def add_job_enqueued(self, name: str, fn: Callable[[int], None]) -> None:
        """Register what to do when a job was enqueued."""
        self._add("JobEnqueued", name, fn)

    def add_overused(self, name: str, fn: Callable[[str], Vote]) -> None:
        """Register whether a queue is overused (permit: it is)."""
        self._add("Overused", name, fn)

    def add_allocatable(self, name: str, fn: Callable[[str, int], Vote]) -> None:
        """Register whether a queue may take a task."""
        self._add("Allocatable", name, fn)

    def add_preemptive(self, name: str, fn: Callable[[str, Sequence[int]], Vote]) -> None:
        """Register whether a queue may reclaim for tasks together."""
        self._add("Preemptive", name, fn)

    def add_preemptable(
        self, name: str, fn: EvictableFn, *, may: MayFn | None = None, per: Per = "class"
    ) -> None:
        """Register which candidates on a node a task may preempt.

        :param may: see :class:`EvictableEntry`; it avoids calls of ``fn`` for many nodes.
        """
        self._add("Preemptable", name, EvictableEntry(fn, may, per))

    def add_reclaimable(
        self, name: str, fn: EvictableFn, *, may: MayFn | None = None, per: Per = "class"
    ) -> None:
        """Register which candidates on a node a task may reclaim; as :meth:`add_preemptable`."""
        self._add("Reclaimable", name, EvictableEntry(fn, may, per))

    def add_unified_evictable(self, name: str, fn: GangEvictableFn) -> None:
        """Register which candidates on the nodes of a hypernode a gang may evict."""
        self._add("UnifiedEvictable", name, EvictableEntry(fn, None, "task"))

    def add_victim_tasks(self, name: str, fn: Callable[[list[int]], list[int]]) -> None:
        """Register victim tasks, evicted for no other task; a plugin may add several functions."""
        self._registered.setdefault("VictimTasks", {}).setdefault(name, []).append(fn)

    def add_pre_predicate(self, name: str, fn: Callable[[int], str | None]) -> None:
        """Register a check of a task before nodes are filtered: the error, or ``None``."""
        self._add("PrePredicate", name, fn)

    def add_predicate(
        self,
        name: str,
        fn: PredicateFn,
        *,
        per: Per | Callable[[int], Per] = "task",
        one: OneVerdictFn | None = None,
        final: bool = False,
        parts: PartsFn | None = None,
    ) -> None:
        """Register a filter: verdict ids over node rows; ``None`` if all pass.

        :param per: what the answer depends on, for all tasks or for those of a given task's class.
        :param one: the same for one node, if that is possible without the cost of calling NumPy;
            only called for tasks whose verdict depends on the class only.
        :param final: and ``parts``: see :class:`PredicateEntry`.
        """
        depends: Callable[[int], Per] = per if callable(per) else lambda _: per
        entry = PredicateEntry(name, fn, depends, one or _verdict_of_one(fn), final, parts)
        self._add("Predicate", name, entry)

    def add_node_order(
        self,
        name: str,
        fn: NodeOrderFn,
        *,
        per: Per = "task",
        partial: bool = False,
        one: OneScoreFn | None = None,
        late: bool = False,
    ) -> None:
        """Register a score over node rows; it is NaN where a ``partial`` one has an error.

        :param one: as for :meth:`add_predicate`.
        :param late: see :class:`NodeOrderEntry`.
        """
        entry = NodeOrderEntry(name, fn, per, partial, one or _score_of_one(fn), late)
        self._add("NodeOrder", name, entry)

    def add_batch_node_order(
        self,
        name: str,
        fn: BatchNodeOrderFn,
        *,
        uniform: Callable[[int], float | None] = lambda _: None,
    ) -> None:
        """Register a score over a whole list of candidates; ``None`` adds nothing."""
        self._add("BatchNodeOrder", name, BatchEntry(name, fn, uniform))

    def add_hyper_node_order(self, name: str, fn: HyperNodeOrderFn) -> None:
        """Register a score of hypernodes for some tasks of a job."""
        self._add("HyperNodeOrder", name, fn)

    def add_hyper_node_gradient(self, name: str, fn: HyperNodeGradientFn) -> None:
        """Register which hypernodes are tried for a job, in which order."""
        self._add("HyperNodeGradient", name, fn)

    def add_sub_job_ready(self, name: str, fn: Callable[[SubJob], bool]) -> None:
        """Register whether a group has what it needs."""
        self._add("SubJobReady", name, fn)

    def add_sub_job_pipelined(self, name: str, fn: Callable[[SubJob], int]) -> None:
        """Register a vote on whether a group would be ready after releasing tasks are gone."""
        self._add("SubJobPipelined", name, fn)

    def add_sub_job_order(self, name: str, key: Callable[[SubJob], Any]) -> None:
        """Register an order of a job's groups by a key; the least comes first."""
        self._add("SubJobOrder", name, key)

    def add_event_handler(
        self, *, allocate: EventFn | None = None, deallocate: EventFn | None = None
    ) -> None:
        """Register what to do when a task is placed or pipelined, and removed or evicted."""
        if allocate is not None:
            self._on_allocate.append(allocate)
        if deallocate is not None:
            self._on_deallocate.append(deallocate)

    def add_simulation_handler(self, *, back: EventFn, removed: EventFn) -> None:
        """Register what to do when the eviction of a task is simulated, and undone again.

        The handlers of :meth:`add_event_handler` do not see that: the original simulates on copies,
        and asks only the plugins that can.

        Source: preempt.go ``SelectVictimsOnNode``; session_plugins.go ``AddSimulateAddTaskFn``,
        ``AddSimulateRemoveTaskFn``.
        """
        self._on_return.append(back)
        self._on_removal.append(removed)

    @property
    def event_handlers(self) -> list[EventFn]:
        """Return what plugins do when a task is placed on a node, and when it is removed."""
        return [*self._on_allocate, *self._on_deallocate]

    def _add(self, point: str, name: str, fn: object) -> None:
        self._registered.setdefault(point, {})[name] = fn


def _verdict_of_one(fn: PredicateFn) -> OneVerdictFn:
    def one(task: int, row: int) -> int:
        answer = fn(task, np.array((row,)))
        return PASS if answer is None else answer.item()

    return one


def _score_of_one(fn: NodeOrderFn) -> OneScoreFn:
    return lambda task, row: fn(task, np.array((row,))).item()


_FLAG_OF = MappingProxyType(
    {
        "PrePredicate": "Predicate",
        "BatchNodeOrder": "NodeOrder",
        "JobEnqueueable": "JobEnqueued",
        "VictimTasks": "Victim",
    }
)
"""Points that use another point's enable flag."""

_ALWAYS = frozenset({"JobValid", "VictimQueueOrder", "UnifiedEvictable"})
"""Points without an enable flag."""


def _counts(option: PluginOption, point: str) -> bool:
    return point in _ALWAYS or _FLAG_OF.get(point, point) in option.enabled
