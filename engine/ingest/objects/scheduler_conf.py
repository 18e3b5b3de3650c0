"""The scheduler's configuration: a plain ``volcano-scheduler.conf``, or inside a ConfigMap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from ...events import Event, Reference, canonical_json
from ...events.payloads import ConfigApplied
from ...kubernetes.scheduler_confs import is_scheduler_conf, parse_conf
from ...kubernetes.yaml import YamlFault
from ..reading.formats import Context

MAX_BYTES = 2**20
"""etcd takes no larger ConfigMap, so the scheduler cannot have a larger configuration."""

_OWN_KEY = re.compile(rb"^(?:actions|tiers|configurations)[ \t]*:", re.MULTILINE)
_TIERS = re.compile(rb"^tiers[ \t]*:", re.MULTILINE)
_OBJECT_KEY = re.compile(rb"^(?:apiVersion|kind|items|data|metadata)[ \t]*:", re.MULTILINE)


class SchedulerConfReader:
    """Reads one configuration file as one ``config.applied`` without a time."""

    name = "scheduler-conf"

    def sniff(self, head: bytes, name: str) -> bool:
        """Recognise YAML with the top-level keys of a scheduler configuration, not of an object."""
        if not _OWN_KEY.search(head) or _OBJECT_KEY.search(head):
            return False
        return _TIERS.search(head) is not None or name.endswith(".conf")

    def events(self, stream: BinaryIO, context: Context) -> Iterator[Event]:
        """Yield the configuration as one event."""
        data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            context.reject("a configuration of more than 1 MiB", line=1)
            return
        try:
            text = data.decode()
        except UnicodeDecodeError as fault:
            context.reject(f"not UTF-8: {fault}", line=1)
            return
        try:
            parsed = parse_conf(text)
        except YamlFault as fault:
            context.reject(str(fault), line=fault.line)
            return
        if not is_scheduler_conf(parsed):
            context.reject("no scheduler configuration: expected actions and tiers", line=1)
            return
        yield config_event(text, parsed, source=context.source, line=1, cluster=context.cluster)


def config_event(
    text: str, parsed: Any, *, source: str, line: int, cluster: str, configmap: str = ""
) -> Event:
    """Return the ``config.applied`` of a configuration; the caller sets revision and time."""
    return Event(
        kind="config.applied",
        reference=Reference(),
        payload=canonical_json(ConfigApplied(text=text, parsed=parsed, configmap=configmap)),
        source=source,
        line=line,
        cluster=cluster,
    )


FORMAT = SchedulerConfReader()
