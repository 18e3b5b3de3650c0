"""The actions of a configuration and their order, where a job waits because of it."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.session.framework.details import QueueCheck, QueueLevel
from .evicting import EVICTING, PREEMPTING
from .queue_words import ALLOCATE
from .run import Run

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
    found = (before(run, action, _ALLOCATE) for action in run.conf.actions if action in EVICTING)
    return next((one for one in found if one), "")


def unplaced(run: Run, phase: str) -> str:
    """Return which action would have to come to a job; empty if the actions explain nothing.

    :param phase: of its PodGroup.
    """
    actions = run.conf.actions
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


def does_not_run(run: Run, action: str) -> str:
    """Return that an action does not run that could make room, and for what."""
    what = "evicts pods of lower priority in its queue"
    if action not in PREEMPTING:
        what = "takes back what its queue deserves"
    return f"{action}, which {what}, does not run ({_order(run.conf.actions)})"


def is_owed(run: Run, pod: str) -> bool:
    """Return whether the queue of a pod would not hold more than it deserves with it."""
    check = run.detail(QueueCheck, ALLOCATE, pod)
    return check is not None and check.permits and any(map(_owes, check.levels[:1]))


def _owes(level: QueueLevel) -> bool:
    return bool(level.wanted) and all(
        level.allocated.get(name, 0.0) + amount <= level.deserved.get(name, 0.0)
        for name, amount in level.wanted.items()
    )


def _order(actions: Sequence[str]) -> str:
    return f"actions: {', '.join(actions)}"
