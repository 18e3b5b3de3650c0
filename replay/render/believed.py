"""A scheduler's cache as plain data: nodes, jobs, tasks, queues, hypernodes, work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import msgspec

from ...engine.cache.cache import SchedulerCache
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import shown_as
from ..tabular.record_columns import AmountColumns
from ..tabular.tabular import Tabular
from .belief import documents_of

Part = TypeVar("Part")


class BelievedNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A node in the scheduler's cache.

    :param state: ``Ready``, or why sessions skip it.
    :param out_of_sync: resources of which more is used than exists.
    :param pods: the status of the task of each pod on it, by ``namespace/name``.
    """

    name: str
    state: str
    allocatable: AmountColumns
    used: AmountColumns
    idle: AmountColumns
    releasing: AmountColumns
    out_of_sync: list[str]
    pods: dict[str, str]


class BelievedJob(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A job in the scheduler's cache: a PodGroup and the tasks that are its pods.

    :param job: ``namespace/name``.
    :param pod_group: the uid of its PodGroup; None if pods name one that the cache does not have.
    :param seen: ``yes`` if sessions see it, else why they do not.
    :param tasks: the number of tasks, by status.
    """

    job: str
    pod_group: str | None
    resource_version: str | None
    phase: str | None
    queue: str
    seen: str
    min_available: int
    priority: int
    tasks: dict[str, int]
    allocated: AmountColumns


class BelievedTask(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A task in the scheduler's cache, which is a pod.

    :param task: the pod, ``namespace/name``.
    """

    task: str
    uid: str
    job: str | None
    status: str
    node: str | None
    priority: int
    request: AmountColumns


class BelievedQueue(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A queue in the scheduler's cache.

    :param jobs: the number of jobs in it.
    """

    name: str
    state: str
    weight: int
    parent: str | None
    reclaimable: bool
    allocated: AmountColumns
    resource_version: str
    jobs: int


class BelievedHyperNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A hypernode in the scheduler's cache.

    :param nodes: the nodes below it. :param ready: whether the tree could be built.
    """

    name: str
    tier: int
    parent: str | None
    nodes: list[str]
    ready: bool


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """An item that a worker of the cache still has to do.

    :param worker: ``nodes``, ``hypernodes``, ``cleanup`` or ``resync``.
    """

    worker: str
    item: str
    state: str


class BeliefDocument(msgspec.Struct, frozen=True, kw_only=True):
    """All parts of the cache. :param panic: the one that leaves no session to run, if there is."""

    nodes: list[BelievedNode]
    jobs: list[BelievedJob]
    tasks: list[BelievedTask]
    queues: list[BelievedQueue]
    hypernodes: list[BelievedHyperNode]
    work: list[Waiting]
    panic: str | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True)
class Belief(Tabular):
    """The cache of a release's scheduler at a moment.

    Each part is computed when it is first used, in the order of names.

    :param at: the moment, as printed.
    :param cache: the scheduler's cache itself, which may change between releases of Plinian.
    """

    at: str
    release: str
    cache: SchedulerCache

    @property
    def panic(self) -> str:
        """The panic that leaves no session to run here, with its place; empty if there is none."""
        return "" if self.cache.crash is None else str(self.cache.crash)

    @property
    def document(self) -> BeliefDocument:
        """What answers show of it."""
        return shown_as(BeliefDocument, self, panic=self.panic or msgspec.UNSET)

    @cached_property
    def nodes(self) -> list[BelievedNode]:
        """The nodes."""
        return self._part("nodes", BelievedNode)

    @cached_property
    def jobs(self) -> list[BelievedJob]:
        """The jobs."""
        return self._part("jobs", BelievedJob)

    @cached_property
    def tasks(self) -> list[BelievedTask]:
        """The tasks, of jobs and on nodes."""
        return self._part("tasks", BelievedTask)

    @cached_property
    def queues(self) -> list[BelievedQueue]:
        """The queues."""
        return self._part("queues", BelievedQueue)

    @cached_property
    def hypernodes(self) -> list[BelievedHyperNode]:
        """The hypernodes."""
        return self._part("hypernodes", BelievedHyperNode)

    @cached_property
    def work(self) -> list[Waiting]:
        """What the cache's workers still have to do."""
        return self._part("work", Waiting)

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return all parts as tables."""
        return {
            "nodes": table_of(BelievedNode, self.nodes),
            "jobs": table_of(BelievedJob, self.jobs),
            "tasks": table_of(BelievedTask, self.tasks),
            "queues": table_of(BelievedQueue, self.queues),
            "hypernodes": table_of(BelievedHyperNode, self.hypernodes),
            "work": table_of(Waiting, self.work),
        }

    def _part(self, name: str, kind: type[Part]) -> list[Part]:
        return [msgspec.convert(one, kind) for one in documents_of(self.cache, name)]
