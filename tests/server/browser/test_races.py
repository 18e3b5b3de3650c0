"""A race in a real browser: both orders, the first step out of turn, and the command to copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsers import Watched
from playwright.sync_api import expect

import plinian

Look = Callable[..., Watched]

CASE = Path(__file__).parents[3] / "docs/corpus/b01-job-deleted-and-created-again.case.json"


@pytest.fixture(scope="module")
def token() -> str:
    """Return the token of a race of the corpus."""
    found = plinian.explore(CASE, steps=2000)
    return found.anomalies[0].token


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 360)])
def test_both_orders_stand_side_by_side(look: Look, token: str, theme: str, width: int) -> None:
    page = look(f"/@1901/races?token={token}", theme=theme, width=width).page
    for name in ("This order", "Nothing is held up"):
        expect(page.get_by_role("img", name=name)).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_a_key_leads_to_the_first_step_out_of_turn(look: Look, token: str) -> None:
    page = look(f"/@1901/races?token={token}").page
    page.wait_for_selector("#find[role=button]")
    page.keyboard.press("e")
    page.wait_for_url("**#first-early")
    expect(page.locator("#first-early .number")).to_contain_text("!")
    expect(page.locator(".orders g.early").first).to_have_id("first-early")


def test_no_mark_covers_a_number(look: Look, token: str) -> None:
    page = look(f"/@1901/races?token={token}").page
    lefts = page.locator("svg.lanes circle").evaluate_all(
        "all => all.map(one => +one.getAttribute('cx'))"
    )
    assert lefts
    assert min(lefts) > 45


@pytest.mark.slow
def test_the_command_is_copied(look: Look, token: str) -> None:
    page = look(f"/@1901/races?token={token}").page
    page.wait_for_selector("#find[role=button]")
    page.keyboard.press("y")
    expect(page.locator("#told")).to_contain_text("Command copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"plinian explore --replay {token}"
