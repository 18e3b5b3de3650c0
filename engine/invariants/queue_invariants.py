"""Invariants of queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..kubernetes.objects import PodGroup, Queue
from ..volcano.table import controller_behaviours
from .invariant import PODGROUP, QUEUE, Invariant, Needs, Severity, Violation, newest
from .view import ClusterView

_PHASES = ("Pending", "Inqueue", "Running", "Unknown", "Completed")


def status_is_true(view: ClusterView, name: str) -> Iterator[Violation]:
    """Yield a queue that is Closed with PodGroups in it, or counts them wrongly.

    Counts are compared only if the release writes them, and some queue counts something: the
    controllers that wrote the log may be of another release.
    """
    queue: Queue | None = view.truth.get("Queue", name)
    if queue is None:
        return
    groups, status = view.groups_in(name), queue.status
    at = newest(queue, *groups)
    if status.state == "Closed" and groups:
        message = f"it is Closed, but has {_groups(len(groups))}, such as {groups[0].key}"
        yield Violation("Queue", name, message, "state", at)
    if not _are_counted(view):
        return
    # A PodGroup has no phase before the first one is written.
    true = Counter(group.status.phase or "Pending" for group in groups)
    unnamed = [group for group in groups if not group.spec.queue]
    for phase in _PHASES:
        count = getattr(status, phase.lower())
        if count != true[phase]:
            message = f"its status counts {count} as {phase}, there are {true[phase]}"
            message += _uncounted(phase, unnamed)
            yield Violation("Queue", name, message, phase, at)


def closing_ends(view: ClusterView, name: str) -> Iterator[Violation]:
    """Yield a queue that is Closing, though no PodGroup is left in it to wait for.

    Source: pkg/controllers/queue/state/closing.go Execute.
    """
    queue: Queue | None = view.truth.get("Queue", name)
    if queue is not None and queue.status.state == "Closing" and not view.groups_in(name):
        message = "it is Closing, but has no PodGroups"
        yield Violation("Queue", name, message, "state", newest(queue))


def _uncounted(phase: str, unnamed: Sequence[PodGroup]) -> str:
    """Return a remark about PodGroups that name no queue, if any is in a phase.

    The scheduler puts them into its default queue; the queue controller files them under the empty
    name, and so counts them nowhere.

    Source: pkg/controllers/queue/queue_controller_handler.go addPodGroup.
    """
    uncounted = [group.key for group in unnamed if (group.status.phase or "Pending") == phase]
    if not uncounted:
        return ""
    return (
        f"; {_groups(len(uncounted))} with an empty spec.queue, such as {uncounted[0]}, "
        f"{'is' if len(uncounted) == 1 else 'are'} in it for the scheduler, but not for the "
        f"queue controller"
    )


def _are_counted(view: ClusterView) -> bool:
    """Return whether the controllers count PodGroups in the status of queues."""
    if not controller_behaviours(view.cache.behaviours.release).queue_status_counts_podgroups:
        return False
    queues = view.truth.of("Queue").values()
    return any(getattr(queue.status, phase.lower()) for queue in queues for phase in _PHASES)


def _groups(count: int) -> str:
    return "1 PodGroup" if count == 1 else f"{count} PodGroups"


INVARIANTS = (
    Invariant(
        id="I-15",
        name="queue-state",
        severity=Severity.MEDIUM,
        statement=(
            "A Closed queue has no PodGroups, and a queue's status counts its PodGroups by phase."
        ),
        needs=Needs.TRUTH,
        unit="Queue",
        kinds=(PODGROUP, QUEUE),
        settles=True,
        check=status_is_true,
    ),
    Invariant(
        id="I-15c",
        name="closing-ends",
        severity=Severity.MEDIUM,
        statement="A Closing queue has PodGroups; without them it becomes Closed.",
        needs=Needs.TRUTH,
        unit="Queue",
        kinds=(PODGROUP, QUEUE),
        settles=True,
        check=closing_ends,
    ),
)
"""The invariants of this module."""
