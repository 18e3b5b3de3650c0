"""Everything that the log knows of one object: its versions, who made them, and how it went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ..engine.events import KINDS, Effect, Recorded, Reference
from ..engine.events.payloads import ListObserved
from ..engine.log.store import LogStore, Query
from .changes import Change, changes
from .kinds import ObjectName
from .points import Moment

_LAST = 2**62


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a history.

    :param position: of the event. :param kind: of the event, as in ``pod.updated``.
    :param uid: whose it is; several objects may have had the name, one after the other.
    :param revision: of the version; None for events that have none.
    :param observed_at: microseconds, None if nobody said when.
    :param actor: who caused it; empty if not known.
    :param attributed_at: position of the event that told the actor, 0 if the version itself did.
    :param changes: fields that differ from the version before it of the same object.
    :param note: in words, what the event says beyond an object's version.
    """

    position: int
    kind: str
    uid: str
    revision: int | None
    resource_version: str
    observed_at: int | None
    recorded_at: int
    actor: str
    attributed_at: int = 0
    source: str
    line: int
    changes: list[Change] = []
    note: str = ""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The history of everything that had one name, in the order in which it happened.

    :param uids: the objects that had the name, in order of appearance.
    """

    object: Reference
    uids: tuple[str, ...]
    happenings: list[Happening]


def history(
    store: LogStore,
    named: ObjectName,
    *,
    namespace: str,
    moment: Moment,
    ignore: Sequence[str] = (),
) -> History:
    """Return the history of an object up to a moment.

    :param namespace: empty for kinds without one.
    :param ignore: fields whose changes do not count, see :func:`.changes.changes`.
    """
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        objects=((named.group, named.kind),),
        namespace=namespace,
        name=named.name,
    )
    events = list(store.read(query))
    absences = _absences(store, moment, named, events)
    placed = sorted(
        ((_order(store, moment, event), event) for event in (*events, *absences)),
        key=lambda pair: pair[0],
    )
    limit = _LAST if moment.revision is None else moment.revision
    ordered = [event for place, event in placed if place[0] <= limit]
    happenings = list(_told(_attributed(ordered), ignore))
    uids = tuple(dict.fromkeys(line.uid for line in happenings if line.uid))
    reference = Reference(named.group, named.kind, namespace, named.name)
    return History(object=reference, uids=uids, happenings=happenings)


def _order(store: LogStore, moment: Moment, recorded: Recorded) -> tuple[int, int, int]:
    """Return the place of an event in the order of happening."""
    event = recorded.event
    if event.revision is not None:
        return event.revision, _LAST if _effect(recorded) is Effect.LISTED else 0, recorded.position
    if event.observed_at is None:
        return _LAST, 0, recorded.position
    place = store.revision_at(
        event.observed_at, known=moment.known, cluster=moment.cluster, branch=moment.branch
    )
    return place, event.observed_at, recorded.position


def _effect(recorded: Recorded) -> Effect:
    return KINDS[recorded.event.kind].effect


class _Attributed(msgspec.Struct, frozen=True, kw_only=True):
    recorded: Recorded
    by: Recorded | None = None


def _attributed(events: Iterable[Recorded]) -> list[_Attributed]:
    """Join each version with the event that says who made it, which then is no line of its own."""
    events = list(events)
    versions = {
        (event.event.reference.uid, event.event.revision)
        for event in events
        if _effect(event) in (Effect.VERSION, Effect.DELETED)
    }
    told = {
        (event.event.reference.uid, event.event.revision): event
        for event in events
        if _effect(event) is Effect.ATTRIBUTED
    }
    joined = []
    for event in events:
        key = (event.event.reference.uid, event.event.revision)
        effect = _effect(event)
        if effect is Effect.ATTRIBUTED and key in versions:
            continue
        by = told.get(key) if effect in (Effect.VERSION, Effect.DELETED) else None
        joined.append(_Attributed(recorded=event, by=by))
    return joined


def _told(events: Iterable[_Attributed], ignore: Sequence[str]) -> Iterator[Happening]:
    last: dict[str, dict[str, Any]] = {}
    for item in events:
        event = item.recorded.event
        uid = event.reference.uid
        effect = _effect(item.recorded)
        document: dict[str, Any] = {}
        if effect in (Effect.VERSION, Effect.DELETED):
            document = msgspec.json.decode(event.payload)
        fields: list[Change] = []
        if document and uid in last:
            fields = changes(last[uid], document, ignore=ignore)
        if document:
            last[uid] = document
        yield _happening(item, fields, _note(item.recorded))


def _happening(item: _Attributed, fields: list[Change], note: str) -> Happening:
    event, by = item.recorded.event, item.by
    observed = event.observed_at
    if by is not None and by.event.observed_at is not None:
        observed = by.event.observed_at  # The audit log's clock has microseconds.
    return Happening(
        position=item.recorded.position,
        kind=event.kind,
        uid=event.reference.uid,
        revision=event.revision,
        resource_version=event.resource_version,
        observed_at=observed,
        recorded_at=item.recorded.recorded_at,
        actor=event.actor or (by.event.actor if by is not None else ""),
        attributed_at=by.position if by is not None and not event.actor else 0,
        source=event.source,
        line=event.line,
        changes=fields,
        note=note,
    )


def _note(recorded: Recorded) -> str:
    """Return what an event says that is no object version."""
    event = recorded.event
    effect = _effect(recorded)
    if effect in (Effect.VERSION, Effect.DELETED):
        return ""
    if effect is Effect.LISTED:
        return "absent from a complete list: it was deleted before that"
    body: dict[str, Any] = msgspec.json.decode(event.payload)
    verb = "/".join(part for part in (body.get("verb", ""), body.get("subresource", "")) if part)
    match event.kind:
        case "pod.bound":
            return f"bound to {body.get('node') or 'a node that was not recorded'}"
        case "pod.evicted":
            return "eviction accepted"
        case "version.attributed":
            return f"{verb} of a version that the log does not hold"
        case "request.accepted":
            unknown = body.get("unknown", "")
            return f"{verb} accepted" + (f"; not known: {unknown}" if unknown else "")
        case "request.refused":
            answer = " ".join(str(part) for part in (body.get("code"), body.get("reason")) if part)
            message = body.get("message", "")
            return f"{verb} refused: {answer}" + (f": {message}" if message else "")
        case _:
            return str(body.get("message", ""))


def _absences(
    store: LogStore, moment: Moment, named: ObjectName, events: Sequence[Recorded]
) -> Iterator[Recorded]:
    """Yield, for every object that no event deletes, the first complete list without it."""
    alive: dict[str, int] = {}
    ended: set[str] = set()
    namespace = ""
    for recorded in events:
        event = recorded.event
        namespace = event.reference.namespace
        if _effect(recorded) is Effect.VERSION and event.revision is not None:
            uid = event.reference.uid
            alive[uid] = max(alive.get(uid, -1), event.revision)
        elif _effect(recorded) is Effect.DELETED:
            ended.add(event.reference.uid)
    waiting = {uid: revision for uid, revision in alive.items() if uid not in ended}
    if not waiting:
        return
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        kinds=("list.observed",),
        objects=((named.group, named.kind),),
    )
    lists = [event for event in store.read(query) if event.event.revision is not None]
    for recorded in sorted(lists, key=lambda item: item.event.revision or 0):
        payload = recorded.event.payload
        # A list of a large cluster has megabytes of uids: most often ours is among them.
        missing = [uid for uid in sorted(waiting) if uid.encode() not in payload]
        if not missing:
            continue
        listed = msgspec.json.decode(payload, type=ListObserved)
        if listed.namespaces and namespace not in listed.namespaces:
            continue
        for uid in missing:
            if (recorded.event.revision or 0) > waiting[uid]:
                del waiting[uid]
                yield _absence(recorded, named, namespace, uid)


def _absence(recorded: Recorded, named: ObjectName, namespace: str, uid: str) -> Recorded:
    reference = Reference(named.group, named.kind, namespace, named.name, uid)
    event = msgspec.structs.replace(recorded.event, reference=reference)
    return msgspec.structs.replace(recorded, event=event)
