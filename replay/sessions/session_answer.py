"""One session at a moment of a log: what the scheduler of a release would decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.dry_run import DryRun
from ...engine.cache.snapshot import Snapshot
from ...engine.log.store import LogStore
from ...engine.model.panic import Panic
from ...engine.session.framework.process_parts import ProcessState
from ...engine.session.framework.session import CacheActions
from ...engine.session.framework.session_outcome import (
    ClosedPodGroupStatus,
    ClosedQueueStatus,
    SessionResult,
)
from ...engine.session.framework.trace import Trace
from ...engine.session.session_run import SessionInput, run_session
from ...engine.state.clock import Unsure
from ...engine.volcano.conf import ConfInvalid, SchedulerConf, conf_in_force, parse_scheduler_conf
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.history import resolve
from ..belief.belief import belief_at
from ..coverage.coverage import SCHEDULING, unknown_at
from ..logs.log import Log
from ..logs.logged_confs import ConfText, confs_at
from ..moments.log_clock import time_of_moment
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.record_columns import AmountColumns
from ..tabular.tabular import Tabular
from .logged_inputs import lend_inputs
from .step_words import SessionStep, shown_step, stop_text
from .tie_breaking import LEAST, TieBreaking


class DecisionRow(NamedTuple):
    """A decision: ``enqueue``, ``bind``, ``pipeline``, ``evict`` or ``phase``.

    :param object: the pod or PodGroup. :param value: the node, the reason, or the phase.
    """

    decision: str
    object: str
    value: str


class WaitingRow(NamedTuple):
    """A pod that is not placed. :param reason: of its condition. :param nominated: a node."""

    pod: str
    reason: str
    message: str
    nominated: str


class SessionQueue(NamedTuple):
    """A queue after the session."""

    queue: str
    written: bool
    allocated: AmountColumns


class RefusedBind(NamedTuple):
    """A bind that the API server refuses.

    :param gates: the scheduling gates of the pod, which the release does not read.
    """

    pod: str
    gates: tuple[str, ...]

    def sentence(self, release: str) -> str:
        """Return why it is refused."""
        noun = "gate" if len(self.gates) == 1 else "gates"
        return (
            f"the API server refuses to bind {self.pod}: it has the scheduling {noun} "
            f"{', '.join(self.gates)}, which {release} does not read"
        )


class ShortSession(msgspec.Struct, frozen=True, kw_only=True):
    """What a session decided.

    :param conf: the source of the configuration. :param conf_rejected: why newer ones were not
        taken. :param stopped: why scheduling stops in every queue; empty if it does not.
    :param panic: its message, if the scheduler panics; ``panic_at``: where, ``panic_during``: when.
    :param binds: pods and their nodes. :param binds_refused: pods, and why the API server refuses.
    :param pipelined: pods and the nodes that they wait for.
    :param fit_errors: by pod, why no node takes it; ``fit_codes``: how many nodes by each reason.
    """

    release: str
    conf: str
    conf_rejected: tuple[str, ...]
    panic: str | None
    panic_at: str | None
    panic_during: str | None
    stopped: str
    binds: list[tuple[str, str]]
    binds_refused: list[tuple[str, str]]
    pipelined: list[tuple[str, str]]
    evictions: list[str]
    evict_reasons: dict[str, str]
    enqueued: list[str]
    podgroups: dict[str, ClosedPodGroupStatus]
    queues: dict[str, ClosedQueueStatus]
    pod_conditions: dict[str, str]
    nominated: dict[str, str]
    fit_errors: dict[str, str]
    fit_codes: dict[str, dict[str, int]]
    session_jobs: list[str]
    errors: list[str]


class SessionDocument(ShortSession, frozen=True, kw_only=True):
    """What a session of a moment decided.

    :param unsure: changes that may have happened before or after the moment.
    :param metrics: numbers of the scheduler's process. :param trace: its steps, if they were kept.
    """

    at: str
    unsure: Unsure | None
    not_known: tuple[Unknown, ...]
    metrics: dict[str, dict[str, float]]
    trace: list[SessionStep] | msgspec.UnsetType = msgspec.UNSET
    node_scores: dict[str, dict[str, float]] | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, slots=True)
class SessionRun(Tabular):
    """What one session decided, without the scheduler's cache.

    :param at: the point, as printed.
    :param conf: the source of the configuration.
    :param rejected: the release's errors for configurations that it rejects, newest first.
    :param unsure: changes that may have happened before or after the moment.
    :param not_known: what sessions need and the log does not fully know at the moment.
    :param refused: binds that the API server refuses.
    """

    at: str
    release: str
    conf: str
    result: SessionResult
    rejected: tuple[str, ...] = ()
    unsure: Unsure | None = None
    not_known: tuple[Unknown, ...] = ()
    refused: tuple[RefusedBind, ...] = ()

    @property
    def document(self) -> SessionDocument:
        """What answers show of it, with its steps; members are named as in results of scenarios."""
        trace, scores = list(map(shown_step, self.result.trace)), self.result.node_scores
        return msgspec.structs.replace(self.untraced, trace=trace, node_scores=scores)

    @property
    def untraced(self) -> SessionDocument:
        """What answers show of it, without its steps."""
        result, crash, stopped = self.result, self.result.panic, self.result.stopped
        conditions = result.pod_conditions
        return SessionDocument(
            at=self.at,
            release=self.release,
            conf=self.conf,
            conf_rejected=self.rejected,
            unsure=self.unsure,
            not_known=self.not_known,
            panic=None if crash is None else crash.message,
            panic_at=None if crash is None else " < ".join(crash.place),
            panic_during=None if crash is None else crash.during,
            stopped=f"{stop_text(stopped)}: {stopped.error}" if stopped is not None else "",
            binds=result.binds,
            binds_refused=[(bind.pod, bind.sentence(self.release)) for bind in self.refused],
            pipelined=result.pipelined,
            evictions=[pod for pod, _ in result.evictions],
            evict_reasons=dict(result.evictions),
            enqueued=result.enqueued,
            podgroups=result.pod_groups,
            queues=result.queues,
            pod_conditions={
                key: f"{condition.reason}: {condition.message}"
                for key, condition in conditions.items()
            },
            nominated={
                key: condition.nominated_node
                for key, condition in conditions.items()
                if condition.nominated_node
            },
            fit_errors=result.fit_errors,
            fit_codes=result.fit_codes,
            metrics=result.process.gauges,
            session_jobs=result.jobs,
            errors=result.errors,
        )

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return what was decided, why pods wait, the queues after it, and the trace."""
        result = self.result
        queues = (
            SessionQueue(name, queue.written, queue.allocated)
            for name, queue in result.queues.items()
        )
        return {
            "decisions": table_of(DecisionRow, _decisions(result)),
            "waiting": table_of(WaitingRow, _waiting(result)),
            "queues": table_of(SessionQueue, queues),
            "trace": table_of(SessionStep, map(shown_step, result.trace)),
        }


