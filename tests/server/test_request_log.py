"""A server writes a line for each request, and all of its own errors; neither has a secret."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import pty
import re
import socket
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import TOKEN, Running, serving, serving_here
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from plinian.replay.render.screen import Screen
from plinian.replay.server.api import routes as api_routes
from plinian.replay.server.mcp import tools
from plinian.replay.server.request_log import LONGEST, RequestLog, failed
from plinian.replay.server.server_lines import LibraryRecords, Reported, logger_to
from plinian.replay.server.settings import ServerSettings
from plinian.replay.server.web import routes as web_routes

BASIC = ("time", "level", "event")
FIELDS = (*BASIC, "method", "path", "status", "ms", "bytes", "agent")
AGENT = {"User-Agent": "curl/8.1"}
PASSWORD = "correct-horse"
DEEP = 60
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]")


def _settings(place: str = "log.db", token: str = TOKEN) -> ServerSettings:
    return ServerSettings(place=place, port=0, token=token)


def _parsed(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def _scope(path: str = "/plinian/v1/log", query: str = "", agent: str = "curl/8.1") -> Scope:
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": query.encode("latin-1"),
        "headers": [(b"user-agent", agent.encode("latin-1"))],
    }


async def _answers(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"12345", "more_body": True})
    await send({"type": "http.response.body", "body": b"678"})


def _line(scope: Scope, app: Any = _answers, *, form: Any = "json", level: Any = "info") -> str:
    """Return what is written about a request."""
    out = io.StringIO()
    times = iter((10.0, 10.25))

    async def nothing(_message: Message) -> None:
        return

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    log = RequestLog(
        app, logger_to(out, _settings(), form=form, level=level), clock=lambda: next(times)
    )
    try:
        asyncio.run(log(scope, receive, nothing))
    except Reported:
        out.write("")
    return out.getvalue()


def test_a_line_has_all_that_is_asked_of_it_in_order() -> None:
    (found,) = _parsed(_line(_scope(query="at=end")))
    assert tuple(found) == FIELDS
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", found.pop("time"))
    assert found == {
        "level": "info",
        "event": "request",
        "method": "GET",
        "path": "/plinian/v1/log?at=end",
        "status": 200,
        "ms": 250.0,
        "bytes": 8,
        "agent": "curl/8.1",
    }


def test_as_text_it_is_a_sentence() -> None:
    line = _line(_scope(query="at=end"), form="text")
    said = "GET /plinian/v1/log?at=end: 200, 250.0 ms, 8 bytes, curl/8.1\n"
    assert re.sub(r"^\S+Z ", "", line) == said


def test_as_text_a_request_without_a_path_is_a_sentence_too() -> None:
    out = io.StringIO()
    fields = {"method": "tools/call", "tool": "log", "status": "ok", "ms": 2.5, "agent": "a/7"}
    logger_to(out, _settings(), level="info").info("request", **fields)
    assert out.getvalue().endswith("Z tools/call log: ok, 2.5 ms, a/7\n")


SECRETS = (
    *((f"/token/{TOKEN}/api/v1/pods", ""), ("/token/a-guess-of-a-secret/api", "")),
    *(("/token/a-guess-of-a-secret", ""), (f"/login/{TOKEN}", "")),
    *((("/", f"{name}={PASSWORD}&at=end")) for name in ("token", "password", "PassWord", "pwd")),
    *((("/", f"{name}={PASSWORD}")) for name in ("to%6Ben", "access_token", "api-key", "secret")),
    *((("/", f"a=1&token={PASSWORD}&b=2")), ("/", f"token=1={PASSWORD}"), ("/", f"x={TOKEN}")),
)


@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.parametrize(("path", "query"), SECRETS)
def test_no_line_has_a_secret(path: str, query: str, form: str) -> None:
    line = _line(_scope(path, query, agent=f"curl {TOKEN}"), form=form)
    assert not [one for one in (TOKEN, PASSWORD, "a-guess-of-a-secret") if one in line]
    assert ("at=end" in line) == ("at=end" in query)
    assert ("/api" in line) == ("/api" in path), "what is asked stays"


def test_other_queries_stay() -> None:
    query = "fieldSelector=metadata.name%3Dtoken&continue=abc&object=job/gpu-2"
    (found,) = _parsed(_line(_scope("/api/v1/pods", query)))
    assert found["path"] == f"/api/v1/pods?{query}"


def _cannot_reach(what: str) -> None:
    raise OSError(f"cannot reach {what}")


def test_an_error_has_no_password_of_the_log() -> None:
    place = f"postgresql://me:{PASSWORD}@db/volcano"
    out = io.StringIO()
    logger = logger_to(out, _settings(place), form="json")
    try:
        _cannot_reach(f"{place} nor amqp://other:{PASSWORD[::-1]}@queue, {TOKEN}")
    except OSError:
        logger.exception("it failed")
    assert "OSError: cannot reach postgresql://me:" in out.getvalue()
    assert not [one for one in (PASSWORD, PASSWORD[::-1], TOKEN) if one in out.getvalue()]


@pytest.mark.parametrize("form", ["json", "text"])
def test_what_a_client_sends_moves_no_cursor(form: str) -> None:
    hostile = "\x1b[2J\r\n\x7f\x9b2J\t\x00"
    line = _line(_scope(f"/{hostile}\u202e\u2028", f"q={hostile}", hostile), form=form)
    assert not CONTROLS.search(line)
    assert line.count("\n") == 1


def test_what_a_client_sends_is_cut_if_it_is_very_long() -> None:
    line = _line(_scope("/" + "a" * 50_000, "", "b" * 50_000))
    assert len(line) < 3 * LONGEST
    assert "\\u2026" in line


def _deep(left: int) -> None:
    if left:
        _deep(left - 1)
    raise ValueError("the disk is full: " + "x" * 3000)


async def _fails(_scope: Scope, _receive: Receive, _send: Send) -> None:
    _deep(DEEP)


async def _fails_late(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    _deep(DEEP)


async def _answers_a_fault(scope: Scope, _receive: Receive, send: Send) -> None:
    try:
        _deep(DEEP)
    except ValueError as fault:
        failed(scope, fault)
    await send({"type": "http.response.start", "status": 500, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("app", [_fails, _fails_late, _answers_a_fault])
def test_an_exception_is_whole_in_the_line_of_its_request(app: Any) -> None:
    (found,) = _parsed(_line(_scope(), app, level="error"))
    assert found["level"] == "error"
    assert found["path"] == "/plinian/v1/log"
    assert found["status"] == (200 if app is _fails_late else 500)
    lines = found["exception"].splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "ValueError: the disk is full: " + "x" * 3000


def test_as_text_the_traceback_follows_the_line() -> None:
    head, *lines = _line(_scope(), _fails, form="text").splitlines()
    assert re.search(r"Z error GET /plinian/v1/log: 500, 250\.0 ms", head)
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "ValueError: the disk is full: " + "x" * 3000
    assert sum("in _deep" in line for line in lines) > 3


@pytest.mark.parametrize("gone", [ClientDisconnect, lambda: WebSocketDisconnect(1006)])
def test_a_client_that_leaves_is_no_error(gone: Callable[[], Exception]) -> None:
    async def leaves(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise gone()

    (found,) = _parsed(_line(_scope(), leaves))
    assert (found["level"], found["status"]) == ("info", 499)
    assert "exception" not in found


@pytest.mark.parametrize("path", ["/readyz", "/livez/ping", "/static/0a1b/page.js", "/healthz"])
def test_health_checks_and_files_are_written_if_asked_for(path: str) -> None:
    assert _line(_scope(path)) == ""
    assert _line(_scope(f"/token/{TOKEN}{path}")) == ""
    assert _parsed(_line(_scope(path), level="debug"))[0]["level"] == "debug"


def test_what_only_looks_like_a_health_check_is_written() -> None:
    assert _line(_scope("/readyzzz"))


def test_a_health_check_that_fails_is_written() -> None:
    async def busy(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 503, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    (found,) = _parsed(_line(_scope("/readyz"), busy, level="warning"))
    assert (found["level"], found["status"]) == ("warning", 503)


def test_records_of_libraries_are_lines_too() -> None:
    out = io.StringIO()
    screen: Any = Screen(out, messages=True)
    handler = LibraryRecords(logger_to(screen, _settings(), form="json"))
    logger = logging.getLogger("a library that fails")
    logger.addHandler(handler)
    try:
        _deep(DEEP)
    except ValueError:
        logger.exception("100 %% of %s\n", "all")
        logger.debug("this is not of use")
    finally:
        logger.removeHandler(handler)
    (found,) = _parsed(out.getvalue())
    assert (found["event"], found["logger"]) == ("100 % of all", "a library that fails")
    assert found["exception"].endswith("ValueError: the disk is full: " + "x" * 3000)


def test_a_server_does_not_wait_for_who_does_not_read() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as out, os.fdopen(reading) as read:
        logger = logger_to(out, _settings(), form="json", level="info")
        for _ in range(2000):
            logger.info("x" * 100)
        whole = os.read(reading, 1 << 20).decode()
        logger.info("again")
        out.close()
        (last,) = _parsed(read.read())
    assert last["event"] == "again"
    assert len(_parsed(whole)) + last["lost"] == 2000


def test_a_closed_stream_is_no_fault() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    out = os.fdopen(writing, "w")
    logger_to(out, _settings(), level="info").info("no one reads")
    with pytest.raises(BrokenPipeError):
        out.close()


def _said(running: Running) -> str:
    """End a server, and return what it said since it listened."""
    assert running.process is not None
    running.client.close()
    running.process.terminate()
    return running.process.communicate(timeout=120)[1]


def test_a_server_says_each_request_in_json_and_no_token(demo_log: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    running = serving(demo_log, "--token-file", str(token), "--log-level", "info")
    shown = {"Authorization": f"Bearer {TOKEN}", **AGENT}
    ask = running.client
    ask.get(f"/token/{TOKEN}/api/v1/namespaces/default/pods?limit=1&password={PASSWORD}")
    ask.get("/plinian/v1/about", headers=AGENT)
    ask.get("/plinian/v1/about", headers=shown)
    ask.get("/readyz", headers=shown)
    ask.post("/login", data={"token": TOKEN, "next": "/"})
    ask.get("/@1901", headers={"Cookie": f"plinian-token={TOKEN}"})
    ask.get(f"/@1901?at={TOKEN}x", headers=shown)
    called = {"name": "log", "arguments": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    accepted = {**shown, "Accept": "application/json, text/event-stream"}
    ask.post("/mcp", json=message, headers=accepted)
    said = _said(running)
    assert TOKEN not in said
    assert PASSWORD not in said
    lines = _parsed(said)
    assert [(line["method"], line["path"].split("?")[0], line["status"]) for line in lines] == [
        ("GET", "/token/…/api/v1/namespaces/default/pods", 200),
        ("GET", "/plinian/v1/about", 401),
        ("GET", "/plinian/v1/about", 200),
        ("POST", "/login", 303),
        ("GET", "/@1901", 200),
        ("GET", "/@1901", 200),
        ("POST", "/mcp", 200),
    ]
    assert all(set(FIELDS) <= set(line) for line in lines)
    assert all(line["bytes"] and line["ms"] for line in lines if line["status"] == 200)
    assert lines[2]["agent"] == "curl/8.1"
    asked = {name: lines[-1][name] for name in ("rpc", "tool", "result")}
    assert asked == {"rpc": "tools/call", "tool": "log", "result": "ok"}


def _raises(*_given: Any, **_named: Any) -> Any:
    _deep(DEEP)


@pytest.mark.parametrize(
    ("module", "name", "path"),
    [
        (api_routes, "document_of_api", "/plinian/v1/openapi.json"),
        (web_routes, "look_up", "/@1901"),
        (web_routes, "look_up", "/@1901.json"),
    ],
)
def test_an_exception_behind_any_door_is_one_line(
    demo_log: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, path: str
) -> None:
    out = io.StringIO()
    settings = _settings(str(demo_log), token="")
    monkeypatch.setattr(module, name, _raises)
    with serving_here(settings, logger_to(out, settings, form="json", level="info")) as running:
        assert running.client.get(path).status_code == 500
    (found,) = _parsed(out.getvalue())
    assert (found["level"], found["path"], found["status"]) == ("error", path, 500)
    assert found["exception"].endswith("ValueError: the disk is full: " + "x" * 3000)
    assert "in _deep" in found["exception"]


def test_clients_that_leave_early_are_lines_without_a_traceback(demo_log: Path) -> None:
    running = serving(demo_log, "--log-level", "info", "--log-format", "text")
    for path in ("mcp", "plinian/v1/play", "api/v1/nodes"):
        head = f"POST /{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{"
        with socket.create_connection(("127.0.0.1", running.port)) as client:
            client.sendall(head.encode())
    with socket.create_connection(("127.0.0.1", running.port)) as client:
        client.sendall(b"GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(15) == b"HTTP/1.1 200 OK"
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert running.client.get("/plinian/v1/about").status_code == 200
    said = _said(running)
    assert "Traceback" not in said
    assert " error " not in said
    assert re.search(r"POST /mcp: 499, [0-9.]+ ms, 0 bytes", said)


def test_on_a_terminal_lines_are_text_that_fits(demo_log: Path) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "plinian", "serve", "--log", str(demo_log), "--port", "0"]
    alone = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(words, stderr=theirs, env=alone)
    listens = re.search(r"127\.0\.0\.1:(\d+)/", _read(ours, "it)"))
    assert listens is not None
    agent = "agent of a person \x9b2J who names it at length".encode("latin-1")
    with httpx.Client(base_url=f"http://127.0.0.1:{listens[1]}", timeout=120) as client:
        for columns in (60, 80, 120, 200):
            ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            client.get("/nothing%1b%5b2J%0a?q=%1b", headers=[(b"User-Agent", agent)])
            said = _read(ours, "length")
            assert not CONTROLS.search(said)
            assert all(len(line) <= columns for line in said.splitlines())
            flat = " ".join(said.split())
            assert "GET /nothing%1B%5B2J%0A?q=%1b: 404," in flat
            assert flat.endswith("agent of a person \\u009b2J who names it at length")
    process.terminate()
    process.wait(timeout=120)
    os.close(ours)
    os.close(theirs)


def _read(terminal: int, end: str) -> str:
    """Return what a terminal shows, up to a line with a word."""
    found = ""
    while not found.endswith("\n") or end not in found:
        found += os.read(terminal, 4096).decode().replace("\r\n", "\n")
    return found


MESSAGES = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a\x1bgent", "version": "7"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "log", "arguments": {}}},
    {"id": 3, "method": "tools/call", "params": {"name": "no\x1btool", "arguments": {}}},
    {"id": 4, "method": "resources/read", "params": {"uri": "plinian://nothing"}},
)


def test_over_standard_input_lines_go_to_standard_error_alone(demo_log: Path) -> None:
    words = [sys.executable, "-m", "plinian", "mcp", "--log", str(demo_log)]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers = []
    for message in MESSAGES:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        if "id" in message:
            answers.append(json.loads(process.stdout.readline()))
    rest, said = process.communicate(timeout=120)
    assert rest == ""
    assert [one["id"] for one in answers] == [1, 2, 3, 4]
    assert not CONTROLS.search(said)
    lines = _parsed(said)
    assert [(line["method"], line["status"]) for line in lines] == [
        ("initialize", "ok"),
        ("tools/call", "ok"),
        ("tools/call", "error"),
        ("resources/read", "error"),
    ]
    assert [line.get("tool") for line in lines] == [None, "log", "no\x1btool", None]
    assert lines[3]["resource"] == "plinian://nothing"
    assert all(line["agent"] == "a\x1bgent/7" for line in lines[1:])
    assert all({*BASIC, "ms"} <= set(line) for line in lines)


@pytest.mark.parametrize(
    ("method", "params", "broken"),
    [
        ("tools/call", {"name": "log", "arguments": {}}, "texts_of"),
        ("resources/read", {"uri": "plinian://a"}, "_question"),
    ],
)
def test_a_question_of_an_agent_that_fails_has_its_whole_traceback(
    demo_log: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    params: dict[str, Any],
    broken: str,
) -> None:
    out = io.StringIO()
    settings = _settings(str(demo_log), token="")
    monkeypatch.setattr(tools, broken, _raises)
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    with serving_here(settings, logger_to(out, settings, form="json", level="info")) as running:
        accepted = {"Accept": "application/json, text/event-stream"}
        assert running.client.post("/mcp", json=message, headers=accepted).status_code == 200
    fault, request = _parsed(out.getvalue())
    assert fault["level"] == "error"
    assert fault["exception"].endswith("ValueError: the disk is full: " + "x" * 3000)
    assert (request["rpc"], request["result"]) == (method, "error")
    assert (request.get("tool") or request["resource"]) in params.values()
