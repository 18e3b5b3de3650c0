"""The page of one object: its state, who set each field, every version, and what belongs to it.

It has a template: a list of versions, each with its fields, is on no other page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ....engine.kubernetes.resources import CLUSTER_SCOPED
from ....engine.state.facts import JobFact, PodFact, PodGroupFact
from ....engine.state.object_status import status_of
from ....engine.state.truth_fold import Entry, Truth
from ...facade.documents import document
from ...facade.log import Log
from ...histories.history import Happening, ObjectHistory
from ...logs.given_names import stem_of
from ...logs.job_groups import groups_named_by_pods, jobs_named_by_pods
from ...moments.times import span_text
from ...objects.field_changes import changes
from ...objects.kind_names import object_named, plain_name
from ...render.differences import value_text
from ...render.events import object_text
from ...render.tables import cut
from .bounded import MOST_ROWS, Some, number, some
from .lives import life_of
from .look import Look
from .notes import ASKABLE, JOB, NODE, POD, PODGROUP, QUEUE, filled_in, question_of, sentences
from .page import page

LONGEST = 2000
"""Characters of a value in a page."""

MOST_FIELDS = 12
"""Fields of one version that are shown one by one."""


class StateField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the state. :param set_at: the position of the event that set it; 0: not known."""

    path: str
    value: str
    set_at: int


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field that a version changed; empty where it did not exist."""

    path: str
    old: str
    new: str


class ShownVersion(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the object. :param more: how many changes of fields are left out.

    :param later: it is after the moment of the page.
    """

    position: int
    kind: str
    time: str
    revision: int | None
    actor: str
    uid: str
    note: str
    changes: tuple[FieldChange, ...]
    more: int
    later: bool


class Links(msgspec.Struct, frozen=True, kw_only=True):
    """Objects that belong to this one, or that it belongs to; as links name them."""

    title: str
    objects: tuple[str, ...]
    more: int


class OneObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object.

    :param name: as links name it, as in ``pod/ml/train-0``.
    :param exists: at the moment; else it does not yet, or does not any more.
    :param position: of the version at the moment. :param stale: a later write has no result here.
    :param phase: its status as ``get`` prints it. :param node: of a pod.
    :param bound: the event that binds it, if no version shows that yet; else 0.
    :param changed: the event that changed it last. :param first: and ``end``: the first and the
        last event that the log has of it; 0 if there is none.
    :param last: the position of its last version before it was deleted; 0 if there is none.
    :param askable: ``why`` answers about it. :param question: what it answers; may be empty.
    :param uids: of all objects that had the name.
    :param versions: newest first; also those after the moment.
    """

    name: str
    kind: str
    exists: bool
    uid: str
    position: int
    last: int
    resource_version: str
    stale: bool
    phase: str
    node: str
    bound: int
    changed: ShownVersion | None
    first: int
    end: int
    askable: bool
    question: str
    uids: tuple[str, ...]
    fields: Some[StateField]
    versions: Some[ShownVersion]
    links: tuple[Links, ...]
    not_known: tuple[str, ...]
    object: dict[str, Any] | None
    history: ObjectHistory


def _json(found: OneObject) -> Any:
    """Return the object, and its history as the command prints it."""
    return {
        "name": found.name,
        "exists": found.exists,
        "position": found.position,
        "status": found.phase,
        "node": found.node,
        "changed": msgspec.to_builtins(found.changed),
        "object": found.object,
        "fields": msgspec.to_builtins(found.fields.rows),
        "history": document(found.history),
    }


@page("{kind}/{key:path}", template="one_object.html", title="Object", json=_json)
def one_object(log: Log, look: Look, kind: str, key: str) -> OneObject:
    """Return an object at a moment, with all its versions.

    :raises UsageError: the path names no object. :raises ObjectNotFound: the log never held it.
    """
    moment, end = log.moment(look.at), log.moment("end")
    named = log.object(f"{kind}/{key}", end)
    past = log.history(named, at=end)
    reference = past.object
    pair = (reference.group, reference.kind)
    truth = log.truth(moment)
    entry = truth.find(*pair, reference.namespace, reference.name)
    held = None if entry is None else next(log.documents([entry]))
    known = life_of(log, object_text(reference)).by(look.position)
    later = [one for one in past.happenings if one.position > look.position]
    rows = [*reversed(later), *reversed(known.happenings)]
    places = [one.position for one in past.happenings]
    fact = None if entry is None else entry.fact
    return OneObject(
        name=object_text(reference),
        kind=reference.kind,
        exists=entry is not None,
        uid="" if entry is None else entry.reference.uid,
        position=0 if entry is None else entry.position,
        last=max((one.position for one in past.happenings if one.shows_version), default=0),
        resource_version="" if entry is None else entry.resource_version,
        stale=entry is not None and entry.stale,
        phase="" if fact is None else status_of(fact),
        node=fact.node if isinstance(fact, PodFact) else "",
        bound=0 if entry is None else entry.bound_position,
        changed=None if known.changed is None else _version(known.changed, look.position),
        first=min(places, default=0),
        end=max(places, default=0),
        askable=plain_name(*pair) in ASKABLE and entry is not None,
        question="" if fact is None else question_of(fact),
        uids=past.uids,
        fields=some(list(_fields(held or {}, known.happenings)), number(look, "fields")),
        versions=some([_version(one, look.position) for one in rows], number(look, "skip")),
        links=tuple(_links(truth, entry, past)),
        not_known=(*sentences(past.not_known), *filled_in(log, moment, (pair,))),
        object=held,
        history=past,
    )


def _version(one: Happening, now: int) -> ShownVersion:
    return ShownVersion(
        position=one.position,
        kind=one.kind,
        time=span_text(one.span),
        revision=one.revision,
        actor=one.actor,
        uid=one.uid,
        note=one.note,
        changes=tuple(
            FieldChange(path=each.path, old=_text(each.old), new=_text(each.new))
            for each in one.changes[:MOST_FIELDS]
        ),
        more=len(one.changes[MOST_FIELDS:]),
        later=one.position > now,
    )


def _text(value: object) -> str:
    return "" if value is msgspec.UNSET else cut(value_text(value), LONGEST)


def _fields(held: dict[str, Any], past: Sequence[Happening]) -> Iterator[StateField]:
    """Yield the fields of an object, each with the last event that changed it.

    :param past: the events of the name by now; only those of the present object count.
    """
    uid = held.get("metadata", {}).get("uid")
    own = [one for one in past if one.uid == uid]
    first = own[0].position if own else 0
    set_by = [(change.path, one.position) for one in reversed(own) for change in one.changes]
    for leaf in changes({}, held):
        at = next((at for path, at in set_by if _concerns(path, leaf.path)), first)
        yield StateField(path=leaf.path, value=cut(value_text(leaf.new), LONGEST), set_at=at)


def _concerns(changed: str, path: str) -> bool:
    """Return whether a change of one path changes what is at another."""
    short, long = sorted((changed, path), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")


def _links(truth: Truth, entry: Entry | None, past: ObjectHistory) -> Iterator[Links]:
    """Yield the objects around this one; those that do not exist at the moment are apart."""
    found: dict[str, list[str]] = {"Owned by it": list(map(object_text, past.belonging))}
    if entry is not None:
        found |= _around(truth, entry)
    there = {
        title: [one for one in names if _is_there(truth, one)] for title, names in found.items()
    }
    gone = {
        f"{title}, not at this moment": [one for one in names if one not in there[title]]
        for title, names in found.items()
    }
    for title, names in (there | gone).items():
        if names:
            yield Links(
                title=title,
                objects=tuple(names[:MOST_ROWS]),
                more=len(names[MOST_ROWS:]),
            )


def _is_there(truth: Truth, name: str) -> bool:
    """Return whether an object exists, by its name in links."""
    one = object_named(name)
    place = "" if (one.group, one.kind) in CLUSTER_SCOPED else one.namespace
    return truth.find(one.group, one.kind, place, one.name) is not None


def _around(truth: Truth, entry: Entry) -> dict[str, list[str]]:
    reference, fact = entry.reference, entry.fact
    place, name = reference.namespace, reference.name
    pair = (reference.group, reference.kind)
    if isinstance(fact, PodFact):
        return {
            "PodGroup": [f"podgroup/{place}/{fact.podgroup}"] if fact.podgroup else [],
            "Job": [f"job/{place}/{fact.job}"] if fact.job else [],
            "Node": [f"node/{fact.node}"] if fact.node else [],
        }
    if isinstance(fact, PodGroupFact):
        named = truth.find(*JOB, place, stem_of(name))
        jobs = jobs_named_by_pods(truth, reference) if named is None else [named]
        return {
            "Job": [object_text(one.reference) for one in jobs],
            "Queue": [f"queue/{fact.queue or 'default'}"],
            "Pods": _pods(truth, place, lambda pod: pod.podgroup == name),
        }
    if isinstance(fact, JobFact):
        groups = [one for one in truth.of(*PODGROUP, place) if stem_of(one.reference.name) == name]
        groups += groups_named_by_pods(truth, reference)
        return {
            "Queue": [f"queue/{fact.queue or 'default'}"],
            "PodGroup": sorted({object_text(one.reference) for one in groups}),
        }
    if pair == NODE:
        return {"Pods": _pods(truth, None, lambda pod: pod.node == name)}
    return _around_queue(truth, entry) if pair == QUEUE else {}


def _around_queue(truth: Truth, entry: Entry) -> dict[str, list[str]]:
    name, parent = entry.reference.name, getattr(entry.fact, "parent", "")
    return {
        "Parent": [f"queue/{parent}"] if parent else [],
        "Queues below it": [
            object_text(one.reference)
            for one in truth.of(*QUEUE)
            if getattr(one.fact, "parent", "") == name
        ],
        "PodGroups": [
            object_text(one.reference)
            for one in truth.of(*PODGROUP)
            if isinstance(one.fact, PodGroupFact) and (one.fact.queue or "default") == name
        ],
    }


def _pods(truth: Truth, place: str | None, fits: Callable[[PodFact], bool]) -> list[str]:
    return [
        object_text(one.reference)
        for one in truth.of(*POD, place)
        if isinstance(one.fact, PodFact) and fits(one.fact)
    ]


PAGES = (one_object,)
