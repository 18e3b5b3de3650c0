"""What a log knows completely: for each kind and namespace, spans of revisions.

Four things are told of a kind, in the order of what they are worth:

* a list, or a watch that says when it has told what exists: at this revision these objects existed
  and no others. A list of kubectl has no revision; the greatest among its items stands in, and what
  one document lists at once is known up to the greatest revision in all of it.
* a watch, from the first to the last revision that it told: all changes between them.
* an audit log with every accepted write of the kind at level RequestResponse: the same, as far as
  its policy lets anybody see.
* a scenario: everything.

A complete span begins with the first of these, and goes on as long as something tells the changes.
What lies between two spans is a hole. Nothing here looks at the objects themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby, pairwise
from types import MappingProxyType

import msgspec

from ..events import Event
from ..events.payloads import (
    AuditCovered,
    ListObserved,
    ListsJoined,
    ScenarioDeclared,
    WatchFollowed,
)

EVERYTHING = 2**62
"""A revision after all others."""

Pair = tuple[str, str]
"""API group and kind."""

TELLING = ("list.observed", "lists.joined", "watch.followed", "audit.covered", "scenario.declared")
"""The kinds of events that coverage is made of."""

_FULL = "RequestResponse"
_EXPIRING = frozenset({("", "Event"), ("events.k8s.io", "Event")})
"""Kinds whose objects go by themselves after a while, which no request shows."""

_SECOND = 1_000_000


class How(StrEnum):
    """What tells of a span."""

    LIST = "list"
    WATCH = "watch"
    AUDIT = "audit"
    SCENARIO = "scenario"


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Revisions at which all objects of a kind are known.

    :param by: what tells it, in the order in which it came.
    :param exact: False if ``last`` is a lower bound: a list that does not say when it was.
    :param interrupted: a watch that ended with an error is the last that is known of it.
    """

    first: int
    last: int
    by: tuple[How, ...]
    exact: bool = True
    interrupted: bool = False


class Why(StrEnum):
    """Why something is not known at a revision."""

    NEVER = "never"
    BEFORE = "before"
    HOLE = "hole"
    AFTER = "after"


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Revisions at which a kind is not known.

    :param after: the last revision before it that is known; None if there is none.
    :param before: the first after it, the same.
    :param interrupted: it began with an error of a watch.
    """

    why: Why
    after: int | None = None
    before: int | None = None
    interrupted: bool = False


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What one input tells of one kind.

    :param namespaces: of which; empty for all.
    :param complete: at ``since`` it told all that there was.
    :param changes: it told all changes from ``since`` to ``until``.
    :param resumed: it went on from something that was known to who asked.
    """

    pair: Pair
    how: How
    since: int
    until: int
    namespaces: tuple[str, ...] = ()
    complete: bool = False
    changes: bool = False
    resumed: bool = False
    exact: bool = True
    interrupted: bool = False

    @property
    def order(self) -> tuple[int, int, str, tuple[bool, ...], tuple[str, ...]]:
        """What comes first; of two alike the one that is sure of its revision comes last."""
        sure = (self.resumed, self.exact, self.interrupted, self.complete, self.changes)
        return self.since, self.until, self.how, sure, self.namespaces


