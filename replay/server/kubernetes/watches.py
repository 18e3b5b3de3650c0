"""Watches as answers: lines that come as long as a client reads them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from starlette.responses import Response, StreamingResponse

from .asked import Asked
from .channels import Watcher
from .follower import Opening
from .status import JSON, StatusError

BOOKMARK_SECONDS = 30.0
LONGEST_SECONDS = 3600.0
"""How long a watch goes on that does not say."""


class Watched(Protocol):
    """What watches are opened with."""

    def begin(self, opening: Opening) -> AsyncIterator[bytes]:
        """Yield what a watch begins with."""

    async def close_watch(self, watcher: Watcher) -> None:
        """End a watch."""


Revision = Callable[[], int]
"""Returns the revision up to which a watch has seen everything."""


def watched(
    follower: Watched, opening: Opening, asked: Asked, revision: Revision, warning: str = ""
) -> Response:
    """Return the answer to a watch that was opened."""
    headers = {"Cache-Control": "no-cache, private", **({"Warning": warning} if warning else {})}
    return StreamingResponse(
        _lines(follower, opening, asked, revision), media_type=JSON, headers=headers
    )


def refused(watcher: Watcher, fault: StatusError) -> Response:
    """Return a watch that only says why it ends: clients expect that after the begin."""
    watcher.end(fault.code, str(fault))

    async def lines() -> AsyncIterator[bytes]:
        for part in await watcher.take(0):
            yield part

    return StreamingResponse(lines(), media_type=JSON)


async def _lines(
    follower: Watched, opening: Opening, asked: Asked, revision: Revision
) -> AsyncIterator[bytes]:
    watcher = opening.watcher
    try:
        async for part in follower.begin(opening):
            yield part
        if asked.initial:
            yield watcher.bookmark(opening.revision, ends_initial=True)
        async for part in _news(watcher, asked, revision):
            yield part
    finally:
        # The client may be gone, and this task cancelled: the end must not wait for it.
        closing = asyncio.ensure_future(follower.close_watch(watcher))
        await asyncio.shield(closing)


async def _news(watcher: Watcher, asked: Asked, revision: Revision) -> AsyncIterator[bytes]:
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
