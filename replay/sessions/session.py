"""One session at a point of a log: what the scheduler of a release would decide there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.dry_run import DryRun
from ...engine.log.store import LogStore
from ...engine.session.framework.outcome import SessionResult
from ...engine.session.framework.process import ProcessState
from ...engine.session.framework.session import CacheActions
from ...engine.session.framework.trace import Trace, TraceStep
from ...engine.session.run import SessionInput, run_session
from ...engine.state.clock import Unsure
from ...engine.volcano.conf import ConfInvalid, SchedulerConf, conf_in_force, parse_scheduler_conf
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ..moments.belief import belief_at
from ..moments.clock import clock_of
from ..moments.coverage import SCHEDULING, Unknown, document_of, unknown_at
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.scheduler_confs import ConfText, confs_at
from .external_inputs import lend_inputs
from .tie_breaking import LEAST, Chance


class SessionAnswer(NamedTuple):
    """What one session decided, and what it was run on.

    :param at: the point, as it is printed.
    :param conf: where the configuration is from.
    :param cache: what the scheduler believes after it; before it, if the session was on trial.
    :param rejected: what the release says of configurations that it would not have, newest first.
    :param unsure: changes that may have come before or after the moment.
    :param not_known: what of the kinds that sessions need the log does not know completely there.
    """

    at: str
    release: str
    conf: str
    result: SessionResult
    cache: SchedulerCache
    rejected: tuple[str, ...] = ()
    unsure: Unsure | None = None
    not_known: tuple[Unknown, ...] = ()


class Scene(NamedTuple):
    """A moment as sessions of any release find it.

    :param confs: configurations that were given to the scheduler by then, newest first.
    :param now: what sessions take for the present, as far as objects tell it.
    """

    log: Log
    moment: Moment
    confs: tuple[ConfText, ...]
    now: int


def scene_at(log: Log, at: str | Moment, conf: ConfText | None = None) -> Scene:
    """Return a moment as sessions find it.

    :param conf: a configuration in place of those that were applied by then in the log.
    """
    moment = log.moment(at) if isinstance(at, str) else at
    confs = tuple(confs_at(log.store, moment)) if conf is None else (conf,)
    return Scene(log, moment, confs, present(log.store, moment))


def session_at(
    log: Log,
    at: str | Moment = "end",
    *,
    release: str | Behaviours,
    conf: ConfText | None = None,
    trace: bool = False,
    chance: Chance = LEAST,
) -> SessionAnswer:
    """Run one session on what the scheduler of a release believes at a point, and return it.

    Nothing is written. What the scheduler's process kept from sessions before (the time of tdm's
    last eviction, for instance) is not in a log: the session is that of a process just started.
    What was told from outside, such as the use of nodes, it has.

    :param release: its name, or how it behaves.
    :param conf: a configuration; by default the last that was applied by then in the log and that
        the release does not reject, else the release's own.
    :param trace: keep every step, with the numbers that were compared.
    :param chance: what happens where the scheduler rolls dice.
    :raises UsageError: the release is not known.
    """
    behaviours = resolve(release) if isinstance(release, str) else release
    scene = scene_at(log, at, conf)
    cache = belief_at(log.store, scene.moment, behaviours)
    trial = Trace(on=trace)
    answer = session_in(scene, behaviours, cache, binding=cache, into=trial, chance=chance)
    return answer._replace(not_known=tuple(unknown_at(log, scene.moment, SCHEDULING)))


def session_in(
    scene: Scene,
    behaviours: Behaviours,
    cache: SchedulerCache,
    *,
    binding: CacheActions | None = None,
    into: Trace | None = None,
    chance: Chance = LEAST,
) -> SessionAnswer:
    """Run one session in a scene.

    :param cache: what the scheduler believes there.
    :param binding: takes binds and evictions over; by default nothing does, and the cache stays as
        it is.
    :param into: keeps steps; by default nothing does.
    """
    in_force = conf_of(scene.confs, behaviours)
    process = ProcessState()
    now = lend_inputs(scene.log, scene.moment, process, in_force.conf, scene.now)
    result = run_session(
        SessionInput(
            snapshot=cache.snapshot(),
            conf=in_force.conf,
            behaviours=behaviours,
            now=now,
            process=process,
            cache=DryRun(cache) if binding is None else binding,
            into=Trace(on=False) if into is None else into,
            chooser=chance.chooser,
            samples_nodes=chance.samples_nodes,
        )
    )
    result.errors[:0] = in_force.conf.errors
    return SessionAnswer(
        scene.moment.label,
        behaviours.release,
        in_force.source,
        result,
        cache,
        in_force.rejected,
        scene.moment.unsure,
    )


class ConfInForce(NamedTuple):
    """The configuration that a release has of those that it was given, and where it is from.

    :param rejected: what it says of newer ones that it would not have.
    """

    conf: SchedulerConf
    source: str
    rejected: tuple[str, ...]


def conf_of(confs: Sequence[ConfText], behaviours: Behaviours) -> ConfInForce:
    """Return the newest configuration that a release accepts; that of before stays in force.

    :param confs: newest first. If it accepts none, it is the one that it has of its own.

    Source: pkg/scheduler/scheduler.go loadSchedulerConf.
    """
    rejected: list[str] = []
    logged: list[str] = []
    for text, source in confs:
        if not text.strip():
            break
        try:
            conf = parse_scheduler_conf(text, behaviours)
        except ConfInvalid as fault:
            rejected.append(f"{source}: {fault}")
            logged.insert(0, f"Scheduler config {text.strip()} is invalid: {fault}")
            continue
        return ConfInForce(_with_errors(conf, logged), source, tuple(rejected))
    own = _with_errors(conf_in_force("", behaviours), logged)
    return ConfInForce(own, f"built into {behaviours.release}", tuple(rejected))


def _with_errors(conf: SchedulerConf, logged: Sequence[str]) -> SchedulerConf:
    return replace(conf, errors=(*logged, *conf.errors))


def present(store: LogStore, moment: Moment) -> int:
    """Return what a session at a point takes for the present, in microseconds.

    It is the point's time, else the best estimate of its revision's, else 0.
    """
    if moment.time is not None:
        return moment.time
    clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
    return clock.time_of(moment.revision) or 0


def answer_document(answer: SessionAnswer) -> dict[str, Any]:
    """Return an answer as JSON has it; members are named as in the results of ``simulate``."""
    result = answer.result
    crash = result.panic
    return {
        "at": answer.at,
        "release": answer.release,
        "conf": answer.conf,
        "conf_rejected": list(answer.rejected),
        "unsure": msgspec.to_builtins(answer.unsure),
        "not_known": [document_of(one) for one in answer.not_known],
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


def step_document(step: TraceStep) -> dict[str, Any]:
    """Return a step of a trace as JSON has it."""
    return {**step._asdict(), "numbers": dict(step.numbers)}
