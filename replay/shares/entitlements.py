"""What queues are entitled to, as records: amounts, the steps that led to them, and relations."""

from __future__ import annotations

import msgspec

from ..moments.unknown import Unknown
from ..tabular.record_columns import Amounts


class EntitledStep(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue deserved after a step.

    :param step: ``written`` (its spec), ``granted`` (by its parent), ``part`` (of what remains, by
        weight, is added), ``limit`` (it may use no more), ``request`` (its jobs request no more),
        ``guarantee`` (it is guaranteed as much), ``nodes`` (all that nodes have), or ``children``
        (what its children deserve).
    """

    step: str
    amounts: Amounts


class EntitledRound(msgspec.Struct, frozen=True, kw_only=True):
    """One round of the division of ``proportion``, for one queue.

    :param number: from 1. :param remaining: what the queues of the round divided.
    :param weight: of this queue; ``weights``: of all of them together.
    :param part: what the queue got of it, by weight.
    :param steps: ``part``, with what it deserved before; then its bounds.
    :param ended: why the division ends for it: ``met`` (it deserves all that it requests),
        ``bounded`` (the round changed nothing for it), ``divided`` (there is no further round), or
        empty (there is one).
    """

    number: int
    remaining: Amounts
    weight: int
    weights: int
    part: Amounts
    steps: tuple[EntitledStep, ...]
    ended: str


class LimitSource(msgspec.Struct, frozen=True, kw_only=True):
    """What the limit of a queue is made of.

    :param total: what all nodes have, or what its parent may use.
    :param above: the queue that may use the total; empty if all nodes have it.
    :param guaranteed: to all other queues, or to those beside it below their parent.
    :param capability: what bounds it beside that, as the plugin reads it; empty if nothing does.
    """

    total: Amounts
    above: str
    guaranteed: Amounts
    capability: Amounts


class Entitlement(msgspec.Struct, frozen=True, kw_only=True):
    """What one queue is entitled to, and what it holds, as a session opens.

    :param plugin: whose account it is; empty if no plugin opened one, as for queues without jobs.
    :param parent: the queue above it; empty where queues are no tree. :param depth: below the root.
    :param reclaimable: other queues may reclaim from it, by its spec.
    :param guarantee: by its spec. :param written: ``deserved`` of its spec. :param capability: what
        its spec names.
    :param limit: what it may use at most; :param limit_source: what that is made of.
    :param deserved: what the session reckons that it deserves. :param requests: what its jobs hold
        and ask for. :param holds: what its pods hold. :param reserved: for jobs that are enqueued.
    :param elastic: what its jobs hold beyond their minimum.
    :param after: what it holds at the end of the session.
    :param over: what it holds beyond what it deserves. :param lacks: what it deserves and requests,
        and does not hold. :param idle: what it deserves and does not request.
    :param idle_guarantee: what it is guaranteed and does not request; no other queue may use it.
    :param steps: how ``capacity`` came to what it deserves. :param rounds: how ``proportion`` did.
    """

    queue: str
    plugin: str
    parent: str
    depth: int
    children: tuple[str, ...]
    state: str
    weight: int
    priority: int
    reclaimable: bool
    guarantee: Amounts
    written: Amounts
    capability: Amounts
    limit: Amounts
    limit_source: LimitSource | None
    deserved: Amounts
    requests: Amounts
    holds: Amounts
    reserved: Amounts
    elastic: Amounts
    after: Amounts
    over: Amounts
    lacks: Amounts
    idle: Amounts
    idle_guarantee: Amounts
    steps: tuple[EntitledStep, ...] = ()
    rounds: tuple[EntitledRound, ...] = ()


class QueuePart(msgspec.Struct, frozen=True, kw_only=True):
    """An amount of one resource, and whose it is."""

    queue: str
    amount: str


class ResourceOfQueues(msgspec.Struct, frozen=True, kw_only=True):
    """Which queues have more and less of one resource than they deserve; without parents.

    :param total: what all nodes have that sessions see. :param free: what is idle on them.
    :param over: the queues that hold more than they deserve, the most first.
    :param lacks: those that deserve and request more than they hold.
    :param idle: those that deserve more than they request. :param idle_guarantee: those that are
        guaranteed more than they request.
    """

    resource: str
    total: str
    free: str
    over: tuple[QueuePart, ...]
    lacks: tuple[QueuePart, ...]
    idle: tuple[QueuePart, ...]
    idle_guarantee: tuple[QueuePart, ...]


class ReclaimableFrom(msgspec.Struct, frozen=True, kw_only=True):
    """What could be reclaimed from one queue for a pod.

    :param candidates: how many of its pods run and are preemptable.
    :param by_plugin: by plugin, how many of them it chooses.
    :param pods: how many the plugins choose together; ``amounts``: what these request.
    """

    queue: str
    candidates: int
    by_plugin: dict[str, int]
    pods: int
    amounts: Amounts


class Reclaiming(msgspec.Struct, frozen=True, kw_only=True):
    """What one queue could reclaim: what ``reclaim`` would find for its first pod that waits.

    :param job: and ``podgroup``: of the pod. :param gate: why the action looks for nothing; empty
        if it does. :param because: the same in words.
    :param queues: from which queues.
    """

    queue: str
    pod: str
    job: str
    podgroup: str
    requests: Amounts
    gate: str
    because: str
    queues: tuple[ReclaimableFrom, ...] = ()


class SharesAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer about shares is of.

    :param at: the moment, as printed. :param time: as RFC 3339; empty if it is not known.
    :param queue: the one that is asked about; empty is all.
    :param assumed: what was assumed, as sentences.
    """

    at: str
    time: str
    release: str
    conf: str
    queue: str
    assumed: tuple[str, ...] = ()


class Shares(msgspec.Struct, frozen=True, kw_only=True):
    """What queues are entitled to at a moment.

    :param sentence: who has more and who has less than it deserves, in one sentence.
    :param plugins: those that decide on shares; empty if none does.
    :param decided: how they do, as sentences.
    :param queues: parents before their children; of a question about one queue, only this one.
    :param resources: of all queues together, those that any queue holds, requests or deserves.
    :param remaining: what was left before each round of the division; the last is what no queue
        got. Only ``proportion`` divides.
    :param rules: what may be reclaimed in this release and configuration, as sentences.
    :param reclaiming: by queue with pods that wait, what it could reclaim.
    :param reclaiming_unasked: of how many queues it was not asked what they could reclaim, as there
        are many; a question about one of them asks it.
    :param unsure: why amounts may be more than what is said; empty if all of them are known.
    """

    asked: SharesAsked
    sentence: str
    plugins: tuple[str, ...]
    decided: tuple[str, ...]
    queues: tuple[Entitlement, ...]
    resources: tuple[ResourceOfQueues, ...]
    remaining: tuple[Amounts, ...] = ()
    rules: tuple[str, ...] = ()
    reclaiming: tuple[Reclaiming, ...] = ()
    reclaiming_unasked: int = 0
    unsure: str = ""
    not_known: tuple[Unknown, ...] = ()
