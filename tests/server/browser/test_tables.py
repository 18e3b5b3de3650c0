"""Tables in a real browser: sorted by a head, in one unit, and what matters on a narrow screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from browsers import Watched
from playwright.sync_api import Browser, Page, expect

import plinian

Look = Callable[..., Watched]

PAST = "/@1901"


def _column(page: Page, place: int) -> list[str]:
    cells = page.locator(f"table tbody tr > :nth-child({place})").all_inner_texts()
    return [text.strip() for text in cells]


def test_a_head_sorts_its_column_up_and_down(look: Look) -> None:
    page = look(f"{PAST}/jobs").page
    head = page.get_by_role("columnheader", name="AGE")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    ages = [int(text.removesuffix("s")) for text in _column(page, 7)]
    assert ages == sorted(ages)
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    assert [int(text.removesuffix("s")) for text in _column(page, 7)] == sorted(ages, reverse=True)
    page.get_by_role("columnheader", name="NAME", exact=True).get_by_role("button").click()
    expect(head).not_to_have_attribute("aria-sort", "descending")
    assert _column(page, 1) == sorted(_column(page, 1))
    assert not Axe().run(page).violations_count


def test_heads_below_heads_sort_their_own_column(look: Look) -> None:
    page = look(f"{PAST}/nodes").page
    page.get_by_role("columnheader", name="USED").first.get_by_role("button").click()
    used = [float(text) for text in _column(page, 4)]
    assert used == sorted(used)
    assert used[0] == 4.5, "cpu is in whole ones"


def test_a_narrow_screen_shows_what_matters(look: Look) -> None:
    page = look(f"{PAST}/jobs", width=390).page
    expect(page.get_by_role("link", name=re.compile("^big-gang: ."))).to_be_in_viewport(ratio=1)
    page = look(f"{PAST}/queues", width=390).page
    expect(page.locator(".use").first).to_be_in_viewport(ratio=1)
    page = look(f"{PAST}/nodes", width=390).page
    expect(page.get_by_role("columnheader", name="USED").first).to_be_in_viewport(ratio=1)


def test_a_name_with_a_uid_is_short_and_whole_on_hover(look: Look) -> None:
    page = look(f"{PAST}/job/default/big-gang").page
    link = page.get_by_role("link", name="podgroup/default/big-gang-09629e74…").first
    expect(link).to_have_attribute(
        "title", "podgroup/default/big-gang-09629e74-7499-407b-919d-48e2f6f7cdba"
    )


def test_a_report_fits_a_narrow_screen(started: Browser, demo_log: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    with plinian.open(demo_log, read_only=True) as log:
        file.write_text(log.report(at="@1901", why="job/big-gang"), "utf-8")
    page = started.new_page(viewport={"width": 390, "height": 844})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.context.close()
