"""Details that a trace keeps beside its steps, about the objects that a question is about.

A step says what was compared first. Details have all of it: each queue up to the root, each node
with what it lacks, who holds what. Only names in :attr:`.Trace.closely` have them: a session
without a question pays nothing. All amounts have the units of ``TraceStep.numbers``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec

from ..reasons.objections import Objection

Amounts = Mapping[str, float]
NOTHING: Amounts = MappingProxyType({})


class QueueHolder(msgspec.Struct, frozen=True):
    """What one job holds in a queue, and what is reserved for it beyond that."""

    job: str
    queue: str
    allocated: Amounts
    reserved: Amounts


class QueueLevel(msgspec.Struct, frozen=True):
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


class QueueCheck(msgspec.Struct, frozen=True):
    """What a plugin compared for a job or a task, from the queue up to the root.

    :param holders: the jobs in the first queue that is exceeded; empty if none is.
    """

    plugin: str
    permits: bool
    levels: tuple[QueueLevel, ...]
    holders: tuple[QueueHolder, ...]


class ReservationCheck(msgspec.Struct, frozen=True):
    """What enqueued jobs reserve, compared with what all nodes together leave.

    :param factor: what the nodes' total is multiplied by; ``idle`` is that, less what is used.
    :param reserved: of all enqueued jobs, with what is wanted.
    """

    factor: float
    wanted: Amounts
    reserved: Amounts
    idle: Amounts
    exceeded: tuple[str, ...]
    holders: tuple[QueueHolder, ...]


class TreeError(StrEnum):
    """Why a tree of queues is invalid, if it is about no amount."""

    NO_PARENT = "no-parent"
    """The parent of a queue does not exist."""
    NOT_LEAF = "not-leaf"
    """A queue with queues below it has a job."""
    NO_ROOT = "no-root"
    """There is no queue ``root``."""


class TreeFault(msgspec.Struct, frozen=True):
    """Why a tree of queues is invalid.

    :param text: what the scheduler logs.
    :param what: ``capability``, ``deserved`` or ``guarantee``; empty if it is about no amount.
    :param child: the child that has more; empty if all children together have more.
    :param error: what it is about, if about no amount; ``other``: the parent, or the PodGroup.
    :param own: what the queue has; ``theirs``: what its children have; ``exceeded``: of what.
    """

    text: str
    what: str = ""
    queue: str = ""
    child: str = ""
    own: Amounts = NOTHING
    theirs: Amounts = NOTHING
    exceeded: tuple[str, ...] = ()
    error: TreeError | None = None
    other: str = ""


class NodeMiss(msgspec.Struct, frozen=True):
    """One node that does not take a task.

    :param missing: by resource, how much more must be free; empty if the resources suffice.
    :param free: what will be free when all that is releasing is gone.
    :param also: further objections of filters that are not the one reported.
    """

    node: str
    missing: Amounts
    free: Amounts
    allocatable: Amounts
    also: tuple[Objection, ...] = ()


class RefusingNodes(msgspec.Struct, frozen=True):
    """The nodes that refuse a task for the same reasons.

    :param reasons: as the filters gave them, without what the release puts around them.
    :param final: no eviction on these nodes could help.
    :param nearest: those that lack least, the nearest first.
    :param of: the pod of the same job, of another kind, for which that was found; empty if it was
        found for the task itself.
    """

    reasons: tuple[Objection, ...]
    final: bool
    nodes: tuple[str, ...]
    nearest: tuple[NodeMiss, ...]
    of: str = ""

    @property
    def objections(self) -> tuple[Objection, ...]:
        """The reasons, and the further ones of the nearest nodes."""
        return (*self.reasons, *(objection for near in self.nearest for objection in near.also))


class NodesChecked(msgspec.Struct, frozen=True):
    """The nodes that were checked for a task, the last time that an action did so."""

    request: Amounts
    passing: tuple[str, ...]
    groups: tuple[RefusingNodes, ...]


class UnreadCards(StrEnum):
    """Why a scheduler reads no cards of a node."""

    NO_ANNOTATION = "no-annotation"
    """An annotation is missing."""
    NO_RESOURCE = "no-resource"
    """A resource is not allocatable."""
    TOO_FEW_FIELDS = "too-few-fields"
    """A card of the annotation has too few fields."""
    NO_CARD = "no-card"
    """The annotation names no card."""
    SILENT = "silent"
    """The agent does not answer the handshake."""


class Unregistered(msgspec.Struct, frozen=True):
    """Why a scheduler reads no cards of a node.

    :param about: the annotation or the resource. :param value: the text that was read: of one card,
        or of the annotation. :param has, needs: how many fields a card has, and how many it needs.
    """

    why: UnreadCards
    about: str
    value: str = ""
    has: int = 0
    needs: int = 0


class PluginRefusal(StrEnum):
    """Why a plugin refuses a job, a task or a queue without comparing amounts of its account."""

    NOT_OPEN = "not-open"
    """The queue is not open."""
    NOT_LEAF = "not-leaf"
    """The queue has queues below it."""
    UNSOUND = "unsound"
    """The tree of queues is invalid."""


REFUSED = "refused"
"""The name of a refusal among the numbers of a step."""


class QuotaCheck(msgspec.Struct, frozen=True):
    """What a PodGroup wants of a ResourceQuota that has too little left.

    :param wanted, used, hard: as the objects write them, of the resources that are exceeded.
    :param permitted: how much this session gave to other PodGroups; cpu and the like in
        thousandths.
    """

    quota: str
    wanted: Mapping[str, str]
    used: Mapping[str, str]
    hard: Mapping[str, str]
    permitted: Amounts


class Unprepared(msgspec.Struct, frozen=True):
    """A filter that could not be prepared for a task: then no node is checked.

    :param by: the filter. :param message: its error.
    """

    by: str
    message: str


class SkippedTask(msgspec.Struct, frozen=True):
    """A task that is checked with no node, as one of its role fitted none before."""

    role: str


FURTHER = "further"
"""The action of details about tasks that a session did not come to."""
HYPERNODES = "hypernodes"
"""What details about all hypernodes of a job are kept under."""


class HypernodeTry(msgspec.Struct, frozen=True):
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


class HypernodeRoom(msgspec.Struct, frozen=True):
    """What a hypernode has free when a session begins, with what pods that leave free."""

    free: Amounts


class HypernodesChecked(msgspec.Struct, frozen=True):
    """The hypernodes that a job with a hard topology may be in.

    :param highest: the highest tier that it may span. :param lowest: of all; None if there is none.
    :param placed_in: the hypernode that its pods are in already; empty if they are in none.
    :param wanted: its minResources. :param room: what each hypernode has free of these when it is
        compared: in newer releases when the session begins, else at its end.
    """

    highest: int
    lowest: int | None
    placed_in: str
    wanted: Amounts
    tries: tuple[HypernodeTry, ...]
    room: Mapping[str, Amounts]


class Gate(StrEnum):
    """Why an action looks for no victims for a pod."""

    NOT_ENQUEUED = "not-enqueued"
    """The PodGroup is Pending: only enqueued jobs get that far."""
    INVALID = "invalid"
    """A plugin finds the job invalid, as one whose gang lacks pods."""
    STARVES_NOT = "starves-not"
    """The plugins do not count the job as starving."""
    OVERUSED = "overused"
    """A plugin counts the queue as overused."""
    MAY_NOT_RECLAIM = "may-not-reclaim"
    """A plugin does not let the queue reclaim for the pod (``Preemptive``)."""
    NOT_ALLOCATABLE = "not-allocatable"
    """A plugin does not let the queue take the pod (``Allocatable``)."""
    POLICY = "policy"
    """The pod's preemptionPolicy is Never."""
    NOMINATED = "nominated"
    """The pod waits for the node that it is nominated for."""
    UNPREPARED = "unprepared"
    """The filters could not be prepared for the pod."""
    TOPOLOGY = "topology"
    """The release preempts for no job with a network topology."""


