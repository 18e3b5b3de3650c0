"""``plinian mcp``: the questions to a log as tools for agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from ..questions.fields import Field
from . import options, serving
from .command import command
from .shell import note


@command("mcp")
def mcp(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    at: options.At = options.END,
    http: Annotated[
        bool, Field("Serve over HTTP at /mcp, instead of over standard input and output.")
    ] = False,
    port: serving.Port = serving.DEFAULT_PORT,
    listen: serving.Listen = serving.DEFAULT_ADDRESS,
    token_file: serving.TokenFile = None,
    names: serving.AllowHost = (),
    tls_cert: serving.TlsCert = None,
    tls_key: serving.TlsKey = None,
    tls_client_ca: serving.TlsClientCa = None,
    form: serving.LogFormat = None,
    level: serving.LogLevel = "info",
    release: options.ReleaseOrImage = None,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Answer the questions of agents about a log, by the Model Context Protocol.

    All tools only read. Without --http, the program that starts this command asks over standard
    input and reads standard output; options about addresses and certificates are for --http. Needs
    the extra mcp: pip install 'plinian[mcp]'.
    """
    from ...engine.log.location import shown_place
    from ..server.access_token import token_in
    from ..server.mcp.door import PATH, check_installed
    from ..server.settings import ServerSettings
    from ..server.tls import tls_of

    check_installed()
    settings = ServerSettings(
        place=log,
        branch=branch,
        cluster=cluster,
        at=at,
        release=serving.release_named(release, log, cluster, branch),
        address=listen,
        port=port,
        token="" if token_file is None else token_in(token_file),
        tls=tls_of(tls_cert, tls_key, tls_client_ca),
    )
    logger = serving.logger_of(settings, form, level)
    if not http:
        from ..server.mcp.stdio import serve_stdio

        serve_stdio(settings, logger)
        return
    from ..server.running import Serving

    def ready(listening: ServerSettings, remarks: Sequence[str]) -> None:
        serving.warn(listening, remarks)
        where = f"{listening.origin}{PATH}"
        note(f"plinian: serving {shown_place(log)} to agents at {where} (Ctrl-C ends it)")

    Serving(settings, names=names, ready=ready, logger=logger).run()
