"""What a log holds: its inputs, its range, what it knows completely, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import msgspec

from ...engine.events.input_names import RECORDED, without_folders
from ...engine.events.payloads import AuditCovered, ProcessStarted, WatchFollowed
from ...engine.kubernetes.resources import CLUSTER_SCOPED, plural_of
from ...engine.log.store import Query, SourceInfo
from ...engine.state.clock import UNDATED, span_at
from ...engine.state.clock import TimeSpan as Happened
from ...engine.state.coverage_events import levels_of
from ...engine.state.log_coverage import KnownRevisions, LogCoverage, Pair
from ..coverage.coverage import SCHEDULING, plurals
from ..moments.contradicting_versions import contradiction_text, contradictions, object_version_text
from ..moments.log_clock import clock_remarks, span_of_end
from ..moments.moment import Moment
from ..moments.stream_holes import StreamHole, repaired_holes
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.record_columns import Micros, Time
from ..tabular.tabular import Records, Tabular
from .log import Log

T = TypeVar("T")

_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "audit.covered": "audit log",
        "scenario.declared": "scenario",
        "watch.followed": "watch",
        "list.observed": "list",
        "session.opened": "component log",
        "process.started": "component log",
        "cache.dumped": "cache dump",
        "decision.logged": "component log",
        "message.logged": "component log",
        "config.applied": "configuration",
        "usage.measured": "external input",
        "extender.answered": "external input",
    }
)
"""What an input is, by the first of these event kinds that it gave."""

_ABOUT_STREAMS = frozenset({"watch.followed", "watch.repaired"})
_FULL = "RequestResponse"
_REDACTED = "input.redacted"


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """One input. :param format: its format, by the events that it gave.

    :param redacted: it was ingested with ``--redact``, at least once.
    """

    source: str
    format: str
    events: int
    first_revision: int | None
    last_revision: int | None
    redacted: bool = False


class KnownRange(msgspec.Struct, frozen=True, kw_only=True):
    """A range of revisions at which a kind is fully known; ``open`` if it may continue.

    :param first_time: the estimate; ``first_earliest`` and ``first_latest``: its bounds.
    """

    first: int
    last: int
    first_time: Time | None
    first_earliest: Time | None
    first_latest: Time | None
    last_time: Time | None
    last_earliest: Time | None
    last_latest: Time | None
    by: tuple[str, ...]
    open: bool


class KindName(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of objects."""

    group: str
    kind: str

    @property
    def pair(self) -> Pair:
        """Its group and its name."""
        return self.group, self.kind


class KnownKind(KindName, frozen=True, kw_only=True):
    """What is known of a kind. :param namespaces: where; empty for all namespaces."""

    namespaces: tuple[str, ...]
    complete: tuple[KnownRange, ...]


class ReportedRelease(msgspec.Struct, frozen=True, order=True):
    """A release that a component reported, or that the image of its pods names."""

    component: str
    version: str


class FollowedStream(msgspec.Struct, frozen=True, kw_only=True):
    """A stream of a recorder, one for each kind, or namespace, that it watches.

    :param stream: ``pods``, or within a namespace ``volcano-system/configmaps``.
    :param revision: up to which the log has everything of it; None if that is not known.
    :param heard: when the server last sent anything for it.
    :param silent_us: microseconds from then to the end of the log.
    :param holes: that remain in it.
    """

    stream: str
    revision: int | None
    heard: Time | None
    silent_us: Micros | None
    holes: tuple[StreamHole, ...]


class FollowedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A stream of a recorder as a row. :param holes: how many remain."""

    stream: str
    revision: int | None
    heard: Time | None
    silent_us: Micros | None
    holes: int


_EVENTS_AT_END = 50


class KnownRow(KnownRange, frozen=True, kw_only=True):
    """A range of revisions at which a kind is fully known, as a row."""

    group: str
    kind: str
    namespaces: tuple[str, ...]


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """What the log knows about times: those of its first and last event, with their bounds.

    :param revisions: their number; for ``bounded`` of them both bounds are known.
    :param median_width_us: how far these are apart, microseconds.
    :param disagreements: a sentence for each clock that disagrees.
    """

    first: Time | None
    first_earliest: Time | None
    first_latest: Time | None
    last: Time | None
    last_earliest: Time | None
    last_latest: Time | None
    revisions: int
    bounded: int
    median_width_us: int | None
    disagreements: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[Happened, Happened]:
        """When the first and the last event happened."""
        return (
            Happened(self.first_earliest, self.first_latest, self.first),
            Happened(self.last_earliest, self.last_latest, self.last),
        )


class Status(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """What a log holds of one cluster.

    :param missing: kinds that sessions need and that are never known completely.
    :param configurations: the sources of scheduler configurations, in the order of the log.
    :param advice: what would make answers more exact.
    :param streams: of recorders; empty if none recorded into the log.
    """

    cluster: str
    branch: str
    last: int
    events: int
    first_revision: int | None
    last_revision: int | None
    times: Times
    inputs: tuple[Input, ...]
    whole: bool
    coverage: tuple[KnownKind, ...]
    missing: tuple[KindName, ...]
    releases: tuple[ReportedRelease, ...]
    configurations: tuple[str, ...]
    advice: tuple[str, ...]
    streams: tuple[FollowedStream, ...] = ()

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the inputs, what is known when, and the streams of recorders."""
        known = (
            KnownRow(
                group=known_kind.group,
                kind=known_kind.kind,
                namespaces=known_kind.namespaces,
                **msgspec.structs.asdict(each),
            )
            for known_kind in self.coverage
            for each in known_kind.complete
        )
        streams = (
            FollowedRow(**{**msgspec.structs.asdict(one), "holes": len(one.holes)})
            for one in self.streams
        )
        return {
            "inputs": table_of(Input, self.inputs),
            "coverage": table_of(KnownRow, known),
            "streams": table_of(FollowedRow, streams),
        }


def _times(log: Log, moment: Moment) -> Times:
    clock = log.clock(moment)
    figures = clock.figures()
    first, last = clock.span_of_first(), span_of_end(clock)
    # Without changes of objects there is no clock; lines of components have times all the same.
    if first.estimate is None:
        first, last = map(_at, _times_of_components(log, moment))
    return Times(
        first=Time.of(first.estimate),
        first_earliest=Time.of(first.earliest),
        first_latest=Time.of(first.latest),
        last=Time.of(last.estimate),
        last_earliest=Time.of(last.earliest),
        last_latest=Time.of(last.latest),
        revisions=figures.revisions,
        bounded=figures.bounded,
        median_width_us=figures.median,
        disagreements=(
            *clock_remarks(log.store, branch=moment.branch, cluster=moment.cluster),
            *_contradictions(log, moment),
        ),
    )


def _at(time: int | None) -> Happened:
    return UNDATED if time is None else span_at(time)


def _contradictions(log: Log, moment: Moment) -> list[str]:
    """Return a sentence about versions of which inputs hold two contents, if there are any."""
    versions = contradictions(log.store, moment)
    texts = [object_version_text(about, revision) for about, revision in sorted(versions)]
    return [contradiction_text(texts)] if texts else []


def _times_of_components(log: Log, moment: Moment) -> tuple[int | None, int | None]:
    """Return the first and last time in a log that holds no changes of objects.

    Read at the begin and at the end of each input.
    """
    query = Query(
        branch=moment.branch, cluster=moment.cluster, until=moment.known, limit=_EVENTS_AT_END
    )
    known_times: list[int] = []
    for source in log.store.sources(
        known=moment.known, cluster=moment.cluster, branch=moment.branch
    ):
        for newest_first in (False, True):
            at_end = msgspec.structs.replace(query, source=source.source, newest_first=newest_first)
            times = (recorded.event.observed_at for recorded in log.store.read(at_end))
            known_times += [time for time in times if time is not None]
    return min(known_times, default=None), max(known_times, default=None)


