"""The application: every door of the server, behind one guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

from ...engine.errors import PlinianError
from .api.routes import routes as api_routes
from .fault_answers import json_failure, json_fault
from .guard import Guard
from .kept_answers import KeptAnswers
from .kubernetes import kubernetes_routes as kubernetes
from .mcp.door import routes as mcp_routes
from .plain_json import PlainJSON
from .readers import Readers
from .served import Served
from .settings import ServerSettings
from .web.routes import routes as web_routes
from .works import Works


def application(
    settings: ServerSettings, names: Collection[str] = (), more: Sequence[BaseRoute] = ()
) -> Starlette:
    """Return the ASGI application of a server.

    :param names: names by which it may be addressed, beside ``localhost`` and addresses.
    :param more: routes that come before all others, as those of a recorder in this process.
    """
    readers = Readers(settings)

    @asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        async with kubernetes.opened(app, settings, readers):
            yield
        readers.close()

    app = Starlette(
        routes=[*more, *api_routes(), *mcp_routes(), *kubernetes.routes(), *web_routes()],
        middleware=[Middleware(Guard, settings=settings, names=names)],
        exception_handlers={
            PlinianError: json_fault,
            HTTPException: _not_found,
            Exception: json_failure,
        },
        lifespan=living,
    )
    app.state.served = Served(settings, readers, Works(readers), KeptAnswers())
    return app


async def _not_found(request: Request, fault: Exception) -> Response:
    """Answer for a path or a method that does not exist; as JSON below the path of the API."""
    assert isinstance(fault, HTTPException), "it is registered for these alone"
    if not request.url.path.startswith("/plinian/"):
        return PlainTextResponse(f"{fault.detail}\n", fault.status_code, fault.headers)
    said = {"what": fault.detail, "where": "", "now": "see /plinian/v1/about"}
    return PlainJSON({"error": said}, fault.status_code, fault.headers)