class Coverage:
    """The knowledge of one log, or of a part of it.

    :param told: what inputs tell. :param whole: a scenario tells everything.
    """

    def __init__(self, told: Iterable[Told], *, whole: bool = False) -> None:
        self.whole = whole
        self._told: dict[Pair, list[Told]] = {}
        for one in sorted(told, key=lambda one: (one.pair, one.order)):
            self._told.setdefault(one.pair, []).append(one)
        every = (one for some in self._told.values() for one in some)
        # What a log without any exact revision ends with, nobody knows; it proves nothing.
        self._proof = max((one.until for one in every if one.exact), default=-1)
        self._spans: dict[tuple[Pair, str | None], tuple[Span, ...]] = {}

    def kinds(self) -> list[Pair]:
        """Return the kinds of which anything is told as a whole, sorted."""
        return sorted(pair for pair in self._told if self.spans(pair))

    def namespaces(self, pair: Pair) -> list[str]:
        """Return the namespaces of which something is told that is not told of all, sorted."""
        return sorted({name for one in self._told.get(pair, ()) for name in one.namespaces})

    def spans(self, pair: Pair, namespace: str | None = None) -> tuple[Span, ...]:
        """Return when a kind is known completely, in order.

        :param namespace: in it; None is anywhere: whatever is told of any namespace counts.
        """
        key = (pair, namespace)
        if key not in self._spans:
            spans = tuple(_joined(self._about(pair, namespace)))
            apart = all(before.last < after.first for before, after in pairwise(spans))
            assert apart, "a span that reaches the next one is joined with it"
            self._spans[key] = spans
        return self._spans[key]

    def gap(self, pair: Pair, revision: int, namespace: str | None = None) -> Gap | None:
        """Return what is not known of a kind at a revision, or None if all is.

        After the last list without a revision of its own all is known, unless something proves
        that the log goes on.
        """
        if self.whole:
            return None
        before: Span | None = None
        for span in self.spans(pair, namespace):
            if revision < span.first:
                return _between(before, span)
            before = span
            if revision <= span.last:
                return None
        if before is None:
            return Gap(why=Why.NEVER)
        if not before.exact and before.last >= self._proof:
            return None
        return _between(before, None)

    def has_changes(self, pair: Pair, revision: int, namespace: str | None = None) -> bool:
        """Say whether the log has whatever changed in a kind at a revision.

        It may have it without all that there was: in a watch that does not say what it begins with.
        """
        return self.gap(pair, revision, namespace) is None or any(
            one.changes and one.since <= revision <= one.until
            for one in self._about(pair, namespace)
        )

    def end(self, pair: Pair, namespace: str | None = None) -> Gap | None:
        """Return what is not known after the last that is told of a kind; None for a scenario."""
        spans = self.spans(pair, namespace)
        if self.whole:
            return None
        return _between(spans[-1], None) if spans else Gap(why=Why.NEVER)

    def holes(self, pair: Pair, first: int, last: int, namespace: str | None = None) -> list[Gap]:
        """Return what is not known of a kind in a range, before a span that ends it, in order.

        What is not known at the end of the range is not among it: see :meth:`gap`.
        """
        if self.whole:
            return []
        found: list[Gap] = []
        before: Span | None = None
        for span in self.spans(pair, namespace):
            begins = -1 if before is None else before.last
            if begins + 1 < span.first <= last and span.first > first:
                found.append(_between(before, span))
            before = span
        return found

    def begin(self, pair: Pair) -> int | None:
        """Return the first revision at which a kind is known anywhere; None if it never is."""
        if self.whole:
            return 0
        spans = self.spans(pair)
        return spans[0].first if spans else None

    def begin_together(self, pairs: Sequence[Pair]) -> int | None:
        """Return the first revision at which some kinds are known at once.

        Where they never are, it is the first by which each was known once; None for no kinds.
        """
        if self.whole or not pairs:
            return 0 if pairs else None
        spans = [self.spans(pair) for pair in pairs]
        for first in sorted(span.first for some in spans for span in some):
            if all(any(span.first <= first <= span.last for span in some) for some in spans):
                return first
        begins = [some[0].first for some in spans if some]
        return max(begins, default=None)

    def _about(self, pair: Pair, namespace: str | None) -> list[Told]:
        return [
            one
            for one in self._told.get(pair, ())
            if namespace is None or not one.namespaces or namespace in one.namespaces
        ]


def _between(before: Span | None, after: Span | None) -> Gap:
    if before is None:
        return Gap(why=Why.BEFORE, before=after.first if after else None)
    return Gap(
        why=Why.HOLE if after else Why.AFTER,
        after=before.last,
        before=after.first if after else None,
        interrupted=before.interrupted,
    )


class _Growing:
    """A span that is being joined from what inputs tell."""

    def __init__(self, begin: Told) -> None:
        self.first, self.last = begin.since, begin.until
        self._by = [begin.how]
        self._latest = begin

    def reaches(self, one: Told) -> bool:
        """Say whether something that is told goes on where the span ends."""
        if one.since <= self.last + 1:
            return True
        latest = self._latest
        return one.resumed and latest.exact and not latest.interrupted

    def take(self, one: Told) -> None:
        """Go on with what is told."""
        if one.how not in self._by:
            self._by.append(one.how)
        if one.until >= self.last:
            self.last, self._latest = one.until, one

    def span(self) -> Span:
        """Return it as it is."""
        return Span(
            first=self.first,
            last=self.last,
            by=tuple(self._by),
            exact=self._latest.exact,
            interrupted=self._latest.interrupted,
        )


