"""What tests in a browser share: the browser, and tabs that are watched for errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from serving import Running

pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")

from browsers import Watched, browser, chromium, tab
from playwright.sync_api import Browser


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here, and skip them where there is no browser."""
    here = [item for item in items if "/browser/" in item.path.as_posix()]
    for item in here:
        item.add_marker(pytest.mark.browser)
        if chromium() is None and not os.environ.get("PLINIAN_NEEDS_BROWSER"):
            item.add_marker(pytest.mark.skip("no Chromium: apt-get install chromium"))


@pytest.fixture(scope="module")
def started() -> Iterator[Browser]:
    """Return a browser."""
    with browser() as found:
        yield found


@pytest.fixture
def look(started: Browser, server: Running) -> Iterator[Callable[..., Watched]]:
    """Return a function that opens a path of the server; afterwards nothing may have gone wrong."""
    opened: list[Watched] = []
    origin = str(server.client.base_url).rstrip("/")

    def at(path: str, **options: object) -> Watched:
        found = tab(started, origin, **options)  # type: ignore[arg-type]
        opened.append(found)
        found.page.goto(path)
        return found

    yield at
    wrong = [what for one in opened for what in one.wrong]
    for one in opened:
        # Chromium may never close a tab in which a page begins to load.
        if not one.page.is_closed():
            one.page.goto("about:blank")
            one.page.context.close()
    assert not wrong
