"""A moment of a log as a scenario: what existed then, and what users wrote after it.

The world is as recorded, and the order of everything that is no user's is free. What had to be
assumed for that is said in sentences, which belong to the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events import KINDS, Effect, Event
from ...engine.kubernetes.amounts import Amounts, add, amounts, written
from ...engine.kubernetes.api_server import (
    ADDED,
    DELETED,
    MODIFIED,
    Document,
    Place,
    controller_of,
    place_of,
)
from ...engine.kubernetes.pod_quota import quota_usage
from ...engine.kubernetes.resources import GroupKind
from ...engine.log.store import Query
from ...engine.machine.user import Act
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.scheduler_confs import conf_at
from .changes import short_key
from .scenario import MachineCase

MOST_WRITES = 6
"""So many writes of users are taken, the first ones."""

GROUP_NAME = "scheduling.k8s.io/group-name"
_VOLCANO, _BATCH = "scheduling.volcano.sh", "batch.volcano.sh"
_SURROUNDINGS: tuple[GroupKind, ...] = (
    *(("", "Node"), (_VOLCANO, "Queue"), ("scheduling.k8s.io", "PriorityClass")),
)
_RUNNING: tuple[GroupKind, ...] = (
    *(("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet")),
    *((_BATCH, "Job"), (_VOLCANO, "PodGroup"), ("", "Pod")),
)
_ENDED = frozenset({"Succeeded", "Failed"})
_OF_THE_SERVER = ("resourceVersion", "generation", "managedFields", "selfLink")
_COMPONENTS = frozenset(
    {
        *("deployments", "replicasets", "statefulsets", "jobs", "gc", "queues"),
        *("podgroups", "kubelets", "scheduler"),
    }
)
"""Who writes on a branch that :mod:`.branch` wrote, beside the user."""

_NO_USERS = ("system:kube-", "system:node:", "system:apiserver", "system:volume-")
_ACCOUNTS = "system:serviceaccount:"


class RecordedCase(NamedTuple):
    """A scenario made of a log.

    :param assumed: sentences that say what was left out, and what was concluded.
    """

    case: MachineCase
    assumed: tuple[str, ...]


class _Write(NamedTuple):
    """A user's write. :param known: the log says who wrote; else it was concluded."""

    act: Act
    known: bool


def case_at(log: Log, at: str, *, until: str = "end", objects: Sequence[str] = ()) -> RecordedCase:
    """Return the scenario that begins at a moment of a log.

    :param until: the last moment whose writes of users are taken.
    :param objects: as in ``deployment/web``: only their writes, and what belongs to them.
    :raises UsageError: users wrote nothing then, or the log does not have an object.
    """
    moment = log.moment(at)
    end = on_branch_of(log, moment).moment(until)
    held = {kind: _held(log, kind, moment) for kind in (*_SURROUNDINGS, *_RUNNING)}
    running = [one for kind in _RUNNING for one in held[kind]]
    named = {_place_named(log, text, moment) for text in objects}
    writes = [
        write
        for write in _user_writes(log, moment, end, running)
        if not named or place_of(write.act.document) in named
    ]
    if not writes:
        raise UsageError(
            f"the log holds no write of a user between {moment.label} and {end.label}"
            + (f" to {', '.join(objects)}" if objects else ""),
            now="give an earlier point with --at, or other objects with --object",
        )
    taken = writes[:MOST_WRITES]
    focus = named or {place_of(write.act.document) for write in taken}
    kept = _belonging(running, focus)
    left_out = [one for one in held["", "Pod"] if place_of(one) not in set(map(place_of, kept))]
    nodes = _with_less_room(held["", "Node"], left_out)
    others = [one for kind in _SURROUNDINGS[1:] for one in held[kind]]
    conf = conf_at(log.store, moment)
    assumed = tuple(_assumed(running, kept, left_out, writes, taken))
    case = MachineCase(
        name=f"log at {moment.label}",
        about=" ".join(assumed),
        conf=conf.text if conf is not None else "",
        existing=tuple(_clean(one) for one in (*nodes, *others, *kept)),
        writes=tuple(write.act for write in taken),
    )
    return RecordedCase(case, assumed)


def on_branch_of(log: Log, moment: Moment) -> Log:
    """Return a log that reads points as on the branch of a moment."""
    if moment.branch == log.branch:
        return log
    return Log(log.store, branch=moment.branch, cluster=moment.cluster)


def _held(log: Log, kind: GroupKind, moment: Moment) -> list[Document]:
    """Return the objects of a kind, oldest first: only their order of creation is kept."""
    found = log.get(kind, at=moment)
    return sorted(found, key=lambda one: one["metadata"].get("creationTimestamp") or "")


def _place_named(log: Log, text: str, moment: Moment) -> Place:
    named = log.object(text, moment)
    if (named.group, named.kind) not in _RUNNING:
        raise UsageError(
            f"--object: a {named.kind} runs nothing",
            now=f"name one of {', '.join(kind for _, kind in _RUNNING)}",
        )
    return Place(named.kind, f"{named.namespace or 'default'}/{named.name}")


