"""Inputs of sessions that are not Kubernetes objects, from a log at a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ...engine.events import NO_TIME, Recorded
from ...engine.events.payloads import ExtenderAnswered, UsageMeasured
from ...engine.log.store import LogStore, Query
from ...engine.session.external_inputs import ExternalInputs, kinds_needed
from ...engine.session.framework.process_parts import ProcessState
from ...engine.volcano.conf import SchedulerConf
from ..logs.log import Log
from ..moments.moment import Moment

_Key = tuple[str, ...]
_Input = UsageMeasured | ExtenderAnswered

_DECODE = msgspec.json.Decoder(_Input).decode
_BEFORE_ALL = -1


def lend_inputs(
    log: Log, moment: Moment, process: ProcessState, conf: SchedulerConf, now: int
) -> int:
    """Give a process the external inputs of a session at a moment: the newest recorded by then.

    :param now: the time of the moment as far as objects show it, in microseconds since 1970.
    :returns: the same, or the time of the newest input, if that is later.
    """

    def find(namespace: str, name: str) -> Mapping[str, Any] | None:
        known = log.entries(("", "ConfigMap"), at=moment, namespace=namespace)
        named = [entry for entry in known if entry.reference.name == name]
        return next(log.documents(named, branch=moment.branch), None)

    inputs = inputs_at(log.store, moment, conf, now)
    present = max(now, inputs.last_observed)
    inputs.lend(process, conf, present, find)
    return present


def inputs_at(store: LogStore, moment: Moment, conf: SchedulerConf, now: int) -> ExternalInputs:
    """Return the external inputs by a moment for the plugins of a configuration.

    Inputs with a revision are ordered by it; those without one by their times. Of the latter those
    up to ``now`` count, and inputs without a time count from the beginning.
    """
    newest: dict[_Key, tuple[tuple[int, int, int], _Input, int | None]] = {}
    for recorded in _recorded_inputs(store, moment, conf, now):
        event = recorded.event
        value = _DECODE(event.payload)
        key: _Key = (value.node,) if isinstance(value, UsageMeasured) else (value.verb, value.about)
        revision = _BEFORE_ALL if event.revision is None else event.revision
        time = NO_TIME if event.observed_at is None else event.observed_at
        order = (revision, time, recorded.position)
        if key not in newest or newest[key][0] < order:
            newest[key] = order, value, event.observed_at
    inputs = ExternalInputs()
    for _, value, observed_at in newest.values():
        inputs.take(value, observed_at)
    return inputs


def _recorded_inputs(
    store: LogStore, moment: Moment, conf: SchedulerConf, now: int
) -> Iterator[Recorded]:
    kinds = kinds_needed(conf)
    if not kinds:
        return
    query = Query(branch=moment.branch, cluster=moment.cluster, until=moment.known, kinds=kinds)
    for recorded in store.read(query):
        if _had_happened(recorded, moment, now):
            yield recorded


def _had_happened(recorded: Recorded, moment: Moment, now: int) -> bool:
    revision, time = recorded.event.revision, recorded.event.observed_at
    if revision is not None:
        return moment.revision is None or revision <= moment.revision
    at_end = moment.revision is None and moment.time is None
    return at_end or time is None or time <= now
