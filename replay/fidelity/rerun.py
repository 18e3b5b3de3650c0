"""Run every logged session again on its scheduler's cache, and compare it with the recording.

The cache gets what the API server wrote and what the recorded sessions decided. Where the scheduler
picked one of several equal nodes at random, the recorded node is used. Two things are not known:
when an informer delivered an event, and the order of Go's maps. So the moment of a session is first
estimated from the times of writes; it is before the session's own writes. If the decisions differ,
other revisions are tried, the nearest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.projector import Projector
from ...engine.cache.snapshot import Snapshot
from ...engine.events import KINDS as EVENT_KINDS
from ...engine.events import Effect, Event, Reference
from ...engine.kubernetes.objects import KINDS, decode
from ...engine.kubernetes.units import SECOND_US
from ...engine.log.store import LogStore
from ...engine.session.framework.chooser import Recorded
from ...engine.session.framework.outcome import PodGroupStatus, SessionResult
from ...engine.session.framework.process import ProcessState
from ...engine.session.run import SessionInput, run_session
from ...engine.volcano.conf import SchedulerConf, conf_in_force
from ...engine.volcano.session.behaviours import Behaviours
from ..moments.belief import play
from ..moments.clock import clock_of
from ..moments.coverage import beginning_of
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.scheduler_confs import ConfText, conf_at
from .recorded import (
    ComparedStatus,
    RecordedSession,
    ServiceRequest,
    job_services,
    recorded_sessions,
)

EARLIER_US = SECOND_US
"""How far back to try: times in whole seconds are too early, and informers deliver late."""

LATER_US = 300_000
"""How far forward to try: the audit log is written after watches delivered an event."""


class RerunSession(NamedTuple):
    """A recorded session, and the differences when it is run again.

    :param revision: the last revision that the session knew.
    :param moved: by how many revisions this is later than the estimate from the times of writes.
    :param pods: bound in one of the two only. :param nodes: pods with different nodes.
    :param evictions: pods evicted in one of the two only.
    :param groups: PodGroups with other statuses than those recorded.
    """

    recorded: RecordedSession
    revision: int
    moved: int
    pods: list[str]
    nodes: list[str]
    evictions: list[str]
    groups: list[str]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.pods or self.nodes or self.evictions or self.groups)

    @property
    def distance(self) -> tuple[int, int, int, int, int]:
        """A key to compare runs: less is nearer to the recording; the moment counts last."""
        differing = (self.pods, self.nodes, self.evictions, self.groups)
        pods, nodes, evictions, groups = map(len, differing)
        return pods, nodes, evictions, groups, abs(self.moved)


def rerun_sessions(
    store: LogStore, moment: Moment, behaviours: Behaviours, *, conf: ConfText | None = None
) -> list[RerunSession]:
    """Run all sessions of a log up to a moment again, in their order.

    Those before the first complete lists of what sessions need are left out.

    :param conf: the configuration of all; by default the last that was applied by the moment.
    """
    conf = conf or conf_at(store, moment)
    rerun = _Rerun(
        behaviours,
        conf_in_force(conf.text if conf else "", behaviours),
        _known(store, moment, _planned(store, moment, recorded_sessions(store, moment))),
        job_services(store, moment),
    )
    play(store, moment, rerun)
    rerun.finish()
    return rerun.done


class _Planned(NamedTuple):
    """A session, and the last revision that it may have known: earliest, by the clock, latest."""

    recorded: RecordedSession
    early: int
    nominal: int
    late: int


def _planned(
    store: LogStore, moment: Moment, sessions: Sequence[RecordedSession]
) -> list[_Planned]:
    clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)

    def revision(session: RecordedSession, later: int) -> int:
        known = clock.revision_at(session.opened + later)
        return known if session.wrote is None else min(known, session.wrote - 1)

    nominal = [revision(session, 0) for session in sessions]
    early = [revision(session, -EARLIER_US) for session in sessions]
    # A session's moment ends where that of the next may begin.
    return [
        _Planned(
            session,
            early[place],
            nominal[place],
            max(nominal[place], min([revision(session, LATER_US), *early[place + 1 : place + 2]])),
        )
        for place, session in enumerate(sessions)
    ]


def _known(store: LogStore, moment: Moment, planned: Sequence[_Planned]) -> list[_Planned]:
    """Leave out sessions whose snapshot the log does not fully know."""
    log = Log(store, branch=moment.branch, cluster=moment.cluster)
    begin = beginning_of(log, moment).revision or 0
    return [plan for plan in planned if plan.nominal >= begin]


class _AgreeingCache:
    """A cache that accepts every bind and eviction: the recording has their outcome."""

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Bind."""

    def evict(self, job: str, uid: str, reason: str) -> str | None:
        """Evict."""


