"""MCP over HTTP, at ``/mcp`` of the server, behind the same guard as all doors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Receive, Scope, Send

from ....engine.errors import UsageError
from ..fault_answers import fault_document
from ..plain_json import PlainJSON
from ..served import served

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"

MOST_ASKED = 256 << 10
"""The largest message of an agent, in bytes: the SDK reads it in the event loop."""


def routes() -> Sequence[BaseRoute]:
    """Return the route of MCP; a stream that a client opens with GET would stay empty."""
    return [Route(PATH, _Door(), methods=["POST"])]


def check_installed() -> None:
    """Check that the SDK can be imported.

    :raises UsageError: it is not installed.
    """
    if find_spec("mcp") is None:
        raise UsageError(
            "the SDK of the Model Context Protocol is not installed",
            now="pip install 'plinian[mcp]'",
        )


class _Door:
    """Answers one message a request, and keeps no session: memory does not grow with clients.

    The SDK is imported at the first request: the server starts without it.
    """

    def __init__(self) -> None:
        self._begun: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._living: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        try:
            check_installed()
        except UsageError as fault:
            lacking = PlainJSON(fault_document(fault), status_code=501)
            await lacking(scope, receive, send)
            return
        # The first request starts the SDK. Others that come meanwhile wait for the same future.
        if self._begun is None:
            self._begun = asyncio.get_running_loop().create_future()
            self._living = asyncio.create_task(self._live(Request(scope), self._begun))
        body = await _body(receive)
        if body is None:
            await _TOO_LARGE(scope, receive, send)
            return
        if body.lstrip().startswith(b"["):
            await _NO_BATCH(scope, receive, send)
            return
        # A client that leaves must not cancel the start for all others.
        manager = await asyncio.shield(self._begun)
        await manager.handle_request(scope, _again(body, receive), send)

    async def _live(
        self, request: Request, begun: asyncio.Future[StreamableHTTPSessionManager]
    ) -> None:
        """Keep the SDK's tasks alive until the server ends."""
        try:
            manager = _sessions(request)
        except Exception as fault:  # noqa: BLE001 -- raised again where requests wait
            begun.set_exception(fault)
            return
        async with manager.run():
            begun.set_result(manager)
            await asyncio.Event().wait()


def _refusal(status: int, code: int, message: str) -> PlainJSON:
    error = {"code": code, "message": message}
    return PlainJSON({"jsonrpc": "2.0", "id": None, "error": error}, status_code=status)


_TOO_LARGE = _refusal(413, -32600, f"a message has at most {MOST_ASKED} bytes")
_NO_BATCH = _refusal(400, -32600, "send one message a request: MCP has no batches")


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request; None if it is too large.

    :raises ClientDisconnect: the client goes before its end.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > MOST_ASKED:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a channel that gives a body that was read, and then what follows it."""
    given = iter([body])

    async def receiving() -> Message:
        part = next(given, None)
        if part is None:
            return await receive()
        return {"type": "http.request", "body": part, "more_body": False}

    return receiving


def _sessions(request: Request) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import (  # noqa: PLC0415 -- loads much
        StreamableHTTPSessionManager,
    )

    from .request_lines import RequestNotes  # noqa: PLC0415 -- likewise
    from .tools import server_of  # noqa: PLC0415 -- likewise

    serving = served(request)
    server = server_of(serving.settings, serving.readers)
    server.middleware.append(RequestNotes())
    return StreamableHTTPSessionManager(
        app=server,
        json_response=True,
        stateless=True,
        max_request_body_size=MOST_ASKED,
    )
