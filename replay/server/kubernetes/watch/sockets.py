"""Watches over WebSocket: each event is a text frame, for clients that run in a browser.

Source: k8s.io/apiserver pkg/endpoints/handlers/watch.go and pkg/authentication/request/websocket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from ...socket_token import is_token
from .watches import WatchResponse


async def sent(connection: WebSocket, watch: WatchResponse) -> None:
    """Send a watch until it ends, or its client goes."""
    try:
        await connection.accept(_subprotocol(connection.scope["subprotocols"]))
        reading = asyncio.ensure_future(_gone(connection))
        writing = asyncio.ensure_future(_told(connection, watch))
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            reading.cancel()
            writing.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)
    finally:
        watch.end()


def _subprotocol(offered: Sequence[str]) -> str | None:
    """Return the first protocol that a client offers; browsers expect that one is chosen."""
    return next((one for one in offered if not is_token(one)), None)


async def _gone(connection: WebSocket) -> None:
    """Return once the client is gone; what it says is of no interest."""
    with suppress(WebSocketDisconnect):
        while (await connection.receive())["type"] != "websocket.disconnect":
            pass


async def _told(connection: WebSocket, watch: WatchResponse) -> None:
    with suppress(WebSocketDisconnect):
        async for part in watch.lines:
            for line in part.splitlines():
                await connection.send_text(line.decode())
        await connection.close()
