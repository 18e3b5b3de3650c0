"""A timeline in the Trace Event Format, which Perfetto and Chrome show: sessions and pods.

Source: the page "Trace Event Format" of the project Catapult, which Chrome's about:tracing is from.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, BinaryIO, NamedTuple

import msgspec

from ...engine.events import KINDS, Effect, Event, Reference
from ...engine.events.payloads import PodBound, SessionClosed, SessionOpened
from ...engine.log.store import Query
from ...engine.state.clock import Clock
from ...engine.state.extract import extract_fact
from ...engine.state.facts import PodFact
from ..logs.log import Log

Json = dict[str, Any]

_SCHEDULER = "scheduler"
_FINISHED = frozenset({"Succeeded", "Failed"})


class _Change(NamedTuple):
    """One change of a pod.

    :param order: its place among all changes: twice the revision.
    :param fact: of a new version. :param node: of a binding. Neither: the pod is gone.
    """

    order: int
    time: int
    pod: Reference
    fact: PodFact | None = None
    node: str = ""


def write_timeline(log: Log, out: BinaryIO) -> int:
    """Write the timeline of a log as JSON, and return how many spans it has."""
    names = _Names()
    spans = [*_sessions(log, names), *_lives(log, names)]
    document = {"displayTimeUnit": "ms", "traceEvents": [*names.events(), *spans]}
    out.write(msgspec.json.encode(document))
    return len(spans)


class _Names:
    """Numbers for the groups (processes) and lines (threads) of a timeline, with their names."""

    def __init__(self) -> None:
        self._groups: dict[str, int] = {}
        self._lines: dict[tuple[str, str], int] = {}

    def place(self, group: str, line: str) -> Json:
        """Return the place of a span."""
        pid = self._groups.setdefault(group, len(self._groups) + 1)
        return {"pid": pid, "tid": self._lines.setdefault((group, line), len(self._lines) + 1)}

    def events(self) -> Iterator[Json]:
        """Yield the events that name groups and lines."""
        for group, pid in self._groups.items():
            yield {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": group}}
        for (group, line), tid in self._lines.items():
            pid = self._groups[group]
            name = {"name": line}
            yield {"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": name}


def _span(name: str, begin: int, end: int, place: Json, args: Json) -> Json:
    return {"name": name, "ph": "X", "ts": begin, "dur": max(end - begin, 0), **place, "args": args}


def _sessions(log: Log, names: _Names) -> Iterator[Json]:
    """Yield the sessions that a scheduler's log shows from begin to end."""
    begun: dict[str, tuple[int, SessionOpened]] = {}
    for recorded in log.events(kinds=("session.opened", "session.closed")):
        event, time = recorded.event, recorded.event.observed_at
        if time is None:
            continue
        if event.kind == "session.opened":
            opened = msgspec.json.decode(event.payload, type=SessionOpened)
            begun[opened.session] = time, opened
            continue
        closed = msgspec.json.decode(event.payload, type=SessionClosed)
        # A session whose begin is not in the log has no length.
        if closed.session in begun:
            begin, opened = begun.pop(closed.session)
            args = {"session": opened.session, "jobs": opened.jobs, "queues": opened.queues}
            yield _span("session", begin, time, names.place(_SCHEDULER, "sessions"), args)


def _lives(log: Log, names: _Names) -> Iterator[Json]:
    """Yield what each pod did from its creation to its end: waits, starts, runs."""
    end = log.clock().last() or 0
    pods: dict[Reference, list[_Change]] = {}
    for change in sorted(_changes(log), key=itemgetter(0)):
        pods.setdefault(change.pod, []).append(change)
    for pod, changes in pods.items():
        yield from _life(pod, changes, end, names)


def _life(pod: Reference, changes: list[_Change], end: int, names: _Names) -> Iterator[Json]:
    facts = [change.fact for change in changes if change.fact is not None]
    if not facts:
        return
    # The last version counts, as a pod may get its PodGroup only after its creation.
    group = facts[-1].podgroup or "pods without PodGroup"
    place = names.place(f"{pod.namespace}/{group}", pod.name)
    created = facts[0].created_at
    since = changes[0].time if created is None else min(created, changes[0].time)
    phase, node, pod_phase = "waits", "", ""
    # The end of the log ends what the pod still does then.
    for change in [*changes, _Change(0, end, pod)]:
        fact, before = change.fact, node
        pod_phase = pod_phase if fact is None else fact.phase
        node = change.node or (fact.node if fact is not None else "") or node
        now = "" if fact is None and not change.node else _phase_of(pod_phase, node)
        if now == phase:
            continue
        if phase:
            yield _span(phase, since, change.time, place, {"uid": pod.uid, "node": before})
        phase, since = now, change.time


def _phase_of(phase: str, node: str) -> str:
    """Return what a pod does; nothing if it has finished."""
    if phase in _FINISHED:
        return ""
    if phase == "Running":
        return "runs"
    return "starts" if node else "waits"


def _changes(log: Log) -> Iterator[_Change]:
    """Yield the changes of all pods, in no order; those without a time are left out."""
    clock = log.clock()
    query = Query(branch=log.branch, cluster=log.cluster, objects=(("", "Pod"),))
    for recorded in log.store.read(query):
        event = recorded.event
        order, time = _time(clock, event)
        if time is None:
            continue
        gone = _Change(order, time, event.reference)
        match KINDS[event.kind].effect:
            case Effect.VERSION:
                fact = extract_fact("", "Pod", event.payload)
                assert isinstance(fact, PodFact), "the kind is Pod"
                yield gone._replace(fact=fact)
            case Effect.BOUND:
                node = msgspec.json.decode(event.payload, type=PodBound).node
                if node:
                    yield gone._replace(node=node)
            case Effect.DELETED:
                yield gone


def _time(clock: Clock, event: Event) -> tuple[int, int | None]:
    """Return the place of an event among all, and its time."""
    if event.revision is not None:
        return event.revision * 2, clock.time_of(event.revision)
    time = event.observed_at
    return (0 if time is None else clock.revision_at(time) * 2 + 1), time
