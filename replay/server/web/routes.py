"""The routes of the page: points become positions, data becomes HTML or JSON, faults become pages.

Everything at a position follows from the log, so an answer has the end of the log in its ETag: a
browser shows again what it has, until something is appended.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ....engine.errors import ObjectNotFound, PlinianError, PointUnknown
from ...facade.log import Log
from ...moments.zones import Zone
from ...pages.templates import rendered
from ..fault_answers import fault_document, is_passing, status_in_path
from ..guard import TOKEN_PREFIX
from ..kept_answers import KeptAnswers, Sent
from ..login import COOKIE
from ..reach import is_out_of_reach
from ..request_log import failed
from ..served import served
from ..withheld import Withheld, inputs_named
from .answers import LaterAnswer, MovedPoint, PageAnswer, PageRequest, Same, look_up
from .assets import asset, assets
from .background import NO_STORE, found_or_progress, steer
from .files import file_of, frame_of, html_of, part_of
from .link_times import read_in
from .look import TWIN, Look, seconds
from .page import Page
from .pages import PAGES
from .positions import fixed_position, position_of
from .site import navigation
from .steps import step
from .streamed_pages import framed, takes_parts

_POSITION = re.compile(r"/@([0-9]{1,18})(?:/|$)")

KEPT = "private, no-cache"
"""Browsers keep an answer, and ask each time whether it is still the same."""

_OTHER_FORMS = frozenset({"part", "standalone"})
"""What the query has of a request for a part of a page, or for a file."""

_FILE_NAME = re.compile(r"[\w.]+", re.ASCII)
"""What a file's name may have; a header takes no other letters."""

Show: TypeAlias = Callable[[Log, Page, PageAnswer], Response]
"""Makes an answer as it is sent, of what a page says."""

PREFIX = "plinian.prefix"
"""In the scope of a request: its path began with the token."""


def routes() -> Sequence[BaseRoute]:
    """Return the routes of the page, the more special first."""
    page_routes: list[BaseRoute] = [
        Route("/", _begin),
        Route("/@go", _go),
        Route("/@last", _last),
        Route("/@{position:int}/step/{what}/{way}", _step),
        Route("/static/{digest}/{name}", asset),
    ]
    for page in PAGES:
        path = "/@{point}" + (f"/{page.path}" if page.path else "")
        page_routes.append(Route(f"{path}{TWIN}", _data_of(page)))
        page_routes.append(Route(path, _html_of(page)))
        if page.runs is not None:
            page_routes.append(Route(path, _steering(page), methods=["POST"]))
    return [*page_routes, Route("/@{rest:path}", _nothing)]


