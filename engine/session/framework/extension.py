"""Extension points: how the answers of the plugins in all tiers become one.

Each point has its own rule of voting; they are those of ``framework/session_plugins.go``. A
function counts if the plugin's enable flag for the point is on; plugins are asked tier by tier, in
the order of the configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any

from ...model.tables import Rows
from ...volcano.conf import PluginOption
from .registration import (
    BatchEntry,
    EvictableEntry,
    GangEviction,
    NodeOrderEntry,
    Per,
    PredicateEntry,
    Registry,
    ScoreError,
)
from .trace import NOTHING, PERMIT, Trace, Verdict

__all__ = [
    "BatchEntry",
    "EvictableEntry",
    "Extensions",
    "GangEviction",
    "NodeOrderEntry",
    "Per",
    "PredicateEntry",
    "ScoreError",
]


class Extensions(Registry):
    """The functions that plugins registered in one session, and the tiers that ask them."""

    def __init__(self, tiers: Sequence[Sequence[PluginOption]], trace: Trace) -> None:
        super().__init__()
        self.tiers = tiers
        self.share_devices: Callable[[int, int], str] = lambda _task, _node: ""
        """Gives a task its part of a node's devices; returns the error if that is not free."""
        self.take_devices: Callable[[int, int], None] = lambda _task, _node: None
        """Takes it back."""
        self.simulated_predicate: Callable[[int, int], bool] = lambda _task, _node: True
        """Whether affinity to pods lets a task onto a node as things are by now."""
        self.affinity_heeds_victims = True
        """Whether that changes while victims are tried out."""
        self.tries_out = False
        """Whether victims are tried out: the original does so with copies, unseen by plugins."""
        self.trials_fail = False
        """Whether a plugin is told of victims on trial, not prepared for the pod: it fails."""
        self.prepared: set[int] | None = None
        """Tasks that the filters were prepared for, if an action asks; ``None``: all are."""
        self.trace = trace
        self.victim_selection_restarts = True
        """Whether a plugin decides alone after others agreed on nobody."""
        self._resolved: dict[str, list[list[tuple[str, Any]]]] = {}
        self._flat: dict[str, list[tuple[str, Any]]] = {}

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

    def expect_trials(self, name: str) -> None:
        """Note whether trials fail of a plugin that keeps what it knows of a pod from preparing.

        It is told of victims under one switch, and prepared under another.
        """
        options = (option for tier in self.tiers for option in tier if option.name == name)
        points = {point for option in options for point in option.enabled}
        told = points & {"Preemptable", "Allocatable"}
        self.trials_fail = self.trials_fail or (bool(told) and "Predicate" not in points)

    def allocatable(self, queue: str, task: int) -> bool:
        """Return whether no plugin keeps a task out of a queue."""
        return self._all("Allocatable", queue, task, (task,))

    def preemptive(self, queue: str, tasks: Sequence[int]) -> bool:
        """Return whether no plugin keeps a queue from reclaiming for tasks together."""
        return self._all("Preemptive", queue, tasks, tasks)

    def preemptable(self, preemptor: int, candidates: list[int]) -> list[int]:
        """Return whom a task may preempt."""
        return self._victims("Preemptable", preemptor, candidates)

    def reclaimable(self, reclaimer: int, candidates: list[int]) -> list[int]:
        """Return whom a task may reclaim."""
        return self._victims("Reclaimable", reclaimer, candidates)

    def unified_evictable(self, eviction: GangEviction, candidates: list[int]) -> list[int]:
        """Return whom a gang may evict."""
        return self._victims("UnifiedEvictable", eviction, candidates)

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

    def hyper_node_order(
        self, job: int, tasks: Sequence[int], hypernodes: dict[str, Rows]
    ) -> dict[str, float]:
        """Return the plugins' scores of hypernodes for some tasks of a job, summed."""
        total: dict[str, float] = {}
        for _, fn in self.flat("HyperNodeOrder"):
            for name, score in fn(job, tasks, hypernodes).items():
                total[name] = total.get(name, 0.0) + score
        return total

    def task_name(self, task: int) -> str:
        """Return how the trace names a task."""
        return str(task)

    def _all(self, point: str, queue: str, asked: object, tasks: Sequence[int]) -> bool:
        for plugin, fn in self.flat(point):
            verdict: Verdict = fn(queue, asked)
            if self.trace.on:
                about = " ".join((queue, *map(self.task_name, tasks)))
                self._note(point, about, plugin, verdict)
            if verdict.vote <= 0:
                return False
        return True

    def _victims(self, point: str, evictor: int | GangEviction, candidates: list[int]) -> list[int]:
        """Intersect the plugins' choices tier by tier.

        A tier that is left with nothing is passed over; a plugin after an empty intersection may
        start anew with its own choice, as a nil slice in the original cannot be told from none.
        """
        victims: list[int] | None = None
        started = False
        for tier in self.functions(point):
            for plugin, entry in tier:
                chosen, vote = entry.function(evictor, candidates)
                if self.trace.on:
                    self._note_victims(point, evictor, plugin, chosen, vote)
                if vote == 0:
                    continue
                if not chosen:
                    victims = None
                    break
                if victims is None:
                    if started and not self.victim_selection_restarts:
                        return []
                    victims, started = chosen, True
                else:
                    among = set(chosen)
                    victims = [task for task in victims if task in among] or None
            if victims is not None:
                return victims
        return []

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
        self,
        point: str,
        evictor: int | GangEviction,
        plugin: str,
        chosen: list[int] | None,
        vote: int,
    ) -> None:
        names = [self.task_name(task) for task in chosen or ()]
        about = evictor.name if isinstance(evictor, GangEviction) else self.task_name(evictor)
        self.trace.add(
            point,
            about,
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

_ALWAYS = frozenset({"JobValid", "VictimQueueOrder", "UnifiedEvictable"})
"""Points without an enable flag."""


def _counts(option: PluginOption, point: str) -> bool:
    return point in _ALWAYS or _FLAG_OF.get(point, point) in option.enabled
