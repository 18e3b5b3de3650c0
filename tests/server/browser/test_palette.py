"""The palette in a real browser: without a mouse, on a narrow screen, and read aloud."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsers import Watched
from playwright.sync_api import Page, Route, expect

Look = Callable[..., Watched]

PAST = "/@1901"
GANG = "job/default/big-gang"


def _opened(page: Page) -> Page:
    page.wait_for_selector("#find[role=button]")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Object, page, moment or command")).to_be_focused()
    return page


def _typed(page: Page, text: str, first: str) -> None:
    """Type, and wait until the first row is what was meant."""
    page.keyboard.type(text)
    rows = page.get_by_role("listbox", name="What it may mean")
    expect(rows.get_by_role("option", selected=True)).to_have_text(re.compile(first))


def test_an_object_is_three_keys_away(look: Look) -> None:
    page = _opened(look(f"{PAST}/queues").page)
    _typed(page, "big", GANG)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{PAST}/{GANG}")


def test_from_the_end_of_the_log_to_why_the_gang_waits_without_a_mouse(look: Look) -> None:
    """The object is gone by then: it is found all the same, and a key goes back to it."""
    page = _opened(look("/").page)
    _typed(page, "big", GANG)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{GANG}")
    end = page.url.split("/")[3]
    for key in ("b", "w"):
        page.wait_for_selector("#find[role=button]")
        page.keyboard.press(key)
        page.wait_for_load_state()
        page.wait_for_url(lambda url: end not in url)
    page.wait_for_url(f"**/why/{GANG}")
    expect(page.locator(".sentence")).to_be_visible()


def test_enter_does_not_wait_for_the_rows(look: Look) -> None:
    page = _opened(look(f"{PAST}/queues").page)
    page.keyboard.type("big-gang")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{PAST}/{GANG}")


def test_enter_never_acts_on_the_rows_of_an_older_text(look: Look) -> None:
    """The server answers late, and the text changes after Enter."""
    page = look(f"{PAST}/queues").page

    def late(route: Route) -> None:
        page.wait_for_timeout(150)
        route.continue_()

    page.route("**/find.json*", late)
    _opened(page)
    page.keyboard.type("gpu")
    page.keyboard.press("Enter")
    box = page.get_by_role("combobox", name="Object, page, moment or command")
    box.fill("big-gang")
    page.wait_for_url(f"**{PAST}/{GANG}")


def test_a_question_an_event_and_a_person_are_found(look: Look) -> None:
    page = _opened(look(f"{PAST}/queues").page)
    _typed(page, "why big", f"why {GANG}")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{PAST}/why/{GANG}")
    page = _opened(look(f"{PAST}/queues").page)
    _typed(page, "evicted", "pod.evicted")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=pod.evicted*")


def test_arrows_choose_and_the_choice_is_read_aloud(look: Look) -> None:
    page = _opened(look(f"{PAST}/queues").page)
    _typed(page, "gpu", "job/default/gpu")
    box = page.get_by_role("combobox", name="Object, page, moment or command")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    rows = page.get_by_role("listbox", name="What it may mean")
    option = rows.get_by_role("option").nth(1)
    expect(option).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", option.get_attribute("id") or "-")
    expect(page.locator("#palette-said")).to_have_text(re.compile("[0-9]+ rows"))


def test_a_moment_keeps_the_page_and_what_was_chosen(look: Look) -> None:
    page = _opened(look(f"{PAST}/jobs?queue=gold").page)
    _typed(page, "@1500", "@1500")
    page.keyboard.press("Enter")
    page.wait_for_url("**/@1500/jobs?queue=gold")


def test_a_page_and_a_command_are_found_by_their_words(look: Look) -> None:
    page = _opened(look(PAST).page)
    _typed(page, "invar", "Invariants")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{PAST}/check")
    page = _opened(look(f"{PAST}?sel=node/node-1").page)
    _typed(page, "pin the selected", "pin the selected object")
    page.keyboard.press("Enter")
    page.wait_for_url("**lanes=node/node-1*")


def test_escape_leaves_everything_as_it_was(look: Look) -> None:
    page = look(PAST).page
    page.locator("#find").focus()
    _opened(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#find")).to_be_focused()
    assert page.url.endswith(PAST)


def test_the_position_that_the_timeline_shows_counts(look: Look) -> None:
    page = look(PAST).page
    page.wait_for_selector("#handle")
    page.keyboard.press("j")
    page.wait_for_url("**/@1902")
    _opened(page)
    _typed(page, "big", GANG)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/@1902/{GANG}")


def test_names_from_the_log_are_no_html(look: Look) -> None:
    page = _opened(look(PAST).page)
    page.keyboard.type("<img src=x>")
    expect(page.locator("#palette-said")).to_have_text("nothing is called so")
    assert not page.locator("#palette img").count()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nobody_is_kept_out(look: Look, theme: str, width: int) -> None:
    page = _opened(look(f"{PAST}/queues", theme=theme, width=width).page)
    assert not Axe().run(page).violations_count
    _typed(page, "gpu", "job/default/gpu")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    inside = page.locator("#palette").bounding_box()
    assert inside is not None
    assert inside["x"] >= 0
    assert inside["x"] + inside["width"] <= width


@pytest.mark.slow
def test_the_page_without_a_palette_can_be_used_by_all(look: Look) -> None:
    for theme in ("light", "dark"):
        page = look(f"{PAST}/find?q=gpu", theme=theme, width=360).page
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
