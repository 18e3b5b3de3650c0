"""What a log does not know of what it is asked: per kind and namespace, at a moment.

The rules are in :mod:`..engine.state.coverage`; here they meet a log, its clock, and a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from ...engine.errors import NotKnown
from ...engine.events import KINDS, Effect
from ...engine.kubernetes.resources import CLUSTER_SCOPED, plural_of
from ...engine.kubernetes.units import SECOND_US, format_time
from ...engine.log.store import LogStore, Query
from ...engine.state.coverage import TELLING, Coverage, Gap, Pair, Why, coverage_of
from .kinds import plain_name
from .moment import Moment

if TYPE_CHECKING:
    from .history import Happening, History
    from .log import Log

SCHEDULING: tuple[Pair, ...] = (
    ("", "Node"),
    ("scheduling.volcano.sh", "Queue"),
    ("scheduling.volcano.sh", "PodGroup"),
    ("", "Pod"),
)
"""What a session cannot do without."""

_BESIDES: tuple[Pair, ...] = (("batch.volcano.sh", "Job"), ("scheduling.k8s.io", "PriorityClass"))

GRACE_US = 90 * SECOND_US
"""How long after its last word a list or a watch is taken to hold, where nothing comes after it.

API servers send a bookmark about once a minute, and lists are fetched one after the other.
"""

_NEARBY = 50
"""Revisions within which an event's time may stand for that of a revision without one."""


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not known at a moment.

    :param namespaces: in which; empty for all of the kind that was asked for.
    :param gap: when it is not known, and why.
    :param after: and :param before: times of the gap's ends, microseconds, None if not known.
    """

    pair: Pair
    namespaces: tuple[str, ...]
    gap: Gap
    after: int | None = None
    before: int | None = None

    @property
    def name(self) -> str:
        """What is not known, as in ``pods in ml``."""
        plural = plural_of(*self.pair)
        if plain_name(*self.pair) != self.pair[1].lower():
            plural = f"{plural}.{self.pair[0]}"
        if not self.namespaces:
            return plural
        few = ", ".join(self.namespaces[:3])
        more = len(self.namespaces) - 3
        return f"{plural} in {few}{f' and {more} more namespaces' if more > 0 else ''}"

    @property
    def reason(self) -> str:
        """When it is not known, and why."""
        gap = self.gap
        after, before = _place(gap.after, self.after), _place(gap.before, self.before)
        broken = "the watch was interrupted"
        match gap.why:
            case Why.NEVER:
                return "not known as a whole: the log holds no complete list"
            case Why.BEFORE:
                return f"not known before {before}: no complete list before it"
            case Why.HOLE:
                why = broken if gap.interrupted else "no watch or full audit log in between"
                return f"not known between {after} and {before}: {why}"
            case Why.AFTER:
                why = broken if gap.interrupted else "no list, watch or full audit log after it"
                return f"not known after {after}: {why}"

    @property
    def remedy(self) -> str:
        """What would make it known."""
        plural = plural_of(*self.pair)
        if self.gap.why is Why.NEVER:
            return f"ingest a list of {plural}, or a watch of {plural} from its beginning"
        if self.gap.why is Why.BEFORE:
            return f"ingest a list of {plural} that was made earlier, or a watch from its beginning"
        return f"ingest a watch of {plural}, or an audit log of level RequestResponse, of that time"


def _place(revision: int | None, time: int | None) -> str:
    told = "" if time is None else f" ({format_time(time)})"
    return f"rv:{revision}{told}"


def document_of(unknown: Unknown) -> dict[str, Any]:
    """Return it as JSON has it."""
    gap = unknown.gap
    times = [None if at is None else format_time(at) for at in (unknown.after, unknown.before)]
    return {
        "group": unknown.pair[0],
        "kind": unknown.pair[1],
        "namespaces": list(unknown.namespaces),
        "why": str(gap.why),
        "after": gap.after,
        "after_time": times[0],
        "before": gap.before,
        "before_time": times[1],
        "message": f"{unknown.name}: {unknown.reason}",
        "remedy": unknown.remedy,
    }


def read_coverage(
    store: LogStore, *, branch: str, cluster: str, known: int | None = None
) -> Coverage:
    """Return what a log knows completely.

    :param known: by what had been appended by this position.
    """
    query = Query(branch=branch, cluster=cluster, until=known, kinds=TELLING, about_kinds=True)
    return coverage_of(recorded.event for recorded in store.read(query))


def unknown_at(
    log: Log,
    moment: Moment,
    kinds: Iterable[Pair],
    namespace: str | None = None,
) -> list[Unknown]:
    """Return what of some kinds is not known at a moment, in their order.

    :param namespace: only in it; None is everywhere. Means nothing to kinds without one.
    """
    look = _Look(log, moment)
    return [
        one
        for pair in dict.fromkeys(kinds)
        for one in look.at(pair, None if pair in CLUSTER_SCOPED else namespace)
    ]


def unknown_between(
    log: Log,
    first: int | None,
    moment: Moment,
    kinds: Iterable[Pair],
    namespace: str | None = None,
) -> list[Unknown]:
    """Return what of some kinds is not known somewhere between a revision and a moment.

    :param first: None is the first in the log. :param namespace: as for :func:`unknown_at`.
    """
    look = _Look(log, moment)
    return [
        one
        for pair in dict.fromkeys(kinds)
        for one in look.between(first or 0, pair, None if pair in CLUSTER_SCOPED else namespace)
    ]


def unknown_of_history(log: Log, found: History, moment: Moment) -> list[Unknown]:
    """Return what is not known of an object between its first version and a moment.

    Where a kind is known again and the object is there in a version from before, it had no other
    one in between.
    """
    pair, namespace = (found.object.group, found.object.kind), found.object.namespace or None
    dated = [one.revision for one in found.happenings if one.revision is not None]
    if not dated:
        return unknown_at(log, moment, [pair], namespace)

    def matters(gap: Gap) -> bool:
        if gap.before is None:
            return True
        end = gap.before
        by_then = takewhile(lambda one: (one.revision or 0) <= end, found.happenings)
        shown = [one for one in by_then if one.revision is not None or _ends(one)]
        since = dated[0] if gap.after is None else max(dated[0], gap.after)
        return _ends(shown[-1]) or (shown[-1].revision or 0) > since

    some = unknown_between(log, dated[0], moment, [pair], namespace)
    return [one for one in some if matters(one.gap)]


def doubtful(unknowns: Iterable[Unknown], revision: int, time: int | None) -> bool:
    """Say whether any of what is not known is not known at a revision.

    :param unknowns: of a range, as :func:`unknown_between` has it.
    :param time: of the revision, microseconds: for a while after its last word a watch is taken to
        hold.
    """
    return any(_misses(one, revision, time) for one in unknowns)


def _misses(one: Unknown, revision: int, time: int | None) -> bool:
    after, before = one.gap.after, one.gap.before
    if (after is not None and revision <= after) or (before is not None and revision >= before):
        return False
    if one.gap.why is not Why.AFTER or one.gap.interrupted or None in (one.after, time):
        return True
    return (time or 0) - (one.after or 0) > GRACE_US


def _ends(one: Happening) -> bool:
    """Say whether an object is no longer there after something."""
    return KINDS[one.kind].effect in (Effect.DELETED, Effect.LISTED)


def usual_kinds(log: Log, moment: Moment) -> list[Pair]:
    """Return the kinds that a question about everything is about.

    They are what sessions cannot do without, and of what else matters to scheduling that of which
    the log tells anything, be it a request whose result it does not have. What passed by in an
    audit log besides is not missed.
    """
    told = {*log.truth(moment).kinds(), *log.coverage(moment).kinds()}
    return [
        *SCHEDULING,
        *(
            pair
            for pair in _BESIDES
            if pair in told or log.store.objects_of(*pair, cluster=moment.cluster)
        ),
    ]


class _Look:
    """One moment of a log, looked at."""

    def __init__(self, log: Log, moment: Moment) -> None:
        self._log, self._moment = log, moment
        self._coverage = log.coverage(moment)
        self._clock = log.clock(moment)
        extent = log.store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
        last = extent.last_revision or 0
        self._revision = last if moment.revision is None else moment.revision

    def at(self, pair: Pair, namespace: str | None) -> list[Unknown]:
        """Return what is not known of a kind; one for each gap."""
        return self.between(self._revision, pair, namespace)

    def between(self, first: int, pair: Pair, namespace: str | None) -> list[Unknown]:
        """Return what is not known of a kind from a revision on; one for each gap."""
        gaps: dict[Gap, list[str]] = {}
        for name in self._places(pair, namespace):
            found = self._coverage.holes(pair, first, self._revision, name)
            gap = self._gap(pair, name)
            if gap is not None and gap not in found and not self._holds_still(gap):
                found.append(gap)
            for gap in found:
                gaps.setdefault(gap, []).extend([] if name is None else [name])
        return [
            Unknown(
                pair=pair,
                namespaces=tuple(names),
                gap=gap,
                after=self._time_near(gap.after),
                before=self._time_near(gap.before),
            )
            for gap, names in gaps.items()
        ]

    def _places(self, pair: Pair, namespace: str | None) -> Sequence[str | None]:
        """Return the namespaces to look at; None for a kind that is known in all alike.

        What is told of one namespace may be what all that there was lay in. So a question about
        all is one about those in which there are objects.
        """
        if namespace is not None:
            return [namespace]
        if not self._coverage.namespaces(pair):
            return [None]
        return self._log.truth(self._moment).namespaces(*pair) or [None]

    def _gap(self, pair: Pair, namespace: str | None) -> Gap | None:
        """Return the gap that the moment lies in; None if it lies in none.

        A time lies between two revisions that the log holds. All revisions between these may have
        happened by then.
        """
        gap = self._coverage.gap(pair, self._revision, namespace)
        if gap is not None or self._moment.time is None:
            return gap
        following = self._clock.next_revision(self._revision)
        if following is None:
            return self._coverage.end(pair, namespace)
        return self._coverage.gap(pair, following - 1, namespace)

    def _holds_still(self, gap: Gap) -> bool:
        """Say whether the last that is known before a gap holds at the moment all the same.

        It does until it may have ended, by the clock; and for a while where nothing comes after it.
        """
        if gap.after is None or gap.interrupted:
            return False
        (span,) = self._clock.spans([gap.after])
        until = self._time_near(gap.after) if span.latest is None else span.latest
        time = self._moment.time
        if time is None and gap.why is Why.AFTER:
            time = self._time_near(self._revision)
        grace = GRACE_US if gap.why is Why.AFTER else 0
        return time is not None and until is not None and time <= until + grace

    def _time_near(self, revision: int | None) -> int | None:
        return None if revision is None else self._clock.time_of(revision)


def told(unknowns: Sequence[Unknown]) -> str:
    """Return one sentence that names what is not known, when and why."""
    return "; ".join(reasons(unknowns))


def reasons(unknowns: Sequence[Unknown]) -> list[str]:
    """Return what is not known in words, a text for each time and reason."""
    by_reason: dict[str, list[str]] = {}
    for one in unknowns:
        by_reason.setdefault(one.reason, []).append(one.name)
    return [f"{', '.join(names)}: {reason}" for reason, names in by_reason.items()]


def refuse(unknowns: Sequence[Unknown]) -> None:
    """Raise if anything is not known.

    :raises NotKnown: something is.
    """
    if unknowns:
        raise NotKnown(told(unknowns), now=unknowns[0].remedy)


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """From when on sessions can be run.

    :param revision: the first at which every kind that sessions need is known, as far as any list
        of it is; None if no list of any is.
    :param latest: the kinds that became known there. :param never: those that never do.
    """

    revision: int | None
    latest: tuple[Pair, ...]
    never: tuple[Pair, ...]


def beginning_of(log: Log, moment: Moment) -> Beginning:
    """Return from when on a log knows what sessions need."""
    coverage = log.coverage(moment)
    begins = {pair: coverage.begin(pair) for pair in SCHEDULING}
    listed = [pair for pair, begin in begins.items() if begin is not None]
    together = coverage.begin_together(listed)
    return Beginning(
        revision=together,
        latest=tuple(
            pair
            for pair in listed
            if together is not None and any(s.first == together for s in coverage.spans(pair))
        ),
        never=tuple(pair for pair, begin in begins.items() if begin is None),
    )


def known_from(log: Log, before: Moment, after: Moment, kinds: Iterable[Pair]) -> Moment | None:
    """Return where a range has to begin so that anything of what is asked is known there.

    None if it may begin where it does, or nothing is known in all of it.
    """
    if before.branch != after.branch or before.revision is None:
        return None
    coverage = log.coverage(after)
    begins = [coverage.begin(pair) for pair in kinds]
    first = min((begin for begin in begins if begin is not None), default=None)
    if first is None or first <= before.revision:
        return None
    if after.revision is not None and after.revision < first:
        return None
    return msgspec.structs.replace(before, revision=first, time=None, label=f"rv:{first}")


_LACKING: Mapping[Pair, str] = MappingProxyType(
    {
        ("", "Node"): "no node is known: sessions place nothing",
        ("scheduling.volcano.sh", "Queue"): "no queue is known: sessions leave every PodGroup out",
        ("scheduling.volcano.sh", "PodGroup"): "no PodGroup is known: sessions have no jobs",
        ("", "Pod"): "no pod is known: sessions place nothing, and nodes seem to be empty",
    }
)


def lacking(log: Log, moment: Moment, unknowns: Iterable[Unknown]) -> list[str]:
    """Return what comes of it that no object of a kind is known, for kinds that are not known."""
    truth = log.truth(moment)
    held = set(truth.kinds())
    pairs = dict.fromkeys(one.pair for one in unknowns)
    return [_LACKING[pair] for pair in pairs if pair in _LACKING and pair not in held]


def plurals(pairs: Iterable[Pair]) -> str:
    """Return kinds in words, as in ``nodes, queues and pods``."""
    names = [plural_of(*pair) for pair in pairs]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