def _user_writes(
    log: Log, moment: Moment, end: Moment, running: Iterable[Document]
) -> Iterator[_Write]:
    """Yield what users wrote between two moments, in the order of revisions."""
    versions = {place_of(one): one for one in running}
    events = sorted(_later(log, moment, end), key=lambda event: event.revision or 0)
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
        act = _act_of(place, before, now) if not writer or is_user(writer) else None
        if act is not None and (writer or _concluded(before or now)):
            yield _Write(act, bool(writer))


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


def _place_of(event: Event) -> Place:
    about = event.reference
    return Place(about.kind, f"{about.namespace or 'default'}/{about.name}")


def is_user(actor: str) -> bool:
    """Say whether an actor is a user, and no component that a machine has by itself."""
    if actor.startswith(_ACCOUNTS):
        namespace, _, account = actor.removeprefix(_ACCOUNTS).partition(":")
        return namespace != "kube-system" and "volcano" not in f"{namespace}:{account}"
    return actor not in _COMPONENTS and not actor.startswith(_NO_USERS)


def _concluded(document: Document | None) -> bool:
    """Say whether a write of an unknown actor is a user's: no controller has the object."""
    return document is not None and controller_of(document) is None


def _act_of(place: Place, before: Document | None, now: Document | None) -> Act | None:
    """Return a version as a write; None if it changes nothing that a user writes."""
    if now is None:
        return Act(DELETED, _bare(before)) if before and not _is_ending(before) else None
    if before is None or before["metadata"]["uid"] != now["metadata"]["uid"]:
        return Act(ADDED, _clean(now, uid=False))
    if _is_ending(now):
        return None if _is_ending(before) else Act(DELETED, _bare(now))
    changed = {} if place.kind == "Pod" else _difference(before["spec"], now["spec"])
    return Act(MODIFIED, {**_bare(now), "spec": changed}) if changed else None


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch from one spec to another."""
    found: dict[str, Any] = {name: None for name in before if name not in now}
    for name, value in now.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            if inner := _difference(old, value):
                found[name] = inner
        elif value != old:
            found[name] = value
    return found


def _is_ending(document: Document) -> bool:
    return "deletionTimestamp" in document["metadata"]


def _bare(document: Document) -> Document:
    metadata = document["metadata"]
    named = {name: metadata[name] for name in ("name", "namespace") if metadata.get(name)}
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "metadata": named,
    }


def _clean(document: Document, *, uid: bool = True) -> Document:
    """Return an object without what an API server fills in; a new one also without a status."""
    dropped = {*_OF_THE_SERVER, *(() if uid else ("uid", "creationTimestamp"))}
    metadata = {name: one for name, one in document["metadata"].items() if name not in dropped}
    made = {**document, "metadata": metadata}
    if not uid:
        made.pop("status", None)
    return made


def _belonging(running: Sequence[Document], focus: set[Place]) -> list[Document]:
    """Return the objects in focus, what they own, and the PodGroups that their pods name."""
    kept = {place_of(one) for one in running if place_of(one) in focus}
    grown = True
    while grown:
        uids = {one["metadata"]["uid"] for one in running if place_of(one) in kept}
        groups = {_group_of(one) for one in running if place_of(one) in kept}
        more = {place_of(one) for one in running if _owners(one) & uids or place_of(one) in groups}
        grown = not more <= kept
        kept |= more
    return [one for one in running if place_of(one) in kept]


def _owners(document: Document) -> set[str]:
    return {one["uid"] for one in document["metadata"].get("ownerReferences") or ()}


def _group_of(document: Document) -> Place | None:
    """Return the PodGroup that a pod names."""
    name = (document["metadata"].get("annotations") or {}).get(GROUP_NAME)
    if document["kind"] != "Pod" or not name:
        return None
    return Place("PodGroup", f"{document['metadata'].get('namespace') or 'default'}/{name}")


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
    kept: Sequence[Document],
    left_out: Sequence[Document],
    writes: Sequence[_Write],
    taken: Sequence[_Write],
) -> Iterator[str]:
    """Yield what an answer rests on, in sentences."""
    yield (
        "Every component had seen what existed then, and finished what it was doing, before the "
        "first write of a user."
    )
    done = ", ".join(map(_told, taken))
    yield f"Taken as writes of users, in this order: {done}."
    concluded = sum(not write.known for write in taken)
    if concluded:
        yield (
            f"Of {concluded} of them the log does not say who wrote: they change the spec of an "
            "object that no controller has."
        )
    if len(writes) > len(taken):
        yield (
            f"{len(writes) - len(taken)} later writes of users are left out; --until and --object "
            "choose fewer."
        )
    if len(running) > len(kept):
        yield (
            f"{len(running) - len(kept)} of {len(running)} objects are left out, because they do "
            f"not belong to what users wrote; the room that {len(left_out)} of their pods take is "
            "taken off what is allocatable on nodes."
        )
    yield "Pods that controllers create get other names than in the log."


def _told(write: _Write) -> str:
    document = write.act.document
    place = place_of(document)
    spec = document.get("spec") or {}
    verb = {ADDED: "creates", DELETED: "deletes"}.get(write.act.verb, "changes")
    told = f"{verb} {place.kind} {short_key(place.key)}"
    if write.act.verb == MODIFIED and set(spec) == {"replicas"}:
        return f"scales {place.kind} {short_key(place.key)} to {spec['replicas']}"
    return told
