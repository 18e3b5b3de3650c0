"""Moves of the position in a real browser: from the key to the new state, as a person waits.

Without Playwright and a Chromium nothing is measured.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from .measure import Result
from .served import Server

MOVES, FAR_MOVES = 40, 15

_WATCH = """() => {
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) window.longTasks.push(one.duration);
  }).observe({ type: "longtask", buffered: true });
}"""
_MOVE = """async ([key, point]) => {
  const begin = performance.now();
  const before = document.querySelector("#panel .pane").dataset.at;
  const shown = () => {
    const at = document.querySelector("#panel .pane")?.dataset.at;
    return at !== before && location.pathname === `/@${at}`;
  };
  if (key) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  } else {
    const field = document.getElementById("point");
    field.value = point;
    field.form.requestSubmit();
  }
  const until = (holds) => new Promise((done) => {
    const look = () => (holds() ? (seen.disconnect(), done()) : undefined);
    const seen = new MutationObserver(look);
    seen.observe(document.body, { subtree: true, childList: true, attributes: true });
    look();
  });
  await until(shown);
  await new Promise(requestAnimationFrame);
  const state = performance.now() - begin;
  await until(() => !document.querySelector("[aria-busy]"));
  await new Promise(requestAnimationFrame);
  return [state, performance.now() - begin];
}"""
_COUNT = """() => ({
  marks: document.querySelectorAll("svg *").length,
  rows: Math.max(0, ...[...document.querySelectorAll("table")].map((one) => one.rows.length)),
})"""
_BROWSERS = ("chromium", "chromium-browser", "chrome", "chromium-headless-shell")
_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


def measured(server: Server, last: int, how: str) -> Iterator[Result]:
    """Move a browser through a log, and yield what that took."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.add_init_script(f"({_WATCH})()")
        yield from _in(page, server, last, how)
        browser.close()


def _in(page: Any, server: Server, last: int, how: str) -> Iterator[Result]:
    origin = f"http://127.0.0.1:{server.port}"
    page.goto(f"{origin}/@{last // 2}")
    page.wait_for_selector("#handle")
    paints = []
    for part in (3, 4, 5):
        page.goto(f"{origin}/@{last // part}")
        page.wait_for_selector("#handle")
        paints.append(page.evaluate(_PAINT))
    yield _row(f"first paint of the timeline, {how}", max(paints), "ms", 1000.0, "worst of 3")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    near = [("j", "")] * MOVES
    far = [("", f"@{last * (one + 1) // (FAR_MOVES + 2)}") for one in range(FAR_MOVES)]
    for name, asked in (("to the next event", near), ("far away", far)):
        page.evaluate(_MOVE, list(asked[0]))
        cpu, busy = server.cpu(), _busy(session)
        # A person looks before the next move: each begins when the one before is wholly drawn.
        states, wholes = zip(*(page.evaluate(_MOVE, list(one)) for one in asked[1:]), strict=True)
        cpus = (server.cpu() - cpu) / len(states) * 1000
        main = (_busy(session) - busy) / len(states) * 1000
        note = (
            f"p50 {statistics.median(states):.0f} ms; server {cpus:.0f} ms, browser {main:.0f} ms"
        )
        yield _row(f"move {name}, p95, {how}", _p95(states), "ms", 150.0, note)
        note = f"p50 {statistics.median(wholes):.0f} ms"
        yield _row(
            f"the same, until its list of events is drawn, {how}", _p95(wholes), "ms", None, note
        )
    yield from _drawn(page, how)


def _drawn(page: Any, how: str) -> Iterator[Result]:
    counts = page.evaluate(_COUNT)
    longest = max(page.evaluate("() => window.longTasks"), default=0.0)
    yield _row(f"longest task of the page, {how}", longest, "ms", 200.0, "")
    yield _row(f"marks drawn, {how}", counts["marks"], "marks", 5000.0, "")
    yield _row(f"rows of the longest table, {how}", counts["rows"], "rows", 201.0, "with its head")


def _p95(took: Sequence[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]


def _busy(session: Any) -> float:
    """Return the seconds that the page's main thread worked."""
    found = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


def _row(figure: str, value: float, unit: str, limit: float | None, note: str) -> Result:
    return Result(benchmark="pages", figure=figure, value=value, unit=unit, limit=limit, note=note)
