"""Pages that take long: browsers get the frame first, and programs the answer as a whole."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from serving import serving_here

from plinian.replay.facade.log import Log
from plinian.replay.server.settings import ServerSettings
from plinian.replay.server.web import streamed_pages
from plinian.replay.server.web import why as why_page
from plinian.replay.server.web.files import CONTENT

BROWSER = {"Accept": "text/html,application/xhtml+xml"}
WAITS = "/@1901/why/job/default/big-gang"
LONG = (WAITS, "/@1901/overview", "/@1901/nodes", "/@1901/queues/over-time", "/@1901/session")
_TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)


@pytest.fixture
def client(demo_log: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """Give a client of a server that waits for no answer before it sends the frame."""
    monkeypatch.setattr(streamed_pages, "FRAME_SECONDS", 0.0)
    with serving_here(ServerSettings(str(demo_log))) as server:
        yield server.client


@pytest.mark.parametrize("path", LONG)
def test_a_page_in_parts_is_the_page(client: httpx.Client, path: str) -> None:
    parts = client.get(path, headers=BROWSER)
    assert parts.headers["cache-control"] == "no-store"
    whole = client.get(path)
    assert "etag" in whole.headers
    head, _, content = parts.text.partition(CONTENT)
    expected_head, _, expected = whole.text.partition(CONTENT)
    assert content == expected
    title = _TITLE.search(expected_head)
    assert title is not None
    said = title[0].replace("title>", "p>").replace("<p>", '<p id="title" hidden>')
    assert said in head
    frame = head.partition('<div class="working"')[0]
    assert _TITLE.sub("", frame) == _TITLE.sub("", expected_head)


def test_the_frame_comes_while_the_answer_is_made(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    make = why_page.reach_cache

    def held(*given: object, **named: object) -> object:
        assert go_on.wait(120)
        return make(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(why_page, "reach_cache", held)
    with client.stream("GET", WAITS, headers=BROWSER) as answer:
        texts = answer.iter_text()
        frame = next(texts)
        assert "The answer is being made" in frame
        assert CONTENT not in frame
        go_on.set()
        assert "This keeps it waiting." in "".join(texts)


def test_a_fault_after_the_frame_is_said_in_its_place(client: httpx.Client) -> None:
    path = "/@1901/why/job/default/nothing"
    shown = client.get(path, headers=BROWSER)
    refused = client.get(path)
    assert (shown.status_code, refused.status_code) == (200, 404)
    assert shown.text.partition(CONTENT)[2] == refused.text.partition(CONTENT)[2]
    assert shown.text.index("<nav") < shown.text.index(CONTENT)


def test_what_the_server_has_comes_as_a_whole(client: httpx.Client) -> None:
    client.get(WAITS)
    again = client.get(WAITS, headers=BROWSER)
    assert "etag" in again.headers
    assert "being made" not in again.text


def test_a_part_of_a_page_comes_as_a_whole(client: httpx.Client) -> None:
    part = client.get(f"{WAITS}?standalone=yes", headers=BROWSER)
    assert "content-disposition" in part.headers
    assert "being made" not in part.text


def test_a_fault_of_ours_after_the_frame_is_logged_and_said(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_log: Log, *_given: object) -> object:
        raise RuntimeError("broken")

    monkeypatch.setattr(why_page, "reach_cache", broken)
    shown = client.get(WAITS, headers=BROWSER)
    assert "the server failed to answer" in shown.text.partition(CONTENT)[2]
    assert "broken" not in shown.text.partition(CONTENT)[2]