class Gated(msgspec.Struct, frozen=True):
    """What kept an action from looking for victims.

    :param by: the plugin that decided, if one did. :param about: for which pod or node: of several
        pods, the first.
    :param numbers: what was compared, as in steps of a trace. :param pods: for how many pods.
    """

    gate: Gate
    by: str = ""
    about: str = ""
    numbers: Mapping[str, object] = MappingProxyType({})
    pods: int = 1


class Spares(StrEnum):
    """What a plugin compared when it let a candidate stay."""

    PRIORITY = "priority"
    """The job (in one's own job: the pod) has no lower priority."""
    MIN_MEMBER = "min-member"
    """Its gang has no more pods than minMember."""
    NAMESPACE = "namespace"
    """It is in ``kube-system``."""
    CRITICAL = "critical"
    """Its PriorityClass is one of the cluster's critical ones."""
    NO_LABELS = "no-labels"
    """It has no labels, so no budget could count it."""
    BUDGET = "budget"
    """A PodDisruptionBudget allows no more disruptions."""
    WITHIN_DESERVED = "within-deserved"
    """Its queue holds no more than it deserves."""
    LESS_THAN_ASKED = "less-than-asked"
    """Its queue holds less of something than the pod requests that looks for victims."""
    GUARANTEE = "guarantee"
    """Without it, its queue would hold less than its guarantee."""
    OTHER_RESOURCES = "other-resources"
    """It holds nothing of what the pod requests that looks for victims."""
    RELATED = "related"
    """Its queue deserves nothing of what it holds, and has an ancestor in common."""
    UNSOUND = "unsound"
    """The tree of queues is invalid."""
    SHARE = "share"
    """Without it, its job has a smaller share than this one would have."""
    ORDER = "order"
    """Without it, its queue comes before this one in the order of shares."""
    COOLING = "cooling"
    """Its cool-down after placement has not ended."""
    REVOCABLE = "revocable"
    """The pod that looks for victims is itself preemptable or revocable."""
    REVOCABLE_NODE = "revocable-node"
    """It is on a node of a revocable zone."""
    EVICTED_AT_ONCE = "evicted-at-once"
    """So many pods of its job may be evicted at once, and others are."""
    EXTENDER = "extender"
    """The extender does not name it."""


