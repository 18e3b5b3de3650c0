"""What an answer is made of: frozen records that every output form shows, and none changes.

Amounts are texts as Kubernetes writes them. A reason has its sentence in ``text``; its other fields
have the numbers of that sentence, and more.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..tabular.record_columns import Amounts
from .dated import Dated


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question: about which object, at which moment, and for which scheduler.

    :param kind: ``pod``, ``job``, ``podgroup``, ``queue`` or ``node``.
    :param name: with its namespace before it, unless the kind has none.
    :param at: the moment, as printed; ``revision`` is None at the end of a log.
    :param conf: the source of the scheduler's configuration.
    :param assumed: what was assumed, as sentences: a release or a configuration.
    """

    kind: str
    name: str
    at: str
    revision: int | None
    release: str
    conf: str
    assumed: tuple[str, ...] = ()


class Evidence(Dated, frozen=True, kw_only=True):
    """An event that an answer rests on.

    :param position: in the log. :param by: who caused it, as far as the log says.
    :param time: as tables print it; of its bounds ``earliest`` and ``latest``, and of the
        ``estimate``, microseconds.
    """

    position: int
    revision: int | None
    kind: str
    about: str
    by: str = ""

    @property
    def place(self) -> str:
        """Its time and its position; the position alone if nothing says when it was."""
        return f"{self.when} (@{self.position})" if self.when else f"@{self.position}"

    @property
    def is_creation(self) -> bool:
        """Whether the object came into being with it; it may be older than another first event."""
        return self.kind.endswith(".created")


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue has and holds, as a plugin compared it.

    :param compared: the name of the limit that was compared, ``realCapability`` or ``deserved``.
    :param limit: empty if none was computed, as while the tree of queues is invalid.
    :param left: of each wanted resource, what the limit leaves beside all else that counts.
    :param exceeded: the resources of which there is not enough.
    :param checked: whether the release checks this queue, and came to it.
    """

    queue: str
    compared: str
    limit: Amounts
    capability: Amounts
    deserved: Amounts
    guarantee: Amounts
    allocated: Amounts
    inqueue: Amounts
    elastic: Amounts
    wanted: Amounts
    left: Amounts
    exceeded: tuple[str, ...]
    checked: bool


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a job holds in a queue, and what is reserved for it beyond that."""

    job: str
    podgroup: str
    queue: str
    allocated: Amounts
    reserved: Amounts


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """One node that does not take a pod.

    :param missing: by resource, how much more must be free. :param also: further reasons.
    """

    node: str
    missing: Amounts
    free: Amounts
    allocatable: Amounts
    also: tuple[str, ...] = ()


