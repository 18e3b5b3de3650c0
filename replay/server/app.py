"""The application: every door of the server, behind one guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ...engine.errors import PlinianError
from ...engine.version import __version__
from .faults import json_fault
from .guard import Guard
from .kubernetes import routes as kubernetes
from .readers import Readers
from .served import Served, served
from .settings import Settings


def application(settings: Settings, names: Collection[str] = ()) -> Starlette:
    """Return the ASGI application of a server.

    :param names: names by which it may be addressed, beside ``localhost`` and addresses.
    """
    readers = Readers(settings)

    @asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        async with kubernetes.opened(app, settings, readers):
            yield
        readers.close()

    app = Starlette(
        routes=list(_routes()),
        middleware=[Middleware(Guard, settings=settings, names=names)],
        exception_handlers={PlinianError: json_fault},
        lifespan=living,
    )
    app.state.served = Served(settings, readers)
    return app


def _routes() -> Sequence[BaseRoute]:
    return [Route("/plinian/v1/about", _about), *kubernetes.routes()]


async def _about(request: Request) -> Response:
    """Say which log is served, and up to where it goes."""
    settings, readers = served(request)
    last = await readers.ask(lambda log: log.moment("end").known)
    return JSONResponse(
        {
            "plinian": __version__,
            "branch": settings.branch,
            "at": settings.at,
            "release": settings.release,
            "last": last,
        }
    )
