"""The timeline in a real browser: keys, links that restore a look, Back, and reading aloud."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsers import Watched, tab
from playwright.sync_api import Browser, Page, expect
from serving import Running, ended, serving

Look = Callable[..., Watched]

PAST = "/@1901"
GANG = f"{PAST}?sel=job/default/big-gang"
PATHS = (PAST, f"{GANG}&lanes=node/node-1", f"{GANG}&pane=state", f"{GANG}&pane=raw", "/@4446")


def _settled(page: Page, position: int) -> None:
    """Wait until everything shows a position."""
    expect(page.locator("#panel .pane")).to_have_attribute("data-at", str(position))
    expect(page.locator("#ruler")).to_have_attribute("data-rendered", f"@{position}")


@pytest.mark.parametrize("path", PATHS)
def test_nobody_is_kept_out(look: Look, path: str) -> None:
    page = look(path, theme="light").page
    page.wait_for_selector("#handle")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(background) != light
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nobody_is_kept_out_of_answers_keys_and_faults(look: Look, theme: str) -> None:
    page = look(f"{GANG}&pane=why", theme=theme).page
    expect(page.locator("#panel .sentence")).to_be_visible()
    assert not Axe().run(page).violations_count
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert not Axe().run(page).violations_count
    found = look("/@1901/nowhere", theme=theme)
    assert not Axe().run(found.page).violations_count
    found.wrong.clear()  # the browser reports the 404


def test_it_has_landmarks_and_a_title(look: Look) -> None:
    page = look(GANG).page
    assert re.match(r"job/default/big-gang at 01:53:[0-9]{2} \(@1901\)", page.title())
    for role in ("banner", "main", "contentinfo"):
        expect(page.get_by_role(role)).to_have_count(1)  # type: ignore[arg-type]
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()


def test_j_and_k_move_by_one_event_and_the_row_goes_along(look: Look) -> None:
    page = look(PAST).page
    page.wait_for_selector("#handle")
    for _ in range(3):
        page.keyboard.press("j")
    _settled(page, 1904)
    expect(page.locator("#events tr[aria-current]")).to_have_id("e1904")
    assert page.url.endswith("/@1904")
    page.keyboard.press("k")
    _settled(page, 1903)
    assert "@1903" in page.title()


def test_far_moves_bring_other_rows(look: Look) -> None:
    page = look(PAST).page
    page.wait_for_selector("#handle")
    page.get_by_label("Time or position").fill("@3000")
    page.keyboard.press("Enter")
    _settled(page, 3000)
    expect(page.locator("#events tr[aria-current]")).to_have_id("e3000")
    assert page.locator("#events tbody tr").count() <= 200


def test_back_undoes_a_jump_but_not_each_step(look: Look) -> None:
    page = look(PAST).page
    page.wait_for_selector("#handle")
    page.keyboard.press("j")
    _settled(page, 1902)
    page.keyboard.press("s")
    page.wait_for_url(lambda url: "@1902" not in url)
    page.go_back()
    _settled(page, 1902)


def test_a_link_restores_the_look(look: Look) -> None:
    page = look(PAST).page
    page.wait_for_selector("#handle")
    page.locator("#events").get_by_role("link", name="node/node-1").first.click()
    page.wait_for_url("**sel=node/node-1*")
    page.keyboard.press("p")
    page.wait_for_url("**lanes=node/node-1*")
    page.keyboard.press("t")
    page.wait_for_url("**pane=state*")
    expect(page.locator("#panel")).to_contain_text("status.allocatable.cpu")
    fields = page.locator("#panel tbody tr").all_inner_texts()
    page.reload()
    assert page.locator("#panel tbody tr").all_inner_texts() == fields
    expect(page.locator(".names .lane")).to_have_count(1)


def test_a_value_leads_to_the_event_that_set_it(look: Look) -> None:
    page = look(f"{PAST}?sel=node/node-1&pane=state").page
    row = page.locator("#panel tr", has_text="spec.podCIDR").first
    if not row.count():
        row = page.locator("#panel tr", has_text="status.allocatable.cpu").first
    link = row.get_by_role("link")
    position = int(link.inner_text().rpartition("@")[2])
    link.click()
    _settled(page, position)
    expect(page.locator("#events tr[aria-current]")).to_contain_text("node/node-1")


def test_why_is_answered_in_the_panel(look: Look) -> None:
    page = look(GANG).page
    page.wait_for_selector("#handle")
    page.keyboard.press("w")
    expect(page.locator("#panel .sentence")).to_contain_text("waits because")
    page.keyboard.press("d")
    expect(page.locator("#panel .sentence")).to_have_count(0)


def test_two_positions_are_compared(look: Look) -> None:
    page = look("/@1500?sel=node/node-1&vs=@1400").page
    page.wait_for_selector("#handle")
    page.keyboard.press("[")
    page.wait_for_url("**vs=@1500*")
    page.get_by_label("Time or position").fill("@2000")
    page.keyboard.press("Enter")
    _settled(page, 2000)
    expect(page.locator("#panel")).to_contain_text("From @1500")
    expect(page.locator("#panel")).to_contain_text("spec.unschedulable")
    page.keyboard.press("]")
    _settled(page, 1500)
    assert "vs=@2000" in page.url


def test_the_filter_keeps_only_what_fits(look: Look) -> None:
    page = look(PAST).page
    page.wait_for_selector("#handle")
    page.keyboard.press("/")
    page.keyboard.type("pod.bound")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=pod.bound*")
    expect(page.locator("#events")).to_contain_text("that fit “pod.bound”")
    kinds = page.locator("#events .kind").all_inner_texts()
    assert set(kinds) == {"pod.bound"}
    page.keyboard.press("j")
    expect(page.locator("#events tr[aria-current] .kind")).to_have_text("pod.bound")


def test_rows_of_a_filter_begin_where_the_position_is(look: Look) -> None:
    page = look("/@3382?q=pod.*").page
    page.wait_for_selector("#handle")
    before = page.locator("#e3378, #e3377, #e3375").first
    expect(before).to_be_in_viewport()


def test_a_filter_that_names_nothing_says_so(look: Look) -> None:
    page = look(f"{PAST}?q=pod.bond").page
    expect(page.locator("#events")).to_contain_text("did you mean")
    page.get_by_role("link", name="Clear the filter").click()
    expect(page.locator("#events tbody tr").first).to_be_visible()


def test_the_handle_is_a_slider(look: Look) -> None:
    page = look(PAST).page
    handle = page.get_by_role("slider", name="Position")
    handle.focus()
    last = handle.get_attribute("aria-valuemax") or ""
    assert f"position 1901 of {last}" in (handle.get_attribute("aria-valuetext") or "")
    page.keyboard.press("ArrowRight")
    _settled(page, 1902)
    page.keyboard.press("End")
    _settled(page, int(last))
    expect(handle).to_have_attribute("aria-valuenow", last)


def test_a_click_on_the_ruler_goes_there_and_a_drag_zooms(look: Look) -> None:
    page = look(PAST).page
    page.wait_for_selector("#handle")
    box = page.locator("#ruler").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + 40)
    page.wait_for_url(lambda url: not url.endswith("@1901"))
    position = int(page.url.rpartition("@")[2])
    assert 2500 < position < 4200
    _settled(page, position)
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40, steps=4)
    page.mouse.up()
    page.wait_for_url("**from=@*")
    expect(page.locator("#ruler")).not_to_have_attribute("data-begin", "1")
    page.keyboard.press("f")
    page.wait_for_url(lambda url: "from=" not in url)


def test_what_is_drawn_is_bounded_and_told(look: Look) -> None:
    lanes = ",".join(f"node/node-{number}" for number in range(5))
    page = look(f"/@4446?lanes={lanes}").page
    marks = int(page.locator("#ruler").get_attribute("data-marks") or 0)
    assert 0 < marks <= 5000
    about = page.locator("svg.drawing title").first.text_content() or ""
    assert "6 lanes" in about or "5 lanes" in about
    page.get_by_text("Lanes as a table").click()
    expect(page.get_by_role("region", name="Lanes as a table")).to_contain_text(
        "Ready,SchedulingDisabled"
    )


def test_a_crash_or_eviction_is_one_key_away(look: Look) -> None:
    page = look("/@1").page
    page.wait_for_selector("#handle")
    page.keyboard.press("a")
    page.wait_for_url(lambda url: not url.endswith("@1"))
    kind = page.locator("#events tr[aria-current] .kind")
    expect(kind).to_have_text(re.compile("process|evicted|node.deleted|cleanup"))


def test_the_command_prints_the_same(look: Look, server: Running) -> None:
    page = look(GANG).page
    page.wait_for_selector("#handle")
    page.keyboard.press("w")
    sentence = page.locator("#panel .sentence").inner_text()
    page.keyboard.press("y")
    expect(page.locator("#told")).to_contain_text("plinian why")
    copied = page.evaluate("navigator.clipboard.readText()")
    words = shlex.split(copied)[1:]
    done = subprocess.run(
        [sys.executable, "-m", "plinian", *words, "--log", str(server.place)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert sentence in done.stdout


def test_what_happens_is_said(look: Look) -> None:
    page = look(PAST).page
    page.wait_for_selector("#handle")
    page.keyboard.press("j")
    expect(page.get_by_role("status")).to_contain_text("position 1902")


def test_the_keys_are_listed_and_can_be_switched_off(look: Look) -> None:
    page = look(PAST).page
    page.wait_for_selector("#handle")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("next session")
    dialog.get_by_label("Single letters are commands").uncheck()
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    page.wait_for_timeout(300)
    assert page.url.endswith("/@1901")


def test_the_theme_is_a_choice_that_stays(look: Look) -> None:
    page = look(PAST).page
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Theme").select_option("dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Theme").select_option("light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark


def test_a_narrow_screen_does_not_scroll_sideways(look: Look) -> None:
    page = look(f"{GANG}&lanes=node/node-1", width=360).page
    page.wait_for_selector("#handle")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360


def test_without_scripts_everything_is_there(started: Browser, server: Running) -> None:
    context = started.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{str(server.client.base_url).rstrip('/')}{GANG}&pane=state")
    expect(page.locator("#panel")).to_contain_text("status.state.phase")
    page.locator("#events").get_by_role("link", name=re.compile("@1912$")).click()
    assert "/@1912" in page.url
    page.get_by_role("link", name="Next event: session").click()
    expect(page.locator("#events tr[aria-current] .kind")).to_have_text("session.opened")
    page.goto(f"{str(server.client.base_url).rstrip('/')}{GANG}&pane=why")
    page.get_by_role("link", name="Compute it now").click()
    expect(page.locator("#panel .sentence")).to_contain_text("waits because")
    context.close()


@pytest.mark.slow
def test_a_server_that_ends_leaves_the_page(demo_log: Path, started: Browser) -> None:
    running = serving(demo_log)
    origin = str(running.client.base_url).rstrip("/")
    found = tab(started, origin)
    found.page.goto(PAST)
    found.page.wait_for_selector("#handle")
    ended(running)
    found.page.keyboard.press("J")
    expect(found.page.get_by_role("alert")).to_contain_text("does not answer")
    expect(found.page.locator("#events tbody tr").first).to_be_visible()
    found.page.context.close()
