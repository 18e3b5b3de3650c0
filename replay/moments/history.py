"""Everything that the log knows of one object: its versions, who wrote them, and its deletion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import msgspec

from ...engine.events import KINDS, Effect, Recorded, Reference
from ...engine.log.store import LogStore, Query
from ...engine.state.clock import Clock, Span, Unsure
from ...engine.state.coverage import Gap
from ..tabular.columns import Time
from ..tabular.table import Table, table_of
from ..tabular.tabular import Tabular
from .absences import absences
from .actors import actor_of
from .changes import Change, changes
from .clock import clock_of
from .collection_deletions import collection_deletions
from .contradictions import Contents, Version, contradictions
from .coverage import Unknown, unknown_at, unknown_between
from .kinds import ObjectName
from .moment import Moment
from .times import with_spans

if TYPE_CHECKING:
    from .log_states import LogStates

_LAST = 2**65
"""A place after that of every revision: twice the greatest possible one, plus one."""

_CONTRADICTED = "version.contradicted"

REQUESTS = frozenset(
    {"request.accepted", "request.refused", "collection.deleted", "pod.bound", "pod.evicted"}
)
"""Kinds of events that are requests of an audit log whose result was not recorded."""

_BINDING_KINDS = frozenset({"pod.bound", "pod.evicted"})
"""Requests whose kind describes a version better than the version's own event kind."""


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a history.

    :param position: of the event. :param kind: of the event, as in ``pod.updated``; of a version
        that an audited binding or eviction made, that of the request.
    :param uid: of the object; several objects may have had the name, one after another.
    :param revision: of the version; None for events that have none.
    :param earliest: and ``latest``: the bounds of its time, in microseconds; None if not known.
    :param time: the best estimate. It never decreases from one revision to the next.
    :param actor: who caused it; empty if not known.
    :param attributed_at: position of the event that names the actor, 0 if the version itself does.
    :param changes: fields that differ from the previous version of the same object.
    :param note: what the event says besides the object's version, as text.
    """

    position: int
    kind: str
    uid: str
    revision: int | None
    resource_version: str
    earliest: Time | None
    latest: Time | None
    time: Time | None
    recorded_at: Time
    actor: str
    attributed_at: int = 0
    source: str
    line: int
    changes: list[Change] = []
    note: str = ""

    @property
    def requested(self) -> bool:
        """Whether it is a request to the API server, and no log line or list."""
        return self.kind in REQUESTS or self.kind.endswith((".created", ".updated", ".deleted"))

    @property
    def span(self) -> Span:
        """The bounds of its time."""
        return Span(self.earliest, self.latest, self.time)


class History(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """The history of all objects that had one name, in the order in which it happened.

    :param uids: the objects that had the name, in order of appearance.
    :param unsure: changes of the cluster that may have happened before or after the last moment.
    :param not_known: gaps of the object's kind between its first version and that moment.
    """

    object: Reference
    uids: tuple[str, ...]
    happenings: list[Happening]
    unsure: Unsure | None = None
    not_known: tuple[Unknown, ...] = ()

    def tables(self) -> Mapping[str, Table]:
        """Return the lines of the history."""
        return {"happenings": table_of(Happening, self.happenings)}


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
    :param ignore: fields whose changes are left out, see :func:`.changes.changes`.
    """
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        objects=((named.group, named.kind),),
        namespace=namespace,
        name=named.name,
    )
    clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
    events = list(store.read(query))
    events += collection_deletions(store, moment, named, namespace, events)
    absent = [
        _Placed(recorded=one.recorded, key=one.key, span=one.span)
        for one in absences(store, moment, named, events, clock)
    ]
    placed = sorted([*_placed(events, clock), *absent], key=_in_order)
    kept = [one for one in placed if one.key <= _limit(moment) or _had_happened(one, moment)]
    contents = contradictions(store, moment)
    happenings = list(_lines(_joined(_with_chosen(store, kept, contents)), ignore))
    uids = tuple(dict.fromkeys(line.uid for line in happenings if line.uid))
    reference = Reference(named.group, named.kind, namespace, named.name)
    return History(object=reference, uids=uids, happenings=happenings, unsure=moment.unsure)


