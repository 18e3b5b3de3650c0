"""Charts over time in a real browser: what is under the pointer, a click, a drag, the wheel."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browsers import Watched
from playwright.sync_api import Page, expect

Look = Callable[..., Watched]

PAST = "/@1901"
PATHS = ("queues/over-time", "nodes/over-time", "jobs/over-time")


def _box(page: Page) -> tuple[float, float, float, float]:
    """Return where the second chart is: left, top, width and height."""
    page.wait_for_selector("#hover", state="attached")
    box = page.locator("svg[data-begin]").nth(1).bounding_box()
    assert box is not None
    return box["x"], box["y"], box["width"], box["height"]


@pytest.mark.parametrize("path", PATHS)
def test_the_chart_has_most_of_the_width(look: Look, path: str) -> None:
    _, _, width, _ = _box(look(f"{PAST}/{path}", width=1440).page)
    assert width > 1440 * 0.7
    _, _, width, _ = _box(look(f"{PAST}/{path}", width=390).page)
    assert width > 390 * 0.5


def test_what_is_under_the_pointer_is_said(look: Look) -> None:
    page = look(f"{PAST}/queues/over-time").page
    left, top, width, height = _box(page)
    page.mouse.move(left + width * 0.25, top + height * 0.9)
    expect(page.locator("#hover")).to_have_text(re.compile(r"^01:53:\d\d · 10 allocated from "))
    page.mouse.move(4, 4)
    expect(page.locator("#hover")).to_be_hidden()


@pytest.mark.parametrize("path", PATHS)
def test_a_click_goes_to_the_time(look: Look, path: str) -> None:
    page = look(f"{PAST}/{path}").page
    left, top, width, height = _box(page)
    page.mouse.click(left + width * 0.9, top + height / 2)
    page.wait_for_url(lambda url: PAST not in url and url.endswith(path))
    assert "from=" not in page.url


def test_a_drag_and_the_wheel_choose_the_window_of_all_pages(look: Look) -> None:
    page = look(f"{PAST}/jobs/over-time").page
    left, top, width, height = _box(page)
    page.mouse.move(left + width * 0.2, top + height / 2)
    page.mouse.down()
    page.mouse.move(left + width * 0.6, top + height / 2, steps=3)
    page.mouse.up()
    page.wait_for_url("**from=2026-11-21T01:53*to=2026-11-21T01:54*")
    expect(page.get_by_role("link", name="The whole log")).to_be_visible()
    page.get_by_role("link", name="Timeline", exact=True).click()
    page.wait_for_selector("#handle")
    assert int(page.locator("#ruler").get_attribute("data-begin") or 1) > 1
    begin = page.locator("#ruler").get_attribute("data-begin")
    box = page.locator("#ruler").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(page.locator("#ruler")).not_to_have_attribute("data-begin", begin or "")