def _joined(told: Sequence[Told]) -> Iterator[Span]:
    """Yield complete spans: what begins with all that there is, and goes on without a break.

    :param told: of one kind, in order.
    """
    growing: _Growing | None = None
    passed: list[Told] = []
    for one in told:
        if growing is not None and growing.reaches(one):
            if one.complete or one.changes:
                growing.take(one)
            continue
        if one.complete:
            if growing is not None:
                yield growing.span()
            growing = _Growing(one)
            for earlier in passed:  # A watch that was under way when the list was made.
                if earlier.until >= growing.last:
                    growing.take(earlier)
            passed = []
        elif one.changes:
            passed.append(one)
    if growing is not None:
        yield growing.span()


def coverage_of(events: Iterable[Event]) -> Coverage:
    """Return what some events of kinds :data:`TELLING` tell; all others are passed over."""
    told: list[Told] = []
    audits: list[AuditCovered] = []
    whole = False
    for event in events:
        match event.kind:
            case "list.observed" if event.revision is not None:
                listing = msgspec.json.decode(event.payload, type=ListObserved)
                told.append(_listed(event, listing))
            case "lists.joined":
                told += _joined_lists(msgspec.json.decode(event.payload, type=ListsJoined))
            case "watch.followed":
                told.append(_watched(msgspec.json.decode(event.payload, type=WatchFollowed)))
            case "audit.covered":
                audits.append(msgspec.json.decode(event.payload, type=AuditCovered))
            case "scenario.declared":
                msgspec.json.decode(event.payload, type=ScenarioDeclared)
                whole = True
    return Coverage([*told, *_audited(audits)], whole=whole)


def _listed(event: Event, listing: ListObserved) -> Told:
    since = event.revision or 0
    return Told(
        pair=(listing.group, listing.listed),
        how=How.LIST,
        since=since,
        until=since,
        namespaces=listing.namespaces,
        complete=True,
        exact=listing.exact,
    )


def _joined_lists(joined: ListsJoined) -> Iterator[Told]:
    """Yield lists that were made at one time."""
    for kind in joined.kinds:
        yield Told(
            pair=(kind.group, kind.listed),
            how=How.LIST,
            since=kind.revision,
            until=joined.until,
            namespaces=kind.namespaces,
            complete=True,
            exact=False,
        )


_COMPLETE = MappingProxyType({"marked": True, "unmarked": True})


def _watched(watch: WatchFollowed) -> Told:
    return Told(
        pair=(watch.group, watch.listed),
        how=How.WATCH,
        since=watch.since,
        until=watch.until,
        namespaces=watch.namespaces,
        complete=_COMPLETE.get(watch.begin, False),
        changes=True,
        resumed=watch.begin == "resumed",
        interrupted=watch.interrupted,
    )


def _audited(audits: Sequence[AuditCovered]) -> Iterator[Told]:
    """Yield the kinds of which an audit log has every write with its answer."""
    numbered: list[tuple[int, AuditCovered]] = []
    number = 0
    last: AuditCovered | None = None
    for one in sorted(audits, key=lambda one: (one.first_at, one.last_at)):
        if last is not None and one.first_at - last.last_at > max(one.pause, last.pause, _SECOND):
            number += 1
        numbered.append((number, one))
        if last is None or one.last_at > last.last_at:
            last = one
    for _, some in groupby(numbered, key=lambda pair: pair[0]):
        yield from _of_one_log([one for _, one in some])


def _of_one_log(parts: Sequence[AuditCovered]) -> Iterator[Told]:
    """Yield what files of one audit log tell that follow each other without a longer pause."""
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
    for pair, found in levels.items():
        if found != {_FULL} or pair in _EXPIRING or not lows:
            continue
        until = min(ends.get(pair, EVERYTHING), max(highs))
        if until >= min(lows):
            yield Told(pair=pair, how=How.AUDIT, since=min(lows), until=until, changes=True)


def levels_of(audits: Iterable[AuditCovered]) -> Mapping[Pair, frozenset[str]]:
    """Return the lowest levels at which writes of each kind were recorded."""
    levels: dict[Pair, frozenset[str]] = {}
    for audit in audits:
        for kind in audit.kinds:
            pair = (kind.group, kind.listed)
            levels[pair] = levels.get(pair, frozenset()) | {kind.level}
    return levels
