"""``plinian record``: a live cluster into the log, until it is stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, NamedTuple

from ..questions.defaults import DEFAULT_RELEASE
from ..questions.fields import Field
from . import options, serving
from .answers import write_answer
from .audit_door import AskedWebhook, AuditDoor, audit_door
from .command import command
from .shell import shows_progress, style
from .stopping import stopped_by_signals

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from ...engine.log import LogStore
    from ..capture.cache_dumps import CacheDumps
    from ..capture.cluster_access import ClusterAccess
    from ..capture.outbox import Room
    from ..capture.recorded_cluster import RecordOptions
    from ..capture.recorder import RecordedStream, Recording
    from ..server.settings import ServerSettings
    from .recording_site import AskedSite

_DOOR_SECONDS = 1.0


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
    cache_dump: Annotated[
        str | None,
        Field(
            "Also take a dump of the scheduler's cache so often, as in 5m: by a signal to the "
            "scheduler in its pod, which needs create on pods/exec.",
            "TIME",
            name="scheduler-cache-dump",
        ),
    ] = None,
    audit_webhook: Annotated[
        str | None,
        Field(
            "Also take the batches of an audit webhook of the API server, at this address.",
            "ADDRESS:PORT",
        ),
    ] = None,
    audit_token_file: Annotated[
        Path | None, Field("A file with the token that the webhook must show.", "FILE")
    ] = None,
    audit_cert: Annotated[
        Path | None, Field("The certificate that the webhook is shown, in PEM.", "FILE")
    ] = None,
    audit_key: Annotated[Path | None, Field("The key of --audit-cert.", "FILE")] = None,
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
    port: Annotated[
        int | None,
        Field(
            "Also answer /metrics, /livez and /readyz at this port; 0 is any free one.",
            "PORT",
            short="p",
            least=0,
            most=65535,
        ),
    ] = None,
    listen: Annotated[
        str,
        Field(
            "The address to listen on; with --serve, one that other machines reach needs "
            "--token-file or --tls-client-ca.",
            "ADDRESS",
        ),
    ] = serving.DEFAULT_ADDRESS,
    serve: Annotated[
        bool,
        Field("Also serve the log while it grows, as plinian serve does: at 8001, or --port."),
    ] = False,
    token_file: serving.TokenFile = None,
    tls_cert: serving.TlsCert = None,
    tls_key: serving.TlsKey = None,
    tls_client_ca: serving.TlsClientCa = None,
    names: serving.AllowHost = (),
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
    from ..capture.cluster_access import ClusterAccess
    from ..capture.followed_file import check_folders
    from ..capture.recorded_cluster import RecordOptions
    from ..capture.recording_summary import summary_of
    from ..render.recording import recorded_lines
    from ..server.access_token import token_in
    from ..server.settings import ServerSettings
    from ..server.tls import tls_of
    from .recording_site import AskedSite

    seconds = None if duration is None else _seconds(duration, "for")
    settings = ServerSettings(
        place=log,
        branch=branch,
        cluster=cluster,
        address=listen,
        port=serving.DEFAULT_PORT if port is None else port,
        token="" if token_file is None else token_in(token_file),
        tls=tls_of(tls_cert, tls_key, tls_client_ca),
    )
    chosen = RecordOptions(
        namespaces=namespaces,
        kinds=kinds,
        scheduler_namespace=scheduler_namespace,
        cluster=cluster,
        branch=branch,
        redact=redact,
    )
    site = AskedSite(settings, names, serve) if serve or port is not None else None
    webhook = AskedWebhook(audit_webhook, audit_token_file, audit_cert, audit_key)
    beside = BesideWatches(
        {"scheduler": scheduler_log, "controllers": controllers_log},
        audit_door(webhook, log, branch),
        None if cache_dump is None else _seconds(cache_dump, "scheduler-cache-dump"),
    )
    check_folders([*scheduler_log, *controllers_log])
    manner = RunManner(form, level, seconds)
    # Last, as it may run a plugin that asks for a password.
    access = ClusterAccess(kubeconfig, context)
    recording = record_until_stopped(settings, access, chosen, site, manner, beside)
    write_answer(summary_of(recording), recorded_lines(recording, style=style()), output)


class RunManner(NamedTuple):
    """How a recorder shows what it does. :param seconds: to stop after; None is no such time."""

    form: serving.LogFormat
    level: serving.LogLevel
    seconds: float | None = None


class BesideWatches(NamedTuple):
    """What is recorded beside watches.

    :param logs: of components, by component. :param dumps: seconds from one dump to the next.
    """

    logs: Mapping[str, Sequence[str]] = MappingProxyType({})
    audit: AuditDoor | None = None
    dumps: float | None = None


def record_until_stopped(
    settings: ServerSettings,
    access: ClusterAccess,
    chosen: RecordOptions,
    site: AskedSite | None,
    manner: RunManner,
    also: BesideWatches = BesideWatches(),  # noqa: B008 -- a tuple
) -> Recording:
    """Record, and answer over HTTP beside it if wanted; return what was recorded.

    :param settings: they name the log.
    :raises RecordingFailed: no list of the cluster was ever whole.
    """
    from ...engine.log import open_log
    from ...engine.log.wall_clock import micros_now
    from ..capture.index_builder import indexed
    from ..capture.never_listed import never_listed
    from ..capture.outbox import Room
    from ..capture.recorded_cluster import ClusterEpochs
    from ..capture.recorder import ROOM, StreamRecorder
    from ..logs.log_index import build_log_index
    from .recording_site import RecordingSite

    logger = serving.logger_of(settings, manner.form, manner.level)
    room, place, branch = Room(ROOM), settings.place, chosen.branch

    with open_log(place, create=True, waits=False) as store, ExitStack() as ends:
        made = partial(_streams, store, access, chosen, room, also, micros_now)
        epochs = ClusterEpochs(store.clusters(), chosen.cluster, made)
        recorder = StreamRecorder(
            store, epochs.streams(), room, branch=branch, renewed=epochs.renewed
        )
        beside = None if site is None else RecordingSite(recorder, site, logger)
        end_soon = (lambda: None) if beside is None else beside.end_soon
        ends.enter_context(stopped_by_signals(recorder, manner.seconds, also=end_soon))
        if beside is not None:
            ends.callback(beside.stop)
        if also.audit is not None:
            ends.callback(also.audit.opened(logger).stop, within=_DOOR_SECONDS)
        show = ends.enter_context(_shown(place, access.server, manner.form, logger))
        build = partial(build_log_index, place, branch, release=DEFAULT_RELEASE)
        ends.enter_context(indexed(build, cluster=lambda: epochs.cluster, last=recorder.last))

        def noticed(recording: Recording) -> None:
            show(recording)
            if beside is not None:
                beside.noticed(recording)

        recording = recorder.run(noticed)
        if (fault := never_listed(recording, access.server)) is not None:
            raise fault
        return recording


def _streams(
    store: LogStore,
    access: ClusterAccess,
    chosen: RecordOptions,
    room: Room,
    also: BesideWatches,
    now: Callable[[], int],
    cluster: str,
) -> list[RecordedStream]:
    """Return all that is recorded of one epoch of a cluster."""
    from time import monotonic

    import msgspec

    from ..capture.audit_inbox import SOURCE as AUDIT
    from ..capture.audit_losses import AuditLosses
    from ..capture.followed_file import followed_files
    from ..capture.recorded_cluster import cluster_streams

    chosen = msgspec.structs.replace(chosen, cluster=cluster)
    losses = AuditLosses(monotonic, source=AUDIT, cluster=cluster)
    seen = None if also.audit is None else losses.watched
    streams: list[RecordedStream] = [
        *cluster_streams(store, access, chosen, room, now=now, seen=seen),
        *followed_files(also.logs, room, cluster=cluster, now=now, redact=chosen.redact),
    ]
    if also.audit is not None:
        streams.append(also.audit.inbox(room, chosen, losses, now))
    if also.dumps is not None:
        streams.append(_dumps(access, also.dumps, room, chosen, now))
    return streams


def _dumps(
    access: ClusterAccess, every: float, room: Room, chosen: RecordOptions, now: Callable[[], int]
) -> CacheDumps:
    from ..capture.cache_dumps import CacheDumps
    from ..capture.outbox import Outbox
    from ..capture.pod_exec import ClusterCommands

    return CacheDumps(
        access,
        ClusterCommands(access),
        Outbox(room),
        namespace=chosen.scheduler_namespace,
        every=every,
        cluster=chosen.cluster,
        now=now,
        redact=chosen.redact,
    )


def _seconds(text: str, option: str) -> float:
    """Return the duration of an option in seconds.

    :raises UsageError: it is none.
    """
    from ...engine.errors import UsageError
    from ...engine.kubernetes.units import parse_duration

    try:
        return parse_duration(text) / 1e6
    except ValueError as fault:
        raise UsageError(
            f"{text!r} is no duration", now=f"write --{option} 10m, or 1h30m"
        ) from fault


@contextmanager
def _shown(
    log: str, server: str, form: serving.LogFormat, logger: FilteringBoundLogger
) -> Iterator[Callable[[Recording], None]]:
    """Yield what shows a recording: a table that moves on a terminal, else a line a change."""
    from ...engine.errors import PlinianError
    from ..capture.stream_changes import StreamChanges
    from .moving_recording import moving_table

    if form is None and shows_progress():
        with moving_table() as show:
            yield show
        return
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
