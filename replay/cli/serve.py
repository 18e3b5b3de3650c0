"""``plinian serve``: the past over HTTP, for browsers, programs and ``kubectl``."""

from __future__ import annotations

from pathlib import Path

import click

from . import options
from .command import command
from .shell import note


@command("serve")
@options.log
@options.at
@click.option(
    "--port",
    "-p",
    default=8001,
    show_default=True,
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="The port; 0 is any free one.",
)
@click.option(
    "--listen",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="The address to listen on; one that other machines reach needs --token-file.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file with the token that every request must show.",
)
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="A name by which the server may be addressed, beside localhost and addresses; repeatable.",
)
@click.option(
    "--play",
    "speed",
    metavar="SPEED",
    help="Let the moment move on for kubectl and other clients, as in 10x: ten times faster than "
    "it happened. plinian play steers it.",
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@options.release
@options.cluster
@options.branch
def serve(
    log: str,
    at: str,
    port: int,
    listen: str,
    token_file: Path | None,
    names: tuple[str, ...],
    speed: str | None,
    show: bool,
    release: str,
    cluster: str | None,
    branch: str,
) -> None:
    """Serve the past over HTTP: a page for browsers, an API for programs and kubectl.

    Nothing is written to the log, and events that are appended to it are served at once. Only this
    machine can connect, unless --listen says otherwise. Ctrl-C ends the server.
    """
    from ..server.running import serve as run
    from ..server.settings import Settings
    from ..server.token import token_in
    from .play import speed_of

    settings = Settings(
        place=log,
        branch=branch,
        cluster=cluster,
        at=at,
        release=release,
        address=listen,
        port=port,
        token="" if token_file is None else token_in(token_file),
        play=0 if speed is None else speed_of(speed),
    )

    def ready(listening: Settings) -> None:
        note(f"plinian: serving {log} at {listening.origin}/ (Ctrl-C ends it)")
        if show:
            click.launch(f"{listening.origin}/")

    run(settings, names=names, ready=ready)