class NodeReason(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that refuse a pod for the same reasons.

    :param reasons: in the words of the scheduler's filters, ``codes`` in any release the same.
    :param of: the other pod of the job for which that was found and used for this one, too;
        ``behaviour``: the one that makes the release do so, empty if all do.
    :param nearest: a few of them, those that lack least first; no eviction helps if ``final``.
    :param lacks: the resources of which the reasons say that there is too little.
    """

    reasons: tuple[str, ...]
    text: str
    final: bool
    nodes: tuple[str, ...]
    nearest: tuple[Miss, ...]
    of: str = ""
    behaviour: str = ""
    codes: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


class Reason(msgspec.Struct, frozen=True, kw_only=True, tag_field="reason"):
    """One link of the chain of reasons.

    :param text: its sentence.
    :param blocks: it keeps the object waiting; the sentence has all such links.
    """

    text: str
    blocks: bool = False


class PodState(Reason, frozen=True, kw_only=True, tag="pod"):
    """The pod itself, as the API server held it."""

    phase: str
    node: str
    scheduler: str
    gates: tuple[str, ...] = ()
    request: Amounts = {}


class PodGroupState(Reason, frozen=True, kw_only=True, tag="podgroup"):
    """The PodGroup: whether it exists, and how far it has come."""

    podgroup: str
    exists: bool
    phase: str = ""
    queue: str = ""
    min_member: int = 0
    min_resources: Amounts = {}


class QueueState(Reason, frozen=True, kw_only=True, tag="queue-state"):
    """The queue: whether it exists, and is open."""

    queue: str
    exists: bool
    state: str = ""
    parent: str = ""


class QueuePath(Reason, frozen=True, kw_only=True, tag="queue"):
    """A plugin's check of a queue and the queues above it, from leaf to root.

    :param action: the action of the session. :param point: what was checked: enqueueing a job
        (``JobEnqueueable``), placing a task (``Allocatable``), or whether the queue is
        ``Overused``.
    :param holders: the jobs in the first queue that is exceeded.
    """

    action: str
    point: str
    plugin: str
    permits: bool
    accounts: tuple[Account, ...]
    holders: tuple[Held, ...] = ()


class QueueTree(Reason, frozen=True, kw_only=True, tag="tree"):
    """The tree of queues is invalid.

    :param what: ``capability``, ``deserved`` or ``guarantee``; empty if no amount is wrong.
    :param log: what the scheduler logs.
    """

    log: str
    what: str = ""
    queue: str = ""
    child: str = ""
    own: Amounts = {}
    theirs: Amounts = {}
    exceeded: tuple[str, ...] = ()


class Overcommitted(Reason, frozen=True, kw_only=True, tag="overcommit"):
    """Jobs that are enqueued would reserve more than the cluster's nodes, times a factor, have."""

    wanted: Amounts
    reserved: Amounts
    idle: Amounts
    exceeded: tuple[str, ...]
    holders: tuple[Held, ...] = ()


class Refusal(Reason, frozen=True, kw_only=True, tag="refusal"):
    """A plugin refuses, with its own message."""

    action: str
    point: str
    plugin: str
    message: str


class Gang(Reason, frozen=True, kw_only=True, tag="gang"):
    """The pods of a job, by status, and how many it needs together.

    :param least: minMember. :param ready: how many hold resources or have succeeded.
    :param valid: how many are neither failed nor being deleted.
    :param planned: by pod, the node that the session planned and took back.
    :param lacking: by role, its minimum and how many valid pods it has.
    """

    least: int
    ready: int
    waiting: int
    valid: int
    statuses: dict[str, int]
    planned: dict[str, str] = {}
    lacking: dict[str, tuple[int, int]] = {}


class Nodes(Reason, frozen=True, kw_only=True, tag="nodes"):
    """The nodes that were checked for a pod.

    :param skipped: nodes that sessions do not see, with the reason.
    """

    pod: str
    request: Amounts
    passing: tuple[str, ...]
    groups: tuple[NodeReason, ...]
    skipped: dict[str, str] = {}


class Hypernode(msgspec.Struct, frozen=True, kw_only=True):
    """A hypernode that a job may be in.

    :param nodes: how many are below it.
    :param places: how many of the job's pods found a place there together; None: it was not tried.
    :param room: what its nodes will have free of the job's minResources.
    """

    name: str
    tier: int
    nodes: int
    places: int | None
    room: Amounts = {}


class Hypernodes(Reason, frozen=True, kw_only=True, tag="hypernodes"):
    """The hypernodes that a job with a hard topology may be in.

    :param highest: the highest tier that it may span.
    :param placed_in: the hypernode of the pods that it has; empty if they are in none.
    :param least: how many more pods it needs at once. :param wanted: its minResources.
    """

    highest: int
    placed_in: str
    least: int
    wanted: Amounts
    tried: tuple[Hypernode, ...]


class Score(Reason, frozen=True, kw_only=True, tag="scores"):
    """The best scores of nodes for a pod."""

    pod: str
    scores: dict[str, float]


class Placement(Reason, frozen=True, kw_only=True, tag="placement"):
    """What the session decides for a pod: ``bind``, ``pipeline`` or ``evict``."""

    pod: str
    decision: str
    node: str


class Stay(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that a plugin does not let an action evict.

    :param reason: its code. :param about: whose numbers these are: a job, a queue, a budget.
    :param pods: how many. :param has, limit: the two sides of the comparison; a number that is no
        amount of a resource has an empty name.
    """

    plugin: str
    reason: str
    about: str
    pods: int
    has: Amounts = {}
    limit: Amounts = {}


class EvictionNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node on which an action looked for victims in vain.

    :param outcome: what came of it, as a code. :param victims: how many pods may go there.
    :param request, room: what the pod requests, and what would be free.
    """

    outcome: str
    node: str
    victims: int
    request: Amounts
    room: Amounts


class EvictionTry(Reason, frozen=True, kw_only=True, tag="eviction"):
    """Whether an action that evicts looked for victims for a pod, and what it found.

    :param gate: why it did not look for any, as a code; ``by``: the plugin that decided that.
    :param compared: what that plugin compared.
    :param room: for how many pods of its gang evictions make room, which the session takes back.
    :param votes: by plugin, how many victims it chose at most on a node.
    :param stays: why plugins let candidates stay.
    :param nearest: by what came of them, the nodes that lack least.
    """

    action: str
    pod: str
    tried: bool
    gate: str = ""
    by: str = ""
    compared: dict[str, Any] = {}
    nodes: int = 0
    candidates: int = 0
    room: int = 0
    votes: dict[str, int] = {}
    stays: tuple[Stay, ...] = ()
    nearest: tuple[EvictionNode, ...] = ()


class Drifted(Reason, frozen=True, kw_only=True, tag="drift"):
    """A difference between the API server and the scheduler's cache that matters here.

    :param since: position of the event that caused it; 0 if it was not searched.
    """

    kind: str
    name: str
    field: str
    truth: str | None
    belief: str | None
    since: int = 0


class Recorded(Reason, frozen=True, kw_only=True, tag="recorded"):
    """What the cluster recorded of the object: in a condition, or in an Event.

    :param time: as text; of an Event without a time, between which times it was recorded.
    :param event_reason: of an Event; empty for a condition, which the scheduler wrote.
    """

    about: str
    message: str
    time: str = ""
    event_reason: str = ""


class Crash(Reason, frozen=True, kw_only=True, tag="panic"):
    """The scheduler of this release panics in the session, or before it can run one.

    :param during: what it does with which object, if it panics outside of the session's actions.
    """

    message: str
    place: tuple[str, ...]
    during: str = ""


class NodeState(Reason, frozen=True, kw_only=True, tag="node"):
    """A node in the scheduler's cache.

    :param state: why sessions skip it; else ``Ready``, ``NotReady`` or ``Unknown``, as in kubectl.
    """

    state: str
    unschedulable: bool
    taints: tuple[str, ...]
    allocatable: Amounts
    used: Amounts
    idle: Amounts
    pods: int


class Waiting(Reason, frozen=True, kw_only=True, tag="waiting"):
    """Jobs that wait in a queue, or pods that a node does not take."""

    names: tuple[str, ...]


class Note(Reason, frozen=True, kw_only=True, tag="note"):
    """A remark without numbers."""


Link = (
    PodState
    | PodGroupState
    | QueueState
    | QueuePath
    | QueueTree
    | Overcommitted
    | Refusal
    | Gang
    | Nodes
    | Hypernodes
    | Score
    | Placement
    | EvictionTry
    | Drifted
    | Recorded
    | Crash
    | NodeState
    | Waiting
    | Note
)
