"""Pages as files in a real browser: they open from a disk, without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

import plinian

GANG = "job/default/big-gang"
PATHS = ("queues", "nodes", "", f"why/{GANG}", "jobs/over-time", "what-if?add_node=node-3", GANG)


@pytest.mark.parametrize("path", PATHS)
def test_a_file_opens_from_a_disk(
    started: Browser, demo_log: Path, tmp_path: Path, path: str
) -> None:
    place = tmp_path / "page.html"
    place.write_text(plinian.web_page(demo_log, path, at="@1901"), "utf-8")
    context = started.new_context(offline=True, color_scheme="dark")
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda told: wrong.append(told.text))
    page.on("request", lambda asked: wrong.append(asked.url) if asked.url != place.as_uri() else 0)
    page.goto(place.as_uri())
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    body = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(body) == "rgb(15, 20, 25)", "the style sheets apply"
    assert not wrong
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    context.close()
