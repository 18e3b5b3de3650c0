"""Scenario files: a short history of a cluster, with marks where a scheduling session runs.

The file leaves out what an API server fills in; :class:`.apiserver.Store` fills it in.
Every event and every mark gets the next revision, so the log has their order, and a session can run
between two versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from ...errors import EventMalformed
from ...events import Event, Reference, canonical_json
from ...events.payloads import ControlMarked, Payload, ScenarioDeclared, SessionRequested
from ...kubernetes.object_store import Document, Store, default_queue, fault_of
from ...kubernetes.scheduler_confs import parse_conf
from ...kubernetes.yaml import YamlFault
from ...nesting import TOO_DEEP, hold_depth
from ..objects.derived_facts import extra_events
from ..objects.scheduler_conf import config_event
from ..objects.version_events import version_event
from ..reading.formats import Context
from ..reading.json_text import DECODE_FAULTS
from ..reading.sizes import hold_values
from .scenario_inputs import RECORD_TYPES, parse_record, record_event

MAX_BYTES = 64 * 2**20

_CONTROLS = frozenset(
    {
        "RESTART",
        "CLEANUP_HOLD",
        "CLEANUP_STEP",
        "CLEANUP_RUN",
        "CLEANUP_BEGIN",
        "CLEANUP_END",
    }
)
_CHANGES = frozenset({"ADDED", "MODIFIED", "DELETED"})
_OWN = re.compile(rb'"steps"\s*:\s*\[')
_CHANGE = re.compile(rb'"events"\s*:\s*\[\s*\{')


class Scenario:
    """Reads a ``NAME.case.json``."""

    name = "scenario"

    def sniff(self, head: bytes, name: str) -> bool:
        """Recognise JSON with steps of events (a result has steps without)."""
        if not head.lstrip().startswith(b"{"):
            return False
        is_case = name.endswith((".case.json", ".case.json.gz", ".case.json.xz", ".case.json.zst"))
        return _OWN.search(head) is not None and (is_case or _CHANGE.search(head) is not None)

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield each step's configuration, changes and marks; a line is the number of the step."""
        data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            context.reject("a scenario of more than 64 MiB", line=1)
            return
        try:
            hold_values(data)
            scenario = msgspec.json.decode(data, type=dict[str, Any])
        except EventMalformed as fault:
            context.reject(fault.what, line=1)
            return
        except DECODE_FAULTS as fault:
            context.reject(f"no scenario: {fault}", line=1)
            return
        yield from _Reader(context).read(scenario)


class _Reader:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = Store()

    def read(self, scenario: Document) -> Iterator[Event]:
        options = scenario.get("options")
        if not (isinstance(options, dict) and options.get("noDefaultQueues")):
            yield from self._default_queues()
        if conf := scenario.get("conf"):
            yield from self._config(conf, 1, "$.conf")
        steps = scenario.get("steps")
        if not isinstance(steps, list):
            self._context.reject("expected a list", line=1, path="$.steps")
            return
        for number, step in enumerate(steps, start=1):
            path = f"$.steps[{number - 1}]"
            if isinstance(step, dict):
                yield from self._step(step, number, path)
            else:
                self._context.reject("expected an object", line=number, path=path)
        # With a record that was skipped, the history is not all that the scenario says.
        if not self._context.skipped.get("malformed"):
            declared = ScenarioDeclared(until=self._store.next_revision() - 1)
            self._context.span(0, Reference(kind="Scenario"), declared)

    def _default_queues(self) -> Iterator[Event]:
        """Create the queues that a scheduler creates when it starts."""
        for name in ("default", "root"):
            yield from self._change("ADDED", default_queue(name), 1, "")
        self._context.notes.append(
            "queues default and root are created first; schedulers before v1.11 have no root"
        )

    def _step(self, step: Document, number: int, path: str) -> Iterator[Event]:
        if "conf" in step:
            yield from self._config(step["conf"], number, f"{path}.conf")
        changes = step.get("events") or []
        if not isinstance(changes, list):
            self._context.reject("expected a list", line=number, path=f"{path}.events")
            changes = []
        for place, change in enumerate(changes):
            yield from self._event(change, number, f"{path}.events[{place}]")
        if not step.get("noSession"):
            yield self._mark("session.requested", SessionRequested(step=number), number)

    def _event(self, change: Any, number: int, path: str) -> Iterator[Event]:
        if not isinstance(change, dict):
            self._context.reject("expected an object", line=number, path=path)
            return
        try:
            hold_depth(change.get("object"))
            hold_depth(change.get("answer"))
        except RecursionError:
            self._context.reject(TOO_DEEP, line=number, path=path)
            return
        change_type = change.get("type")
        if not isinstance(change_type, str):
            self._context.reject("expected a string", line=number, path=f"{path}.type")
        elif change_type in _CONTROLS:
            control = ControlMarked(control=change_type, step=number)
            yield self._mark("control.marked", control, number)
        elif change_type in RECORD_TYPES:
            yield from self._record(change, number, path)
        elif change_type not in _CHANGES:
            self._context.reject(f"unknown type {change_type!r}", line=number, path=f"{path}.type")
        elif fault := fault_of(change.get("object")):
            self._context.reject(fault, line=number, path=f"{path}.object")
        else:
            yield from self._change(change_type, change["object"], number, f"{path}.object")

    def _change(
        self, change_type: str, document: Document, number: int, path: str
    ) -> Iterator[Event]:
        try:
            verb = self._store.apply(change_type, document)
            event = version_event(
                document,
                verb=verb,
                source=self._context.source,
                line=number,
                cluster=self._context.cluster,
            )
        except KeyError:
            fault = f"{document['kind']} {document['metadata']['name']} is deleted but never added"
            self._context.reject(fault, line=number, path=path)
        except EventMalformed as fault:
            self._context.reject(fault.problem, line=number, path=fault.path_from(path))
        else:
            # The order is the time of a scenario; times in its objects are part of the scenario.
            event = msgspec.structs.replace(event, earliest=None)
            yield event
            for extra in extra_events(document, event):
                yield self._placed(extra)

    def _record(self, record: Document, number: int, path: str) -> Iterator[Event]:
        try:
            parsed = parse_record(record)
        except EventMalformed as fault:
            self._context.reject(fault.problem, line=number, path=fault.path_from(path))
            return
        context = self._context
        event = record_event(parsed, source=context.source, line=number, cluster=context.cluster)
        yield self._placed(event)

    def _config(self, text: Any, number: int, path: str) -> Iterator[Event]:
        if not isinstance(text, str):
            self._context.reject("expected a string", line=number, path=path)
            return
        try:
            parsed = parse_conf(text)
        except YamlFault:
            parsed = None  # The scheduler reads it all the same, and reports the fault.
        event = config_event(
            text, parsed, source=self._context.source, line=number, cluster=self._context.cluster
        )
        yield self._placed(event)

    def _mark(self, kind: str, payload: Payload, number: int) -> Event:
        return self._placed(
            Event(
                kind=kind,
                reference=Reference(),
                payload=canonical_json(payload),
                source=self._context.source,
                line=number,
                cluster=self._context.cluster,
            )
        )

    def _placed(self, event: Event) -> Event:
        revision = self._store.next_revision()
        return msgspec.structs.replace(event, revision=revision, resource_version=str(revision))


FORMAT = Scenario()
