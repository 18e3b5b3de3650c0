"""What a log knows completely: for each kind and namespace, spans of revisions.

Four inputs cover a kind:

* a list, or a watch whose initial list ends with a bookmark: at this revision these objects existed
  and no others. A list of kubectl has no revision. The greatest among its items is used instead,
  and the kinds in one document are known up to the greatest revision in all of it.
* a watch, from its first to its last revision: all changes between them.
* an audit log with every accepted write of the kind at level RequestResponse: the same, as far as
  its policy shows.
* a scenario: everything.

A slice of another log has what that log knew. A complete span begins with a list or an initial
list, and continues while inputs have all changes. Between two spans there is a hole. A list of
which a record was skipped covers nothing, and why is kept. This module does not read the objects
themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise

import msgspec

from ..events.payloads import KnownSpan, ListBroken

EVERYTHING = 2**62
"""A revision after all others."""

Pair = tuple[str, str]
"""API group and kind."""

COVERING = (
    *("list.observed", "lists.joined", "watch.followed", "audit.covered", "scenario.declared"),
    *("slice.began", "list.broken"),
)
"""The kinds of events that coverage is built from."""


class Shower(StrEnum):
    """The inputs that show a span."""

    LIST = "list"
    WATCH = "watch"
    AUDIT = "audit"
    SCENARIO = "scenario"
    ASSERTED = "asserted"


class KnownRevisions(msgspec.Struct, frozen=True, kw_only=True):
    """Revisions at which all objects of a kind are known.

    :param by: the inputs that show it, in their order.
    :param exact: False if ``last`` is a lower bound: a list without a revision.
    :param interrupted: only watches that ended with an error reach ``last``.
    :param listed_at: when lists showed the state at ``last``, microseconds, in order.
    :param followed_to: until when a watch or an audit log showed that nothing followed ``last``.
    """

    first: int
    last: int
    by: tuple[Shower, ...]
    exact: bool = True
    interrupted: bool = False
    listed_at: tuple[int, ...] = ()
    followed_to: int | None = None

    def seen_by(self, time: int) -> int | None:
        """Return the last time, up to a time, at which an input showed the state at ``last``."""
        times = [at for at in self.listed_at if at <= time]
        times += [] if self.followed_to is None else [min(self.followed_to, time)]
        return max(times, default=None)

    def seen_after(self, time: int) -> int | None:
        """Return the first time after another at which a list showed the state at ``last``."""
        return min((at for at in self.listed_at if at > time), default=None)


class UnknownCause(StrEnum):
    """Why something is not known at a revision."""

    NEVER = "never"
    BEFORE = "before"
    HOLE = "hole"
    AFTER = "after"
    DELETION = "deletion"
    CONTRADICTION = "contradiction"
    UNDECODABLE = "undecodable"


class KnownGap(msgspec.Struct, frozen=True, kw_only=True):
    """Revisions at which a kind is not known.

    :param after: the last known revision before it; None if there is none.
    :param before: the first known revision after it; None if there is none.
    :param interrupted: it began with an error of a watch.
    """

    why: UnknownCause
    after: int | None = None
    before: int | None = None
    interrupted: bool = False


class Covered(msgspec.Struct, frozen=True, kw_only=True):
    """What one input covers of one kind.

    :param namespaces: the covered ones; empty for all.
    :param complete: at ``since`` it has all objects.
    :param changes: it has all changes from ``since`` to ``until``.
    :param at: when it showed that nothing had followed ``until``, microseconds; None if unknown.
    :param resumed: it is a watch that continued from a revision that the client knew.
    """

    pair: Pair
    how: Shower
    since: int
    until: int
    namespaces: tuple[str, ...] = ()
    complete: bool = False
    changes: bool = False
    resumed: bool = False
    exact: bool = True
    interrupted: bool = False
    at: int | None = None

    @property
    def order(self) -> tuple[int, str, tuple[bool, ...], int, bool, tuple[str, ...]]:
        """The order of inputs: by how each begins, then by how far it goes."""
        begins = (self.resumed, self.exact, self.complete, self.changes)
        return self.since, self.how, begins, self.until, self.interrupted, self.namespaces


class LogCoverage:
    """What one log, or a part of it, covers.

    :param covered: by the inputs. :param whole: a scenario covers everything.
    :param proof: a revision that the log is known to reach, whatever its inputs show.
    :param broken: lists that are not complete, as records of them were skipped.
    """

    def __init__(
        self,
        covered: Iterable[Covered],
        *,
        whole: bool = False,
        proof: int = -1,
        broken: Iterable[ListBroken] = (),
    ) -> None:
        self.whole = whole
        self._broken = sorted(broken, key=lambda listing: (listing.revision, listing.first))
        self._covered: dict[Pair, list[Covered]] = {}
        for record in sorted(covered, key=lambda record: (record.pair, record.order)):
            self._covered.setdefault(record.pair, []).append(record)
        every = (record for records in self._covered.values() for record in records)
        # Without any exact revision, the end of the log is not known, and proves nothing.
        self._proof = max((record.until for record in every if record.exact), default=-1)
        self._proof = max(self._proof, proof)
        self._spans: dict[tuple[Pair, str | None], tuple[KnownRevisions, ...]] = {}

    @property
    def proof(self) -> int:
        """The greatest revision that is no lower bound; -1 if there is none."""
        return self._proof

    def broken_in(self, pair: Pair, gap: KnownGap) -> ListBroken | None:
        """Return a list that would have ended a gap of a kind, had no record been skipped."""
        for broken in self._broken:
            after = gap.after is None or broken.revision > gap.after
            before = gap.before is None or broken.revision < gap.before
            if (broken.group, broken.listed) == pair and after and before:
                return broken
        return None

    def between(self, first: int, last: int) -> Iterator[KnownSpan]:
        """Yield what is known in a range, so that a log of this range alone knows as much.

        Also yields the begin of the next span after it: it shows that a hole has an end.
        """
        for pair, records in self._covered.items():
            for name in ("", *self.namespaces(pair)):
                names = (name,) if name else ()
                for span in self.spans(pair, name):
                    yield from _clipped(pair, names, span, first, last)
            for namespaces, how, since, until in _stretches(records):
                if since <= last and until >= first:
                    yield KnownSpan(
                        group=pair[0],
                        listed=pair[1],
                        namespaces=namespaces,
                        since=max(since, first),
                        until=min(until, last),
                        by=(how,),
                        complete=False,
                    )

    def kinds(self) -> list[Pair]:
        """Return the kinds that have a complete span, sorted."""
        return sorted(pair for pair in self._covered if self.spans(pair))

    def namespaces(self, pair: Pair) -> list[str]:
        """Return the namespaces that inputs cover one by one, sorted."""
        return sorted(
            {name for record in self._covered.get(pair, ()) for name in record.namespaces}
        )

    def spans(self, pair: Pair, namespace: str | None = None) -> tuple[KnownRevisions, ...]:
        """Return when a kind is known completely, in order.

        :param namespace: in it; None: in any namespace.
        """
        key = (pair, namespace)
        if key not in self._spans:
            about = self._about(pair, namespace)
            spans = _with_times_of_lists(tuple(_joined(about)), about)
            apart = all(before.last < after.first for before, after in pairwise(spans))
            assert apart, "a span that reaches the next one is joined with it"
            self._spans[key] = spans
        return self._spans[key]

    def gap(self, pair: Pair, revision: int, namespace: str | None = None) -> KnownGap | None:
        """Return what is not known of a kind at a revision, or None if all is.

        After the last list without a revision everything is known, unless something shows that the
        log continues.
        """
        if self.whole:
            return None
        before: KnownRevisions | None = None
        for span in self.spans(pair, namespace):
            if revision < span.first:
                return _between(before, span)
            before = span
            if revision <= span.last:
                return None
        if before is None:
            return KnownGap(why=UnknownCause.NEVER)
        # The revision of the list is a lower bound. Nothing shows a later one, so the log may end
        # with it.
        if not before.exact and before.last >= self._proof:
            return None
        return _between(before, None)

    def ending_at(
        self, pair: Pair, revision: int, namespace: str | None = None
    ) -> KnownRevisions | None:
        """Return the span of a kind that ends at a revision; None if none does."""
        spans = self.spans(pair, namespace)
        return next((span for span in spans if span.last == revision), None)

    def has_changes(self, pair: Pair, revision: int, namespace: str | None = None) -> bool:
        """Say whether the log has every change of a kind at a revision.

        It may have the changes without all objects: from a watch without an initial list. A list
        without a revision does not show what came after it.
        """
        spans = self.spans(pair, namespace)
        if self.whole or any(span.first <= revision <= span.last for span in spans):
            return True
        return any(
            record.changes and record.since <= revision <= record.until
            for record in self._about(pair, namespace)
        )

    def end(self, pair: Pair, namespace: str | None = None) -> KnownGap | None:
        """Return the hole after the last span of a kind; None for a scenario."""
        spans = self.spans(pair, namespace)
        if self.whole:
            return None
        return _between(spans[-1], None) if spans else KnownGap(why=UnknownCause.NEVER)

    def holes(
        self, pair: Pair, first: int, last: int, namespace: str | None = None
    ) -> list[KnownGap]:
        """Return the holes of a kind in a range that a later span ends, in order.

        A hole at the end of the range is not among them: see :meth:`gap`.
        """
        if self.whole:
            return []
        gaps: list[KnownGap] = []
        before: KnownRevisions | None = None
        for span in self.spans(pair, namespace):
            begins = -1 if before is None else before.last
            # Revisions without a gap leave no hole between two spans.
            if begins + 1 < span.first <= last and span.first > first:
                gaps.append(_between(before, span))
            before = span
        return gaps

    def begin(self, pair: Pair) -> int | None:
        """Return the first revision at which a kind is known anywhere; None if it never is."""
        if self.whole:
            return 0
        spans = self.spans(pair)
        return spans[0].first if spans else None

    def begin_together(self, pairs: Sequence[Pair]) -> int | None:
        """Return the first revision at which some kinds are all known.

        If they never are, it is the first by which each was known once; None for no kinds.
        """
        if self.whole or not pairs:
            return 0 if pairs else None
        spans = [self.spans(pair) for pair in pairs]
        for first in sorted(span.first for of_kind in spans for span in of_kind):
            if all(any(span.first <= first <= span.last for span in of_kind) for of_kind in spans):
                return first
        begins = [of_kind[0].first for of_kind in spans if of_kind]
        return max(begins, default=None)

    def _about(self, pair: Pair, namespace: str | None) -> list[Covered]:
        return [
            record
            for record in self._covered.get(pair, ())
            if namespace is None or not record.namespaces or namespace in record.namespaces
        ]


def _stretches(
    records: Iterable[Covered],
) -> Iterator[tuple[tuple[str, ...], Shower, int, int]]:
    """Yield of which namespaces which input has all changes, from one revision to another.

    However many inputs of that sort show a stretch, one after the other, it is one.
    """
    changing = sorted(
        (record.namespaces, record.how, record.since, record.until)
        for record in records
        if record.changes
    )
    held: tuple[tuple[str, ...], Shower, int, int] | None = None
    for namespaces, how, since, until in changing:
        if held is not None and held[:2] == (namespaces, how) and since <= held[3]:
            held = (namespaces, how, held[2], max(held[3], until))
            continue
        if held is not None:
            yield held
        held = (namespaces, how, since, until)
    if held is not None:
        yield held


def _clipped(
    pair: Pair, namespaces: tuple[str, ...], span: KnownRevisions, first: int, last: int
) -> Iterator[KnownSpan]:
    """Yield the part of a span that is in a range; of a later span, its begin."""
    if span.last < first:
        return
    later = span.first > last
    yield KnownSpan(
        group=pair[0],
        listed=pair[1],
        namespaces=namespaces,
        since=max(span.first, first),
        until=span.first if later else min(span.last, last),
        by=span.by,
        exact=span.exact,
        interrupted=span.interrupted and span.last <= last,
    )


def _between(before: KnownRevisions | None, after: KnownRevisions | None) -> KnownGap:
    if before is None:
        return KnownGap(why=UnknownCause.BEFORE, before=after.first if after else None)
    return KnownGap(
        why=UnknownCause.HOLE if after else UnknownCause.AFTER,
        after=before.last,
        before=after.first if after else None,
        interrupted=before.interrupted,
    )


def _with_times_of_lists(
    spans: tuple[KnownRevisions, ...], covered: Sequence[Covered]
) -> tuple[KnownRevisions, ...]:
    """Add to the last span when lists without a revision were made whose bound is below it.

    A bound is that of what remains: if the newest object was deleted, it falls.
    """
    if not spans or not any(record.at is not None and not record.exact for record in covered):
        return spans
    last = spans[-1]
    times = {
        record.at
        for record in covered
        if record.how is Shower.LIST
        and not record.exact
        and record.until < last.last
        and record.at is not None
    }
    listed_at = tuple(sorted({*last.listed_at, *times}))
    return (*spans[:-1], msgspec.structs.replace(last, listed_at=listed_at))


class _Growing:
    """A span that is being joined from inputs.

    Of several inputs that reach its end, one that is exact or did not break off is enough.
    """

    def __init__(self, begin: Covered) -> None:
        self.first, self.last = begin.since, begin.until
        self._by = [begin.how]
        self._ends = [begin]

    def reaches(self, record: Covered) -> bool:
        """Say whether an input continues where the span ends."""
        if record.since <= self.last + 1:
            return True
        return record.resumed and self._is_exact() and not self._is_interrupted()

    def take(self, record: Covered) -> None:
        """Continue the span with an input."""
        if record.how not in self._by:
            self._by.append(record.how)
        # What showed the state at the old end says nothing of the new one.
        if record.until > self.last:
            self.last, self._ends = record.until, []
        if record.until == self.last:
            self._ends.append(record)

    def span(self) -> KnownRevisions:
        """Return the span."""
        return KnownRevisions(
            first=self.first,
            last=self.last,
            by=tuple(self._by),
            exact=self._is_exact(),
            interrupted=self._is_interrupted(),
            listed_at=tuple(sorted(self._times(Shower.LIST))),
            followed_to=max(self._times(Shower.WATCH, Shower.AUDIT), default=None),
        )

    def _is_exact(self) -> bool:
        return any(record.exact for record in self._ends)

    def _is_interrupted(self) -> bool:
        return all(record.interrupted for record in self._ends)

    def _times(self, *how: Shower) -> list[int]:
        return [record.at for record in self._ends if record.how in how and record.at is not None]


def _joined(covered: Sequence[Covered]) -> Iterator[KnownRevisions]:
    """Yield complete spans: each begins with all objects, and continues without a gap.

    :param covered: of one kind, in order.
    """
    growing: _Growing | None = None
    passed: list[Covered] = []
    for record in covered:
        if growing is not None and growing.reaches(record):
            if record.complete or record.changes:
                growing.take(record)
            continue
        if record.complete:
            if growing is not None:
                yield growing.span()
            growing = _Growing(record)
            for earlier in passed:  # A watch that ran when the list was made.
                if earlier.until >= growing.last:
                    growing.take(earlier)
            passed = []
        elif record.changes:
            passed.append(record)
    if growing is not None:
        yield growing.span()
