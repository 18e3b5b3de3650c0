"""The events of all objects that had one name, read once: in order, at any moment they are known.

Histories, and the states of an object at each position, are made of them. They follow the rules of
the fold (:mod:`...engine.state.fold`), so a history ends where the truth says that an object does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ...engine.events import KINDS, Effect, Recorded
from ...engine.log.store import LogStore, Query
from ...engine.state.clock import END_KEY, Clock, TimeSpan
from ..moments.collection_deletions import collection_deletions
from ..moments.contradicting_versions import Contents, Version, contradictions
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from ..moments.times import with_spans
from ..moments.verbs import VersionPlace, VersionVerb, called, verbs_told
from ..objects.kind_names import ObjectName
from .absences import absences

_LAST = 2**65
"""A place after that of every revision: twice the greatest possible one, plus one."""

_CONTRADICTED = "version.contradicted"


class PlacedEvent(msgspec.Struct, frozen=True):
    """An event in the order of happening.

    :param key: twice its revision; events without one are between two revisions.
    :param made: the position of the version that this request made, 0 if none is known.
    :param contents: of a version that came with several.
    """

    recorded: Recorded
    key: int
    span: TimeSpan
    made: int = 0
    contents: Contents | None = None

    @property
    def position(self) -> int:
        """The position of the event."""
        return self.recorded.position

    @property
    def shown_at(self) -> int:
        """The position of the content that counts."""
        return self.position if self.contents is None else self.contents.chosen

    @property
    def effect(self) -> Effect:
        """The effect of the event on truth."""
        return effect_of(self.recorded)


class ObjectEvents(msgspec.Struct, frozen=True):
    """The events of all objects of one name.

    :param events: by position. :param namespace: empty for kinds without one.
    :param verbs_told: what other events say that happened at versions.
    """

    store: LogStore
    named: ObjectName
    namespace: str
    clock: Clock
    events: tuple[Recorded, ...]
    verbs_told: Mapping[VersionPlace, Sequence[VersionVerb]]

    def by(self, moment: Moment) -> list[PlacedEvent]:
        """Return the events that had happened by a moment, in order.

        The first complete list without an object is an event of it, too.

        :param moment: known by no later position than these events.
        """
        events = [
            called(event, self.verbs_told, moment.known)
            for event in self.events
            if event.position <= moment.known
        ]
        about = (self.store, moment, self.named)
        events += collection_deletions(*about, self.namespace, events)
        absent = self._absent(moment, events)
        placed = sorted([*placed_of(events, self.clock), *absent], key=in_order)
        happened = [event for event in placed if had_happened_by(event, moment)]
        return _with_chosen(self.store, happened, contradictions(self.store, moment))

    def _absent(self, moment: Moment, events: Sequence[Recorded]) -> Iterator[PlacedEvent]:
        for absence in absences(self.store, moment, self.named, events, self.clock):
            yield PlacedEvent(absence.recorded, absence.key, absence.span)


def events_of(
    store: LogStore, named: ObjectName, *, namespace: str, moment: Moment
) -> ObjectEvents:
    """Read the events of a name that are known at a moment; also those that happened later.

    :param namespace: empty for kinds without one.
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
    events = tuple(store.read(query))
    return ObjectEvents(store, named, namespace, clock, events, verbs_told(store, moment, events))


def effect_of(recorded: Recorded) -> Effect:
    """Return the effect of an event on truth."""
    return KINDS[recorded.event.kind].effect


def placed_of(events: Sequence[Recorded], clock: Clock) -> Iterator[PlacedEvent]:
    """Yield events with their places in the order of happening."""
    undated = [each.position for each in events if each.event.revision is None]
    loose_spans, keys = clock.loose_spans(undated), clock.loose_keys(undated)
    for recorded, span in with_spans(events, clock):
        at, revision, version = recorded.position, recorded.event.revision, 0
        if revision is not None:
            # A list at a revision was made after the change that has it.
            key = revision * 2 + (effect_of(recorded) is Effect.LISTED)
        else:
            version = loose_spans.get(at, (span, 0))[1]
            key = keys[at] if at in keys else _key_at(span.estimate, clock)
        yield PlacedEvent(recorded, key, span, version)


def _key_at(time: int | None, clock: Clock) -> int:
    """Return the place of what changes nothing, as the clock places what does: by its time."""
    following = None if time is None else clock.next_revision(clock.revision_at(time))
    if following is not None:
        return following * 2 - 1
    return _LAST if time is None else END_KEY


def in_order(event: PlacedEvent) -> tuple[int, int, int, int]:
    """Return what events are sorted by: the order of happening."""
    return event.key, event.span.estimate or 0, event.effect, event.position


def had_happened_by(event: PlacedEvent, moment: Moment) -> bool:
    """Return whether an event had happened by a moment.

    One without a revision is after the last revision that its place follows, so at a revision it
    had not happened; at a time it may have.
    """
    if moment.revision is None:
        return True
    revision, time = event.recorded.event.revision, event.span.estimate
    if revision is not None:  # The place of what a list shows may be before the list.
        return max(event.key, revision * 2) <= moment.revision * 2 + 1
    if event.key <= moment.revision * 2:
        return True
    return moment.time is not None and time is not None and time <= moment.time


def _with_chosen(
    store: LogStore, events: Sequence[PlacedEvent], contents: Mapping[Version, Contents]
) -> list[PlacedEvent]:
    """Return events with the content that counts of each version, without the other contents."""
    chosen = []
    for placed in events:
        recorded, event = placed.recorded, placed.recorded.event
        # Its content is among those of the version that it contradicts.
        if event.kind == _CONTRADICTED:
            continue
        several = contents.get((event.reference, -1 if event.revision is None else event.revision))
        if several is not None and recorded.position in several.positions:
            payload = store.payloads([several.chosen], recorded.branch)[several.chosen]
            event = msgspec.structs.replace(event, payload=payload)
            recorded = msgspec.structs.replace(recorded, event=event)
            chosen.append(msgspec.structs.replace(placed, recorded=recorded, contents=several))
        else:
            chosen.append(placed)
    return chosen
