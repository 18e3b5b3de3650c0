"""The line through the log and play, in a real browser: the same page at other moments."""

from __future__ import annotations

import re
from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from browsers import Watched
from playwright.sync_api import expect

Look = Callable[..., Watched]

PAST = "/@1901"


def test_the_line_shows_the_same_page_at_another_moment(look: Look) -> None:
    page = look(f"{PAST}/queues?release=v1.11.2").page
    line = page.get_by_role("slider", name="Moment")
    text = re.compile(r"position 1901 of 44[0-9]{2}, 01:53:36\.884")
    expect(line).to_have_attribute("aria-valuetext", text)
    line.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/@1902/queues?release=v1.11.2")
    line.fill("3000")
    page.wait_for_url("**/@3000/queues?release=v1.11.2")
    expect(page.get_by_role("heading", level=1)).to_contain_text("@3000")
    expect(page.locator("header .moment")).to_contain_text("@3000")
    assert "@3000" in page.title()
    jobs = page.get_by_role("link", name="Jobs", exact=True)
    expect(jobs).to_have_attribute("href", "/@3000/jobs?release=v1.11.2")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_contain_text("@1902")
    assert not Axe().run(page).violations_count


def test_tables_of_another_moment_are_sorted_too(look: Look) -> None:
    page = look(f"{PAST}/jobs").page
    page.get_by_role("slider", name="Moment").fill("2200")
    expect(page.get_by_role("heading", level=1)).to_contain_text("@2200")
    page.get_by_role("columnheader", name="AGE").get_by_role("button").click()
    expect(page.get_by_role("columnheader", name="AGE")).to_have_attribute("aria-sort", "ascending")


def test_play_goes_on_until_it_is_stopped(look: Look) -> None:
    for path in ("/queues", ""):
        page = look(f"{PAST}{path}").page
        play = page.get_by_role("button", name="Play")
        play.click()
        page.wait_for_url(f"**/@1961{path}")
        play.click()
        expect(play).to_have_attribute("aria-pressed", "false")
        page.wait_for_timeout(1200)
        stopped = page.url
        page.wait_for_timeout(1200)
        assert page.url == stopped


def test_on_a_phone_the_line_takes_no_room(look: Look) -> None:
    page = look(f"{PAST}/jobs", width=390).page
    expect(page.get_by_role("slider", name="Moment")).to_be_visible()
    assert page.evaluate("document.querySelector('main').getBoundingClientRect().top") < 120
