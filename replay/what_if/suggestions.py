"""Single changes that may make a waiting object start: what its reasons name, and what runs beside.

Nothing here says that a change helps: that is found by running the session with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.amounts import Amount, amounts, written
from ...engine.kubernetes.objects import Node, Queue
from ...engine.model.status import ALLOCATED_STATUS, Status
from ...engine.volcano.releases import RELEASES
from ..answers.amounts import in_order
from ..answers.answer import Why
from ..answers.records import (
    Account,
    Gang,
    Link,
    Overcommitted,
    QueuePath,
    QueueState,
    QueueTree,
)
from ..answers.run import PODGROUP, QUEUE, title_of
from ..moments.kinds import ObjectName, object_named
from ..tabular.columns import Amounts
from .changes import AddNodes, Apply, Change, Cordon, Delete, SetField
from .run import Variant

UNCORDON, OPEN, LIMIT, GANG, NODE, GONE, RELEASE = KINDS = (
    *("uncordon", "open", "limit", "gang", "node", "gone", "release"),
)
"""Kinds of changes, from what an operator does most easily to what takes a maintenance window."""

MOST_GONE = 40
"""So many jobs are tried as gone, those that hold least first."""


class Suggestion(NamedTuple):
    """A change that is tried.

    :param kind: one of :data:`KINDS`. :param size: to compare changes of one kind.
    """

    kind: str
    size: float
    text: str
    variant: Variant


def suggestions_for(why: Why, podgroup: str, cache: SchedulerCache) -> list[Suggestion]:
    """Return the changes to try for an object that waits, the cheapest first.

    :param podgroup: that it belongs to, ``ns/name``. :param cache: before the session.
    """
    found: dict[str, Suggestion] = {}
    every = (
        *_cordoned(cache),
        *_of_chain(why.chain, podgroup, cache),
        *_new_nodes(cache),
        *_gone(cache, podgroup),
        *_releases(why.asked.release),
    )
    for one in every:
        found.setdefault(one.text, one)
    return sorted(found.values(), key=lambda one: (KINDS.index(one.kind), one.size, one.text))


def _of_chain(chain: Iterable[Link], podgroup: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    for link in chain:
        if isinstance(link, QueuePath) and not link.permits:
            yield from _room(link.accounts)
        elif isinstance(link, QueueTree) and link.what:
            yield from _sound(link, cache)
        elif isinstance(link, QueueState) and link.exists and link.state not in {"", "Open"}:
            change = SetField(_queue(link.queue), ("status", "state"), "Open")
            yield _one(OPEN, 0, f"queue {link.queue} is open", change)
        elif isinstance(link, Gang):
            yield from _smaller(link, podgroup)
        elif isinstance(link, Overcommitted):
            for held in link.holders:
                yield _without(held.podgroup, held.job, 0)


def _room(accounts: Sequence[Account]) -> Iterator[Suggestion]:
    """Yield more room in each queue that has too little, and in all of them together."""
    raised = []
    for account in accounts:
        if not account.exceeded:
            continue
        field = "deserved" if account.compared == "deserved" else "capability"
        own = account.deserved if field == "deserved" else account.capability
        new = _raised(own or account.limit, account)
        if new:
            raised.append(
                (
                    f"{field} of queue {account.queue}: {_words(new)}",
                    _limit(account.queue, field, new),
                )
            )
    for text, change in raised:
        yield _one(LIMIT, len(accounts), text, change)
    if len(raised) > 1:
        texts = "; ".join(text for text, _ in raised)
        changes = tuple(change for _, change in raised)
        yield Suggestion(LIMIT, len(accounts) + len(raised), texts, Variant(texts, changes))


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
    fits = gang.ready + gang.waiting + len(gang.planned)
    if 0 < fits < gang.least:
        place, _, name = podgroup.partition("/")
        named = ObjectName(*PODGROUP, name, place)
        change = SetField(named, ("spec", "minMember"), fits)
        yield _one(GANG, 0, f"minMember of the PodGroup: {fits} instead of {gang.least}", change)


def _cordoned(cache: SchedulerCache) -> Iterator[Suggestion]:
    for name, node in sorted(cache.stores.of("Node").items()):
        if isinstance(node, Node) and node.spec.unschedulable:
            yield _one(UNCORDON, 0, f"uncordon node {name}", Cordon(name, undo=True))


def _new_nodes(cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield one more node of each shape: nodes with the same amounts, labels and taints."""
    seen = set()
    for name, node in sorted(cache.stores.of("Node").items()):
        if not isinstance(node, Node) or node.spec.unschedulable:
            continue
        labels = {k: v for k, v in node.metadata.labels.items() if "hostname" not in k}
        shape = (
            repr(node.status.allocatable),
            repr(sorted(labels.items())),
            repr(node.spec.taints),
        )
        if shape not in seen:
            seen.add(shape)
            yield _one(NODE, len(seen), f"one more node like {name}", AddNodes(name))


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