def status_of(log: Log, moment: Moment | None = None) -> Status:
    """Return what a log holds of one cluster, as known at a moment (by default, the end).

    :raises UsageError: the log holds several clusters, and none is chosen.
    """
    moment = moment or log.moment()
    store, coverage = log.store, log.coverage(moment)
    known, cluster, branch = moment.known, moment.cluster, moment.branch
    extent = store.extent(known=known, cluster=cluster, branch=branch)
    given = store.sources(known=known, cluster=cluster, branch=branch)
    kinds = {kind for source_info in given for kind in source_info.kinds}
    missing = tuple(pair for pair in SCHEDULING if coverage.begin(pair) is None)
    asked = _Asked(log, moment, kinds)
    releases, configurations = asked.releases(), asked.configurations()
    times = _times(log, moment)
    known_kinds = tuple(_known(log, moment, coverage))
    return Status(
        cluster=moment.cluster,
        branch=moment.branch,
        last=moment.known,
        events=sum(source_info.events for source_info in given),
        first_revision=extent.first_revision,
        last_revision=extent.last_revision,
        times=times,
        inputs=tuple(map(_input, given)),
        whole=coverage.whole,
        coverage=known_kinds,
        missing=tuple(KindName(group=group, kind=kind) for group, kind in missing),
        releases=releases,
        configurations=configurations,
        advice=tuple(
            _advice(missing, known_kinds, releases, configurations, asked)
            if not coverage.whole
            else ()
        ),
        streams=tuple(_streams(log, moment, given, times.last)),
    )


def _streams(
    log: Log, moment: Moment, given: Sequence[SourceInfo], end: Time | None
) -> Iterator[FollowedStream]:
    """Yield the streams of recorders. :param end: the time of the end of the log."""
    sources = [info for info in given if info.source.startswith(RECORDED)]
    if not sources:
        return
    branch, cluster, known = moment.branch, moment.cluster, moment.known
    holes = repaired_holes(log.store, branch=branch, cluster=cluster, known=known)
    for info in sources:
        if not _ABOUT_STREAMS & info.kinds.keys():
            continue
        query = Query(
            branch=branch,
            cluster=cluster,
            until=known,
            kinds=("watch.followed",),
            source=info.source,
            about_kinds=True,
            newest_first=True,
            limit=1,
        )
        spans = [
            msgspec.json.decode(one.event.payload, type=WatchFollowed)
            for one in log.store.read(query)
        ]
        heard = spans[0].until_at if spans else None
        yield FollowedStream(
            stream=info.source.removeprefix(RECORDED),
            revision=spans[0].until if spans else None,
            heard=Time.of(heard),
            silent_us=None if heard is None or end is None else max(end - heard, 0),
            holes=tuple(one.hole for one in holes if one.source == info.source),
        )


def inputs_at(log: Log, moment: Moment) -> Records[Input]:
    """Return what each input gave to a log, as known at a moment."""
    given = log.store.sources(known=moment.known, cluster=moment.cluster, branch=moment.branch)
    return Records(map(_input, given), "inputs", Input)


def _input(source_info: SourceInfo) -> Input:
    name = next((word for kind, word in _FORMATS.items() if kind in source_info.kinds), "objects")
    return Input(
        source=without_folders(source_info.source),
        format=name,
        events=source_info.events,
        first_revision=source_info.first_revision,
        last_revision=source_info.last_revision,
        redacted=_REDACTED in source_info.kinds,
    )


def _known(log: Log, moment: Moment, coverage: LogCoverage) -> Iterator[KnownKind]:
    """Yield what is known by kind; namespaces with the same ranges are joined."""
    others = [pair for pair in coverage.kinds() if pair not in SCHEDULING]
    for pair in [pair for pair in SCHEDULING if coverage.spans(pair)] + others:
        together: dict[tuple[KnownRevisions, ...], list[str]] = {}
        names = [] if pair in CLUSTER_SCOPED else coverage.namespaces(pair)
        for name in names:
            together.setdefault(coverage.spans(pair, name), []).append(name)
        # If no namespace is known by itself, the kind is known of all namespaces, or has none.
        for spans, names_alike in (together or {coverage.spans(pair): []}).items():
            yield KnownKind(
                group=pair[0],
                kind=pair[1],
                namespaces=tuple(names_alike),
                complete=tuple(_stretch(log, moment, span) for span in spans),
            )


def _stretch(log: Log, moment: Moment, span: KnownRevisions) -> KnownRange:
    clock = log.clock(moment)
    first, last = (clock.span_of(at) for at in (span.first, span.last))
    return KnownRange(
        first=span.first,
        last=span.last,
        first_time=Time.of(first.estimate),
        first_earliest=Time.of(first.earliest),
        first_latest=Time.of(first.latest),
        last_time=Time.of(last.estimate),
        last_earliest=Time.of(last.earliest),
        last_latest=Time.of(last.latest),
        by=tuple(map(str, span.by)),
        open=not span.exact,
    )


