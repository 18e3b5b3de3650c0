"""The actions of a configuration and their order, where a job waits because of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...engine.session.framework.vote_details import QueueCheck, QueueLevel
from .amounts import apart, in_order
from .answering_session import Run
from .evicting import EVICTING, PREEMPTING
from .queue_words import ALLOCATE

_GAUGES = ("allocated_", "deserved_")
_ENQUEUE, _ALLOCATE, _BACKFILL = "enqueue", "allocate", "backfill"


def before(run: Run, first: str, other: str) -> str:
    """Return that an action runs before another one, with the order; empty if it does not."""
    actions = run.conf.actions
    if first not in actions or other not in actions or actions.index(first) > actions.index(other):
        return ""
    return f"{first} runs before {other} ({_order(actions)})"


def evicting_first(run: Run) -> str:
    """Return that an action evicts before any is placed on idle nodes; empty if none does."""
    if not run.answer.result.evictions:
        return ""
    texts = (before(run, action, _ALLOCATE) for action in run.conf.actions if action in EVICTING)
    return next((text for text in texts if text), "")


def unplaced(run: Run, phase: str) -> str:
    """Return which action would have to come to a job; empty if the actions explain nothing.

    :param phase: of its PodGroup.
    """
    actions = run.conf.actions
    # preempt and reclaim only keep nodes (`Statement.Pipeline`): a later allocate has to bind.
    if not {_ALLOCATE, _BACKFILL} & set(actions):
        return f"the configuration has no action that places pods ({', '.join(actions)})"
    if _ALLOCATE not in actions:
        only = "backfill places only pods without requests"
        return f"allocate does not run, and {only} ({_order(actions)})"
    late = before(run, _ALLOCATE, _ENQUEUE)
    if late and phase in {"", "Pending"}:
        return f"{late}, so it comes to a job only in the session after the job is enqueued"
    return ""


def not_run(run: Run, action: str) -> bool:
    """Return whether neither an action runs, nor the one that does the same for gangs."""
    same = PREEMPTING if action in PREEMPTING else frozenset(EVICTING) - PREEMPTING
    return not same.intersection(run.conf.actions)


def does_not_run(run: Run, action: str, pod: str) -> str:
    """Return that an action does not run that could make room, and for what; empty if it could not.

    Preempt could in the queue of a pod. Reclaim could if that queue deserves what the pod requests,
    and another one holds more than it deserves.
    """
    does = "evicts pods of lower priority in its queue"
    if action not in PREEMPTING:
        over = _over(run, pod)
        if over is None:
            return ""
        does = (
            f"takes back what its queue deserves ({over.queue} holds {over.holds} {over.resource} "
            f"and deserves {over.deserves})"
        )
    return f"{action}, which {does}, does not run ({_order(run.conf.actions)})"


class _Over(msgspec.Struct, frozen=True):
    """A queue that holds more than it deserves."""

    queue: str
    resource: str
    holds: str
    deserves: str


def _over(run: Run, pod: str) -> _Over | None:
    """Return another queue that holds more than it deserves of what is owed to a pod's queue."""
    check = run.detail(QueueCheck, ALLOCATE, pod)
    # The first level is the queue of the pod: only what that deserves is owed to it.
    if check is None or not check.permits or not any(map(_owes, check.levels[:1])):
        return None
    own = check.levels[0]
    # Details have only the queues that are followed; the gauges have the accounts of all.
    for queue, gauges in sorted(run.answer.result.process.gauges.items()):
        for name in in_order(own.wanted) if queue != own.queue else ():
            holds, deserves = (gauges.get(f"{prefix}{_gauge(name)}") for prefix in _GAUGES)
            if isinstance(holds, float) and isinstance(deserves, float) and holds > deserves:
                return _Over(queue, name, *apart(holds, deserves, name))
    return None


def _gauge(resource: str) -> str:
    """Return how metrics of queues name a resource. Source: pkg/scheduler/metrics/queue.go."""
    return {"cpu": "milli_cpu", "memory": "memory_bytes"}.get(
        resource, f"scalar_resources/{resource}"
    )


def _owes(level: QueueLevel) -> bool:
    # The strictest rule of capacity (`PreemptiveFn`): newer releases let one resource suffice.
    return bool(level.wanted) and all(
        level.allocated.get(name, 0.0) + amount <= level.deserved.get(name, 0.0)
        for name, amount in level.wanted.items()
    )


def _order(actions: Sequence[str]) -> str:
    return f"actions: {', '.join(actions)}"
