"""How objects stopped to exist: the event that shows it, and the request that asked for it."""

from __future__ import annotations

from typing import NamedTuple

from ...engine.events import Effect, Recorded, Reference
from ...engine.log.store import LogStore
from ...engine.state.clock import TimeSpan
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName
from .object_events import PlacedEvent, events_of
from .settled_writes import deletes

_SHOWING = (Effect.VERSION, Effect.BOUND)


class Ending(NamedTuple):
    """The end of an object.

    :param recorded: a deletion, the first complete list without the object, or the first version
        of another one of its name. :param key: its place in the order of happening.
    :param request: the last accepted request before it to delete the object, if no deletion was
        recorded; None if none is known.
    """

    recorded: Recorded
    key: int
    span: TimeSpan
    request: Recorded | None = None

    @property
    def event(self) -> Recorded:
        """The event that says most of it: a request names the actor and the time."""
        return self.recorded if self.request is None else self.request


def ending_of(store: LogStore, moment: Moment, about: Reference) -> Ending | None:
    """Return how an object ended by a moment; None if it did not, as far as the log knows."""
    named = ObjectName(about.group, about.kind, about.name)
    events = events_of(store, named, namespace=about.namespace, moment=moment).by(moment)
    places = [number for number, event in enumerate(events) if _shows(event, about.uid)]
    if not places:
        return None
    rest = events[places[-1] + 1 :]
    end = next((event for event in rest if _ends(event, about.uid)), None)
    if end is None:
        return None
    asked = [event.recorded for event in rest if _asks(event, end, about.uid)]
    seen = end.effect is Effect.DELETED
    return Ending(end.recorded, end.key, end.span, None if seen or not asked else asked[-1])


def _shows(event: PlacedEvent, uid: str) -> bool:
    return event.effect in _SHOWING and event.recorded.event.reference.uid == uid


def _ends(event: PlacedEvent, uid: str) -> bool:
    """Return whether an event after the last version of an object means that it is gone."""
    if event.effect is Effect.VERSION:
        return True
    ends = event.effect in {Effect.DELETED, Effect.LISTED}
    return ends and event.recorded.event.reference.uid in {"", uid}


def _asks(event: PlacedEvent, end: PlacedEvent, uid: str) -> bool:
    """Return whether an event is a request that led to the end that another event shows.

    One that came before a list that still has the object did not. The place of a list may be before
    that of a request, as the revision of a list may be a lower bound: then their times tell.
    """
    if event.recorded.event.reference.uid not in {"", uid} or not deletes(event.recorded):
        return False
    answered, since, until = event.recorded.event.latest, end.span.earliest, end.span.latest
    if answered is None or until is None:
        return event.key <= end.key
    return (since is None or since <= answered) and answered <= until
