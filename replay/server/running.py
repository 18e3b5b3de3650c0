"""Run the server until it is interrupted."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Collection

import uvicorn

from ...engine.errors import PlinianError
from .app import application
from .settings import Settings, checked

GRACE_SECONDS = 2
"""How long open watches may go on after an interrupt."""

MOST_CONNECTIONS = 1024


class AddressUnavailable(PlinianError):
    """The server cannot listen at an address."""


def serve(
    settings: Settings, *, names: Collection[str] = (), ready: Callable[[Settings], None]
) -> None:
    """Serve a log until the process is interrupted.

    :param names: names by which the server may be addressed.
    :param ready: called once it listens, with the settings and the port that it has.
    :raises UsageError: other machines reach the address, and no token protects it.
    :raises LogNotFound: there is no log.
    :raises AddressUnavailable: the port is in use, or the address is not this machine's.
    """
    _look(checked(settings))
    bound = _bound(settings)
    settings = settings._replace(port=bound.getsockname()[1])
    server = _Server(
        uvicorn.Config(
            application(settings, names),
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=True,
            lifespan="on",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ws="none",
        ),
        ready=lambda: ready(settings),
    )
    with bound:
        server.run(sockets=[bound])


class _Server(uvicorn.Server):
    """A server with a callback for the moment when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready()


def _look(settings: Settings) -> None:
    """Open the log once, so that the terminal shows a wrong place or an unknown point."""
    from ..facade.log import opened  # noqa: PLC0415 -- loads much

    with opened(
        settings.place, read_only=True, branch=settings.branch, cluster=settings.cluster
    ) as log:
        log.moment(settings.at)


def _bound(settings: Settings) -> socket.socket:
    """Return a socket that listens.

    :raises AddressUnavailable: nothing can listen there.
    """
    family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.address, settings.port))
    except OSError as fault:
        made.close()
        raise AddressUnavailable(
            _reason(fault),
            where=f"{settings.address}:{settings.port}",
            now="choose another port with --port; 0 takes any free one",
        ) from fault
    except OverflowError as fault:
        made.close()
        raise AddressUnavailable("ports are 0 to 65535", where=str(settings.port)) from fault
    return made


def _reason(fault: OSError) -> str:
    reasons = {
        errno.EADDRINUSE: "another program listens here already",
        errno.EACCES: "this user may not listen here",
        errno.EADDRNOTAVAIL: "this machine does not have the address",
    }
    return reasons.get(fault.errno or 0, fault.strerror or str(fault))
