"""A moment of a log as a scenario: what existed then, and what users wrote after it.

The world is as recorded, and the order of everything that is no user's is free. What had to be
assumed for that is said in sentences, which belong to the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events import KINDS, Effect, Event
from ...engine.kubernetes.api_server import (
    ADDED,
    DELETED,
    MODIFIED,
    Document,
    ObjectKey,
    controller_of,
    place_of,
)
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.pod_quota import quota_usage
from ...engine.kubernetes.quantity_lists import Amounts, add, amounts, written
from ...engine.kubernetes.resources import GroupKind
from ...engine.log.store import Query
from ...engine.machine.user import UserAct
from ..logs.log import Log
from ..logs.logged_confs import conf_at
from ..logs.readable_objects import readable_at
from ..moments.moment import Moment
from .explored_scenario import MachineCase
from .families import Families, group_of, owner_uids
from .in_log import LoggedFault, shown_later
from .step_writes import short_key
from .version_writes import act_of, clean, is_user

MOST_WRITES = 6
"""So many writes of users are taken, the first ones."""

_VOLCANO, _BATCH, _FLOW = "scheduling.volcano.sh", "batch.volcano.sh", "flow.volcano.sh"
_SURROUNDINGS: tuple[GroupKind, ...] = (
    *(("", "Node"), (_VOLCANO, "Queue"), ("scheduling.k8s.io", "PriorityClass")),
)
_RUNNING: tuple[GroupKind, ...] = (
    *(("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet")),
    *((_FLOW, "JobFlow"), (_FLOW, "JobTemplate")),
    *((_BATCH, "Job"), (_VOLCANO, "PodGroup"), ("", "Pod")),
)
_ENDED = frozenset({"Succeeded", "Failed"})


class RecordedCase(NamedTuple):
    """A scenario made of a log.

    :param assumed: sentences that say what was left out, and what was concluded.
    """

    case: MachineCase
    assumed: tuple[str, ...]


class _Write(NamedTuple):
    """A user's write.

    :param known: the log says who wrote; else it was concluded. :param version: the whole object.
    """

    act: UserAct
    known: bool
    version: Document

    @property
    def place(self) -> ObjectKey:
        """The object that is written."""
        return place_of(self.act.document)


class _Choice(NamedTuple):
    """Writes that are taken, of so many in question. :param reason: a sentence, if there is one."""

    writes: Sequence[_Write]
    of: int
    reason: str = ""


def case_at(
    log: Log, at: str, release: str, *, until: str = "end", objects: Sequence[str] = ()
) -> RecordedCase:
    """Return the scenario that begins at a moment of a log.

    Users often write to many objects that have nothing to do with each other. If objects are not
    named, the writes to one family of them are taken: that which is wrong at the end of the log,
    or, if there are too many writes, that which users wrote most.

    :param release: whose invariants say what is wrong at the end of the log.
    :param until: the last moment whose writes of users are taken.
    :param objects: as in ``deployment/web``: only their writes, and what belongs to them.
    :raises UsageError: users wrote nothing then, or the log does not have an object.
    """
    moment = log.moment(at)
    end = log.on_branch_of(moment).moment(until)
    existing = {kind: _held(log, kind, moment) for kind in (*_SURROUNDINGS, *_RUNNING)}
    running = [document for kind in _RUNNING for document in existing[kind]]
    named = {_place_named(log, text, moment) for text in objects}
    writes = [
        write
        for write in _user_writes(log, moment, end, running)
        if not named or write.place in named
    ]
    if not writes:
        raise UsageError(
            f"the log holds no write of a user between {moment.label} and {end.label}"
            + (f" to {', '.join(objects)}" if objects else ""),
            now="give an earlier point with --at, or other objects with --object",
        )
    choice = _Choice(writes[:MOST_WRITES], len(writes))
    if not named:
        last = [document for kind in _RUNNING for document in _held(log, kind, end)]
        versions = [*running, *(write.version for write in writes), *last]
        shown = partial(shown_later, log, moment, release)
        choice = _chosen(writes, Families(versions), shown)
    focus = named or {write.place for write in choice.writes}
    belonging = _belonging(running, focus)
    left_out = [
        pod for pod in existing["", "Pod"] if place_of(pod) not in set(map(place_of, belonging))
    ]
    nodes = _with_less_room(existing["", "Node"], left_out)
    others = [document for kind in _SURROUNDINGS[1:] for document in existing[kind]]
    conf = conf_at(log.store, moment)
    assumed = tuple(_assumed(running, belonging, left_out, choice))
    case = MachineCase(
        name=f"log at {moment.label}",
        about=" ".join(assumed),
        conf=conf.text if conf is not None else "",
        existing=tuple(clean(document) for document in (*nodes, *others, *belonging)),
        writes=tuple(write.act for write in choice.writes),
    )
    return RecordedCase(case, assumed)


def _chosen(
    writes: Sequence[_Write], families: Families, shown: Callable[[], Iterable[LoggedFault]]
) -> _Choice:
    """Take the writes to objects that belong together: which are wrong later, or written most."""
    written: dict[ObjectKey | str, list[_Write]] = {}
    for write in writes:
        written.setdefault(families.of(write.place), []).append(write)
    if len(written) == 1:
        return _Choice(writes[:MOST_WRITES], len(writes))
    for fault in shown():
        mine = written.get(families.of(ObjectKey(fault.kind, fault.key)))
        if mine is not None:
            why = f"the log later shows {fault.invariant} for {fault.kind} {short_key(fault.key)}"
            return _of_family(mine, len(written), why)
    if len(writes) <= MOST_WRITES:
        return _Choice(writes, len(writes))
    most = max(written.values(), key=len)
    return _of_family(most, len(written), "users wrote to it most")


def _of_family(writes: Sequence[_Write], families: int, why: str) -> _Choice:
    place = writes[0].place
    reason = (
        f"Users wrote to {families} objects that do not belong together. Taken are the writes to "
        f"{place.kind} {short_key(place.key)} and what belongs to it, because {why}; --object "
        "chooses others."
    )
    return _Choice(writes[:MOST_WRITES], len(writes), reason)


def _held(log: Log, kind: GroupKind, moment: Moment) -> list[Document]:
    """Return the objects of a kind, oldest first: only their order of creation is kept."""
    documents = readable_at(log, moment, [kind])
    return sorted(
        documents, key=lambda document: document["metadata"].get("creationTimestamp") or ""
    )


def _place_named(log: Log, text: str, moment: Moment) -> ObjectKey:
    named = log.object(text, moment)
    if (named.group, named.kind) not in _RUNNING:
        raise UsageError(
            f"--object: a {named.kind} runs nothing",
            now=f"name one of {', '.join(kind for _, kind in _RUNNING)}",
        )
    return ObjectKey(named.kind, f"{named.namespace or 'default'}/{named.name}")


def _user_writes(
    log: Log, moment: Moment, end: Moment, running: Iterable[Document]
) -> Iterator[_Write]:
    """Yield what users wrote between two moments, in the order of revisions."""
    versions = {place_of(document): document for document in running}
    events = sorted(_later(log, moment, end), key=lambda event: event.revision or 0)
    # An attribution names the writer of a version in another event of the same revision.
    writers = {
        (event.revision, event.reference.name): event.actor for event in events if event.actor
    }
    for event in events:
        effect = KINDS[event.kind].effect
        if effect not in {Effect.VERSION, Effect.DELETED}:
            continue
        place = _place_of(event)
        before = versions.pop(place, None)
        now = None if effect is Effect.DELETED else msgspec.json.decode(event.payload, type=dict)
        if now is not None:
            versions[place] = now
        writer = writers.get((event.revision, event.reference.name), "")
        act = act_of(place, before, now) if not writer or is_user(writer) else None
        if act is not None and (writer or _concluded(before or now)):
            yield _Write(act, bool(writer), before or now or act.document)


def _later(log: Log, moment: Moment, end: Moment) -> Iterator[Event]:
    """Yield the events about what runs that happened after a moment, up to another one."""
    query = Query(branch=end.branch, cluster=end.cluster, until=end.known, objects=_RUNNING)
    for recorded in log.store.read(query):
        revision = recorded.event.revision
        if revision is None or (end.revision is not None and revision > end.revision):
            continue
        is_new = moment.revision is None or revision > moment.revision
        if is_new and (moment.revision is not None or recorded.position > moment.known):
            yield recorded.event


def _place_of(event: Event) -> ObjectKey:
    about = event.reference
    return ObjectKey(about.kind, f"{about.namespace or 'default'}/{about.name}")


def _concluded(document: Document | None) -> bool:
    """Say whether a write of an unknown actor is a user's: no controller has the object."""
    return document is not None and controller_of(document) is None


