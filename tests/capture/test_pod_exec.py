"""Commands in containers, by the official client, beside a server that speaks as a kubelet does."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from plinian.replay.capture.cluster_access import ClusterAccess, Unreachable
from plinian.replay.capture.pod_exec import ClusterCommands, ExecContainer

OUT, ERRORS, STATUS = b"\x01", b"\x02", b"\x03"
CONTAINER = ExecContainer("ns", "p", "main")
LONG = b"\xff\n" + b"x" * 300_000
FAILED = {
    "status": "Failure",
    "reason": "NonZeroExitCode",
    "details": {"causes": [{"reason": "ExitCode", "message": "3"}]},
}


async def answer(socket: WebSocket) -> None:
    """Do what the command says; the user is checked."""
    command = socket.query_params.getlist("command")
    if socket.headers.get("authorization") != "Bearer t" or command[0] == "refuse":
        await socket.close()
        return
    await socket.accept(subprotocol="v4.channel.k8s.io")
    if command[0] == "wait":
        await asyncio.sleep(3)
    if command[0] == "fail":
        await socket.send_bytes(ERRORS + b"no dump appeared\n")
        await socket.send_bytes(STATUS + json.dumps(FAILED).encode())
    else:
        for begin in range(0, len(LONG), 2**15):
            await socket.send_bytes(OUT + LONG[begin : begin + 2**15])
        await socket.send_bytes(STATUS + b'{"status":"Success"}')
    await socket.close()


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    route = WebSocketRoute("/api/v1/namespaces/ns/pods/p/exec", answer)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(Starlette(routes=[route]), log_level="error", ws="wsproto")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    end = monotonic() + 20
    while not server.started and monotonic() < end:
        sleep(0.02)
    place = tmp_path_factory.mktemp("exec") / "kubeconfig"
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    config_of_user = {
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    place.write_text(json.dumps(config_of_user))
    yield place
    server.should_exit = True
    thread.join(20)


def test_what_a_command_prints_comes_back_byte_for_byte(kubeconfig: Path) -> None:
    commands = ClusterCommands(ClusterAccess(str(kubeconfig)))
    assert commands.run(CONTAINER, ("print", "a b"), 20) == LONG


@pytest.mark.parametrize(
    ("word", "seconds", "why"),
    [("fail", 20, "no dump appeared"), ("wait", 0.2, "longer than 0.2s"), ("refuse", 20, "403")],
)
def test_what_goes_wrong_is_said_with_its_place(
    kubeconfig: Path, word: str, seconds: float, why: str
) -> None:
    commands = ClusterCommands(ClusterAccess(str(kubeconfig)))
    with pytest.raises(Unreachable, match=why) as raised:
        commands.run(CONTAINER, (word,), seconds)
    assert raised.value.where == "/api/v1/namespaces/ns/pods/p/exec"
