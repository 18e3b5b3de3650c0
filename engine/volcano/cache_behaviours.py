"""What a release's scheduler cache does besides sessions: one record, complete, as of sessions.

What sessions decide by is asked of :class:`.Behaviours`. This is asked by who runs the cache's work
queues and its writes, as a simulation of races does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CleanupKey(StrEnum):
    """What waits to be forgotten when a PodGroup is gone."""

    OBJECT = "the job as it was"
    """The job itself: whether it can be forgotten is asked of it, though it be replaced."""
    NAME_AND_UID = "namespace, name and uid"
    """A name and a uid: whether it can be forgotten is asked of what has the name by then."""


class FailedTasksKey(StrEnum):
    """What waits to be looked up again when a pod could not be bound or evicted."""

    OBJECT = "the pod as it was"
    """The task itself, as it was when it failed."""
    JOB_AND_UID = "job and uid"
    """Its job and uid: what the cache does not know any more is let go of."""


class EvictionWithoutPodGroup(StrEnum):
    """What becomes of the eviction of a pod whose PodGroup has just gone."""

    CRASHES = "crashes"
    """The eviction is begun, and the scheduler crashes."""
    HALF_DONE = "half done"
    """The eviction is begun, and an error is returned all the same."""
    REFUSED = "refused"
    """An error is returned, and nothing is done."""


class QueueStatusWrite(StrEnum):
    """How the scheduler writes a queue's ``status.allocated``."""

    UPDATE = "update"
    """The whole status, if the queue is as it was read."""
    APPLY = "apply"
    """Only what is allocated, by server-side apply, whatever has changed."""


class UnselectedNodes(StrEnum):
    """What becomes of nodes that ``--node-selector`` does not choose."""

    FORGOTTEN = "forgotten"
    """They are not in the cache; a node that loses the label is taken out."""
    COME_WITH_DRIVERS = "come with drivers"
    """A CSINode brings its node in, chosen or not; a node that loses the label stays."""
    KEPT = "kept"
    """None comes in; a node that loses the label stays as it was."""


@dataclass(frozen=True, slots=True)
class CacheBehaviours:
    """What a release's scheduler cache does where releases differ, besides sessions."""

    release: str
    """The release that this is the behaviour of, or was before single fields were changed."""

    cleanup_delayed: bool
    """A job whose PodGroup is gone waits before it is first asked whether it can be forgotten."""

    cleanup_delay_resets: bool
    """Once a job is forgotten, one of its name starts with a short delay again."""

    cleanup_key: CleanupKey
    """What waits to be forgotten when a PodGroup is gone."""

    cleanup_rate: int
    """How many jobs may be tried again in a second, of all that wait to be forgotten."""

    failed_tasks_key: FailedTasksKey
    """What waits to be looked up again when a pod could not be bound or evicted."""

    failed_tasks_delayed: bool
    """A pod that could not be bound or evicted waits before it is looked up."""

    failed_tasks_rate: int
    """How many failed pods may be looked up in a second."""

    failed_tasks_delay_resets: bool
    """After a pod was looked up its delays start anew."""

    missing_pods_removed_without_lock: bool
    """A failed pod that is not there any more is taken out of the cache without its lock."""

    bind_failures_in_condition: bool
    """A pod that could not be bound is told so in its condition PodScheduled."""

    pre_bind_failures_in_condition: bool
    """A pod whose volumes or devices could not be bound is told so in its condition."""

    pre_bind_blocks_sessions: bool
    """Sessions cannot open while volumes or devices are being bound."""

    evicted_pods_get_disruption_target: bool
    """A pod that is evicted first gets the condition DisruptionTarget."""

    eviction_without_podgroup: EvictionWithoutPodGroup
    """What becomes of the eviction of a pod whose PodGroup has just gone."""

    queue_status_write: QueueStatusWrite
    """How the scheduler writes a queue's status.allocated."""

    first_session_waits_for_handlers: bool
    """The first session waits till the cache has taken in all that there was at the start."""

    nodes_through_work_queue: bool
    """Nodes come into the cache through a work queue, which asks what they are by then."""

    unselected_nodes: UnselectedNodes
    """What becomes of nodes that --node-selector does not choose."""

    volume_limits_written_to_shared_nodes: bool
    """How many volumes a node can attach is written into the object that informers share."""

    ready_podgroup_events_repeated: bool
    """A PodGroup that is ready gets an event in each session."""

    deleted_podgroup_crashes_close: bool
    """A PodGroup with a place in a topology that goes during a session crashes the scheduler."""

    scheduled_events_by_pod: bool
    """A pod that was bound gets its event though another of its batch was not bound."""

    removed_images_forgotten: bool
    """An image that a node does not have any more is forgotten for that node."""

    startup_queues_checked_first: bool
    """At the start, the root and the default queue are made only if they are not there."""
