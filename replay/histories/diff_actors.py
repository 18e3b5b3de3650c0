"""Who made the differences between two moments: the events behind them, and their actors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import msgspec

from ...engine.events import KINDS, Effect, Event, Recorded, Reference, kind_of_version
from ...engine.kubernetes.resources import GroupKind
from ...engine.kubernetes.units import parse_time
from ...engine.log.store import LogStore, Query
from ...engine.state.clock import TimeSpan
from ..moments.actors import attributed as attributed_events
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from ..moments.verbs import with_verbs
from ..objects.field_changes import payload_changes
from .diff import Diff, ObjectChanged

_ASKED = ("pod.bound", "pod.evicted", "request.accepted")
"""Requests that name the actor of a change that a version shows without one."""

_WRITES = frozenset({"update", "patch"})

_NODE = "spec.nodeName"
_LEAVING = ("metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds")


class _Request(msgspec.Struct):
    verb: str = ""
    subresource: str = ""


_DECODE = msgspec.json.Decoder(_Request).decode


class Maker(msgspec.Struct, frozen=True, kw_only=True):
    """Who made a difference.

    :param actor: empty if the log does not say.
    :param position: of the event that shows the difference, or names who made it; 0 if none.
    :param span: the bounds of its time. :param perhaps: if no actor is known, who made the only
        accepted request to write the object in that time; ``asked`` is its position.
    """

    actor: str = ""
    position: int = 0
    span: TimeSpan = TimeSpan(None, None, None)
    kind: str = ""
    perhaps: str = ""
    asked: int = 0


UNKNOWN_MAKER = Maker()


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """The makers of a difference.

    :param objects: makers of added and removed objects, and of accepted writes with an unknown
        result to objects of which no field is known to differ.
    :param fields: makers of each change of the changed objects, in order.
    """

    objects: Mapping[Reference, Maker]
    fields: Mapping[Reference, Sequence[Maker]]


class AttributedDiff(Diff, frozen=True, kw_only=True):
    """The difference of two moments, and who made it."""

    who: Who


def who_made(store: LogStore, diff: Diff, before: Moment, after: Moment) -> Who:
    """Return who made each difference, as far as the log knows by the second moment.

    For a field it is the last version that changed it; for an added object its first version, for a
    removed one its deletion. The log is read once, between the moments.
    """
    lone = {lone_object.object: lone_object for lone_object in (*diff.added, *diff.removed)}
    changed = {changed_object.object: changed_object for changed_object in diff.changed}
    since = None if diff.before.time is None else parse_time(diff.before.time)
    events = _Events(store, before, after, frozenset([*lone, *changed]), since)
    objects = {added.object: events.came(added.object) for added in diff.added}
    objects |= {removed.object: events.went(removed.object) for removed in diff.removed}
    objects |= {
        changed_object.object: events.wrote(changed_object.object)
        for changed_object in diff.changed
        if not changed_object.changes
    }
    fields = dict(_fields(store, diff, before, events))
    return Who(objects=objects, fields=fields)


def _fields(
    store: LogStore, diff: Diff, before: Moment, events: _Events
) -> Iterator[tuple[Reference, list[Maker]]]:
    for changed in diff.changed:
        position = changed.positions[0]
        first = store.payloads([position], before.branch)[position]
        steps = list(_steps(first, events.versions_of(changed)))
        makers = [events.changed(changed.object, change.path, steps) for change in changed.changes]
        yield changed.object, makers


class _Step(msgspec.Struct, frozen=True):
    """A version, and the paths in which it differs from the previous one."""

    version: Recorded
    paths: tuple[str, ...]


def _steps(first: bytes, versions: Sequence[Recorded]) -> Iterator[_Step]:
    payloads = [first, *(recorded.event.payload for recorded in versions)]
    for recorded, (old, new) in zip(versions, pairwise(payloads), strict=True):
        yield _Step(recorded, tuple(change.path for change in payload_changes(old, new)))


class _Events:
    """The events of some objects between two moments.

    :param since: the time of the first, in microseconds; None if not known.
    """

    def __init__(
        self,
        store: LogStore,
        before: Moment,
        after: Moment,
        wanted: frozenset[Reference],
        since: int | None,
    ) -> None:
        self._store, self._after = store, after
        self._clock = clock_of(store, branch=after.branch, cluster=after.cluster)
        self._versions: dict[Reference, list[Recorded]] = defaultdict(list)
        self._gone: dict[Reference, Recorded] = {}
        self._asked: dict[Reference, list[Recorded]] = defaultdict(list)
        for recorded in with_verbs(store, after, store.read(_between(before, after, wanted))):
            if recorded.event.reference in wanted:
                self._take(recorded)
        names = {(*_name(reference),): reference for reference in sorted(wanted)}
        for recorded in store.read(_asked(after, wanted)):
            reference = recorded.event.reference
            time = recorded.event.observed_at
            if reference in wanted:
                self._asked[reference].append(recorded)
            elif not reference.uid and not (since and time and time < since):
                # Without a uid it may belong to an earlier object with the name.
                self._asked[names.get(_name(reference), reference)].append(recorded)

    def _take(self, recorded: Recorded) -> None:
        event = recorded.event
        effect = KINDS[event.kind].effect
        if effect is Effect.VERSION:
            self._versions[event.reference].append(recorded)
        elif effect is Effect.DELETED:
            self._gone[event.reference] = recorded

    def versions_of(self, changed_object: ObjectChanged) -> list[Recorded]:
        """Return the versions of an object after the first compared one, up to the second."""
        low, high = map(_number, changed_object.versions)
        inside = [
            recorded
            for recorded in self._versions[changed_object.object]
            if _within(recorded.event.revision, low, high)
        ]
        return sorted(inside, key=lambda recorded: recorded.event.revision or 0)

    def came(self, reference: Reference) -> Maker:
        """Return who created an object, if the log records the creation and not only the object."""
        versions = self._versions[reference]
        if not versions:
            return UNKNOWN_MAKER
        first = min(versions, key=lambda recorded: recorded.event.revision or 0)
        maker = self._maker(first)
        return (
            maker
            if first.event.kind.endswith(".created")
            else msgspec.structs.replace(maker, actor="")
        )

    def went(self, reference: Reference) -> Maker:
        """Return who deleted an object: by the deletion itself, else by the request."""
        gone = self._gone.get(reference)
        maker = UNKNOWN_MAKER if gone is None else self._maker(gone)
        return maker if maker.actor else self._leaving(reference) or maker

    @cached_property
    def _collected(self) -> frozenset[GroupKind]:
        """The kinds of which a request deletes a collection."""
        query = Query(
            branch=self._after.branch,
            cluster=self._after.cluster,
            until=self._after.known,
            kinds=("collection.deleted",),
        )
        references = (recorded.event.reference for recorded in self._store.read(query))
        return frozenset((reference.group, reference.kind) for reference in references)

    def wrote(self, reference: Reference) -> Maker:
        """Return who made the accepted request to write an object whose result is not known.

        Only if the log holds one such request, and no deletion of a collection of the kind: else
        any of them may be the one that counts.
        """
        asked = [
            request
            for request in self._asked[reference]
            if KINDS[request.event.kind].effect is Effect.TOUCHED
        ]
        if len(asked) != 1 or (reference.group, reference.kind) in self._collected:
            return UNKNOWN_MAKER
        return self._made(asked[0].event.actor, asked[0])

    def changed(self, reference: Reference, path: str, steps: Sequence[_Step]) -> Maker:
        """Return who last changed a field."""
        version = next((step for step in reversed(steps) if _touches(step.paths, path)), None)
        maker = UNKNOWN_MAKER if version is None else self._maker(version.version)
        if maker.actor:
            return maker
        asked = None
        if path == _NODE:
            asked = self._last_asked(reference, lambda event: event.kind == "pod.bound")
        elif path.startswith(_LEAVING):
            asked = self._leaving(reference)
        return asked or self._perhaps(reference, path, maker)

    def _perhaps(self, reference: Reference, path: str, maker: Maker) -> Maker:
        """Return a maker with who may have been it: the only one who asked in that time."""
        low, high = maker.span.earliest, maker.span.latest
        if low is None or high is None:
            return maker
        inside = [
            request
            for request in self._asked[reference]
            if _may_write(request.event, path) and _meets(request.event, low, high)
        ]
        # Of several requests any may be the one that counts.
        if len(inside) != 1 or not inside[0].event.actor:
            return maker
        (event,) = inside
        return msgspec.structs.replace(maker, perhaps=event.event.actor, asked=event.position)

    def _leaving(self, reference: Reference) -> Maker | None:
        return self._last_asked(
            reference,
            lambda event: (
                # Payloads are canonical JSON, so these bytes stand for the verb in all of them.
                event.kind.endswith((".evicted", ".deleted")) or b'"verb":"delete"' in event.payload
            ),
        )

    def _last_asked(self, reference: Reference, wanted: Callable[[Event], bool]) -> Maker | None:
        events = [
            event for event in self._asked[reference] if event.event.actor and wanted(event.event)
        ]
        return self._made(events[-1].event.actor, events[-1]) if events else None

    def _maker(self, recorded: Recorded) -> Maker:
        """Return who made a version: as it says itself, or as another event says."""
        return self._made("", recorded)

    def _made(self, actor: str, recorded: Recorded) -> Maker:
        (attributed,) = attributed_events(
            self._store, self._clock, [recorded], branch=recorded.branch
        )
        return Maker(
            actor=attributed.actor or actor,
            position=attributed.position,
            span=attributed.span,
            kind=attributed.event.kind,
        )


def _between(before: Moment, after: Moment, wanted: Iterable[Reference]) -> Query:
    """Return the query for events of the second moment that may not belong to the first."""
    kinds = {(reference.group, reference.kind) for reference in wanted}
    query = Query(
        branch=after.branch,
        cluster=after.cluster,
        until=after.known,
        objects=tuple(sorted(kinds)),
    )
    if before.branch != after.branch:
        # On another branch, what the first moment lacks may have any position and revision.
        return query
    if before.revision is None:
        # Everything known counts as having happened.
        return msgspec.structs.replace(query, after=before.known)
    # Both moments know the same events, so what is between their revisions came between them.
    if before.known >= after.known:
        return msgspec.structs.replace(query, revisions=(before.revision + 1, after.revision))
    return query


def _asked(after: Moment, wanted: Iterable[Reference]) -> Query:
    """Return the query for requests; requested deletions may have no revision."""
    kinds = {kind_of_version(reference.group, reference.kind, "deleted") for reference in wanted}
    return Query(
        branch=after.branch,
        cluster=after.cluster,
        until=after.known,
        kinds=(*_ASKED, *sorted(kinds)),
    )


def _may_write(event: Event, path: str) -> bool:
    """Return whether an accepted request may have changed a field of its object."""
    if event.kind != "request.accepted":
        return False
    request = _DECODE(event.payload)
    if request.verb not in _WRITES:
        return False
    return not request.subresource or path.split(".", 1)[0] == request.subresource


def _meets(event: Event, low: int, high: int) -> bool:
    """Return whether a request may have been done in a time."""
    begun, done = event.earliest, event.latest
    return begun is not None and done is not None and begun <= high and low <= done


def _name(reference: Reference) -> tuple[str, str, str, str]:
    return reference.group, reference.kind, reference.namespace, reference.name


def _number(version: str) -> int | None:
    return int(version) if version.isdecimal() else None


def _within(revision: int | None, low: int | None, high: int | None) -> bool:
    if revision is None:
        return False
    return (low is None or revision > low) and (high is None or revision <= high)


def _touches(paths: Iterable[str], path: str) -> bool:
    """Return whether any change affects a field, a field below it, or one above it."""
    return any(
        changed_path == path
        or changed_path.startswith((f"{path}.", f"{path}["))
        or path.startswith((f"{changed_path}.", f"{changed_path}["))
        for changed_path in paths
    )
