"""Everything that the log knows of one object: its versions, who wrote them, and its deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from ...engine.events import KINDS, Effect, Recorded, Reference
from ...engine.events.input_names import without_folders
from ...engine.kubernetes.resources import CLUSTER_SCOPED
from ...engine.log.store import LogStore
from ...engine.state.clock import TimeSpan, Unsure
from ...engine.state.log_coverage import KnownGap
from ..coverage.coverage import unknown_at, unknown_between
from ..moments.actors import actor_of
from ..moments.contradicting_versions import Contents
from ..moments.later_events import SHOWING
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from ..objects.field_changes import FieldDifference, payload_changes
from ..objects.kind_names import ObjectName
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import API_VERSION
from ..tabular.record_columns import Time
from ..tabular.tabular import Tabular
from ..truth.object_events import ObjectEvents, PlacedEvent, effect_of, events_of

if TYPE_CHECKING:
    from ..truth.log_states import LogStates

NO_OBJECT = b"{}"
"""The payload of a deletion that shows no last version."""

Comparison: TypeAlias = Callable[[Recorded, Recorded], list[FieldDifference]]
"""Returns the fields that differ between two versions."""

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
    :param earliest: and ``latest``: the bounds of its time; None if not known.
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
    changes: list[FieldDifference] = []
    note: str = ""

    @property
    def requested(self) -> bool:
        """Whether it is a request to the API server, and no log line or list."""
        return self.kind in REQUESTS or self.kind.endswith((".created", ".updated", ".deleted"))

    @property
    def span(self) -> TimeSpan:
        """The bounds of its time."""
        return TimeSpan(self.earliest, self.latest, self.time)

    @property
    def shows_version(self) -> bool:
        """Whether the object exists with this version."""
        by_request = self.revision is not None and self.kind in _BINDING_KINDS
        return by_request or KINDS[self.kind].effect is Effect.VERSION

    @property
    def ends(self) -> bool:
        """Whether it means that the object no longer exists."""
        return KINDS[self.kind].effect in (Effect.DELETED, Effect.LISTED)

    @property
    def changed(self) -> bool:
        """Whether it changed the object: not a refused request, nor a line of a log about it."""
        return bool(KINDS[self.kind].effect)


class History(msgspec.Struct, Tabular, frozen=True, kw_only=True, tag_field="kind", tag="History"):
    """The history of all objects that had one name, in the order in which it happened.

    :param uids: the objects that had the name, in order of appearance.
    :param unsure: changes of the cluster that may have happened before or after the last moment.
    :param not_known: gaps of the object's kind between its first version and that moment.
    """

    api_version: str = msgspec.field(name="apiVersion", default=API_VERSION)
    object: Reference
    uids: tuple[str, ...]
    happenings: list[Happening]
    unsure: Unsure | None = None
    not_known: tuple[Unknown, ...] = ()

    @property
    def changed(self) -> Happening | None:
        """The last line that changed an object of the name; None if there is none."""
        return next(
            (happening for happening in reversed(self.happenings) if happening.changed), None
        )

    @property
    def ended(self) -> Happening | None:
        """The last line with which an object of the name ended; None if none did."""
        return next((happening for happening in reversed(self.happenings) if happening.ends), None)

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the lines of the history."""
        return {"happenings": table_of(Happening, self.happenings)}


class ObjectHistory(History, frozen=True, kw_only=True):
    """The history of all objects that had one name, and the objects that belong to them.

    :param belonging: the objects that it owns, directly or indirectly, such as pods of a job.
    """

    belonging: list[Reference]


