"""Pages that are worked on, in a real browser: progress, a stop without a mouse, and the result."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsers import PATIENCE_MS, Watched
from playwright.sync_api import expect

Look = Callable[..., Watched]

PAST = "/@1901"
SEARCH = f"{PAST}/races?run=yes&budget=2m&strategy=random&objects=job/default/late-1&seed="
OVER_TIME = f"{PAST}/what-if?for=30s&each=yes&add_node=node-3&cordon=node-0"


@pytest.mark.parametrize(("theme", "width", "seed"), [("light", 1280, 1), ("dark", 360, 2)])
def test_a_search_shows_how_far_it_is_and_ends_at_a_key(
    look: Look, theme: str, width: int, seed: int
) -> None:
    page = look(f"{SEARCH}{seed}", theme=theme, width=width).page
    expect(page.locator("#progress-words")).to_contain_text("It searches", timeout=PATIENCE_MS)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    stop = page.get_by_role("button", name="Stop, and show what is found")
    stop.focus()
    before = page.locator("#progress-words").inner_text()
    expect(page.locator("#progress-words")).not_to_have_text(before, timeout=PATIENCE_MS)
    expect(stop).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("stopped by hand", timeout=PATIENCE_MS)
    assert page.url.endswith(f"seed={seed}")


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 360)])
def test_courses_of_a_cluster_stand_side_by_side(look: Look, theme: str, width: int) -> None:
    page = look(OVER_TIME, theme=theme, width=width).page
    courses = page.get_by_role("region", name="The courses side by side")
    expect(courses).to_contain_text("cordon node-0", timeout=PATIENCE_MS)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wider) <= 0
    expect(page.get_by_label("For how long the cluster lives on")).to_have_value("30s")
