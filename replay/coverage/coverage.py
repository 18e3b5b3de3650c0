"""What a log does not know, per kind and namespace, at a moment.

The rules are in :mod:`...engine.state.log_coverage`; this module applies them to a log and its
clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from ...engine.errors import NotKnown
from ...engine.kubernetes.resources import CLUSTER_SCOPED, plural_of
from ...engine.kubernetes.units import SECOND_US
from ...engine.state.clock import TimeSpan, span_of_read
from ...engine.state.log_coverage import KnownGap, Pair, UnknownCause
from ..moments.contradicting_versions import contradictions
from ..moments.moment import Moment
from ..moments.stream_holes import repaired_holes, unseen_in
from ..moments.unknown import Unknown
from ..objects.undecodable import undecodable
from .open_deletions import maybe_deleted

if TYPE_CHECKING:
    from ..truth.log_states import LogStates

SCHEDULING: tuple[Pair, ...] = (
    ("", "Node"),
    ("scheduling.volcano.sh", "Queue"),
    ("scheduling.volcano.sh", "PodGroup"),
    ("", "Pod"),
)
"""The kinds that every session needs."""

_CLASS: Pair = ("scheduling.k8s.io", "PriorityClass")
_BESIDES: tuple[Pair, ...] = (("batch.volcano.sh", "Job"), _CLASS)

GRACE_US = 90 * SECOND_US
"""How long after its last event a list or a watch counts as complete, if nothing follows it.