def history_at(
    log: LogStates,
    named: ObjectName,
    *,
    namespace: str,
    moment: Moment,
    ignore: Sequence[str] = (),
) -> History:
    """Return the history of an object up to a moment, and what is not known of it.

    :param namespace: ignored for kinds without namespaces.
    """
    place = "" if (named.group, named.kind) in CLUSTER_SCOPED else named.namespace or namespace
    without_gaps = history(log.store, named, namespace=place, moment=moment, ignore=ignore)
    unknown = tuple(unknown_of_history(log, without_gaps, moment))
    return msgspec.structs.replace(without_gaps, not_known=unknown)


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
    :param ignore: fields whose changes are left out, see :func:`..objects.field_changes.changes`.
    """
    events = events_of(store, named, namespace=namespace, moment=moment)
    reference = Reference(named.group, named.kind, namespace, named.name)

    def compare(old: Recorded, new: Recorded) -> list[FieldDifference]:
        return payload_changes(old.event.payload, new.event.payload, ignore=ignore)

    return history_of(events, reference, moment, compare)


def history_of(
    events: ObjectEvents, reference: Reference, moment: Moment, compare: Comparison
) -> History:
    """Return the history of a name up to a moment.

    :param events: those of the name. :param reference: the name.
    :param compare: returns the fields that differ between two versions.
    """
    happenings = list(_lines(_joined(events.by(moment)), compare))
    uids = tuple(dict.fromkeys(line.uid for line in happenings if line.uid))
    return History(object=reference, uids=uids, happenings=happenings, unsure=moment.unsure)


class _Joined(msgspec.Struct, frozen=True, kw_only=True):
    """An event, joined with the event that says who caused it; both are shown in one line."""

    placed: PlacedEvent
    by: Recorded | None = None


def _joined(events: Sequence[PlacedEvent]) -> Iterator[_Joined]:
    """Join each version with the event that names its actor: an attribution or a request."""
    positions = {event.recorded.position for event in events}
    versions = {
        _version(event.recorded) for event in events if effect_of(event.recorded) in SHOWING
    }
    attributed = {
        _version(event.recorded): event.recorded
        for event in events
        if effect_of(event.recorded) is Effect.ATTRIBUTED
    }
    requests = {event.made: event.recorded for event in events if event.made in positions}
    for event in events:
        effect, version = effect_of(event.recorded), _version(event.recorded)
        # What is known through these is in the line of the version that they are about.
        if event.made in positions or effect is Effect.TIMED:
            continue
        if effect is Effect.ATTRIBUTED and version in versions:
            continue
        by = None
        if effect in SHOWING:
            by = requests.get(event.recorded.position) or attributed.get(version)
        yield _Joined(placed=event, by=by)


def _version(recorded: Recorded) -> tuple[str, int | None]:
    return recorded.event.reference.uid, recorded.event.revision


def _lines(events: Iterable[_Joined], compare: Comparison) -> Iterator[Happening]:
    last: dict[str, Recorded] = {}
    for item in events:
        recorded = item.placed.recorded
        uid, fields = recorded.event.reference.uid, list[FieldDifference]()
        # A deletion without the last version has nothing to compare, and its empty object is no
        # state.
        if item.placed.effect in SHOWING and recorded.event.payload != NO_OBJECT:
            if uid in last:
                fields = compare(last[uid], recorded)
            last[uid] = recorded
        yield _happening(item, fields)


def _happening(item: _Joined, fields: list[FieldDifference]) -> Happening:
    placed, by = item.placed, item.by
    recorded, event, span = placed.recorded, placed.recorded.event, placed.span
    by_binding = by is not None and by.event.kind in _BINDING_KINDS
    deleted = placed.effect is Effect.DELETED  # An eviction deletes a pod at once if nothing runs.
    own = actor_of(recorded, span)
    by_actor = "" if by is None else actor_of(by, span)
    return Happening(
        position=recorded.position,
        kind=by.event.kind if by is not None and by_binding and not deleted else event.kind,
        uid=event.reference.uid,
        revision=event.revision,
        resource_version=event.resource_version,
        earliest=Time.of(span.earliest),
        latest=Time.of(span.latest),
        time=Time.of(span.estimate),
        recorded_at=Time(recorded.recorded_at),
        actor=own or by_actor,
        attributed_at=by.position if by is not None and by_actor and not own else 0,
        source=without_folders(event.source),
        line=event.line,
        changes=fields,
        note=_contents_text(placed.contents)
        or _note(by if by is not None and by_binding else recorded, _node_of(fields)),
    )


def _contents_text(contents: Contents | None) -> str:
    if contents is None:
        return ""
    places = ", ".join(f"@{position}" for position in contents.positions)
    many = len(contents.positions)
    return f"inputs hold {many} contents of it ({places}): @{contents.chosen} counts"


def _node_of(fields: Iterable[FieldDifference]) -> str:
    """Return the node of a pod in a version."""
    nodes = (change.new for change in fields if change.path == "spec.nodeName")
    return next((node for node in nodes if isinstance(node, str)), "")


def _note(recorded: Recorded, node: str = "") -> str:
    """Return the note of an event that is not an object version.

    :param node: of a binding: the node in the following version.
    """
    event = recorded.event
    effect = effect_of(recorded)
    if effect in SHOWING:
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
    dated = [happening.revision for happening in found.happenings if happening.revision is not None]
    if not dated:
        return unknown_at(log, moment, [pair], namespace)

    def matters(gap: KnownGap) -> bool:
        if gap.before is None:
            return True
        end = gap.before
        by_then = takewhile(lambda happening: (happening.revision or 0) <= end, found.happenings)
        shown = [
            happening for happening in by_then if happening.revision is not None or happening.ends
        ]
        since = dated[0] if gap.after is None else max(dated[0], gap.after)
        return shown[-1].ends or (shown[-1].revision or 0) > since

    unknowns = unknown_between(log, dated[0], moment, [pair], namespace)
    return [unknown for unknown in unknowns if matters(unknown.gap)]
