"""Extension points: what a plugin may register, and how the tiers' answers become one.

Each point has its own rule of voting; they are those of ``framework/session_plugins.go``. A
function counts if the plugin's enable flag for the point is on; plugins are asked tier by tier, in
the order of the configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..belief.resource import Resource
from ..volcano.conf import PluginOption
from .reasons import PASS
from .tables import Floats, Ints, Rows
from .trace import NOTHING, PERMIT, Trace, Verdict

Compare = Callable[[Any, Any], float]
EvictableFn = Callable[[int, list[int]], tuple[list[int] | None, int]]
MayFn = Callable[[int, Rows], NDArray[np.bool_]]
PredicateFn = Callable[[int, Rows], Ints | None]
NodeOrderFn = Callable[[int, Rows], Floats]
BatchNodeOrderFn = Callable[[int, Rows], Floats | None]
OneVerdictFn = Callable[[int, int], int]
OneScoreFn = Callable[[int, int], float]
HyperNodeOrderFn = Callable[[int, dict[str, Rows]], dict[str, float]]
HyperNodeGradientFn = Callable[[str, int, str, Resource], list[list[str]]]
EventFn = Callable[[int, int], str | None]
Per = Literal["class", "task"]


class ScoreError(Exception):
    """A plugin could not score: no node is chosen. The message is what the scheduler logs."""


class EvictableEntry(NamedTuple):
    """A registered choice of victims on one node.

    ``may`` tells of candidates on all nodes which of them could be chosen, whoever else is on their
    nodes; more may be told than are chosen. ``None`` tells nothing. ``per`` says whether the answer
    depends on the evictor's job and class only, or on the task.
    """

    function: EvictableFn
    may: MayFn | None
    per: Per


class PredicateEntry(NamedTuple):
    """A registered filter; ``one`` answers for a single node.

    ``per(task)`` says what the answer for tasks of that class depends on.
    """

    plugin: str
    function: PredicateFn
    per: Callable[[int], Per]
    one: OneVerdictFn


class NodeOrderEntry(NamedTuple):
    """A registered score of nodes, and what it depends on.

    ``partial``: it may be no number for a node, of which then nobody's score counts. ``one``
    answers for a single node.
    """

    plugin: str
    function: NodeOrderFn
    per: Per
    partial: bool
    one: OneScoreFn


class TaskOrder(NamedTuple):
    """A registered order of tasks; with a ``key`` it is nothing but the comparison of keys."""

    compare: Compare
    key: Callable[[int], float] | None


class BatchEntry(NamedTuple):
    """A registered score over a list of candidates.

    ``uniform(task)`` is what every candidate gets where that depends on the task's class only,
    whoever the candidates are; ``None`` where the function must be asked.
    """

    plugin: str
    function: BatchNodeOrderFn
    uniform: Callable[[int], float | None]


class Named(Protocol):
    """Whatever is asked about, as the trace names it."""

    def task_name(self, task: int) -> str:
        """Return ``ns/pod``."""
        ...


class Extensions:
    """The functions that plugins registered in one session, and the tiers that ask them."""

    def __init__(self, tiers: Sequence[Sequence[PluginOption]], trace: Trace) -> None:
        self.tiers = tiers
        self.simulated_predicate: Callable[[int, int], bool] = lambda _task, _node: True
        """Whether affinity to pods lets a task onto a node as things are by now."""
        self.prepared: set[int] | None = None
        """Tasks that the filters were prepared for, if an action asks; ``None``: all are."""
        self.trace = trace
        self.victims_start_anew = True
        """Whether a plugin decides alone after others agreed on nobody."""
        self._on_allocate: list[EventFn] = []
        self._on_deallocate: list[EventFn] = []
        self._functions: dict[str, dict[str, Any]] = {}
        self._resolved: dict[str, list[list[tuple[str, Any]]]] = {}
        self._flat: dict[str, list[tuple[str, Any]]] = {}

    # Registration: Volcano's names without the Fn.

    def add_job_order(self, name: str, key: Callable[[int], Any]) -> None:
        """Register an order of jobs by a key, which is least for the job that comes first.

        It may change only with what happens to the job itself.
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
        """Register an order of tasks by a key that never changes, least for who comes first."""

        def compare(left: int, right: int) -> int:
            one, other = key(left), key(right)
            return (one > other) - (one < other)

        self._add("TaskOrder", name, TaskOrder(compare, key))

    def add_job_ready(self, name: str, fn: Callable[[int], bool]) -> None:
        """Register whether a job has what it needs to be bound."""
        self._add("JobReady", name, fn)

    def add_job_pipelined(self, name: str, fn: Callable[[int], int]) -> None:
        """Register a vote on whether a job would be ready when what is released is free."""
        self._add("JobPipelined", name, fn)

    def add_job_starving(self, name: str, fn: Callable[[int], bool]) -> None:
        """Register whether a job may preempt or reclaim."""
        self._add("JobStarving", name, fn)

    def add_job_valid(self, name: str, fn: Callable[[int], Verdict | None]) -> None:
        """Register whether a job is to be looked at."""
        self._add("JobValid", name, fn)

    def add_job_enqueueable(self, name: str, fn: Callable[[int], Verdict]) -> None:
        """Register a vote on whether a job leaves Pending."""
        self._add("JobEnqueueable", name, fn)

    def add_job_enqueued(self, name: str, fn: Callable[[int], None]) -> None:
        """Register what to do when a job was enqueued."""
        self._add("JobEnqueued", name, fn)

    def add_overused(self, name: str, fn: Callable[[str], Verdict]) -> None:
        """Register whether a queue has what it deserves (permit: it is overused)."""
        self._add("Overused", name, fn)

    def add_allocatable(self, name: str, fn: Callable[[str, int], Verdict]) -> None:
        """Register whether a queue may take a task."""
        self._add("Allocatable", name, fn)

    def add_preemptive(self, name: str, fn: Callable[[str, int], Verdict]) -> None:
        """Register whether a queue may reclaim for a task."""
        self._add("Preemptive", name, fn)

    def add_preemptable(
        self, name: str, fn: EvictableFn, *, may: MayFn | None = None, per: Per = "class"
    ) -> None:
        """Register which candidates on a node a task may preempt.

        :param may: see :class:`EvictableEntry`; it saves asking ``fn`` about many nodes.
        """
        self._add("Preemptable", name, EvictableEntry(fn, may, per))

    def add_reclaimable(
        self, name: str, fn: EvictableFn, *, may: MayFn | None = None, per: Per = "class"
    ) -> None:
        """Register which candidates on a node a task may reclaim; as :meth:`add_preemptable`."""
        self._add("Reclaimable", name, EvictableEntry(fn, may, per))

    def add_victim_tasks(self, name: str, fn: Callable[[list[int]], list[int]]) -> None:
        """Register which tasks are to be evicted for their own sake; a plugin may add several."""
        self._functions.setdefault("VictimTasks", {}).setdefault(name, []).append(fn)

    def add_pre_predicate(self, name: str, fn: Callable[[int], str | None]) -> None:
        """Register a check of a task before nodes are looked at: the error, or ``None``."""
        self._add("PrePredicate", name, fn)

    def add_predicate(
        self,
        name: str,
        fn: PredicateFn,
        *,
        per: Per | Callable[[int], Per] = "task",
        one: OneVerdictFn | None = None,
    ) -> None:
        """Register a filter: verdict ids over node rows; ``None`` if all pass.

        :param per: what the answer depends on, for all tasks or for those of a given task's class.
        :param one: the same of one node, where that can be had without the cost of calling NumPy;
            only asked about tasks for which the class is enough.
        """
        depends: Callable[[int], Per] = per if callable(per) else lambda _: per
        self._add("Predicate", name, PredicateEntry(name, fn, depends, one or _verdict_of_one(fn)))

    def add_node_order(
        self,
        name: str,
        fn: NodeOrderFn,
        *,
        per: Per = "task",
        partial: bool = False,
        one: OneScoreFn | None = None,
    ) -> None:
        """Register a score over node rows; it is NaN where a ``partial`` one has an error.

        :param one: as for :meth:`add_predicate`.
        """
        entry = NodeOrderEntry(name, fn, per, partial, one or _score_of_one(fn))
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
        """Register a score of hypernodes for a job."""
        self._add("HyperNodeOrder", name, fn)

    def add_hyper_node_gradient(self, name: str, fn: HyperNodeGradientFn) -> None:
        """Register which hypernodes are to be tried for a job, in which order."""
        self._add("HyperNodeGradient", name, fn)

    def add_event_handler(
        self, *, allocate: EventFn | None = None, deallocate: EventFn | None = None
    ) -> None:
        """Register what to do when a task is placed or pipelined, and taken away or evicted."""
        if allocate is not None:
            self._on_allocate.append(allocate)
        if deallocate is not None:
            self._on_deallocate.append(deallocate)

    @property
    def event_handlers(self) -> list[EventFn]:
        """Return what plugins do when a task is placed on a node, and when it goes from there."""
        return [*self._on_allocate, *self._on_deallocate]

    # Voting.

    def functions(self, point: str) -> list[list[tuple[str, Any]]]:
        """Return, by tier, the (plugin, function) pairs that answer at a point."""
        known = self._resolved.get(point)
        if known is None:
            known = self._resolved[point] = list(self._resolve(point))
        return known

    def flat(self, point: str) -> list[tuple[str, Any]]:
        """Return the (plugin, function) pairs of all tiers, in order."""
        known = self._flat.get(point)
        if known is None:
            known = self._flat[point] = [pair for tier in self.functions(point) for pair in tier]
        return known

    def job_valid(self, job: int) -> Verdict | None:
        """Return the first plugin's objection to a job, or ``None``."""
        for _, fn in self.flat("JobValid"):
            verdict: Verdict | None = fn(job)
            if verdict is not None and verdict.vote != PERMIT:
                return verdict
        return None

    def job_ready(self, job: int) -> bool:
        """Return whether no plugin says that a job is not ready."""
        return all(fn(job) for _, fn in self.flat("JobReady"))

    def job_pipelined(self, job: int) -> bool:
        """Return the vote of the first tier in which somebody permits; a rejection ends it."""
        for tier in self.functions("JobPipelined"):
            votes = 0
            for _, fn in tier:
                vote = fn(job)
                if vote < 0:
                    return False
                votes += vote
            if votes:
                return True
        return True

    def job_starving(self, job: int) -> bool:
        """Return the answer of the first tier that has an opinion: all of it must agree."""
        for tier in self.functions("JobStarving"):
            if tier:
                return all(fn(job) for _, fn in tier)
        return False

    def job_enqueueable(self, job: int, about: str) -> bool:
        """Return the vote of the first tier in which somebody permits; a rejection ends it."""
        for tier in self.functions("JobEnqueueable"):
            permitted = False
            for plugin, fn in tier:
                verdict: Verdict = fn(job)
                if self.trace.on:
                    self._note("JobEnqueueable", about, plugin, verdict)
                if verdict.vote < 0:
                    return False
                permitted = permitted or verdict.vote > 0
            if permitted:
                return True
        return True

    def job_enqueued(self, job: int) -> None:
        """Tell all plugins that a job was enqueued."""
        for _, fn in self.flat("JobEnqueued"):
            fn(job)

    def overused(self, queue: str) -> bool:
        """Return whether a plugin says that a queue has what it deserves."""
        return any(
            self._asked("Overused", queue, plugin, fn(queue)) > 0
            for plugin, fn in self.flat("Overused")
        )

    def allocatable(self, queue: str, task: int) -> bool:
        """Return whether no plugin keeps a task out of a queue."""
        return self._all("Allocatable", queue, task)

    def preemptive(self, queue: str, task: int) -> bool:
        """Return whether no plugin keeps a queue from reclaiming for a task."""
        return self._all("Preemptive", queue, task)

    def preemptable(self, preemptor: int, candidates: list[int]) -> list[int]:
        """Return whom a task may preempt."""
        return self._victims("Preemptable", preemptor, candidates)

    def reclaimable(self, reclaimer: int, candidates: list[int]) -> list[int]:
        """Return whom a task may reclaim."""
        return self._victims("Reclaimable", reclaimer, candidates)

    def victim_tasks(self, tasks: list[int]) -> list[int]:
        """Return the tasks that the first tier with an answer wants evicted, in their order."""
        for tier in self.functions("VictimTasks"):
            found = {task for _, fns in tier for fn in fns for task in fn(tasks)}
            if found:
                return sorted(found)
        return []

    def pre_predicate(self, task: int) -> str | None:
        """Return the first plugin's error about a task, or ``None``."""
        for _, fn in self.flat("PrePredicate"):
            error: str | None = fn(task)
            if error is not None:
                return error
        return None

    def hyper_node_order(self, job: int, hypernodes: dict[str, Rows]) -> dict[str, float]:
        """Return the plugins' scores of hypernodes, summed."""
        total: dict[str, float] = {}
        for _, fn in self.flat("HyperNodeOrder"):
            for name, score in fn(job, hypernodes).items():
                total[name] = total.get(name, 0.0) + score
        return total

    def task_name(self, task: int) -> str:
        """Return how the trace names a task."""
        return str(task)

    def _all(self, point: str, queue: str, task: int) -> bool:
        for plugin, fn in self.flat(point):
            verdict: Verdict = fn(queue, task)
            if self.trace.on:
                self._note(point, f"{queue} {self.task_name(task)}", plugin, verdict)
            if verdict.vote <= 0:
                return False
        return True

    def _victims(self, point: str, preemptor: int, candidates: list[int]) -> list[int]:
        """Intersect the plugins' choices tier by tier.

        A tier that is left with nothing is passed over; a plugin after an empty intersection may
        start anew with its own choice, as a nil slice in the original cannot be told from none.
        """
        victims: list[int] | None = None
        started = False
        for tier in self.functions(point):
            for plugin, entry in tier:
                chosen, vote = entry.function(preemptor, candidates)
                if self.trace.on:
                    self._note_victims(point, preemptor, plugin, chosen, vote)
                if vote == 0:
                    continue
                if not chosen:
                    victims = None
                    break
                if victims is None:
                    if started and not self.victims_start_anew:
                        return []
                    victims, started = chosen, True
                else:
                    among = set(chosen)
                    victims = [task for task in victims if task in among] or None
            if victims is not None:
                return victims
        return []

    def _add(self, point: str, name: str, fn: object) -> None:
        self._functions.setdefault(point, {})[name] = fn

    def _resolve(self, point: str) -> Iterator[list[tuple[str, Any]]]:
        functions = self._functions.get(point, {})
        for tier in self.tiers:
            yield [
                (option.name, functions[option.name])
                for option in tier
                if option.name in functions and _counts(option, point)
            ]

    def _asked(self, point: str, about: str, plugin: str, verdict: Verdict) -> int:
        if self.trace.on:
            self._note(point, about, plugin, verdict)
        return verdict.vote

    def _note(self, point: str, about: str, plugin: str, verdict: Verdict) -> None:
        outcome = ("reject", "abstain", "permit")[verdict.vote + 1]
        numbers = verdict.numbers
        if verdict.message:
            numbers = {"message": verdict.message, **numbers}
        self.trace.add(point, about, by=plugin, outcome=outcome, numbers=numbers)

    def _note_victims(
        self, point: str, preemptor: int, plugin: str, chosen: list[int] | None, vote: int
    ) -> None:
        names = [self.task_name(task) for task in chosen or ()]
        self.trace.add(
            point,
            self.task_name(preemptor),
            by=plugin,
            outcome="abstain" if vote == 0 else f"{len(names)} victims",
            numbers={"victims": names} if names else NOTHING,
        )


_FLAG_OF = MappingProxyType(
    {
        "PrePredicate": "Predicate",
        "BatchNodeOrder": "NodeOrder",
        "JobEnqueueable": "JobEnqueued",
        "VictimTasks": "Victim",
    }
)
"""Points that go by another point's enable flag."""

_ALWAYS = frozenset({"JobValid", "VictimQueueOrder"})
"""Points without an enable flag."""


def _verdict_of_one(fn: PredicateFn) -> OneVerdictFn:
    def one(task: int, row: int) -> int:
        answer = fn(task, np.array((row,)))
        return PASS if answer is None else answer.item()

    return one


def _score_of_one(fn: NodeOrderFn) -> OneScoreFn:
    return lambda task, row: fn(task, np.array((row,))).item()


def _counts(option: PluginOption, point: str) -> bool:
    return point in _ALWAYS or _FLAG_OF.get(point, point) in option.enabled
