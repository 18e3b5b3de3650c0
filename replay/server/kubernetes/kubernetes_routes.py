"""Requests to the Kubernetes API of the past: from paths to answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from time import time
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from ....engine.errors import PlinianError
from ....engine.kubernetes.units import SECOND_US
from ...moments.moment import Moment
from ..kept_answers import LastUsed
from ..readers import Readers
from ..settings import ServerSettings
from .read import discovery
from .read import openapi_v3 as openapi
from .read.cluster_state import ClusterState, KeptStates, View, shown_time
from .read.lists import ListPage, object_of, page_of
from .read.reviews import reviewed
from .read.server_version import version_of
from .served_branch import Branch
from .watch.channels import ClientWatch
from .watch.course import MomentCourse
from .watch.follower import WatchFollower
from .watch.play import play
from .watch.watches import WatchResponse, refused, sent, watched
from .wire.api_paths import ApiPath, named_object, no_resource, place_in
from .wire.api_resources import READ, READ_AND_WRITE, REVIEWS, Catalog
from .wire.api_status import JSON, StatusError, already_exists, of_fault, refusal, warning
from .wire.list_options import AnswerForm, ListOptions, asked_of, form_of
from .wire.loose_fields import field_of
from .wire.protobuf_fields import MAGIC, fields, text, unwrapped
from .wire.shifted_times import NONE, NOW, Shift, shift_to
from .write.bodies import WriteRequest
from .write.patches import APPLY, patched_object

ROOTS = ("api", "apis", "openapi", "version", "healthz", "livez", "readyz")

READING = frozenset({"GET", "HEAD"})
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_FOREVER = "private, max-age=31536000, immutable"
_NOT_FOUND, _GONE = 404, 410

MOST_BYTES = 80 << 20
"""Encoded parts of lists that are kept for the next client that asks for the same."""

T = TypeVar("T")

_NOT_RECORDED: Mapping[str, str] = MappingProxyType(
    {
        "log": "what containers print is not in the log",
        "exec": "this is the past: nothing can be run in its containers",
        "attach": "this is the past: nothing can be attached to its containers",
        "portforward": "this is the past: nothing listens in its containers",
        "proxy": "this is the past: nothing can be reached in it",
    }
)
"""Subresources that a log of objects does not hold, and what is said of them."""


class HandlerContext:
    """What the handlers of this API use: the states of a log, and what follows or changes them.

    :param readers: the threads that read the log.
    """

    def __init__(self, settings: ServerSettings, readers: Readers) -> None:
        self.settings, self._readers = settings, readers
        self._kept, self.parts = KeptStates(), LastUsed[bytes](MOST_BYTES, len)
        self.branch = Branch(settings) if settings.writable else None
        self.follower = WatchFollower(settings)
        self.course = MomentCourse(settings.at, self.follower, self.moment)

    async def moment(self, point: str) -> Moment:
        """Return the moment that a point names.

        :raises PointUnknown: the log has no such moment.
        """
        return await self._readers.ask(lambda log: log.moment(point))

    async def ask(self, view: View, question: Callable[[ClusterState], T]) -> T:
        """Return what a question about a state answers."""
        return await self._readers.ask(lambda log: question(view(log)))

    def view(self, moment: Moment, shift: Shift = NONE) -> View:
        """Return what gives the state at a moment, for the thread of a log."""
        return lambda log: ClusterState(log, moment, self._kept, shift)

    async def shift(self, moment: Moment, *, to_now: bool = False) -> Shift:
        """Return the shift that shows a moment at the time that the settings name.

        :param to_now: show it at the present time, and not at that of the settings.
        """
        target = _present() if to_now else self.settings.shift_to
        if target is None:
            return NONE
        return shift_to(
            target, await self.ask(self.view(moment), lambda state: state.when.estimate)
        )


def _present() -> int:
    """Return the present time, microseconds: the same for a while, as answers are kept by it."""
    return int(time() // _SHOWN_SECONDS) * _SHOWN_SECONDS * SECOND_US


_SHOWN_SECONDS = 5
"""How exactly times of :data:`NOW` are those of the present."""


def routes() -> list[BaseRoute]:
    """Return the routes: of the moment that is served, and below ``/at/POINT`` of any other.

    Below ``/now`` they are shown with the times of today.
    """
    paths = [f"/{root}{rest}" for root in ROOTS for rest in ("", "/{rest:path}")]
    of_any = ["/at/{point}", "/at/{point}/{rest:path}"]
    of_any += [*(f"/{NOW}{path}" for path in of_any), f"/{NOW}", f"/{NOW}/{{rest:path}}"]
    return [
        Route("/plinian/v1/play", play, methods=["GET", "POST"]),
        *(Route(path, _answer, methods=list(_METHODS)) for path in (*paths, *of_any)),
        *(WebSocketRoute(path, _socket) for path in (*paths, *of_any)),
    ]


@asynccontextmanager
async def opened(app: Starlette, settings: ServerSettings, readers: Readers) -> AsyncIterator[None]:
    """Let an application answer requests to this API."""
    app.state.kubernetes = door = HandlerContext(settings, readers)
    if door.branch is not None:
        await door.branch.start()
    if settings.play:
        await door.course.begin(settings.play)
    if settings.shift_to is not None:
        # After the course began: its first moment is shown as the time that was asked for.
        door.follower.shift = await door.shift(await door.course.now())
    try:
        yield
    finally:
        await door.course.close()
        door.follower.close()
        if door.branch is not None:
            await door.branch.stop()


class Exchange(NamedTuple):
    """A request, and the state that it is about.

    :param path: below the moment, in parts. :param view: gives the state.
    :param pinned: the moment that the path names, or None.
    :param shift: by how much times are moved.
    """

    request: Request
    door: HandlerContext
    path: tuple[str, ...]
    view: View
    pinned: Moment | None = None
    shift: Shift = NONE

    async def ask(self, question: Callable[[ClusterState], Any]) -> Any:
        """Return what a question about the state answers."""
        return await self.door.ask(self.view, question)

    @property
    def branch(self) -> Branch | None:
        """What is served, if it can be changed."""
        return self.door.branch if self.pinned is None else None

    @property
    def verbs(self) -> Sequence[str]:
        """What can be done with every resource."""
        return READ if self.branch is None else READ_AND_WRITE


async def _answer(request: Request) -> Response:
    """Answer a request; whatever is wrong with it becomes a Status."""
    try:
        exchange = await _exchange(request)
        answer = await _answered(exchange)
    except StatusError as fault:
        return fault.response()
    except PlinianError as fault:
        return of_fault(fault).response()
    except RecursionError:
        return StatusError(400, "the body is nested too deeply").response()
    # All that was known at a position is the same for ever.
    is_fixed = "@" in request.path_params.get("point", "") and not _is_of_now(request)
    answer.headers.setdefault("Cache-Control", _FOREVER if is_fixed else "no-cache, private")
    return answer


def _is_of_now(request: Request) -> bool:
    return request.url.path.lstrip("/").partition("/")[0] == NOW


async def _socket(connection: WebSocket) -> None:
    """Answer the handshake of a WebSocket: it is a GET, and only a watch accepts it."""
    answer = await _answer(Request({**connection.scope, "type": "http", "method": "GET"}))
    if isinstance(answer, WatchResponse):
        await sent(connection, answer)
    else:
        await connection.send_denial_response(answer)


async def _exchange(request: Request) -> Exchange:
    door: HandlerContext = request.app.state.kubernetes
    point = request.path_params.get("point")
    rest = request.path_params.get("rest", "")
    to_now = _is_of_now(request)
    if point is None and not to_now:
        root = request.url.path.lstrip("/").partition("/")[0]
        rest = f"{root}/{rest}" if rest else root
    parts = tuple(part for part in rest.split("/") if part)
    if to_now:
        # It does not move on: else times would move with each event, and clients see changes.
        moment = await (door.course.now() if point is None else door.moment(point))
        shift = await door.shift(moment, to_now=True)
        return Exchange(request, door, parts, door.view(moment, shift), moment, shift)
    if point is None and door.branch is not None:
        return Exchange(request, door, parts, door.branch.view())
    if point is None or (door.branch is None and door.course.serves(point)):
        shift = door.follower.shift
        view = door.view(await door.course.now(), shift)
        return Exchange(request, door, parts, view, shift=shift)
    moment = await door.moment(point)
    shift = await door.shift(moment)
    return Exchange(request, door, parts, door.view(moment, shift), moment, shift)


async def _answered(exchange: Exchange) -> Response:
    """Return the answer to a request.

    :raises StatusError: it cannot be answered.
    """
    path, request = exchange.path, exchange.request
    match path:
        case ():
            paths = {"paths": [f"/{root}" for root in ROOTS]}
            return Response(msgspec.json.encode(paths), media_type=JSON)
        case ("version",):
            return Response(await exchange.ask(version_of), media_type=JSON)
        case ("healthz" | "livez" | "readyz", *_):
            return PlainTextResponse("ok")
        case ("api" | "apis", *_):
            return await _api(exchange)
        case ("openapi", "v2") if openapi.V2 in request.headers.get("accept", ""):
            return Response(openapi.EMPTY_V2, media_type=openapi.V2_ANSWER)
        case ("openapi", "v3"):
            index = await exchange.ask(lambda state: openapi.index(state.catalog))
            return discovery.tagged(request, index, JSON)
        case ("openapi", "v3", "api", version):
            return await _openapi(exchange, "", version)
        case ("openapi", "v3", "apis", group, version):
            return await _openapi(exchange, group, version)
    return _no_page()


async def _openapi(exchange: Exchange, group: str, version: str) -> Response:
    document = await exchange.ask(lambda state: openapi.document(state, group, version))
    return discovery.tagged(exchange.request, document, JSON) if document else _no_page()


def _no_page() -> Response:
    return PlainTextResponse("404 page not found\n", status_code=404)


async def _api(exchange: Exchange) -> Response:
    path, request = exchange.path, exchange.request
    catalog: Catalog = await exchange.ask(lambda state: state.catalog)
    # ``/api/VERSION`` and ``/apis/GROUP/VERSION``: what follows names a resource.
    depth = 2 if path[0] == "api" else 3
    if len(path) <= depth:
        if request.method not in READING:
            raise refusal(request.method, await exchange.ask(shown_time))
        return discovery.answer(request, catalog, exchange.verbs, path)
    # Reviews are created and never stored, so the catalog does not have them.
    named = [review for review in REVIEWS if path == ("apis", *review.key)]
    if named and request.method == "POST":
        body = await request.body()
        document = await exchange.ask(lambda _: reviewed(named[0], body, exchange.verbs))
        return Response(msgspec.json.encode(document), status_code=201, media_type=JSON)
    place = place_in(catalog, path)
    if place.below in _NOT_RECORDED:
        raise _not_recorded(place)
    # The replicas of a branch are read by the code that writes them.
    if request.method in READING and (exchange.branch is None or place.below != "scale"):
        return await _read(exchange, place)
    if exchange.branch is not None:
        return await exchange.branch.write(await _asking(request, place))
    # ``kubectl diff`` tries what it would apply, so that is allowed of the past.
    is_trial = request.query_params.get("dryRun") == "All"
    if request.method == "POST" or (request.method == "PATCH" and is_trial):
        asking = await _asking(request, place)
        if asking.method == "POST":
            await exchange.ask(lambda state: _check_new(state, asking))
        if is_trial:
            body, code = await exchange.ask(lambda state: _tried(state, asking))
            return Response(body, status_code=code, media_type=JSON)
    raise refusal(request.method, await exchange.ask(shown_time))


async def _asking(request: Request, place: ApiPath) -> WriteRequest:
    headers = request.headers
    program = headers.get("user-agent", "").split("/")[0].strip()
    return WriteRequest(
        method=request.method,
        place=place,
        body=await request.body(),
        media=headers.get("content-type", "").partition(";")[0].strip(),
        query=dict(request.query_params),
        actor=headers.get("impersonate-user") or program,
    )


def _tried(state: ClusterState, asking: WriteRequest) -> tuple[bytes, int]:
    """Return what an object would become: nothing is stored, so the past allows it.

    :returns: with the status of the answer.
    :raises StatusError: it does not exist, or the change does not fit.
    """
    place, body = asking.place, asking.body
    if body.startswith(MAGIC):
        raise StatusError(415, "try it with a body in JSON")
    if asking.method == "POST":
        return body, 201
    try:
        stored = object_of(state, place.resource, place.namespace, place.name, AnswerForm())
        before, code = msgspec.json.decode(stored), 200
    except StatusError as fault:
        if fault.code != _NOT_FOUND or asking.media != APPLY:
            raise
        before, code = named_object(place), 201
    return msgspec.json.encode(patched_object(before, body, asking.media, place.resource)), code


def _check_new(state: ClusterState, asking: WriteRequest) -> None:
    """Say that an object exists, if a request would create it: clients go on then.

    :raises StatusError: it exists.
    """
    place = asking.place
    name = "" if place.name else _name_in(asking.body)
    if name and state.find(place.resource.pair, (place.namespace, name)) is not None:
        raise already_exists(place.resource, name)


def _name_in(body: bytes) -> str:
    """Return the name of an object in a body; empty if it has none."""
    if body.startswith(MAGIC):  # Of every kind, both are the first fields.
        *_, message = unwrapped(body)
        return text(fields(fields(message).get(1, b"")), 1)
    try:
        name = field_of(msgspec.json.decode(body), "metadata", "name")
    except msgspec.MsgspecError:
        return ""
    return name if isinstance(name, str) else ""


async def _read(exchange: Exchange, place: ApiPath) -> Response:
    request, resource = exchange.request, place.resource
    query, accept = request.query_params, request.headers.get("accept", "")
    if not place.name or query.get("watch", "0") not in {"0", "false"}:

        def options_or_page(state: ClusterState) -> ListOptions | ListPage:
            # A selector can be long, so even to read it is no work for the event loop.
            asked = asked_of(resource, place.namespace, query, accept)
            return asked if asked.watch else page_of(state, resource, asked)

        asked = await exchange.ask(options_or_page)
        if isinstance(asked, ListOptions):
            return await _watched(exchange, place, asked)
        return await _listed(exchange, place, asked)
    if place.below not in {"", "status"}:
        raise _not_recorded(place)
    form = form_of(accept, query.get("includeObject", ""))
    body = await exchange.ask(
        lambda state: object_of(state, resource, place.namespace, place.name, form)
    )
    return Response(body, media_type=JSON, headers=_headers(exchange, ()))


async def _watched(exchange: Exchange, place: ApiPath, asked: ListOptions) -> Response:
    asked = asked._replace(selection=asked.selection._replace(name=place.name))
    follower, branch = exchange.door.follower, exchange.branch
    try:
        if branch is not None:
            opening = await branch.open(place.resource, asked)
            return watched(opening, asked, branch, lambda: branch.revision)
        opening = await follower.open(place.resource, asked, exchange.pinned, exchange.shift)
    except StatusError as fault:
        if fault.code != _GONE:
            raise
        return refused(ClientWatch(place.resource, asked), fault)
    if exchange.pinned is not None:
        return watched(opening, asked, follower, lambda: opening.revision)
    exchange.door.course.awake()
    return watched(opening, asked, follower, lambda: follower.revision)


def _not_recorded(place: ApiPath) -> StatusError:
    """Return the answer for what a log of objects does not hold."""
    said = _NOT_RECORDED.get(place.below)
    if said is None:
        return no_resource()
    return StatusError(405, said)


async def _listed(exchange: Exchange, place: ApiPath, page: ListPage) -> Response:
    door = exchange.door
    doubts = await door.ask(
        page.state.on, lambda state: state.doubts(place.resource.pair, place.namespace)
    )
    parts = list(page.parts())
    # Before the answer begins: what fails in it can still be answered with a Status.
    first = await _items(door, parts[0]) if parts else b""

    async def written() -> AsyncIterator[bytes]:
        yield page.begin() + first
        for part in parts[1:]:
            yield b"," + await _items(door, part)
        yield b"]}"

    headers = _headers(exchange, doubts)
    if len(parts) > 1:
        return StreamingResponse(written(), media_type=JSON, headers=headers)
    body = page.begin() + first + b"]}"
    return Response(body, media_type=JSON, headers=headers)


async def _items(door: HandlerContext, part: ListPage) -> bytes:
    return await door.ask(
        part.state.on, lambda state: door.parts.get(part.key, lambda: part.items(state))
    )


def _headers(exchange: Exchange, doubts: Sequence[str]) -> dict[str, str]:
    """Return the headers that say what a client should know of an answer."""
    said = [*doubts, *([exchange.shift.said] if exchange.shift.seconds else [])]
    return {"Warning": warning(said)} if said else {}
