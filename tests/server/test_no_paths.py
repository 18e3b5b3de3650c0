"""No answer of any door names a folder of this machine: not the inputs', not the log's."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from api_questions import QUESTIONS, path_of
from click.testing import CliRunner
from html_pages import Page
from mcp.client.client import Client
from web_pages import PATHS, links_of, pages_of

import plinian
from plinian.replay.cli.main import app
from plinian.replay.server.api.operation import Operation
from plinian.replay.server.api.table import OPERATIONS
from plinian.replay.server.mcp.tools import server_of
from plinian.replay.server.readers import Readers
from plinian.replay.server.settings import ServerSettings
from tree import ROOT

RECORDING = ROOT / "replay/recordings/quickstart"
SECRET = "folder-that-nobody-may-know"
AT = "2026-11-21T01:53:36Z"
OBJECTS = ("pod/default/gpu-2-gpu-0", "job/default/gpu-2", "node/node-1", "queue/gold")
LONG = {"explore", "what-would-help", "forecast", "compare"}
"""Questions whose answers take long, and have no other sort of field."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a log whose inputs lie in a folder with a name of its own."""
    folder = tmp_path_factory.mktemp("told") / SECRET
    shutil.copytree(RECORDING, folder)
    inputs = ("audit.log.xz", "scheduler.log.xz", "scheduler-conf/volcano-scheduler.conf")
    with plinian.open(folder / "log.db", create=True) as log:
        log.ingest([folder / one for one in inputs])
    return folder / "log.db"


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[httpx.Client]:
    """Return a client of the log."""
    with pages_of(place) as found:
        yield found


def check(client: httpx.Client, path: str) -> httpx.Response:
    """Ask, and look for the folder."""
    answer = client.get(path)
    assert answer.status_code < 500, f"{path}: {answer.text[:500]}"
    assert SECRET not in answer.text, f"{path}: {_around(answer.text)}"
    assert not any(SECRET in value for value in answer.headers.values()), path
    return answer


def _around(text: str) -> str:
    place = text.index(SECRET)
    return text[max(place - 200, 0) : place + 100]


def test_the_folder_is_in_the_log(place: Path) -> None:
    with plinian.open(place, read_only=True) as log:
        assert any(SECRET in one.event.source for one in log.events(kinds=("config.applied",)))


@pytest.mark.slow
def test_no_command_and_no_file_names_it(place: Path, tmp_path: Path) -> None:
    conf = str(place.parent / "scheduler-conf/volcano-scheduler.conf")
    report, pack, events = (tmp_path / one for one in ("r.html", "p.plinian", "e.ndjson"))
    at = ("--at", AT)
    for words in (
        ("why", "job/gpu-2", *at),
        ("why", "job/gpu-2", *at, "-o", "json"),
        ("session", *at, "-o", "json"),
        ("session", *at, "--conf", conf),
        ("history", "job/gpu-2", "-o", "json"),
        ("events", "--kind", "config.applied", "-o", "json"),
        ("status",),
        ("status", "-o", "json"),
        ("lint", *at, "-o", "sarif"),
        ("report", *at, "--why", "job/gpu-2", "-o", str(report)),
        ("pack", *at, "--around", "5s", "-o", str(pack)),
        ("export", str(events)),
    ):
        result = CliRunner().invoke(app, [*words, "--log", str(place)])
        assert result.exit_code in {0, 1}, (words, result.output)
        printed = result.stdout.replace(str(place.parent / "log.db"), "")
        assert SECRET not in printed, (words, _around(printed))
    assert "volcano-scheduler.conf" in report.read_text()
    for file in (report, events):
        assert SECRET not in file.read_text(), _around(file.read_text())
    with plinian.open(pack, read_only=True) as opened:
        sources = {one.event.source for one in opened.events()}
        assert "volcano-scheduler.conf" in sources
        assert not any(SECRET in str(one.event) for one in opened.events())


@pytest.mark.slow
def test_no_page_names_it(client: httpx.Client) -> None:
    last = json.loads(check(client, "/plinian/v1/log").text)["result"]["last"]
    paths = ["", *PATHS, *OBJECTS, *(f"why/{one}" for one in OBJECTS), "compare?vs_conf=built-in"]
    panes = [f"?sel={one}&pane={pane}" for one in OBJECTS[:1] for pane in ("raw", "state", "why")]
    for path in (*paths, *panes):
        place, mark, query = path.partition("?")
        for twin in ("", ".json"):
            check(client, f"/@{last}/{place}{twin}{mark}{query}".replace("/.json", ".json"))
    followed = {
        link.partition("?")[0]: link
        for path in ("sessions", "session", "check", "job/default/gpu-2")
        for link in links_of(Page(client.get(f"/@{last}/{path}").text))
        if link.startswith("/@")
    }
    assert len(followed) > 20
    for link in followed.values():
        check(client, link)


def test_no_fault_names_it(client: httpx.Client) -> None:
    for path in ("/@x", "/@1/none", "/@1/pod/none.json", "/@1/session?release=none", "/none"):
        check(client, path)
    for query in ("conf=none", "release=none", "at=none"):
        check(client, f"/plinian/v1/session?{query}")


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.name not in LONG], ids=lambda one: one.name
)
def test_no_answer_names_it(client: httpx.Client, operation: Operation) -> None:
    path, query = path_of(operation.path, QUESTIONS[operation.name])
    check(client, str(httpx.URL(path, params=query)))


def test_the_kubernetes_api_does_not_name_it(client: httpx.Client) -> None:
    groups = check(client, "/apis").json()["groups"]
    versions = [f"/apis/{one['preferredVersion']['groupVersion']}" for one in groups]
    lists = [
        f"{version}/{one['name']}"
        for version in ("/api/v1", *versions)
        for one in check(client, version).json()["resources"]
        if "list" in one["verbs"]
    ]
    assert len(lists) > 20
    for path in ("/version", "/openapi/v3", "/plinian/v1/play", *lists):
        check(client, path)


def test_agents_are_not_told(place: Path) -> None:
    asked = {"session": {"at": AT}, "why": {"object": "job/gpu-2", "at": AT}, "log": {}}

    async def told() -> list[str]:
        settings = ServerSettings(str(place))
        readers = Readers(settings)
        try:
            async with Client(server_of(settings, readers)) as client:
                return [str(await client.call_tool(name, given)) for name, given in asked.items()]
        finally:
            readers.close()

    found = asyncio.run(told())
    assert "volcano-scheduler.conf" in found[0]
    assert SECRET not in "".join(found)
