"""Details that a trace keeps beside its steps, about the objects that a question is about.

A step says what was compared first. Details have all of it: every queue up to the root, every node
with what it lacks, who holds what. They are kept only for the names in :attr:`.Trace.closely`, so
a session without a question pays nothing. All amounts have the units of ``TraceStep.numbers``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

Amounts = Mapping[str, float]

NOTHING: Amounts = MappingProxyType({})


class Holder(NamedTuple):
    """What one job holds in a queue, and what is reserved for it beyond that."""

    job: str
    queue: str
    allocated: Amounts
    reserved: Amounts


class QueueLevel(NamedTuple):
    """The account of one queue on the way from a job's queue to the root.

    :param compared: the name of the limit: ``realCapability`` or ``deserved``.
    :param limit: the limit; None if none was computed, and then nothing is left or exceeded.
    :param capability: what the queue's own capability names; None if it has none.
    :param wanted: what was asked for; ``left``: of each of these, the limit minus what counts
        against it.
    :param exceeded: the resources of which there is not enough.
    :param checked: whether the release checks this queue, and came to it.
    """

    queue: str
    compared: str
    limit: Amounts | None
    capability: Amounts | None
    deserved: Amounts
    guarantee: Amounts
    allocated: Amounts
    inqueue: Amounts
    elastic: Amounts
    wanted: Amounts
    left: Amounts
    exceeded: tuple[str, ...]
    checked: bool


class QueueCheck(NamedTuple):
    """What a plugin compared for a job or a task, from the queue up to the root.

    :param holders: the jobs in the first queue that is exceeded; empty if none is.
    """

    plugin: str
    permits: bool
    levels: tuple[QueueLevel, ...]
    holders: tuple[Holder, ...]


class ReservationCheck(NamedTuple):
    """What enqueued jobs reserve, compared with what all nodes together leave.

    :param factor: what the nodes' total is multiplied by; ``idle`` is that, less what is used.
    :param reserved: of all enqueued jobs, with what is wanted.
    """

    factor: float
    wanted: Amounts
    reserved: Amounts
    idle: Amounts
    exceeded: tuple[str, ...]
    holders: tuple[Holder, ...]


class TreeFault(NamedTuple):
    """Why a tree of queues is invalid.

    :param text: what the scheduler logs.
    :param what: ``capability``, ``deserved`` or ``guarantee``; empty if it is about no amount.
    :param child: the child that has more; empty if all children together have more.
    :param own: what the queue has; ``theirs``: what its children have; ``exceeded``: of what.
    """

    text: str
    what: str = ""
    queue: str = ""
    child: str = ""
    own: Amounts = NOTHING
    theirs: Amounts = NOTHING
    exceeded: tuple[str, ...] = ()


class NodeMiss(NamedTuple):
    """One node that does not take a task.

    :param missing: by resource, how much more must be free; empty if the resources suffice.
    :param free: what will be free when all that is releasing is gone.
    :param also: further reasons of filters that are not the one reported.
    """

    node: str
    missing: Amounts
    free: Amounts
    allocatable: Amounts
    also: tuple[str, ...] = ()


class NodeGroup(NamedTuple):
    """The nodes that refuse a task for the same reasons.

    :param final: no eviction on these nodes could help.
    :param nearest: those that lack least, the nearest first.
    """

    reasons: tuple[str, ...]
    final: bool
    nodes: tuple[str, ...]
    nearest: tuple[NodeMiss, ...]


class NodesChecked(NamedTuple):
    """The nodes that were checked for a task, the last time that an action did so."""

    request: Amounts
    passing: tuple[str, ...]
    groups: tuple[NodeGroup, ...]


FURTHER = "further"
"""The action of details about tasks that a session did not come to."""

HYPERNODES = "hypernodes"
"""What details about all hypernodes of a job are kept under."""


class HypernodeTry(NamedTuple):
    """A hypernode, and how many pods of a job found a place there together.

    :param nodes: how many nodes are below it. :param places: None if it was not tried.
    :param pod: the first pod without a place; ``seen``: the nodes that refused it.
    """

    name: str
    tier: int
    nodes: int
    places: int | None
    pod: str = ""
    seen: NodesChecked | None = None


class HypernodesChecked(NamedTuple):
    """The hypernodes that a job with a hard topology may be in.

    :param highest: the highest tier that it may span. :param lowest: of all; None if there is none.
    :param placed_in: the hypernode that its pods are in already; empty if they are in none.
    :param wanted: its minResources. :param room: of these, what each hypernode will have free.
    """

    highest: int
    lowest: int | None
    placed_in: str
    wanted: Amounts
    tries: tuple[HypernodeTry, ...]
    room: Mapping[str, Amounts]


class EvictionSearch(NamedTuple):
    """How far an action came that looks for victims for a task.

    :param forbidden: why the task may not evict at all; empty if it may.
    :param nodes: how many nodes evictions could make fit.
    :param candidates: how many pods could be victims before the plugins vote.
    :param promising: how many of the nodes plugins might free enough on.
    """

    forbidden: str
    nodes: int = 0
    candidates: int = 0
    promising: int = 0


class EvictionVotes(NamedTuple):
    """What plugins say of all pods that could be victims for a job, wherever these are.

    :param tiers: by tier of the configuration: by plugin, how many it chooses. Plugins without an
        opinion are left out.
    """

    tiers: tuple[Mapping[str, int], ...]


class GangCounts(NamedTuple):
    """The tasks of a job at the end of a session.

    :param least: minMember. :param ready: how many hold resources or have succeeded.
    :param waiting: how many wait for resources that become free on a node.
    :param free: how many are pending and request nothing.
    :param valid: how many are neither failed nor being deleted.
    :param statuses: how many tasks, by status.
    :param lacking: by role, (its minimum, how many are valid), if that is too few.
    :param planned: by pod, (status, node) that were planned and taken back.
    """

    least: int
    ready: int
    waiting: int
    free: int
    valid: int
    statuses: Mapping[str, int]
    lacking: Mapping[str, tuple[int, int]]
    planned: Mapping[str, tuple[str, str]]


Detail = (
    QueueCheck
    | ReservationCheck
    | TreeFault
    | NodesChecked
    | HypernodeTry
    | HypernodesChecked
    | EvictionSearch
    | EvictionVotes
    | GangCounts
    | Mapping[str, object]
)
