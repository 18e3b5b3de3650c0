"""The routes of the JSON API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ....engine.errors import UsageError
from ....engine.version import __version__
from ..plain_json import PlainJSON
from ..request_log import GONE
from ..served import served
from .answer import ROOT
from .openapi import document_of_api
from .operation import Operation
from .parameters import Parameter
from .reply import Reply
from .table import OPERATIONS
from .words import LONGEST_IN_ADDRESS

T = TypeVar("T")

_JSON = "application/json"


def routes() -> Sequence[BaseRoute]:
    """Return the routes of the JSON API."""
    return [
        Route(f"{ROOT}/about", _about),
        Route(f"{ROOT}/openapi.json", _openapi),
        *(
            Route(
                f"{ROOT}/{operation.url}",
                _answering(operation),
                methods=["GET"] if operation.body is None else ["GET", "POST"],
            )
            for operation in OPERATIONS
        ),
    ]


def _answering(operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        texts: dict[str, list[str]] = {
            name: [str(value)] for name, value in request.path_params.items()
        }
        for name, value in request.query_params.multi_items():
            texts.setdefault(name, []).append(value)
        if operation.body is not None:
            _check_address(texts.get(operation.body.name, ()), operation.body)
            if request.method == "POST":
                texts.setdefault(operation.body.name, []).append(await _body(request))
        settings, readers, *_ = served(request)
        reply = Reply(settings, readers)
        answer_text = await _unless_gone(request, reply.to(operation, texts))
        if answer_text is None:
            return Response(status_code=GONE)
        return Response(answer_text, media_type=_JSON)

    return answer


def _check_address(texts: Sequence[str], body: Parameter) -> None:
    """Refuse a text in the address that must be the body of a request.

    :raises UsageError: it is too long for an address.
    """
    if any(len(text) > LONGEST_IN_ADDRESS for text in texts):
        what = f"{body.name} has more than {LONGEST_IN_ADDRESS} characters in the address"
        raise UsageError(what, now="send it as the body of a POST")


async def _body(request: Request) -> str:
    """Return the body of a request as text.

    :raises UsageError: it is not UTF-8.
    """
    try:
        return (await request.body()).decode()
    except UnicodeDecodeError as fault:
        raise UsageError("the body is not UTF-8", now="send text in UTF-8") from fault


async def _about(request: Request) -> Response:
    """Say which log is served, up to where it goes, and which questions can be asked."""
    settings, readers, *_ = served(request)
    last = await readers.ask(lambda log: log.moment("end").known)
    return PlainJSON(
        {
            "plinian": __version__,
            "branch": settings.branch,
            "at": settings.at,
            "release": settings.used_release,
            "last": last,
            "secrets": "what Secrets contain is never in a log",
            "openapi": f"{ROOT}/openapi.json",
            "questions": {operation.name: f"{ROOT}/{operation.url}" for operation in OPERATIONS},
        }
    )


async def _openapi(_request: Request) -> Response:
    """Describe the API."""
    return PlainJSON(document_of_api())


async def _unless_gone(request: Request, answer: Coroutine[Any, Any, T]) -> T | None:
    """Return an answer; None if the client goes away before, and then the question is dropped."""
    asked = asyncio.ensure_future(answer)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({asked, gone}, return_when=asyncio.FIRST_COMPLETED)
        return await asked if asked.done() else None
    finally:
        # Also the question: its end stops the thread at the next report of progress.
        for task in (asked, gone):
            task.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
