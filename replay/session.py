"""One session at a point of a log: what the scheduler of a release would decide there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..engine.belief.cache import SchedulerCache
from ..engine.errors import InputError
from ..engine.events import Recorded
from ..engine.events.payloads import ConfigApplied
from ..engine.log.store import LogStore, Query
from ..engine.session.outcome import SessionResult
from ..engine.session.run import SessionInput, run_session
from ..engine.session.session import ProcessState
from ..engine.session.trace import Step
from ..engine.volcano.behaviours import Behaviours
from ..engine.volcano.conf import SchedulerConf, conf_in_force
from ..engine.volcano.history import resolve
from .belief import belief_at
from .chance import LEAST, Chance
from .external_inputs import lend_inputs
from .log import Log
from .points import Moment

_CONFIG = "config.applied"


class ConfText(NamedTuple):
    """A scheduler configuration, and where it is from."""

    text: str
    source: str


def conf_file(path: Path) -> ConfText:
    """Read a configuration from a file.

    :raises InputError: it is no text.
    """
    try:
        return ConfText(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as fault:
        raise InputError(f"not UTF-8: {fault}", where=str(path)) from fault


class SessionAnswer(NamedTuple):
    """What one session decided, and what it was run on.

    :param at: the point, as it is printed.
    :param conf: where the configuration is from.
    :param cache: what the scheduler believes after it.
    """

    at: str
    release: str
    conf: str
    result: SessionResult
    cache: SchedulerCache


def session_at(
    log: Log,
    at: str | Moment = "end",
    *,
    release: str | Behaviours,
    conf: ConfText | None = None,
    trace: bool = False,
    cache: SchedulerCache | None = None,
    chance: Chance = LEAST,
) -> SessionAnswer:
    """Run one session on what the scheduler of a release believes at a point, and return it.

    Nothing is written. What the scheduler's process kept from sessions before (the time of tdm's
    last eviction, for instance) is not in a log: the session is that of a process just started.
    What was told from outside, such as the use of nodes, it has.

    :param release: its name, or how it behaves.
    :param conf: a configuration; by default the last that was applied by then in the log, else the
        release's own.
    :param trace: keep every step, with the numbers that were compared.
    :param cache: what the scheduler believes there, if that is known already; it is changed.
    :param chance: what happens where the scheduler rolls dice.
    :raises UsageError: the release is not known.
    """
    behaviours = resolve(release) if isinstance(release, str) else release
    moment = log.moment(at) if isinstance(at, str) else at
    used = conf or conf_at(log.store, moment) or ConfText("", f"built into {behaviours.release}")
    in_force = conf_in_force(used.text, behaviours)
    process = ProcessState()
    now = lend_inputs(log, moment, process, in_force, present(log.store, moment))
    if cache is None:
        cache = belief_at(log.store, moment, behaviours)
    result = run_on(cache, in_force, behaviours, process, now=now, trace=trace, chance=chance)
    return SessionAnswer(moment.label, behaviours.release, used.source, result, cache)


def run_on(
    cache: SchedulerCache,
    conf: SchedulerConf,
    behaviours: Behaviours,
    process: ProcessState,
    *,
    now: int,
    trace: bool = False,
    chance: Chance = LEAST,
) -> SessionResult:
    """Run one session on a cache, which takes the binds and evictions over.

    :param process: what the scheduler's process keeps; it is changed.
    """
    result = run_session(
        SessionInput(
            snapshot=cache.snapshot(),
            conf=conf,
            behaviours=behaviours,
            now=now,
            process=process,
            cache=cache,
            trace=trace,
            chooser=chance.chooser,
            samples_nodes=chance.samples_nodes,
        )
    )
    result.errors[:0] = conf.errors
    return result


def conf_at(store: LogStore, moment: Moment) -> ConfText | None:
    """Return the configuration that was last applied by a point, ``None`` if the log has none.

    One without a revision, such as a plain file, counts from the beginning.
    """
    query = Query(
        branch=moment.branch, cluster=moment.cluster, until=moment.known, kinds=(_CONFIG,)
    )
    last: Recorded | None = None
    for recorded in store.read(query):
        revision = recorded.event.revision
        if revision is not None and moment.revision is not None and revision > moment.revision:
            continue
        if last is None or (revision or 0) >= (last.event.revision or 0):
            last = recorded
    if last is None:
        return None
    applied = msgspec.json.decode(last.event.payload, type=ConfigApplied)
    return ConfText(applied.text, applied.configmap or last.event.source)


def present(store: LogStore, moment: Moment) -> int:
    """Return what a session at a point takes for the present, in microseconds.

    It is the point's time, else that of the revision, else the newest that the log knows, else 0.
    """
    if moment.time is not None:
        return moment.time
    if moment.revision is not None:
        query = Query(
            branch=moment.branch,
            cluster=moment.cluster,
            until=moment.known,
            revisions=(moment.revision, moment.revision),
        )
        times = [recorded.event.observed_at for recorded in store.read(query)]
        known = [time for time in times if time is not None]
        if known:
            return max(known)
    extent = store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
    return extent.last_observed or 0


def answer_document(answer: SessionAnswer) -> dict[str, Any]:
    """Return an answer as JSON has it; members are named as in the results of ``simulate``."""
    result = answer.result
    crash = result.panic
    return {
        "at": answer.at,
        "release": answer.release,
        "conf": answer.conf,
        "panic": None if crash is None else crash.message,
        "panic_at": None if crash is None else " < ".join(crash.place),
        "binds": [list(pair) for pair in result.binds],
        "pipelined": [list(pair) for pair in result.pipelined],
        "evictions": [pod for pod, _ in result.evictions],
        "evict_reasons": dict(result.evictions),
        "enqueued": result.enqueued,
        "podgroups": {key: msgspec.to_builtins(group) for key, group in result.pod_groups.items()},
        "queues": {name: msgspec.to_builtins(queue) for name, queue in result.queues.items()},
        "pod_conditions": {
            key: f"{told.reason}: {told.message}" for key, told in result.pod_conditions.items()
        },
        "nominated": {
            key: told.nominated_node
            for key, told in result.pod_conditions.items()
            if told.nominated_node
        },
        "fit_errors": result.fit_errors,
        "metrics": result.process.gauges,
        "session_jobs": result.jobs,
        "errors": result.errors,
        "trace": [step_document(step) for step in result.trace],
        "node_scores": result.node_scores,
    }


def step_document(step: Step) -> dict[str, Any]:
    """Return a step of a trace as JSON has it."""
    return {**step._asdict(), "numbers": dict(step.numbers)}
