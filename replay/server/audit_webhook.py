"""The address to which API servers send their audit log: one path, one token, one answer.

Source: staging/src/k8s.io/apiserver/plugin/pkg/audit/webhook; an EventList a request, which is
sent again unless the answer is a success.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ...engine.errors import InputError

AT_ONCE = 4
"""Batches that are read or stored at a time; others wait, and API servers wait for them."""

MOST_BYTES = 100 * 2**20
"""The largest batch."""


def audit_application(accept: Callable[[bytes], None], token: str) -> Starlette:
    """Return the ASGI application that takes batches at any path.

    :param accept: stores a batch, or raises InputError; called in threads.
    :param token: what requests must show as a bearer token.
    """
    turns = asyncio.Semaphore(AT_ONCE)

    async def batch(request: Request) -> Response:
        if not _shows(request, token):
            return PlainTextResponse("this needs the token of the webhook\n", 401)
        async with turns:
            try:
                body = await _body(request)
            except ClientDisconnect:
                return PlainTextResponse("", 400)
            if body is None:
                return PlainTextResponse(f"a batch has more than {MOST_BYTES} bytes\n", 413)
            try:
                await asyncio.to_thread(accept, body)
            except InputError as fault:
                return PlainTextResponse(f"{fault}\n", 400)
            except OSError as fault:
                return PlainTextResponse(f"it cannot be stored: {fault.strerror}\n", 507)
        return PlainTextResponse("ok\n")

    return Starlette(routes=[Route("/{path:path}", batch, methods=["POST"])])


def _shows(request: Request, token: str) -> bool:
    shown = request.headers.get("authorization", "")
    return hmac.compare_digest(shown.encode(), f"Bearer {token}".encode())


async def _body(request: Request) -> bytes | None:
    """Return the body of a request; None if it is too long."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            return None
    return bytes(body)
