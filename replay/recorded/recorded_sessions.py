"""The sessions that a scheduler ran, and what each of them decided, as far as a log records it.

Several inputs record a session. The scheduler's log names it and says what it tried. The API
server's audit log has its binds; a watch has them as the first version of a pod with a node.
PodGroups have its id in the conditions that it wrote (``transitionID``). Writes that belong to no
logged session are grouped: see :mod:`.inferred_sessions`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

import msgspec

from ...engine.cache.projector import options_of
from ...engine.cache.scheduler_flags import CacheOptions
from ...engine.events import Event, Recorded
from ...engine.events.payloads import (
    DecisionLogged,
    MessageLogged,
    PodBound,
    ProcessPanicked,
    ProcessStarted,
    RequestRefused,
    SessionClosed,
    SessionOpened,
)
from ...engine.log.store import LogStore, Query
from ...engine.state.clock import Clock, TimeSpan
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from ..moments.verbs import with_verbs
from .inferred_sessions import SchedulerWrite, grouped
from .written_groups import KINDS as GROUP_KINDS
from .written_groups import (
    ComparedStatus,
    GroupVersion,
    versions_of,
    with_session,
    without_session,
)

_LATE = 3
"""A binding is sent at most so many sessions later: while the session or the next ones run."""

_SCHEDULER = "scheduler"
BELOW = "pkg/scheduler/"
"""What the scheduler's functions are below in a stack."""

_FAILED_UPDATE = re.compile(r"Failed to update job <([^>]+)>: ")
"""Source: pkg/scheduler/framework/job_updater.go."""

_POD_VERSIONS = ("pod.observed", "pod.created", "pod.updated")


class HowKnown(StrEnum):
    """How a session is known."""

    LOGGED = "logged"
    """The scheduler's log has its beginning, or it is a step of a scenario."""
    INFERRED = "inferred"
    """Only its writes are known: it began before the first of them."""


@dataclass(slots=True)
class RecordedSession:
    """One session.

    :ivar uid: its id; empty if it is not known.
    :ivar opened: microseconds since 1970; of an inferred session, the time of its first write.
    :ivar after: of an inferred session: it began after this time; None if that is not known.
    :ivar closed: when it ended; None if that is not known.
    :ivar position: of the event that shows it. :ivar revision: a scenario's, which is exact.
    :ivar jobs: and :ivar queues:, :ivar nodes: as the scheduler counted them; None if that is not
        known.
    :ivar tried: the node that was first tried for a pod, ``ns/name``.
    :ivar binds: node by pod, including binds that the API server refused. :ivar uids: of these.
    :ivar evictions: reason by pod.
    :ivar groups: the statuses of PodGroups that it wrote, by ``ns/name``.
    :ivar victims: by action, in order: a pod, and the one that was tried as its victim.
    :ivar refused: PodGroups that it could not write: they were deleted or changed meanwhile, or no
        API server answered.
    :ivar places: by pod or PodGroup, the position of the event that shows what was decided.
    :ivar panic: the message with which the scheduler panicked in it; empty if none is recorded.
    :ivar wrote: the lowest revision that it or a later session wrote; None if none is known.
    """

    uid: str
    opened: int
    position: int = 0
    how: HowKnown = HowKnown.LOGGED
    after: int | None = None
    closed: int | None = None
    revision: int | None = None
    jobs: int | None = None
    queues: int | None = None
    nodes: int | None = None
    tried: dict[str, str] = field(default_factory=dict)
    binds: dict[str, str] = field(default_factory=dict)
    uids: dict[str, str] = field(default_factory=dict)
    evictions: dict[str, str] = field(default_factory=dict)
    groups: dict[str, ComparedStatus] = field(default_factory=dict)
    victims: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    places: dict[str, int] = field(default_factory=dict)
    panic: str = ""
    wrote: int | None = None

    @property
    def evictions_known(self) -> bool:
        """Whether the log says what it evicted: only the scheduler's log does."""
        return self.how is HowKnown.LOGGED

    def note_write(self, revision: int) -> None:
        """Note a revision that the session, or a later one, wrote."""
        self.wrote = revision if self.wrote is None else min(self.wrote, revision)


def recorded_sessions(store: LogStore, moment: Moment) -> list[RecordedSession]:
    """Return the sessions that are known by a moment's position, in order of their opening."""
    return _Reader(store, moment).sessions()


def last_known(session: RecordedSession, clock: Clock, later: int = 0) -> int:
    """Return the last revision that a session may have known.

    It is the last one by the session's beginning, and before what it or a later session wrote.

    :param later: microseconds that are added to its beginning.
    """
    if session.revision is not None:
        return session.revision
    known = clock.revision_at(session.opened + later)
    return known if session.wrote is None else min(known, session.wrote - 1)


