"""Clients that send slowly, or nothing, or ask much at once hold nothing open."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from certificates import Pair, pair_in
from serving import Running, ended, serving

from plinian.replay.server import client_patience as patience

PAUSE_EVERY = 2 << 20
HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


async def _hello(_scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * (32 << 20)})


@asynccontextmanager
async def _listening(
    monkeypatch: pytest.MonkeyPatch, stall: float = 0.3, own: Pair | None = None
) -> AsyncIterator[int]:
    """Serve with a patience of fractions of a second, or a longer one, and yield the port.

    :param own: encrypt connections with this certificate.
    """
    monkeypatch.setattr(patience, "REQUEST_SECONDS", 0.3)
    monkeypatch.setattr(patience, "STALL_SECONDS", stall)
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        patience.InPieces(_hello),
        http=patience.PatientProtocol,
        log_level="critical",
        lifespan="off",
        ssl_certfile=own and str(own.certificate),
        ssl_keyfile=own and str(own.key),
    )
    server = uvicorn.Server(config)
    serving_task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        await serving_task


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"G",
        HEAD,
        HEAD + b"Content-Length: 5\r\n\r\n12",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n12",
    ],
)
def test_a_request_that_does_not_end_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    async def closed() -> bytes:
        async with _listening(monkeypatch) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            try:
                return await asyncio.wait_for(reader.read(), 60)
            except ConnectionError:
                return b""
            finally:
                writer.close()

    assert b"200" not in asyncio.run(closed())


def test_slow_bytes_do_not_lengthen_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async def written() -> int:
        async with _listening(monkeypatch) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            count = 0
            while not reader.at_eof() and count < 1000:
                writer.write(HEAD[:1] if not count else b"x")
                count += 1
                try:
                    await writer.drain()
                    await asyncio.wait_for(reader.read(1), 0.02)
                except TimeoutError:
                    continue
                except ConnectionError:
                    break
            return count

    assert asyncio.run(written()) < 1000


@pytest.mark.parametrize("encrypted", [False, True])
def test_an_answer_that_is_not_read_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, encrypted: bool
) -> None:
    own = pair_in(tmp_path, "server") if encrypted else None
    tls = ssl.create_default_context(cafile=str(own.certificate)) if own else None

    async def read() -> int:
        async with _listening(monkeypatch, own=own) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024, ssl=tls)
            writer.write(HEAD + b"\r\n")
            await asyncio.sleep(1.5)
            found = 0
            try:
                while some := await asyncio.wait_for(reader.read(1 << 20), 60):
                    found += len(some)
            except ConnectionError:
                pass
            return found

    assert asyncio.run(read()) < 32 << 20


def test_a_large_answer_is_sent_whole_to_a_client_that_reads_slowly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def read() -> int:
        async with _listening(monkeypatch, stall=3.0) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD + b"Connection: close\r\n\r\n")
            found, pauses = 0, iter([0.2] * 20)
            while some := await asyncio.wait_for(reader.read(1 << 20), 60):
                if found // PAUSE_EVERY != (found + len(some)) // PAUSE_EVERY:
                    await asyncio.sleep(next(pauses, 0))
                found += len(some)
            return found

    assert asyncio.run(read()) > 32 << 20


def test_an_interrupt_ends_it_although_connections_are_open_and_a_search_runs(
    demo_log: Path,
) -> None:
    running = serving(demo_log, "--log-level", "error")
    address = ("127.0.0.1", running.port)
    idle = [socket.create_connection(address) for _ in range(3)]
    idle[1].sendall(HEAD)
    idle[2].sendall(
        b"GET /plinian/v1/explore?budget=60s&at=2026-11-21T01:53:36Z HTTP/1.1\r\n"
        b"Host: localhost\r\n\r\n"
    )
    running.client.get("/plinian/v1/about")
    time.sleep(0.5)
    used = os.times().elapsed
    running.process.send_signal(signal.SIGINT)
    _, told = running.process.communicate(timeout=50)
    assert running.process.returncode == 130
    assert told.splitlines() == ["plinian: interrupted"]
    assert os.times().elapsed - used < 50
    for one in idle:
        one.close()


def test_a_search_whose_client_goes_away_makes_room_for_the_next(server: Running) -> None:
    address = ("127.0.0.1", server.port)
    for _ in range(40):  # More than may wait; each takes minutes.
        with socket.create_connection(address) as gone:
            gone.sendall(b"GET /plinian/v1/forecast?for=10h HTTP/1.1\r\nHost: localhost\r\n\r\n")
    statuses = []
    while 200 not in statuses and len(statuses) < 100:
        statuses.append(server.client.get("/plinian/v1/drift").status_code)
        time.sleep(0.1)
    assert set(statuses) <= {200, 503}
    assert statuses[-1] == 200


def test_a_head_that_is_too_large_is_refused(demo_log: Path) -> None:
    running = serving(demo_log)
    try:
        with socket.create_connection(("127.0.0.1", running.port), timeout=60) as connection:
            connection.settimeout(60)
            line = b"X-More: " + b"y" * 1000 + b"\r\n"
            try:
                connection.sendall(HEAD + line * 200)
                answer = connection.recv(100)
            except ConnectionError:
                answer = b""
        assert answer == b"" or b" 400 " in answer
        assert running.client.get("/plinian/v1/about").status_code == 200
    finally:
        ended(running)
