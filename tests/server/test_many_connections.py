"""Many connections: idle ones make room, and a server that is busy says so."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from serving import ended, serving

from plinian.replay.server import running
from plinian.replay.server.client_patience import PatientProtocol, PatientSocket

GET = b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
MOST = 6


async def _app(scope: Any, receive: Any, send: Any) -> None:
    """Answer at once; ``/watch`` waits until the client goes."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        await receive()
        await receive()
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x", "more_body": True})
    while scope["path"] == "/watch" and (await receive())["type"] != "http.disconnect":
        pass
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def _listening() -> AsyncIterator[int]:
    """Serve with room for few connections, and yield the port."""
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        _app,
        http=PatientProtocol,
        ws=PatientSocket,
        log_level="critical",
        lifespan="off",
        limit_concurrency=MOST,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        await task


Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _sent(port: int, text: bytes) -> Pair:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    await writer.drain()
    return reader, writer


async def _status(pair: Pair) -> bytes:
    line = await asyncio.wait_for(pair[0].readline(), 60)
    return line.split()[1] if line else b"closed"


def _ask(question: Callable[[int], Awaitable[None]]) -> None:
    async def asked() -> None:
        async with _listening() as port:
            await question(port)

    asyncio.run(asked())


def test_idle_connections_make_room_the_oldest_first() -> None:
    async def question(port: int) -> None:
        watch = await _sent(port, GET % b"watch")
        assert await _status(watch) == b"200"
        kept = await _sent(port, GET % b"")
        assert await _status(kept) == b"200"
        idle = [await _sent(port, b"") for _ in range(3 * MOST)]
        assert await _status(await _sent(port, GET % b"")) == b"200"
        assert await asyncio.wait_for(idle[0][0].read(), 60) == b"", "the oldest ended"
        idle[-1][1].write(GET % b"")
        assert await _status(idle[-1]) == b"200", "the newest did not"
        assert not watch[0].at_eof(), "what is being answered goes on"

    _ask(question)


@pytest.mark.parametrize("upgrade", [False, True])
def test_a_server_that_is_busy_says_so(upgrade: bool) -> None:  # noqa: FBT001
    handshake = (
        b"GET /watch HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    watch, wanted = (handshake, b"101") if upgrade else (GET % b"watch", b"200")

    async def question(port: int) -> None:
        busy = [await _sent(port, watch) for _ in range(MOST - 1)]
        assert [await _status(one) for one in busy] == [wanted] * len(busy)
        for text in (GET % b"", watch):
            assert await _status(await _sent(port, text)) == b"503"
        busy[0][1].transport.abort()
        status = b"503"
        while status == b"503":
            status = await _status(await _sent(port, GET % b""))
        assert status == b"200"

    _ask(question)


def test_hundreds_of_idle_connections_keep_nobody_out(demo_log: Path) -> None:
    many = running.MOST_CONNECTIONS + 60
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < many + 200:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, many + 200), hard))
    server = serving(demo_log)
    address = ("127.0.0.1", server.port)
    held = [socket.create_connection(address, timeout=60) for _ in range(many)]
    statuses = [server.client.get("/plinian/v1/about").status_code for _ in range(3)]
    assert statuses == [200] * 3
    for one in held:
        one.close()
    ended(server)
