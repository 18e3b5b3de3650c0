"""A real browser for tests: the Chromium of this machine, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from playwright.sync_api import Browser, Page, expect, sync_playwright

NAMES = (
    *("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
"""The first that is installed is used: one without windows opens a tab in a third of the time."""

PATIENCE_MS = 60_000
"""How long a test waits for what must come: machines under load are slow."""


def chromium() -> str | None:
    """Return the path of a Chromium; None if this machine has none."""
    given = os.environ.get("PLINIAN_TEST_CHROMIUM")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser without a window."""
    path = chromium()
    assert path is not None, "ask chromium() first"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


class Watched(NamedTuple):
    """A tab, and what must not happen in it.

    :param wrong: errors of scripts, messages of the console, and requests to other places.
    """

    page: Page
    wrong: list[str]


def tab(of: Browser, origin: str, *, theme: str = "light", width: int = 1280) -> Watched:
    """Open a tab of a server's page."""
    context = of.new_context(
        base_url=origin,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    wrong: list[str] = []
    page.on("pageerror", lambda fault: wrong.append(f"error: {fault}"))
    page.on("console", lambda told: _note(wrong, told.type, told.text))
    page.on("request", lambda asked: _outside(wrong, asked.url, origin))
    return Watched(page, wrong)


def _note(wrong: list[str], kind: str, text: str) -> None:
    if kind in {"error", "warning"}:
        wrong.append(f"{kind}: {text}")


def _outside(wrong: list[str], url: str, origin: str) -> None:
    if not url.startswith((origin, "data:", "blob:")):
        wrong.append(f"asks {url}")
