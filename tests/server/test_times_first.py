"""Times come first on every page, and the position is small beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from audited import audited
from html_pages import Page
from web_pages import PATHS, data_at, page_at, pages_of

import plinian
from plinian.replay.facade.log import Log
from plinian.replay.moments.times import span_of_day
from plinian.replay.server.web.positions import time_at

AT = "/@1901"
GANG = "job/default/big-gang"
OTHERS = (GANG, f"why/{GANG}", "overview", "blame/queue/gold?number=allocated.cpu", "diff?vs=@1500")
TIMED = re.compile(r'<a class="at"[^>]*>(?:<time datetime="[^"]+">)?([^<]+)')


@pytest.fixture(scope="module")
def client(demo_log: Path) -> Iterator[httpx.Client]:
    with pages_of(demo_log) as found:
        yield found


@pytest.fixture(scope="module")
def log(demo_log: Path) -> Iterator[Log]:
    with plinian.open(demo_log) as found:
        yield found


@pytest.mark.parametrize("path", ["", *PATHS, *OTHERS])
def test_titles_and_headings_have_the_time_before_the_position(
    client: httpx.Client, log: Log, path: str
) -> None:
    text = client.get(f"{AT}/{path}".rstrip("/")).text
    clock = span_of_day(time_at(log, 1901)).partition(".")[0]
    title = re.search("<title>(.*)</title>", text)
    assert title is not None
    assert f"at {clock} (@1901)" in title[1]
    heading = re.search("<h1[^>]*>(.*?)</h1>", text, re.DOTALL)
    assert heading is not None
    words = " ".join(re.sub("<[^>]*>", "", heading[1]).split())
    before, position, _ = words.partition("@")
    assert not position or re.search(r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)? $", before), words


@pytest.mark.parametrize("path", ["jobs", "sessions", "overview", GANG, "blame/queue/gold", ""])
def test_a_link_to_a_moment_says_its_time(client: httpx.Client, path: str) -> None:
    text = client.get(f"{AT}/{path}".rstrip("/"), params={"sel": GANG, "pane": "state"}).text
    links = TIMED.findall(text)
    assert path == "jobs" or len(links) > 1
    assert [link for link in links if not re.match("[0-9]{2}:[0-9]{2}:[0-9]{2}", link)] == []


def test_the_time_of_a_link_is_that_of_its_event(client: httpx.Client, log: Log) -> None:
    page = page_at(client, f"{AT}/sessions")
    shown = page.tables["Sessions"]
    position = data_at(client, f"{AT}/sessions")["items"][0]["position"]
    (event,) = log.events(positions=(position,))
    assert shown[1][4] == f"{span_of_day(event.span)} @{position}"


def test_times_of_the_day_of_the_page_have_no_date(client: httpx.Client) -> None:
    opened = [row[1] for row in page_at(client, f"{AT}/sessions").tables["Sessions"][1:]]
    assert all(re.fullmatch(r"(by )?01:5[0-9]:[0-9]{2}(\.[0-9]+)?", text) for text in opened)
    words = " ".join(page_at(client, f"{AT}/jobs/over-time").text.split())
    assert "From 01:52:36" in words


def test_a_time_of_another_day_has_its_date(tmp_path: Path) -> None:
    place = tmp_path / "log.db"
    with plinian.open(place, create=True) as log:
        for day, revision in ((1, 10), (2, 20)):
            time = f"2026-05-0{day}T08:00:00.000000Z"
            metadata = {"name": "n1", "uid": "u", "labels": {"r": time}}
            metadata |= {"resourceVersion": str(revision), "creationTimestamp": time}
            file = tmp_path / f"{day}.audit.log"
            file.write_text(audited({"metadata": metadata}, time))
            log.ingest([file])
        last = log.store.last()
    with pages_of(place) as pages:
        text = page_at(pages, f"/@{last}/node/n1").text
    assert f"08:00:00 @{last}" in text
    assert "2026-05-01T08:00:00Z @1" in text


def test_the_boxes_of_a_difference_take_any_two_moments(client: httpx.Client) -> None:
    page = page_at(client, f"{AT}/diff?vs=@1500")
    boxes = {made.get("name"): made.get("value") for tag, made in page.elements if tag == "input"}
    moved = client.get("/@go", params={"point": "01:53:36", "vs": "01:53:02", "page": "diff"})
    assert moved.status_code == 302
    assert re.fullmatch(r"/@[0-9]+/diff\?vs=01:53:02", moved.headers["location"])
    for name, position in (("vs", 1500), ("point", 1901)):
        answer = client.get("/@go", params={"point": str(boxes[name])})
        assert answer.headers["location"] == f"/@{position}"


def test_the_parts_of_the_timeline_have_times_too(client: httpx.Client) -> None:
    text = client.get(f"{AT}?part=events").text
    page = Page(text)
    assert re.search(r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)? @1901", " ".join(page.text.split()))
