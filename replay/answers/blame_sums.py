"""Numbers that are sums: over pods, or over PodGroups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from ...engine.kubernetes.amount_texts import exact_amount
from ...engine.kubernetes.counts import counted
from ...engine.state.extract import extract_fact
from ...engine.state.facts import PodFact, PodGroupFact, QueueFact
from ...engine.state.log_coverage import Pair
from ...engine.state.truth_fold import Entry, Truth
from ...engine.state.truth_tables import queue_by_podgroup
from ..objects.kind_names import plain_name
from .answering_session import JOB, NODE, POD, PODGROUP, QUEUE
from .blame_fields import value_at
from .blame_losses import LossPlace, Summed, contributors, last_loss, place_of
from .blamed import Blame, NumberAsked, NumberPart, in_their_order, made_of
from .evidence import evidence_of
from .finding import ObjectKey
from .object_changes import Read, last_change, node_of

_FINISHED = frozenset({"Succeeded", "Failed"})


class _Pods(NamedTuple):
    """Which pods count, how much of a resource each has, and since when.

    :param counts: whether a pod counts, by its reference's namespace and its fact.
    :param since: reads the part of a pod whose last change is the event since which it counts.
    """

    resource: str
    counts: Callable[[str, PodFact], bool]
    since: Read = node_of

    def amount(self, place: str, fact: object) -> float:
        """Return what a pod adds to the number."""
        if not isinstance(fact, PodFact) or not self.counts(place, fact):
            return 0.0
        return 1.0 if self.resource == "pods" else fact.requests.get(self.resource, 0.0)


class _Made(NamedTuple):
    """What a number is made of. :param place: of the last change, in the order of happening."""

    blame: Blame
    place: LossPlace


def _is_placed(fact: PodFact) -> bool:
    return bool(fact.node) and fact.phase not in _FINISHED


def _of_queue(ask: NumberAsked, resource: str) -> Blame:
    truth = ask.log.truth(ask.moment)
    within, queue_of = _below(truth, ask.key), queue_by_podgroup(truth)

    def counts(place: str, fact: PodFact) -> bool:
        # The queue that the pod names counts only if its PodGroup is not there.
        return _is_placed(fact) and queue_of.get((place, fact.podgroup), fact.queue) in within

    how = f"{_what(resource)} of {_named(ask, within)} that have a node and have not ended"
    return _of_pods(ask, _Pods(resource, counts), how)


def _named(ask: NumberAsked, within: Collection[str]) -> str:
    """Return words for a queue and those below it that count with it."""
    below = counted(len(within) - 1, "queue")
    return f"queue {ask.key}" + (f" and of the {below} below it" if len(within) > 1 else "")


def _of_node(ask: NumberAsked, resource: str) -> Blame:
    how = f"{_what(resource)} on node {ask.key} that have not ended"
    return _of_pods(ask, _on_node(ask.key, resource), how)


def _what(resource: str) -> str:
    return "the pods" if resource == "pods" else "requests of the pods"


def _on_node(name: str, resource: str) -> _Pods:
    return _Pods(resource, lambda _, fact: fact.node == name and _is_placed(fact))


def _releasing(ask: NumberAsked, resource: str) -> Blame:
    """Return what pods that are being deleted will give back to their node."""

    def counts(_: str, fact: PodFact) -> bool:
        return fact.node == ask.key and _is_placed(fact) and fact.deleting_at is not None

    how = f"{_what(resource)} on node {ask.key} that are being deleted"
    return _of_pods(ask, _Pods(resource, counts, _deleted), how)


def _of_group(ask: NumberAsked, resource: str) -> Blame:
    """Return what the pods of a PodGroup have; of a job, those of its PodGroup."""
    belongs = _in_group(ask)
    pods = _Pods(resource, lambda place, fact: _is_placed(fact) and belongs(place, fact))
    how = f"{_what(resource)} of {ask.about} that have a node and have not ended"
    return _of_pods(ask, pods, how)


def _members(ask: NumberAsked, status: str) -> Blame:
    """Return the pods of a PodGroup or a job with a STATUS as ``kubectl get pods`` prints it."""
    belongs = _in_group(ask)
    pods = _Pods(
        "pods", lambda place, fact: fact.status == status and belongs(place, fact), _status
    )
    return _of_pods(ask, pods, f"pods of {ask.about} with status {status}")


def _in_group(ask: NumberAsked) -> Callable[[str, PodFact], bool]:
    namespace, _, name = ask.podgroup.partition("/")
    return lambda place, fact: place == namespace and fact.podgroup == name


def _deleted(document: Any) -> object:
    return value_at(document, ("metadata", "deletionTimestamp"))


def _status(document: Any) -> object:
    if "status" not in document:  # A binding: it says nothing of the status.
        return None
    fact = extract_fact(*POD, msgspec.json.encode(document))
    return fact.status if isinstance(fact, PodFact) else None


def _idle(ask: NumberAsked, resource: str) -> Blame:
    """Return what is allocatable on a node, and what its pods take of it."""
    pods = _on_node(ask.key, resource)
    used, place = _pods_summed(ask, pods, "")
    entry = ask.log.truth(ask.moment).find(*NODE, "", ask.key)
    allocatable = getattr(entry.fact, "allocatable", {}) if entry is not None else {}
    total = float(allocatable.get(resource, 0.0))
    taken = sum(amount for _, amount in contributors(ask, Summed(POD, pods.amount)))
    about: ObjectKey = (NODE, ask.key)
    changes = last_change(ask.log, ask.moment, about, _allocatable)
    given = [
        NumberPart(amount=exact_amount(resource, total), about=ask.about, event=event)
        for event in evidence_of(ask.log, ask.moment, changes)
    ]
    parts = [
        *given,
        *(msgspec.structs.replace(part, amount=f"-{part.amount}") for part in used.parts),
    ]
    idle = msgspec.structs.replace(
        used,
        value=exact_amount(resource, total - taken),
        how="what is allocatable, less the requests of the node's pods",
        parts=tuple(in_their_order(ask, parts)),
        changed=_opposite(used.changed),
    )
    # If the node itself changed last, no pod changed the number last.
    if not given or place.is_after(place_of(ask, given[0].event)):
        return idle
    return msgspec.structs.replace(idle, last=given[0].event, changed=f"to {given[0].amount}")


def _allocatable(document: Any) -> object:
    return value_at(document, ("status", "allocatable"))


def _opposite(text: str) -> str:
    return {"+": "-", "-": "+"}.get(text[:1], text[:1]) + text[1:]


def _inqueue(ask: NumberAsked, resource: str) -> Blame:
    """Return the PodGroups that are enqueued and have not started, with their minResources."""
    within = _below(ask.log.truth(ask.moment), ask.key)

    def amount(_: str, fact: object) -> float:
        if not isinstance(fact, PodGroupFact) or fact.phase != "Inqueue":
            return 0.0
        inside = (fact.queue or "default") in within
        return fact.min_resources.get(resource, 0.0) if inside else 0.0

    how = f"minResources of the PodGroups of {_named(ask, within)} in phase Inqueue"
    return _summed(ask, Summed(PODGROUP, amount), resource, (_phase, how)).blame


def _phase(document: Any) -> object:
    return value_at(document, ("status", "phase"))


def _of_pods(ask: NumberAsked, pods: _Pods, how: str) -> Blame:
    return _pods_summed(ask, pods, how).blame


def _pods_summed(ask: NumberAsked, pods: _Pods, how: str) -> _Made:
    return _summed(ask, Summed(POD, pods.amount), pods.resource, (pods.since, how))


def _summed(ask: NumberAsked, summed: Summed, resource: str, said: tuple[Read, str]) -> _Made:
    """Return what a sum is made of, and what changed it last.

    :param said: reads the part of an object whose last change is the event since which it counts;
        and words for what the number is.
    """
    since, how = said
    counting = contributors(ask, summed)
    parts = _parts(ask, summed.pair, counting, resource, since)
    value = exact_amount(resource, sum(amount for _, amount in counting))
    blame = made_of(ask, value, how, parts)
    loss = last_loss(ask, summed, blame.last) if ask.losses else None
    if loss is None:
        return _Made(blame, place_of(ask, blame.last))
    changed = f"-{exact_amount(resource, loss.amount)}"
    return _Made(msgspec.structs.replace(blame, last=loss.event, changed=changed), loss.place)


def _parts(
    ask: NumberAsked,
    pair: Pair,
    counting: Iterable[tuple[Entry, float]],
    resource: str,
    read: Callable[[Any], object],
) -> list[NumberPart]:
    """Return what objects add, each with the event since which it does, in order."""
    parts = []
    for entry, amount in counting:
        reference = entry.reference
        key = f"{reference.namespace}/{reference.name}"
        changes = last_change(ask.log, ask.moment, (pair, key), read)
        for event in evidence_of(ask.log, ask.moment, changes):
            text = exact_amount(resource, amount)
            parts.append(NumberPart(amount=text, about=f"{plain_name(*pair)}/{key}", event=event))
    return in_their_order(ask, parts)


def _below(truth: Truth, name: str) -> frozenset[str]:
    """Return a queue and all queues below it."""
    parents = {
        entry.reference.name: entry.fact.parent
        for entry in truth.of(*QUEUE)
        if isinstance(entry.fact, QueueFact)
    }
    within = {name}
    # No queue is deeper than there are queues, and queues in a circle end here, too.
    for _ in parents:
        within |= {queue for queue, parent in parents.items() if parent in within}
    return frozenset(within)


Sum = Callable[[NumberAsked, str], Blame]
SUMS: Mapping[tuple[Pair, str], Sum] = MappingProxyType(
    {
        (QUEUE, "allocated"): _of_queue,
        (QUEUE, "pods"): _of_queue,
        (QUEUE, "inqueue"): _inqueue,
        (NODE, "used"): _of_node,
        (NODE, "pods"): _of_node,
        (NODE, "idle"): _idle,
        (NODE, "releasing"): _releasing,
        (PODGROUP, "allocated"): _of_group,
        (PODGROUP, "pods"): _of_group,
        (PODGROUP, "members"): _members,
        (JOB, "allocated"): _of_group,
        (JOB, "pods"): _of_group,
        (JOB, "members"): _members,
    }
)
"""The numbers that are sums, by kind and name."""