class _Placed(msgspec.Struct, frozen=True, kw_only=True):
    """An event in the order of happening.

    :param key: twice its revision; events without one are between two revisions. :param made:
    position of the version that this request made, 0 if none is known.
    :param contents: of a version that came with several.
    """

    recorded: Recorded
    key: int
    span: Span
    made: int = 0
    contents: Contents | None = None


def _placed(events: Sequence[Recorded], clock: Clock) -> Iterator[_Placed]:
    undated = [each for each in events if each.event.revision is None]
    made = clock.loose_spans([each.position for each in undated])
    for recorded, span in with_spans(events, clock):
        revision, version = recorded.event.revision, 0
        if revision is not None:
            key = revision * 2 + (_effect(recorded) is Effect.LISTED)
        else:
            version = made.get(recorded.position, (span, 0))[1]
            time = span.estimate
            key = _LAST if time is None else clock.revision_at(time) * 2 + 1
        yield _Placed(recorded=recorded, key=key, span=span, made=version)


def _in_order(one: _Placed) -> tuple[int, int, int]:
    return one.key, one.span.estimate or 0, one.recorded.position


def _limit(moment: Moment) -> int:
    return _LAST if moment.revision is None else moment.revision * 2 + 1


def _had_happened(one: _Placed, moment: Moment) -> bool:
    """Return whether an event without a revision had happened by the time of a moment."""
    time = one.span.estimate
    undated = one.recorded.event.revision is None
    return undated and moment.time is not None and time is not None and time <= moment.time


def _effect(recorded: Recorded) -> Effect:
    return KINDS[recorded.event.kind].effect


def _with_chosen(
    store: LogStore, events: Sequence[_Placed], contents: Mapping[Version, Contents]
) -> list[_Placed]:
    """Return events with the content that counts of each version, without the other contents."""
    found = []
    for one in events:
        recorded, event = one.recorded, one.recorded.event
        if event.kind == _CONTRADICTED:
            continue
        several = contents.get((event.reference, -1 if event.revision is None else event.revision))
        if several is not None and recorded.position in several.positions:
            payload = store.payloads([several.chosen], recorded.branch)[several.chosen]
            event = msgspec.structs.replace(event, payload=payload)
            recorded = msgspec.structs.replace(recorded, event=event)
            found.append(msgspec.structs.replace(one, recorded=recorded, contents=several))
        else:
            found.append(one)
    return found


class _Joined(msgspec.Struct, frozen=True, kw_only=True):
    """An event, joined with the event that says who caused it; both are shown in one line."""

    placed: _Placed
    by: Recorded | None = None


def _joined(events: Sequence[_Placed]) -> Iterator[_Joined]:
    """Join each version with the event that names its actor: an attribution or a request."""
    positions = {one.recorded.position for one in events}
    versions = {
        _version(one.recorded)
        for one in events
        if _effect(one.recorded) in (Effect.VERSION, Effect.DELETED)
    }
    attributed = {
        _version(one.recorded): one.recorded
        for one in events
        if _effect(one.recorded) is Effect.ATTRIBUTED
    }
    requests = {one.made: one.recorded for one in events if one.made in positions}
    for one in events:
        effect, version = _effect(one.recorded), _version(one.recorded)
        if one.made in positions or effect is Effect.TIMED:
            continue
        if effect is Effect.ATTRIBUTED and version in versions:
            continue
        by = None
        if effect in (Effect.VERSION, Effect.DELETED):
            by = requests.get(one.recorded.position) or attributed.get(version)
        yield _Joined(placed=one, by=by)


def _version(recorded: Recorded) -> tuple[str, int | None]:
    return recorded.event.reference.uid, recorded.event.revision


def _lines(events: Iterable[_Joined], ignore: Sequence[str]) -> Iterator[Happening]:
    last: dict[str, dict[str, Any]] = {}
    for item in events:
        event = item.placed.recorded.event
        uid = event.reference.uid
        effect = _effect(item.placed.recorded)
        document: dict[str, Any] = {}
        if effect in (Effect.VERSION, Effect.DELETED):
            document = msgspec.json.decode(event.payload)
        fields: list[Change] = []
        if document and uid in last:
            fields = changes(last[uid], document, ignore=ignore)
        if document:
            last[uid] = document
        yield _happening(item, fields)