class _Rerun:
    """Applies the events of a log to a cache, and runs the planned sessions between them."""

    def __init__(
        self,
        behaviours: Behaviours,
        conf: SchedulerConf,
        planned: Sequence[_Planned],
        services: Sequence[ServiceRequest],
    ) -> None:
        self.done: list[RerunSession] = []
        self._projector = Projector(behaviours)
        self._conf = conf
        self._planned = list(reversed(planned))
        self._services = list(reversed(services))
        self._process = ProcessState()
        self._revision = 0
        self._snapshots: dict[int, Snapshot] = {}

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
        if event.revision is not None and event.revision > self._revision:
            self._until(event.revision)
            self._revision = event.revision
        if EVENT_KINDS[event.kind].effect is not Effect.BOUND:
            self._projector.apply(event, position=position, lives_on=lives_on)

    def finish(self) -> None:
        """Run the sessions after the last event."""
        while self._planned:
            self._until(self._planned[-1].late + 1)

    def _until(self, revision: int) -> None:
        """Before a revision, keep snapshots that sessions may have seen; run due sessions."""
        while self._planned and self._planned[-1].late < revision:
            plan = self._planned.pop()
            self._serve(plan.recorded.opened)
            self._keep(plan, revision)
            self.done.append(self._nearest(plan))
            self._take_over(plan.recorded)
            self._snapshots.clear()
        if self._planned:
            self._serve_within(self._planned[-1])
            self._keep(self._planned[-1], revision)

    def _serve_within(self, plan: _Planned) -> None:
        if self._revision >= plan.early:
            self._serve(plan.recorded.opened)

    def _keep(self, plan: _Planned, revision: int) -> None:
        """Keep the current snapshot, if the session may have been opened on it."""
        if revision > plan.early and self._revision <= plan.late:
            self._snapshots[max(self._revision, plan.early)] = self._cache.snapshot()

    def _nearest(self, plan: _Planned) -> RerunSession:
        """Run the session at one moment after another, until nothing differs."""
        known = max((at for at in self._snapshots if at <= plan.nominal), default=plan.nominal)
        best: RerunSession | None = None
        for at in sorted(self._snapshots, key=lambda at: (abs(at - known), at)):
            result = self._run(plan.recorded, self._snapshots[at])
            found = _compared(plan.recorded, result, at, at - known)
            if best is None or found.distance < best.distance:
                best = found
            if found.same:
                break
        assert best is not None, "the state at the session's end is always kept"
        return best

    def _run(self, session: RecordedSession, snapshot: Snapshot) -> SessionResult:
        choices = {("node", pod): node for pod, node in (session.tried | session.binds).items()}
        return run_session(
            SessionInput(
                snapshot=snapshot,
                conf=self._conf,
                behaviours=self._cache.behaviours,
                now=session.opened,
                process=self._process,
                cache=_AgreeingCache(),
                chooser=Recorded(choices),
            )
        )

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
            if job_key is not None and not self._cache.jobs[job_key].tasks[uid].node_name:
                self._cache.add_bind_task(job_key, uid, node)
        for pod, reason in session.evictions.items():
            if pod in named:
                self._cache.evict(*named[pod], reason)

    def _serve(self, time: int) -> None:
        """Deliver the Services that only the requests for them show."""
        while self._services and self._services[-1].at <= time:
            request = self._services.pop()
            key = f"{request.reference.namespace}/{request.reference.name}"
            if request.document is not None:
                self._projector.driver.deliver(
                    "Service", decode(KINDS["Service"], request.document)
                )
            else:
                held = self._cache.stores.get("Service", key)
                if held is not None:
                    self._projector.driver.deliver_deletion("Service", held)


def _compared(
    session: RecordedSession, result: SessionResult, revision: int, moved: int
) -> RerunSession:
    binds = dict(result.binds)
    both = binds.keys() & session.binds.keys()
    return RerunSession(
        recorded=session,
        revision=revision,
        moved=moved,
        pods=sorted(binds.keys() ^ session.binds.keys()),
        nodes=sorted(pod for pod in both if binds[pod] != session.binds[pod]),
        evictions=sorted(dict(result.evictions).keys() ^ session.evictions.keys()),
        groups=sorted(
            group
            for group, recorded_status in session.groups.items()
            if _status(result.pod_groups.get(group)) != recorded_status
        ),
    )


def _status(group: PodGroupStatus | None) -> ComparedStatus | None:
    if group is None:
        return None
    conditions = tuple((c.type, c.status, c.reason, c.message) for c in group.conditions)
    return group.phase, group.running, group.succeeded, group.failed, conditions
