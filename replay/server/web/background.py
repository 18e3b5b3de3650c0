"""Pages whose answers take long: how far they are, a button that stops them, what they found."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...pages.templates import rendered, rendered_block
from ..served import served
from ..works import RunningWork, WorkStopped
from .answers import LaterAnswer, PageAnswer, PageRequest, work
from .look import Look

PATIENCE_SECONDS = 0.7
"""So long a page waits for an answer before it shows how far the work is."""

NO_STORE = "no-store"
"""What a work has found depends on when it was stopped, so browsers keep none of it."""


async def found_or_progress(
    request: Request, asked: PageRequest, later: LaterAnswer, *, whole: bool
) -> PageAnswer | Response:
    """Return the answer of a work, or a page that shows how far it is.

    :param whole: wait until the answer is there.
    :raises PlinianError: there is no answer.
    """
    running_work = served(request).works.of(
        key_of(later.look), lambda log, watch: work(log, asked, later, watch)
    )
    part = later.look.get("part")
    # A script asks for ``progress`` again and again, so that must not wait.
    await running_work.wait(None if whole else 0 if part == "progress" else PATIENCE_SECONDS)
    if not running_work.is_done or (part == "progress" and not whole):
        return _page(later, running_work)
    try:
        answer: PageAnswer = running_work.answer()
    except WorkStopped as fault:
        if whole:
            raise
        return _page(later, running_work, fault)
    return answer


def _page(
    later: LaterAnswer, running_work: RunningWork, fault: WorkStopped | None = None
) -> Response:
    watch = running_work.watch
    values: dict[str, Any] = {
        "look": later.look,
        "site": later.site,
        "fault": fault,
        "running": not running_work.is_done,
        "watch": watch,
        "seconds": int(watch.seconds),
    }
    if later.look.get("part") == "progress":
        text = rendered_block("progress.html", "progress", **values)
    else:
        text = rendered("progress.html", **values)
    return HTMLResponse(str(text), headers={"Cache-Control": NO_STORE})


def key_of(look: Look) -> Hashable:
    """Return what distinguishes the work of a look from others."""
    return look.link(look.path), tuple(
        sorted({pair for pair in look.query if pair[0] not in {"part", "do"}})
    )


def steer(request: Request, look: Look) -> Response:
    """Stop a work or begin it again, as ``do`` of the query says, and go back to its page."""
    works, key = served(request).works, key_of(look)
    if look.get("do") == "again":
        works.forget(key)
    else:
        works.stop(key)
    return RedirectResponse(look.here(do=None), 303, headers={"Cache-Control": NO_STORE})
