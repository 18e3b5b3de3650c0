"""What fields of Volcano's objects are, in our words, for ``kubectl explain``.

A log of objects alone has no CustomResourceDefinitions, which say it in a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .....engine.kubernetes.resources import GroupKind

_GANG = "How many pods must be able to start together; with fewer, none of them starts."
_PHASES = (
    "Pending waits to be enqueued; Inqueue may get nodes; Running has its gang; Unknown lost some "
    "of it; Completed has ended."
)
_QUEUE = "The queue that the pods are counted in; empty is the queue default."
_AMOUNTS = "map"
_OBJECT, _LIST = "object", "list"

Described = Mapping[str, tuple[str, str]]
"""Fields by their paths, each with its type and what it is; the empty path is the kind itself."""

_QUEUES: Described = MappingProxyType(
    {
        "": (_OBJECT, "A share of the cluster, which pods of its jobs are counted in."),
        "spec": (_OBJECT, "What the queue is entitled to."),
        "spec.weight": ("integer", "Its share of what is free, in proportion to other queues."),
        "spec.capability": (_AMOUNTS, "The most that its pods may hold."),
        "spec.deserved": (_AMOUNTS, "What it deserves; more may be reclaimed by other queues."),
        "spec.guarantee": (_OBJECT, "What is kept for it, even while it does not use it."),
        "spec.guarantee.resource": (_AMOUNTS, "The amounts that are kept."),
        "spec.reclaimable": (
            "boolean",
            "Whether other queues may take back what it holds too much.",
        ),
        "spec.parent": ("string", "The queue above it, in a tree of queues."),
        "spec.priority": ("integer", "Queues of a higher priority get resources first."),
        "spec.type": ("string", "Of what kind its workers are."),
        "spec.affinity": (_OBJECT, "On which groups of nodes its pods may run."),
        "spec.extendClusters": (_LIST, "Other clusters that its jobs may go to."),
        "spec.dequeueStrategy": (
            "string",
            "What happens behind a job that does not fit: wait or try.",
        ),
        "status": (_OBJECT, "What Volcano last wrote of the queue."),
        "status.state": ("string", "Open takes jobs; Closing and Closed take no new ones."),
        "status.allocated": (_AMOUNTS, "What its pods hold."),
        "status.pending": ("integer", "How many of its PodGroups are Pending."),
        "status.inqueue": ("integer", "How many of its PodGroups are Inqueue."),
        "status.running": ("integer", "How many of its PodGroups are Running."),
        "status.unknown": ("integer", "How many of its PodGroups lost pods of their gang."),
        "status.completed": ("integer", "How many of its PodGroups are Completed."),
        "status.reservation": (_OBJECT, "Nodes that are kept free for it, and what they have."),
    }
)

_PODGROUPS: Described = MappingProxyType(
    {
        "": (_OBJECT, "A gang: pods that start together or not at all."),
        "spec": (_OBJECT, "What the gang needs to start."),
        "spec.minMember": ("integer", _GANG),
        "spec.minTaskMember": (
            _AMOUNTS,
            "How many pods of each task must be able to start together.",
        ),
        "spec.minResources": (_AMOUNTS, "What must be there before the group is enqueued."),
        "spec.queue": ("string", _QUEUE),
        "spec.priorityClassName": ("string", "The PriorityClass of the group among others."),
        "spec.networkTopology": (_OBJECT, "How near to each other its pods must be."),
        "spec.networkTopology.mode": ("string", "hard must hold; soft is only preferred."),
        "spec.networkTopology.highestTierAllowed": (
            "integer",
            "The highest tier of HyperNodes that all of its pods must share.",
        ),
        "spec.subGroupPolicy": (_LIST, "How its pods divide into smaller gangs."),
        "status": (_OBJECT, "What Volcano last wrote of the group."),
        "status.phase": (
            "string",
            _PHASES,
        ),
        "status.running": ("integer", "How many of its pods run."),
        "status.succeeded": ("integer", "How many of its pods succeeded."),
        "status.failed": ("integer", "How many of its pods failed."),
        "status.conditions": (_LIST, "Why it waits, as the scheduler last wrote it."),
    }
)

_JOBS: Described = MappingProxyType(
    {
        "": (_OBJECT, "A job of Volcano: tasks, each with pods, which start as one gang."),
        "spec": (_OBJECT, "What runs, and when it counts as started, failed and complete."),
        "spec.minAvailable": ("integer", _GANG),
        "spec.minSuccess": ("integer", "How many pods must succeed for the job to be complete."),
        "spec.queue": ("string", _QUEUE),
        "spec.schedulerName": ("string", "Which scheduler places its pods."),
        "spec.priorityClassName": ("string", "The PriorityClass of the job among others."),
        "spec.maxRetry": ("integer", "How often the job may be restarted before it fails."),
        "spec.ttlSecondsAfterFinished": ("integer", "After how long a finished job is deleted."),
        "spec.plugins": (_OBJECT, "What the controller adds: ssh, svc, env, and for frameworks."),
        "spec.policies": (_LIST, "What is done after an event, such as a failed or evicted pod."),
        "spec.volumes": (_LIST, "Volumes that all of its pods mount."),
        "spec.networkTopology": (_OBJECT, "How near to each other its pods must be."),
        "spec.tasks": (_LIST, "Groups of equal pods."),
        "spec.tasks.name": ("string", "The name of the task; names of pods contain it."),
        "spec.tasks.replicas": ("integer", "How many pods the task has."),
        "spec.tasks.minAvailable": ("integer", "How many of them the gang needs."),
        "spec.tasks.template": (_OBJECT, "What its pods are made of."),
        "spec.tasks.policies": (_LIST, "What is done after an event of this task."),
        "spec.tasks.maxRetry": ("integer", "How often a pod of it may be restarted."),
        "spec.tasks.dependsOn": (_OBJECT, "Tasks that must have started before it."),
        "spec.tasks.topologyPolicy": ("string", "Which NUMA nodes its pods may be placed on."),
        "status": (_OBJECT, "What the controller last wrote of the job."),
        "status.state": (_OBJECT, "Where the job is now."),
        "status.state.phase": (
            "string",
            "Pending, Running, Completed, Failed, and what leads from one to another.",
        ),
        "status.state.reason": ("string", "Why it is in this phase."),
        "status.state.message": ("string", "More about the reason."),
        "status.minAvailable": ("integer", "How many pods its gang needs."),
        "status.pending": ("integer", "How many of its pods are pending."),
        "status.running": ("integer", "How many of its pods run."),
        "status.succeeded": ("integer", "How many of its pods succeeded."),
        "status.failed": ("integer", "How many of its pods failed."),
        "status.terminating": ("integer", "How many of its pods are being ended."),
        "status.unknown": ("integer", "How many of its pods are on nodes that do not answer."),
        "status.version": ("integer", "How often the job was restarted or aborted."),
        "status.retryCount": ("integer", "How often the job was restarted after a failure."),
        "status.taskStatusCount": (_OBJECT, "How many pods of each task are in each phase."),
        "status.conditions": (_LIST, "When each phase began."),
    }
)

_HYPERNODES: Described = MappingProxyType(
    {
        "": (_OBJECT, "Nodes, or smaller HyperNodes, that are near to each other in the network."),
        "spec": (_OBJECT, "Where it is, and what it consists of."),
        "spec.tier": ("integer", "How far its members are apart; the lowest tier is the nearest."),
        "spec.tierName": ("string", "A name of the tier."),
        "spec.members": (_LIST, "What it consists of."),
        "spec.members.type": ("string", "Node or HyperNode."),
        "spec.members.selector": (_OBJECT, "Which of them, by name, by pattern or by labels."),
        "status": (_OBJECT, "What the controller last wrote of it."),
        "status.nodeCount": ("integer", "How many nodes it has."),
    }
)

_FLOWS: Described = MappingProxyType(
    {
        "": (_OBJECT, "Jobs that start one after another, as their dependencies say."),
        "spec": (_OBJECT, "Which jobs, in which order."),
        "spec.flows": (_LIST, "The jobs: templates by name, and what each depends on."),
        "spec.jobRetainPolicy": (
            "string",
            "Whether its jobs are deleted with it: delete or retain.",
        ),
        "status": (_OBJECT, "What the controller last wrote of it."),
        "status.state": (_OBJECT, "Where the flow is now."),
    }
)

FIELDS: Mapping[GroupKind, Described] = MappingProxyType(
    {
        ("scheduling.volcano.sh", "Queue"): _QUEUES,
        ("scheduling.volcano.sh", "PodGroup"): _PODGROUPS,
        ("batch.volcano.sh", "Job"): _JOBS,
        ("topology.volcano.sh", "HyperNode"): _HYPERNODES,
        ("flow.volcano.sh", "JobFlow"): _FLOWS,
    }
)
"""Kinds whose fields are described."""


def described(pair: GroupKind) -> dict[str, Any]:
    """Return a schema with what the fields of a kind are; empty for other kinds."""
    fields = FIELDS.get(pair, {})
    schema: dict[str, Any] = {}
    for path, (kind, text) in fields.items():
        part = schema
        for name in filter(None, path.split(".")):
            part = part.get("items", part)
            part = part.setdefault("properties", {}).setdefault(name, {})
        part |= _of_type(kind)
        part["description"] = text
    return schema


def _of_type(kind: str) -> dict[str, Any]:
    """Return the begin of a schema of one type."""
    if kind == _AMOUNTS:
        return {"type": "object", "additionalProperties": {}}
    if kind == _LIST:
        return {"type": "array", "items": {"type": "object"}}
    return {"type": kind}
