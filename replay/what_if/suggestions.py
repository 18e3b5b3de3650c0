"""Single changes that may make a waiting object start: what its reasons name, and what runs beside.

Nothing here says that a change helps: that is found by running the session with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from msgspec import to_builtins

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.amounts import Amount, amounts, written
from ...engine.kubernetes.objects import HyperNode, Node, Pod, Queue, Taint
from ...engine.model.status import ALLOCATED_STATUS, Status
from ...engine.session.kube.tolerations import UNSCHEDULABLE_TAINT
from ...engine.volcano.releases import RELEASES
from ..answers.amounts import amounts_of, in_order
from ..answers.answer import Why
from ..answers.queue_words import on_nodes
from ..answers.records import (
    Account,
    Gang,
    Hypernodes,
    Link,
    Overcommitted,
    QueuePath,
    QueueState,
    QueueTree,
)
from ..answers.run import NODE, PODGROUP, QUEUE, title_of
from ..moments.kinds import ObjectName, object_named
from ..tabular.columns import Amounts
from .changes import AddNodes, Apply, Change, Cordon, Delete, SetField
from .run import Variant

UNCORDON, UNTAINT, OPEN, RESTORE, LIMIT, TOPOLOGY, GANG, MOVE, SWITCH, MORE, GONE, RELEASE = (
    KINDS
) = (
    *("uncordon", "untaint", "open", "restore", "limit", "topology", "gang", "move", "switch"),
    *("node", "gone", "release"),
)
"""Kinds of changes, from what an operator does most easily to what takes a maintenance window."""

_UNCORDONED = 4
"""So many cordoned nodes are tried of those with the same amounts, labels and taints."""

_ALIKE = 2
"""So many nodes are tried of those with the same amounts, labels and taints."""

_DESERVED = "deserved"
"""What only ``proportion`` compares with: it computes it from the weights of the queues."""

_ROOT = "root"
_MOVES = 8
"""So many other queues are tried, by name."""

_LAST = 1_000
"""After all other changes of limits."""

_SOFT = 1_000
"""More than any tier: a topology that is only preferred is tried last."""

_REPELS = frozenset({"NoSchedule", "NoExecute"})

MOST_GONE = 40
"""So many jobs are tried as gone, those that hold least first."""

MOST_PODS_GONE = 10
"""So many pods without a job are tried as gone."""

_ENDED = frozenset({"Succeeded", "Failed"})


class Suggestion(NamedTuple):
    """A change that is tried.

    :param kind: one of :data:`KINDS`. :param size: to compare changes of one kind.
    """

    kind: str
    size: float
    text: str
    variant: Variant


def suggestions_for(
    why: Why,
    podgroup: str,
    cache: SchedulerCache,
    was: Mapping[str, Any] | None = None,
    confs: Iterable[Suggestion] = (),
) -> list[Suggestion]:
    """Return the changes to try for an object that waits, the cheapest first.

    :param podgroup: that it belongs to, ``ns/name``. :param cache: before the session.
    :param was: the last version of the PodGroup, if that does not exist any more.
    :param confs: changed configurations.
    """
    found: dict[str, Suggestion] = {}
    every = (
        *(() if was is None else _restored(was)),
        *_cordoned(cache),
        *_tainted(cache),
        *_of_chain(why.chain, podgroup, cache),
        *_holders(why.chain, podgroup),
        *_other_guarantees(cache, podgroup),
        *_other_queues(cache, podgroup),
        *confs,
        *_new_nodes(cache),
        *_gone(cache, podgroup),
        *_pods_gone(cache),
        *_releases(why.asked.release),
    )
    for one in every:
        found.setdefault(one.text, one)
    return sorted(found.values(), key=lambda one: (KINDS.index(one.kind), one.size, one.text))


def _of_chain(chain: Iterable[Link], podgroup: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    for link in chain:
        if isinstance(link, QueuePath) and not link.permits:
            yield from _room(link.accounts)
            yield from _heavier(link.accounts, cache)
        elif isinstance(link, QueueTree) and link.what:
            yield from _sound(link, cache)
        elif isinstance(link, QueueState) and link.exists and link.state not in {"", "Open"}:
            change = SetField(_queue(link.queue), ("status", "state"), "Open")
            yield _one(OPEN, 0, f"queue {link.queue} is open", change)
        elif isinstance(link, Gang):
            yield from _smaller(link, podgroup)
        elif isinstance(link, Hypernodes):
            yield from _wider(link, podgroup, cache)


def _holders(chain: Iterable[Link], podgroup: str) -> Iterator[Suggestion]:
    """Yield as gone the other jobs that hold, or have reserved, what a refusal says is lacking."""
    for link in chain:
        if isinstance(link, Overcommitted) or (isinstance(link, QueuePath) and not link.permits):
            for rank, held in enumerate(link.holders[:MOST_GONE]):
                if held.podgroup != podgroup:
                    yield _without(held.podgroup, held.job, rank)


def _room(accounts: Sequence[Account]) -> Iterator[Suggestion]:
    """Yield more room in each queue that has too little, and in all of them together.

    What ``proportion`` computes that a queue deserves grows only where a capability bounds it.
    """
    raised = []
    for account in accounts:
        if not account.exceeded:
            continue
        computed = {} if account.compared == _DESERVED else account.limit
        new = _raised(account.capability or computed, account)
        if new:
            raised.append(
                (
                    f"capability of queue {account.queue}: {_words(new)}",
                    _limit(account.queue, "capability", new),
                )
            )
    for text, change in raised:
        yield _one(LIMIT, len(accounts), text, change)
    if len(raised) > 1:
        texts = "; ".join(text for text, _ in raised)
        changes = tuple(change for _, change in raised)
        yield Suggestion(LIMIT, len(accounts) + len(raised), texts, Variant(texts, changes))


def _heavier(accounts: Sequence[Account], cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield the weight with which ``proportion`` gives a queue the share that it lacks.

    A queue deserves total * weight / weights; what others leave of theirs is not considered.
    """
    for account in accounts:
        held = cache.stores.get("Queue", account.queue)
        if account.compared != _DESERVED or not account.exceeded or not isinstance(held, Queue):
            continue
        weights, shares = _other_weights(account.queue, cache), _shares(account, cache)
        if weights and all(0 < share < 1 for share in shares):
            weight = ceil(max(share * weights / (1 - share) for share in shares))
            if weight > held.spec.weight:
                text = f"weight of queue {account.queue}: {weight} instead of {held.spec.weight}"
                yield _one(LIMIT, weight, text, _queue_spec(account.queue, {"weight": weight}))