class Spared(msgspec.Struct):
    """Candidates that a plugin let stay for one reason.

    :param about: whose numbers they are: a job, a queue, a budget, a class or a namespace.
    :param pods: how many candidates, counted while the vote is explained.
    :param has, limit: the two sides of the comparison of the first of them; amounts of resources,
        or one number under an empty name.
    """

    spares: Spares
    about: str
    pods: int
    has: Amounts = NOTHING
    limit: Amounts = NOTHING


class VictimTrial(StrEnum):
    """What came of a node on which victims were looked for."""

    REFUSED = "refused"
    """The filters refuse the node, and evictions do not change that."""
    TOO_LITTLE = "too-little"
    """With all pods gone that may go, the node has too little room."""
    KEPT_OUT = "kept-out"
    """With all of them gone, the queue or a filter still does not take the pod."""
    EVICTED = "evicted"
    """Pods were evicted, and what they held is less than the pod requests."""


class TriedNode(msgspec.Struct, frozen=True):
    """A node on which victims were looked for in vain.

    :param victims: how many pods may go there. :param request, room: what the pod requests, and
        what the node would have with them gone (EVICTED: what those evicted held).
    """

    trial: VictimTrial
    node: str
    victims: int
    request: Amounts
    room: Amounts

    @property
    def lacks(self) -> float:
        """The sum of the parts of each requested resource that would be missing."""
        parts = (
            max(0.0, much - self.room.get(name, 0.0)) / much
            for name, much in self.request.items()
            if much > 0
        )
        return sum(parts)


class EvictionTrials(msgspec.Struct, frozen=True):
    """The nodes on which an action looked for victims for a task in vain.

    :param counts: how many nodes, by outcome. :param nearest: by outcome, the one that lacks least.
    """

    counts: Mapping[VictimTrial, int]
    nearest: Mapping[VictimTrial, TriedNode]


class EvictionSearch(msgspec.Struct, frozen=True):
    """How far an action came that looks for victims for a task.

    :param gated: why the task may not evict at all; None if it may.
    :param nodes: how many nodes evictions could make fit.
    :param candidates: how many pods could be victims before the plugins vote.
    :param promising: how many of the nodes plugins might free enough on.
    """

    gated: Gated | None
    nodes: int = 0
    candidates: int = 0
    promising: int = 0