API servers send a bookmark about once a minute, and lists are fetched one after another.
"""

_OF_OBJECTS = frozenset(
    {UnknownCause.DELETION, UnknownCause.CONTRADICTION, UnknownCause.UNDECODABLE}
)
"""What is not known of single objects."""


def unknown_at(
    log: LogStates,
    moment: Moment,
    kinds: Iterable[Pair],
    namespace: str | None = None,
) -> list[Unknown]:
    """Return which of some kinds are not fully known at a moment, in their order.

    :param namespace: only in it; None is everywhere. Ignored for kinds without namespaces.
    """
    # Kept with the log: several parts of an answer ask for the same.
    return list(log.kept(_unknown_at, moment, tuple(kinds), namespace))


def _unknown_at(
    log: LogStates, moment: Moment, kinds: Sequence[Pair], namespace: str | None
) -> list[Unknown]:
    look = _Look(log, moment)
    places = {pair: None if pair in CLUSTER_SCOPED else namespace for pair in kinds}
    gaps = [unknown for pair, place in places.items() for unknown in look.at(pair, place)]
    objects = (maybe_deleted, _contradicted, _undecodable)
    return [
        *gaps,
        *(unknown for of_objects in objects for unknown in of_objects(log, moment, places)),
    ]


def classes_known(log: LogStates, moment: Moment) -> bool:
    """Return whether the log holds all priority classes, so that one it lacks does not exist."""
    unknowns = unknown_at(log, moment, [_CLASS])
    return not any(
        unknown.gap.why in {UnknownCause.NEVER, UnknownCause.BEFORE} for unknown in unknowns
    )


def gaps_at(
    log: LogStates, moment: Moment, kinds: Iterable[Pair], namespace: str | None = None
) -> list[Unknown]:
    """Return which of some kinds are not fully known, without what is unsure of single objects."""
    unknowns = unknown_at(log, moment, kinds, namespace)
    return [unknown for unknown in unknowns if unknown.gap.why not in _OF_OBJECTS]


class NotListed:
    """Of which kinds the log holds no list yet at a moment, so that none it lacks is a fact."""

    def __init__(self, log: LogStates, moment: Moment) -> None:
        """Look at one moment; each kind and namespace is looked up when it is first asked for."""
        self._log, self._moment = log, moment
        self._found: dict[tuple[Pair, str | None], bool] = {}

    def __call__(self, pair: Pair, namespace: str | None = None) -> bool:
        """Return whether a count of a kind may lack some.

        :param namespace: of what is counted; None is everywhere.
        """
        key = (pair, namespace)
        if key not in self._found:
            unknowns = _Look(self._log, self._moment).at(pair, namespace)
            self._found[key] = any(
                unknown.gap.why in {UnknownCause.NEVER, UnknownCause.BEFORE} for unknown in unknowns
            )
        return self._found[key]


def _contradicted(
    log: LogStates, moment: Moment, places: Mapping[Pair, str | None]
) -> list[Unknown]:
    """Return the objects that rest on a version of which inputs hold two contents."""
    contents = contradictions(log.store, moment)
    if not contents:
        return []
    versions = {(record.reference, record.revision) for record in log.truth(moment).records()}
    return [
        Unknown(
            pair=(about.group, about.kind),
            namespaces=(about.namespace,) if about.namespace else (),
            gap=KnownGap(why=UnknownCause.CONTRADICTION, after=revision),
            objects=(about.full_name,),
        )
        for about, revision in sorted(versions & contents.keys())
        if (about.group, about.kind) in places
        and places[about.group, about.kind] in {None, about.namespace}
    ]


def _undecodable(
    log: LogStates, moment: Moment, places: Mapping[Pair, str | None]
) -> list[Unknown]:
    """Return the objects of which a field that tables show cannot be decoded."""
    # The clock has read all events already, so it knows which could not be decoded.
    misread = frozenset(log.clock(moment).misread)
    if not misread:
        return []
    records = {
        record.position: record
        for record in log.truth(moment).records()
        if record.position in misread
        and (record.reference.group, record.reference.kind) in places
        and places[record.reference.group, record.reference.kind]
        in {None, record.reference.namespace}
    }
    payloads = log.store.payloads(sorted(records), moment.branch)
    return [
        Unknown(
            pair=(about.group, about.kind),
            namespaces=(about.namespace,) if about.namespace else (),
            gap=KnownGap(why=UnknownCause.UNDECODABLE, after=record.revision),
            objects=(about.full_name,),
            fault=undecodable(about, payloads[position]),
        )
        for position, record in sorted(records.items(), key=lambda item: item[1].reference)
        for about in (record.reference,)
    ]


def unknown_between(
    log: LogStates,
    first: int | None,
    moment: Moment,
    kinds: Iterable[Pair],
    namespace: str | None = None,
) -> list[Unknown]:
    """Return which of some kinds are not fully known somewhere between a revision and a moment.

    :param first: None is the first in the log. :param namespace: as for :func:`unknown_at`.
    """
    look = _Look(log, moment)
    return [
        unknown
        for pair in dict.fromkeys(kinds)
        for unknown in look.between(first or 0, pair, None if pair in CLUSTER_SCOPED else namespace)
    ]


def doubtful(unknowns: Iterable[Unknown], revision: int, time: int | None) -> bool:
    """Return whether any of the gaps includes a revision.

    :param unknowns: of a range, as :func:`unknown_between` has it.
    :param time: of the revision, in microseconds: a watch counts as complete for a while after its
        last event.
    """
    return any(_misses(unknown, revision, time) for unknown in unknowns)


def _misses(unknown: Unknown, revision: int, time: int | None) -> bool:
    # Both ends are known: the gap is between them.
    after, before = unknown.gap.after, unknown.gap.before
    if (after is not None and revision <= after) or (before is not None and revision >= before):
        return False
    if (
        unknown.gap.why is not UnknownCause.AFTER
        or unknown.gap.interrupted
        or None in (unknown.after, time)
    ):
        return True
    return (time or 0) - (unknown.after or 0) > GRACE_US


def usual_kinds(log: LogStates, moment: Moment) -> list[Pair]:
    """Return the kinds that a command about everything needs.

    They are the kinds that sessions need, and other kinds that matter to scheduling if the log
    holds anything of them, even a request without its result. Other kinds in an audit log are not
    included.
    """
    unknown_text = {*log.truth(moment).kinds(), *log.coverage(moment).kinds()}
    return [
        *SCHEDULING,
        *(
            pair
            for pair in _BESIDES
            if pair in unknown_text or log.store.objects_of(*pair, cluster=moment.cluster)
        ),
    ]


class _Look:
    """What the log knows at one moment."""

    def __init__(self, log: LogStates, moment: Moment) -> None:
        self._log, self._moment = log, moment
        self._coverage = log.coverage(moment)
        self._clock = log.clock(moment)
        extent = log.store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
        last = extent.last_revision or 0
        self._revision = last if moment.revision is None else moment.revision
        self._time = moment.time
        if moment.revision is None and moment.known == log.store.last(moment.branch):
            # At the end of the log, the state holds for as long as its inputs vouch for it.
            self._time = self._clock.vouched()

    def at(self, pair: Pair, namespace: str | None) -> list[Unknown]:
        """Return what is not known of a kind, one record per gap."""
        return self.between(self._revision, pair, namespace)

    def between(self, first: int, pair: Pair, namespace: str | None) -> list[Unknown]:
        """Return what is not known of a kind from a revision on, one record per gap."""
        gaps: dict[KnownGap, list[str]] = {}
        for name in self._places(pair, namespace):
            holes = self._coverage.holes(pair, first, self._revision, name)
            gap = self._gap(pair, name)
            if gap is not None and gap not in holes and not self._holds_still(gap, pair, name):
                holes.append(gap)
            for gap in holes:
                gaps.setdefault(gap, []).extend([] if name is None else [name])
        return [self._unknown(pair, gap, names) for gap, names in gaps.items()]

    def _unseen(self, pair: Pair, gap: KnownGap, namespace: str | None) -> str:
        """Return what a recorder did not see of a hole, though it asked about it afterwards."""
        if gap.why is not UnknownCause.HOLE or not gap.interrupted:
            return ""
        moment = self._moment
        holes = repaired_holes(
            self._log.store, branch=moment.branch, cluster=moment.cluster, known=moment.known
        )
        return unseen_in(holes, pair, gap, namespace)

    def _unknown(self, pair: Pair, gap: KnownGap, names: Sequence[str]) -> Unknown:
        after = self._last_seen(gap, pair, next(iter(names), None))
        return Unknown(
            pair=pair,
            namespaces=tuple(names),
            gap=gap,
            after=None if after is None else after.estimate,
            before=self._time_near(gap.before),
            after_within=after,
            before_within=None if gap.before is None else self._clock.span_of(gap.before),
            shown_again=self._seen_again(gap, pair, next(iter(names), None)),
            broken=self._coverage.broken_in(pair, gap),
            unseen=self._unseen(pair, gap, next(iter(names), None)),
        )

    def _places(self, pair: Pair, namespace: str | None) -> Sequence[str | None]:
        """Return the namespaces to check; None for a kind that is known equally in all.

        The log may know only some namespaces, which may be all that had objects. So "all
        namespaces" means those in which there are objects.
        """
        if namespace is not None:
            return [namespace]
        if not self._coverage.namespaces(pair):
            return [None]
        return self._log.truth(self._moment).namespaces(*pair) or [None]

    def _gap(self, pair: Pair, namespace: str | None) -> KnownGap | None:
        """Return the gap that contains the moment; None if there is none.

        A time is between two revisions that the log holds. All revisions between these may have
        happened by then.
        """
        gap = self._coverage.gap(pair, self._revision, namespace)
        if gap is not None or self._time is None:
            return gap
        following = self._clock.next_revision(self._revision)
        if following is None:
            return self._coverage.end(pair, namespace)
        return self._coverage.gap(pair, following - 1, namespace)

    def _holds_still(self, gap: KnownGap, pair: Pair, namespace: str | None) -> bool:
        """Return whether the last known state before a gap still holds at the moment.

        It does until it may have changed, by the clock; and for a while if nothing follows it.
        """
        if gap.after is None or gap.interrupted:
            return False
        (span,) = self._clock.spans([gap.after])
        until = self._time_near(gap.after) if span.latest is None else span.latest
        time = self._time
        if time is None and gap.why is UnknownCause.AFTER:
            # A revision after the last list: its time says how old the list is.
            time = self._time_near(self._revision)
        if time is None or until is None:
            return False
        if gap.why is UnknownCause.AFTER:
            seen = self._last_seen(gap, pair, namespace)
            return time <= max(until, seen.estimate or until if seen else until) + GRACE_US
        return time <= until

    def _last_seen(self, gap: KnownGap, pair: Pair, namespace: str | None) -> TimeSpan | None:
        """Return when the last state before a gap was seen, by the moment; None if not known."""
        if gap.after is None:
            return None
        known = self._clock.span_of(gap.after)
        span = self._coverage.ending_at(pair, gap.after, namespace)
        if span is None or self._time is None:
            return known
        seen = span.seen_by(self._time)
        return known if seen is None or (known.estimate or seen) > seen else span_of_read(seen)

    def _seen_again(self, gap: KnownGap, pair: Pair, namespace: str | None) -> TimeSpan | None:
        """Return when a list shows the last state before a gap again, after the moment."""
        if gap.after is None or self._time is None or gap.why is not UnknownCause.AFTER:
            return None
        span, time = self._coverage.ending_at(pair, gap.after, namespace), self._time
        seen = None if span is None else span.seen_after(time)
        return None if seen is None else span_of_read(seen)

    def _time_near(self, revision: int | None) -> int | None:
        return None if revision is None else self._clock.time_of(revision)


def unknown_text(unknowns: Sequence[Unknown]) -> str:
    """Return one sentence that says what is not known, when and why."""
    return "; ".join(reasons(unknowns))


def reasons(unknowns: Sequence[Unknown]) -> list[str]:
    """Return what is not known as text, one for each time and reason."""
    by_reason: dict[str, list[str]] = {}
    for unknown in unknowns:
        by_reason.setdefault(unknown.reason, []).append(unknown.name)
    return [f"{', '.join(names)}: {reason}" for reason, names in by_reason.items()]


def refuse(unknowns: Sequence[Unknown]) -> None:
    """Raise if anything is not known.

    :raises NotKnown: something is.
    """
    if unknowns:
        raise NotKnown(unknown_text(unknowns), now=unknowns[0].remedy)


class SchedulingBegin(msgspec.Struct, frozen=True, kw_only=True):
    """The moment from which on sessions can be run.

    :param revision: the first at which every kind that sessions need is known, not counting kinds
        without any list; None if there is no list of any.
    :param latest: the kinds that become known at it. :param never: those that never do.
    """

    revision: int | None
    latest: tuple[Pair, ...]
    never: tuple[Pair, ...]


def beginning_of(log: LogStates, moment: Moment) -> SchedulingBegin:
    """Return the first moment at which a log knows what sessions need."""
    coverage = log.coverage(moment)
    begins = {pair: coverage.begin(pair) for pair in SCHEDULING}
    listed = [pair for pair, begin in begins.items() if begin is not None]
    together = coverage.begin_together(listed)
    return SchedulingBegin(
        revision=together,
        latest=tuple(
            pair
            for pair in listed
            if together is not None and any(s.first == together for s in coverage.spans(pair))
        ),
        never=tuple(pair for pair, begin in begins.items() if begin is None),
    )


def unknown_at_ends(
    log: LogStates,
    ends: tuple[Moment, Moment],
    kinds: Sequence[Pair],
    namespace: str | None = None,
) -> list[Unknown]:
    """Return which of some kinds the log does not fully know at one of two moments."""
    by_end = (unknown_at(log, end, kinds, namespace) for end in ends)
    return list(dict.fromkeys(unknown for of_end in by_end for unknown in of_end))


def known_from(
    log: LogStates, before: Moment, after: Moment, kinds: Iterable[Pair]
) -> Moment | None:
    """Return where a range has to begin so that at least one of the kinds is known there.

    None if it need not be moved, or if nothing is known in all of it.
    """
    # A position has no revision that could be moved.
    if before.branch != after.branch or before.revision is None:
        return None
    coverage = log.coverage(after)
    begins = [coverage.begin(pair) for pair in kinds]
    first = min((begin for begin in begins if begin is not None), default=None)
    # Something is known at the begin already: a gap is only a warning.
    if first is None or first <= before.revision:
        return None
    if after.revision is not None and after.revision < first:
        return None
    return msgspec.structs.replace(before, revision=first, time=None, label=f"rv:{first}")


_LACKING: Mapping[Pair, str] = MappingProxyType(
    {
        ("", "Node"): "no nodes are known: sessions place no pods",
        ("scheduling.volcano.sh", "Queue"): "no queues are known: sessions ignore every PodGroup",
        ("scheduling.volcano.sh", "PodGroup"): "no PodGroups are known: sessions have no jobs",
        ("", "Pod"): "no pods are known: sessions place no pods, and nodes seem empty",
    }
)


def lacking(log: LogStates, moment: Moment, unknowns: Iterable[Unknown]) -> list[str]:
    """Return the effect on sessions of each kind that is not known and has no objects."""
    truth = log.truth(moment)
    present = set(truth.kinds())
    pairs = dict.fromkeys(unknown.pair for unknown in unknowns)
    return [_LACKING[pair] for pair in pairs if pair in _LACKING and pair not in present]


def plurals(pairs: Iterable[Pair]) -> str:
    """Return kinds as text, as in ``nodes, queues and pods``."""
    names = [plural_of(*pair) for pair in pairs]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
