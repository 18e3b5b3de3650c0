"""Watches as answers: events that come as long as a client reads them.

Each is a line of an HTTP answer, or a text frame of a WebSocket, for clients that run in a browser.

Source: k8s.io/apiserver pkg/endpoints/handlers/watch.go and pkg/authentication/request/websocket.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from ...access_token import is_token
from ..wire.api_status import JSON, StatusError
from ..wire.list_options import ListOptions
from .channels import ClientWatch
from .watching import Opening, Watching

BOOKMARK_SECONDS = 30.0
LONGEST_SECONDS = 3600.0
"""How long a watch goes on that does not say."""


class WatchResponse(StreamingResponse):
    """A watch: one event on each line.

    :param end: ends the watch; called even if the client goes before the first line.
    """

    def __init__(self, lines: AsyncIterator[bytes], end: Callable[[], None]) -> None:
        super().__init__(lines, media_type=JSON, headers={"Cache-Control": "no-cache, private"})
        self.lines, self.end = lines, end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines until the watch ends, or its client goes."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.end()


def watched(
    opening: Opening, asked: ListOptions, watching: Watching, revision: Callable[[], int]
) -> WatchResponse:
    """Return the answer to a watch that was opened.

    :param revision: returns up to where it has seen everything.
    """

    async def lines() -> AsyncIterator[bytes]:
        async for part in watching.begin(opening):
            yield part
        # A client that asked for them waits for this bookmark before it uses what it has.
        if asked.initial:
            yield opening.watcher.bookmark(opening.revision, ends_initial=True)
        async for part in _news(opening.watcher, asked, revision):
            yield part

    return WatchResponse(lines(), lambda: watching.drop(opening.watcher))


def refused(watcher: ClientWatch, fault: StatusError) -> WatchResponse:
    """Return a watch that only says why it ends: clients expect that after the begin."""
    watcher.end(fault.code, str(fault))

    async def lines() -> AsyncIterator[bytes]:
        for part in await watcher.take(0):
            yield part

    return WatchResponse(lines(), lambda: None)


async def _news(
    watcher: ClientWatch, asked: ListOptions, revision: Callable[[], int]
) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    until = loop.time() + min(asked.seconds or LONGEST_SECONDS, LONGEST_SECONDS)
    while True:
        left = until - loop.time()
        if left <= 0:
            return
        parts = await watcher.take(max(0.0, min(left, BOOKMARK_SECONDS)))
        for part in parts:  # Not joined: all watches share them.
            yield part
        if watcher.drained:
            return
        if not parts and asked.bookmarks:
            yield watcher.bookmark(revision())


async def sent(connection: WebSocket, watch: WatchResponse) -> None:
    """Send a watch until it ends, or its client goes."""
    try:
        # Browsers expect that the first of the protocols that they offer is chosen.
        offered = (
            protocol for protocol in connection.scope["subprotocols"] if not is_token(protocol)
        )
        await connection.accept(next(offered, None))
        reading = asyncio.ensure_future(_gone(connection))
        writing = asyncio.ensure_future(_write(connection, watch))
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            reading.cancel()
            writing.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)
    finally:
        watch.end()


async def _gone(connection: WebSocket) -> None:
    """Return once the client is gone; what it says is of no interest."""
    with suppress(WebSocketDisconnect):
        while (await connection.receive())["type"] != "websocket.disconnect":
            pass


async def _write(connection: WebSocket, watch: WatchResponse) -> None:
    with suppress(WebSocketDisconnect):
        async for part in watch.lines:
            for line in part.splitlines():
                await connection.send_text(line.decode())
        await connection.close()
