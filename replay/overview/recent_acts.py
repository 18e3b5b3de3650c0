"""What people and components did shortly before a moment, where it can matter for scheduling.

Of nodes, queues and priority classes each change is listed, of pods, PodGroups and jobs who
created, deleted or evicted them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ...engine.events import KINDS, Effect, Reference
from ...engine.events.payloads import ProcessPanicked, ProcessStarted
from ...engine.kubernetes.resources import plural_of
from ...engine.log.store import Query
from ...engine.state.clock import UNDATED, TimeSpan
from ...engine.state.extract import extract_fact
from ...engine.state.facts import Fact, NodeFact, QueueFact, Resources
from ...engine.state.truth_fold import Entry
from ..answers.amounts import in_order, joined, word
from ..answers.answering_session import NODE, PRIORITY_CLASS, QUEUE
from ..logs.event_filters import bounds
from ..logs.log import Log
from ..moments.actors import AttributedEvent
from ..moments.moment import Moment
from ..moments.read_events import attributed_events
from ..moments.times import span_of_day, span_text
from ..objects.kind_names import plain_name
from .problems import MOST_NAMED, Act

Name = tuple[str, str, str]
"""Group, kind and name of an object without a namespace."""

_FOLLOWED = (NODE, QUEUE, PRIORITY_CLASS)
_VERSIONS = ("node.*", "queue.*", "priorityclass.*")
"""Objects of which each version is compared with the one before: few, and each may matter."""

_VERBS: Mapping[str, str] = MappingProxyType(
    {
        "pod.evicted": "evicts",
        "pod.deleted": "deletes",
        "podgroup.deleted": "deletes",
        "job.created": "creates",
        "job.deleted": "deletes",
    }
)


class DeedSort(StrEnum):
    """What a deed is, where it matters on a picture."""

    CRASH = "crash"
    START = "start"
    EVICTION = "eviction"
    CORDON = "cordon"
    EDIT = "edit"
    OTHER = "other"


_PROCESSES: Mapping[str, DeedSort] = MappingProxyType(
    {
        "config.applied": DeedSort.EDIT,
        "process.started": DeedSort.START,
        "process.panicked": DeedSort.CRASH,
        "collection.deleted": DeedSort.OTHER,
    }
)


class Deed(NamedTuple):
    """One thing that somebody did to one object.

    :param verb: what comes before the name of the object, as in ``deletes``.
    :param object: without a kind, if it was done to none.
    """

    actor: str
    verb: str
    object: Reference
    span: TimeSpan
    position: int
    sort: DeedSort = DeedSort.OTHER


def acts_between(log: Log, before: Moment, after: Moment) -> list[Act]:
    """Return what was done between two moments, people before components, the newest first."""
    by_act: dict[tuple[str, str, str], list[Deed]] = {}
    for deed in deeds_between(log, before, after):
        kind = plain_name(deed.object.group, deed.object.kind) if deed.object.kind else ""
        by_act.setdefault((deed.actor, deed.verb, kind), []).append(deed)
    acts = [_act(deeds, kind) for (_, _, kind), deeds in by_act.items()]
    # Stable sorts: the newest first, and then people before components.
    acts.sort(key=lambda act: act.position, reverse=True)
    acts.sort(key=lambda act: is_component(act.actor))
    return acts


def deeds_between(log: Log, before: Moment, after: Moment) -> Iterator[Deed]:
    """Yield each thing that was done between two moments, in no order."""
    return chain(_of_versions(log, before, after), _of_events(log, before, after))


def is_component(actor: str) -> bool:
    """Return whether an actor is a part of Kubernetes or Volcano, or is not known."""
    return not actor or actor.startswith("system:")


def _act(deeds: Sequence[Deed], kind: str) -> Act:
    last = max(deeds, key=lambda deed: deed.position)
    names = dict.fromkeys(f"{kind}/{deed.object.full_name}" for deed in deeds if kind)
    what = last.verb
    if len(names) > 1:
        what = f"{what} {len(names)} {plural_of(last.object.group, last.object.kind)}"
    return Act(
        time=span_text(last.span),
        of_day=span_of_day(last.span),
        position=last.position,
        actor=last.actor,
        text=what,
        objects=tuple(names)[:MOST_NAMED],
        count=max(1, len(names)),
    )


def _of_versions(log: Log, before: Moment, after: Moment) -> Iterator[Deed]:
    """Yield what was done to nodes and queues, by their versions in the order of revisions."""
    facts = {
        _name(entry.reference): entry for pair in _FOLLOWED for entry in log.truth(before).of(*pair)
    }
    by_object: dict[Name, list[AttributedEvent]] = {}
    for event in attributed_events(log.store, after, _query(log, before, after, _VERSIONS)):
        by_object.setdefault(_name(event.event.reference), []).append(event)
    for name, events in by_object.items():
        known = facts.get(name)
        yield from _life(None if known is None else known.fact, sorted(events, key=_order))
    now = {_name(entry.reference) for entry in _followed(log, after)}
    for name, entry in facts.items():
        if name not in now and name not in by_object:  # A later list lacks it.
            yield Deed("", "deletes", entry.reference, UNDATED, 0)


def _followed(log: Log, moment: Moment) -> Iterator[Entry]:
    truth = log.truth(moment)
    for pair in _FOLLOWED:
        yield from truth.of(*pair)


def _name(reference: Reference) -> Name:
    return reference.group, reference.kind, reference.name


def _order(event: AttributedEvent) -> tuple[int, int]:
    return event.event.revision or 0, event.position


def _life(fact: Fact | None, events: Sequence[AttributedEvent]) -> Iterator[Deed]:
    """Yield what the versions of one object do.

    :param fact: what it was before; None if it is not known to have been there.
    """
    for event in events:
        said, reference = event.event, event.event.reference
        effect = KINDS[said.kind].effect
        if effect is Effect.DELETED:
            fact = None
            yield Deed(event.actor, "deletes", reference, event.span, event.position)
        elif effect is Effect.VERSION:
            now = extract_fact(reference.group, reference.kind, said.payload)
            # What a list shows first may be old: only a creation was done in this time.
            if fact is None and said.kind.endswith(".created"):
                yield Deed(event.actor, "adds", reference, event.span, event.position)
            for words in () if fact is None else _changes(fact, now):
                sort = _sort_of(fact, now)
                yield Deed(event.actor, words, reference, event.span, event.position, sort)
            fact = now


def _sort_of(before: Fact | None, now: Fact) -> DeedSort:
    """Return what a version does that changes something."""
    if isinstance(before, NodeFact) and isinstance(now, NodeFact):
        return DeedSort.EDIT if before.unschedulable == now.unschedulable else DeedSort.CORDON
    return DeedSort.EDIT


def _changes(before: Fact, now: Fact) -> Iterator[str]:
    """Yield what a version changes that matters to the scheduler, up to the object's name."""
    if isinstance(before, NodeFact) and isinstance(now, NodeFact):
        if before.unschedulable != now.unschedulable:
            yield "cordons" if now.unschedulable else "uncordons"
        if before.ready != now.ready:
            old, new = _text(before.ready), _text(now.ready)
            yield f"sets Ready from {old} to {new} on"
        yield from _amounts("allocatable", before.allocatable, now.allocatable)
    if isinstance(before, QueueFact) and isinstance(now, QueueFact):
        for field in ("state", "weight", "parent", "reclaimable"):
            old, new = getattr(before, field), getattr(now, field)
            if old != new:
                yield f"sets {field} from {_text(old)} to {_text(new)} on"
        for field in ("capability", "deserved", "guarantee"):
            yield from _amounts(field, getattr(before, field), getattr(now, field))


