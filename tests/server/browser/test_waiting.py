"""A page that takes long says at once that it is being computed."""

from __future__ import annotations

import re
from collections.abc import Callable

from browsers import Watched
from playwright.sync_api import Page, Route, expect

NOTE = """() => new MutationObserver(() => {
  const told = document.getElementById("told");
  if (told && !told.hidden) sessionStorage.setItem("told", told.textContent);
}).observe(document.body, { subtree: true, childList: true, characterData: true })"""


def _told(page: Page) -> str | None:
    found: str | None = page.evaluate("() => sessionStorage.getItem('told')")
    return found


def test_a_page_that_does_not_come_at_once_is_announced(look: Callable[..., Watched]) -> None:
    page = look("/@1901/queues").page
    page.evaluate(NOTE)
    held: list[Route] = []
    page.route(re.compile(r"/@1901/nodes$"), lambda route: held.append(route))  # noqa: PLW0108
    page.get_by_role("link", name="Nodes", exact=True).first.click(no_wait_after=True)
    page.wait_for_timeout(1500)
    held[0].continue_()
    expect(page).to_have_title(re.compile(r"^Nodes at [0-9:]+ \(@1901\)"))
    assert _told(page) == "The server computes the page …"


def test_a_page_that_comes_at_once_is_not(look: Callable[..., Watched]) -> None:
    page = look("/@1901/queues").page
    page.clock.install()  # The time of the page stands still.
    page.evaluate(NOTE)
    page.get_by_role("link", name="Help", exact=True).first.click()
    expect(page).to_have_title(re.compile(r"^Help at [0-9:]+ \(@1901\)"))
    assert _told(page) is None
