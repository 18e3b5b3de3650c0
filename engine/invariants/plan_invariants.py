"""Invariants of what a session plans: promised places, units, and choices among equals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ..cache.job_cache import job_of
from ..kubernetes.units import format_amount
from ..model.job import JobInfo
from ..model.resource import MIN_RESOURCE
from ..model.task_status import ALLOCATED_STATUS, TaskStatus
from ..session.framework.session_outcome import SessionResult
from ..session.framework.trace import StepOutcome
from .demand import DemandOfQueues
from .invariant import NODE, POD, PODGROUP, QUEUE, SESSION, Invariant, Needs, Severity, Violation
from .texts import names_of
from .view import ClusterView, QueueLimits, SessionView

_ALL = (NODE, QUEUE, PODGROUP, POD)
_LIMITING = frozenset({"capacity", "proportion"})
_ALLOCATE = "allocate"
"""The action."""

_RECLAIM = "reclaim"
"""The action that promises a pod the node that it evicts from, without a step of the trace."""


def promises_are_kept(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield pods that wait for a node in vain.

    The action allocate promises nodes (Pipelined) to a gang as a whole, or takes the promises back.
    Actions that evict also promise a node to one pod alone.
    """
    session = view.session
    if session is None:
        return
    promised = dict(session.result.pipelined)
    # A nomination without its promise is left of a plan that was undone.
    stale = [
        f"{key} on {condition.nominated_node}"
        for key, condition in session.result.pod_conditions.items()
        if condition.nominated_node and promised.get(key) != condition.nominated_node
    ]
    if stale:
        message = (
            f"the session nominates nodes by plans that it took back: {names_of(stale, 'pod')}"
        )
        yield Violation("Scheduler", view.cache.behaviours.release, message, "nominated")
    if "gang" in session.plugins:
        yield from _lone_promises(view, session.result)


def _lone_promises(view: ClusterView, result: SessionResult) -> Iterator[Violation]:
    """Yield promises to gangs that would not be complete with all of them.

    A gang that is complete with its promises keeps what is allocated, and binds nothing yet.
    """
    reclaimed = {
        pod.spec.node_name
        for key, reason in result.evictions
        if reason == _RECLAIM and (pod := view.pods.get(key)) is not None
    }
    planned = _kept(result)
    promised = dict(result.pipelined)
    # Where reclaim evicts, one pod is promised the node, whatever its gang does.
    lone = [key for key, node in result.pipelined if key in planned and node not in reclaimed]
    placed = _by_job(view, {*planned, *promised, *(key for key, _ in result.binds)})
    for name in sorted(_by_job(view, lone)):
        job = view.cache.jobs.get(name)
        if job is None:
            continue
        with_all = _ready(job) + placed[name]
        if with_all < job.min_available:
            message = (
                f"the session promises nodes to its pods, but with all of them it has "
                f"{with_all} of minMember {job.min_available}"
            )
            yield Violation("PodGroup", name, message, "pipelined")


def _kept(result: SessionResult) -> frozenset[str]:
    """Return the pods that allocate gave or promised nodes, and did not take them back."""
    planned: list[str] = []
    for step in result.trace:
        if step.action != _ALLOCATE:
            continue
        if step.what in {"allocate", "pipeline"}:
            planned.extend(step.about)
        elif step.outcome is StepOutcome.TAKEN_BACK:
            # A plan is undone from its end.
            del planned[max(0, len(planned) - step.many) :]
    return frozenset(planned)


def _by_job(view: ClusterView, keys: Iterable[str]) -> Counter[str]:
    pods = (view.pods.get(key) for key in keys)
    return Counter(job_of(pod) for pod in pods if pod is not None)


def _ready(job: JobInfo) -> int:
    """Return how many tasks of a job count as ready before the session.

    Source: pkg/scheduler/api/job_info.go ReadyTaskNum.
    """
    return sum(
        task.status in ALLOCATED_STATUS
        or task.status is TaskStatus.SUCCEEDED
        or (task.status is TaskStatus.PENDING and task.best_effort)
        for task in job.tasks.values()
    )


def units_agree(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield queues of which a session counts a resource in whole units instead of thousandths.

    Running jobs reserve what they lack of minResources. Releases with the fault take that amount in
    units, and compare it with amounts in thousandths.

    Source: pkg/scheduler/plugins/util/util.go GetInqueueResource.
    """
    session = view.session
    if session is None or session.limits is QueueLimits.NOTHING:
        return
    demand = DemandOfQueues(view, tree=session.limits is QueueLimits.TREE)
    right, wrong = demand.inqueue(), demand.inqueue(in_units=True)
    seen: set[tuple[str, str]] = set()
    for queue, counted in _counted(view, session):
        for resource, amount in sorted(counted.items()):
            true = right.get(queue, {}).get(resource, 0.0)
            units = wrong.get(queue, {}).get(resource, 0.0)
            differs = abs(true - amount) >= MIN_RESOURCE
            if differs and abs(units - amount) < MIN_RESOURCE and (queue, resource) not in seen:
                seen.add((queue, resource))
                message = (
                    f"the session counts {amount:g} thousandths of {resource} as reserved, its "
                    f"PodGroups reserve {format_amount(resource, true)}: the units differ"
                )
                yield Violation("Queue", queue, message, f"unit.{resource}")


def _counted(view: ClusterView, session: SessionView) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield what the session counts as reserved in a queue, before it enqueues anything."""
    for step in session.result.trace:
        if step.outcome is StepOutcome.ENQUEUED:
            return
        counted = step.numbers.get("inqueue")
        if step.what == "JobEnqueueable" and step.by in _LIMITING and isinstance(counted, Mapping):
            queue = str(step.numbers.get("queue") or view.queue_of_group(*step.about))
            yield queue, counted


def choice_does_not_matter(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield a session in which other pods get a node if another one of equal nodes is chosen.

    On which of equal nodes a pod runs may differ; whether it runs may not. The scheduler picks at
    random, so such a session decides otherwise the next time.
    """
    session = view.session
    again = None if session is None else session.again
    alternative = None if again is None else again.with_last_names()
    if session is None or alternative is None:
        return
    for what, first, last in (
        ("binds", session.result.binds, alternative.binds),
        ("evicts", session.result.evictions, alternative.evictions),
    ):
        here, there = {key for key, _ in first}, {key for key, _ in last}
        if here != there:
            message = (
                f"with the first of equal nodes it also {what} {names_of(here - there, 'pod')}; "
                f"with the last {names_of(there - here, 'pod')}"
            )
            yield Violation("Scheduler", view.cache.behaviours.release, message, what)


INVARIANTS = (
    Invariant(
        id="I-06b",
        name="promise-kept",
        severity=Severity.HIGH,
        statement="A session promises nodes only to a whole gang, and keeps no nomination of a "
        "plan that it took back.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=promises_are_kept,
    ),
    Invariant(
        id="I-09",
        name="unit-consistency",
        severity=Severity.HIGH,
        statement="A session counts what is reserved in the unit of what is requested.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=units_agree,
    ),
    Invariant(
        id="I-20",
        name="determinism",
        severity=Severity.MEDIUM,
        statement="Which pods a session binds and evicts does not depend on the choice among "
        "equal nodes.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=choice_does_not_matter,
        named=True,
    ),
)
"""The invariants of this module."""
