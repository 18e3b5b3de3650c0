"""``plinian serve``: the past over HTTP, for browsers, programs and ``kubectl``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ..questions.fields import Field
from . import options, serving
from .command import command
from .shell import note

if TYPE_CHECKING:
    from ..server.settings import ServerSettings
    from .recording_site import AskedSite


@command("serve")
def serve(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    at: options.At = options.END,
    port: serving.Port = serving.DEFAULT_PORT,
    listen: serving.Listen = serving.DEFAULT_ADDRESS,
    token_file: serving.TokenFile = None,
    names: serving.AllowHost = (),
    origins: Annotated[
        tuple[str, ...],
        Field(
            "A site whose pages may ask too, such as the address of Headlamp; repeatable.",
            "URL",
            name="allow-origin",
        ),
    ] = (),
    tls_cert: serving.TlsCert = None,
    tls_key: serving.TlsKey = None,
    tls_client_ca: serving.TlsClientCa = None,
    speed: Annotated[
        str | None,
        Field(
            "Let the moment move on for kubectl and other clients, as in 10x: ten times faster "
            "than it happened. plinian play steers it.",
            "SPEED",
            name="play",
        ),
    ] = None,
    shift_times: Annotated[
        str | None,
        Field(
            "Move all times in the objects of the Kubernetes API, so that the served moment is at "
            "TIME: ages are right for clients that count from their clock. now is when the server "
            "starts.",
            "TIME",
        ),
    ] = None,
    writable: Annotated[
        bool,
        Field("Accept writes to the Kubernetes API, and append them to the branch of --branch."),
    ] = False,
    record: Annotated[
        bool,
        Field("Also record a live cluster into the log meanwhile, as plinian record does."),
    ] = False,
    kubeconfig: Annotated[
        str | None,
        Field("With --record: the kubeconfig; by default as kubectl finds it.", "FILE"),
    ] = None,
    context: Annotated[str | None, Field("With --record: the context in it.", "NAME")] = None,
    show: Annotated[bool, Field("Open the page in a browser.", name="open")] = False,
    form: serving.LogFormat = None,
    level: serving.LogLevel = "info",
    release: options.ReleaseOrImage = None,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Serve the past over HTTP: a page for browsers, an API for programs and kubectl.

    Nothing is written to the log, unless --writable says otherwise, and events that are appended
    to it are served at once. Only this machine can connect, unless --listen says otherwise. Ctrl-C
    ends the server.
    """
    from ...engine.log.location import shown_place
    from ..server.access_token import token_in
    from ..server.running import Serving
    from ..server.settings import ServerSettings, origin_of
    from ..server.tls import tls_of
    from .play import speed_of
    from .recording_site import AskedSite

    settings = ServerSettings(
        place=log,
        branch=branch,
        cluster=cluster,
        at=at if record else _at(at, log, cluster, branch),
        release=release if record else serving.release_named(release, log, cluster, branch),
        address=listen,
        port=port,
        token="" if token_file is None else token_in(token_file),
        tls=tls_of(tls_cert, tls_key, tls_client_ca),
        play=0 if speed is None else speed_of(speed),
        origins=tuple(map(origin_of, origins)),
        shift_to=None if shift_times is None else _time_of(shift_times),
        writable=writable,
    )

    if record:
        _record(settings, kubeconfig, context, AskedSite(settings, names, True, show), form, level)
        return
    logger = serving.logger_of(settings, form, level)

    def ready(listening: ServerSettings, remarks: Sequence[str]) -> None:
        serving.warn(listening, remarks)
        note(f"plinian: serving {shown_place(log)} at {listening.origin}/ (Ctrl-C ends it)")
        if show:
            serving.open_in_browser(f"{listening.origin}/")

    Serving(settings, names=names, ready=ready, logger=logger).run()


def _record(
    settings: ServerSettings,
    kubeconfig: str | None,
    context: str | None,
    site: AskedSite,
    form: serving.LogFormat,
    level: serving.LogLevel,
) -> None:
    """Record what is served.

    :raises UsageError: a moment is served that does not move with the log, or a branch is written.
    """
    from ...engine.errors import UsageError
    from ..capture.cluster_access import ClusterAccess
    from ..capture.recorded_cluster import RecordOptions
    from .record import RunManner, record_until_stopped

    if settings.writable or settings.play or settings.shift_to is not None or settings.at != "end":
        raise UsageError(
            "what is recorded is served as it is, at its end",
            now="leave out --at, --play, --shift-times and --writable, or serve the log by "
            "another plinian serve beside plinian record",
        )
    chosen = RecordOptions(cluster=settings.cluster or "default", branch=settings.branch)
    access = ClusterAccess(kubeconfig, context)
    record_until_stopped(settings, access, chosen, site, RunManner(form, level))


def _at(point: str, place: str, cluster: str | None, branch: str) -> str:
    """Return the point to serve, as the server reads it: it does not know of this command's zone.

    :raises PlinianError: there is no such log, or no such moment of it.
    """
    from .open_log import opened, without_zone
    from .shell import shown_zone

    if shown_zone() is None:
        return point
    with opened(place, read_only=True, branch=branch, cluster=cluster) as log:
        return without_zone(log, point)


def _time_of(text: str) -> int:
    """Return a time in microseconds.

    :raises UsageError: it is none.
    """
    from time import time

    from ...engine.errors import UsageError
    from ...engine.kubernetes.units import SECOND_US
    from ..moments.zones import time_of
    from .open_log import read_zone

    if text == "now":
        return int(time()) * SECOND_US
    try:
        return time_of(text, read_zone())
    except ValueError as fault:
        raise UsageError(
            f"{text!r} is no time", now="write --shift-times now, or 2026-11-24T08:00:00Z"
        ) from fault
