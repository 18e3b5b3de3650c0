"""An agent that asks the tools of a log, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from mcp.client.client import Client

from plinian.replay.server.mcp.tools import server_of
from plinian.replay.server.readers import Readers
from plinian.replay.server.settings import ServerSettings

T = TypeVar("T")


def ask(place: Path, question: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    """Return what a client in this process is answered."""

    async def asked() -> T:
        readers = Readers(ServerSettings(str(place)))
        try:
            async with Client(server_of(ServerSettings(str(place)), readers), mode=mode) as client:
                return await question(client)
        finally:
            readers.close()

    return asyncio.run(asked())
