"""The page of one object: its state, who set each field, every version, and what belongs to it.

Its versions have a template: a list of them, each with its fields, is on no other page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ....engine.kubernetes.resources import CLUSTER_SCOPED
from ....engine.state.facts import JobFact, PodFact, PodGroupFact
from ....engine.state.object_status import status_of
from ....engine.state.truth_fold import Entry, Truth
from ...facade.log import Log
from ...histories.history import Happening, History, ObjectHistory
from ...logs.given_names import stem_of
from ...logs.job_groups import groups_named_by_pods, jobs_named_by_pods
from ...moments.times import span_text
from ...objects.field_changes import changes
from ...objects.kind_names import object_named
from ...render.blocks import (
    Block,
    ItemList,
    ListedItem,
    Marked,
    Ref,
    Section,
    Sentence,
    Words,
    joined,
    moment_ref,
    object_ref,
)
from ...render.differences import value_text
from ...render.documents import plain
from ...render.events import object_text
from ...render.state_looks import look_of
from ...render.tables import NONE, TextColumn, cut, table_of
from .blocks import BlockPage, drawn, paged
from .bounded import MOST_ROWS
from .life_strip import life_strip
from .lives import life_of, set_by, setter
from .look import Look
from .notes import ASKABLE, JOB, NODE, POD, PODGROUP, QUEUE, filled_in, question_of, sentences
from .page import page

LONGEST = 2000
"""Characters of a value in a page."""

MOST_FIELDS = 12
"""Fields of one version that are shown one by one."""


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field that a version changed; empty where it did not exist."""

    new: str
    old: str
    path: str