class _Asked:
    """Events of single kinds, read only if there are any.

    :param kinds: of events that the log holds.
    """

    def __init__(self, log: Log, moment: Moment, kinds: set[str]) -> None:
        self.log, self.moment, self.kinds = log, moment, kinds

    def _payloads(self, kind: str, form: type[T], *, about_kinds: bool = False) -> Iterator[T]:
        if kind not in self.kinds:
            return
        moment = self.moment
        query = Query(
            branch=moment.branch,
            cluster=moment.cluster,
            until=moment.known,
            kinds=(kind,),
            about_kinds=about_kinds,
        )
        for recorded in self.log.store.read(query):
            yield msgspec.json.decode(recorded.event.payload, type=form)

    def releases(self) -> tuple[ReportedRelease, ...]:
        """Return the versions that processes reported, or the scheduler's image names."""
        from .scheduler_release import release_at  # noqa: PLC0415 -- it is above

        started = self._payloads("process.started", ProcessStarted)
        found = {ReportedRelease(each.component, each.version) for each in started if each.version}
        if running := release_at(self.log, self.moment):
            found.add(ReportedRelease("scheduler", running))
        return tuple(sorted(found))

    def configurations(self) -> tuple[str, ...]:
        """Return the sources of the scheduler's configurations, in order, each once."""
        if "config.applied" not in self.kinds:
            return ()
        from .logged_confs import confs_at  # noqa: PLC0415 -- sessions are much to import

        sources = [conf.source for conf in confs_at(self.log.store, self.moment)]
        # The newest comes first in that list.
        return tuple(dict.fromkeys(reversed(sources)))

    def levels(self) -> Mapping[Pair, frozenset[str]]:
        """Return the levels at which the audit log recorded writes."""
        covered = self._payloads("audit.covered", AuditCovered, about_kinds=True)
        return levels_of(covered)

    def without_marks(self) -> list[Pair]:
        """Return the kinds whose watches never said when their initial events ended."""
        watches = list(self._payloads("watch.followed", WatchFollowed, about_kinds=True))
        marked = {(watch.group, watch.listed) for watch in watches if watch.begin == "marked"}
        return sorted({(watch.group, watch.listed) for watch in watches} - marked)


def _advice(
    missing: Sequence[Pair],
    known: Sequence[KnownKind],
    releases: Sequence[ReportedRelease],
    configurations: Sequence[str],
    asked: _Asked,
) -> Iterator[str]:
    if missing:
        wanted = ",".join(plural_of(*pair) for pair in missing)
        yield (
            f"no complete list of {plurals(missing)}, which sessions need; ingest the output of: "
            f"kubectl get {wanted} -A -o json"
        )
    unmarked = [pair for pair in asked.without_marks() if pair in SCHEDULING]
    if unmarked:
        yield (
            f"watches of {plurals(unmarked)} do not say when their initial events ended: record "
            f"them with allowWatchBookmarks=true, or also ingest a list"
        )
    broken = [
        known_kind.pair
        for known_kind in known
        if known_kind.pair in SCHEDULING and len(known_kind.complete) > 1
    ]
    if broken:
        yield (
            f"{plurals(dict.fromkeys(broken))} are not known in the gaps: ingest a watch or an "
            f"audit log for that time"
        )
    yield from _of_audit(asked)
    if not configurations:
        yield (
            "no scheduler configuration: sessions run with the release's built-in one; ingest "
            "volcano-scheduler.conf, or its ConfigMap"
        )
    if not releases:
        yield (
            "no release of Volcano is known: sessions run as the one given by --release; ingest "
            "the scheduler's log from its start"
        )


def _of_audit(asked: _Asked) -> Iterator[str]:
    levels = asked.levels()
    if "audit.covered" not in asked.kinds:
        yield "no audit log: it would show who did what, and times to the microsecond"
        return
    less = [pair for pair in SCHEDULING if levels.get(pair, frozenset()) - {_FULL}]
    if less:
        yield (
            f"the audit log does not hold all answers to writes of {plurals(less)}: "
            f"with level {_FULL} it would hold every version"
        )
