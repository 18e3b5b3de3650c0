"""A server starts, answers, and ends; what cannot be served is told at the terminal."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from serving import TOKEN, Running, ended, run, serving, serving_here

import plinian
from plinian.replay.cli import serving as cli_serving
from plinian.replay.cli.main import app
from plinian.replay.server.running import Serving, _bound
from plinian.replay.server.settings import ServerSettings


def test_it_says_which_log_it_serves(server: Running) -> None:
    about = server.client.get("/plinian/v1/about").json()
    with plinian.open(server.place, read_only=True) as log:
        assert about["last"] == log.moment("end").known
    assert about["plinian"] == plinian.__version__


def test_an_interrupt_ends_it(demo_log: Path) -> None:
    running = serving(demo_log)
    running.process.send_signal(signal.SIGINT)
    _, told = running.process.communicate(timeout=120)
    assert running.process.returncode == 130  # as every command
    assert "Traceback" not in told


def test_what_is_appended_is_served(demo_log: Path, tmp_path: Path) -> None:
    place = tmp_path / "grows.db"
    place.write_bytes(demo_log.read_bytes())
    running = serving(place)
    before = running.client.get("/plinian/v1/about").json()["last"]
    node = tmp_path / "node.json"
    node.write_text(
        '{"apiVersion":"v1","kind":"Node","metadata":{"name":"late","uid":"u-late",'
        '"resourceVersion":"999999"},"status":{}}'
    )
    with plinian.open(place) as log:
        log.ingest([node])
    assert running.client.get("/plinian/v1/about").json()["last"] > before
    ended(running)


BODIES = (b"Content-Length: 10\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n")
"""The end of a request whose body never ends, or cannot be read."""


def test_a_client_that_goes_away_within_a_body_is_no_fault(demo_log: Path, tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    place.write_bytes(demo_log.read_bytes())
    with plinian.open(place, read_only=False) as log:
        log.create_branch("other")
    token = tmp_path / "token"
    token.write_text(TOKEN)
    running = serving(place, "--branch", "other", "--writable", "--token-file", str(token))
    head = f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    paths = ("plinian/v1/play", "api/v1/namespaces/default/configmaps", "login", "mcp", "nothing")
    for path in paths:
        for body in BODIES:
            with socket.create_connection(("127.0.0.1", running.port)) as connection:
                connection.sendall(f"POST /{path} ".encode() + head + body)
    running.client.get("/readyz")  # By then it has seen them go.
    assert running.process is not None
    running.process.send_signal(signal.SIGINT)
    _, said = running.process.communicate(timeout=120)
    # On a slow machine one is still being answered when the server ends, which says so.
    lines = [line for line in said.splitlines() if '"status": 503' not in line]
    assert lines == ["plinian: interrupted"]


def _refused(*options: str) -> str:
    done = run("serve", *options)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_port_in_use_is_told(server: Running) -> None:
    told = _refused("--log", str(server.place), "--port", str(server.port))
    assert "another program listens here already" in told


def test_another_address_needs_a_token(demo_log: Path) -> None:
    assert "--token-file" in _refused("--log", str(demo_log), "--listen", "0.0.0.0")


def test_a_log_that_does_not_exist_is_told(tmp_path: Path) -> None:
    assert "there is no such file" in _refused("--log", str(tmp_path / "none.db"))


def test_a_point_outside_the_log_is_told(demo_log: Path) -> None:
    assert "@99999999" in _refused("--log", str(demo_log), "--at", "@99999999")


@pytest.mark.parametrize("content", ["short", "has spaces in it, and is long enough", "\udc80"])
def test_a_token_that_is_not_safe_is_refused(demo_log: Path, tmp_path: Path, content: str) -> None:
    file = tmp_path / "token"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert "token" in _refused("--log", str(demo_log), "--token-file", str(file))


def test_the_demonstration_ends_in_a_browser(tmp_path: Path) -> None:
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\necho no browser >&2\n')
    opener.chmod(0o755)
    running = subprocess.Popen(
        [sys.executable, "-m", "plinian", "demo", "--serve", "--log", str(tmp_path / "demo.db")],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert running.stderr is not None
    line = next(line for line in running.stderr if "serving" in line)
    origin = line.split(" at ")[1].split()[0]
    page = httpx.get(origin, follow_redirects=True, timeout=120)
    assert page.status_code == 200
    assert "2026-11-21T01:53:3" in page.text  # it opens at the incident
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=120)
    assert (tmp_path / "opened").read_text().strip() == origin
    assert "no browser" not in told


def test_the_demonstration_is_where_serve_is_or_says_that_it_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[ServerSettings] = []

    def run(self: Serving) -> None:
        self._server._ready()
        self._bound.close()

    def ready(self: Serving, settings: ServerSettings, **more: Any) -> None:
        made(self, settings, **more)
        served.append(settings._replace(port=self._bound.getsockname()[1]))

    made = Serving.__init__
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(cli_serving, "DEFAULT_PORT", port)
        monkeypatch.setattr(cli_serving, "open_in_browser", lambda _url: None)
        monkeypatch.setattr(Serving, "__init__", ready)
        monkeypatch.setattr(Serving, "run", run)
        words = ["demo", "--serve", "--log", str(tmp_path / "demo.db")]
        told = CliRunner().invoke(app, words).stderr
    (elsewhere,) = served
    assert elsewhere.port != port
    assert f"127.0.0.1:{port}: another program listens here already, so another port" in told
    assert f"at http://127.0.0.1:{elsewhere.port}/" in told
    told = CliRunner().invoke(app, words).stderr
    assert served[-1].port == port
    assert "another" not in told


def test_answers_on_a_connection_that_stays_open_are_not_held_back() -> None:
    # asyncio switches Nagle's algorithm off only for sockets that name their protocol.
    with _bound(ServerSettings("log.db", port=0)) as bound:
        assert bound.proto == socket.IPPROTO_TCP


def test_no_collection_after_an_answer_looks_at_what_was_loaded_before(demo_log: Path) -> None:
    loaded: list[object] = [[]]
    with serving_here(ServerSettings(place=str(demo_log), port=0)) as running:
        assert running.client.get("/readyz").status_code == 200
        assert not any(one is loaded for one in gc.get_objects())


def test_a_client_that_leaves_in_the_middle_prints_nothing(demo_log: Path) -> None:
    running = serving(demo_log)
    framings = (b"Content-Length: 100\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n5\r\n{")
    for path, framing in product(("/mcp", "/plinian/v1/why", "/login"), framings):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with socket.create_connection(("127.0.0.1", running.port)) as client:
            client.sendall(head.encode() + framing)
    assert running.client.get("/healthz").status_code in {200, 404}
    assert running.process is not None
    running.client.close()
    running.process.terminate()
    _, said = running.process.communicate(timeout=120)
    assert "Traceback" not in said
