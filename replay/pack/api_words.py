"""The words that the APIs of Kubernetes and Volcano give to fields; any other is somebody's own.

Most APIs take any text where they mean one of a few words: a node may have a condition of a type
that a company chose, and a pod a readiness gate with its domain.
"""

from __future__ import annotations

import re
from enum import EnumType

from ...engine.events import KINDS as EVENT_KINDS
from ...engine.events import payloads
from ...engine.kubernetes.resources import RESOURCE_TYPES
from ...engine.state.log_coverage import Shower

_CONDITIONS = frozenset(
    {
        *("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"),
        *("PodScheduled", "Initialized", "ContainersReady", "DisruptionTarget"),
        *("PodReadyToStartContainers", "PodHasNetwork", "PodResizePending", "PodResizeInProgress"),
        *("Scheduled", "Unschedulable", "Available", "Progressing", "ReplicaFailure", "Complete"),
        *("Failed", "Suspended", "DisruptionAllowed", "Established", "NamesAccepted"),
        *("Allocatable", "Preempted", "Enqueued", "Bound"),
    }
)
_STATES = frozenset(
    {
        *("True", "False", "Unknown", "Pending", "Running", "Succeeded", "Failed", "Completed"),
        *("Inqueue", "Open", "Closed", "Closing", "Bound", "Lost", "Released", "Available"),
        *("Aborting", "Aborted", "Restarting", "Completing", "Terminating", "Terminated"),
        *("Active", "Guaranteed", "Burstable", "BestEffort", "Normal", "Warning", "InProgress"),
    }
)
_POLICIES = frozenset(
    {
        *("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "NoSchedule", "NoExecute"),
        *("PreferNoSchedule", "Always", "OnFailure", "Never", "PreemptLowerPriority", "Honor"),
        *("Ignore", "DoNotSchedule", "ScheduleAnyway", "TCP", "UDP", "SCTP", "Immediate"),
        *("WaitForFirstConsumer", "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"),
        *("ReadWriteOncePod", "Filesystem", "Block", "hard", "soft", "traverse", "fifo", "strict"),
        *("ExactCount", "All", "Foreground", "Background", "Orphan", "any", "sequential"),
        *("metadata.name", "Node", "HyperNode"),
    }
)
_JOBS = frozenset(
    {
        *("*", "PodFailed", "PodEvicted", "PodPending", "PodRunning", "TaskCompleted"),
        *("TaskFailed", "Unknown", "OutOfSync", "CommandIssued", "JobUpdated", "JobPending"),
        *("AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition"),
        *("TerminateJob", "CompleteJob", "ResumeJob", "SyncJob", "EnqueueJob", "SyncQueue"),
        *("OpenQueue", "CloseQueue"),
    }
)
_SYSTEMS = frozenset({"linux", "windows", "amd64", "arm64", "arm", "386", "ppc64le", "s390x"})
_KINDS = frozenset(resource_type.kind for resource_type in RESOURCE_TYPES) | {
    *("Status", "DeleteOptions", "Binding", "Eviction", "Scale", "Event", "DeviceClass"),
}
_WORDS = _CONDITIONS | _STATES | _POLICIES | _JOBS | _SYSTEMS | _KINDS

_NUMBER = r"[-+]?[0-9][0-9.]*([eE][-+]?[0-9]+|[numkKMGTPE]i?|%)?"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[-+][0-9:]+)"
_DURATION = r"([0-9.]+(ns|us|µs|ms|s|m|h))+"
_AMOUNT = re.compile(rf"{_NUMBER}|{_TIME}|{_DURATION}")
_VERSION = re.compile(r"v?[0-9]+(\.[0-9]+)*((a|b|rc|\.dev|\.post)[0-9]+)?")
_NUMBERS = re.compile(r"-?[0-9]+([.:+/, -][0-9]+)*")
_DIGITS = re.compile(r"[0-9]+")


def _is_enum(value: object) -> bool:
    return isinstance(value, EnumType) and len(value) > 0


EVENT_WORDS = frozenset(
    {
        *("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"),
        *("created", "updated", "deleted", "status", "binding", "eviction", "scale", "finalize"),
        *("changes", "marked", "unmarked", "resumed", "controller-manager"),
        *("scheduler", "controllers", "webhooks", "admission", "prometheus"),
        *("prometheus_adaptor", "elasticsearch"),
        *("enqueue", "allocate", "pipeline", "bind", "bind-failed", "evict", "discard", "commit"),
        *("backfill", "preempt", "reclaim", "shuffle", "gangpreempt", "gangreclaim"),
        *("RESTART", "CLEANUP_HOLD", "CLEANUP_STEP", "CLEANUP_RUN"),
        *("filter", "prioritize", "predicate", "preemptable", "reclaimable", "queueOverused"),
        *("jobEnqueueable", "jobReady", "onSessionOpen", "onSessionClose"),
        *("policies", "CPUManagerPolicy", "TopologyManagerPolicy", "resReserved", "numares"),
        *("cpuDetail", "allocatable", "capacity", "numa", "core", "socket", "none", "static"),
        *("restricted", "single-numa-node", "best-effort"),
        *EVENT_KINDS,
        *(
            str(member.value)
            for enumeration in (*vars(payloads).values(), Shower)
            if _is_enum(enumeration)
            for member in enumeration
        ),
    }
)
"""The words of events that are about no object, and of the topology of nodes."""


def is_amount(text: str) -> bool:
    """Return whether a text is an amount, a time, a duration or a version."""
    is_version = _VERSION.fullmatch(text) is not None and _longest_number(text) <= 5
    return is_version or _AMOUNT.fullmatch(text) is not None


def is_numbers(text: str) -> bool:
    """Return whether a text is short numbers, as in weights of a hierarchy and in times of day."""
    return _NUMBERS.fullmatch(text) is not None and _longest_number(text) <= 10


def _longest_number(text: str) -> int:
    return max(map(len, _DIGITS.findall(text)), default=0)


def is_of_api(text: str) -> bool:
    """Return whether a text is a word of the APIs, an amount, a time, a duration or a version."""
    return text in _WORDS or is_amount(text)
