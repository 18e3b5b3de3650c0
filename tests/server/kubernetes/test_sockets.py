"""Watches over WebSocket: the events of an HTTP watch, a frame each, for the same clients."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import browser, chromium, tab
from informers import PODS, TABLE, lines, until
from serving import Running, ended, serving, serving_here
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from plinian.replay.server.settings import ServerSettings

TOKEN = "a-token-that-is-long-enough"
PROTOCOL = "base64.binary.k8s.io"
"""What Headlamp offers."""


def watching(running: Running, path: str, **options: Any) -> ClientConnection:
    """Return a WebSocket of a server.

    It leaves without reading the rest, so it never sees that the server closes, too.
    """
    address = f"ws://127.0.0.1:{running.port}{path}"
    return connect(address, open_timeout=60, close_timeout=0.2, **options)


def refused(running: Running, path: str, **options: Any) -> InvalidStatus:
    """Return how a handshake was refused."""
    with pytest.raises(InvalidStatus) as found:
        watching(running, path, **options)
    return found.value


def shown(token: str) -> str:
    """Return the subprotocol that is a token."""
    return "base64url.bearer.authorization.k8s.io." + base64.urlsafe_b64encode(
        token.encode()
    ).decode().rstrip("=")


def _handshake(port: int, path: str, host: str = "localhost") -> socket.socket:
    """Return a connection that asked for a WebSocket, and reads little at once."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.connect(("127.0.0.1", port))
    made.sendall(
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    return made


@pytest.mark.parametrize("accept", ["application/json", TABLE])
def test_each_frame_is_an_event_of_the_watch(server: Running, accept: str) -> None:
    path, query = f"/at/rv:500{PODS}", "watch=1&resourceVersion=391&timeoutSeconds=1"
    with watching(server, f"{path}?{query}", additional_headers={"Accept": accept}) as one:
        frames = list(one)
    assert all(isinstance(frame, str) for frame in frames)
    asked = {"resourceVersion": 391, "timeoutSeconds": 1}
    assert [json.loads(frame) for frame in frames] == [*lines(server.client, path, accept, **asked)]
    assert len(frames) > 10
    assert one.close_code == 1000


def test_what_is_no_watch_is_answered_as_over_http(server: Running) -> None:
    path = "/api/v1/namespaces/default/pods/none"
    answer = refused(server, path).response
    assert (answer.status_code, json.loads(answer.body)["reason"]) == (404, "NotFound")
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert refused(server, f"{PODS}?watch=1&resourceVersion=x").response.status_code == 400
    assert refused(server, "/at/rv:391").response.status_code == 200
    assert refused(server, "/").response.status_code == 403


def test_a_watch_from_the_future_ends_at_once(server: Running) -> None:
    with watching(server, f"/at/rv:391{PODS}?watch=1&resourceVersion=392") as one:
        (last,) = map(json.loads, one)
    assert (last["type"], last["object"]["code"]) == ("ERROR", 410)


def test_only_its_own_pages_may_watch(server: Running) -> None:
    watch = f"{PODS}?watch=1"
    assert refused(server, watch, origin="http://evil.example").response.status_code == 403
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert refused(server, watch, additional_headers=foreign).response.status_code == 403
    with _handshake(server.port, watch, host="evil.example") as made:
        assert made.recv(20).startswith(b"HTTP/1.1 421")
    with watching(server, watch, origin=f"http://127.0.0.1:{server.port}") as one:
        assert json.loads(one.recv())["type"] == "ADDED"


@pytest.fixture(scope="module")
def protected(demo_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a server that needs a token."""
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(f"{TOKEN}\n")
    running = serving(demo_log, "--token-file", str(file))
    yield running
    ended(running)


@pytest.mark.parametrize("offered", [[], [shown("wrong"), PROTOCOL], [f"{shown('')}A"], [PROTOCOL]])
def test_without_the_token_nothing_is_told(protected: Running, offered: list[Any]) -> None:
    answer = refused(protected, f"{PODS}?watch=1", subprotocols=offered or None).response
    assert answer.status_code == 401
    assert TOKEN.encode() not in answer.body


def test_the_token_can_be_a_subprotocol_and_is_never_the_chosen_one(protected: Running) -> None:
    offered: list[Any] = [shown(TOKEN), PROTOCOL]
    with watching(protected, f"{PODS}?watch=1", subprotocols=offered) as one:
        assert one.subprotocol == PROTOCOL
        assert json.loads(one.recv())["type"] == "ADDED"
    answer = protected.client.get(PODS, headers={"Sec-WebSocket-Protocol": shown(TOKEN)})
    assert answer.status_code == 401, "only a WebSocket has no other way"


def test_the_token_can_stand_in_a_header_or_the_path(protected: Running) -> None:
    header = {"Authorization": f"Bearer {TOKEN}"}
    for path, headers in ((PODS, header), (f"/token/{TOKEN}{PODS}", {})):
        with watching(protected, f"{path}?watch=1", additional_headers=headers) as one:
            assert json.loads(one.recv())["type"] == "ADDED"


@pytest.fixture
def played(demo_log: Path) -> Iterator[Running]:
    """Return a server whose moment is moved by the test."""
    with serving_here(ServerSettings(str(demo_log), at="rv:391", port=0)) as running:
        yield running


def _to(running: Running, point: str) -> None:
    command = {"command": "to", "point": point}
    assert running.client.post("/plinian/v1/play", json=command).status_code == 200


def test_a_watch_follows_the_moment_and_ends_when_it_goes_back(played: Running) -> None:
    with watching(played, f"{PODS}?watch=1&resourceVersion=391") as one:
        _to(played, "rv:500")
        until(lambda: int(json.loads(one.recv())["object"]["metadata"]["resourceVersion"]) >= 490)
        _to(played, "rv:400")
        *_, last = map(json.loads, one)
    assert (last["type"], last["object"]["reason"]) == ("ERROR", "Expired")
    assert "went back" in last["object"]["message"]


@pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine")
def test_a_page_in_a_browser_watches(played: Running) -> None:
    origin = f"http://127.0.0.1:{played.port}"
    with browser() as one:
        watched = tab(one, origin)
        watched.page.goto("/plinian/v1/about")
        first = watched.page.evaluate(
            """protocol => new Promise((resolve, reject) => {
                const watch = new WebSocket(`ws://${location.host}/api/v1/nodes?watch=1`, protocol);
                watch.onmessage = event => resolve(event.data);
                watch.onerror = () => reject(new Error("refused"));
            })""",
            PROTOCOL,
        )
    assert json.loads(first)["object"]["kind"] == "Node"


def test_what_a_client_sends_is_of_no_interest_but_bounded(server: Running) -> None:
    with watching(server, f"/at/rv:391{PODS}?watch=1&timeoutSeconds=2") as one:
        one.send("hello")
        one.send(b"x" * 100)
        assert len(list(one)) > 10
    with watching(server, f"/at/rv:391{PODS}?watch=1") as one:
        one.send("x" * 5000)
        with pytest.raises(ConnectionClosedError):
            list(one)
    assert one.close_code in {1006, 1009}, "too long; the word for it may be lost with the end"


def test_a_client_that_is_cut_off_is_forgotten(demo_log: Path, tmp_path: Path) -> None:
    shutil.copy(demo_log, tmp_path / "log.db")
    running = serving(tmp_path / "log.db")
    for _ in range(3):
        made = _handshake(running.port, f"{PODS}?watch=1")
        assert made.recv(20).startswith(b"HTTP/1.1 101")
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        made.close()  # Without a word: a reset.
    assert running.client.get("/api/v1/nodes").status_code == 200
    running.process.terminate()
    assert running.process.stderr is not None
    assert "Traceback" not in running.process.stderr.read()
    assert running.process.wait(timeout=60) is not None
    running.client.close()


def test_the_end_of_the_server_ends_watches(demo_log: Path) -> None:
    running = serving(demo_log)
    with watching(running, f"{PODS}?watch=1") as one:
        one.recv()
        running.process.terminate()
        with pytest.raises(ConnectionClosedError):
            list(one)
        assert one.close_code == 1012
    assert running.process.wait(timeout=60) is not None
    running.client.close()