@dataclass(frozen=True, slots=True)
class SessionAnswer(SessionRun):
    """What one session decided, and its inputs.

    :param cache: the scheduler's cache after it; before it, if the session was a dry run.
    """

    cache: SchedulerCache = field(kw_only=True)

    def without_cache(self) -> SessionRun:
        """Return what it decided; it does not keep the cache, which may be large."""
        return SessionRun(
            **{run_field.name: getattr(self, run_field.name) for run_field in fields(SessionRun)}
        )


def _waiting(result: SessionResult) -> Iterator[WaitingRow]:
    """Yield the pods with a condition, and those that fit nowhere and keep the one they had."""
    conditions = result.pod_conditions
    for pod, condition in conditions.items():
        yield WaitingRow(pod, condition.reason, condition.message, condition.nominated_node)
    for pod, message in result.fit_errors.items():
        if pod not in conditions:
            yield WaitingRow(pod, "", message, "")


def _decisions(result: SessionResult) -> Iterator[DecisionRow]:
    yield from (DecisionRow("enqueue", key, "yes") for key in result.enqueued)
    yield from (DecisionRow("bind", *pair) for pair in result.binds)
    yield from (DecisionRow("pipeline", *pair) for pair in result.pipelined)
    yield from (DecisionRow("evict", *pair) for pair in result.evictions)
    yield from (DecisionRow("phase", key, group.phase) for key, group in result.pod_groups.items())


class SessionInputs(msgspec.Struct, frozen=True):
    """The inputs at a moment that sessions of all releases share.

    :param confs: configurations of the scheduler up to then, newest first.
    :param now: the current time of sessions, as far as objects show it.
    """

    log: Log
    moment: Moment
    confs: tuple[ConfText, ...]
    now: int


def scene_at(log: Log, at: str | Moment, conf: ConfText | None = None) -> SessionInputs:
    """Return the inputs at a moment that sessions share.

    :param conf: a configuration instead of those in the log.
    """
    moment = log.moment(at) if isinstance(at, str) else at
    confs = tuple(confs_at(log.store, moment)) if conf is None else (conf,)
    return SessionInputs(log, moment, confs, present(log.store, moment))


