"""What commands of a server share: where it listens, who may connect, and where it is found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import click

from ..questions.defaults import DEFAULT_RELEASE
from ..questions.fields import Field
from .shell import as_message, note

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from ..server.server_lines import Form, Level
    from ..server.settings import ServerSettings

DEFAULT_PORT = 8001
"""Where a server listens if nothing else is said."""

DEFAULT_ADDRESS = "127.0.0.1"
DEFAULT_SERVER = "http://127.0.0.1:8001"

Port: TypeAlias = Annotated[
    int, Field("The port; 0 is any free one.", "PORT", short="p", least=0, most=65535)
]
Listen: TypeAlias = Annotated[
    str,
    Field(
        "The address to listen on; one that other machines reach needs --token-file or "
        "--tls-client-ca.",
        "ADDRESS",
    ),
]
TokenFile: TypeAlias = Annotated[
    Path | None, Field("A file with the token that every request must show.", "FILE")
]
AllowHost: TypeAlias = Annotated[
    tuple[str, ...],
    Field(
        "A name by which the server may be addressed, beside localhost and addresses; repeatable.",
        "NAME",
        name="allow-host",
    ),
]
TlsCert: TypeAlias = Annotated[
    Path | None,
    Field("The certificate of the server, in PEM: connections are encrypted.", "FILE"),
]
TlsKey: TypeAlias = Annotated[Path | None, Field("The key of --tls-cert.", "FILE")]
TlsClientCa: TypeAlias = Annotated[
    Path | None,
    Field("Accept only clients whose certificate one of these signed, in PEM.", "FILE"),
]
LogFormat: TypeAlias = Annotated[
    Literal["text", "json"] | None,
    Field(
        "How a request and an error are written to standard error: a line of text, or of JSON; "
        "text on a terminal, else JSON.",
        name="log-format",
    ),
]
LogLevel: TypeAlias = Annotated[
    Literal["debug", "info", "warning", "error"],
    Field(
        "The least important lines that are written: debug also has health checks and the files "
        "of pages, info all other requests, warning those that the server could not answer, error "
        "only its own errors.",
        name="log-level",
    ),
]
Server: TypeAlias = Annotated[str, Field("The address that plinian serve prints.", "URL")]
ItsTokenFile: TypeAlias = Annotated[
    Path | None, Field("The file with the server's token, as for plinian serve.", "FILE")
]


def open_in_browser(url: str) -> None:
    """Open a page in the user's browser; without one nothing happens, and nothing is printed."""
    if sys.platform == "win32":
        click.launch(url)
        return
    opener = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if opener is not None:
        silent = subprocess.DEVNULL
        subprocess.Popen(  # noqa: S603 -- the address is the server's own
            [opener, url], stdin=silent, stdout=silent, stderr=silent, start_new_session=True
        )


def warn(listening: ServerSettings, remarks: Sequence[str] = ()) -> None:
    """Print what a person should know before other machines connect, and what is refused."""
    from ..server.settings import warnings

    for line in (*warnings(listening), *remarks):
        note(f"plinian: WARNING: {line}")


def logger_of(settings: ServerSettings, form: Form | None, level: Level) -> FilteringBoundLogger:
    """Return the logger of a server, to standard error.

    :param form: None is text on a terminal, else JSON.
    """
    from ..server.server_lines import logger_to

    used: Form = form or ("text" if sys.stderr.isatty() else "json")
    return logger_to(sys.stderr, settings, form=used, level=level, lay_out=as_message)


def release_named(release: str | None, place: str, cluster: str | None, branch: str) -> str | None:
    """Return the release that answers of a server are about, unless a request names one.

    It is the one that is given, else that of the image of the scheduler's pods at the end of the
    log; None if there is neither, and for a log of which the end is not soon found. A log that
    cannot be read is reported when it is served.
    """
    from ...engine.errors import PlinianError
    from ..facade.log import opened
    from ..logs.scheduler_release import release_at
    from ..server.reach import is_out_of_reach

    if release is not None:
        return release
    try:
        with opened(place, read_only=True, branch=branch, cluster=cluster) as log:
            end = log.moment("end")
            far = is_out_of_reach(log, end, DEFAULT_RELEASE)
            return None if far else release_at(log, end)
    except PlinianError:
        return None
