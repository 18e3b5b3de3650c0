"""Logs of vc-scheduler and vc-controller-manager: what these processes say they did, and when.

All of it is observation of a component, never truth: a logged decision may have been undone (a
``Binding Task`` is printed before the gang is complete).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import BinaryIO

from ...events import Event, Reference, canonical_json
from ...events.payloads import (
    ActionMarked,
    CacheDumped,
    CleanupRetried,
    DecisionLogged,
    MessageLogged,
    Payload,
    ProcessPanicked,
    ProcessStarted,
    SessionClosed,
    SessionOpened,
)
from ..reading.formats import Context
from ..reading.klog import CRASH, HEADER, STAMP
from .klog_entries import KlogEntry, entries, is_panic
from .klog_texts import (
    ACTION,
    ACTION_STARTS,
    CLEANUPS,
    CLOSED,
    COMPONENT_FLAGS,
    DECISIONS,
    FLAG,
    OPENED,
    OWN_LINES,
    OWN_PACKAGE,
    SNAPSHOT,
    WORTH_KEEPING,
    decision,
)

MAX_DUMP = 32 * 2**20
"""Characters of one dump of the scheduler's cache that are stored."""

_MOST_FLAGS = 1000
"""The most that one process prints; Volcano's have about 60."""

_NOT_READ = "info line of a Go file that logs no decisions"
_NO_DECISION = "info line that is no decision"
_COUNTED = "info line: its number of nodes is kept with the next session"
"""Why an entry of severity I gives no event."""

_NAMED = (("sched", "scheduler"), ("controller", "controllers"), ("webhook", "webhooks"))
_PANIC_VALUE = re.compile(r'"Observed a panic" panic="(?P<value>(?:[^"\\]|\\.)*)"')


