"""Agents ask over the Model Context Protocol; the SDK's client asks here."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
import pytest
from api_questions import QUESTIONS, TIME
from asking_tools import ask
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from serving import Running, ended, serving

import plinian
from plinian.replay.server.api.table import OPERATIONS
from plinian.replay.server.mcp.tools import MOST_LINKS

T = TypeVar("T")

NEEDED = {
    *("state", "diff", "history", "why", "what_if"),
    *("session", "compare", "check", "explore"),
}
WHY = {"object": "job/gpu-2", "at": TIME}


def ask_process(place: Path, question: Callable[[Client], Awaitable[T]]) -> T:
    """Return what a client is answered by a process that it starts."""

    async def asked() -> T:
        words = ["-m", "plinian", "mcp", "--log", str(place)]
        child = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(stdio_client(child)) as client:
            return await question(client)

    return asyncio.run(asked())


def test_each_tool_says_what_it_takes_and_gives_and_that_it_only_reads(demo_log: Path) -> None:
    tools = ask(demo_log, lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} >= NEEDED
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        assert tool.description


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_answer_is_typed_and_says_what_it_rests_on(demo_log: Path, mode: str) -> None:
    found = ask(demo_log, lambda client: client.call_tool("why", WHY), mode)
    with plinian.open(demo_log, read_only=True) as log:
        expected = log.why("job/gpu-2", at=TIME)
    answer = found.structured_content
    assert not found.is_error
    assert answer["result"]["sentence"] == expected.sentence
    assert answer["moment"]["time"] == TIME
    assert answer["releases"] == ["v1.12.1"]
    assert answer["evidence"]["positions"]
    assert answer["command"] == f"plinian why job/gpu-2 --at {TIME}"
    assert json.loads(found.content[0].text) == answer


@pytest.mark.parametrize(
    "name", [one.name for one in OPERATIONS if one.is_tool and one.name != "explore"]
)
def test_every_tool_answers(demo_log: Path, name: str) -> None:
    """The client checks each answer against the schema that the tool gives."""
    tool = name.replace("-", "_")
    found = ask(demo_log, lambda client: client.call_tool(tool, {**QUESTIONS[name]}))
    assert not found.is_error, found.content[0].text
    assert found.structured_content["question"] == name


def test_links_lead_to_the_object_and_the_events(demo_log: Path) -> None:
    async def follow(client: Client) -> tuple[Any, list[Any]]:
        found = await client.call_tool("why", WHY)
        links = [one for one in found.content if one.type == "resource_link"]
        read = [(await client.read_resource(one.uri)).contents[0].text for one in links]
        return found.structured_content, [json.loads(text) for text in read]

    answer, (named, *events) = ask(demo_log, follow)
    assert named["result"][0]["metadata"]["name"] == "gpu-2"
    positions = [one["result"][0]["position"] for one in events]
    assert positions == answer["evidence"]["positions"][-MOST_LINKS:]
    assert all("payload" in one["result"][0] for one in events)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("plinian://events/x", ""),
        ("plinian://events/0/1", ""),
        ("plinian://events/99999", "position @99999 is beyond the end"),
        ("plinian://objects/end/pods", ""),
        ("plinian://objects/end/pods/none", ""),
        ("file:///etc/passwd", ""),
        ("plinian://", ""),
    ],
)
def test_a_resource_that_does_not_exist_is_refused(demo_log: Path, uri: str, said: str) -> None:
    async def refused(client: Client) -> str:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        return raised.value.message

    assert (said or "plinian") in ask(demo_log, refused)


def test_pages_are_continued_by_a_cursor(demo_log: Path) -> None:
    async def read(client: Client) -> list[int]:
        found: list[int] = []
        arguments: dict[str, Any] = {"kind": "pod.bound"}
        while True:
            page = (await client.call_tool("events", arguments)).structured_content
            assert len(page["result"]) <= 50
            found += [one["position"] for one in page["result"]]
            if page["next"] is None:
                return found
            arguments["cursor"] = page["next"]

    with plinian.open(demo_log, read_only=True) as log:
        positions = [one.position for one in log.events(kinds="pod.bound")]
    assert ask(demo_log, read) == positions
    assert len(positions) > 50


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("why", {"object": "job/none"}, 'jobs "none" not found'),
        ("why", {}, "object is missing"),
        ("why", {"objekt": "x"}, "there is no parameter 'objekt'"),
        ("why", {"object": {"kind": "job"}}, "neither a text nor a number"),
        ("ingest", {}, "there is no tool 'ingest'; choose from"),
        ("state", {"table": "nodes", "limit": 5000}, "from 1 to 1000"),
    ],
)
def test_an_error_is_a_result_that_says_what_to_do(
    demo_log: Path, tool: str, arguments: dict[str, Any], said: str
) -> None:
    found = ask(demo_log, lambda client: client.call_tool(tool, arguments))
    assert found.is_error
    assert said in found.content[0].text


@pytest.mark.slow
def test_a_process_answers_over_its_standard_input_and_output(demo_log: Path) -> None:
    async def both(client: Client) -> tuple[str, Any]:
        found = await client.call_tool("why", WHY)
        return str(client.instructions), found.structured_content

    instructions, answer = ask_process(demo_log, both)
    assert answer == ask(demo_log, lambda client: client.call_tool("why", WHY)).structured_content
    assert "not_known" in instructions


def test_nothing_but_the_protocol_is_printed(demo_log: Path) -> None:
    """A client that speaks by hand: also what is no message of the protocol gets no other text."""
    call = {"name": "session", "arguments": {"at": TIME}}
    lines = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "0"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "plinian", "mcp", "--log", str(demo_log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("this is no JSON\n")
    for line in lines:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
    process.stdin.flush()
    printed: list[dict[str, Any]] = []
    while not printed or printed[-1].get("id") != 2:
        printed.append(json.loads(process.stdout.readline()))
    rest, told = process.communicate(timeout=120)
    assert all(one["jsonrpc"] == "2.0" for one in printed)
    assert printed[-1]["result"]["structuredContent"]["question"] == "session"
    assert rest == ""
    assert process.returncode == 0, told


def test_a_log_that_does_not_exist_is_said_on_standard_error(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "plinian", "mcp", "--log", str(tmp_path / "none.db")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, input="")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "there is no such file" in done.stderr


LACKING = """
import sys
from importlib.machinery import PathFinder
found = PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda cls, name, *more: None if name == "mcp" else found(name, *more)
)
from plinian.__main__ import main
sys.argv = ["plinian", "mcp", *sys.argv[1:]]
main()
"""


def test_without_the_extra_it_says_what_to_install(demo_log: Path) -> None:
    words = [sys.executable, "-c", LACKING, "--log", str(demo_log)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "pip install 'plinian[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_is_served_over_http_behind_the_guard(demo_log: Path) -> None:
    running = serving(demo_log)

    async def asked() -> Any:
        async with Client(f"{str(running.client.base_url).rstrip('/')}/mcp") as client:
            return await client.call_tool("why", WHY)

    try:
        found = asyncio.run(asked())
        refused = running.client.post("/mcp", json={}, headers={"Host": "evil.example"})
        page = running.client.post("/mcp", json={}, headers={"Origin": "http://evil.example"})
    finally:
        ended(running)
    assert found.structured_content["question"] == "why"
    assert (refused.status_code, page.status_code) == (421, 403)


BODIES = (
    *(b"", b"{}", b"[]", b"null", b"x", b"[" * 100_000, b'{"jsonrpc":"2.0","id":1}'),
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"why","arguments":[]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"\\u0000"}}',
    b'"' + b"x" * 5_000_000 + b'"',
)


@pytest.mark.parametrize("version", ["", "2026-07-28", "x"])
def test_a_message_that_is_none_is_refused(server: Running, version: str) -> None:
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    if version:
        headers["MCP-Protocol-Version"] = version
    for body in BODIES:
        answer = server.client.post("/mcp", content=body, headers=headers)
        assert answer.status_code in {200, 400, 413}, body[:100]
        assert '"result":' not in answer.text or '"isError":true' in answer.text
        assert "Traceback" not in answer.text
    assert server.client.get("/mcp", headers=headers).status_code == 405


def test_the_command_serves_over_http_if_asked(demo_log: Path, server: Running) -> None:
    words = ["mcp", "--http", "--log", str(demo_log), "--port", str(server.port)]
    done = subprocess.run(
        [sys.executable, "-m", "plinian", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "another program listens here already" in done.stderr


def test_a_batch_and_a_message_that_is_too_large_are_refused(server: Running) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    found = server.client.post("/mcp", json=[message] * 3, headers=accept)
    assert (found.status_code, found.json()["error"]["code"]) == (400, -32600)
    large = {**message, "params": {"x": "y" * (300 << 10)}}
    assert server.client.post("/mcp", json=large, headers=accept).status_code == 413