class EvictionVotes(msgspec.Struct, frozen=True):
    """What plugins say of all pods that could be victims for a task, wherever these are.

    :param tiers: by tier of the configuration: by plugin, how many it chooses. Plugins without an
        opinion are left out.
    :param staying: by plugin, why it chooses no others.
    :param agreed: how many all plugins of a tier choose, in the first tier that has any.
    :param at: the class of the task, and how many changes of nodes came before.
    """

    tiers: tuple[Mapping[str, int], ...]
    staying: Mapping[str, tuple[Spared, ...]] = MappingProxyType({})
    agreed: int = 0
    at: tuple[int, int] = (0, 0)


class GangCounts(msgspec.Struct, frozen=True):
    """The tasks of a job at the end of a session.

    :param least: minMember. :param ready: how many hold resources or have succeeded.
    :param waiting: how many wait for resources that become free on a node.
    :param free: how many are pending and request nothing.
    :param valid: how many are neither failed nor being deleted.
    :param statuses: how many tasks, by status.
    :param lacking: by role, (its minimum, how many are valid), if that is too few.
    :param planned: by pod, (status, node) that were planned and taken back.
    :param message: what the session writes of the gang.
    """

    least: int
    ready: int
    waiting: int
    free: int
    valid: int
    statuses: Mapping[str, int]
    lacking: Mapping[str, tuple[int, int]]
    planned: Mapping[str, tuple[str, str]]
    message: str = ""


class CheckState(StrEnum):
    """What came of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not-reached"
    """An earlier check failed, or the session did not come to the object."""
    NOT_KNOWN = "not-known"
    """It was made, and its result is not kept apart from that of others."""
    IGNORED = "ignored"
    """The filter refuses the node, and the release does not count that."""


class FilterName(msgspec.Struct, frozen=True):
    """A filter. :param plugin: empty if actions compare it, as they do resources."""

    plugin: str
    name: str


class FilterCell(msgspec.Struct, frozen=True):
    """What a filter says of a node. :param objections: of a filter that refuses it."""

    state: CheckState
    objections: tuple[Objection, ...] = ()


class CheckedNode(msgspec.Struct, frozen=True):
    """A node that was checked for a task.

    :param miss: what it lacks, and what will be free. :param idle: what is free now.
    :param pattern: the place of its cells in :attr:`FilterTable.patterns`.
    :param reasons: why it refuses the task, as the session goes on with it; empty if it takes it.
    :param final: and ``of``: as in :class:`RefusingNodes`.
    """

    miss: NodeMiss
    idle: Amounts
    pattern: int
    reasons: tuple[Objection, ...] = ()
    final: bool = False
    of: str = ""


class FilterTable(msgspec.Struct, frozen=True):
    """What each filter says of each node, the last time that an action checked them for a task.

    :param filters: in the order in which they run. :param silent: those with nothing to check.
    :param patterns: the different rows of cells, one cell a filter.
    """

    filters: tuple[FilterName, ...]
    silent: tuple[FilterName, ...]
    patterns: tuple[tuple[FilterCell, ...], ...]
    nodes: tuple[CheckedNode, ...]


class JobTurn(msgspec.Struct, frozen=True):
    """When allocate came to a job first.

    :param before: the jobs to which it came before, in that order.
    :param step: how many steps the trace had by then.
    """

    queue: str
    before: tuple[str, ...]
    step: int


class RegisteredPlugins(msgspec.Struct, frozen=True):
    """The plugins that have a say at each extension point, in their order, by tier."""

    by_point: Mapping[str, tuple[tuple[str, ...], ...]]


class ShareStep(StrEnum):
    """What led from one amount to the next while it was worked out what a queue deserves."""

    WRITTEN = "written"
    """What the queue's spec says."""
    GRANTED = "granted"
    """What the queue's parent has for it."""
    PART = "part"
    """Its part of what remains, by weight, is added."""
    LIMIT = "limit"
    """It may not use more."""
    REQUEST = "request"
    """Its jobs request no more."""
    GUARANTEE = "guarantee"
    """It is guaranteed as much."""
    NODES = "nodes"
    """All that nodes have, as it is the root."""
    CHILDREN = "children"
    """What its children deserve together, as it is the root."""


