"""Coverage from the events that inputs leave: what each of them covers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

import msgspec

from ..events import Event
from ..events.payloads import (
    AuditCovered,
    KnownSpan,
    ListBroken,
    ListObserved,
    ListsJoined,
    ScenarioDeclared,
    SliceBegan,
    WatchFollowed,
)
from .log_coverage import EVERYTHING, Covered, LogCoverage, Pair, Shower

_FULL = "RequestResponse"
_EXPIRING = frozenset({("", "Event"), ("events.k8s.io", "Event")})
"""Kinds whose objects expire, which no request shows."""

_SECOND = 1_000_000


class Covering(msgspec.Struct):
    """What events say of coverage, one after the other; it can be stored, and continued.

    A recorder leaves a span of each watch every few seconds. Those that continue each other are
    joined, so this grows with the holes of a log and not with its age.
    """

    covered: list[Covered] = []
    audits: list[AuditCovered] = []
    broken: list[ListBroken] = []
    whole: bool = False
    proof: int = -1

    def coverage(self) -> LogCoverage:
        """Return the coverage by the events so far."""
        covered = [*self.covered, *_audited(self.audits)]
        return LogCoverage(covered, whole=self.whole, proof=self.proof, broken=self.broken)


class CoverageFold:
    """Takes the events of kinds :data:`COVERING`, in the order of the log; others are ignored.

    :param covering: what those before said.
    """

    def __init__(self, covering: Covering) -> None:
        self.covering = covering
        self._ends = {
            _end_of(record): place
            for place, record in enumerate(covering.covered)
            if record.how is Shower.WATCH
        }

    def take(self, event: Event) -> None:
        """Take the next event."""
        covering = self.covering
        match event.kind:
            case "list.observed" if event.revision is not None:
                listing = msgspec.json.decode(event.payload, type=ListObserved)
                covering.covered.append(_listed(event, listing))
            case "list.broken":
                covering.broken.append(msgspec.json.decode(event.payload, type=ListBroken))
            case "lists.joined":
                joined = msgspec.json.decode(event.payload, type=ListsJoined)
                covering.covered += _joined_lists(joined)
            case "watch.followed":
                watch = msgspec.json.decode(event.payload, type=WatchFollowed)
                self._take_watch(_watched(watch))
            case "audit.covered":
                covering.audits.append(msgspec.json.decode(event.payload, type=AuditCovered))
            case "scenario.declared":
                msgspec.json.decode(event.payload, type=ScenarioDeclared)
                covering.whole = True
            case "slice.began":
                began = msgspec.json.decode(event.payload, type=SliceBegan)
                covering.covered += (record for known in began.known for record in _sliced(known))
                covering.whole = covering.whole or began.whole
                covering.proof = max(covering.proof, began.proof)

    def _take_watch(self, record: Covered) -> None:
        covered = self.covering.covered
        place = self._ends.get(_begin_of(record)) if record.resumed else None
        if place is None or not _can_go_on(covered[place]):
            place = len(covered)
            covered.append(record)
        else:
            del self._ends[_end_of(covered[place])]
            covered[place] = _continued(covered[place], record)
        self._ends[_end_of(covered[place])] = place


_Scope = tuple[Pair, tuple[str, ...], int]


def _begin_of(record: Covered) -> _Scope:
    return record.pair, record.namespaces, record.since


def _end_of(record: Covered) -> _Scope:
    return record.pair, record.namespaces, record.until


def _can_go_on(record: Covered) -> bool:
    """Return whether a span says the same together with what continues it."""
    return (record.complete or record.resumed) and not record.interrupted


def _continued(before: Covered, record: Covered) -> Covered:
    """Return a span of a watch with what continues it."""
    at = record.at
    if record.until == before.until:  # Both showed the state at this revision.
        at = max((time for time in (before.at, record.at) if time is not None), default=None)
    return msgspec.structs.replace(
        before, until=record.until, at=at, interrupted=record.interrupted
    )


def coverage_of(events: Iterable[Event]) -> LogCoverage:
    """Return the coverage by events of kinds :data:`COVERING`; others are ignored."""
    fold = CoverageFold(Covering())
    for event in events:
        fold.take(event)
    return fold.covering.coverage()


def _sliced(known: KnownSpan) -> Iterator[Covered]:
    """Yield what another log knew, one record for each of its inputs."""
    for how in known.by:
        yield Covered(
            pair=(known.group, known.listed),
            how=Shower(how),
            since=known.since,
            until=known.until,
            namespaces=known.namespaces,
            complete=known.complete,
            changes=True,
            exact=known.exact,
            interrupted=known.interrupted,
        )


def _listed(event: Event, listing: ListObserved) -> Covered:
    since = event.revision or 0
    return Covered(
        pair=(listing.group, listing.listed),
        how=Shower.ASSERTED if listing.asserted else Shower.LIST,
        since=since,
        until=since,
        namespaces=listing.namespaces,
        complete=True,
        exact=listing.exact,
        at=event.latest,
    )


def _joined_lists(joined: ListsJoined) -> Iterator[Covered]:
    """Yield lists that came in one document."""
    for kind in joined.kinds:
        yield Covered(
            pair=(kind.group, kind.listed),
            how=Shower.ASSERTED if joined.asserted else Shower.LIST,
            since=kind.revision,
            until=joined.until,
            namespaces=kind.namespaces,
            complete=True,
            exact=False,
            at=joined.answered,
        )


_COMPLETE = MappingProxyType({"marked": True, "unmarked": True})


def _watched(watch: WatchFollowed) -> Covered:
    return Covered(
        pair=(watch.group, watch.listed),
        how=Shower.WATCH,
        since=watch.since,
        until=watch.until,
        namespaces=watch.namespaces,
        complete=_COMPLETE.get(watch.begin, False),
        changes=True,
        resumed=watch.begin == "resumed",
        interrupted=watch.interrupted,
        at=None if watch.interrupted else watch.until_at,
    )


def _audited(audits: Sequence[AuditCovered]) -> Iterator[Covered]:
    """Yield the kinds for which an audit log has every write with its answer."""
    numbered: list[tuple[int, AuditCovered]] = []
    number = 0
    last: AuditCovered | None = None
    for audit in sorted(audits, key=lambda audit: (audit.first_at, audit.last_at)):
        # Files of one log follow each other at its usual pace. After a longer pause, requests may
        # be missing, so what follows is another log.
        if last is not None and audit.first_at - last.last_at > max(
            audit.pause, last.pause, _SECOND
        ):
            number += 1
        numbered.append((number, audit))
        # A file may be within the one before it: the latest end counts.
        if last is None or audit.last_at > last.last_at:
            last = audit
    for _, of_one_log in groupby(numbered, key=lambda pair: pair[0]):
        yield from _of_one_log([audit for _, audit in of_one_log])


def _of_one_log(parts: Sequence[AuditCovered]) -> Iterator[Covered]:
    """Yield what files of one audit log cover, if no long pause is between them."""
    lows = [part.since for part in parts if part.since is not None]
    highs = [part.until for part in parts if part.until is not None]
    levels: dict[Pair, set[str]] = {}
    ends: dict[Pair, int] = {}
    for part in parts:
        for kind in part.kinds:
            pair = (kind.group, kind.listed)
            levels.setdefault(pair, set()).add(kind.level)
            if kind.until is not None:
                ends[pair] = min(ends.get(pair, EVERYTHING), kind.until)
    for pair, level in levels.items():
        # A rule of the policy may record some requests of a kind in less detail: then not every
        # version is known.
        if level != {_FULL} or pair in _EXPIRING or not lows:
            continue
        until = min(ends.get(pair, EVERYTHING), max(highs))
        if until >= min(lows):
            yield Covered(
                pair=pair,
                how=Shower.AUDIT,
                since=min(lows),
                until=until,
                changes=True,
                at=max(part.last_at for part in parts) if until == max(highs) else None,
            )


def levels_of(audits: Iterable[AuditCovered]) -> Mapping[Pair, frozenset[str]]:
    """Return the lowest levels at which writes of each kind were recorded."""
    levels: dict[Pair, frozenset[str]] = {}
    for audit in audits:
        for kind in audit.kinds:
            pair = (kind.group, kind.listed)
            levels[pair] = levels.get(pair, frozenset()) | {kind.level}
    return levels