def _other_weights(queue: str, cache: SchedulerCache) -> int:
    """Return the sum of the weights of the other queues that have jobs."""
    names = {job.queue for job in cache.jobs.values()} - {queue}
    return sum(cache.queues[name].weight for name in names if name in cache.queues)


def _shares(account: Account, cache: SchedulerCache) -> list[float]:
    """Return which part of all nodes a queue needs of what it exceeds; 0 where it is not known."""
    needed = amounts(_raised(_finite(account.limit), account))
    totals = amounts(amounts_of({name: on_nodes(cache, name) for name in needed}))
    known = {name for name in needed if name in account.wanted and totals[name].billionths}
    return [
        needed[name].billionths / totals[name].billionths if name in known else 0.0
        for name in account.exceeded
    ]


def _raised(own: Amounts, account: Account) -> Amounts:
    """Return the least amounts of a limit that leave what is wanted."""
    new = amounts(own)
    wanted, left = amounts(account.wanted), amounts(_finite(account.left))
    for name in account.exceeded:
        if name not in new or name not in wanted or name not in left:
            continue
        more = wanted[name].billionths - left[name].billionths
        new[name] = new[name]._replace(billionths=new[name].billionths + more)
    return {name: text for name, text in written(new).items() if name in account.exceeded}


def _sound(tree: QueueTree, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield the amounts that make a tree of queues valid: of the upper queue, or of its child."""
    parent = {name: tree.theirs[name] for name in tree.exceeded if name in tree.theirs}
    child = {name: tree.own[name] for name in tree.exceeded if name in tree.own}
    if parent:
        text = f"{tree.what} of queue {tree.queue}: {_words(parent)}"
        yield _one(LIMIT, 1, text, _limit(tree.queue, tree.what, parent))
    held = cache.stores.get("Queue", tree.child)
    if child and isinstance(held, Queue):
        text = f"no more than {_words(child)} for queue {tree.child}"
        lower = _lowered(held, amounts(child))
        yield _one(LIMIT, 0, text, _queue_spec(tree.child, lower))
        if held.spec.guarantee.resource:
            nothing: dict[str, object] = {"resource": None}
            without = _queue_spec(tree.child, {**lower, "guarantee": nothing})
            yield _one(LIMIT, 1, f"{text}, and no guarantee", without)


def _other_guarantees(cache: SchedulerCache, podgroup: str) -> Iterator[Suggestion]:
    """Yield other queues without what they are guaranteed: it is kept from all others."""
    job = cache.jobs.get(podgroup)
    for name, held in sorted(cache.stores.of("Queue").items()):
        own = job is not None and job.queue == name
        if isinstance(held, Queue) and held.spec.guarantee.resource and not own:
            text = f"no guarantee of queue {name}"
            nothing: dict[str, object] = {"guarantee": {"resource": None}}
            yield _one(LIMIT, _LAST, text, _queue_spec(name, nothing))


def _other_queues(cache: SchedulerCache, podgroup: str) -> Iterator[Suggestion]:
    """Yield the PodGroup in each other queue that is open and has no queue below it."""
    job = cache.jobs.get(podgroup)
    if job is None or job.pod_group is None:
        return
    parents = {info.parent for info in cache.queues.values()} | {_ROOT, job.queue}
    names = [
        name for name in sorted(cache.queues.keys() - parents) if cache.queues[name].state == "Open"
    ]
    for rank, name in enumerate(names[:_MOVES]):
        change = SetField(_group(podgroup), ("spec", "queue"), name)
        yield _one(MOVE, rank, f"queue of the PodGroup: {name} instead of {job.queue}", change)


def _lowered(queue: Queue, most: Mapping[str, Amount]) -> dict[str, object]:
    """Return the fields of a queue's spec that are above some amounts, with these instead."""
    spec = queue.spec
    fields = {
        "capability": spec.capability,
        "deserved": spec.deserved,
        "guarantee": spec.guarantee.resource,
    }
    found: dict[str, object] = {}
    for field, has in fields.items():
        above = {
            name: str(most[name])
            for name, amount in amounts(has).items()
            if name in most and amount.billionths > most[name].billionths
        }
        if above:
            found[field] = {"resource": above} if field == "guarantee" else above
    return found


def _smaller(gang: Gang, podgroup: str) -> Iterator[Suggestion]:
    """Yield a gang of all the pods that a job has, and one of those that have a place."""
    for fits in (gang.valid, gang.ready + gang.waiting + len(gang.planned)):
        if 0 < fits < gang.least:
            text = f"minMember of the PodGroup: {fits} instead of {gang.least}"
            change = SetField(_group(podgroup), ("spec", "minMember"), fits)
            yield _one(GANG, gang.least - fits, text, change)


def _wider(link: Hypernodes, podgroup: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield a network topology that allows each higher tier, and one that is only preferred."""
    field, named = ("spec", "networkTopology"), _group(podgroup)
    nodes = [one for one in cache.stores.of("HyperNode").values() if isinstance(one, HyperNode)]
    for tier in sorted({one.spec.tier for one in nodes if one.spec.tier > link.highest}):
        text = f"highestTierAllowed of the PodGroup: {tier} instead of {link.highest}"
        yield _one(TOPOLOGY, tier, text, SetField(named, (*field, "highestTierAllowed"), tier))
    text = "mode of the PodGroup's network topology: soft instead of hard"
    yield _one(TOPOLOGY, _SOFT, text, SetField(named, (*field, "mode"), "soft"))


def _group(podgroup: str) -> ObjectName:
    place, _, name = podgroup.partition("/")
    return ObjectName(*PODGROUP, name, place)


def _restored(was: Mapping[str, Any]) -> Iterator[Suggestion]:
    """Yield a PodGroup that is created again, with the name and the spec that it had."""
    about = was["metadata"]
    kept = ("name", "namespace", "labels", "annotations", "ownerReferences")
    again = {
        "apiVersion": f"{PODGROUP[0]}/v1beta1",
        "kind": PODGROUP[1],
        "metadata": {name: about[name] for name in kept if name in about},
        "spec": was.get("spec") or {},
        "status": {"phase": "Pending"},
    }
    text = f"podgroup {about['namespace']}/{about['name']} is created again"
    yield _one(RESTORE, 0, text, Apply(again))


def _tainted(cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield nodes without the taints that keep pods away; a cordoned one is also uncordoned."""
    alike: dict[object, int] = {}
    for name, node in sorted(cache.stores.of("Node").items()):
        if not isinstance(node, Node):
            continue
        repels = [one for one in _own(node.spec.taints) if one.effect in _REPELS]
        shape = (_shape(node), node.spec.unschedulable)
        alike[shape] = alike.get(shape, 0) + 1
        if not repels or alike[shape] > _ALIKE:
            continue
        kept = [to_builtins(one) for one in _own(node.spec.taints) if one not in repels]
        taints = ", ".join(one.text for one in repels)
        field = ("spec", "taints")
        change: Change = SetField(ObjectName(*NODE, name), field, kept)
        text = f"no taint {taints} on node {name}"
        if node.spec.unschedulable:
            both = f"uncordon node {name}, and {text}"
            yield Suggestion(UNTAINT, 1, both, Variant(both, (Cordon(name, undo=True), change)))
        else:
            yield _one(UNTAINT, 0, text, change)


def _own(taints: Sequence[Taint]) -> list[Taint]:
    """Return the taints of a node but for that of a cordon."""
    return [one for one in taints if one.key != UNSCHEDULABLE_TAINT.key]


def _shape(node: Node) -> object:
    """Return what is equal for nodes with the same amounts, labels and taints."""
    labels = {k: v for k, v in node.metadata.labels.items() if "hostname" not in k}
    return repr(node.status.allocatable), repr(sorted(labels.items())), repr(node.spec.taints)


def _cordoned(cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield cordoned nodes; of those that are alike, only those with the most free.

    If a node helps, one that is alike and has more free helps, too.
    """
    alike: dict[object, list[tuple[float, float, str]]] = {}
    for name, node in sorted(cache.stores.of("Node").items()):
        if isinstance(node, Node) and node.spec.unschedulable:
            info = cache.nodes.get(name)
            free = (0.0, 0.0) if info is None else (info.idle.cpu, info.idle.memory)
            alike.setdefault(_shape(node), []).append((-free[0], -free[1], name))
    for some in alike.values():
        for _, _, name in sorted(some)[:_UNCORDONED]:
            yield _one(UNCORDON, 0, f"uncordon node {name}", Cordon(name, undo=True))


def _new_nodes(cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield one more node of each shape: nodes with the same amounts, labels and taints."""
    seen = set()
    for name, node in sorted(cache.stores.of("Node").items()):
        if not isinstance(node, Node) or node.spec.unschedulable:
            continue
        shape = _shape(node)
        if shape not in seen:
            seen.add(shape)
            yield _one(MORE, len(seen), f"one more node like {name}", AddNodes(name))


def _gone(cache: SchedulerCache, podgroup: str) -> Iterator[Suggestion]:
    """Yield each job that holds resources as gone, the smallest first."""
    sizes = {}
    for key, job in cache.jobs.items():
        held = [
            task
            for status in (*sorted(ALLOCATED_STATUS), Status.PIPELINED)
            for task in job.index.get(status, {}).values()
        ]
        if held and key != podgroup and job.pod_group is not None:
            sizes[key] = float(len(held)), sum(task.request.cpu for task in held)
    for rank, key in enumerate(sorted(sizes, key=lambda one: (sizes[one], one))[:MOST_GONE]):
        yield _without(key, title_of(key, cache.jobs[key].pod_group), rank)


def _pods_gone(cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield each pod on a node that belongs to no job as gone, but for those of DaemonSets."""
    alone = [
        pod
        for _, pod in sorted(cache.stores.of("Pod").items())
        if isinstance(pod, Pod)
        and pod.spec.node_name
        and pod.status.phase not in _ENDED
        and not job_of(pod)
        and all(owner.kind != "DaemonSet" for owner in pod.metadata.owner_references)
    ]
    for rank, pod in enumerate(alone[:MOST_PODS_GONE]):
        key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        change = Delete(object_named(f"pod/{key}"))
        yield _one(GONE, MOST_GONE + rank, f"pod {key} is gone", change)


def _without(podgroup: str, title: str, rank: int) -> Suggestion:
    """Return a job or PodGroup that is gone, with its pods."""
    kind, _, name = title.partition(" ")
    named = f"{kind}/{name}" if kind == "job" else f"podgroup/{podgroup}"
    return _one(GONE, rank, f"{title} is gone", Delete(object_named(named)))


def _releases(now: str) -> Iterator[Suggestion]:
    """Yield all other releases of Volcano, the nearest newer ones first."""
    names = [str(one) for one in RELEASES if not one.ours]
    here = names.index(now) if now in names else len(names)
    order = [*range(here + 1, len(names)), *range(here - 1, -1, -1)]
    for rank, at in enumerate(order):
        text = f"release {names[at]}"
        yield Suggestion(RELEASE, rank, text, Variant(text, release=names[at]))


def _limit(queue: str, field: str, amount: Amounts) -> Change:
    part = {"resource": dict(amount)} if field == "guarantee" else dict(amount)
    return _queue_spec(queue, {field: part})


def _queue_spec(queue: str, spec: Mapping[str, object]) -> Change:
    return Apply(
        {
            "apiVersion": f"{QUEUE[0]}/v1beta1",
            "kind": "Queue",
            "metadata": {"name": queue},
            "spec": dict(spec),
        }
    )


def _one(kind: str, size: float, text: str, change: Change) -> Suggestion:
    return Suggestion(kind, size, text, Variant(text, (change,)))


def _queue(name: str) -> ObjectName:
    return ObjectName(*QUEUE, name)


def _finite(some: Mapping[str, str]) -> Amounts:
    return {name: text for name, text in some.items() if "unlimited" not in text}


def _words(some: Mapping[str, str]) -> str:
    return ", ".join(f"{some[name]} {name}" for name in in_order(some))
