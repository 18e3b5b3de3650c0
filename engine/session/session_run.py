"""One scheduling session, from snapshot to result: a pure function.

Source: ``pkg/scheduler/scheduler.go:runOnce``, ``framework/framework.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ..model.panic import Panic
from ..model.session_tables import NO_NODE, TaskStatus
from ..volcano.arguments import Arguments
from ..volcano.unsupported_arguments import not_simulated
from .actions import ACTIONS
from .actions.hypernode_details import keep_hypernodes, keep_room
from .actions.reclaim_outlook import keep_outlook
from .close import close
from .framework.behaviour_recorder import RecordedBehaviours
from .framework.chooser import Chooser
from .framework.gang_counts import keep_gangs
from .framework.map_orders import MapOrders
from .framework.process_parts import ProcessState
from .framework.registered_points import keep_points
from .framework.session import CacheActions, Plugin, Session
from .framework.session_outcome import SessionResult
from .framework.trace import Trace
from .further import look_further
from .nodes.node_views import NodeViews
from .plugins import BUILDERS, NEWER_PLUGINS
from .plugins.deviceshare import DeviceShare, take_snapshot

if TYPE_CHECKING:
    from ..cache.snapshot import Snapshot
    from ..volcano.conf import SchedulerConf
    from ..volcano.session.behaviours import Behaviours


class SessionInput(msgspec.Struct, frozen=True):
    """All that a session depends on.

    :param now: the session's current time, in microseconds since 1970.
    :param process: the state that the process keeps between sessions; it is changed.
    :param cache: receives binds and evictions.
    :param trace: keep every step; ``into``: the trace to use, by default a new one.
    :param chooser: picks one of equals; ``map_orders``: the order of walks through Go's maps.
    :param samples_nodes: in clusters of more than 100 nodes, stop when enough nodes are found.
    """

    snapshot: Snapshot
    conf: SchedulerConf
    behaviours: Behaviours
    now: int
    process: ProcessState
    cache: CacheActions
    chooser: Chooser | None = None
    map_orders: MapOrders | None = None
    trace: bool = False
    into: Trace | None = None
    samples_nodes: bool = False


def run_session(
    given: SessionInput, ended: Callable[[str], None] = lambda _: None
) -> SessionResult:
    """Run one session; a crash that the release would have is part of the result.

    :param ended: is called after the opening (``open``), each action and the closing (``close``),
        to measure them.
    """
    trace = Trace(on=given.trace) if given.into is None else given.into
    if isinstance(given.behaviours, RecordedBehaviours):
        given.behaviours.begin(trace)
    result = SessionResult(process=given.process)
    ssn = Session(
        given.snapshot,
        given.conf,
        given.behaviours,
        now=given.now,
        process=given.process,
        cache=given.cache,
        trace=trace,
        chooser=given.chooser,
        map_orders=given.map_orders,
        samples_nodes=given.samples_nodes,
    )
    try:
        plugins = open_plugins(ssn)
        ended("open")
    except Panic as panic:
        # `runOnce` defers the close only after `OpenSession`: here plugins and session stay
        # unclosed.
        result.panic = panic
    else:
        result.panic = _run_and_close(ssn, plugins, result, ended)
    _collect(ssn, result)
    ended("close")
    return result


def _run_and_close(
    ssn: Session,
    plugins: dict[str, Plugin],
    result: SessionResult,
    ended: Callable[[str], None],
) -> Panic | None:
    """Run the actions, and close the session also after a crash in one of them; return the crash.

    Victims are simulated in goroutines: a crash there ends the process, and nothing is closed.

    Source: ``scheduler.go:runOnce``, where closing is deferred. A fatal error ends all at once.
    """
    before, crash = list(ssn.jobs.phase), None
    try:
        views = run_actions(ssn, ended)
        if ssn.trace.fully:
            look_further(ssn, views)
    except Panic as panic:
        crash = panic
    # Before the close, which replaces the phases by those that it writes.
    result.enqueued = _enqueued(ssn, before)
    if crash is not None and (crash.fatal or ssn.registry.simulating):
        return crash
    try:
        close_plugins(ssn, plugins)
        close(ssn, result)
    except Panic as panic:
        crash = crash or panic
    return crash


def open_plugins(ssn: Session) -> dict[str, Plugin]:
    """Open the plugins of all tiers in order; one that does not exist is reported only."""
    plugins: dict[str, Plugin] = {}
    ssn.trace.action = "open"
    ssn.errors += not_simulated(ssn.conf, ssn.behaviours)
    # Before the plugins: `Snapshot` clones each node, which counts the devices of its pods.
    take_snapshot(ssn)
    for tier in ssn.conf.tiers:
        for option in tier:
            build = BUILDERS.get(option.name)
            if build is None or (
                option.name in NEWER_PLUGINS and option.name not in ssn.behaviours.plugins
            ):
                ssn.errors.append(f"Failed to get plugin {option.name}.")
                continue
            ssn.trace.opening = option.name
            plugin = plugins[option.name] = build(option.arguments)
            plugin.on_session_open(ssn)
    # Its switches are package variables: what an earlier configuration set goes on without it.
    if DeviceShare.name not in plugins:
        DeviceShare(Arguments()).stay_open(ssn)
    ssn.trace.opening = ""
    if ssn.trace.paths:
        keep_points(ssn)
    # Before any action, as actions change what is free.
    keep_room(ssn)
    return plugins


def run_actions(ssn: Session, ended: Callable[[str], None]) -> NodeViews:
    """Run the configured actions in their order; return their views on the nodes.

    :param ended: called with the name of each action when it is over.
    """
    if ssn.trace.fully:
        keep_outlook(ssn)
    views = NodeViews(ssn)
    for name in ssn.conf.actions:
        action = ACTIONS.get(name)
        if action is not None:
            ssn.trace.action = name
            action(ssn, views)
            ended(name)
    return views


def close_plugins(ssn: Session, plugins: dict[str, Plugin]) -> None:
    """Let the plugins write what they have to."""
    ssn.trace.action = "close"
    for plugin in plugins.values():
        plugin.on_session_close(ssn)


def _enqueued(ssn: Session, before: list[str]) -> list[str]:
    assert len(before) == len(ssn.jobs.phase), "a session has the same jobs from begin to end"
    return [
        ssn.jobs.keys[job]
        for job, phase in enumerate(ssn.jobs.phase)
        if phase == "Inqueue" and before[job] != phase
    ]


def _collect(ssn: Session, result: SessionResult) -> None:
    names, info, nodes = ssn.jobs.keys, ssn.tasks.info, ssn.nodes.names
    if ssn.trace.closely:
        keep_gangs(ssn)
        keep_hypernodes(ssn)
    result.binds = [(info[task].key, nodes[node]) for task, node in ssn.binds]
    result.evictions = [(info[task].key, reason) for task, reason in ssn.evictions]
    result.pipelined = sorted(
        (info[task].key, nodes[int(ssn.tasks.node[task])])
        for job in range(len(ssn.jobs))
        if ssn.jobs.counts[job][TaskStatus.PIPELINED]
        for task in ssn.jobs.tasks_with(job, (TaskStatus.PIPELINED,))
        if ssn.tasks.node[task] != NO_NODE
    )
    result.fit_codes = {
        info[task].key: errors.codes() for task, errors in ssn.jobs.fit_errors.items()
    }
    result.fit_errors = {
        info[task].key: errors.error() for task, errors in ssn.jobs.fit_errors.items()
    }
    result.node_scores = {
        info[task].key: {
            nodes[row]: score for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
        }
        for task, (rows, scores) in ssn.node_scores.items()
    }
    result.pod_annotations = {
        info[task].key: annotations for task, annotations in ssn.annotated.items()
    }
    result.jobs = list(names)
    result.events = [(names[job], reason, text) for job, reason, text in ssn.events]
    result.errors = ssn.errors
    result.stopped = ssn.stopped
    result.trace = ssn.trace.steps
    result.asked_time = ssn.asked_time
    result.deserved = ssn.deserved
