"""``plinian record``: a live cluster into the log, until it is stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from ..questions.fields import Field
from . import options, serving
from .answers import write_answer
from .command import command
from .shell import shows_progress, style
from .stopping import stopped_by_signals

if TYPE_CHECKING:
    from ..capture.recorder import Recording


@command("record")
def record(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    kubeconfig: Annotated[
        str | None,
        Field("The kubeconfig of the cluster; by default as kubectl finds it.", "FILE"),
    ] = None,
    context: Annotated[str | None, Field("The context in it.", "NAME")] = None,
    namespaces: Annotated[
        tuple[str, ...],
        Field(
            "Only this namespace; repeatable. By default all.", "NAME", short="n", name="namespace"
        ),
    ] = (),
    kinds: Annotated[
        tuple[str, ...],
        Field(
            "Only this kind, as kubectl names it; repeatable. By default all that sessions, "
            "controllers, checks and answers read.",
            "KIND",
            name="kind",
        ),
    ] = (),
    scheduler_namespace: Annotated[
        str, Field("The namespace of Volcano, for its configuration and Lease.", "NAME")
    ] = "volcano-system",
    scheduler_log: Annotated[
        tuple[str, ...],
        Field(
            "The log of the scheduler, followed as it grows and across rotations; - is standard "
            "input. Repeatable.",
            "FILE",
        ),
    ] = (),
    controllers_log: Annotated[
        tuple[str, ...],
        Field("The log of Volcano's controllers, likewise; repeatable.", "FILE"),
    ] = (),
    cluster: Annotated[str, Field("The name of the cluster in the log.", "NAME")] = "default",
    branch: options.Branch = options.MAIN,
    redact: Annotated[
        bool,
        Field(
            "Leave out values that often hold secrets: of environment variables, "
            "ConfigMaps, commands, log lines. docs/secrets.md lists them."
        ),
    ] = False,
    duration: Annotated[
        str | None,
        Field("Stop after so long, as in 10m; by default Ctrl-C stops.", "TIME", name="for"),
    ] = None,
    form: serving.LogFormat = None,
    level: serving.LogLevel = "info",
    output: options.TextOrJson = "text",
) -> None:
    """Record a live cluster into the log, until it is stopped.

    It lists and watches what sessions, controllers, checks and answers read, and continues where
    the log ends. Secrets are never watched. Where a watch breaks off, what was missed is read
    afterwards; what cannot be had is a hole, and each answer that crosses it says so. Two recorders
    may write one Postgres log: everything is stored once. Needs the extra plinian[live].
    """
    from time import time_ns

    from ...engine.log import open_log
    from ..capture.cluster_access import ClusterAccess
    from ..capture.followed_file import FollowedFile, component_source
    from ..capture.index_builder import indexed
    from ..capture.outbox import Outbox, Room
    from ..capture.recorded_cluster import RecordOptions, cluster_streams
    from ..capture.recorder import ROOM, RecordedStream, StreamRecorder
    from ..render.recording import recorded_lines

    seconds = None if duration is None else _seconds(duration)
    access = ClusterAccess(kubeconfig, context)
    chosen = RecordOptions(
        namespaces=namespaces,
        kinds=kinds,
        scheduler_namespace=scheduler_namespace,
        cluster=cluster,
        branch=branch,
        redact=redact,
    )
    room = Room(ROOM)

    def now() -> int:
        return time_ns() // 1000

    files = [
        FollowedFile(
            path,
            Outbox(room),
            cluster=cluster,
            now=now,
            redact=redact,
            source=component_source(path, component),
        )
        for component, paths in (("scheduler", scheduler_log), ("controllers", controllers_log))
        for path in paths
    ]
    with open_log(log, create=True) as store:
        streams: list[RecordedStream] = [
            *cluster_streams(store, access, chosen, room, now=now),
            *files,
        ]
        recorder = StreamRecorder(store, streams, room, branch=branch)
        with (
            stopped_by_signals(recorder, seconds),
            _shown(log, access.server, form, level) as show,
            indexed(log, branch=branch, cluster=cluster, last=recorder.last),
        ):
            recording = recorder.run(show)
    write_answer(recording, recorded_lines(recording, style=style()), output)


def _seconds(text: str) -> float:
    """Return a duration in seconds.

    :raises UsageError: it is none.
    """
    from ...engine.errors import UsageError
    from ...engine.kubernetes.units import parse_duration

    try:
        return parse_duration(text) / 1e6
    except ValueError as fault:
        raise UsageError(f"{text!r} is no duration", now="write --for 10m, or 1h30m") from fault


@contextmanager
def _shown(
    log: str, server: str, form: serving.LogFormat, level: serving.LogLevel
) -> Iterator[Callable[[Recording], None]]:
    """Yield what shows a recording: a table that moves on a terminal, else a line a change."""
    from ...engine.errors import PlinianError
    from ..capture.stream_changes import StreamChanges
    from ..server.settings import ServerSettings
    from .moving_recording import moving_table

    if form is None and shows_progress():
        with moving_table() as show:
            yield show
        return
    logger = serving.logger_of(ServerSettings(place=log), form, level)
    logger.info("recording", server=server, log=log)
    changes = StreamChanges()

    def lines(recording: Recording) -> None:
        for change in changes.since_last(recording):
            getattr(logger, change.weight)(change.event, **change.fields)

    try:
        yield lines
    except PlinianError as fault:
        about = {"what": fault.what, "where": fault.where, "now": fault.now}
        logger.error("the recorder ended", **about)  # noqa: TRY400 -- it is no fault of code
        raise SystemExit(fault.exit_code) from fault  # The line has said it.
    logger.info("stopped")
    sys.stderr.flush()
