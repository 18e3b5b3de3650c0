"""What ``ingest --redact`` leaves out besides Secrets: values that people put secrets into.

It decides by the place of a value, never by its content, so the same input gives the same events
everywhere. :data:`RULES` lists what is left out; everything that a session needs is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from ...events import KINDS, Event, Reference, canonical_json
from ...events.payloads import InputRedacted
from ...kubernetes.scheduler_confs import configs_in
from .kept_fields import without_values

MARK = "[redacted]"
"""Replaces a value."""

RULES: Mapping[str, str] = MappingProxyType(
    {
        "env": "values of environment variables, and of headers that probes send",
        "command": "commands and arguments of containers",
        "configmap": "values in ConfigMaps, except configurations that the scheduler reads",
        "last-applied": "the annotation kubectl.kubernetes.io/last-applied-configuration",
        "terminated": "termination messages of containers (message in the state terminated)",
        "json-patch": "values in the JSON patches of an audit log",
        "quoted": "values that a refusal quotes (Invalid value: ...)",
        "log-line": "lines of a component's log, except panics",
    }
)
"""Name of a rule to what it leaves out."""

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_DEVICE_CONFIG = "device-config.yaml"
"""A file in a ConfigMap that Volcano's plugin deviceshare reads."""

_WITH_VALUES = frozenset({"env", "httpHeaders"})
_COMMANDS = frozenset({"command", "args"})
_MESSAGE_IN = frozenset({"terminated"})
_LINES = frozenset({"message.logged", "decision.logged", "cleanup.retried"})
_QUOTING = ("message", "reason")

_DECODE = msgspec.json.Decoder().decode


def is_redacted(payload: bytes) -> bool:
    """Return whether values were left out of an object."""
    return _MARK in payload


_MARK = MARK.encode()


class Redaction:
    """Redacts the events of one document; ``count`` says how many values were left out."""

    def __init__(self) -> None:
        self.count = 0

    def redacted(self, event: Event) -> Event:
        """Return an event without the values that :data:`RULES` name."""
        before = self.count
        value = _DECODE(event.payload)
        if not isinstance(value, dict):
            return event
        if KINDS[event.kind].payload is None:
            self._document(value, event.reference.kind)
        else:
            self._redact_other(event, value)
        if self.count == before:
            return event
        return msgspec.structs.replace(event, payload=canonical_json(value))

    def account(self, *, source: str, cluster: str) -> Event:
        """Return the event that records that an input was redacted."""
        redacted = InputRedacted(input=source, rules=tuple(RULES), values=self.count)
        return Event(
            kind="input.redacted",
            reference=Reference(),
            payload=canonical_json(redacted),
            source=source,
            cluster=cluster,
        )

    def _redact_other(self, event: Event, payload: dict[str, Any]) -> None:
        """Redact payloads that are not objects."""
        # A session needs the configuration, and a panic or a process says nothing without its text.
        if event.kind == "config.applied" or event.kind.startswith("process."):
            return
        if event.kind in _LINES:
            self._mark(payload, "message")
        for field in _QUOTING:
            self._cut(payload, field)
        body = payload.get("body")
        if isinstance(body, list):
            for step in body:
                if isinstance(step, dict):
                    self._mark(step, "value")
        elif isinstance(body, dict):
            self._document(body, event.reference.kind)
        # The body is done: what is a value there depends on its form.
        self._inside({key: value for key, value in payload.items() if key != "body"})

    def _document(self, document: dict[str, Any], kind: str) -> None:
        if kind == "ConfigMap":
            self._config_map(document)
        self._inside(document)

    def _config_map(self, document: dict[str, Any]) -> None:
        needed = {key for key, _, _ in configs_in(document)} | {_DEVICE_CONFIG}
        for field in ("data", "binaryData"):
            values = document.get(field)
            if isinstance(values, dict):
                for key in values:
                    if key not in needed:
                        self._mark(values, key)

    def _inside(self, value: dict[str, Any]) -> None:
        """Redact values in pods and in templates of pods, wherever these are."""
        waiting: list[Any] = [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, dict):
                self._members(part)
                waiting.extend(part.values())
            elif isinstance(part, list):
                waiting.extend(part)

    def _members(self, members: dict[str, Any]) -> None:
        for key, inner in members.items():
            if isinstance(inner, list):
                if key in _WITH_VALUES:
                    for entry in _dicts(inner):
                        self._mark(entry, "value")
                # What was redacted before is not counted again.
                elif key in _COMMANDS and inner and inner != [MARK]:
                    members[key] = [MARK]
                    self.count += 1
            elif key in _MESSAGE_IN and isinstance(inner, dict):
                self._mark(inner, "message")
        self._mark(members, _LAST_APPLIED)

    def _mark(self, holder: dict[str, Any], key: str) -> None:
        value = holder.get(key)
        if value is not None and value != "" and value != MARK:  # noqa: PLR1714 -- may be a list
            holder[key] = MARK
            self.count += 1

    def _cut(self, holder: dict[str, Any], key: str) -> None:
        text = holder.get(key)
        if isinstance(text, str) and (short := without_values(text)) != text:
            holder[key] = short
            self.count += 1


def _dicts(values: list[Any]) -> Iterator[dict[str, Any]]:
    return (value for value in values if isinstance(value, dict))
