"""The result of a session: plain data, in order of decision or sorted by name."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ...model.panic import Panic
from ...model.resource import Resource
from .process_parts import ProcessState
from .trace import TraceStep


class GroupCondition(NamedTuple):
    """A condition of a PodGroup; ``ours``: this session wrote it (its transition id)."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    ours: bool = False


class ClosedPodGroupStatus(NamedTuple):
    """Status of a PodGroup at the close of a session.

    ``written`` says whether the scheduler writes it to the API server; ``hypernode`` is the new
    value of the annotation of the allocated hypernode, ``None`` if it did not change.
    """

    uid: str
    phase: str
    conditions: tuple[GroupCondition, ...]
    running: int
    succeeded: int
    failed: int
    written: bool
    hypernode: str | None = None


class ClosedQueueStatus(NamedTuple):
    """The status of a queue; resource lists are quantities as texts.

    ``deserved`` and ``guarantee`` are ``None`` where the queue's spec is not written.
    """

    allocated: dict[str, str]
    deserved: dict[str, str] | None
    guarantee: dict[str, str] | None
    written: bool


class UnscheduledCondition(NamedTuple):
    """The PodScheduled=False condition that a pod gets, and the node it is nominated for.

    ``drops_node``: its earlier nominated node is removed.
    """

    reason: str
    message: str
    nominated_node: str = ""
    drops_node: bool = False


class StoppedByQueues(NamedTuple):
    """A plugin refuses the tree of queues, and so everything.

    :param error: what the scheduler logs.
    """

    plugin: str
    error: str


class SessionResult(msgspec.Struct):
    """Everything that one session did.

    Pods and PodGroups are named ``ns/name``. After a predicted crash, ``panic`` is set, and the
    rest is what had been done by then; the close writes nothing. ``asked_time`` says whether the
    session asked for the current time: if not, it decides the same at any time. In
    ``pod_annotations``, ``None`` means that the session removed the annotation. ``stopped`` says
    why scheduling stops in every queue, if a plugin refuses everything.
    ``deserved`` is what each queue deserves, if a plugin limits queues. ``fit_codes`` has by pod
    how many nodes refuse it, by the codes of their reasons.
    """

    binds: list[tuple[str, str]] = msgspec.field(default_factory=list)
    evictions: list[tuple[str, str]] = msgspec.field(default_factory=list)
    pipelined: list[tuple[str, str]] = msgspec.field(default_factory=list)
    pod_groups: dict[str, ClosedPodGroupStatus] = msgspec.field(default_factory=dict)
    queues: dict[str, ClosedQueueStatus] = msgspec.field(default_factory=dict)
    pod_conditions: dict[str, UnscheduledCondition] = msgspec.field(default_factory=dict)
    pod_annotations: dict[str, dict[str, str | None]] = msgspec.field(default_factory=dict)
    fit_errors: dict[str, str] = msgspec.field(default_factory=dict)
    fit_codes: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    node_scores: dict[str, dict[str, float]] = msgspec.field(default_factory=dict)
    enqueued: list[str] = msgspec.field(default_factory=list)
    jobs: list[str] = msgspec.field(default_factory=list)
    events: list[tuple[str, str, str]] = msgspec.field(default_factory=list)
    errors: list[str] = msgspec.field(default_factory=list)
    trace: list[TraceStep] = msgspec.field(default_factory=list)
    panic: Panic | None = None
    stopped: StoppedByQueues | None = None
    asked_time: bool = False
    deserved: dict[str, Resource] = msgspec.field(default_factory=dict)
    process: ProcessState = msgspec.field(default_factory=ProcessState)
