"""The log in Python: everything that the command line answers, with typed results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar

import msgspec

from ...engine.errors import PlinianError, UsageError
from ...engine.kubernetes.expressions.selectors import Selector
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ...engine.log import MAIN, BranchInfo, HeadInfo, LogInfo, LogStore, open_log
from ...engine.log.location import log_name
from ..answers.answer import Why
from ..answers.why import assumed_of
from ..coverage.coverage import refuse, unknown_at, usual_kinds
from ..logs import log as logs
from ..logs.given_confs import Conf
from ..logs.given_names import not_found
from ..logs.log import Progress
from ..logs.scheduler_release import release_at
from ..moments.unknown import Unknown
from ..objects.manifests import manifest
from ..questions.belief import BeliefQuestion
from ..questions.bisect import BisectQuestion
from ..questions.blame import BlameQuestion
from ..questions.check import CheckQuestion
from ..questions.compare import ComparisonQuestion
from ..questions.compare_moments import MomentsComparisonQuestion
from ..questions.defaults import DEFAULT_RELEASE
from ..questions.diff import DiffQuestion
from ..questions.drift import DriftQuestion
from ..questions.fidelity import RerunQuestion
from ..questions.fields import Names, several
from ..questions.forecast import ForecastQuestion
from ..questions.history import HistoryQuestion
from ..questions.overview import OverviewQuestion
from ..questions.path import PathQuestion
from ..questions.question import Question, check_known
from ..questions.session import SessionQuestion
from ..questions.sessions import SessionListQuestion
from ..questions.shares import SharesQuestion
from ..questions.upgrade_check import UpgradeCheckQuestion
from ..questions.what_if import WhatIfQuestion
from ..questions.what_would_help import WouldHelpQuestion
from ..questions.why import WhyQuestion
from ..questions.would_start import WouldStartQuestion
from ..sessions.assumed import accepted_conf
from ..tabular.tabular import Records
from ..truth.points import Point
from .options import FilePath, listing_parameters, paths_of, release_of
from .question_method import method_of

if TYPE_CHECKING:
    from datetime import timedelta

    from ..fidelity.report import Fidelity
    from ..forecast.forecast_outcome import Forecast
    from ..histories.diff import Diff
    from ..histories.diff_actors import Who
    from ..ingest.ingest_run import IngestOptions, IngestSummary
    from ..lint.lint_task import Report
    from ..logs.log_status import Status
    from ..objects.field_selectors import FieldSelector
    from ..pack.pack_writing import Packed
    from ..plot.plot_run import Plot
    from ..series.series_tables import Row
    from .tables import Events

A = TypeVar("A")

_OF_EVENTS = ("kinds", "objects", "since", "until", "after", "follow")
_OF_QUERIES = ("namespace", "name", "uid", "source", "actor", "limit", "newest_first")


class CheckpointInfo(NamedTuple):
    """A stored state: everything known by a position that happened by a revision; size in bytes.

    :param of: ``truth``; ``belief``: the scheduler's cache of some release; or ``objects``: those
        that the last caches hold.
    """

    branch: str
    cluster: str
    revision: int
    known: int
    bytes: int
    of: str = "truth"


@listing_parameters
class Log(logs.Log):
    """An open log of one cluster on one branch; use it in a ``with`` block, or close it.

    Moments (``at``, ``before``, ``since`` …) are strings as on the command line, datetimes with a
    time zone, or a :class:`Moment` of :meth:`moment`. Options have the names of the command line's;
    a repeatable one is a sequence here, with a plural name.

    :param place: the path or URL of the log. :param store: the log underneath.
    :param branch: the branch of points that do not name one.
    :param cluster: the cluster; may be None if the log holds only one.
    """

    def __init__(
        self, place: str, store: LogStore, *, branch: str = MAIN, cluster: str | None = None
    ) -> None:
        super().__init__(store, branch=branch, cluster=cluster, place=place)

    def __repr__(self) -> str:
        """Return what the log holds, in a line."""
        return f"<plinian.Log {self._summary()}>"

    def _repr_html_(self) -> str:
        from ..logs.log_status import inputs_at  # noqa: PLC0415 -- only notebooks need it
        from ..tabular.html import html_of  # noqa: PLC0415

        try:
            return html_of(self._summary(), inputs_at(self, self.moment()).tables())
        except PlinianError:  # It is closed, or of several clusters.
            return html_of(self._summary(), {})

    def _summary(self) -> str:
        from ..logs.log_summary import summary_of  # noqa: PLC0415 -- only people need it

        try:
            return summary_of(self).sentence
        except PlinianError as fault:
            return f"{log_name(self.place)}: {fault.what}"

    blame = method_of(BlameQuestion)
    compare = method_of(ComparisonQuestion)
    compare_moments = method_of(MomentsComparisonQuestion)
    diff = method_of(DiffQuestion)
    belief = method_of(BeliefQuestion)
    bisect = method_of(BisectQuestion)
    check = method_of(CheckQuestion)
    fidelity = method_of(RerunQuestion)
    drift = method_of(DriftQuestion)
    forecast = method_of(ForecastQuestion)
    history = method_of(HistoryQuestion)
    overview = method_of(OverviewQuestion)
    path = method_of(PathQuestion)
    session = method_of(SessionQuestion)
    shares = method_of(SharesQuestion)
    sessions = method_of(SessionListQuestion)
    upgrade_check = method_of(UpgradeCheckQuestion)
    would_start = method_of(WouldStartQuestion)
    what_if = method_of(WhatIfQuestion)
    what_would_help = method_of(WouldHelpQuestion)
    why = method_of(WhyQuestion)

    def ingest(
        self,
        paths: FilePath | Sequence[FilePath],
        options: IngestOptions | None = None,
        *,
        progress: Callable[[str, int, int], None] | None = None,
        no_checkpoint: bool = False,
        **named: Any,
    ) -> IngestSummary:
        """Append files, folders and archives to the log, and return a summary.

        :param options: facts about the inputs, all together; or one by one, by the names of the
            fields of :class:`IngestOptions`: ``skip_malformed=True``. Cluster and branch are by
            default those that the log was opened with. ``taken_at`` may also be text, as in
            ``REQUESTED/ANSWERED``, or one time.
        :param progress: called with (``read`` or ``append``, done, total).
        :param no_checkpoint: do not index what was added; later calls are slower.
        :raises InputError: an input is missing, damaged or malformed; then nothing was appended.
        :raises UsageError: an option is not known.
        """
        from ..ingest.fetched import fetched  # noqa: PLC0415 -- only needed here
        from ..ingest.ingest_run import IngestOptions, ingest  # noqa: PLC0415
        from ..truth.truth import build_index  # noqa: PLC0415

        if options is None:
            known = IngestOptions.__struct_fields__
            for name in named:
                if name not in known:
                    raise UsageError(
                        f"ingest has no option {name!r}", now=f"choose from: {', '.join(known)}"
                    )
            own = {"branch": self.branch, "cluster": self.cluster or "default"}
            options = IngestOptions(**{**own, **named})
        elif named:
            raise UsageError("options are given twice", now="give them all in options, or by name")
        if options.taken_at is not None:
            taken = fetched(options.taken_at, option="taken_at")
            options = msgspec.structs.replace(options, taken_at=taken)
        self.forget()
        names = [str(path) for path in paths_of(paths)]
        summary = ingest(self.store, names, options, progress)
        if not no_checkpoint:
            build_index(self.store, branch=options.branch, cluster=options.cluster)
        return summary

    def events(
        self,
        *,
        kinds: Names = (),
        objects: str | Sequence[str | tuple[str, str]] = (),
        since: Point | None = None,
        until: Point | int | None = None,
        after: str | int | None = None,
        follow: bool = False,
        **narrowed: Any,
    ) -> Events:
        """Yield events by position: the order in which they were appended.

        Also takes the other fields of a query: ``namespace``, ``name``, ``uid``, ``source``,
        ``actor``, ``limit``, ``newest_first``.

        :param kinds: event kinds, as in ``pod.bound`` or ``pod.*``.
        :param objects: kinds of objects, or one object (``pod/train-0``) or uid.
        :param since: from this point on, inclusive. :param until: up to this point, inclusive.
        :param after: ``@POSITION``; only events appended after it.
        :param follow: wait for more events, without end.
        :raises UsageError: there is no such kind, or the bounds do not go together.
        """
        from ...engine.log import Query  # noqa: PLC0415 -- only needed here
        from ..logs.event_filters import about, bounds, known_kinds  # noqa: PLC0415
        from ..moments.read_events import attributed_events  # noqa: PLC0415

        if follow and (narrowed.get("newest_first") or until is not None):
            raise UsageError(
                "follow has no end, so newest_first and until cannot be combined with it",
                now="leave out follow",
            )
        self.moment()  # raises for an unknown cluster
        end = f"@{until}" if isinstance(until, int) else until
        begin = f"@{after}" if isinstance(after, int) else after
        fields: dict[str, Any] = {"branch": self.branch, "cluster": self.cluster}
        fields |= {"kinds": known_kinds(several(kinds))}
        fields |= bounds(self, since, end, begin)
        names = [objects] if isinstance(objects, str) else list(objects)
        pairs = tuple(name for name in names if not isinstance(name, str))
        fields |= about(self, [name for name in names if isinstance(name, str)])
        fields["objects"] = (*fields.get("objects", ()), *pairs)
        unknown = [name for name in narrowed if name not in Query.__struct_fields__]
        if unknown:
            known = (*_OF_EVENTS, *_OF_QUERIES)
            raise TypeError(f"events() has no option {unknown[0]!r}; it takes: {', '.join(known)}")
        query = Query(**{**fields, **narrowed})
        from .tables import Events  # noqa: PLC0415 -- only needed here

        events = attributed_events(self.store, self.moment(), query, follow=follow)
        return Events(events, endless=follow)

    def get(
        self,
        kind: str | GroupKind,
        name: str | None = None,
        *,
        at: Point = "end",
        namespace: str | None = None,
        selector: str | Selector = "",
        fields: str | FieldSelector = "",
        strict: bool = False,
        clean: bool = False,
        node_names: bool = False,
    ) -> Records[dict[str, Any]]:
        """Return whole objects of a kind as the API server would have answered at a moment.

        As a table they have the columns of ``plinian get -o wide``.

        :param name: only objects of this name; of a PodGroup, also the name of its job.
        :param strict: raise if the kind is not fully known at the moment.
        :param clean: without what only this cluster has, so that they can be applied elsewhere.
        :param node_names: with ``clean``, keep the nodes of pods.
        :raises ObjectNotFound: a name was given, and there is none at that moment.
        :raises NotKnown: not all is known, and ``strict`` is set.
        """
        moment = self.moment(at)
        if strict:
            refuse(self.not_known(kind, at=moment, namespace=namespace))
        from .object_table import ObjectRecords, shown_of  # noqa: PLC0415 -- only needed here

        pair = self.kind(kind, moment) if isinstance(kind, str) else kind
        entries = self.found(
            pair, name, at=moment, namespace=namespace, selector=selector, fields=fields
        )
        documents = self.documents(entries, branch=moment.branch)
        if clean:
            documents = (manifest(document, node_names=node_names) for document in documents)
        return ObjectRecords(documents, shown_of(self, moment, pair, entries))

    def not_known(
        self,
        kinds: str | GroupKind | Sequence[str | GroupKind] = (),
        *,
        at: Point = "end",
        namespace: str | None = None,
    ) -> Records[Unknown]:
        """Return which of some kinds the log does not fully know at a moment, and why.

        :param kinds: one, such as ``pods``, or several; without any, those that matter to
            scheduling.
        :param namespace: only in it; None is everywhere.
        :raises UsageError: there is no such kind.
        """
        from .tables import unknowns  # noqa: PLC0415 -- only needed here

        moment = self.moment(at)
        asked_kinds = [kinds] if isinstance(kinds, str) or _is_pair(kinds) else kinds
        asked = [
            self.kind(asked_kind, moment) if isinstance(asked_kind, str) else asked_kind
            for asked_kind in asked_kinds
        ]
        return unknowns(unknown_at(self, moment, asked or usual_kinds(self, moment), namespace))

    def digest(self, at: Point = "end", *, strict: bool = False) -> str:
        """Return the digest of the state at a moment; equal states have equal digests anywhere.

        :param strict: raise if the log does not know all that matters to scheduling.
        :raises NotKnown: it does not, and ``strict`` is set.
        """
        moment = self.moment(at)
        if strict:
            refuse(self.not_known(at=moment))
        return super().digest(moment)

    def who_made(self, diff: Diff, before: Point, after: Point = "end") -> Who:
        """Return who made each difference of a :meth:`diff`, as far as the log knows.

        :param diff: the result of the diff. :param before: and ``after``: its moments.
        """
        from ..histories.diff_actors import who_made  # noqa: PLC0415 -- only needed here

        return who_made(self.store, diff, self.moment(before), self.moment(after))

    def describe(
        self,
        named: str,
        *,
        at: Point = "end",
        namespace: str | None = None,
        strict: bool = False,
    ) -> str:
        """Return the description of an object such as ``pod/train-0``, as of ``plinian describe``.

        :param named: also ``pod/ml/train-0``.
        :param namespace: by default ``default``; ignored for kinds without namespaces.
        :param strict: raise if the kind, or one from which parts of the description are computed,
            is not fully known at the moment.
        :raises ObjectNotFound: it does not exist at that moment.
        :raises NotKnown: not all is known, and ``strict`` is set.
        """
        from ..coverage.computed_kinds import IN_DESCRIPTIONS, Shown, unknown_in  # noqa: PLC0415
        from ..render.description import description_lines  # noqa: PLC0415 -- only needed here

        moment = self.moment(at)
        target = self.object(named, moment)
        kind = (target.group, target.kind)
        place = "" if kind in CLUSTER_SCOPED else target.place(namespace) or ""
        if strict:
            refuse(unknown_in(self, moment, Shown(kind, IN_DESCRIPTIONS, place or None)))
        truth = self.truth(moment)
        entry = truth.find(*kind, place, target.name)
        if (
            entry is None and not namespace and not target.namespace
        ):  # a kind that no input showed to have no namespace
            entry = truth.find(*kind, "", target.name)
        if entry is None:
            raise not_found(self, kind, target.name, place, moment)
        return "".join(description_lines(self, moment, entry))

    def export(
        self,
        file: FilePath,
        *,
        format: str | None = None,  # noqa: A002 -- it is the option's name
        what: str = "events",
        every: str = "10s",
        at: Point | None = None,
        progress: Callable[[int], None] | None = None,
        remark: Callable[[str], None] | None = None,
    ) -> int:
        """Write all events with their payloads to a file, or the state over time or at a moment.

        The file appears only when it is complete. Returns the number of events, rows, spans or
        objects.

        :param format: ``ndjson``, ``csv`` or ``parquet``; by default from the file's suffix.
            Parquet needs the extra ``plinian[parquet]``.
        :param what: ``events``; a table of the state over time, one of ``queues``, ``nodes``,
            ``pods``, ``podgroups``; ``timeline``: sessions and pods, for Perfetto; or a snapshot
            for another program, ``simulator`` or ``kwok``.
        :param every: of a table, the time between two samples.
        :param at: of a snapshot, the moment; by default the end.
        :param progress: called with the number of events written.
        :param remark: called with each thing that a snapshot cannot carry.
        :raises UsageError: there is no such format, or the suffix is of another one or of none.
        """
        from .. import export as writers  # noqa: PLC0415 -- only needed here
        from ..series.series_export import export_of  # noqa: PLC0415

        path = Path(file)
        chosen = export_of(what, str(path), form=format, every=every, at=at)
        return writers.write_file(
            path, lambda out: chosen.write(self, out, progress=progress, remark=remark)
        )

    def pack(
        self,
        file: FilePath,
        *,
        at: Point = "end",
        around: str | timedelta = "10m",
        release: str = DEFAULT_RELEASE,
        ask: str = "",
        redact: bool = False,
        map: FilePath | None = None,  # noqa: A002 -- it is the option's name
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Packed:
        """Write the part of the log around a moment to one file, and return what is in it.

        :param around: how much time before and after the moment, as in ``90s``.
        :param release: of the session whose decisions are the expected answer.
        :param ask: why it is sent, in words.
        :param redact: replace all names, prove that sessions decide the same, and write the map of
            names. :param map: where to; by default beside the pack.
        :param progress: called with (what is done, how much of it, how much in all).
        :raises PackDiffers: sessions would decide otherwise than those of the log, or an original
            name is left.
        :raises UsageError: the log holds nothing there, or no times.
        """
        from datetime import timedelta  # noqa: PLC0415 -- only needed here

        from ..pack import pack_writing as write  # noqa: PLC0415

        return write.pack(
            self,
            Path(file),
            at=at,
            around=around // timedelta(microseconds=1)
            if isinstance(around, timedelta)
            else write.duration_of(around),
            release=release,
            ask=ask,
            map_file=write.map_place(str(file), None if map is None else str(map), redact=redact),
            progress=progress,
        )

    def info(self) -> LogInfo:
        """Return the log's place, length and size, its branches and clusters."""
        return self.store.info()

    def heads(self) -> Records[HeadInfo]:
        """Return the end of each branch, with the hash that covers all of it."""
        return Records(super().heads(), "heads", HeadInfo)

    def branches(self) -> Records[BranchInfo]:
        """Return all branches, ``main`` first, then by name."""
        return Records(self.store.branches(), "branches", BranchInfo)

    def create_branch(self, name: str, *, at: Point = "end") -> BranchInfo:
        """Create a branch that shares the past of this log's branch and never changes it.

        :param at: where to fork: a position, or a moment before which the log has no later event.
        :raises UsageError: there is no such position, or the branch already exists.
        """
        from ..logs.forks import fork_of  # noqa: PLC0415 -- only needed here

        moment = self.moment(at)
        fork = fork_of(self.store, moment)
        return self.store.create_branch(name, parent=moment.branch, fork=fork)

    def checkpoints(self) -> Records[CheckpointInfo]:
        """Return the stored states, which make other calls faster."""
        from ..belief.stored_belief import what_of  # noqa: PLC0415 -- only needed here

        stored = (CheckpointInfo(*row[:5], what_of(row[5])) for row in self.store.checkpoints())
        return Records(stored, "checkpoints", CheckpointInfo)

    def build_checkpoints(
        self,
        *,
        release: Names = DEFAULT_RELEASE,
        no_beliefs: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Bring the index and the checkpoints of this branch up to the end of the log.

        Damaged ones are rebuilt.

        :param release: a release, or several, whose scheduler caches are stored too.
        :param no_beliefs: store no scheduler caches.
        :param progress: called with (events done, total), for each task in turn.
        :raises UsageError: the release is not known.
        """
        from ...engine.volcano.session.history import resolve  # noqa: PLC0415 -- only needed here
        from ..belief.stored_belief import build_all  # noqa: PLC0415
        from ..truth.truth import build_index  # noqa: PLC0415

        self.store.mend_derived()
        asked = [] if no_beliefs else [resolve(name) for name in several(release)]
        for cluster in [self.cluster] if self.cluster else self.store.clusters():
            build_index(self.store, branch=self.branch, cluster=cluster, progress=progress)
            build_all(self.store, asked, branch=self.branch, cluster=cluster, progress=progress)

    def drop_checkpoints(self) -> None:
        """Delete the index and all checkpoints; :meth:`build_checkpoints` rebuilds them."""
        self.store.drop_derived()

    def ask(self, question: Question[A]) -> A:
        """Return the answer to a question.

        :raises NotKnown: the question is strict, and the log lacks what it needs.
        :raises PlinianError: as the question says.
        """
        return question.ask(self)

    def report(
        self,
        *,
        at: Point = "end",
        why: Names = (),
        from_: Point | None = None,
        namespace: str | None = None,
        release: str | None = None,
        conf: Conf | None = None,
        assume: bool = False,
        strict: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> str:
        """Return a report on a moment: one page of HTML that needs nothing else.

        The same log and the same question give the same page.

        :param why: objects that wait, as for :meth:`why`; by default those that wait longest.
        :param from_: an earlier moment to compare with; by default two minutes before.
        :param progress: called with (what is done, how much of it, how much in all).
        :raises ObjectNotFound: there is no such object at that moment.
        :raises UsageError: the earlier moment is after the moment; or as :meth:`why`.
        """
        from ..logs.earlier_moments import earlier  # noqa: PLC0415
        from ..report.collect import report_page  # noqa: PLC0415 -- only needed here
        from ..report.question import ReportRequest  # noqa: PLC0415

        moment = self.moment(at)
        if strict:
            check_known(self, moment, is_configured=conf is not None)
        release = release or release_at(self, moment)
        name = release_of(release or DEFAULT_RELEASE, assume=assume)
        before, remarks = earlier(self, moment, from_)
        question = ReportRequest(
            log=self,
            place=self.place,
            moment=moment,
            named=[self.object(text, moment) for text in several(why)],
            namespace=namespace,
            before=before,
            remarks=remarks,
            release=name,
            conf=accepted_conf(conf, [name], assume=assume),
            assumed=assumed_of(release, name),
        )
        return report_page(question, progress)

    def plot(
        self,
        what: str,
        names: Names = (),
        *,
        from_: Point | None = None,
        to: Point | None = None,
        resource: str | None = None,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Plot:
        """Draw the log over time. Notebooks show the result; ``save`` writes PNG, SVG or HTML.

        :param what: ``queues``, ``nodes``, ``gang``, ``sessions`` or ``waits``.
        :param names: only these queues or nodes; of a gang the job or PodGroup, as in
            ``job/train``.
        :param from_: and ``to``: the period; by default the whole log.
        :param resource: of queues and nodes; by default ``cpu``.
        :param namespace: of the gang; None is any that has it.
        :param progress: called with (events read, total).
        :raises UsageError: there is no such plot, name or resource, or nothing in the period.
        :raises ObjectNotFound: there is no such gang.
        """
        from ..plot.asked import PlotRequest  # noqa: PLC0415 -- only needed here
        from ..plot.plot_run import plot  # noqa: PLC0415

        asked = PlotRequest(what, several(names), from_, to, resource, namespace)
        return plot(self, asked, place=self.place, progress=progress)

    def plot_of(
        self, found: Why | Fidelity | Forecast, *, progress: Progress | None = None
    ) -> Plot:
        """Draw an answer of this log over time.

        Of :meth:`why` the queue that is full or the gang, a queue or a node; of :meth:`fidelity`
        the sessions by how they came out; of :meth:`forecast` the queues, as they were and changed.

        :param progress: called with (events read, total).
        :raises UsageError: there is nothing to draw.
        :raises ObjectNotFound: the job has no pods and no PodGroup.
        """
        from ..plot.plot_run import plot_of  # noqa: PLC0415 -- only needed here

        return plot_of(self, found, place=self.place, progress=progress)

    def status(self, *, as_known_at: str | None = None) -> Status:
        """Return what the log holds of its cluster: inputs, range, what it knows completely.

        :param as_known_at: ``@POSITION``; ignore events appended later.
        :raises UsageError: the log holds several clusters, and none is chosen.
        """
        from ..logs.log_status import status_of  # noqa: PLC0415

        return status_of(self, self.moment(as_known_at=as_known_at))

    def assumptions(
        self, *, at: Point = "end", kinds: Sequence[str | GroupKind] | None = None
    ) -> tuple[str, ...]:
        """Return as sentences what answers rest on that no input shows.

        These are the fields that objects lacked when they were ingested, and that were filled in as
        an API server or a webhook does, and identities that were generated.

        :param kinds: as in ``["nodes", "pods"]``; None is all.
        :raises UsageError: there is no such kind.
        """
        from ..logs.assumptions import assumptions_at  # noqa: PLC0415

        moment = self.moment(at)
        chosen = None
        if kinds is not None:
            named = (self.kind(kind, moment) if isinstance(kind, str) else kind for kind in kinds)
            chosen = list(named)
        return assumptions_at(self, moment, chosen)

    def state(self, what: str, *, at: Point = "end") -> Records[Row]:
        """Return the state at a moment as rows: one for each object, or each resource of it.

        Amounts are numbers: cpu in cores, memory and storage in bytes, others as counted.

        :param what: ``queues``, ``nodes``, ``pods`` or ``podgroups``.
        :raises UsageError: there is no such table.
        """
        from .tables import state_at  # noqa: PLC0415

        return state_at(self, what, self.moment(at))

    def series(self, what: str, *, every: str = "10s") -> Records[Row]:
        """Return the state over time, in rows like those of :meth:`state`; as ``export --what``.

        :param every: the time between two samples.
        :raises UsageError: there is no such table, or the log has no times.
        """
        from .tables import series_of  # noqa: PLC0415

        return series_of(self, what, every)

    def lint(
        self,
        files: FilePath | Sequence[FilePath] = (),
        *,
        at: Point = "end",
        conf: FilePath | None = None,
        releases: Names = (),
        ignore: Names = (),
        namespace: str = "default",
        assume: bool = False,
    ) -> Report:
        """Check files against the cluster at a moment; without files, check the cluster's objects.

        Parameters and errors are those of :func:`lint`.
        """
        from ..lint.known_background import background_at  # noqa: PLC0415
        from .linting import checked  # noqa: PLC0415

        return checked(
            files,
            background_at(self, self.moment(at)),
            conf=conf,
            releases=releases,
            ignore=ignore,
            namespace=namespace,
            assume=assume,
        )


def _is_pair(kinds: object) -> TypeGuard[GroupKind]:
    """Return whether a value is one (group, kind), and not several names of kinds."""
    return isinstance(kinds, tuple) and len(kinds) == 2 and kinds[1][:1].isupper()


def opened(
    place: str, *, create: bool = False, read_only: bool = False, branch: str, cluster: str | None
) -> Log:
    """Open the log at a path or URL; parameters and errors are those of ``plinian.open``."""
    store = open_log(place, create=create, read_only=read_only)
    return Log(place, store, branch=branch, cluster=cluster)