def of_scheduler(said: ProcessPanicked) -> bool:
    """Return whether it was the scheduler: by the log's component, or by the stack."""
    return said.component == _SCHEDULER or (not said.component and BELOW in said.stack)


def fork_of(store: LogStore, moment: Moment) -> int:
    """Return the position at which the branch of a moment begins; 0 if it continues no other."""
    return next((branch.fork for branch in store.branches() if branch.name == moment.branch), 0)


class _Reader:
    """Reads what a log says of sessions."""

    def __init__(self, store: LogStore, moment: Moment) -> None:
        self._store, self._moment = store, moment
        self._clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
        self._bound_at: dict[str, _FirstBound] = {}
        self._schedulers: dict[str, str] = {}
        self._writes: list[SchedulerWrite] = []
        self._fork = fork_of(store, moment)

    def sessions(self) -> list[RecordedSession]:
        """Return the sessions in order."""
        named = self._logged()
        ordered = sorted(named.values(), key=lambda session: session.opened)
        # Pods come before binds: a pod says which scheduler binds it. Sessions are inferred last,
        # from the binds and PodGroups that no logged session wrote.
        self._read_pods()
        self._add_binds(ordered)
        self._add_groups(named, ordered)
        self._note_refused(ordered)
        self._note_failed(named)
        self._note_panics(ordered)
        stepped = list(self._of_scenario())
        inferred = [_inferred(group, self._clock) for group in grouped(self._writes)]
        every = sorted(chain(ordered, stepped, inferred), key=lambda session: session.opened)
        self._note_bound(every)
        # No session knew what a later one wrote, so the lowest revision passes on to earlier ones.
        for earlier, later in zip(every[-2::-1], every[::-1], strict=False):
            if later.wrote is not None:
                earlier.note_write(later.wrote)
        return every

    def _read(self, *kinds: str) -> Iterator[Recorded]:
        moment = self._moment
        query = Query(branch=moment.branch, cluster=moment.cluster, until=moment.known, kinds=kinds)
        return iter(self._store.read(query))

    def _logged(self) -> dict[str, RecordedSession]:
        sessions: dict[str, RecordedSession] = {}
        for recorded in self._read("session.opened", "session.closed", "decision.logged"):
            event = recorded.event
            if event.kind == "session.opened":
                opened = msgspec.json.decode(event.payload, type=SessionOpened)
                if event.observed_at is not None:
                    sessions[opened.session] = RecordedSession(
                        opened.session,
                        event.observed_at,
                        recorded.position,
                        jobs=opened.jobs,
                        queues=opened.queues,
                        nodes=opened.nodes,
                    )
            elif event.kind == "session.closed":
                uid = msgspec.json.decode(event.payload, type=SessionClosed).session
                if uid in sessions:
                    sessions[uid].closed = event.observed_at
            else:
                said = msgspec.json.decode(event.payload, type=DecisionLogged)
                if said.component == "scheduler" and said.session in sessions:
                    _add_decision(sessions[said.session], said, recorded.position)
        return sessions

    def _of_scenario(self) -> Iterator[RecordedSession]:
        """Yield the sessions that a scenario asks for."""
        for recorded in self._read("session.requested"):
            revision = recorded.event.revision
            time = recorded.event.observed_at or self._clock.time_of(revision) or 0
            yield RecordedSession("", time, recorded.position, revision=revision)

    def _read_pods(self) -> None:
        """Note of each pod its scheduler, and its first version that has a node."""
        for recorded in with_verbs(self._store, self._moment, self._read(*_POD_VERSIONS)):
            event = recorded.event
            uid = event.reference.uid
            first = self._bound_at.get(uid)
            if event.revision is None or (first is not None and first.revision <= event.revision):
                continue
            spec = msgspec.json.decode(event.payload, type=_PodVersion).spec
            self._schedulers[uid] = spec.scheduler_name
            if spec.node_name:
                self._bound_at[uid] = _FirstBound(
                    recorded.position,
                    event.revision,
                    f"{event.reference.namespace}/{event.reference.name}",
                    spec.node_name,
                    updated=event.kind == "pod.updated",
                )

    def _add_binds(self, sessions: Sequence[RecordedSession]) -> None:
        """Add each binding to the last session before it that tried the pod.

        It is the one that was opened last, or an earlier one, as binds are sent while the next
        session runs. Others become writes of sessions that are inferred.
        """
        opened = [session.opened for session in sessions]
        names = self._scheduler_names()
        audited = list(self._audited_binds(names))
        requested = {bind.uid for bind in audited}
        seen = (bind for bind in self._seen_binds(names) if bind.uid not in requested)
        for bind in sorted(chain(audited, seen)):
            before = bisect_right(opened, bind.by)
            late = sessions[max(0, before - _LATE) : before]
            if bind.position > self._fork:  # No session of the parent wrote on the branch.
                late = [session for session in late if session.position > self._fork]
            session = _that_tried(late, bind.pod)
            if session is not None:
                session.binds[bind.pod] = bind.node or session.tried[bind.pod]
                session.uids[bind.pod] = bind.uid
                session.places[bind.pod] = bind.position
            elif bind.ours:
                self._writes.append(
                    SchedulerWrite(
                        bind.time, bind.position, "bind", bind.pod, node=bind.node, uid=bind.uid
                    )
                )

    def _audited_binds(self, names: Sequence[str]) -> Iterator[_Bind]:
        """Yield the bindings that were requested, as an audit log has them."""
        for recorded in self._read("pod.bound", "request.refused"):
            event = recorded.event
            node, time = _bound_to(event), event.observed_at
            if node is not None and time is not None:
                pod, uid = (
                    f"{event.reference.namespace}/{event.reference.name}",
                    event.reference.uid,
                )
                ours = self._is_ours(event, names)
                yield _Bind(time, pod, uid, node, recorded.position, time, ours=ours)

    def _seen_binds(self, names: Sequence[str]) -> Iterator[_Bind]:
        """Yield the bindings that the pod's next version shows, as a watch has it."""
        updated = [(uid, first) for uid, first in self._bound_at.items() if first.updated]
        spans = self._clock.spans([first.revision for _, first in updated])
        times = self._clock.times_of([first.revision for _, first in updated])
        for (uid, first), span, time in zip(updated, spans, times, strict=True):
            if time is not None and self._schedulers[uid] in names:
                by = time if span.latest is None else span.latest
                yield _Bind(time, first.pod, uid, first.node, first.position, by, ours=True)

    def _scheduler_names(self) -> Sequence[str]:
        """Return the names under which pods ask for this scheduler."""
        names: Sequence[str] = CacheOptions().scheduler_names
        for recorded in self._read("process.started"):
            started = msgspec.json.decode(recorded.event.payload, type=ProcessStarted)
            if started.component == "scheduler":
                names = options_of(started.flags).scheduler_names
        return names

    def _is_ours(self, event: Event, names: Sequence[str]) -> bool:
        """Return whether a binding is by this scheduler; without the pod, its user decides."""
        named = self._schedulers.get(event.reference.uid)
        return "volcano" in event.actor if named is None else named in names

    def _add_groups(
        self, named: Mapping[str, RecordedSession], ordered: Sequence[RecordedSession]
    ) -> None:
        """Add to every session the statuses of PodGroups that it wrote.

        Those with its id are certain. Others that only a scheduler writes belong to the session
        that was running, as it writes them when it ends.
        """
        groups = versions_of(with_verbs(self._store, self._moment, self._read(*GROUP_KINDS)))
        first = list(with_session(groups))
        times = self._clock.times_of([version.revision for _, version in first])
        for (uid, version), time in zip(first, times, strict=True):
            session = named.get(uid)
            if session is not None:
                session.groups[version.name] = version.status
                session.places[version.name] = version.position
                session.note_write(version.revision)
            elif time is not None:
                self._writes.append(_group_write(time, uid, version))
        if not ordered:
            return
        others = list(without_session(groups))
        revisions = [version.revision for version in others]
        spans, times = self._clock.spans(revisions), self._clock.times_of(revisions)
        for version, span, time in zip(others, spans, times, strict=True):
            session = None if time is None else _running(ordered, time, span)
            if session is not None:
                session.groups.setdefault(version.name, version.status)
                session.places.setdefault(version.name, version.position)

    def _note_refused(self, sessions: Sequence[RecordedSession]) -> None:
        """Note PodGroups that were deleted, or whose update was refused, while a session ran."""
        opened = [session.opened for session in sessions]
        for recorded in self._read("request.refused", "podgroup.deleted"):
            event = recorded.event
            if event.reference.kind == "PodGroup" and event.observed_at is not None:
                place = bisect_right(opened, event.observed_at) - 1
                if place >= 0 and event.observed_at <= (sessions[place].closed or 0):
                    name = f"{event.reference.namespace}/{event.reference.name}"
                    sessions[place].refused.add(name)

    def _note_failed(self, named: Mapping[str, RecordedSession]) -> None:
        """Note PodGroups whose update failed as the scheduler says, for whatever reason."""
        for recorded in self._read("message.logged") if named else ():
            said = msgspec.json.decode(recorded.event.payload, type=MessageLogged)
            session = named.get(said.session)
            if session is not None and (failed := _FAILED_UPDATE.match(said.message)):
                session.refused.add(failed[1])

    def _note_panics(self, sessions: Sequence[RecordedSession]) -> None:
        """Note the panics of the scheduler while a session ran."""
        opened = [session.opened for session in sessions]
        for recorded in self._read("process.panicked") if sessions else ():
            time = recorded.event.observed_at
            said = msgspec.json.decode(recorded.event.payload, type=ProcessPanicked)
            place = -1 if time is None else bisect_right(opened, time) - 1
            if place < 0 or time is None or not of_scheduler(said):
                continue
            closed = sessions[place].closed
            if closed is None or time <= closed:
                sessions[place].panic = said.message

    def _note_bound(self, sessions: Sequence[RecordedSession]) -> None:
        """Note the first versions of pods that show what sessions bound."""
        for session in sessions:
            for uid in session.uids.values():
                version = self._bound_at.get(uid)
                if version is not None:
                    session.note_write(version.revision)