def _amounts(field: str, before: Resources, now: Resources) -> Iterator[str]:
    """Yield which amounts of a field change, in one sentence."""
    names = [name for name in in_order({*before, *now}) if before.get(name) != now.get(name)]
    parts = [f"{name} from {_amount(before, name)} to {_amount(now, name)}" for name in names]
    if parts:
        yield f"sets {field} {joined(parts)} on"


def _amount(amounts: Resources, name: str) -> str:
    return word(amounts[name], name) if name in amounts else "nothing"


def _text(value: object) -> str:
    if value in {None, ""}:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _query(
    log: Log, before: Moment, after: Moment, kinds: tuple[str, ...], *, bare: bool = False
) -> Query:
    return Query(
        branch=after.branch,
        cluster=after.cluster,
        kinds=kinds,
        bare=bare,
        **bounds(log, before, after, None),
    )


def _of_events(log: Log, before: Moment, after: Moment) -> Iterator[Deed]:
    # What was done to an object does not depend on what the object is like.
    query = _query(log, before, after, (*_VERBS,), bare=True)
    for event in attributed_events(log.store, after, query):
        verb = _VERBS[event.event.kind]
        sort = DeedSort.EVICTION if event.event.kind == "pod.evicted" else DeedSort.OTHER
        yield Deed(event.actor, verb, event.event.reference, event.span, event.position, sort)
    query = _query(log, before, after, (*_PROCESSES,))
    yield from map(_of_process, attributed_events(log.store, after, query))


def _of_process(event: AttributedEvent) -> Deed:
    """Return what happened to a component or the configuration, or a deletion of many objects."""
    payload, reference = event.event.payload, event.event.reference
    sort = _PROCESSES[event.event.kind]
    match event.event.kind:
        case "process.started":
            started = msgspec.json.decode(payload, type=ProcessStarted)
            version = f" ({started.version})" if started.version else ""
            text, reference = f"component {started.component} starts{version}", Reference()
        case "process.panicked":
            panicked = msgspec.json.decode(payload, type=ProcessPanicked)
            text = f"component {panicked.component} panics: {panicked.message}"
            reference = Reference()
        case "config.applied":
            text, reference = "the scheduler's configuration changes", Reference()
        case _:
            plural = plural_of(reference.group, reference.kind)
            where = f" in namespace {reference.namespace}" if reference.namespace else ""
            text = f"deletes a collection of {plural}{where}"
            reference = Reference()
    return Deed(event.actor, text, reference, event.span, event.position, sort)
