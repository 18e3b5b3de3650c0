"""A page at the end of a log that grows, in a real browser: it follows, until it is paused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsers import tab
from playwright.sync_api import Browser, Page, expect
from serving import serving_here

import plinian
from plinian.replay.server.settings import ServerSettings

Append = Callable[[], int]


@pytest.fixture
def place(demo_log: Path, tmp_path: Path) -> Path:
    """Return the file of a log that may grow."""
    copy = tmp_path / "grows.db"
    copy.write_bytes(demo_log.read_bytes())
    return copy


@pytest.fixture
def append(place: Path) -> Append:
    """Return what appends a node to the log, and returns where it ends."""
    names = iter(range(100))

    def appended() -> int:
        number = next(names)
        metadata = {"name": f"late-{number}", "uid": f"u-{number}"}
        metadata["resourceVersion"] = str(999_000 + number)
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {}}
        path = place.with_name(f"node-{number}.json")
        path.write_text(json.dumps(node))
        with plinian.open(place) as log:
            log.ingest([path])
            return log.moment("end").known

    return appended


@pytest.fixture
def origin(place: Path) -> Iterator[str]:
    """Serve it."""
    with serving_here(ServerSettings(place=str(place), port=0, grows=True)) as running:
        yield str(running.client.base_url).rstrip("/")


@pytest.fixture
def page(started: Browser, origin: str) -> Iterator[Page]:
    """Return a tab in which nothing goes wrong."""
    watched = tab(started, origin)
    yield watched.page
    watched.page.goto("about:blank")
    watched.page.context.close()
    assert not watched.wrong


@pytest.mark.parametrize("path", ["nodes", ""])
def test_a_page_at_the_end_follows_what_is_appended(page: Page, append: Append, path: str) -> None:
    page.goto(f"/@go?point=end&page={path}")
    following = page.get_by_role("button", name="Following")
    expect(following).to_have_attribute("aria-pressed", "true")
    end = append()
    page.wait_for_url(re.compile(f"/@{end}(/|$)"))
    expect(page.locator("header .moment")).to_contain_text(f"@{end}")
    if path:
        expect(page.get_by_role("main")).to_contain_text("late-0")
    else:
        expect(page.locator(f"#e{end}")).to_be_visible()
    expect(following).to_have_attribute("aria-pressed", "true")


def test_a_click_pauses_it_and_another_goes_to_the_end(page: Page, append: Append) -> None:
    page.goto("/@go?point=end&page=nodes")
    page.get_by_role("button", name="Following").click()
    before = page.url
    append()
    end = append()
    paused = page.get_by_role("button", name=re.compile("Follow .[0-9]+ newer"))
    expect(paused).to_have_attribute("aria-pressed", "false")
    assert page.url == before
    paused.click()
    page.wait_for_url(f"**/@{end}/nodes")
    expect(page.get_by_role("button", name="Following")).to_be_visible()


def test_a_moment_before_the_end_stays(page: Page, append: Append) -> None:
    page.goto("/@1901/nodes")
    follow = page.get_by_role("button", name=re.compile("Follow .[0-9]+ newer"))
    expect(follow).to_have_attribute("aria-pressed", "false")
    end = append()
    expect(follow).to_contain_text(str(end - 1901))
    assert page.url.endswith("/@1901/nodes")


def test_a_log_that_does_not_grow_has_no_such_button(
    started: Browser, place: Path, append: Append
) -> None:
    with serving_here(ServerSettings(place=str(place), port=0)) as running:
        watched = tab(started, str(running.client.base_url).rstrip("/"))
        watched.page.goto("/@go?point=end&page=nodes")
        button = watched.page.locator("#follow")
        expect(button).to_be_hidden()
        end = append()
        watched.page.wait_for_url(f"**/@{end}/nodes")
        expect(button).to_be_visible()
        watched.page.context.close()
    assert not watched.wrong
