"""Photograph the pages of ``plinian serve`` for the documents, in the Chromium of this machine.

``python tools/screenshots.py`` writes them below ``docs/screenshots``, each once in light and once
in dark; names after the command choose some of them. Browsers draw letters differently, so no test
compares the pictures: look at them before you commit them.
"""

from __future__ import annotations

import io
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from browsers import browser, tab
from PIL import Image  # matplotlib brings it
from playwright.sync_api import Browser

import plinian
from plinian.replay.server.app import application
from plinian.replay.server.settings import ServerSettings

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "screenshots"

MOST_BYTES = 150_000
"""A picture in a document is small: a clone downloads it."""

COLOURS = 255

THEMES = ("light", "dark")


class Shot(NamedTuple):
    """A picture of the documents.

    :param path: of the page, as in a link; a point after ``@`` may be a time.
    :param ready: what must be on the page before it is taken.
    :param width: and ``height``: of the window.
    """

    name: str
    path: str
    ready: str
    width: int = 1280
    height: int = 860


SHOTS = (
    Shot(
        "timeline",
        "/@t:2026-11-21T01:53:36Z?lanes=node/node-1,pod/default/train-a-worker-0"
        "&sel=node/node-1&pane=state",
        "#handle",
    ),
    Shot(
        "why",
        "/@t:2026-11-21T01:53:36Z?sel=job/default/big-gang&lanes=queue/gold&pane=why",
        "#panel .sentence",
    ),
    Shot(
        "narrow",
        "/@t:2026-11-21T01:53:38Z?lanes=node/node-1&sel=node/node-1&vs=@1900",
        "#handle",
        width=390,
        height=844,
    ),
)


@contextmanager
def served() -> Iterator[str]:
    """Serve the log of the demonstration, and yield where."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "plinian-demo.db"
        plinian.demo(place).close()
        server = uvicorn.Server(
            uvicorn.Config(
                application(ServerSettings(place=str(place), port=0)),
                port=0,
                log_level="error",
                ws="none",
            )
        )
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            thread.join(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join()


def take(of: Browser, origin: str, shot: Shot, theme: str) -> bytes:
    """Return a picture of a page."""
    page = tab(of, origin, theme=theme, width=shot.width).page
    page.set_viewport_size({"width": shot.width, "height": shot.height})
    page.goto(shot.path)
    page.wait_for_selector(shot.ready)
    page.wait_for_timeout(300)
    taken = page.screenshot()
    page.context.close()
    return taken


def smaller(picture: bytes) -> bytes:
    """Return a picture with so few colours that it is small, and looks the same."""
    out = io.BytesIO()
    found = Image.open(io.BytesIO(picture)).convert("RGB")
    found.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        out, format="png", optimize=True
    )
    return out.getvalue()


def main(names: Sequence[str]) -> int:
    """Write the pictures, all or those that are named."""
    FOLDER.mkdir(exist_ok=True)
    with served() as origin, browser() as started:
        for shot in SHOTS:
            if names and shot.name not in names:
                continue
            for theme in THEMES:
                picture = take(started, origin, shot, theme)
                file = FOLDER / f"{shot.name}-{theme}.png"
                file.write_bytes(smaller(picture))
                print(file.name, file.stat().st_size)
                if file.stat().st_size > MOST_BYTES:
                    print(f"{file.name} is too large", file=sys.stderr)
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
