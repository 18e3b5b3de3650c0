"""The values of effects that come in more than two kinds: each says what an operator sees.

See :mod:`.behaviours` for the record that holds them.
"""

from __future__ import annotations

from enum import StrEnum


class UnknownAction(StrEnum):
    """What becomes of a configuration that names an action which does not exist."""

    REJECTS_AS_IGNORED = "rejects, and says that it ignores it"
    """The whole configuration is refused, though the error says that the action is ignored."""
    REJECTS = "rejects"
    """The whole configuration is refused; the one before stays in force."""
    IGNORED = "ignored"
    """An error is logged, and the other actions run."""


class RunningWhen(StrEnum):
    """Which tasks make a PodGroup Running, if there are as many as its minMember."""

    PLACED_OR_SUCCEEDED = "placed or succeeded"
    """Those that hold resources, and those that succeeded; failed ones do not count."""
    PLACED = "placed"
    """Those that hold resources, also if this session gave them, and completed ones."""
    BOUND = "bound"
    """Those that are bound, run or are completed: a group bound now is Running a session later."""


class RootQueueSpec(StrEnum):
    """What a session writes into the root queue's spec."""

    TOTAL = "total"
    """``deserved`` is all that the cluster has, ``guarantee`` the sum of queues' guarantees."""
    DESERVED = "deserved"
    """Both are what the capacity plugin took for them; nothing without its hierarchy."""
    KEPT = "kept"
    """Nothing: it stays as it is."""


class QueueStatusCounts(StrEnum):
    """Which tasks a queue's ``status.allocated`` counts."""

    HOLDING = "holding"
    """All that hold resources: also those that are about to be bound."""
    RUNNING = "running"
    """Those that run."""


class Elastic(StrEnum):
    """What a job holds beyond its minResources, and could give back."""

    ALL_OR_NOTHING = "all or nothing"
    """What is beyond, if it is so of every resource; else nothing."""
    EACH = "each"
    """Of every resource what is beyond."""


class ReclaimingJobs(StrEnum):
    """Whose pods ``reclaim`` evicts others for."""

    PENDING = "pending"
    """Those of any job that has pending tasks."""
    STARVING = "starving"
    """Those of jobs that have less than their minimum."""


class Filtering(StrEnum):
    """How long a node is asked about once it was turned down."""

    ALL = "all"
    """All filters are asked, and none is told: a node takes the pod or does not."""
    FIRST_FAULT = "first fault"
    """The first filter that turns it down ends the asking, and is named in the reason. That a node
    has all the pods it may have comes before all filters, and evicting does not help."""
    FIRST_REASON = "first reason"
    """The first filter that turns it down ends the asking. That a node has all the pods it may have
    is told, but alone it is no reason."""
    FIRST_ERROR = "first error"
    """The first filter that turns it down ends the asking, and is named in the reason. That a node
    has all the pods it may have is a reason if no filter has one."""
    CURABLE_GO_ON = "curable go on"
    """Only what eviction cannot cure ends the asking."""


class Comparison(StrEnum):
    """What is compared when a queue, or the cluster, is to take a pod or a job."""

    EVERYTHING = "everything"
    """All resources: what is short of one takes nobody."""
    REQUESTED = "requested"
    """Those that are asked for."""


class Nomination(StrEnum):
    """Which pods are nominated for a node."""

    NEVER = "never"
    """None."""
    PIPELINED = "pipelined"
    """All that are pipelined, and no other any longer."""
    EVICTED = "evicted"
    """Pipelined ones for which others were evicted."""


class JobRequeue(StrEnum):
    """When ``allocate`` puts a job back that still has tasks to place."""

    IF_READY = "if ready"
    """If it is ready; one that is not has had its turn."""
    ALWAYS = "always"
    """Whenever tasks are left, though those that were tried are not among them."""
    IF_COMMITTED = "if committed"
    """If it is ready after its turn, whatever its last task came to."""


class NoBestNode(StrEnum):
    """What ``allocate`` does with a task for which no node has a score above the lowest."""

    CRASHES = "crashes"
    """The scheduler crashes."""
    SKIPS = "skips"
    """The task is passed over."""


class BackfillFailure(StrEnum):
    """How ``backfill`` goes on after a task that no node takes."""

    UNPREPARED_ENDS_JOB = "unprepared ends job"
    """With the next task; with the next job, if filters cannot be prepared for the task."""
    ENDS_JOB = "ends job"
    """With the next job; and where one of its tasks failed, no other of its role is tried."""
    ENDS_ACTION = "ends action"
    """Not at all: whatever comes after it stays pending."""
    CONTINUES = "continues"
    """With the next task."""


