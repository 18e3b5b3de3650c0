"""The pages beside the timeline in a real browser: nobody is kept out, and the way to an answer."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsers import Watched
from playwright.sync_api import Page, expect

Look = Callable[..., Watched]

PAST = "/@1901"
GANG = "job/default/big-gang"
TOO_MANY = 10
"""Clicks within which a new user must have an answer."""

PATHS = (
    "jobs?sort=-AGE",
    "jobs/over-time",
    "find?q=gpu",
    "queues",
    "queues/over-time",
    "nodes",
    "nodes/over-time",
    "sessions",
    "session",
    "compare?vs_release=v1.11.2",
    "diff?vs=@1500",
    "what-if?add_node=node-3",
    "check",
    "behaviours?vs_release=v1.11.2",
    "races",
    "help",
    GANG,
    "queue/gold",
    f"why/{GANG}?others=yes",
    "path/pod/default/gpu-2-gpu-0",
    "blame/queue/gold?number=allocated.cpu",
)


@pytest.mark.parametrize("path", PATHS)
def test_nobody_is_kept_out(look: Look, path: str) -> None:
    page = look(f"{PAST}/{path}", theme="light").page
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    light = _background(page)
    page.emulate_media(color_scheme="dark")
    assert _background(page) != light
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def _background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


@pytest.mark.parametrize("path", PATHS)
def test_a_narrow_screen_shows_all_without_moving_sideways(look: Look, path: str) -> None:
    page = look(f"{PAST}/{path}", width=360).page
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wider) <= 0
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_from_the_start_page_to_why_the_gang_waits(look: Look) -> None:
    """The log ends after the job is gone: it is found among the jobs of other times."""
    page, clicks = look("/").page, 0
    steps = (
        lambda: page.get_by_role("link", name="Jobs", exact=True),
        lambda: page.get_by_role("link", name="default/big-gang", exact=True),
        lambda: page.get_by_role("link", name="Look at it before it was gone"),
        lambda: page.get_by_role("link", name="Why does it wait?"),
    )
    for step in steps:
        step().click()
        clicks += 1
        page.wait_for_load_state()
    assert clicks < TOO_MANY
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Why {GANG}")


def test_from_a_time_to_why_the_gang_waits(look: Look) -> None:
    page = look("/").page
    page.get_by_label("Time or position").fill("2026-11-21T01:53:36Z")
    page.keyboard.press("Enter")
    page.wait_for_url("**/@18*/overview")
    page.get_by_role("link", name="Jobs", exact=True).click()
    page.get_by_role("link", name=re.compile("^big-gang: .")).click()
    expect(page.locator(".sentence")).to_contain_text("it wants 20 cpu")
    expect(page.locator(".blocks")).to_contain_text("This keeps it waiting.")


def test_what_helps_is_tried_when_it_is_asked_for(look: Look) -> None:
    page = look(f"{PAST}/why/job/default/gpu-2").page
    page.get_by_role("link", name="Try changes that may help").click()
    table = page.get_by_role("region", name="Changes with which it starts")
    expect(table).to_contain_text("like node-3")
    assert "help=yes" in page.url


def test_a_change_is_tried_in_a_form_and_is_in_the_link(look: Look) -> None:
    page = look(f"{PAST}/what-if").page
    page.get_by_label("Nodes that are added").fill("node-3")
    page.get_by_role("button", name="Run", exact=True).click()
    rows = page.get_by_role("region", name="Decisions that differ")
    expect(rows).to_contain_text("default/gpu-2-gpu-0")
    text = rows.inner_text()
    page.reload()
    assert rows.inner_text() == text


def test_facets_and_back(look: Look) -> None:
    page = look(f"{PAST}/jobs").page
    everything = _rows(page)
    page.get_by_label("Choose by queue").get_by_role("link", name="gold").click()
    page.wait_for_url("**queue=gold*")
    assert 0 < _rows(page) < everything
    page.go_back()
    page.wait_for_url("**/jobs")
    assert _rows(page) == everything


def _rows(page: Page) -> int:
    return page.locator("table.jobs tbody tr").count()


def test_a_number_leads_to_the_events_that_made_it(look: Look) -> None:
    page = look(f"{PAST}/queues").page
    row = page.locator("tr", has=page.get_by_role("link", name="gold", exact=True))
    row.get_by_role("link", name="17", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("allocated.cpu of queue/gold")
    made = page.locator("tr", has_text="mixed-exec-2").get_by_role(
        "link", name=re.compile("@[0-9]+$")
    )
    position = f"@{made.inner_text().rpartition('@')[2]}"
    made.click()
    page.wait_for_url(f"**/{position}")


def test_two_releases_show_the_first_difference_at_once(look: Look) -> None:
    page = look(f"{PAST}/compare?vs_release=v1.11.2").page
    expect(page.locator("#difference")).to_be_in_viewport()


@pytest.mark.slow
@pytest.mark.parametrize("key", ["j", "q", "n", "s", "o", "v", "d", "w", "i", "b", "r", "h"])
def test_keys_open_pages(look: Look, key: str) -> None:
    # No key opens this page, so the address changes in each case.
    page = look(f"{PAST}/{GANG}").page
    page.wait_for_selector("#help-button:not([hidden])")
    link = page.locator(f"nav.site a[data-key={key}]")
    path = link.get_attribute("href")
    page.keyboard.press("g")
    page.keyboard.press(key)
    page.wait_for_url(f"**{path}")


@pytest.mark.parametrize("path", ["", "/jobs", f"/why/{GANG}", "/nowhere"])
def test_on_a_phone_the_page_begins_at_the_top(look: Look, path: str) -> None:
    """Header and navigation are a row each; the groups open, and the keyboard reaches all."""
    found = look(f"{PAST}{path}", width=390)
    page = found.page
    assert page.evaluate("document.querySelector('main').getBoundingClientRect().top") < 120
    jobs = page.get_by_role("link", name="Jobs", exact=True)
    expect(jobs).to_be_hidden()
    see = page.get_by_role("navigation", name="Pages").get_by_role("button").first
    expect(see).to_have_text("See: Jobs" if path == "/jobs" else re.compile("^See"))
    see.focus()
    page.keyboard.press("Enter")
    expect(jobs).to_be_in_viewport()
    assert not Axe().run(page).violations_count
    jobs.click()
    page.wait_for_url("**/jobs")
    found.wrong.clear()  # the browser reports the 404 of a page that does not exist


@pytest.mark.parametrize("width", [360, 390, 660, 768, 1100, 1250])
def test_header_and_navigation_are_a_row_each(look: Look, width: int) -> None:
    page = look(f"{PAST}/queues", width=width).page
    page.wait_for_selector("#play:not([hidden])")
    for row in ("header.site", "nav.site"):
        assert page.evaluate(f"document.querySelector('{row}').offsetHeight") <= 50
    for name in ("Play", "Settings"):
        expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("Time or position")).to_be_in_viewport(ratio=1)
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wider) <= 0


def test_on_a_phone_the_box_for_a_moment_is_wide_while_it_is_used(look: Look) -> None:
    page = look(f"{PAST}/queues", width=390).page
    box = page.get_by_label("Time or position")
    box.click()
    assert (box.bounding_box() or {})["width"] > 300
    box.fill("01:53:02")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/queues$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("01:53:01.952")


def test_the_release_is_chosen_on_a_phone_too(look: Look) -> None:
    page = look(f"{PAST}/jobs", width=390).page
    expect(page.get_by_label("Volcano")).to_be_hidden()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Volcano").select_option("v1.11.2")
    page.wait_for_url("**release=v1.11.2*")


def test_the_navigation_has_three_groups(look: Look) -> None:
    page = look(f"{PAST}/jobs").page
    pages = page.get_by_role("navigation", name="Pages")
    for group, names in (
        ("See", ("Overview", "Timeline", "Jobs", "Queues", "Nodes", "Diff")),
        ("Scheduler", ("All sessions", "This session", "Side by side", "What if", "Behaviours")),
        ("Check", ("Invariants", "Races", "Log")),
    ):
        entries = pages.get_by_role("list", name=group).get_by_role("link")
        assert entries.all_inner_texts() == list(names)


def test_the_zone_of_the_browser_is_a_choice_that_the_link_keeps(look: Look) -> None:
    page = look(f"{PAST}/jobs").page
    page.get_by_role("button", name="Settings").click()
    choice = page.get_by_label("Times in")
    expect(choice).to_have_value("")
    choice.select_option(label="local")
    page.wait_for_url("**tz=*")
    page.goto(f"{PAST}/queues/over-time?tz=Europe/Vienna")
    expect(page.get_by_label("Times in")).to_have_value("Europe/Vienna")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Queues over time")
    page.get_by_role("link", name="Timeline", exact=True).click()
    page.wait_for_selector("#handle")
    expect(page.locator("#now")).to_contain_text("02:53:36")
    page.keyboard.press("j")
    page.wait_for_url("**/@1902?tz=Europe/Vienna")
    expect(page.locator("#now")).to_contain_text("02:53:36")
    expect(page.locator("#e1902")).to_contain_text("02:53:36.9")


def test_names_are_picked_in_the_form_of_what_if(look: Look) -> None:
    page = look(f"{PAST}/what-if").page
    box = page.get_by_role("combobox", name="Add a node").first
    box.fill("node-3")
    page.keyboard.press("Enter")
    box.fill("node-2")
    page.keyboard.press("Enter")
    assert page.locator("textarea[name=add_node]").input_value() == "node-3\nnode-2"
    assert "add_node" not in page.url, "nothing runs yet"
    offered = page.locator("#pick-fields option").evaluate_all("all => all.map(one => one.value)")
    assert "queue/gold.spec.weight=" in offered
    field = page.get_by_role("combobox", name="Add a field")
    field.fill("queue/gold.spec.weight=")
    page.keyboard.press("Enter")
    page.keyboard.type("4")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(re.compile("set=queue.{1,3}gold.spec.weight%3D4"))
    assert not Axe().run(page).violations_count
