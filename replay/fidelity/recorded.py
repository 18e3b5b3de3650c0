"""The sessions that a scheduler logged, and what each of them decided, as far as a log records it.

Several inputs record a session. The scheduler's log names it and says what it tried. The API
server's audit log has its binds and evictions. PodGroups have its id in the conditions that it
wrote (``transitionID``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ...engine.events import Event, Recorded, Reference
from ...engine.events.payloads import (
    DecisionLogged,
    PodBound,
    RequestAccepted,
    RequestRefused,
    SessionOpened,
)
from ...engine.log.store import LogStore, Query
from ..moments.moment import Moment

ComparedStatus = tuple[str, int, int, int, tuple[tuple[str, str, str, str], ...]]
"""A PodGroup's phase; pods running, succeeded, failed; its conditions.

Of these type, status, reason and message.
"""

_JOB_NAME, _JOB_NAMESPACE = "volcano.sh/job-name", "volcano.sh/job-namespace"


@dataclass(slots=True)
class RecordedSession:
    """One session, as its scheduler logged it.

    :ivar opened: microseconds since 1970.
    :ivar tried: the node that was first tried for a pod, ``ns/name``.
    :ivar binds: node by pod, including binds that the API server refused. :ivar uids: of these.
    :ivar evictions: reason by pod.
    :ivar groups: the statuses of PodGroups that it wrote, by ``ns/name``.
    :ivar wrote: the lowest revision that it or a later session wrote; None if none is known.
    """

    uid: str
    opened: int
    tried: dict[str, str] = field(default_factory=dict)
    binds: dict[str, str] = field(default_factory=dict)
    uids: dict[str, str] = field(default_factory=dict)
    evictions: dict[str, str] = field(default_factory=dict)
    groups: dict[str, ComparedStatus] = field(default_factory=dict)
    wrote: int | None = None

    def note_write(self, revision: int) -> None:
        """Note a revision that the session, or a later one, wrote."""
        self.wrote = revision if self.wrote is None else min(self.wrote, revision)


def recorded_sessions(store: LogStore, moment: Moment) -> list[RecordedSession]:
    """Return the sessions that a scheduler logged, in order of their opening."""
    sessions = _logged(store, moment)
    ordered = sorted(sessions.values(), key=lambda session: session.opened)
    _add_binds(_read(store, moment, "pod.bound", "request.refused"), ordered)
    _note_bound(_read(store, moment, "pod.observed", "pod.created", "pod.updated"), ordered)
    _add_groups(_read(store, moment, "podgroup.updated"), sessions)
    for earlier, later in zip(ordered[-2::-1], ordered[::-1], strict=False):
        if later.wrote is not None:
            earlier.note_write(later.wrote)
    return ordered


def _read(store: LogStore, moment: Moment, *kinds: str) -> Iterator[Event]:
    query = Query(branch=moment.branch, cluster=moment.cluster, until=moment.known, kinds=kinds)
    recorded: Recorded
    for recorded in store.read(query):
        yield recorded.event


def _logged(store: LogStore, moment: Moment) -> dict[str, RecordedSession]:
    sessions: dict[str, RecordedSession] = {}
    for event in _read(store, moment, "session.opened", "decision.logged"):
        if event.kind == "session.opened":
            opened = msgspec.json.decode(event.payload, type=SessionOpened)
            if event.observed_at is not None:
                sessions[opened.session] = RecordedSession(opened.session, event.observed_at)
        else:
            said = msgspec.json.decode(event.payload, type=DecisionLogged)
            if said.component == "scheduler" and said.session in sessions:
                _add_decision(sessions[said.session], said)
    return sessions


def _add_decision(session: RecordedSession, said: DecisionLogged) -> None:
    if said.verb in {"allocate", "pipeline"} and said.node:
        session.tried.setdefault(said.task, said.node)
    elif said.verb == "evict":
        session.evictions[said.task] = said.reason


def _add_binds(events: Iterator[Event], sessions: Sequence[RecordedSession]) -> None:
    """Add each binding to the last session opened before it, if that session tried the pod."""
    opened = [session.opened for session in sessions]
    for event in events:
        node = _bound_to(event)
        if node is None or event.observed_at is None:
            continue
        pod = f"{event.reference.namespace}/{event.reference.name}"
        place = bisect_right(opened, event.observed_at) - 1
        if place >= 0 and pod in sessions[place].tried:
            session = sessions[place]
            session.binds[pod] = node or session.tried[pod]
            session.uids[pod] = event.reference.uid


def _bound_to(event: Event) -> str | None:
    """Return the node of a binding, empty if it is not known; None if the event is no binding."""
    if event.kind == "pod.bound":
        return msgspec.json.decode(event.payload, type=PodBound).node
    refused = msgspec.json.decode(event.payload, type=RequestRefused)
    return "" if refused.subresource == "binding" else None


def _note_bound(events: Iterator[Event], sessions: Sequence[RecordedSession]) -> None:
    """Note the first versions of pods that show what sessions bound."""
    by_uid = {uid: session for session in sessions for uid in session.uids.values()}
    for event in events:
        session = by_uid.get(event.reference.uid)
        if session is not None and event.revision is not None:
            spec = msgspec.json.decode(event.payload).get("spec") or {}
            if spec.get("nodeName"):
                session.note_write(event.revision)


def _add_groups(events: Iterator[Event], sessions: dict[str, RecordedSession]) -> None:
    """Add to every session the first version of each PodGroup that has its id."""
    first: dict[tuple[str, str], int] = {}
    for event in events:
        if event.revision is None:
            continue
        status = msgspec.json.decode(event.payload).get("status") or {}
        group = f"{event.reference.namespace}/{event.reference.name}"
        for condition in status.get("conditions") or ():
            session = sessions.get(condition.get("transitionID", ""))
            if session is None:
                continue
            key = (session.uid, group)
            if event.revision <= first.get(key, event.revision):
                first[key] = event.revision
                session.groups[group] = _compared(status)
                session.note_write(event.revision)


def _compared(status: dict[str, Any]) -> ComparedStatus:
    return (
        status.get("phase", ""),
        status.get("running", 0),
        status.get("succeeded", 0),
        status.get("failed", 0),
        tuple(
            (each["type"], each["status"], each.get("reason", ""), each.get("message", ""))
            for each in status.get("conditions") or ()
        ),
    )


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
