"""Changes of queues that may make room: of their limits, their weights, and their tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import ceil

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import Queue
from ...engine.kubernetes.quantity_lists import Amount, amounts, written
from ..answers.amounts import amounts_of
from ..answers.limit_sources import on_nodes
from ..answers.queue_words import ENQUEUE
from ..answers.records import Account, Crash, Link, QueuePath, QueueState, QueueTree
from ..tabular.record_columns import Amounts
from .cluster_changes import SetField
from .suggestion import (
    LIMIT,
    OPEN,
    Suggestion,
    finite,
    instead_of,
    limit,
    queue_name,
    queue_spec,
    single,
    words,
)

_DESERVED = "deserved"
"""What only ``proportion`` compares with: it computes it from the weights of the queues."""

_LAST = 1_000
"""After all other changes of limits."""


def of_queues(chain: Iterable[Link], queue: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield the changes of queues that refusals name.

    :param queue: that of the object, which keeps its guarantee unless the scheduler panics.
    """
    links = list(chain)
    for link in links:
        if isinstance(link, QueuePath) and not link.permits:
            yield from _room(link)
            yield from _heavier(link, cache)
            yield from _smaller_guarantees(link, cache)
        elif isinstance(link, QueueTree) and link.what:
            yield from _sound(link, cache)
        elif isinstance(link, QueueState) and link.exists and link.state != "Open":
            change = SetField(queue_name(link.queue), ("status", "state"), "Open")
            yield single(OPEN, 0, f"queue {link.queue} is open", change)
    panics = any(isinstance(link, Crash) for link in links)
    yield from _no_guarantees(cache, "" if panics else queue)


def _room(path: QueuePath) -> Iterator[Suggestion]:
    """Yield more room in each queue that has too little, and in all of them together.

    What ``proportion`` computes that a queue deserves grows only where a capability bounds it.
    """
    raised, accounts = [], path.accounts
    for account in accounts:
        if not account.exceeded:
            continue
        computed = {} if account.compared == _DESERVED else account.limit
        new = _raised(account.capability or computed, account, path.point)
        if new:
            raised.append(
                (
                    f"capability of queue {account.queue}: {words(new)}",
                    limit(account.queue, "capability", new),
                )
            )
    for text, change in raised:
        yield single(LIMIT, len(accounts), text, change)
    # Each alone does not suffice if the queue and one above it are full, so all are tried at once.
    if len(raised) > 1:
        texts = "; ".join(text for text, _ in raised)
        size = len(accounts) + len(raised)
        yield single(LIMIT, size, texts, *(change for _, change in raised))


