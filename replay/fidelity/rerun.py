"""Run every recorded session again on its scheduler's cache, and compare it with the record.

The cache gets what the API server wrote and what the recorded sessions decided. Where the scheduler
picked one of several equal nodes at random, the recorded node is used. Two things are not known:
when an informer delivered an event, and the order of Go's maps. So the moment of a session is first
estimated from the times of writes; it is before the session's own writes. If the decisions differ,
:mod:`.nearest_run` tries what else may have been delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.projector import Origin, Projector, options_of
from ...engine.cache.scheduler_flags import CacheOptions
from ...engine.events import KINDS as EVENT_KINDS
from ...engine.events import Effect, Event, Recorded, Reference
from ...engine.events.payloads import ProcessStarted, RequestAccepted
from ...engine.kubernetes.objects import KINDS, Object, decode
from ...engine.kubernetes.units import SECOND_US
from ...engine.log.store import LogStore, Query
from ...engine.session.framework.process_parts import ProcessState
from ...engine.state.clock import Clock
from ...engine.volcano.conf import SchedulerConf
from ...engine.volcano.session.behaviours import Behaviours
from ..belief.belief import play
from ..coverage.coverage import beginning_of, unknown_between
from ..logs.log import Log
from ..logs.logged_confs import AppliedConf, ConfText, applied_confs
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from ..recorded.recorded_sessions import (
    HowKnown,
    RecordedSession,
    fork_of,
    last_known,
    recorded_sessions,
)
from ..sessions.session_answer import conf_of
from .attempts import Aspect, Attempt
from .deliveries import Arrival, Deliveries, DeliveryCut
from .known_inputs import is_doubtful
from .nearest_run import NearestRun, SearchLimits, SessionSearch
from .one_run import OneRun

_JOB_NAME, _JOB_NAMESPACE = "volcano.sh/job-name", "volcano.sh/job-namespace"


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """A Service that Volcano's controllers made for a job, or deleted; its body was not recorded.

    :ivar document: what it must have been; None when it was deleted.
    """

    at: int
    reference: Reference
    document: dict[str, Any] | None


def job_services(store: LogStore, moment: Moment) -> list[ServiceRequest]:
    """Return the Services of jobs with the plugin ``svc`` that are known only from their requests.

    Audit policies often leave out their bodies, and recordings often lack lists of Services. But
    pods that a Service selects are spread over nodes and zones.

    Source: pkg/controllers/job/plugins/svc/svc.go.
    """
    served: set[tuple[str, str]] = set()
    for event in _read(store, moment, "job.observed", "job.created", "job.updated"):
        spec = msgspec.json.decode(event.payload).get("spec") or {}
        if "svc" in (spec.get("plugins") or {}):
            served.add((event.reference.namespace, event.reference.name))
    requests = []
    for event in _read(store, moment, "request.accepted", "object.deleted"):
        named = (event.reference.namespace, event.reference.name)
        if event.reference.kind == "Service" and named in served and event.observed_at is not None:
            verb = "delete"
            if event.kind == "request.accepted":
                verb = msgspec.json.decode(event.payload, type=RequestAccepted).verb
            if verb in {"create", "delete"}:
                document = _service(*named) if verb == "create" else None
                requests.append(ServiceRequest(event.observed_at, event.reference, document))
    return sorted(requests, key=lambda request: request.at)


def _service(namespace: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"selector": {_JOB_NAME: name, _JOB_NAMESPACE: namespace}},
    }


def _read(store: LogStore, moment: Moment, *kinds: str) -> Iterator[Event]:
    query = Query(branch=moment.branch, cluster=moment.cluster, until=moment.known, kinds=kinds)
    recorded: Recorded
    for recorded in store.read(query):
        yield recorded.event


EARLIER_US = 2 * SECOND_US
"""How far back to try: times in whole seconds are too early, and informers deliver late."""

LATER_US = 300_000
"""How far forward to try: the audit log is written after watches delivered an event."""

_PAUSE_US = SECOND_US // 2
"""Sessions that follow each other sooner than this are in quick succession."""

_POD_GROUP = ("scheduling.volcano.sh", "PodGroup")

Take = Callable[[RecordedSession], bool]
Done = Callable[["RerunSession"], None]


class Lag(NamedTuple):
    """How far one kind's informer was from where the clock would have it.

    :param kind: of the objects. :param behind: the changes that it had not delivered yet.
    :param ahead: those that it had delivered already.
    :param us: between the clock's place and the first or last of these, microseconds.
    """

    kind: str
    behind: tuple[Arrival, ...]
    ahead: tuple[Arrival, ...]
    us: int


class RerunSession(NamedTuple):
    """A recorded session, and how it came out when it was run again.

    :param revision: the last revision that it may have known, by the clock.
    :param found: the runs. :param lags: of the informers, in the nearest run.
    :param absent: what differs, is recorded, and is not in the scheduler's cache.
    :param nodes: how many nodes the scheduler's cache has.
    """

    recorded: RecordedSession
    revision: int
    found: NearestRun
    lags: tuple[Lag, ...]
    absent: frozenset[str] = frozenset()
    nodes: int = 0

    @property
    def same(self) -> bool:
        """Whether nothing differs in the nearest run."""
        return not self.found.best.differing

    @property
    def moved(self) -> bool:
        """Whether the nearest run needed other deliveries than by the clock."""
        return self.found.state.cut != DeliveryCut(self.found.start)

    def differing(self, aspect: Aspect) -> list[str]:
        """Return the pods or PodGroups that differ in one aspect."""
        return [
            differing_result.name
            for differing_result in self.found.best.differing
            if differing_result.aspect is aspect
        ]


def rerun_sessions(
    store: LogStore,
    moment: Moment,
    behaviours: Behaviours,
    *,
    conf: ConfText | None = None,
    sessions: Sequence[RecordedSession] | None = None,
    take: Take = lambda _: True,
    limits: SearchLimits | None = None,
    done: Done = lambda _: None,
) -> list[RerunSession]:
    """Run the sessions of a log up to a moment again, in their order.

    Those before the first complete lists of what sessions need are left out.

    :param conf: the configuration of all; by default the log's when each was opened.
    :param sessions: those that the log records, if they are known already.
    :param take: is asked once about each session whether to run it; of the others, what they
        decided is taken over.
    :param limits: how long to search. :param done: is called after every session.
    """
    known = recorded_sessions(store, moment) if sessions is None else sessions
    planned = planned_sessions(store, moment, known)
    rerun = _Rerun(store, moment, behaviours, _Confs(store, moment, behaviours, conf), planned)
    rerun.choose(take, limits or SearchLimits(), done)
    play(store, moment, rerun)
    rerun.finish()
    return rerun.done


class Planned(NamedTuple):
    """A session, and the last revision that it may have known: earliest, by the clock, latest.

    :param writes_known: the log has all statuses of PodGroups that it wrote.
    """

    recorded: RecordedSession
    early: int
    nominal: int
    late: int
    writes_known: bool = False


def planned_sessions(
    store: LogStore, moment: Moment, sessions: Sequence[RecordedSession]
) -> list[Planned]:
    """Return the sessions whose snapshot the log knows, with the bounds of that."""
    clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
    nominal = [last_known(session, clock) for session in sessions]
    early = [last_known(session, clock, -EARLIER_US) for session in sessions]
    planned = [
        Planned(
            session,
            early[place],
            nominal[place],
            max(nominal[place], last_known(session, clock, _later(sessions, place))),
        )
        for place, session in enumerate(sessions)
    ]
    log = Log(store, branch=moment.branch, cluster=moment.cluster)
    begin = beginning_of(log, moment).revision or 0
    end = moment.revision
    unknown = unknown_between(log, begin, moment, [_POD_GROUP])

    def knows_writes(session: RecordedSession) -> bool:
        if session.closed is None or session.how is not HowKnown.LOGGED:
            return False
        return not is_doubtful(unknown, clock.revision_at(session.closed), session.closed)

    return [
        plan._replace(writes_known=knows_writes(plan.recorded))
        for plan in planned
        if plan.nominal >= begin and (end is None or plan.nominal <= end)
    ]


def _later(sessions: Sequence[RecordedSession], place: int) -> int:
    """Return how far after its opening a session's deliveries are tried, in microseconds.

    They end long before the next session opens, so that it can be behind, too. Sessions in quick
    succession have nothing after their opening.
    """
    following = sessions[place + 1 : place + 2]
    pauses = [session.opened - sessions[place].opened for session in following]
    return min([LATER_US, *(pause // 4 if pause >= _PAUSE_US else 0 for pause in pauses)])


class _Start(NamedTuple):
    """The start of a scheduler: when, with which flags, and the position of its event."""

    time: int
    options: CacheOptions
    position: int


def _flags_of(start: Event) -> Mapping[str, str] | None:
    """Return the flags of a scheduler that starts; None if another component does."""
    started = msgspec.json.decode(start.payload, type=ProcessStarted)
    return started.flags if started.component == "scheduler" else None


class _Confs:
    """The configurations of sessions.

    :param given: instead of those in the log.
    """

    def __init__(
        self, store: LogStore, moment: Moment, behaviours: Behaviours, given: ConfText | None
    ) -> None:
        self._behaviours = behaviours
        self._applied = [AppliedConf(None, given)] if given else applied_confs(store, moment)
        self._known: dict[tuple[ConfText, ...], SchedulerConf] = {}

    def at(self, revision: int, time: int) -> SchedulerConf:
        """Return the last configuration by a revision, and its time, that the release accepts."""
        confs = tuple(conf.conf for conf in self._applied if conf.is_known(revision, time))
        if confs not in self._known:
            self._known[confs] = conf_of(confs, self._behaviours).conf
        return self._known[confs]


class _Rerun:
    """Applies the events of a log to a cache, and runs the planned sessions between them."""

    def __init__(
        self,
        store: LogStore,
        moment: Moment,
        behaviours: Behaviours,
        confs: _Confs,
        planned: Sequence[Planned],
    ) -> None:
        self.done: list[RerunSession] = []
        self._projector = Projector(behaviours)
        self._store, self._branch, self._confs = store, moment.branch, confs
        self._clock: Clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
        # The next session is the last of the list.
        self._planned = list(reversed(planned))
        self._services: list[ServiceRequest] = job_services(store, moment)[::-1]
        self._assumed: dict[str, Object] = {}
        self._bindings: list[Event] = []
        self._starting: _Start | None = None
        self._fork = fork_of(store, moment)
        self._process = ProcessState()
        self._revision = 0
        self._crashes = 0
        """How many panics there were by the last session, or start of a process."""
        self._deliveries: Deliveries | None = None
        self._handled: int | None = None
        self._take: Take = lambda _: True
        self._taken: bool | None = None
        self._limits = SearchLimits()
        self._done: Done = lambda _: None

    def choose(self, take: Take, limits: SearchLimits, done: Done) -> None:
        """Say which sessions to run, how long to search, and what to call after each."""
        self._take, self._limits, self._done = take, limits, done

    @property
    def _cache(self) -> SchedulerCache:
        return self._projector.cache

    def apply(
        self,
        event: Event,
        *,
        position: int = 0,
        lives_on: Callable[[Reference], bool] = lambda _: False,
    ) -> None:
        """Deliver an event to the scheduler, after running the sessions that did not know it yet.

        A binding by the scheduler comes from its session; the resulting version follows later.
        """
        if self._starting is not None and position > self._fork:
            self._start(self._starting)
        if event.revision is not None and event.revision > self._revision:
            self._until(event.revision)
            self._revision = event.revision
        if EVENT_KINDS[event.kind].effect is Effect.BOUND:
            self._bindings.append(event)
            return
        if event.kind == "process.started" and (flags := _flags_of(event)) is not None:
            # What its branch continues has happened, also what has no revision and so comes later.
            self._starting = _Start(event.observed_at or 0, options_of(flags), position)
            return
        if self._deliveries is None:
            self._projector.apply(event, position=position, lives_on=lives_on)
        else:
            self._deliveries.add(self._projector, event, position, lives_on)

    def finish(self) -> None:
        """Run the sessions after the last event."""
        if self._starting is not None:
            self._start(self._starting)
        while self._planned:
            self._until(self._planned[-1].late + 1)

    def _until(self, revision: int) -> None:
        """Before a revision, run the sessions that are due, and begin to keep deliveries."""
        while self._planned and self._planned[-1].late < revision:
            self._run_next()
        if self._planned and revision > self._planned[-1].early:
            self._begin(self._planned[-1])

    def _start(self, start: _Start) -> None:
        """Start a scheduler, after the sessions of the process before it.

        It takes over nothing that they decided, and its own sessions see nothing older. On a branch
        its API server is Plinian's, which has no object that the log lacks.
        """
        self._starting = None
        while self._planned and self._planned[-1].recorded.opened < start.time:
            self._run_next()
        self._process, self._deliveries = ProcessState(), None
        for binding in self._bindings:  # The log may lack the version that one made.
            self._projector.apply(binding)
        self._bindings.clear()
        if start.position > self._fork > 0:
            self._withdraw_services()
        nodes = self._planned[-1].recorded.nodes if self._planned else None
        late = self._projector.begin(start.options, nodes)
        self._crashes = len(self._projector.crashes)
        if late:
            self._begin(self._planned[-1])
            self._deliver_late(late)
            self._handled = nodes

    def _deliver_late(self, late: Sequence[tuple[Reference, Origin]]) -> None:
        """Deliver the nodes that the first session of a process did not have yet."""
        payloads = self._payloads([origin.position for _, origin in late])
        for reference, origin in late:
            payload = payloads[origin.position]
            self.apply(Event(kind="node.updated", reference=reference, payload=payload))

    def _run_next(self) -> None:
        """Run the next session, if it is wanted, and take over what it decided."""
        plan = self._planned.pop()
        self._begin(plan)
        if self._taken:
            self.done.append(self._nearest(plan))
            self._done(self.done[-1])
        self._crashes = self._crashes_by(plan)
        self._take_over(plan.recorded)
        self._deliveries = self._handled = self._taken = None

    def _crashes_by(self, plan: Planned) -> int:
        """Return how many panics the scheduler had when a session opened, by the clock."""
        if self._deliveries is None:
            return len(self._projector.crashes)
        return self._deliveries.crashes_by(self._deliveries.at_revision(plan.nominal))

    def _begin(self, plan: Planned) -> None:
        """Keep from now on what is delivered, as the session may have been opened here."""
        self._serve(plan.recorded.opened)
        if self._taken is None:
            self._taken = self._take(plan.recorded)
        if self._deliveries is None and self._taken:
            begin = max(self._revision, plan.early)
            self._deliveries = Deliveries(self._projector, self._payloads, begin, self._crashes)

    def _payloads(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        return self._store.payloads(positions, self._branch)

    def _nearest(self, plan: Planned) -> RerunSession:
        """Run the session on one state after another, until nothing differs."""
        deliveries, session = self._deliveries, plan.recorded
        assert deliveries is not None, "they are kept before a session is run"
        conf = self._confs.at(plan.nominal, session.opened)
        run = OneRun(session, self._cache, conf, self._process, writes_known=plan.writes_known)
        start = deliveries.with_nodes(deliveries.at_revision(plan.nominal), self._handled)
        nearest_run = SessionSearch(deliveries, start, run, self._limits).nearest()
        self._process = nearest_run.best.result.process
        lags = tuple(self._lags(deliveries, nearest_run, plan))
        absent = self._absent(session, nearest_run.best)
        return RerunSession(
            session, plan.nominal, nearest_run, lags, absent, len(self._cache.nodes)
        )

    def _absent(self, session: RecordedSession, best: Attempt) -> frozenset[str]:
        """Return what differs, is recorded, and is not in the cache."""
        if not best.differing:
            return frozenset()
        jobs = self._cache.jobs
        in_cache = {task.key for job in jobs.values() for task in job.tasks.values()}
        recorded = session.binds.keys() | session.groups.keys() | session.evictions.keys()
        return frozenset((best.names & recorded) - in_cache - jobs.keys())

    def _lags(self, deliveries: Deliveries, nearest_run: NearestRun, plan: Planned) -> list[Lag]:
        lags = []
        for kind in deliveries.kinds():
            place, start = nearest_run.state.cut.place(kind), nearest_run.start
            parted = tuple(deliveries.between(kind, place, start))
            if parted:
                behind, ahead = (parted, ()) if place < start else ((), parted)
                lags.append(Lag(kind, behind, ahead, self._distance(parted, plan)))
        return lags

    def _distance(self, parted: Sequence[Arrival], plan: Planned) -> int:
        """Return the time between a session's opening and the farthest of some changes."""
        times = [self._clock.time_of(arrival.revision) for arrival in parted]
        return max((abs(plan.recorded.opened - time) for time in times if time), default=0)

    def _take_over(self, session: RecordedSession) -> None:
        """Bind and evict in the cache what the recorded session decided."""
        named: dict[str, tuple[str, str]] = {}
        by_uid: dict[str, str] = {}
        for job in self._cache.jobs.values():
            for uid, task in job.tasks.items():
                named[task.key] = (job.key, uid)
                by_uid[uid] = job.key
        for pod, node in session.binds.items():
            uid = session.uids[pod]
            job_key = by_uid.get(uid)
            # The version with its node may have been delivered before the session.
            if node and job_key is not None and not self._is_placed(job_key, uid):
                self._cache.add_bind_task(job_key, uid, node)
        for pod, reason in session.evictions.items():
            if pod in named:
                self._cache.evict(*named[pod], reason)

    def _is_placed(self, job: str, uid: str) -> bool:
        return bool(self._cache.jobs[job].tasks[uid].node_name)

    def _serve(self, time: int) -> None:
        """Deliver the Services that only the requests for them show."""
        while self._services and self._services[-1].at <= time:
            request = self._services.pop()
            key = f"{request.reference.namespace}/{request.reference.name}"
            if request.document is not None:
                self._assumed[key] = decode(KINDS["Service"], request.document)
                self._projector.driver.deliver("Service", self._assumed[key])
            else:
                stored = self._cache.stores.get("Service", key)
                if stored is not None:
                    self._projector.driver.deliver_deletion("Service", stored)

    def _withdraw_services(self) -> None:
        """Take back the Services that no event shows, and deliver no more of them."""
        self._services.clear()
        for key, assumed in self._assumed.items():
            # Unless an event has shown another Service of the name meanwhile.
            if self._cache.stores.get("Service", key) is assumed:
                self._projector.driver.deliver_deletion("Service", assumed)
        self._assumed.clear()