class FailedPipelining(StrEnum):
    """What becomes of a task that a plugin objects to being pipelined, or that cannot be bound."""

    UNHEEDED = "unheeded"
    """It is pipelined, and what cannot be bound keeps its place until the session ends."""
    UNNOTICED = "unnoticed"
    """Nobody hears of it: the task is pipelined. From here on, what cannot be bound goes back."""
    UNDONE = "undone"
    """It is taken back."""
    LEFT = "left"
    """In ``allocate`` it stays where it is, but nothing takes it back with the rest of its job."""


class SharedDevices(StrEnum):
    """How ``deviceshare`` keeps accounts, and what it tells; each goes on from the one before."""

    ERRORS_TOLD = "errors told"
    """A pod is told the error of a node that turns it down, as it is. Cards are shared alike; one
    of which more is used than it has takes whatever is asked for."""
    FAULTS_TOLD = "faults told"
    """It is told which kind of device it was, too."""
    FAULTS_UNTOLD = "faults untold"
    """It is not told why virtual GPUs turn it down. They have modes."""
    LATE = "late"
    """A process knows of nodes' devices from the nodes' updates after its first session on. A node
    without any takes pods that ask for some, which crashes the scheduler, as preempt did before."""
    REFUSALS_HEEDED = "refusals heeded"
    """Such a node takes the pods; a pod is not placed if its part turns out not to be free."""


class RootQueueBounds(StrEnum):
    """What all queues of a tree may use together."""

    CLUSTER = "cluster"
    """What the cluster has."""
    CLUSTER_UNLESS_SET = "cluster unless set"
    """What the root queue's spec says, else what the cluster has."""
    ENDLESS_UNLESS_SET = "endless unless set"
    """What the root queue's spec says, else anything; it deserves what its children do."""
    ENDLESS_WHERE_UNSET = "endless where unset"
    """The same for each resource: of one that the spec does not name, anything."""


class TreeDeserved(StrEnum):
    """What a queue in a tree deserves."""

    WITHIN_LIMITS = "within limits"
    """What its spec says, as far as it may use that, and what it is guaranteed."""
    AS_WRITTEN = "as written"
    """What its spec says."""
    AT_LEAST_GUARANTEED = "at least guaranteed"
    """What its spec says, and what it is guaranteed."""


class ReclaimsFor(StrEnum):
    """For which tasks a queue may reclaim."""

    ALL = "all"
    """Those within what it deserves of everything that they request."""
    SOME = "some"
    """Those within what it deserves of anything that they request."""
    SOME_WITHIN_CAPABILITY = "some within capability"
    """The same, if it may use what they request; or if ancestors that are asked deserve it."""


class CapacityVictims(StrEnum):
    """Whom a task may reclaim."""

    OVER_DESERVED = "over deserved"
    """Tasks of queues that hold more than they deserve of anything."""
    BY_DIMENSION = "by dimension"
    """Tasks that hold what the reclaimer asks for, and of which their queue holds too much."""
    IN_ORDER_BY_DIMENSION = "in order by dimension"
    """The same, the least important first, and those whose ancestors hold too much as well."""


class ReclaimUnit(StrEnum):
    """For what ``reclaim`` evicts at once."""

    TASK = "task"
    """For one task after the other."""
    JOB = "job"
    """For a job, if it is pipelined then."""


class PodsWithoutClaims(StrEnum):
    """What becomes of a pod of which a claim is not there when the pod is first seen."""

    KEPT = "kept"
    """It is known, and looked at again."""
    DROPPED = "dropped"
    """It is as if it were not there, until the pod changes."""
    AWAITED = "awaited"
    """It is known, if the claim may still come; else it is dropped."""


class VirtualGpuUse(StrEnum):
    """Which virtual GPUs a pod is given, and how they count; each goes on from the one before."""

    FROM_LAST = "from last"
    """The last cards; less than all of a card's memory, asked for as a percentage, is nothing."""
    COUNTED = "counted"
    """The same; their memory and cores are also resources, which nodes and queues count. What
    containers of a pod have of one card counts for each of them, and no more only for the first."""
    BY_SHARE = "by share"
    """So they are, and a percentage is that of the memory of each card."""
    BY_POLICY = "by policy"
    """Cards in the order of the policy, by which fresh cards do not score then; pods of a gang may
    refuse cards of each other, what is taken back is free at once, and cards count as at first."""
