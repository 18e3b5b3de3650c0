"""Every logged session run again on what its scheduler believed then, and compared with the record.

The scheduler's cache is told what the API server wrote and what the recorded sessions decided;
where the original rolled dice among equal nodes, the recorded node is taken. Not known are the
moment at which an informer delivered, and the order of Go's maps. The moment of a session is first
taken from the times of writes, and lies before what came of it; if the record differs, revisions
around it are tried, the nearest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

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
from .recorded import RecordedSession, ServiceRequest, Told, job_services, recorded_sessions

EARLIER_US = SECOND_US
"""How much may be missing: times in whole seconds are so much too early, and informers are late."""

LATER_US = 300_000
"""How much may be there already: the audit log is written after watches have told."""


class Rehearsed(NamedTuple):
    """A recorded session, and what came of running it again.

    :param revision: up to which the cluster's history was known to the session.
    :param moved: so many revisions were added to the one by the times of writes, or taken away.
    :param pods: that were bound in one of the two only. :param nodes: pods with different nodes.
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
        """The less, the nearer to the record; the moment counts last."""
        differing = (self.pods, self.nodes, self.evictions, self.groups)
        pods, nodes, evictions, groups = map(len, differing)
        return pods, nodes, evictions, groups, abs(self.moved)


def rehearse(
    store: LogStore, moment: Moment, behaviours: Behaviours, *, conf: ConfText | None = None
) -> list[Rehearsed]:
    """Run all sessions again that a log up to a moment tells of, in their order.

    Those before the first complete lists of what sessions need are left out.

    :param conf: the configuration of all; by default the last that was applied by the moment.
    """
    conf = conf or conf_at(store, moment)
    rehearsal = _Rehearsal(
        behaviours,
        conf_in_force(conf.text if conf else "", behaviours),
        _known(store, moment, _planned(store, moment, recorded_sessions(store, moment))),
        job_services(store, moment),
    )
    play(store, moment, rehearsal)
    rehearsal.finish()
    return rehearsal.done


class _Planned(NamedTuple):
    """A session, and the revisions up to which it may have known: from, by the clock, to."""

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
    """Leave out sessions of which the log cannot know what they saw."""
    log = Log(store, branch=moment.branch, cluster=moment.cluster)
    begin = beginning_of(log, moment).revision or 0
    return [plan for plan in planned if plan.nominal >= begin]


class _Yielding:
    """A cache that agrees to whatever a session asks: its answer is in the record."""

    def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
        """Bind."""

    def evict(self, job: str, uid: str, reason: str) -> str | None:
        """Evict."""


class _Rehearsal(Projector):
    """A projector that runs the planned sessions on its way."""

    def __init__(
        self,
        behaviours: Behaviours,
        conf: SchedulerConf,
        planned: Sequence[_Planned],
        services: Sequence[ServiceRequest],
    ) -> None:
        super().__init__(behaviours)
        self.done: list[Rehearsed] = []
        self._conf = conf
        self._planned = list(reversed(planned))
        self._services = list(reversed(services))
        self._process = ProcessState()
        self._revision = 0
        self._snapshots: dict[int, Snapshot] = {}

    def apply(
        self,
        event: Event,
        *,
        position: int = 0,
        lives_on: Callable[[Reference], bool] = lambda _: False,
    ) -> None:
        """Let the scheduler see an event, after the sessions that did not know of it.

        What it bound itself it knows from the session; the version that came of it follows.
        """
        if event.revision is not None and event.revision > self._revision:
            self._until(event.revision)
            self._revision = event.revision
        if EVENT_KINDS[event.kind].effect is not Effect.BOUND:
            super().apply(event, position=position, lives_on=lives_on)

    def finish(self) -> None:
        """Run the sessions after the last event."""
        while self._planned:
            self._until(self._planned[-1].late + 1)

    def _until(self, revision: int) -> None:
        """Keep what sessions may have seen before a revision comes, and run those that are due."""
        while self._planned and self._planned[-1].late < revision:
            plan = self._planned.pop()
            self._serve(plan.recorded.opened)
            self._keep(plan, revision)
            self.done.append(self._nearest(plan))
            self._tell(plan.recorded)
            self._snapshots.clear()
        if self._planned:
            self._serve_within(self._planned[-1])
            self._keep(self._planned[-1], revision)

    def _serve_within(self, plan: _Planned) -> None:
        if self._revision >= plan.early:
            self._serve(plan.recorded.opened)

    def _keep(self, plan: _Planned, revision: int) -> None:
        """Keep the present state, if the session may have been opened in it."""
        if revision > plan.early and self._revision <= plan.late:
            self._snapshots[max(self._revision, plan.early)] = self.cache.snapshot()

    def _nearest(self, plan: _Planned) -> Rehearsed:
        """Run the session at one moment after the other, until nothing differs."""
        known = max((at for at in self._snapshots if at <= plan.nominal), default=plan.nominal)
        best: Rehearsed | None = None
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
                behaviours=self.cache.behaviours,
                now=session.opened,
                process=self._process,
                cache=_Yielding(),
                chooser=Recorded(choices),
            )
        )

    def _tell(self, session: RecordedSession) -> None:
        """Let the cache know what the recorded session decided."""
        named: dict[str, tuple[str, str]] = {}
        by_uid: dict[str, str] = {}
        for job in self.cache.jobs.values():
            for uid, task in job.tasks.items():
                named[task.key] = (job.key, uid)
                by_uid[uid] = job.key
        for pod, node in session.binds.items():
            uid = session.uids[pod]
            job_key = by_uid.get(uid)
            if job_key is not None and not self.cache.jobs[job_key].tasks[uid].node_name:
                self.cache.add_bind_task(job_key, uid, node)
        for pod, reason in session.evictions.items():
            if pod in named:
                self.cache.evict(*named[pod], reason)

    def _serve(self, time: int) -> None:
        """Deliver the Services that are known by their requests alone."""
        while self._services and self._services[-1].at <= time:
            request = self._services.pop()
            key = f"{request.reference.namespace}/{request.reference.name}"
            if request.document is not None:
                self.cache.deliver("Service", decode(KINDS["Service"], request.document))
            else:
                held = self.cache.stores.get("Service", key)
                if held is not None:
                    self.cache.deliver_deletion("Service", held)


def _compared(
    session: RecordedSession, result: SessionResult, revision: int, moved: int
) -> Rehearsed:
    binds = dict(result.binds)
    both = binds.keys() & session.binds.keys()
    return Rehearsed(
        recorded=session,
        revision=revision,
        moved=moved,
        pods=sorted(binds.keys() ^ session.binds.keys()),
        nodes=sorted(pod for pod in both if binds[pod] != session.binds[pod]),
        evictions=sorted(dict(result.evictions).keys() ^ session.evictions.keys()),
        groups=sorted(
            group
            for group, told in session.groups.items()
            if _status(result.pod_groups.get(group)) != told
        ),
    )


def _status(group: PodGroupStatus | None) -> Told | None:
    if group is None:
        return None
    conditions = tuple((c.type, c.status, c.reason, c.message) for c in group.conditions)
    return group.phase, group.running, group.succeeded, group.failed, conditions
