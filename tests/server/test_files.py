"""Any page as one file, from the server and from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from html_pages import Page
from web_pages import PATHS, data_at, page_at, pages_of

import plinian
from plinian.engine.errors import ObjectNotFound, PointUnknown, UsageError

AT = "/@1901"
GANG = "job/default/big-gang"
OTHERS = (
    *("", f"?pane=why&sel={GANG}", f"?pane=drift&sel={GANG}", f"why/{GANG}", GANG),
    *("what-if?add_node=node-3", "what-if?for=5s", "find?q=big"),
)
LIVE = {"script", "form", "input", "select", "button", "textarea", "dialog", "link", "label"}


@pytest.fixture(scope="module")
def client(demo_log: Path) -> Iterator[httpx.Client]:
    with pages_of(demo_log) as found:
        yield found


@pytest.mark.parametrize("path", [*PATHS, *OTHERS])
def test_a_page_as_one_file_needs_nothing_else(demo_log: Path, path: str) -> None:
    page = Page(plinian.web_page(demo_log, path, at="@1901"))
    assert not {tag for tag, _ in page.elements} & LIVE
    for name in ("href", "src", "action"):
        assert all(text.startswith("#") for text in page.attributes(name))
    assert page.has("main")
    assert "@1901" in page.text
    assert "v1.12.1" in page.text


@pytest.mark.parametrize("number", [1, 2, 3])
def test_sessions_without_times_are_before_or_after_a_position(tmp_path: Path, number: int) -> None:
    queue = {"kind": "Queue", "apiVersion": "scheduling.volcano.sh/v1beta1", "spec": {"weight": 1}}
    steps = [
        {"events": [{"type": "ADDED", "object": {**queue, "metadata": {"name": name}}}]}
        for name in ("a", "b", "c")
    ]
    case, place = tmp_path / "undated.case.json", tmp_path / "undated.db"
    case.write_text(json.dumps({"name": "undated", "steps": steps}))
    with plinian.open(place, create=True) as log:
        log.ingest([case])
        at = f"@{log.sessions()[number - 1].position}"
        assert [session.number for session in log.sessions(at=at)] == [number]
    text = " ".join(Page(plinian.web_page(place, "sessions", at=at)).text.split())
    assert f"{number} the last by this moment" in text


def test_it_has_what_the_page_has(client: httpx.Client, demo_log: Path) -> None:
    shown = page_at(client, f"{AT}/queues")
    found = Page(plinian.web_page(demo_log, "queues", at="@1901"))
    assert found.tables == shown.tables
    assert found.tables


def test_panes_that_take_long_are_in_it(demo_log: Path) -> None:
    found = plinian.web_page(demo_log, f"?pane=why&sel={GANG}", at="@1901")
    assert "it wants 20 cpu" in found
    assert "data-later" not in found


def test_an_address_of_a_browser_is_the_page(client: httpx.Client, demo_log: Path) -> None:
    given = plinian.web_page(demo_log, f"http://127.0.0.1:8001{AT}/jobs?queue=gold")
    assert given == plinian.web_page(demo_log, "jobs?queue=gold", at="@1901")
    assert given != plinian.web_page(demo_log, "jobs", at="@1901")
    assert data_at(client, f"{AT}/jobs?queue=gold")


def test_a_server_gives_the_same_file(client: httpx.Client, demo_log: Path) -> None:
    answer = client.get(f"{AT}/jobs?queue=gold&standalone=yes")
    assert answer.headers["content-disposition"] == (
        'attachment; filename="plinian-1901-jobs.html"'
    )
    assert answer.text == plinian.web_page(demo_log, "jobs?queue=gold", at="@1901")


@pytest.mark.parametrize(
    ("path", "at", "fault"),
    [
        ("nowhere", "@1901", UsageError),
        ("why/job/default/none", "@1901", ObjectNotFound),
        ("queues", "@99999999", PointUnknown),
        ("queues?release=v0.0.1", "@1901", None),
        ("session?release=v0.0.1", "@1901", UsageError),
    ],
)
def test_a_wrong_page_is_an_error(
    demo_log: Path, path: str, at: str, fault: type[Exception] | None
) -> None:
    if fault is None:
        assert plinian.web_page(demo_log, path, at=at)
        return
    with pytest.raises(fault):
        plinian.web_page(demo_log, path, at=at)
