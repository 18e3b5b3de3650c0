"""The token in a real browser: a form opens the page, and other sites never get an address."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from browsers import tab
from playwright.sync_api import Browser, expect
from serving import TOKEN, Running


def test_a_person_types_the_token_once(started: Browser, protected: Running) -> None:
    found = tab(started, str(protected.client.base_url).rstrip("/"))
    page = found.page
    page.goto("/@1901/queues")
    assert not Axe().run(page).violations_count
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Queues")
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Jobs")
    assert TOKEN not in page.url
    page.context.close()
