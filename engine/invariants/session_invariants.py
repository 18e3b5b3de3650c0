"""Invariants of one session: what it decides, with the numbers that it compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from ..kubernetes.units import format_amount
from ..model.panic import NIL_POINTER
from ..model.resource import MIN_RESOURCE
from ..model.resource_names import PODS
from ..session.framework.trace import StepOutcome
from .demand import Amounts, DemandOfQueues, amounts_of, summed
from .invariant import NODE, POD, PODGROUP, QUEUE, SESSION, Invariant, Needs, Severity, Violation
from .view import ClusterView, QueueLimits, SessionView

_ALL = (NODE, QUEUE, PODGROUP, POD)
_SHUT = frozenset({"Closed", "Closing"})
_LIMITING = frozenset({"capacity", "proportion"})
"""Plugins that limit queues."""


class _Use(StrEnum):
    """How a queue uses its capability."""

    HELD = "hold"
    RESERVED = "hold or reserve"


def does_not_panic(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield the panic of a session, unless Go used a nil pointer."""
    panic = None if view.session is None else view.session.result.panic
    if panic is not None and panic.message != NIL_POINTER:
        yield Violation("Scheduler", view.cache.behaviours.release, f"it panics: {panic}")


def uses_no_nil(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield the panic of a session in which Go used a nil pointer."""
    panic = None if view.session is None else view.session.result.panic
    if panic is not None and panic.message == NIL_POINTER:
        yield Violation("Scheduler", view.cache.behaviours.release, f"it panics: {panic}")


def queues_stay_open(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield pods that a session binds although their queue is not Open."""
    for key, _node in view.session.result.binds if view.session else ():
        queue = view.queue_of_pod(key)
        info = view.cache.queues.get(queue)
        if info is not None and info.state in _SHUT:
            message = f"the session binds it, but its queue {queue} is {info.state}"
            yield Violation("Pod", key, message)


class _Change(NamedTuple):
    """What queues hold, or hold and reserve, after a session, and what of it the session added."""

    how: _Use
    after: Mapping[str, Amounts]
    added: Mapping[str, Amounts]


def capability_is_kept(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield queues that a session lets use more than their capability."""
    session = view.session
    if session is None or session.limits is QueueLimits.NOTHING:
        return
    demand = DemandOfQueues(view, tree=session.limits is QueueLimits.TREE)
    bound = demand.of_pods(key for key, _ in session.result.binds)
    holding = _Change(_Use.HELD, summed(demand.held, bound), bound)
    enqueued = session.result.enqueued
    reserved = _Change(
        _Use.RESERVED, demand.reserved_after(session.result), demand.of_groups(enqueued)
    )
    for change in (holding, reserved):
        for queue in sorted(change.added):
            yield from _above(view, queue, change)


def _above(view: ClusterView, queue: str, change: _Change) -> Iterator[Violation]:
    info = view.cache.queues.get(queue)
    if info is None:
        return
    limit = info.queue.spec.capability
    most = amounts_of(info.capability)
    for resource in sorted(limit):
        after = change.after.get(queue, {}).get(resource, 0.0)
        added = change.added[queue].get(resource, 0.0)
        if added >= MIN_RESOURCE and after - most.get(resource, 0.0) >= MIN_RESOURCE:
            message = (
                f"after the session its jobs {change.how} {format_amount(resource, after)} of "
                f"{resource}, {format_amount(resource, added)} of it new; "
                f"its capability is {format_amount(resource, most.get(resource, 0.0))}"
            )
            yield Violation("Queue", queue, message, f"{change.how.name.lower()}.{resource}")


def inqueue_is_conserved(view: ClusterView, _: str) -> Iterator[Violation]:
    """Yield queues whose sum of reserved resources is not that of their Inqueue PodGroups."""
    session = view.session
    if session is None or session.limits is QueueLimits.NOTHING:
        return
    first: dict[tuple[str, str, str], Violation] = {}
    # Of a queue and a resource only the first: the sums after it go on from that one.
    for wrong_sum in _wrong_sums(view, session):
        first.setdefault(wrong_sum.place, wrong_sum)
    yield from first.values()


def _wrong_sums(view: ClusterView, session: SessionView) -> Iterator[Violation]:
    demand = DemandOfQueues(view, tree=session.limits is QueueLimits.TREE)
    expected = demand.inqueue()
    for step in session.result.trace:
        # What is enqueued counts as reserved from here on.
        if step.outcome is StepOutcome.ENQUEUED:
            expected = summed(expected, demand.of_groups(step.about))
        if step.what != "JobEnqueueable" or step.by not in _LIMITING:
            continue
        counted = step.numbers.get("inqueue")
        if not isinstance(counted, Mapping):
            continue
        queue = str(step.numbers.get("queue") or view.queue_of_group(*step.about))
        for resource, true, amount in _differing(expected.get(queue, {}), counted):
            message = (
                f"the session counts {format_amount(resource, amount)} of {resource} as reserved, "
                f"its Inqueue PodGroups reserve {format_amount(resource, true)}"
            )
            yield Violation("Queue", queue, message, f"inqueue.{resource}")


def _differing(
    expected: Amounts, counted: Mapping[str, float]
) -> Iterator[tuple[str, float, float]]:
    for resource in sorted({*expected, *counted} - {PODS}):
        true, amount = expected.get(resource, 0.0), counted.get(resource, 0.0)
        if abs(true - amount) >= MIN_RESOURCE:
            yield resource, true, amount


INVARIANTS = (
    Invariant(
        id="I-05",
        name="no-negative-sub",
        severity=Severity.CRITICAL,
        statement="The session that the release would run does not panic.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=does_not_panic,
    ),
    Invariant(
        id="I-05b",
        name="no-nil-use",
        severity=Severity.CRITICAL,
        statement="The session that the release would run uses no PodGroup or queue that is nil.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=uses_no_nil,
    ),
    Invariant(
        id="I-07",
        name="capability-bound",
        severity=Severity.CRITICAL,
        statement="No session lets a queue, or a queue above it, use more than its capability.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=capability_is_kept,
    ),
    Invariant(
        id="I-08",
        name="inqueue-conservation",
        severity=Severity.HIGH,
        statement=(
            "What a session counts as reserved in a queue is what its Inqueue PodGroups still need."
        ),
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=inqueue_is_conserved,
    ),
    Invariant(
        id="I-15b",
        name="closed-queue-empty",
        severity=Severity.MEDIUM,
        statement="No session binds a pod whose queue is Closed or Closing.",
        needs=Needs.SESSION,
        unit=SESSION,
        kinds=_ALL,
        settles=False,
        check=queues_stay_open,
    ),
)
"""The invariants of this module."""