def _html_of(page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if PREFIX in request.scope:
            return _remember_token(request)
        try:
            if (
                page.long
                and takes_parts(request)
                and not _OTHER_FORMS & request.query_params.keys()
            ):
                return await _in_parts(request, page)
            return await _answered(request, page, _html, whole=False)
        except Exception as fault:  # noqa: BLE001 -- the page says it, a line has the details
            return await _page_of(request, fault)

    return answer


async def _page_of(request: Request, fault: Exception) -> Response:
    """Return the page of a fault; of one of ours, a line has the details."""
    if isinstance(fault, PlinianError):
        return await _fault_page(request, fault)
    failed(request.scope, fault)
    return await _fault_page(request, _own_fault(request))


async def _in_parts(request: Request, page: Page) -> Response:
    """Return the answer of a page that takes long; its frame first, if it is not there soon."""
    (_, readers, _, kept_answers), asked = served(request), _asked(request, page)

    def frame(log: Log) -> str:
        found = look_up(log, asked, kept_answers.find, later=True)
        return frame_of(log, found) if isinstance(found, LaterAnswer) else ""

    text = "" if asked.is_work else await readers.ask(frame)
    answer = _answered(request, page, _html, whole=False)
    return await framed(text, answer, partial(_page_of, request)) if text else await answer


def _data_of(page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            return await _answered(request, page, _json, whole=True)
        except PlinianError as fault:
            return JSONResponse(fault_document(fault), status_code=status_in_path(fault))

    return answer


async def _answered(request: Request, page: Page, show: Show, *, whole: bool) -> Response:
    """Return the answer of a page; ``whole`` waits for work in the background."""
    (_, readers, _, kept_answers), asked = served(request), _asked(request, page)
    long = page.long or request.query_params.get("pane") in page.long_panes
    long = long and not asked.is_work
    outcome = await readers.ask(
        lambda log: _shown(log, asked, show, kept_answers, long=long), long=long
    )
    if isinstance(outcome, MovedPoint):
        query = f"?{request.url.query}" if request.url.query else ""
        place = f"{request.scope.get(PREFIX, '')}/@{outcome.position}{quote(asked.rest)}{query}"
        return RedirectResponse(place, status_code=302, headers={"Cache-Control": NO_STORE})
    if isinstance(outcome, Same):
        return Response(status_code=304, headers={"ETag": outcome.tag, "Cache-Control": KEPT})
    if isinstance(outcome, LaterAnswer):
        later = await found_or_progress(request, asked, outcome, whole=whole)
        if isinstance(later, Response):
            return later
        return _sent(later, await readers.ask(lambda log: show(log, page, later)))
    return outcome


def _shown(
    log: Log,
    asked: PageRequest,
    show: Show,
    kept_answers: KeptAnswers,
    *,
    long: bool,
) -> MovedPoint | Same | LaterAnswer | Response:
    """Return the answer as it is sent: what it was made of can be large, and does not leave here.

    Other requests are answered meanwhile. What took long is kept.
    """
    outcome = look_up(log, asked, kept_answers.find)
    if isinstance(outcome, Sent):
        return outcome.again()
    if not isinstance(outcome, PageAnswer):
        return outcome
    answer = _sent(outcome, show(log, asked.page, outcome))
    if long:
        kept_answers.keep(outcome.tag, answer)
    return answer


def _sent(page_answer: PageAnswer, answer: Response) -> Response:
    if page_answer.tag:
        answer.headers["ETag"] = page_answer.tag
    answer.headers["Cache-Control"] = KEPT if page_answer.tag else NO_STORE
    return answer


def _asked(request: Request, page: Page) -> PageRequest:
    parts = {name: value.rstrip("/") for name, value in request.path_params.items()}
    point = parts.pop("point")
    return PageRequest(
        served(request).settings,
        page,
        point,
        request.scope["path"].removeprefix(f"/@{point}"),
        parts,
        tuple(request.query_params.multi_items()),
        request.headers.get("if-none-match", ""),
    )


def _steering(page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        asked = _asked(request, page)
        try:
            position = await served(request).readers.ask(lambda log: _position(log, asked.point))
        except PlinianError as fault:
            return await _fault_page(request, fault)
        path = asked.rest.strip("/")
        # The link back to the page needs no end of the log.
        look = Look(position, position, path=path, query=asked.query)
        return steer(request, look)

    return answer


def _html(log: Log, page: Page, answer: PageAnswer) -> Response:
    look, part = answer.look, answer.look.get("part")
    if look.get("standalone") == "yes":
        name = "-".join(_FILE_NAME.findall(f"plinian {look.at} {look.path}"))
        headers = {"Content-Disposition": f'attachment; filename="{name}.html"'}
        return HTMLResponse(file_of(log, page, answer), headers=headers)
    if part:
        return HTMLResponse(part_of(log, page, answer, part))
    return HTMLResponse(html_of(log, page, answer))


def _json(_log: Log, page: Page, answer: PageAnswer) -> Response:
    look, document = answer.look, page.document(answer.record)
    withheld = Withheld({*answer.inputs, *inputs_named(document)})
    return JSONResponse(
        {
            "position": look.position,
            "last": look.last,
            "time": seconds(answer.site.when.estimate) or None,
            "earliest": seconds(answer.site.when.earliest) or None,
            "latest": seconds(answer.site.when.latest) or None,
            "data": withheld.document(document),
        }
    )


async def _begin(request: Request) -> Response:
    """Go to the point that the server was started with: to what is wrong there."""
    settings = served(request).settings
    return await _to_point(
        request, settings.at, partial(_first_page, release=settings.used_release)
    )


async def _go(request: Request) -> Response:
    """Go to the point of a form."""
    return await _to_point(request, request.query_params.get("point", "end").strip() or "end")


async def _last(request: Request) -> Response:
    """Say where the log ends: pages at its end ask now and then, and follow it."""
    last = await served(request).readers.ask(lambda log: log.store.last(log.branch))
    return JSONResponse({"last": last}, headers={"Cache-Control": NO_STORE})


def _first_page(log: Log, position: int, release: str) -> str:
    """Return the page to begin with: the overview, if it is soon found."""
    if not position:
        return ""
    moment = log.moment(f"@{position}")
    return "" if is_out_of_reach(log, moment, release) else "overview"


def _timeline(_log: Log, _position: int) -> str:
    """Return the page of a point that names no other."""
    return ""


async def _to_point(
    request: Request, point: str, page_at: Callable[[Log, int], str] = _timeline
) -> Response:
    if PREFIX in request.scope:
        return _remember_token(request)
    try:
        text, zone = point.removeprefix("@"), _zone(request)
        position, usual = await served(request).readers.ask(
            lambda log: (found := _position(read_in(log, zone), text), page_at(log, found))
        )
    except PlinianError as fault:
        return await _fault_page(request, fault)
    given = request.query_params.multi_items()
    look = Look(
        position,
        position,
        path=request.query_params.get("page", usual).strip("/"),
        query=tuple(pair for pair in given if pair[0] not in {"point", "page"}),
    )
    place = look.here()
    return RedirectResponse(place, status_code=302, headers={"Cache-Control": NO_STORE})


async def _step(request: Request) -> Response:
    """Go to the next or the previous event of a sort, or back if there is none; keep the look."""
    parts = request.path_params
    query = tuple(request.query_params.multi_items())
    as_json = "application/json" in request.headers.get("accept", "")

    def place_of_step(log: Log) -> str:
        look = Look(parts["position"], log.store.last(log.branch), query=query)
        try:
            return look.here(at=step(log, look, parts["what"], forwards=parts["way"] == "next"))
        except PointUnknown:
            if as_json:
                raise
            return look.here(missed=f"{parts['what']}/{parts['way']}")

    try:
        place = await served(request).readers.ask(place_of_step)
    except PlinianError as fault:
        if as_json:
            return JSONResponse(fault_document(fault), status_code=status_in_path(fault))
        return await _fault_page(request, fault)
    if as_json:
        return JSONResponse({"link": place})
    return RedirectResponse(place, status_code=302, headers={"Cache-Control": NO_STORE})


def _zone(request: Request) -> Zone | None:
    """Return the zone in which a person reads and writes times."""
    return Look(0, 0, query=tuple(request.query_params.multi_items())).zone


def _position(log: Log, text: str) -> int:
    position = fixed_position(text, log.store.last(log.branch))
    return position_of(log, text) if position is None else position


def _without_slash(request: Request) -> Response:
    """Go to the page whose address a person wrote with a slash at its end."""
    query = f"?{request.url.query}" if request.url.query else ""
    path = quote(request.scope["path"].rstrip("/"), safe="/@:")
    place = f"{request.scope.get(PREFIX, '')}{path}{query}"
    return RedirectResponse(place, status_code=302, headers={"Cache-Control": NO_STORE})


async def _nothing(request: Request) -> Response:
    """Refuse a path that no page has; with a slash too many it may lead to the timeline."""
    if request.scope["path"].endswith("/"):
        return _without_slash(request)
    fault = _NoPage("there is no such page", now="choose one from the navigation")
    return await _fault_page(request, fault)


class _NoPage(ObjectNotFound):
    """A path that no page has."""


def _own_fault(request: Request) -> PlinianError:
    path = request.scope["path"]
    return PlinianError(
        "this is a fault of Plinian, not of the log",
        now=f"the terminal of the server has the details; it happened at {path}",
    )


async def _fault_page(request: Request, fault: PlinianError) -> Response:
    """Answer with a page that says what, where, and what now."""
    readers = served(request).readers
    status = status_in_path(fault)
    try:
        last: int | None = await readers.ask(lambda log: log.store.last(log.branch))
    except Exception:  # noqa: BLE001 -- this very page says that something is wrong
        last = None
    document = fault_document(fault)["error"]
    text = rendered(
        "fault.html",
        fault=document,
        status=status,
        last=last,
        nav=[] if last is None else navigation(_near(request, last), None, PAGES),
        static=assets().path,
    )
    headers = {"Cache-Control": NO_STORE}
    if is_passing(fault):
        headers["Retry-After"] = "1"
    return HTMLResponse(str(text), status_code=status, headers=headers)


def _near(request: Request, last: int) -> Look:
    """Return the look of the position that a path names, or of the end of the log."""
    match = _POSITION.match(request.scope["path"])
    query = tuple(request.query_params.multi_items())
    return Look(min(int(match[1]), last) if match else last, last, query=query)


def _remember_token(request: Request) -> Response:
    """Go to the same path without the token in it, and let the browser keep the token."""
    query = f"?{request.url.query}" if request.url.query else ""
    answer = RedirectResponse(
        f"{quote(request.scope['path'], safe='/:@')}{query}",
        status_code=303,
        headers={"Cache-Control": NO_STORE},
    )
    token = request.scope[PREFIX].removeprefix(TOKEN_PREFIX)
    secure = request.scope.get("scheme") == "https"
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=secure)
    return answer