class ShownVersion(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the object. :param more: how many changes of fields are left out.

    :param later: it is after the moment of the page.
    """

    actor: str
    changes: tuple[FieldChange, ...]
    kind: str
    later: bool
    more: int
    note: str
    position: int
    revision: int | None
    time: str
    uid: str


@page("{kind}/{key:path}", "Object", takes=("fields", "skip"))
def one_object(log: Log, look: Look, kind: str, key: str) -> BlockPage:
    """Return an object at a moment, with all its versions.

    :raises UsageError: the path names no object. :raises ObjectNotFound: the log never held it.
    """
    moment, end = log.moment(look.at), log.moment("end")
    past = log.history(log.object(f"{kind}/{key}", end), at=end)
    reference = past.object
    name, pair = object_text(reference), (reference.group, reference.kind)
    truth = log.truth(moment)
    entry = truth.find(*pair, reference.namespace, reference.name)
    current = None if entry is None else next(log.documents([entry]))
    # ``past`` has all versions, also later ones; ``known`` ends at the moment of the page.
    life = life_of(log, name)
    known = life.by(look.position)
    position = 0 if entry is None else entry.position
    fields = list(_fields(current or {}, known, position))
    shown_fields, fields_pager = paged(look, fields, "fields")
    later = [happening for happening in past.happenings if happening.position > look.position]
    rows = [
        _version(happening, look.position)
        for happening in (*reversed(later), *reversed(known.happenings))
    ]
    versions, versions_pager = paged(look, rows, "versions", name="skip")
    changed = None if known.changed is None else _version(known.changed, look.position)
    last = "" if changed is None else _last_change(changed)
    around = list(_around_it(truth, entry, past))

    blocks = _gone(past, last) if entry is None else _state(entry, name, last)
    if len(past.uids) > 1:
        many = f"{len(past.uids)} objects had this name, one after the other."
        blocks.append(Sentence(many, "remark"))
    if around:
        blocks.append(ItemList(around, "links"))
    nothing = Sentence("The log holds no version of it.", "blank")
    list_of = drawn(look, "versions.html", versions=versions.rows, position=position)
    sections = (
        Section([life_strip(look, life), *blocks]),
        Section(_field_blocks(shown_fields.rows, fields_pager), "State"),
        Section([list_of, versions_pager] if rows else [nothing], "Versions, newest first"),
    )
    data = {
        "changed": changed,
        "exists": entry is not None,
        "fields": shown_fields.rows,
        "history": past,
        "name": name,
        "node": _node(entry),
        "object": plain(current),
        "position": position,
        "status": "" if entry is None else status_of(entry.fact),
    }
    gaps = (*sentences(past.not_known), *filled_in(log, moment, (pair,)))
    return BlockPage(name, lambda: sections, data, not_known=gaps)


def _fields(current: dict[str, Any], past: History, version: int) -> Iterator[Mapping[str, Any]]:
    """Yield the fields of an object, each with the last event that changed it."""
    places = set_by(past, version)
    for leaf in changes({}, current):
        value = cut(value_text(leaf.new), LONGEST)
        yield {"path": leaf.path, "set_at": setter(places, leaf.path), "value": value}


def _field_blocks(fields: Sequence[Mapping[str, Any]], pager: Block) -> Sequence[Block]:
    """Return some fields as a table; nothing if the object has none."""
    table = table_of(_FIELDS, fields, "Fields of the state")._replace(look="fields-table")
    return [table, pager] if fields else ()


_FIELDS: Sequence[TextColumn[Any]] = (
    TextColumn("FIELD", lambda row: row["path"]),
    TextColumn("VALUE", lambda row: Marked(row["value"], "code")),
    TextColumn("SET BY", lambda row: moment_ref(row["set_at"]) if row["set_at"] else NONE),
)


def _node(entry: Entry | None) -> str:
    """Return the node of a pod; empty of others."""
    fact = None if entry is None else entry.fact
    return fact.node if isinstance(fact, PodFact) else ""


def _state(entry: Entry, name: str, last: str) -> list[Block]:
    """Return what an object is, and what can be asked about it."""
    status, node, kind = status_of(entry.fact), _node(entry), name.partition("/")[0]
    said: list[str] = [Marked(status, f"phase {look_of(status, node)}"), " · "] if status else []
    if node:
        bound = moment_ref(entry.bound_position) if entry.bound_position else ""
        yet = (" (bound by ", bound, "; no version shows it yet)") if bound else ()
        said += ["on ", object_ref(f"node/{node}", node), *yet, " · "]
    version = f"version {entry.resource_version or NONE}, written by "
    said += [version, moment_ref(entry.position), ".", *([" ", last, "."] if last else ())]
    if entry.stale:
        lost = "A later write was accepted, and the log does not hold its result."
        said += [" ", Marked(lost, "warn")]
    blocks: list[Block] = [Sentence(Words(*said), "state")]
    if kind in ASKABLE:
        question, about = question_of(entry.fact), name.partition("/")[2]
        asks = [Ref(question, f"why/{name}", look="button", key="w")] if question else []
        if kind == "pod":
            asks.append(Ref("Every check of it", f"path/{name}", look="button"))
        steps = "Steps of the session about it"
        asks.append(Ref(steps, "session", look="button", about=about))
        asks.append(Ref("In the timeline", look="button", key="t", sel=name))
        blocks.append(Sentence(Words(*joined(asks, " ")), "actions"))
    return blocks


def _gone(past: ObjectHistory, last: str) -> list[Block]:
    """Return that an object does not exist, and when it did."""
    places = [happening.position for happening in past.happenings]
    said: list[str] = ["It does not exist at this moment"]
    if places:
        said += [": the log has it from ", moment_ref(min(places)), " to ", moment_ref(max(places))]
    said += [". ", last] if last else []
    said.append(".")
    shown = max(
        (happening.position for happening in past.happenings if happening.shows_version), default=0
    )
    if shown:
        before = Ref("Look at it before it was gone", None, at=shown, key="b")
        said += [" ", before, "."]
    return [Sentence(Words(*said), "remark")]


def _last_change(shown_version: ShownVersion) -> str:
    by = f" by {shown_version.actor}" if shown_version.actor else ""
    return Words("Last change: ", moment_ref(shown_version.position), f" {shown_version.kind}{by}")


def _version(happening: Happening, now: int) -> ShownVersion:
    return ShownVersion(
        position=happening.position,
        kind=happening.kind,
        time=span_text(happening.span),
        revision=happening.revision,
        actor=happening.actor,
        uid=happening.uid,
        note=happening.note,
        changes=tuple(
            FieldChange(path=each.path, old=_text(each.old), new=_text(each.new))
            for each in happening.changes[:MOST_FIELDS]
        ),
        more=len(happening.changes[MOST_FIELDS:]),
        later=happening.position > now,
    )


def _text(value: object) -> str:
    return "" if value is msgspec.UNSET else cut(value_text(value), LONGEST)


def _around_it(truth: Truth, entry: Entry | None, past: ObjectHistory) -> Iterator[ListedItem]:
    """Yield the objects around this one; those that do not exist at the moment are apart."""
    by_title: dict[str, list[str]] = {"Owned by it": list(map(object_text, past.belonging))}
    if entry is not None:
        by_title |= _around(truth, entry)
    there = {
        title: [name for name in names if _is_there(truth, name)]
        for title, names in by_title.items()
    }
    gone = {
        f"{title}, not at this moment": [name for name in names if name not in there[title]]
        for title, names in by_title.items()
    }
    for title, names in (there | gone).items():
        if names:
            more = f" and {len(names[MOST_ROWS:])} more" if names[MOST_ROWS:] else ""
            refs = joined(map(object_ref, names[:MOST_ROWS]), " ")
            yield ListedItem(Words(*refs, Marked(more, "cut")), title)


def _is_there(truth: Truth, name: str) -> bool:
    """Return whether an object exists, by its name in links."""
    object_name = object_named(name)
    place = "" if (object_name.group, object_name.kind) in CLUSTER_SCOPED else object_name.namespace
    return truth.find(object_name.group, object_name.kind, place, object_name.name) is not None


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
            "Job": [object_text(job.reference) for job in jobs],
            "Queue": [f"queue/{fact.queue or 'default'}"],
            "Pods": _pods(truth, place, lambda pod: pod.podgroup == name),
        }
    if isinstance(fact, JobFact):
        groups = [
            group for group in truth.of(*PODGROUP, place) if stem_of(group.reference.name) == name
        ]
        groups += groups_named_by_pods(truth, reference)
        return {
            "Queue": [f"queue/{fact.queue or 'default'}"],
            "PodGroup": sorted({object_text(group.reference) for group in groups}),
        }
    if pair == NODE:
        return {"Pods": _pods(truth, None, lambda pod: pod.node == name)}
    return _around_queue(truth, entry) if pair == QUEUE else {}


def _around_queue(truth: Truth, entry: Entry) -> dict[str, list[str]]:
    name, parent = entry.reference.name, getattr(entry.fact, "parent", "")
    return {
        "Parent": [f"queue/{parent}"] if parent else [],
        "Queues below it": [
            object_text(queue.reference)
            for queue in truth.of(*QUEUE)
            if getattr(queue.fact, "parent", "") == name
        ],
        "PodGroups": [
            object_text(group.reference)
            for group in truth.of(*PODGROUP)
            if isinstance(group.fact, PodGroupFact) and (group.fact.queue or "default") == name
        ],
    }


def _pods(truth: Truth, place: str | None, fits: Callable[[PodFact], bool]) -> list[str]:
    return [
        object_text(entry.reference)
        for entry in truth.of(*POD, place)
        if isinstance(entry.fact, PodFact) and fits(entry.fact)
    ]