class SchedulerLog:
    """Reads klog text of Volcano's components."""

    name = "klog"

    def sniff(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - any name will do
        """Recognise klog headers, and a text that only Volcano's components log."""
        headed = any(_has_header(line) for line in head.split(b"\n", 200)[:200])
        return headed and OWN_LINES.search(head) is not None

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield what was logged, in the log's order.

        :raises InputError: the log's year is not known.
        """
        reader = _Reader(context)
        for entry in entries(stream, context):
            yield from reader.read(entry)
        yield from reader.finish()


class PanicText(SchedulerLog):
    """Reads the panic of one of Volcano's components that was cut out of its log.

    It has the stack that Go prints, and no line with a header of klog.
    """

    name = "panic"

    def sniff(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - any name will do
        """Recognise the begin of a crash whose stack names a package of Volcano."""
        begins = any(_begins_crash(line) for line in head.split(b"\n", 200)[:200])
        return begins and OWN_LINES.search(head) is not None


def _has_header(line: bytes) -> bool:
    return HEADER.match(line, _begin_of(line)) is not None


def _begins_crash(line: bytes) -> bool:
    return CRASH.match(line, _begin_of(line)) is not None


def _begin_of(line: bytes) -> int:
    """Return where a line begins, after the time that kubectl or a collector put before it."""
    stamp = STAMP.match(line)
    return stamp.end() if stamp else 0


class _Reader:
    """Reads one log; keeps track of the process, session and action of a line."""

    def __init__(self, context: Context) -> None:
        self._context = context
        name = context.source.rpartition("/")[2].lower()
        self._component = next((part for mark, part in _NAMED if mark in name), "")
        self._session = ""
        self._action = ""
        self._nodes: int | None = None
        self._flags: dict[str, str] = {}
        self._started: KlogEntry | None = None
        self._panic = ""
        self._dump: list[str] = []
        self._dump_size = 0
        self._dumped: KlogEntry | None = None

    def read(self, entry: KlogEntry) -> Iterator[Event]:
        """Yield the events of one entry."""
        flag = FLAG.match(entry.message) if entry.file == b"flags.go" else None
        if flag:
            # Flags begin a process: of the one before nothing more comes.
            if self._started is None:
                yield from self.finish()
                self._started = entry
            if len(self._flags) < _MOST_FLAGS:
                self._flags[flag["name"]] = flag["value"]
            return
        if self._started is not None:
            yield self._process_started(self._started)
        # Before the Go file counts: any file may log a panic.
        if is_panic(entry):
            yield from self._panicked(entry)
        elif entry.file == b"dumper.go" and not WORTH_KEEPING.match(entry.message):
            yield from self._dump_part(entry)
        elif entry.severity == "I" and entry.file not in _READ_FILES:
            self._context.skip(_NOT_READ, line=entry.line)
        else:
            yield from self._events_of(entry)

    def finish(self) -> Iterator[Event]:
        """Yield what was not complete yet: a dump, a process' flags."""
        if self._dumped is not None:
            yield self._cache_dumped(self._dumped)
        if self._started is not None:
            yield self._process_started(self._started)

    def _events_of(self, entry: KlogEntry) -> Iterator[Event]:
        message = entry.message
        if entry.file == b"session.go" and (marked := self._session_mark(entry)):
            yield marked
            return
        if entry.file == b"cache.go":
            if snapshot := SNAPSHOT.match(message):
                self._nodes = int(snapshot[1] or snapshot[2])
                self._context.skip(_COUNTED, line=entry.line)
                return
            if cleanup := CLEANUPS.match(message):
                yield self._cleanup(entry, cleanup)
                return
        marks = list(self._action_marks(entry))
        yield from marks
        decided = decision(entry.file, message, self._component, self._session)
        if decided is not None:
            yield self._event(entry, "decision.logged", decided, _object_of(decided))
        elif entry.severity != "I" or WORTH_KEEPING.match(message):
            yield self._message(entry)
        elif not marks:
            self._context.skip(_NO_DECISION, line=entry.line)

    def _session_mark(self, entry: KlogEntry) -> Event | None:
        if opened := OPENED.match(entry.message):
            self._session, self._action = opened["session"], ""
            payload = SessionOpened(
                session=self._session,
                jobs=int(opened["jobs"]),
                queues=int(opened["queues"]),
                nodes=self._nodes,
            )
            # The number is that of one snapshot, so the next session does not have it.
            self._nodes = None
            return self._event(entry, "session.opened", payload)
        if closed := CLOSED.match(entry.message):
            self._session = self._action = ""
            return self._event(entry, "session.closed", SessionClosed(session=closed["session"]))
        return None

    def _action_marks(self, entry: KlogEntry) -> Iterator[Event]:
        """Yield an action's begin or end; at verbosity 3 its first message counts as its begin."""
        start = ACTION_STARTS.get(entry.file)
        if mark := ACTION.match(entry.message):
            action = mark["action"].lower()
            entered = mark["verb"] == "Enter"
            self._action = action if entered else ""
            kind = "action.entered" if entered else "action.left"
            yield self._event(entry, kind, ActionMarked(session=self._session, action=action))
        # At verbosity 5 the action was entered before, and is not entered twice.
        elif start and start[0] != self._action and start[1].match(entry.message):
            self._action = start[0]
            payload = ActionMarked(session=self._session, action=self._action)
            yield self._event(entry, "action.entered", payload)

    def _cleanup(self, entry: KlogEntry, match: re.Match[str]) -> Event:
        job = match["job"] or ""
        payload = CleanupRetried(component=self._component, job=job, message=entry.message)
        return self._event(entry, "cleanup.retried", payload, _podgroup(job))

    def _message(self, entry: KlogEntry) -> Event:
        payload = MessageLogged(
            component=self._component,
            severity=entry.severity,
            at=entry.at,
            message=entry.text(),
            session=self._session,
        )
        return self._event(entry, "message.logged", payload)

    def _panicked(self, entry: KlogEntry) -> Iterator[Event]:
        """Yield a panic once: an observed panic is printed again when the process exits."""
        value = _PANIC_VALUE.match(entry.message)
        message = entry.message.removeprefix("Observed a panic: ").removeprefix("panic: ")
        if value:
            message = value["value"].replace('\\"', '"')
        # Only the second print has no header, and so no severity.
        if not entry.severity and self._panic and message.startswith(self._panic):
            self._context.skip("panic that was printed before", line=entry.line)
            return
        self._panic = message
        stack = "\n".join(entry.rest).strip("\n")
        payload = ProcessPanicked(
            component=self._component or _component_in(f"{message}\n{stack}"),
            message=message,
            stack=stack,
            session=self._session,
        )
        yield self._event(entry, "process.panicked", payload)

    def _process_started(self, first: KlogEntry) -> Event:
        for flag, component in COMPONENT_FLAGS.items():
            if flag in self._flags:
                self._component = component
                break
        payload = ProcessStarted(component=self._component, flags=self._flags)
        self._flags, self._started = {}, None
        self._session = self._action = self._panic = ""
        return self._event(first, "process.started", payload)

    def _dump_part(self, entry: KlogEntry) -> Iterator[Event]:
        """Collect a dump's entries: headings, a node or a job each, and the memory at the end."""
        # Of the dump before, the last line is missing: it was cut off.
        if entry.message.startswith("Dump of nodes") and self._dumped is not None:
            yield self._cache_dumped(self._dumped)
        if self._dumped is None:
            self._dumped = entry
        if self._dump_size <= MAX_DUMP:
            self._dump.append(entry.text())
            self._dump_size += len(self._dump[-1])
        if entry.message.startswith("volcano scheduler memory stat"):
            yield self._cache_dumped(self._dumped)

    def _cache_dumped(self, first: KlogEntry) -> Event:
        payload = CacheDumped(
            component=self._component or "scheduler",
            part="text",
            index=0,
            layout="text",
            content="\n".join(part for part in self._dump if part),
        )
        self._dump, self._dump_size, self._dumped = [], 0, None
        return self._event(first, "cache.dumped", payload)

    def _event(
        self, entry: KlogEntry, kind: str, payload: Payload, about: Reference | None = None
    ) -> Event:
        return Event(
            kind=kind,
            reference=about or Reference(),
            payload=canonical_json(payload),
            earliest=entry.observed_at,
            latest=entry.observed_at,
            source=self._context.source,
            line=entry.line,
            cluster=self._context.cluster,
        )


def _component_in(stack: str) -> str:
    """Return the component whose code a stack names; empty if it names none."""
    package = OWN_PACKAGE.search(stack)
    return "" if package is None else _PARTS[package["part"]]


_PARTS = MappingProxyType(
    {"scheduler": "scheduler", "controller": "controllers", "webhook": "webhooks"}
)
_READ_FILES = frozenset(
    {
        *DECISIONS,
        *ACTION_STARTS,
        b"session.go",
        b"scheduler.go",
        b"dumper.go",
        b"gangpreempt.go",
        b"gangreclaim.go",
    }
)
"""Go files whose messages of severity I are read; the others are skipped quickly."""


def _object_of(decided: DecisionLogged) -> Reference:
    """Return the pod (by task), or else the PodGroup (by job), of a decision."""
    namespace, slash, name = decided.task.partition("/")
    if slash:
        return Reference("", "Pod", namespace, name)
    return _podgroup(decided.job)


def _podgroup(job: str) -> Reference:
    """Return the PodGroup of a job in the scheduler's cache: they have the same key."""
    namespace, slash, name = job.partition("/")
    if not slash:
        return Reference()
    return Reference("scheduling.volcano.sh", "PodGroup", namespace, name)


FORMAT, PANIC = SchedulerLog(), PanicText()
