"""Invariants of a range that need no view: sessions, retries, writers, versions of a watch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from ...engine.errors import EventMalformed
from ...engine.events import KINDS, Effect, Recorded
from ...engine.events.payloads import CleanupRetried
from ...engine.invariants.invariant import Invariant, Violation
from ...engine.invariants.runs import (
    LoggedMark,
    ObjectLife,
    ViolationSpan,
    needless_retries,
    pauses,
)
from ...engine.invariants.violation_timeline import Breach, HappeningPlace
from ...engine.invariants.writer_invariants import WrittenVersion, contested, fields_of
from ...engine.kubernetes.objects import PodGroup, Queue, decode_known
from ...engine.log.store import Query
from ...engine.state.clock import Clock
from ..logs.log import Log
from ..moments.actors import attributed
from ..moments.moment import Moment
from .watch_starts import versions_going_back

_SCHEDULER = "scheduler"
_VERSIONS = ("observed", "created", "updated")


class Ranges:
    """The log up to a moment, for invariants that are about a range of it."""

    def __init__(self, log: Log, end: Moment, clock: Clock, release: str) -> None:
        self._log, self._end, self._clock, self._release = log, end, clock, release

    def breaches(self, invariants: Iterable[Invariant]) -> Iterator[Breach]:
        """Yield the violations of those invariants that are checked here."""
        for invariant in invariants:
            find = _FINDERS.get(invariant.id)
            if find is not None:
                for begin, end, violation in find(self):
                    lasted = None if not (begin.time and end.time) else end.time - begin.time
                    yield Breach(invariant, violation, begin, end, False, begin.time, lasted)

    def pauses(self) -> Iterator[tuple[HappeningPlace, HappeningPlace, Violation]]:
        """Yield the times in which no session began."""
        opened = [
            mark for event in self._read("session.opened") if (mark := _mark(event)) is not None
        ]
        yield from map(self._span, pauses(sorted(opened, key=_by_time), self._release))

    def retries(self) -> Iterator[tuple[HappeningPlace, HappeningPlace, Violation]]:
        """Yield the needless retries of cleanups."""
        retried: dict[str, list[LoggedMark]] = {}
        for event in self._read("cleanup.retried"):
            told = msgspec.json.decode(event.event.payload, type=CleanupRetried)
            mark = _mark(event)
            if told.component == _SCHEDULER and told.job and mark is not None:
                retried.setdefault(told.job, []).append(mark)
        for marks in retried.values():
            marks.sort(key=_by_time)
        yield from map(self._span, needless_retries(retried, self._lives() if retried else {}))

    def writers(self) -> Iterator[tuple[HappeningPlace, HappeningPlace, Violation]]:
        """Yield the fields that two components write in turns."""
        kinds = tuple(f"{noun}.{verb}" for noun in ("queue", "podgroup") for verb in _VERSIONS)
        read = [event for event in self._read(*kinds) if event.event.revision is not None]
        read.sort(key=lambda version: version.event.revision or 0)
        told = attributed(self._log.store, self._clock, read, branch=self._end.branch)
        writes = (write for event in told if (write := self._write(event, event.actor)) is not None)
        for write, violation in contested(writes):
            place = HappeningPlace(write.position, None, write.time, (write.position,))
            yield place, place, violation

    def going_back(self) -> Iterator[tuple[HappeningPlace, HappeningPlace, Violation]]:
        """Yield versions that a watch reported after newer ones."""
        for recorded, violation in versions_going_back(self._log, self._end):
            revision = recorded.event.revision
            time = self._clock.time_of(revision)
            place = HappeningPlace(recorded.position, revision, time, (recorded.position,))
            yield place, place, violation

    def _read(self, *kinds: str) -> Iterator[Recorded]:
        end = self._end
        query = Query(branch=end.branch, cluster=end.cluster, until=end.known, kinds=kinds)
        for event in self._log.store.read(query):
            revision, time = event.event.revision, event.event.observed_at
            late = revision is not None and end.revision is not None and revision > end.revision
            after = revision is None and time is not None and time > self._end_time
            if not late and not after:
                yield event

    @property
    def _end_time(self) -> float:
        end = self._end
        if end.time is not None:
            return end.time
        time = None if end.revision is None else self._clock.time_of(end.revision)
        return float("inf") if time is None else time

    def _lives(self) -> Mapping[str, list[ObjectLife]]:
        """Return when PodGroups existed, by ``namespace/name``."""
        kinds = tuple(f"podgroup.{verb}" for verb in (*_VERSIONS, "deleted"))
        read = [version for version in self._read(*kinds) if version.event.revision is not None]
        read.sort(key=lambda version: version.event.revision or 0)
        by_name: dict[str, list[ObjectLife]] = {}
        for event in read:
            reference, time = event.event.reference, self._clock.time_of(event.event.revision)
            lives = by_name.setdefault(f"{reference.namespace}/{reference.name}", [])
            exists = bool(lives) and lives[-1].end is None
            if time is None:
                continue
            if KINDS[event.event.kind].effect is Effect.DELETED:
                if exists:
                    lives[-1] = lives[-1]._replace(end=time)
            elif not exists:
                lives.append(ObjectLife(time, None))
        return by_name

    def _write(self, version: Recorded, actor: str) -> WrittenVersion | None:
        event, reference = version.event, version.event.reference
        kind: type[PodGroup | Queue] = PodGroup if reference.kind == "PodGroup" else Queue
        try:
            item = decode_known(kind, event.payload)
        except EventMalformed:
            return None
        name = f"{reference.namespace}/{reference.name}" if reference.namespace else reference.name
        time = self._clock.time_of(event.revision) or 0
        return WrittenVersion(
            version.position, time, reference.kind, name, reference.uid, actor, fields_of(item)
        )

    def _span(self, span: ViolationSpan) -> tuple[HappeningPlace, HappeningPlace, Violation]:
        begin, end = span.begin, span.end
        at = self._clock.revision_at(begin.time)
        first = HappeningPlace(
            begin.position, at if at >= 0 else None, begin.time, (begin.position,)
        )
        at = self._clock.revision_at(end.time)
        return (
            first,
            HappeningPlace(end.position, at if at >= 0 else None, end.time),
            span.violation,
        )


def _mark(event: Recorded) -> LoggedMark | None:
    time = event.event.observed_at
    return None if time is None else LoggedMark(event.position, time)


def _by_time(mark: LoggedMark) -> tuple[int, int]:
    return mark.time, mark.position


_FINDERS: Mapping[
    str, Callable[[Ranges], Iterator[tuple[HappeningPlace, HappeningPlace, Violation]]]
] = MappingProxyType(
    {
        "I-19": Ranges.pauses,
        "I-19b": Ranges.retries,
        "I-22": Ranges.going_back,
        "I-23": Ranges.writers,
    }
)
