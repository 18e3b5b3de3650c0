"""The life of a name: what is known of its objects at each position, from one read of the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from ...engine.events import Effect, Recorded, Reference
from ...engine.log.store import LogStore
from ...engine.state.clock import TimeSpan
from ...engine.state.extract import extract_fact
from ...engine.state.facts import PodFact
from ...engine.state.object_status import status_of
from ..moments.later_events import SHOWING
from ..moments.moment import Moment
from ..moments.times import with_spans
from ..objects.field_changes import FieldDifference, payload_changes
from ..objects.kind_names import ObjectName
from ..truth.absences import lists_without
from ..truth.object_events import PlacedEvent, effect_of, events_of, in_order, placed_of
from .history import History, history_of

_CHANGING = frozenset({*SHOWING, Effect.BOUND})
"""Effects of events that change what is known; complete lists may do it, too."""


class NameState(NamedTuple):
    """What is known of a name.

    :param version: the position of its last version; 0 if the log holds none.
    :param exists: whether the object exists; else it was deleted, or there is none yet.
    :param status: as ``get`` prints it; empty if it has none, or does not exist.
    :param node: of a pod, also if no version shows the binding yet.
    """

    version: int = 0
    exists: bool = False
    uid: str = ""
    status: str = ""
    node: str = ""


class LifeStep(NamedTuple):
    """From a position on, this is known. :param when: the bounds of the time of the event there."""

    position: int
    when: TimeSpan
    state: NameState


class _Folded(NamedTuple):
    """A state on the way. :param shows_node: its version has a node, so no binding counts."""

    state: NameState = NameState()
    shows_node: bool = False


class _Shown(NamedTuple):
    """What a version shows."""

    status: str
    node: str


class Life:
    """All that a log holds of a name by a moment, with what was known of it at each position.

    :param store: the log. :param namespace: empty for kinds without one.
    """

    def __init__(
        self, store: LogStore, named: ObjectName, *, namespace: str, moment: Moment
    ) -> None:
        self.object = Reference(named.group, named.kind, namespace, named.name)
        self._store = store
        self._moment = moment
        self._events = events_of(store, named, namespace=namespace, moment=moment)
        self._shown: dict[int, _Shown] = {}
        self._changes: dict[tuple[int, int], list[FieldDifference]] = {}
        self.history = self.by(moment.known)

    def by(self, position: int) -> History:
        """Return the history of the name as it is known by a position."""
        return history_of(self._events, self.object, self._at(position), self._compare)

    def state(self, position: int) -> NameState:
        """Return what is known of the name by a position."""
        return self._folded(position).state

    def steps(self) -> Iterator[LifeStep]:
        """Yield what is known from each position on that changes it, by position."""
        events = [recorded for recorded in self._events.events if effect_of(recorded) in _CHANGING]
        placed = {event.position: event for event in placed_of(events, self._events.clock)}
        lists = self._lists()
        spans = {at: event.span for at, event in placed.items()} | lists
        chosen = any(event.contents for event in self._events.by(self._moment))
        folded, last, before = _Folded(), (-1, 0, 0, 0), NameState()
        for position, span in sorted(spans.items()):
            event = placed.get(position)
            plain = not chosen and min(lists, default=position) >= position
            # Only an event that comes last in order adds to the state. Contradictions, and lists
            # that lack an object, change what earlier events mean: then all are folded again.
            if event is not None and plain and in_order(event) > last:
                folded = self._after(folded, event)
            else:
                folded = self._folded(position)
            if event is not None:
                last = max(last, in_order(event))
            # A new version alone is no step: what people see of the name is the same.
            if folded.state._replace(version=0) != before._replace(version=0):
                yield LifeStep(position, span, folded.state)
            before = folded.state

    def _lists(self) -> dict[int, TimeSpan]:
        """Return the positions of the lists that lack an object, with their times."""
        uids = {happening.uid for happening in self.history.happenings if happening.shows_version}
        events = lists_without(self._store, self._moment, self._events.named, uids)
        return {event.position: span for event, span in with_spans(events, self._events.clock)}

    def _at(self, position: int) -> Moment:
        return msgspec.structs.replace(self._moment, known=position, revision=None, time=None)

    def _folded(self, position: int) -> _Folded:
        """Return what follows from the events by a position."""
        folded = _Folded()
        for event in self._events.by(self._at(position)):
            folded = self._after(folded, event)
        return folded

    def _after(self, before: _Folded, event: PlacedEvent) -> _Folded:
        """Return what follows from the next event, by the rules of the fold."""
        name_state, uid = before.state, event.recorded.event.reference.uid
        if event.effect is Effect.VERSION:
            status, node = self._look(event)
            state = NameState(
                version=event.shown_at, exists=True, uid=uid, status=status, node=node
            )
            return _Folded(state, shows_node=bool(node))
        # A list lacks one certain object, and another one may have the name by then.
        if event.effect is Effect.DELETED or (
            event.effect is Effect.LISTED and uid == name_state.uid
        ):
            return _Folded(NameState(version=name_state.version))
        if (
            event.effect is not Effect.BOUND
            or not name_state.exists
            or uid not in {"", name_state.uid}
        ):
            return before
        node = "" if before.shows_node else _node_of(event.recorded)
        return before._replace(state=name_state._replace(node=node)) if node else before

    def _compare(self, old: Recorded, new: Recorded) -> list[FieldDifference]:
        key = (old.position, new.position)
        if key not in self._changes:
            self._changes[key] = payload_changes(old.event.payload, new.event.payload)
        return self._changes[key]

    def _look(self, event: PlacedEvent) -> _Shown:
        if event.shown_at not in self._shown:
            self._shown[event.shown_at] = _shown(self._events.named, event.recorded)
        return self._shown[event.shown_at]


def _node_of(binding: Recorded) -> str:
    """Return the node that a binding names; empty if it does not say."""
    return str(msgspec.json.decode(binding.event.payload).get("node") or "")


def _shown(named: ObjectName, recorded: Recorded) -> _Shown:
    fact = extract_fact(named.group, named.kind, recorded.event.payload)
    return _Shown(status_of(fact), fact.node if isinstance(fact, PodFact) else "")
