"""Which events make up a number, and which one changed it last.

A number is a sum over pods (what a queue has allocated, what is used on a node), a sum over
PodGroups (what is reserved in a queue), or a field of the object itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events import KINDS, Effect, Recorded
from ...engine.kubernetes.amount_texts import exact_amount
from ...engine.log.store import Query
from ...engine.state.coverage import Pair
from ...engine.state.extract import extract_fact
from ...engine.state.facts import PodFact, PodGroupFact, QueueFact
from ...engine.state.tables import queue_by_podgroup
from ...engine.state.truth import Entry, Truth
from ..moments.coverage import Unknown, document_of, unknown_at
from ..moments.kinds import ObjectName, plain_name
from ..moments.log import Log
from ..moments.moment import Moment
from ..tabular.columns import Quantity, Time, quantity
from ..tabular.table import Table, table_of
from ..tabular.tabular import Tabular
from .amounts import counted
from .changes import changes_in, last_change, node_of
from .evidence import evidence_of
from .finding import ObjectKey
from .records import Evidence
from .rows import event_columns
from .run import JOB, NODE, POD, PODGROUP, QUEUE
from .target import target_of

LATER = 20_000
"""How many events of pods after the last addition are searched for one that took some away."""

_FINISHED = frozenset({"Succeeded", "Failed"})
_FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "capability": ("spec", "capability"),
        "deserved": ("spec", "deserved"),
        "guarantee": ("spec", "guarantee", "resource"),
        "weight": ("spec", "weight"),
        "parent": ("spec", "parent"),
        "state": ("status", "state"),
        "allocatable": ("status", "allocatable"),
        "capacity": ("status", "capacity"),
        "unschedulable": ("spec", "unschedulable"),
        "phase": ("status", "phase"),
        "minMember": ("spec", "minMember"),
        "minResources": ("spec", "minResources"),
        "queue": ("spec", "queue"),
        "node": ("spec", "nodeName"),
    }
)
"""Short names of fields."""

_NAMES: Mapping[Pair, tuple[str, ...]] = MappingProxyType(
    {
        QUEUE: ("capability", "deserved", "guarantee", "weight", "parent", "state"),
        NODE: ("allocatable", "capacity", "unschedulable"),
        PODGROUP: ("minMember", "minResources", "phase", "queue"),
        JOB: ("phase", "queue"),
        POD: ("node", "phase"),
    }
)
"""Which of them an object may have."""

_COMPUTED = frozenset({"capability", "deserved", "guarantee"})
"""What a session computes for queues that do not set it."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a number is made of, or one change of a field.

    :param amount: what it adds; of a field: its new value.
    :param before: of a field: its value before.
    """

    amount: str
    about: str
    event: Evidence
    before: str = ""


class PartRow(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a number. :param amount: and ``before``: None if it is no quantity.

    :param estimated: the time is an estimate.
    """

    about: str
    amount: Quantity | None
    before: Quantity | None
    text: str
    position: int
    revision: int | None
    time: Time | None
    estimated: bool
    kind: str
    by: str