class _FirstBound(NamedTuple):
    """The first version of a pod that has a node.

    :param updated: an update shows it, not a list. :param pod: ``ns/name``.
    """

    position: int
    revision: int
    pod: str
    node: str
    updated: bool


class _Bind(NamedTuple):
    """A binding of a pod, in order of time.

    :param time: when, by the best estimate. :param pod: ``ns/name``. :param node: empty if it is
        not known. :param by: when it was made at the latest. :param ours: this scheduler made it.
    """

    time: int
    pod: str
    uid: str
    node: str
    position: int
    by: int
    ours: bool


class _PodSpec(msgspec.Struct, rename="camel"):
    """The part of a pod's spec that sessions are recognised by."""

    node_name: str = ""
    scheduler_name: str = ""


class _PodVersion(msgspec.Struct):
    """A version of a pod, as far as it is read here."""

    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)


def _running(
    sessions: Sequence[RecordedSession], time: int, span: TimeSpan
) -> RecordedSession | None:
    """Return the session that ran at a time, or else may have been running within its bounds.

    A watch shows what a session writes at its end a little later.
    """
    for earliest, latest in ((time, time), (span.earliest, span.latest)):
        if earliest is not None and latest is not None:
            place = bisect_right(sessions, latest, key=lambda session: session.opened) - 1
            if place >= 0 and earliest <= (sessions[place].closed or 0):
                return sessions[place]
    return None