class DeservedStep(msgspec.Struct, frozen=True):
    """What a queue deserved after a step."""

    step: ShareStep
    amounts: Amounts


class DivisionRound(msgspec.Struct, frozen=True):
    """One round of a division, for one queue.

    :param number: from 1. :param remaining: what the queues of this round divided.
    :param weights: of all these queues together. :param part: what this queue got of it, by weight.
    :param steps: PART, with what it deserved before; then its bounds; the last is the result.
    :param met: it deserves all that it requests. :param unchanged: the round changed nothing for
        it. Both end the division for this queue.
    """

    number: int
    remaining: Amounts
    weights: int
    part: Amounts
    steps: tuple[DeservedStep, ...]
    met: bool
    unchanged: bool


class LimitBasis(msgspec.Struct, frozen=True):
    """What the limit of a queue is made of: max(total − guarantees, 0) + its own guarantee.

    :param total: what all nodes have, or what its parent may use.
    :param guarantees: of all queues together; below a parent, of its children.
    :param capability: what bounds it beside that; None if nothing does.
    """

    total: Amounts
    guarantees: Amounts
    capability: Amounts | None


class OpenedAccount(msgspec.Struct, frozen=True):
    """A plugin's account of a queue as the session opens.

    :param limit: what it may use at most; None if none was computed. :param basis: what that is
        made of; None for the root.
    :param request: what its jobs hold and ask for. :param share: by which queues are ordered.
    :param steps: how ``capacity`` came to what the queue deserves. :param rounds: how
        ``proportion`` did.
    :param parent: the queue above it; empty where queues form no tree. :param children: below it.
    """

    plugin: str
    queue: str
    limit: Amounts | None
    basis: LimitBasis | None
    guarantee: Amounts
    deserved: Amounts
    request: Amounts
    allocated: Amounts
    inqueue: Amounts
    elastic: Amounts
    share: float
    steps: tuple[DeservedStep, ...] = ()
    rounds: tuple[DivisionRound, ...] = ()
    parent: str = ""
    children: tuple[str, ...] = ()


class QueueDivision(msgspec.Struct, frozen=True):
    """How ``proportion`` divided what all nodes have.

    :param remaining: what was left before each round; the last is what no queue got.
    """

    total: Amounts
    remaining: tuple[Amounts, ...]


class ReclaimedQueue(msgspec.Struct, frozen=True):
    """What a pod could reclaim from one queue.

    :param candidates: how many of its pods run, and are preemptable.
    :param by_plugin: by plugin, how many of these it chooses. :param chosen: how many all plugins
        choose together, and what these request.
    """

    queue: str
    candidates: int
    by_plugin: Mapping[str, int]
    chosen: int
    amounts: Amounts


class ReclaimOutlook(msgspec.Struct, frozen=True):
    """What the first pod of a queue that may evict could reclaim, as the session opens.

    :param pod: and ``job``: whose; both are empty if no job of the queue has pods that wait.
    :param request: what the pod requests.
    :param gated: why the action ``reclaim`` looks for no victims for it; None if it does.
    :param queues: the others from which it could reclaim, those without candidates left out.
    """

    pod: str
    job: str
    request: Amounts
    gated: Gated | None = None
    queues: tuple[ReclaimedQueue, ...] = ()


Detail = (
    QueueCheck
    | ReservationCheck
    | QuotaCheck
    | SkippedTask
    | TreeFault
    | Unprepared
    | Unregistered
    | NodesChecked
    | FilterTable
    | JobTurn
    | RegisteredPlugins
    | HypernodeRoom
    | HypernodeTry
    | HypernodesChecked
    | EvictionSearch
    | EvictionTrials
    | EvictionVotes
    | Gated
    | GangCounts
    | OpenedAccount
    | QueueDivision
    | ReclaimOutlook
    | Mapping[str, object]
)