def _happening(item: _Joined, fields: list[Change]) -> Happening:
    placed, by = item.placed, item.by
    recorded, event, span = placed.recorded, placed.recorded.event, placed.span
    by_binding = by is not None and by.event.kind in _BINDING_KINDS
    own = actor_of(recorded, span)
    other = "" if by is None else actor_of(by, span)
    return Happening(
        position=recorded.position,
        kind=by.event.kind if by is not None and by_binding else event.kind,
        uid=event.reference.uid,
        revision=event.revision,
        resource_version=event.resource_version,
        earliest=span.earliest,
        latest=span.latest,
        time=span.estimate,
        recorded_at=recorded.recorded_at,
        actor=own or other,
        attributed_at=by.position if by is not None and other and not own else 0,
        source=event.source,
        line=event.line,
        changes=fields,
        note=_contents_text(placed.contents)
        or _note(by if by is not None and by_binding else recorded, _node_of(fields)),
    )


def _contents_text(contents: Contents | None) -> str:
    if contents is None:
        return ""
    places = ", ".join(f"@{position}" for position in contents.positions)
    return f"inputs hold {len(contents.positions)} contents of it ({places}): @{contents.chosen} counts"


def _node_of(fields: Iterable[Change]) -> str:
    """Return the node of a pod in a version."""
    found = (change.new for change in fields if change.path == "spec.nodeName")
    return next((node for node in found if isinstance(node, str)), "")


def _note(recorded: Recorded, node: str = "") -> str:
    """Return the note of an event that is not an object version.

    :param node: of a binding: the node in the following version.
    """
    event = recorded.event
    effect = _effect(recorded)
    if effect in (Effect.VERSION, Effect.DELETED):
        return ""
    if effect is Effect.LISTED:
        return "absent from a complete list: it was deleted before"
    body: dict[str, Any] = msgspec.json.decode(event.payload)
    verb = "/".join(part for part in (body.get("verb", ""), body.get("subresource", "")) if part)
    match event.kind:
        case "pod.bound":
            return f"bound to {body.get('node') or node or 'an unrecorded node'}"
        case "pod.evicted":
            return "eviction accepted"
        case "version.attributed":
            return f"{verb}; the log does not hold the version"
        case "request.accepted" | "collection.deleted":
            unknown, code = body.get("unknown", ""), body.get("code")
            answer = f"{verb} accepted: {code}" if code else f"{verb} accepted"
            return answer + (f"; not known: {unknown}" if unknown else "")
        case "request.refused":
            answer = " ".join(str(part) for part in (body.get("code"), body.get("reason")) if part)
            message = body.get("message", "")
            return f"{verb} refused: {answer}" + (f": {message}" if message else "")
        case _:
            return str(body.get("message", ""))


def unknown_of_history(log: LogStates, found: History, moment: Moment) -> list[Unknown]:
    """Return the gaps in what is known of an object between its first version and a moment.

    If a kind is known again and the object still has the version from before, it had no other one
    in between.
    """
    pair, namespace = (found.object.group, found.object.kind), found.object.namespace or None
    dated = [one.revision for one in found.happenings if one.revision is not None]
    if not dated:
        return unknown_at(log, moment, [pair], namespace)

    def matters(gap: Gap) -> bool:
        if gap.before is None:
            return True
        end = gap.before
        by_then = takewhile(lambda one: (one.revision or 0) <= end, found.happenings)
        shown = [one for one in by_then if one.revision is not None or _ends(one)]
        since = dated[0] if gap.after is None else max(dated[0], gap.after)
        return _ends(shown[-1]) or (shown[-1].revision or 0) > since

    some = unknown_between(log, dated[0], moment, [pair], namespace)
    return [one for one in some if matters(one.gap)]


def _ends(one: Happening) -> bool:
    """Return whether an event means that an object no longer exists."""
    return KINDS[one.kind].effect in (Effect.DELETED, Effect.LISTED)