def _that_tried(sessions: Sequence[RecordedSession], pod: str) -> RecordedSession | None:
    """Return the last of some sessions that tried a pod and has not bound it yet."""
    tried = (
        session
        for session in reversed(sessions)
        if pod in session.tried and pod not in session.binds
    )
    return next(tried, None)


def _add_decision(session: RecordedSession, said: DecisionLogged, position: int) -> None:
    if said.verb in {"allocate", "pipeline"} and said.node:
        session.tried.setdefault(said.task, said.node)
    elif said.verb in {"preempt", "reclaim"}:
        session.victims.setdefault(said.verb, []).append((said.reason, said.task))
    elif said.verb == "evict":
        session.evictions[said.task] = said.reason
        session.places[said.task] = position


def _bound_to(event: Event) -> str | None:
    """Return the node of a binding, empty if it is not known; None if the event is no binding."""
    if event.kind == "pod.bound":
        return msgspec.json.decode(event.payload, type=PodBound).node
    refused = msgspec.json.decode(event.payload, type=RequestRefused)
    return "" if refused.subresource == "binding" else None


def _group_write(time: int, uid: str, version: GroupVersion) -> SchedulerWrite:
    return SchedulerWrite(
        time,
        version.position,
        "group",
        version.name,
        uid,
        revision=version.revision,
        status=version.status,
    )


def _inferred(writes: Sequence[SchedulerWrite], clock: Clock) -> RecordedSession:
    """Return the session that made some writes."""
    first = writes[0]
    named = next((write.uid for write in writes if write.what == "group"), "")
    session = RecordedSession(
        named, first.time, first.position, HowKnown.INFERRED, after=first.after
    )
    session.closed = writes[-1].time
    for write in writes:
        session.places[write.name] = write.position
        if write.what == "bind":
            session.binds[write.name] = session.tried[write.name] = write.node
            session.uids[write.name] = write.uid
        else:
            assert write.status is not None, "the status of a PodGroup is what was written"
            session.groups[write.name] = write.status
            session.note_write(write.revision or clock.revision_at(write.time))
    return session