def _belonging(running: Sequence[Document], focus: set[ObjectKey]) -> list[Document]:
    """Return the objects in focus, what they own, and the PodGroups that their pods name."""
    places = {place_of(document) for document in running if place_of(document) in focus}
    grown = True
    while grown:
        uids = {document["metadata"]["uid"] for document in running if place_of(document) in places}
        groups = {group_of(document) for document in running if place_of(document) in places}
        more = {
            place_of(document)
            for document in running
            if owner_uids(document) & uids or place_of(document) in groups
        }
        grown = not more <= places
        places |= more
    return [document for document in running if place_of(document) in places]


def _with_less_room(nodes: Iterable[Document], pods: Iterable[Document]) -> list[Document]:
    """Return nodes without the room that pods take which are left out."""
    taken: dict[str, Amounts] = {}
    for pod in pods:
        node = (pod.get("spec") or {}).get("nodeName")
        if node and (pod.get("status") or {}).get("phase") not in _ENDED:
            add(taken.setdefault(node, {}), quota_usage(pod))
    return [_less(node, taken.get(node["metadata"]["name"], {})) for node in nodes]


def _less(node: Document, taken: Amounts) -> Document:
    status = node.get("status") or {}
    room = amounts(status.get("allocatable"))
    for name in room.keys() & taken.keys():
        left = room[name].billionths - taken[name].billionths
        room[name] = room[name]._replace(billionths=max(left, 0))
    return {**node, "status": {**status, "allocatable": written(room)}} if taken else node


