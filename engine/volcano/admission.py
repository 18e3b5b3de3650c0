"""What Volcano's admission webhooks fill in where an object says nothing, by release.

The webhooks are a separate program. Where they did not run, controllers fill in minima
in the same way.

Source: pkg/webhooks/admission/jobs/mutate/mutate_job.go mutateSpec, patchDefaultMinAvailable;
pkg/webhooks/admission/queues/mutate/mutate_queue.go createQueuePatch;
pkg/controllers/job/job_controller_actions.go getMinAvailable.
"""

from __future__ import annotations

from enum import Enum

from .releases import final_release, landed

DEFAULT_QUEUE = "default"
DEFAULT_WEIGHT = 1
TASK_PREFIX = "default"
"""A task without a name gets this one, with its number from 0."""

_ALWAYS, _IF_SET = landed("v1.14.0"), landed("v1.14.3", "v1.15.1")


class Partitions(Enum):
    """How a task's ``partitionPolicy`` sets the minimum of a task that has none."""

    IGNORED = "not at all: it is the number of replicas"
    ALWAYS = "minPartitions times partitionSize, even if minPartitions is 0"
    IF_SET = "minPartitions times partitionSize, if minPartitions is above 0"


def partitions_of(release: str) -> Partitions:
    """Return how the webhook of a release reads partitions; the release must be known."""
    at = final_release(release)
    if _IF_SET.reached(at):
        return Partitions.IF_SET
    return Partitions.ALWAYS if _ALWAYS.reached(at) else Partitions.IGNORED


def task_minimum(
    given: int | None,
    replicas: int,
    partitions: tuple[int, int] | None = None,
    how: Partitions = Partitions.IGNORED,
) -> int:
    """Return how many of a task's pods its job needs.

    :param given: its ``minAvailable``, if it has one.
    :param partitions: ``minPartitions`` and ``partitionSize``; None without a policy.
    """
    if given is not None:
        return given
    if partitions is None or how is Partitions.IGNORED:
        return replicas
    least, size = partitions
    return least * size if least * size or how is Partitions.ALWAYS else replicas


def task_name(name: str, number: int) -> str:
    """Return the name of a task. :param number: its place in the job, from 0."""
    return name or f"{TASK_PREFIX}{number}"


def queue_weight(weight: int) -> int:
    """Return the weight of a queue: one that is missing, or 0, is 1."""
    return weight or DEFAULT_WEIGHT
