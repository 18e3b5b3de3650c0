"""Which events of a log a slice needs: the state at its begin, and everything that followed.

The work is linear in the slice and in the state, not in the log, where states and the clock are
stored (``plinian checkpoint build``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events import KINDS, Effect, Event, Recorded
from ...engine.events.payloads import ExtenderAnswered, ListObserved, UsageMeasured
from ...engine.log.store import Query, TimeCut
from ...engine.state.clock import END_KEY, Clock
from ...engine.state.log_coverage import COVERING
from ...engine.state.truth_fold import Entry
from ..logs.log import Log
from ..moments.moment import Moment
from ..moments.slices import begin_of
from ..recorded.session_list import PREFIX as SESSION
from ..truth.points import Point

_AT_ONCE = 1000
_NO_DATE = 2**62
"""Greater than every revision: a query from here on finds events without one."""

_OF_A_SLICE = ("slice.ended", "answer.expected", "names.redacted")
_OF_INPUTS = ("input.assumed", "list.broken")
"""Kinds about whole inputs that answers name: what was filled in, and what was skipped."""

_LEFT_OUT = frozenset({*COVERING, *_OF_A_SLICE, *_OF_INPUTS, "input.redacted"}) - {"list.observed"}
"""Kinds about whole inputs: the event ``slice.began`` has what they say of the slice."""

_INPUTS = ("usage.measured", "extender.answered")
"""Kinds of inputs that count until a newer one about the same replaces them."""

_STEERING = ("config.applied", "process.started", "control.marked")
"""Kinds without effect on objects that steer the scheduler from then on."""

_INPUT = msgspec.json.Decoder(UsageMeasured | ExtenderAnswered).decode


class Range(NamedTuple):
    """A range of a log.

    :param point: the moment that it is about. :param at: the same as a point of any log.
    :param begin: the state is complete from this revision on. :param end: the last revision.
    :param since: and ``until``: the times of both, microseconds.
    :param from_begin: it begins with the log: nothing came before.
    """

    point: Moment
    at: str
    begin: int
    end: int
    since: int
    until: int
    from_begin: bool


class Slice(NamedTuple):
    """The events of a slice.

    :param state: those that give the state at its begin. :param events: those that followed.
    """

    state: Sequence[int]
    events: Sequence[int]


def range_around(log: Log, at: Point, around: int) -> Range:
    """Return the range of a log around a moment.

    :param around: how much time before and after it, microseconds.
    :raises UsageError: the log holds no object, or no time.
    """
    moment = log.moment(at)
    clock = log.clock(moment)
    extent = log.store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
    if extent.first_revision is None or extent.last_revision is None:
        raise UsageError(
            f"the log holds no state at {moment.label}: it has no version of any object",
            now="choose a later moment, or ingest a list or a watch",
        )
    last = extent.last_revision if moment.revision is None else moment.revision
    time = clock.time_of(last) if moment.time is None else moment.time
    if time is None:
        raise UsageError(
            f"the log does not say when {moment.label} was, so there is no time around it",
            now="ingest inputs with times, such as an audit log, or lists with --taken-at",
        )
    begin = clock.revision_at(time - around)
    end = min(max(clock.revision_at(time + around), moment.revision or 0), extent.last_revision)
    if moment.revision is None:
        end = extent.last_revision
    earlier = begin_of(log.store)  # The log may be a pack.
    if earlier is not None:
        # A pack knows nothing before its begin, so its slice cannot begin earlier.
        begin = max(begin, earlier.revision)
    from_begin = begin < extent.first_revision
    return Range(
        point=moment,
        at=_general(moment),
        begin=extent.first_revision - 1 if from_begin else begin,
        end=end,
        since=time - around,
        until=time + around,
        from_begin=from_begin,
    )


def _general(moment: Moment) -> str:
    """Return a moment as a point that names the same state in the slice.

    Never a position, and never the number of a session: both are others there.
    """
    if moment.time is not None and not moment.label.startswith(SESSION):
        return moment.label
    return "end" if moment.revision is None else f"rv:{moment.revision}"


def slice_of(log: Log, wanted: Range) -> Slice:
    """Return the positions of the events that a slice of a log needs."""
    parts = _Parts(log, wanted)
    events = {*parts.dated(), *parts.undated(), *parts.notes()}
    # An event may be of several parts; one that followed is no part of the state.
    state = {*parts.state(), *parts.lasting(), *parts.of_inputs()} - events
    state |= {*parts.lists_before(sorted(events))} - events
    return Slice(sorted(state), sorted(events))


class _Parts:
    """The parts that a slice is made of, each as positions."""

    def __init__(self, log: Log, wanted: Range) -> None:
        self._log, self._range = log, wanted
        self._moment = wanted.point
        self._clock: Clock = log.clock(wanted.point)

    def dated(self) -> Iterator[int]:
        """Yield the events with a revision in the range."""
        last = max(self._range.end, self._moment.revision or 0)  # Notes may have revisions, too.
        for recorded in self._read(revisions=(self._range.begin + 1, last)):
            if recorded.event.kind not in _LEFT_OUT:
                yield recorded.position

    def undated(self) -> Iterator[int]:
        """Yield changes without a revision, where the clock places them in the range."""
        loose = self._clock.loose(self._key(), self._last_key())
        # Either bound is enough: a change that may be in the range is needed to decide whether it
        # is.
        within = (loose.keys <= self._range.end * 2) | (loose.estimates <= self._range.until)
        if self._moment.revision is None:
            within[:] = True
        within &= loose.positions <= self._moment.known
        yield from loose.positions[within].tolist()

    def notes(self) -> Iterator[int]:
        """Yield what components logged in the time of the range, without effect on objects."""
        # Keys without a revision: only their times are compared.
        times = TimeCut(_NO_DATE, self._range.since), TimeCut(_NO_DATE * 2 - 1, self._range.until)
        for recorded in self._read(happened=times):
            kind = recorded.event.kind
            if KINDS[kind].effect is Effect.NONE and kind not in _LEFT_OUT:
                yield recorded.position

    def state(self) -> Iterator[int]:
        """Yield the last version of each object at the begin, with what came after it."""
        if self._range.from_begin:
            return
        begin = msgspec.structs.replace(self._moment, revision=self._range.begin, time=None)
        for entry in self._log.truth(begin).entries():
            yield entry.position
            # A binding may be known before any version of the pod shows it.
            if entry.bound_position:
                yield entry.bound_position
            if entry.stale:
                yield from self._touches(entry)

    def _touches(self, entry: Entry) -> Iterator[int]:
        """Yield the writes with an unknown result after an object's last version."""
        reference = entry.reference
        placed = self._clock.loose(entry.revision * 2, self._key()).positions.tolist()
        loose = frozenset(placed)
        for recorded in self._read(
            objects=((reference.group, reference.kind),),
            namespace=reference.namespace,
            name=reference.name,
        ):
            event = recorded.event
            dated = event.revision is not None and (
                entry.revision < event.revision <= self._range.begin
            )
            if KINDS[event.kind].effect is Effect.TOUCHED and (dated or recorded.position in loose):
                yield recorded.position

    def lasting(self) -> Iterator[int]:
        """Yield what counts from before the range: configurations, starts, external inputs."""
        newest: dict[tuple[str, ...], int] = {}
        for recorded in self._read(kinds=(*_INPUTS, *_STEERING)):
            event = recorded.event
            if not self._is_before(event):
                continue
            if event.kind in _STEERING:
                yield recorded.position
            else:
                newest[_subject(event)] = recorded.position
        yield from newest.values()

    def of_inputs(self) -> Iterator[int]:
        """Yield what inputs leave to be said wherever it matters."""
        for recorded in self._read(kinds=_OF_INPUTS, about_kinds=True):
            yield recorded.position

    def _is_before(self, event: Event) -> bool:
        if event.revision is not None:
            return event.revision <= self._range.begin
        return event.observed_at is None or event.observed_at < self._range.since

    def lists_before(self, positions: Sequence[int]) -> Iterator[int]:
        """Yield for each list without a revision the list that it is compared with."""
        wanted: dict[tuple[str, str], set[tuple[str, ...]]] = {}
        for recorded in read_at(self._log, positions, self._moment.branch):
            if recorded.event.kind == "list.observed":
                listing = _listing(recorded)
                if not listing.exact:
                    kinds = wanted.setdefault((listing.group, listing.listed), set())
                    # Lists are compared with the one before only if they have the same namespaces.
                    kinds.add(listing.namespaces)
        for pair, shapes in wanted.items():
            for recorded in self._read(
                kinds=("list.observed",), objects=(pair,), revisions=(None, self._range.begin)
            ):
                listing = _listing(recorded)
                if not listing.exact and listing.namespaces in shapes:
                    yield recorded.position

    def _key(self) -> int:
        return -2 if self._range.from_begin else self._range.begin * 2

    def _last_key(self) -> int:
        following = self._clock.next_revision(self._range.end)
        return END_KEY if following is None else following * 2 - 1

    def _read(self, **narrowed: object) -> Iterator[Recorded]:
        moment = self._moment
        query = Query(branch=moment.branch, cluster=moment.cluster, until=moment.known)
        return self._log.store.read(msgspec.structs.replace(query, **narrowed))


def _listing(recorded: Recorded) -> ListObserved:
    return msgspec.json.decode(recorded.event.payload, type=ListObserved)


def _subject(event: Event) -> tuple[str, ...]:
    value = _INPUT(event.payload)
    return (value.node,) if isinstance(value, UsageMeasured) else (value.verb, value.about)


def read_at(log: Log, positions: Iterable[int], branch: str) -> Iterator[Recorded]:
    """Yield the events at some positions, in order."""
    rest = iter(positions)
    while some := tuple(islice(rest, _AT_ONCE)):
        yield from log.store.read(Query(branch=branch, positions=some))