def _assumed(
    running: Sequence[Document],
    belonging: Sequence[Document],
    left_out: Sequence[Document],
    choice: _Choice,
) -> Iterator[str]:
    """Yield what an answer rests on, in sentences."""
    taken = choice.writes
    yield (
        "Every component had seen what existed then, and finished what it was doing, before the "
        "first write of a user."
    )
    if choice.reason:
        yield choice.reason
    done = ", ".join(map(_told, taken))
    yield f"Taken as writes of users, in this order: {done}."
    concluded = sum(not write.known for write in taken)
    if concluded:
        yield (
            f"Of {concluded} of them the log does not say who wrote: they change the spec of an "
            "object that no controller has."
        )
    if choice.of > len(taken):
        late = ("later write of users is", "later writes of users are")
        count = counted(choice.of - len(taken), *late)
        yield f"{count} left out; --until and --object choose fewer."
    if len(running) > len(belonging):
        gone = len(running) - len(belonging)
        be = ("is", "it does") if gone == 1 else ("are", "they do")
        take = counted(len(left_out), "pod takes", "pods take")
        yield (
            f"{gone} of {counted(len(running), 'object')} {be[0]} left out, because {be[1]} not "
            f"belong to what users wrote; the room that {take} is taken off what is "
            "allocatable on nodes."
        )
    yield "Pods that controllers create get other names than in the log."


def _told(write: _Write) -> str:
    document = write.act.document
    place = place_of(document)
    spec = document.get("spec") or {}
    verb = {ADDED: "creates", DELETED: "deletes"}.get(write.act.verb, "changes")
    wording = f"{verb} {place.kind} {short_key(place.key)}"
    if write.act.verb == MODIFIED and set(spec) == {"replicas"}:
        return f"scales {place.kind} {short_key(place.key)} to {spec['replicas']}"
    return wording
