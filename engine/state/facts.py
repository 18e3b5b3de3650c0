"""Facts: the few fields of an object that tables, totals and columns need.

A fact is decoded from an object's payload once and stored, as a small msgpack array, in the fact
sidecar and in checkpoints, both of which can be rebuilt at any time. Resources are in Volcano's
units (cpu and scalars in milli, memory in bytes), times in microseconds since 1970 UTC.

A field that is added, removed or moved needs a new :data:`VERSION`. The last one of every fact,
``misread``, says that something of it could not be read: a field has a type, or a resource an
amount, that no API server stores.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

VERSION = 6
"""Version of facts and the fold; sidecars and checkpoints of another version are not read."""

Resources: TypeAlias = dict[str, float]


class ObjectFact(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """The fact that every object has.

    :param created_at: creationTimestamp.
    :param deleting_at: deletionTimestamp: request time plus grace, so often in the future.
    """

    created_at: int | None = None
    deleting_at: int | None = None
    labels: dict[str, str] = {}


class NodeFact(ObjectFact, frozen=True, array_like=True, kw_only=True, tag="n", gc=False):
    """:param ready: status of the Ready condition; empty if there is none."""

    allocatable: Resources = {}
    capacity: Resources = {}
    unschedulable: bool = False
    ready: str = ""
    roles: tuple[str, ...] = ()
    version: str = ""
    misread: bool = False


class PodFact(ObjectFact, frozen=True, array_like=True, kw_only=True, tag="p", gc=False):
    """:param status: as in kubectl's STATUS column.

    :param requests: effective request: containers, init containers at their peak, overhead.
    :param podgroup: name of its PodGroup, by annotation.
    """

    node: str = ""
    phase: str = ""
    status: str = ""
    containers: int = 0
    ready: int = 0
    restarts: int = 0
    requests: Resources = {}
    scheduler: str = ""
    podgroup: str = ""
    priority: int | None = None
    job: str = ""
    queue: str = ""
    misread: bool = False


class PodGroupFact(ObjectFact, frozen=True, array_like=True, kw_only=True, tag="g", gc=False):
    """A PodGroup of Volcano."""

    phase: str = ""
    min_member: int = 0
    queue: str = ""
    min_resources: Resources = {}
    priority_class: str = ""
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    misread: bool = False


class QueueFact(ObjectFact, frozen=True, array_like=True, kw_only=True, tag="q", gc=False):
    """A queue of Volcano; ``allocated`` and the counts come from its status."""

    weight: int = 0
    parent: str = ""
    state: str = ""
    reclaimable: bool | None = None
    capability: Resources = {}
    deserved: Resources = {}
    guarantee: Resources = {}
    allocated: Resources = {}
    pending: int = 0
    running: int = 0
    inqueue: int = 0
    unknown: int = 0
    completed: int = 0
    misread: bool = False


class JobFact(ObjectFact, frozen=True, array_like=True, kw_only=True, tag="j", gc=False):
    """A job of Volcano (batch.volcano.sh)."""

    phase: str = ""
    min_available: int = 0
    queue: str = ""
    priority_class: str = ""
    replicas: int = 0
    pending: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    terminating: int = 0
    unknown: int = 0
    misread: bool = False


class OtherFact(ObjectFact, frozen=True, array_like=True, kw_only=True, tag="o", gc=False):
    """Any other kind; ``summary`` is its table row without name and age."""

    summary: tuple[str, ...] = ()
    misread: bool = False


Fact: TypeAlias = NodeFact | PodFact | PodGroupFact | QueueFact | JobFact | OtherFact
