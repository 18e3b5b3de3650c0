"""The bodies of requests: how large one may be, and how much of all is in memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import Message, Receive

MOST_BYTES = 4 << 20
"""The largest body of a request."""

MOST_AT_ONCE = 96 << 20
"""The bytes of bodies that are in memory: of requests that are sent, wait, or are answered."""

_SMALL = 64 << 10
"""A body that is always read: there are not more of them than connections."""


class Bodies:
    """Counts the bytes of the bodies that are in memory; the event loop uses it."""

    def __init__(self) -> None:
        self._held = 0

    def has_room(self, length: int) -> bool:
        """Return whether a body of a length may be read now."""
        return length <= _SMALL or self._held + length <= MOST_AT_ONCE

    @contextmanager
    def counted(self, receive: Receive) -> Iterator[Receive]:
        """Lend a channel that ends a request whose body is too long, alone or with all others."""
        received = 0

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            size = len(message.get("body", b""))
            received += size
            self._held += size
            if received > MOST_BYTES or (received > _SMALL and self._held > MOST_AT_ONCE):
                return {"type": "http.disconnect"}
            return message

        try:
            yield counting
        finally:
            self._held -= received
