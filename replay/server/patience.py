"""Connections that are not held open by clients that send or read too slowly, or nothing."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 20.0
"""How long a client may take to send a request, from the connection or the first byte on."""

STALL_SECONDS = 60.0
"""How long a client may read nothing of an answer while more of it waits."""


class PatientProtocol(H11Protocol):
    """HTTP/1.1 that ends connections on which nothing goes on.

    uvicorn itself bounds only the pause between two requests.
    """

    _reading: asyncio.TimerHandle | None = None
    _writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request, and stop to wait if it is complete."""
        super().data_received(data)
        self._look()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._writing = self._writing or self.loop.call_later(STALL_SECONDS, self._end)

    def resume_writing(self) -> None:
        """Stop to wait: the client reads."""
        super().resume_writing()
        self._stop_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait for anything."""
        super().connection_lost(exc)
        self._stop_reading()
        self._stop_writing()

    def _look(self) -> None:
        """Wait for the rest of a request, or stop to."""
        complete = (
            self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete
        )
        if complete:
            self._stop_reading()
        elif self._reading is None:
            self._reading = self.loop.call_later(REQUEST_SECONDS, self._end)

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _stop_writing(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None

    def _end(self) -> None:
        self.transport.abort()
