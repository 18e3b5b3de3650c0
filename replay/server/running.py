"""Run the server until it is interrupted."""

from __future__ import annotations

import errno
import logging
import shlex
import socket
import ssl
import sys
from collections.abc import Callable, Collection, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from structlog.typing import FilteringBoundLogger

from ...engine.errors import PlinianError, UsageError
from ...engine.log.location import shown_place
from .app import application
from .client_patience import InPieces, PatientProtocol, PatientSocket
from .freed_memory import leave_out_what_is_loaded
from .request_log import RequestLog
from .server_lines import logger_to, logging_to
from .settings import ServerSettings, checked

GRACE_SECONDS = 2
"""How long open watches may go on after an interrupt."""

MOST_CONNECTIONS = 512
MOST_HEADER_BYTES = 128 << 10
MOST_MESSAGE_BYTES = 4096
"""The longest message that a WebSocket may send; none is of use."""


class AddressUnavailable(PlinianError):
    """The server cannot listen at an address."""


class Listening:
    """An application that has its port, and is served until it is stopped or interrupted."""

    def __init__(
        self,
        settings: ServerSettings,
        made: Callable[[ServerSettings], Starlette],
        *,
        ready: Callable[[ServerSettings], None],
        ending: Callable[[], None] = lambda: None,
        logger: FilteringBoundLogger | None = None,
    ) -> None:
        """Take the port.

        :param made: returns the application, for settings with the port that it has.
        :param ready: called once it listens, with these settings. :param ending: when it ends.
        :param logger: takes the lines of the server; None prints warnings to standard error.
        :raises AddressUnavailable: the port is in use, or the address is not this machine's.
        """
        # The port 0 becomes the one that the system chose: links and the screen name it.
        self._bound = _bound(settings)
        settings = settings._replace(port=self._bound.getsockname()[1])
        lines = logger or logger_to(sys.stderr, settings)
        self.app = made(settings)
        self._server = _Server(
            _config(settings, self.app, lines), ready=lambda: ready(settings), ending=ending
        )

    def run(self) -> None:
        """Answer requests until somebody stops it."""
        leave_out_what_is_loaded()
        with self._bound:
            self._server.run(sockets=[self._bound])

    def stop(self) -> None:
        """Let :meth:`run` end, from another thread."""
        self._server.should_exit = True


class Serving(Listening):
    """A server of a log that has its port, and runs until it is stopped or interrupted."""

    def __init__(
        self,
        settings: ServerSettings,
        *,
        names: Collection[str] = (),
        more: Sequence[BaseRoute] = (),
        ready: Callable[[ServerSettings, Sequence[str]], None],
        logger: FilteringBoundLogger | None = None,
    ) -> None:
        """Take the port.

        :param names: names by which the server may be addressed.
        :param more: routes that come before all others.
        :param ready: called once it listens, with the settings and the port that it has, and with
            what will not be answered, as sentences.
        :param logger: takes the lines of the server; None prints warnings to standard error.
        :raises UsageError: other machines reach the address, and no token protects it.
        :raises LogNotFound: there is no log.
        :raises AddressUnavailable: the port is in use, or the address is not this machine's.
        """
        # Before the port is taken, so that a wrong log leaves no port in use behind.
        remarks = look(checked(settings))
        super().__init__(
            settings,
            lambda bound: application(bound, names, more),
            ready=lambda bound: ready(bound, remarks),
            ending=self._close_readers,
            logger=logger,
        )

    def _close_readers(self) -> None:
        self.app.state.served.readers.close()


def _config(
    settings: ServerSettings, app: Starlette, logger: FilteringBoundLogger
) -> uvicorn.Config:
    tls = settings.tls
    return uvicorn.Config(
        RequestLog(InPieces(app), logger),
        http=PatientProtocol,
        ws=PatientSocket,
        ws_max_size=MOST_MESSAGE_BYTES,
        ws_per_message_deflate=False,  # Who watches is on this machine, or near.
        loop="asyncio",
        log_config=logging_to(logger),
        access_log=False,  # RequestLog writes requests, without the token.
        server_header=False,
        date_header=True,
        proxy_headers=False,
        lifespan="on",
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
        ssl_ca_certs=None if tls is None else tls.clients or None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if tls is not None and tls.clients else ssl.CERT_NONE,
    )


class _Server(uvicorn.Server):
    """A server with callbacks for the moments when it listens, and when it begins to end."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], ending: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready, self._ending = ready, ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets=sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: connections that stay open are no fault, so nothing is printed about them."""
        logging.getLogger("uvicorn.error").disabled = True
        # First: questions that still run would hold up the shutdown until the grace is over.
        self._ending()
        await super().shutdown(sockets=sockets)


def look(settings: ServerSettings) -> list[str]:
    """Open the log once, so that the terminal shows a wrong place or an unknown point.

    :returns: what will not be answered, as sentences.
    """
    from ..facade.log import opened  # noqa: PLC0415 -- loads much
    from .reach import advice, is_out_of_reach  # noqa: PLC0415

    with opened(
        settings.place,
        read_only=not settings.writable,
        branch=settings.branch,
        cluster=settings.cluster,
    ) as log:
        moment = log.moment(settings.at)
        if settings.shift_to is not None and log.truth(moment).time is None:
            raise UsageError(
                "the log holds no times to shift", now="serve it without --shift-times"
            )
        if settings.writable:
            log.store.append([], branch=settings.branch)  # Fails if it cannot be written.
        if not is_out_of_reach(log, log.moment("end"), settings.used_release):
            return []
    now = f"{advice(settings.used_release)} --log {shlex.quote(shown_place(settings.place))}"
    refused = "questions about the scheduler's cache are refused far into this log"
    return [f"{refused}, because none is stored: {now}"]


def _bound(settings: ServerSettings) -> socket.socket:
    """Return a socket that listens.

    :raises AddressUnavailable: nothing can listen there.
    """
    family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
    # With its protocol named, asyncio sends small answers at once; else each is 40 ms late.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.address, settings.port))
    except OSError as fault:
        listener.close()
        raise AddressUnavailable(
            _reason(fault),
            where=f"{settings.address}:{settings.port}",
            now="choose another port with --port; 0 takes any free one",
        ) from fault
    except OverflowError as fault:
        listener.close()
        raise AddressUnavailable("ports are 0 to 65535", where=str(settings.port)) from fault
    return listener


def _reason(fault: OSError) -> str:
    reasons = {
        errno.EADDRINUSE: "another program listens here already",
        errno.EACCES: "this user may not listen here",
        errno.EADDRNOTAVAIL: "this machine does not have the address",
    }
    return reasons.get(fault.errno or 0, fault.strerror or str(fault))
