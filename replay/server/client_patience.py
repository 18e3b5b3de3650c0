"""Connections that are not held open by clients that send or read too slowly, or nothing."""

from __future__ import annotations

import asyncio

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.wsproto_impl import WSProtocol

REQUEST_SECONDS = 20.0
"""How long a client may take to send a request, from the connection or the first byte on."""

STALL_SECONDS = 60.0
"""How long a client may read next to nothing of an answer while more of it waits."""

LEAST_READ = 64 << 10
"""How many bytes a client reads in every ``STALL_SECONDS`` of an answer that waits for it."""


PIECE = 64 << 10
"""How many bytes of an answer are sent at once."""


class InPieces:
    """An application whose answers are sent in pieces, so that each waits for the client to read.

    Of an encrypted connection asyncio says that its client does not read only when more is written.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does."""

        async def send_pieces(message: Message) -> None:
            body = message.get("body", b"")
            if message["type"] != "http.response.body" or len(body) <= PIECE:
                await send(message)
                return
            # The last piece keeps the message's own ``more_body``.
            last = (len(body) - 1) // PIECE * PIECE
            for start in range(0, last, PIECE):
                piece = body[start : start + PIECE]
                await send({"type": message["type"], "body": piece, "more_body": True})
            await send({**message, "body": body[last:]})

        await self._app(scope, receive, send_pieces)


class _Stalling(asyncio.Protocol):
    """Ends a connection whose client reads less than ``LEAST_READ`` in ``STALL_SECONDS``."""

    transport: asyncio.Transport
    _stalled: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        if self._stalled is None:
            self._wait_for_reading()

    def resume_writing(self) -> None:
        """Stop to wait: the client has read nearly all there is."""
        super().resume_writing()
        self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait: the client is gone."""
        super().connection_lost(exc)
        self._stop_waiting()

    def _wait_for_reading(self) -> None:
        left = self.transport.get_write_buffer_size()
        loop = asyncio.get_running_loop()
        self._stalled = loop.call_later(STALL_SECONDS, self._look_at_reading, left)

    def _look_at_reading(self, before: int) -> None:
        # A large answer over a slow line waits for longer, and is being read all the time.
        if before - self.transport.get_write_buffer_size() < LEAST_READ:
            self.transport.abort()
        else:
            self._wait_for_reading()

    def _stop_waiting(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


class PatientProtocol(_Stalling, H11Protocol):
    """HTTP/1.1 that ends connections on which nothing goes on.

    uvicorn itself bounds only the pause between two requests. If there are more connections than
    the server may have, the one that is idle for longest ends; if none is, new requests are
    answered with 503.
    """

    _reading: asyncio.TimerHandle | None = None
    _upgraded = _ended = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._look()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request, and stop to wait if it is complete."""
        super().data_received(data)
        self._look()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Let a WebSocket take over the connection: it never ends a request."""
        self._upgraded = True
        self._stop_reading()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read; an answer that was being made is not sent after that."""
        if self.cycle is not None:
            self.cycle.disconnected = True
        # In another state h11 has no answer to send, and raises.
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait for anything."""
        super().connection_lost(exc)
        self._stop_reading()

    def _should_upgrade(self) -> bool:
        """Return whether a WebSocket begins; not if the server is busy, which the answer says."""
        most = self.limit_concurrency
        return (most is None or len(self.connections) < most) and super()._should_upgrade()

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered, nor its connection about to end."""
        answering = self.cycle is not None and not self.cycle.response_complete
        return not answering and not self._ended

    def _make_room(self) -> None:
        if self.limit_concurrency is None or len(self.connections) < self.limit_concurrency:
            return
        others = [
            connection for connection in self.connections if isinstance(connection, PatientProtocol)
        ]
        # This connection is counted already, and has no request yet: it would be the idle one.
        idle = [each for each in others if each._is_idle and each is not self]  # noqa: SLF001
        if idle:
            min(idle, key=lambda connection: connection._since)._end()  # noqa: SLF001

    def _look(self) -> None:
        """Wait for the rest of a request, or stop to."""
        # Only a whole request ends the time to send it: how long its answer takes is ours.
        complete = self._upgraded or (
            self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete
        )
        if complete:
            self._stop_reading()
            self._since = self.loop.time()
        elif self._reading is None:
            self._reading = self.loop.call_later(REQUEST_SECONDS, self._end)

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _end(self) -> None:
        self._ended = True
        self.transport.abort()


class PatientSocket(_Stalling, WSProtocol):
    """A WebSocket that ends if its client reads nothing; uvicorn itself asks whether it lives."""
