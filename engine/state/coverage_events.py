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


def coverage_of(events: Iterable[Event]) -> LogCoverage:
    """Return the coverage by events of kinds :data:`COVERING`; others are ignored."""
    covered: list[Covered] = []
    audits: list[AuditCovered] = []
    broken: list[ListBroken] = []
    whole, proof = False, -1
    for event in events:
        match event.kind:
            case "list.observed" if event.revision is not None:
                listing = msgspec.json.decode(event.payload, type=ListObserved)
                covered.append(_listed(event, listing))
            case "list.broken":
                broken.append(msgspec.json.decode(event.payload, type=ListBroken))
            case "lists.joined":
                covered += _joined_lists(msgspec.json.decode(event.payload, type=ListsJoined))
            case "watch.followed":
                covered.append(_watched(msgspec.json.decode(event.payload, type=WatchFollowed)))
            case "audit.covered":
                audits.append(msgspec.json.decode(event.payload, type=AuditCovered))
            case "scenario.declared":
                msgspec.json.decode(event.payload, type=ScenarioDeclared)
                whole = True
            case "slice.began":
                began = msgspec.json.decode(event.payload, type=SliceBegan)
                covered += (record for known in began.known for record in _sliced(known))
                whole, proof = whole or began.whole, max(proof, began.proof)
    return LogCoverage([*covered, *_audited(audits)], whole=whole, proof=proof, broken=broken)


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