class Blame(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """What makes up a number.

    :param number: as it was named, such as ``allocated.cpu``.
    :param value: at the moment. :param how: what the number is a sum of.
    :param parts: in the order in which they happened.
    :param last: the event that changed it last; None if it is not known.
    :param changed: what that event added or took away.
    """

    about: str
    number: str
    at: str
    value: str
    how: str
    parts: tuple[Part, ...]
    last: Evidence | None = None
    changed: str = ""
    not_known: tuple[Unknown, ...] = ()

    @property
    def headline(self) -> str:
        """The number, and what it is a sum of."""
        return f"{self.number} of {self.about} is {self.value or 'not set'}: {self.how}"

    def tables(self) -> Mapping[str, Table]:
        """Return what the number is made of."""
        return {"parts": table_of(PartRow, map(_row, self.parts))}


def _row(part: Part) -> PartRow:
    return PartRow(
        about=part.about,
        amount=_quantity(part.amount),
        before=_quantity(part.before),
        text=part.amount,
        by=part.event.by,
        **event_columns(part.event),
    )


def _quantity(text: str) -> float | None:
    try:
        return quantity(text)
    except ValueError:
        return None


def blame_at(
    log: Log,
    named: ObjectName,
    number: str,
    at: str | Moment = "end",
    *,
    namespace: str | None = None,
) -> Blame:
    """Return what makes up a number of an object at a moment.

    :param number: ``allocated.cpu``, ``inqueue.cpu`` or ``pods`` of a queue; ``used.cpu``,
        ``idle.cpu`` or ``pods`` of a node; of any object a field, as ``spec.capability.cpu`` or
        ``capability.cpu``.
    :raises UsageError: the object has no such number.
    :raises ObjectNotFound: there is no such object at that moment.
    """
    moment = log.moment(at)
    target = target_of(log, named, named.place(namespace) or "default", moment)
    what, _, resource = number.partition(".")
    ask = _Asking(log, moment, target.pair, target.key, number)
    sums = _SUMS.get((target.pair, what))
    if sums is None:
        return _field(ask)
    if (what == "pods") is bool(resource):
        raise UsageError(
            f"{number!r} is no number of a {plain_name(*target.pair)}",
            now=f"write {what}" if what == "pods" else f"write {what}.cpu",
        )
    return sums(ask, resource or "pods")


class _Asking(NamedTuple):
    """A question about a number."""

    log: Log
    moment: Moment
    pair: Pair
    key: str
    number: str

    @property
    def about(self) -> str:
        """The object as it is printed."""
        return f"{plain_name(*self.pair)}/{self.key}"


class _Pods(NamedTuple):
    """Which pods count, and how much of a resource each has.

    :param counts: whether a pod with a node counts, by its reference's namespace and its fact.
    """

    resource: str
    counts: Callable[[str, PodFact], bool]

    def amount(self, place: str, fact: object) -> float:
        """Return what a pod adds to the number."""
        if not isinstance(fact, PodFact) or not fact.node or fact.phase in _FINISHED:
            return 0.0
        if not self.counts(place, fact):
            return 0.0
        return 1.0 if self.resource == "pods" else fact.requests.get(self.resource, 0.0)


def _of_queue(ask: _Asking, resource: str) -> Blame:
    truth = ask.log.truth(ask.moment)
    within, queue_of = _below(truth, ask.key), queue_by_podgroup(truth)

    def counts(place: str, fact: PodFact) -> bool:
        return queue_of.get((place, fact.podgroup), fact.queue) in within

    below = counted(len(within) - 1, "queue")
    more = f" and of the {below} below it" if len(within) > 1 else ""
    how = f"{_what(resource)} of queue {ask.key}{more} that have a node and have not ended"
    return _of_pods(ask, _Pods(resource, counts), how)


def _of_node(ask: _Asking, resource: str) -> Blame:
    how = f"{_what(resource)} on node {ask.key} that have not ended"
    return _of_pods(ask, _on_node(ask.key, resource), how)


def _what(resource: str) -> str:
    return "the pods" if resource == "pods" else "requests of the pods"


def _on_node(name: str, resource: str) -> _Pods:
    return _Pods(resource, lambda _, fact: fact.node == name)


def _idle(ask: _Asking, resource: str) -> Blame:
    """Return what is allocatable on a node, and what its pods take of it."""
    used = _of_node(ask, resource)
    entry = ask.log.truth(ask.moment).find(*NODE, "", ask.key)
    allocatable = getattr(entry.fact, "allocatable", {}) if entry is not None else {}
    total = float(allocatable.get(resource, 0.0))
    taken = sum(amount for _, amount in _contributors(ask, _on_node(ask.key, resource)))
    about: ObjectKey = (NODE, ask.key)
    changes = last_change(ask.log, ask.moment, about, _allocatable)
    given = [
        Part(amount=exact_amount(resource, total), about=ask.about, event=event)
        for event in evidence_of(ask.log, ask.moment, changes)
    ]
    parts = [*given, *(msgspec.structs.replace(one, amount=f"-{one.amount}") for one in used.parts)]
    made = msgspec.structs.replace(
        used,
        value=exact_amount(resource, total - taken),
        how="what is allocatable, less the requests of the node's pods",
        parts=tuple(sorted(parts, key=_order)),
        changed=_opposite(used.changed),
    )
    newest = max(given, key=_order, default=None)
    if newest is None or (used.last is not None and _place(used.last) > _order(newest)):
        return made
    return msgspec.structs.replace(made, last=newest.event, changed=f"to {newest.amount}")


def _allocatable(document: Any) -> object:
    return _at(document, ("status", "allocatable"))


def _opposite(text: str) -> str:
    return {"+": "-", "-": "+"}.get(text[:1], text[:1]) + text[1:]


def _inqueue(ask: _Asking, resource: str) -> Blame:
    """Return the PodGroups that are enqueued and have not started, with their minResources."""
    truth = ask.log.truth(ask.moment)
    within = _below(truth, ask.key)
    found: list[tuple[Entry, float]] = [
        (entry, entry.fact.min_resources.get(resource, 0.0))
        for entry in truth.of(*PODGROUP)
        if isinstance(entry.fact, PodGroupFact)
        and entry.fact.phase == "Inqueue"
        and (entry.fact.queue or "default") in within
    ]
    parts = _parts(ask, PODGROUP, found, resource, lambda one: _at(one, ("status", "phase")))
    value = exact_amount(resource, sum(amount for _, amount in found))
    how = f"minResources of the PodGroups of queue {ask.key} in phase Inqueue"
    return _blame(ask, value, how, parts)


def _of_pods(ask: _Asking, pods: _Pods, how: str) -> Blame:
    found = _contributors(ask, pods)
    parts = _parts(ask, POD, found, pods.resource, node_of)
    value = exact_amount(pods.resource, sum(amount for _, amount in found))
    made = _blame(ask, value, how, parts)
    left = _left(ask, pods, made.last)
    if left is None:
        return made
    event, amount = left
    taken = f"-{exact_amount(pods.resource, amount)}"
    return msgspec.structs.replace(made, last=event, changed=taken)


def _contributors(ask: _Asking, pods: _Pods) -> list[tuple[Entry, float]]:
    entries = ask.log.truth(ask.moment).of(*POD)
    found = ((one, pods.amount(one.reference.namespace, one.fact)) for one in entries)
    return [(one, amount) for one, amount in found if amount]


def _parts(
    ask: _Asking,
    pair: Pair,
    found: Iterable[tuple[Entry, float]],
    resource: str,
    read: Callable[[Any], object],
) -> list[Part]:
    """Return what objects add, each with the event since which it does, in order."""
    parts = []
    for entry, amount in found:
        reference = entry.reference
        key = f"{reference.namespace}/{reference.name}"
        changes = last_change(ask.log, ask.moment, (pair, key), read)
        for event in evidence_of(ask.log, ask.moment, changes):
            text = exact_amount(resource, amount)
            parts.append(Part(amount=text, about=f"{plain_name(*pair)}/{key}", event=event))
    return sorted(parts, key=_order)


def _order(part: Part) -> tuple[int, int]:
    return _place(part.event)


def _place(event: Evidence) -> tuple[int, int]:
    return event.revision or 0, event.position


def _blame(ask: _Asking, value: str, how: str, parts: Sequence[Part]) -> Blame:
    last = parts[-1] if parts else None
    return Blame(
        about=ask.about,
        number=ask.number,
        at=ask.moment.label,
        value=value,
        how=how,
        parts=tuple(parts),
        last=None if last is None else last.event,
        changed="" if last is None else f"+{last.amount}",
        not_known=tuple(unknown_at(ask.log, ask.moment, [ask.pair, POD])),
    )


def _left(ask: _Asking, pods: _Pods, last: Evidence | None) -> tuple[Evidence, float] | None:
    """Return the last event after the last addition with which a pod stopped counting."""
    after = 0 if last is None or last.revision is None else last.revision
    query = Query(
        branch=ask.moment.branch,
        cluster=ask.moment.cluster,
        until=ask.moment.known,
        objects=(POD,),
        revisions=(after + 1, ask.moment.revision),
        limit=LATER,
    )
    found: tuple[Recorded, float] | None = None
    events = sorted(ask.log.store.read(query), key=lambda one: one.event.revision or 0)
    counted = _before(ask, pods, after) if events else {}
    for recorded in events:
        effect = KINDS[recorded.event.kind].effect
        if effect not in {Effect.VERSION, Effect.DELETED}:
            continue
        reference = recorded.event.reference
        was = counted.get(reference.uid, 0.0)
        now = 0.0
        if effect is Effect.VERSION:
            fact = extract_fact(*POD, recorded.event.payload)
            now = pods.amount(reference.namespace, fact)
        if was and not now:
            found = recorded, was
        counted[reference.uid] = now
    if found is None:
        return None
    return next(evidence_of(ask.log, ask.moment, [found[0]])), found[1]


def _before(ask: _Asking, pods: _Pods, revision: int) -> dict[str, float]:
    """Return what each pod added at an earlier revision, by uid."""
    then = msgspec.structs.replace(ask.moment, revision=revision, time=None, label=f"rv:{revision}")
    return {
        one.reference.uid: amount for one, amount in _contributors(ask._replace(moment=then), pods)
    }


def _below(truth: Truth, name: str) -> frozenset[str]:
    """Return a queue and all queues below it."""
    parents = {
        one.reference.name: one.fact.parent
        for one in truth.of(*QUEUE)
        if isinstance(one.fact, QueueFact)
    }
    within = {name}
    for _ in parents:
        within |= {queue for queue, parent in parents.items() if parent in within}
    return frozenset(within)


def _field(ask: _Asking) -> Blame:
    """Return the changes of a field of the object itself."""
    what, _, rest = ask.number.partition(".")
    head = _FIELDS.get(what, (what,))
    if (ask.pair, what) == (JOB, "phase"):
        head = ("status", "state", "phase")
    path = (*head, *([rest] if rest else []))
    about: ObjectKey = (ask.pair, ask.key)
    changes = list(changes_in(ask.log, ask.moment, about, lambda one: _at(one, path)))
    if not changes or all(one.after is None for one in changes):
        raise _unset(ask, what)
    events = evidence_of(ask.log, ask.moment, [one.recorded for one in changes])
    parts = [
        Part(amount=_text(one.after), before=_text(one.before), about=ask.about, event=event)
        for one, event in zip(changes, events, strict=True)
    ]
    made = _blame(ask, parts[-1].amount, f"field {'.'.join(path)}", parts)
    return msgspec.structs.replace(made, changed=f"{parts[-1].before} → {parts[-1].amount}")


def _unset(ask: _Asking, what: str) -> UsageError:
    """Return the error for a field that no version of the object has."""
    named = _NAMES.get(ask.pair, ())
    if what not in named:
        known = sorted({name for pair, name in _SUMS if pair == ask.pair} | set(named))
        return UsageError(
            f"{ask.about} has no number {ask.number!r} in any version that the log holds",
            now=f"as in {', '.join(known)}; a resource follows a dot: allocated.cpu",
        )
    now = "ask about a number that the object has; plinian describe prints them"
    if what in _COMPUTED:
        now = f"sessions compute it; see it with: plinian why {ask.about} -v"
    return UsageError(f"no version of {ask.about} in the log sets {ask.number}", now=now)


def _at(document: Any, path: Sequence[str]) -> object:
    """Return a part of a document; the last step may be a name with dots, or several steps."""
    for step in path:
        if not isinstance(document, dict):
            return None
        if step in document:
            document = document[step]
            continue
        head, dot, rest = step.partition(".")
        document = _at(document.get(head), (rest,)) if dot else None
    found: object = document
    return found


def _text(value: object) -> str:
    if value is None:
        return "<none>"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


_Sum = Callable[[_Asking, str], Blame]
_SUMS: Mapping[tuple[Pair, str], _Sum] = MappingProxyType(
    {
        (QUEUE, "allocated"): _of_queue,
        (QUEUE, "pods"): _of_queue,
        (QUEUE, "inqueue"): _inqueue,
        (NODE, "used"): _of_node,
        (NODE, "pods"): _of_node,
        (NODE, "idle"): _idle,
    }
)
"""The numbers that are sums, by kind and name."""


def blame_document(found: Blame) -> dict[str, Any]:
    """Return what makes up a number, for JSON."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    document["not_known"] = [document_of(one) for one in found.not_known]
    return document