def session_at(
    log: Log,
    at: str | Moment = "end",
    *,
    release: str | Behaviours,
    conf: ConfText | None = None,
    trace: bool = False,
    chance: TieBreaking = LEAST,
    cache: SchedulerCache | None = None,
) -> SessionAnswer:
    """Run one session on the cache of a release's scheduler at a point, and return its answer.

    Nothing is written. What the scheduler's process remembers of earlier sessions (for instance,
    the time of tdm's last eviction) is not in a log: the session is that of a process that just
    started. It has recorded external inputs, such as the usage of nodes.

    :param release: its name or behaviours.
    :param conf: a configuration; by default the last one in the log up to then that the release
        accepts, else the release's built-in one.
    :param trace: keep every step, with the numbers it compared.
    :param chance: what happens where the scheduler picks at random.
    :param cache: of the release's scheduler at the point, if it is known already; the session
        changes it.
    :raises UsageError: the release is not known.
    """
    behaviours = resolve(release) if isinstance(release, str) else release
    scene = scene_at(log, at, conf)
    if cache is None:
        cache = belief_at(log.store, scene.moment, behaviours, recent=log.recent_beliefs)
    steps = Trace(on=trace)
    answer = session_in(scene, behaviours, cache, binding=cache, into=steps, chance=chance)
    return replace(answer, not_known=tuple(unknown_at(log, scene.moment, SCHEDULING)))


def session_in(
    scene: SessionInputs,
    behaviours: Behaviours,
    cache: SchedulerCache,
    *,
    binding: CacheActions | None = None,
    into: Trace | None = None,
    chance: TieBreaking = LEAST,
    snapshot: Snapshot | None = None,
) -> SessionAnswer:
    """Run one session on shared inputs.

    :param cache: the scheduler's cache at the moment.
    :param binding: receives binds and evictions; by default nothing does, and the cache does not
        change.
    :param into: records the steps; by default none are recorded.
    :param snapshot: what the session sees instead of the cache.
    """
    in_force = conf_of(scene.confs, behaviours)
    process = ProcessState()
    now = lend_inputs(scene.log, scene.moment, process, in_force.conf, scene.now)

    # A scheduler whose cache panicked runs no session, whichever snapshot is given.
    seen = snapshot if snapshot is not None and cache.crash is None else cache.seen()
    if isinstance(seen, Panic):
        result = SessionResult(panic=seen)
    else:
        result = run_session(
            SessionInput(
                snapshot=seen,
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
    # The scheduler reads its configuration before the session runs, and logs in this order.
    result.errors[:0] = in_force.conf.errors
    return SessionAnswer(
        scene.moment.label,
        behaviours.release,
        in_force.source,
        result,
        in_force.rejected,
        scene.moment.unsure,
        refused=() if behaviours.scheduling_gates else _refused(result, cache),
        cache=cache,
    )


def _refused(result: SessionResult, cache: SchedulerCache) -> tuple[RefusedBind, ...]:
    """Return the binds of pods with scheduling gates.

    Source: kubernetes pkg/registry/core/pod/storage setPodHostAndAnnotations, since 1.26.
    """
    bound = dict(result.binds)
    gates = {
        task.key: tuple(gate.name for gate in task.pod.spec.scheduling_gates)
        for job in (cache.jobs.values() if bound else ())
        for task in job.tasks.values()
        if task.key in bound and task.pod.spec.scheduling_gates
    }
    return tuple(RefusedBind(pod, gates[pod]) for pod in bound if pod in gates)


class ConfInForce(msgspec.Struct, frozen=True):
    """The configuration that a release uses of those given, and its source.

    :param rejected: the release's errors for newer configurations that it rejects.
    """

    conf: SchedulerConf
    source: str
    rejected: tuple[str, ...]


def conf_of(confs: Sequence[ConfText], behaviours: Behaviours) -> ConfInForce:
    """Return the newest configuration that a release accepts; a rejected one changes nothing.

    :param confs: newest first. If it accepts none, the result is its built-in one.

    Source: pkg/scheduler/scheduler.go loadSchedulerConf.
    """
    rejected: list[str] = []
    logged: list[str] = []
    for text, source in confs:
        # An empty file is no rejected one: the scheduler takes the built-in one, not an older one.
        if not text.strip():
            break
        try:
            conf = parse_scheduler_conf(text, behaviours)
        except ConfInvalid as fault:
            rejected.append(f"{source}: {fault}")
            # From newest to oldest, as ``confs`` are; a log has the oldest first.
            logged.insert(0, f"Scheduler config {text.strip()} is invalid: {fault}")
            continue
        return ConfInForce(_with_errors(conf, logged), source, tuple(rejected))
    own = _with_errors(conf_in_force("", behaviours), logged)
    return ConfInForce(own, f"built into {behaviours.release}", tuple(rejected))


def _with_errors(conf: SchedulerConf, logged: Sequence[str]) -> SchedulerConf:
    return msgspec.structs.replace(conf, errors=(*logged, *conf.errors))


def present(store: LogStore, moment: Moment) -> int:
    """Return the current time of a session at a point, in microseconds.

    It is the point's time, else the best estimate of its last revision's, else 0.
    """
    return time_of_moment(store, moment) or 0