def _heavier(path: QueuePath, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield the weight with which ``proportion`` gives a queue the share that it lacks."""
    for account in path.accounts:
        if account.compared == _DESERVED and account.exceeded:
            yield from _weighing(account.queue, cache)
            needed = amounts(_raised(account.limit, account, path.point))
            known = {name: amount for name, amount in needed.items() if name in account.wanted}
            if known.keys() == set(account.exceeded):
                yield from heavier(account.queue, known, cache)


def _weighing(queue: str, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield the least weight for a queue without any: it deserves nothing."""
    item = cache.stores.get("Queue", queue)
    if isinstance(item, Queue) and item.spec.weight < 1:
        text = f"weight of queue {queue}: 1 instead of {item.spec.weight}"
        yield single(LIMIT, 1, text, queue_spec(queue, {"weight": 1}))


def heavier(
    queue: str, needed: Mapping[str, Amount], cache: SchedulerCache
) -> Iterator[Suggestion]:
    """Yield the weight with which ``proportion`` lets a queue deserve some amounts.

    A queue deserves total * weight / weights; what others leave of theirs is not considered.
    """
    item = cache.stores.get("Queue", queue)
    totals = amounts(amounts_of({name: on_nodes(cache, name) for name in needed}))
    weights = _other_weights(queue, cache)
    if not isinstance(item, Queue) or not weights or not needed:
        return
    # No weight makes a queue deserve all of a resource, or more.
    if not all(0 < amount.billionths < totals[name].billionths for name, amount in needed.items()):
        return
    shares = [amount.billionths / totals[name].billionths for name, amount in needed.items()]
    # share = weight / (weight + weights), solved for the weight.
    weight = ceil(max(share * weights / (1 - share) for share in shares))
    if weight > item.spec.weight:
        text = f"weight of queue {queue}: {weight} instead of {item.spec.weight}"
        yield single(LIMIT, weight, text, queue_spec(queue, {"weight": weight}))


def _other_weights(queue: str, cache: SchedulerCache) -> int:
    """Return the sum of the weights of the other queues that have jobs."""
    names = {job.queue for job in cache.jobs.values()} - {queue}
    return sum(cache.queues[name].weight for name in names if name in cache.queues)


def _raised(own: Amounts, account: Account, point: str) -> Amounts:
    """Return the least amounts of a limit that leave what is wanted."""
    new, short = finite(own), lacking(account, point)
    for name, more in short.items():
        if name in new:
            new[name] = new[name]._replace(billionths=new[name].billionths + more)
    return {name: text for name, text in written(new).items() if name in account.exceeded}


def lacking(account: Account, point: str) -> dict[str, int]:
    """Return of each resource that an account exceeds how much it lacks, in billionths.

    What is not wanted is exceeded by what is held and, where jobs are enqueued, reserved.

    :param point: what was checked.
    """
    wanted, left, limits = amounts(account.wanted), finite(account.left), finite(account.limit)
    counted = [(account.allocated, 1)]
    if point == ENQUEUE:
        counted += [(account.inqueue, 1), (account.elastic, -1)]
    lacks = {}
    for name in account.exceeded:
        if name in wanted and name in left:
            lacks[name] = wanted[name].billionths - left[name].billionths
        elif name in limits:
            lacks[name] = -limits[name].billionths + sum(
                sign * amounts(summand)[name].billionths
                for summand, sign in counted
                if name in summand
            )
    return lacks


def _sound(tree: QueueTree, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield the amounts that make a tree of queues valid: of the upper queue, or of its child."""
    parent = {name: tree.theirs[name] for name in tree.exceeded if name in tree.theirs}
    child = {name: tree.own[name] for name in tree.exceeded if name in tree.own}
    if parent:
        text = f"{tree.what} of queue {tree.queue}: {words(parent)}"
        yield single(LIMIT, 1, text, limit(tree.queue, tree.what, parent))
    if not tree.child:
        yield from _less_for_each(tree, cache)
    queue = cache.stores.get("Queue", tree.child)
    if child and isinstance(queue, Queue):
        text = f"no more than {words(child)} for queue {tree.child}"
        lower = _lowered(queue, amounts(child))
        yield single(LIMIT, 0, text, queue_spec(tree.child, lower))
        if queue.spec.guarantee.resource:
            nothing: dict[str, object] = {"resource": None}
            without = queue_spec(tree.child, {**lower, "guarantee": nothing})
            yield single(LIMIT, 1, f"{text}, and no guarantee", without)


def _less_for_each(tree: QueueTree, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield each child with less, where the children together have more than their parent."""
    own, theirs = amounts(tree.own), amounts(tree.theirs)
    over = {
        name: theirs[name].billionths - own[name].billionths
        for name in tree.exceeded
        if name in own and name in theirs
    }
    for name, queue in sorted(cache.stores.of("Queue").items()):
        # The scheduler takes a queue without a parent as a child of root, and root has none itself.
        parent = cache.queues[name].parent if name in cache.queues else ""
        if isinstance(queue, Queue) and over and (parent or "root") == tree.queue != name:
            yield from less(queue, tree.what, over)


def less(queue: Queue, field: str, by: Mapping[str, int]) -> Iterator[Suggestion]:
    """Yield a limit of a queue lowered by some amounts, in billionths, if it has as much."""
    own = queue.spec.guarantee.resource if field == "guarantee" else getattr(queue.spec, field)
    has = amounts(own)
    if not by or any(name not in has or has[name].billionths < by[name] for name in by):
        return
    new = {name: has[name]._replace(billionths=has[name].billionths - by[name]) for name in by}
    amount, before = written(new), written({name: has[name] for name in by})
    text = f"{field} of queue {queue.name}: {instead_of(amount, before)}"
    yield single(LIMIT, _LAST - 1, text, limit(queue.name, field, amount))


def _smaller_guarantees(path: QueuePath, cache: SchedulerCache) -> Iterator[Suggestion]:
    """Yield other queues with as much less guaranteed as a limit that is exceeded lacks."""
    names = {account.queue for account in path.accounts}
    full = next((account for account in path.accounts if account.exceeded), None)
    for name, queue in sorted(cache.stores.of("Queue").items()):
        if isinstance(queue, Queue) and name not in names and full is not None:
            yield from less(queue, "guarantee", lacking(full, path.point))


def _no_guarantees(cache: SchedulerCache, queue: str) -> Iterator[Suggestion]:
    """Yield other queues than one without what they are guaranteed: it is kept from all others."""
    for name, item in sorted(cache.stores.of("Queue").items()):
        if isinstance(item, Queue) and item.spec.guarantee.resource and name != queue:
            text = f"no guarantee of queue {name}"
            nothing: dict[str, object] = {"guarantee": {"resource": None}}
            yield single(LIMIT, _LAST, text, queue_spec(name, nothing))


def _lowered(queue: Queue, most: Mapping[str, Amount]) -> dict[str, object]:
    """Return the fields of a queue's spec that are above some amounts, with these instead."""
    spec = queue.spec
    fields = {
        "capability": spec.capability,
        "deserved": spec.deserved,
        "guarantee": spec.guarantee.resource,
    }
    lowered: dict[str, object] = {}
    for field, has in fields.items():
        above = {
            name: str(most[name])
            for name, amount in amounts(has).items()
            if name in most and amount.billionths > most[name].billionths
        }
        if above:
            lowered[field] = {"resource": above} if field == "guarantee" else above
    return lowered
