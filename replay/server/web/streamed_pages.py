"""Pages that take long: a browser gets the frame at once, and the content when it is there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from .files import CONTENT

FRAME_SECONDS = 0.25
"""So long a page waits for its content before it sends the frame."""

_TITLE = re.compile(r"<title>([^<]*)</title>")

FaultPage = Callable[[Exception], Awaitable[Response]]
"""Returns the page of a fault."""


def takes_parts(request: Request) -> bool:
    """Return whether a client shows a page while it comes, as browsers do.

    Programs get the answer as a whole: its status says whether there is one.
    """
    return "text/html" in request.headers.get("accept", "")


async def framed(frame: str, answer: Awaitable[Response], fault_page: FaultPage) -> Response:
    """Return an answer if it is there soon, else its frame, which the content follows.

    :param frame: as of :func:`.files.frame_of`.
    :raises PlinianError: the answer is a fault, and was there soon.
    """
    answering = asyncio.ensure_future(answer)
    try:
        done, _ = await asyncio.wait({answering}, timeout=FRAME_SECONDS)
    except asyncio.CancelledError:
        answering.cancel()
        raise
    if done:
        return answering.result()
    # What follows may be a fault, which must not be kept under the tag of the page.
    headers = {"Cache-Control": "no-store"}
    parts = _parts(frame, answering, fault_page)
    return StreamingResponse(parts, media_type="text/html", headers=headers)


async def _parts(
    frame: str, answering: asyncio.Future[Response], fault_page: FaultPage
) -> AsyncIterator[str]:
    yield frame
    try:
        answer = await answering
    except Exception as fault:  # noqa: BLE001 -- the page says it, as where no frame was sent
        answer = await fault_page(fault)
    finally:
        answering.cancel()
    text = bytes(answer.body).decode()
    titled = _TITLE.search(text)
    if titled is not None:
        # The frame was sent with a title that does not know the answer; a script replaces it.
        yield f'<p id="title" hidden>{titled[1]}</p>'
    yield text[text.index(CONTENT) :]
