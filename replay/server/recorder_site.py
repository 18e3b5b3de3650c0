"""What a recorder says over HTTP to those who watch over it: metrics, and whether it records.

It runs in a thread beside the recorder, which reads and writes in others: a probe never waits for
the log.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ...engine.log.wall_clock import micros_now
from ..capture.readiness import unready
from ..capture.recorder import Recording
from .guard import Guard
from .recorder_metrics import registry_of
from .settings import ServerSettings

PATHS = ("/metrics", "/livez", "/readyz")


class Server(Protocol):
    """What runs until it is stopped."""

    def run(self) -> None:
        """Answer requests until somebody stops it."""

    def stop(self) -> None:
        """Let :meth:`run` end, from another thread."""


def recorder_routes(
    look: Callable[[], Recording], now: Callable[[], int] = micros_now
) -> Sequence[BaseRoute]:
    """Return the routes of a recorder.

    :param look: returns what it did so far. :param now: microseconds since 1970.
    """
    from prometheus_client.exposition import choose_encoder  # noqa: PLC0415 -- of the extra

    registry = registry_of(look, now)

    async def metrics(request: Request) -> Response:
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"Content-Type": media_type})

    async def alive(_request: Request) -> Response:
        return PlainTextResponse("ok")

    async def ready(_request: Request) -> Response:
        causes = list(unready(look(), now=now()))
        if not causes:
            return PlainTextResponse("ok")
        return PlainTextResponse("".join(f"{cause}\n" for cause in causes), 503)

    return [
        Route(path, answer) for path, answer in zip(PATHS, (metrics, alive, ready), strict=True)
    ]


def recorder_application(
    settings: ServerSettings, routes: Sequence[BaseRoute], names: Collection[str] = ()
) -> Starlette:
    """Return the ASGI application of a recorder that serves nothing of its log.

    :param names: names by which it may be addressed, beside ``localhost`` and addresses.
    """
    guard = Middleware(Guard, settings=settings, names=names)
    return Starlette(routes=list(routes), middleware=[guard])


class Beside:
    """Runs a server in a thread, beside what else the process does."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._thread = threading.Thread(target=server.run, name="server", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def end_soon(self) -> None:
        """Let it end, without waiting for that."""
        self._server.stop()

    def stop(self, *, within: float) -> None:
        """End it, and wait for its end. :param within: seconds; what runs longer is left."""
        self._server.stop()
        self._thread.join(within)
