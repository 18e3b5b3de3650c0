"""A line for each request: what was asked, by which client, and what came of it.

The address is written without what is secret in it. An exception that nothing answers is in the
line of its request. A client that leaves early gets the status 499, which no client reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from time import perf_counter
from typing import Any
from urllib.parse import quote, unquote_plus

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect
from structlog.typing import FilteringBoundLogger
from uvicorn.protocols.utils import ClientDisconnected

from .guard import TOKEN_PREFIX
from .server_lines import REQUEST, Reported

GONE = 499
"""What servers write down for a client that went away; no client reads it."""

LONGEST = 1000
"""The longest address, or name of a client, that is written whole."""

_NOTES = "plinian.notes"
"""In the scope of a request: what its line says beside."""

_FAULT = "fault"
_HIDDEN = "…"
_SECRET = re.compile(
    r"token|passw|passphrase|secret|credential|api.?key|signature|^(?:pwd|auth|authorization|key)$",
    re.IGNORECASE,
)
_IN_PATHS = "/@:+,=~!$&'()*;"
_USUAL = re.compile(r"/(?:healthz|livez|readyz|metrics|@last|static|favicon\.ico)(?:/|$)")
"""What asks all the time, or comes with a page."""


def noted(scope: Scope, **fields: str) -> None:
    """Let the line of a request say more."""
    scope.get(_NOTES, {}).update(fields)


def failed(scope: Scope, fault: Exception) -> None:
    """Let the line of a request have the traceback of an exception that was answered."""
    scope.get(_NOTES, {})[_FAULT] = fault


class RequestLog:
    """ASGI middleware that writes a line for each request, when it ends.

    :param clock: seconds, which begin anywhere.
    """

    def __init__(
        self,
        app: ASGIApp,
        logger: FilteringBoundLogger,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._app, self._logger, self._clock = app, logger, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does.

        :raises Reported: it raised an exception; the line has it, unless the client left.
        """
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        answer, begun = _Answer(send), self._clock()
        notes: dict[str, Any] = {}
        fault: Exception | None = None
        try:
            await self._app({**scope, _NOTES: notes}, receive, answer.send)
        except ClientDisconnected:
            raise  # The server ends the connection.
        except (ClientDisconnect, WebSocketDisconnect) as gone:
            raise Reported from gone
        except Exception as error:
            fault = error
            raise Reported from error
        finally:
            # The fault that a handler noted and answered, or else the one that came to here.
            fault = notes.pop(_FAULT, None) or fault
            self._write(scope, answer, notes, fault, self._clock() - begun)

    def _write(
        self,
        scope: Scope,
        answer: _Answer,
        notes: dict[str, Any],
        fault: Exception | None,
        seconds: float,
    ) -> None:
        status = answer.status or (GONE if fault is None else HTTPStatus.INTERNAL_SERVER_ERROR)
        fields = {
            "method": scope.get("method", "WEBSOCKET"),
            "path": shown_address(scope),
            **notes,
            "status": int(status),
            "ms": round(seconds * 1000, 1),
            "bytes": answer.bytes,
            "agent": shortened(Headers(scope=scope).get("user-agent", "")),
        }
        if fault is not None:
            self._logger.error(REQUEST, **fields, exc_info=fault)
        elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._logger.warning(REQUEST, **fields)
        elif status < HTTPStatus.BAD_REQUEST and _USUAL.match(_path(scope)):
            self._logger.debug(REQUEST, **fields)
        else:
            self._logger.info(REQUEST, **fields)


class _Answer:
    """Sends an answer, and sees its status and how many bytes its body has."""

    def __init__(self, send: Send) -> None:
        self._send, self.status, self.bytes = send, 0, 0

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        kind = message["type"]
        if kind in {"http.response.start", "websocket.http.response.start"}:
            self.status = message["status"]
        elif kind == "websocket.accept":
            self.status = HTTPStatus.SWITCHING_PROTOCOLS
        elif kind == "websocket.close" and not self.status:
            self.status = HTTPStatus.FORBIDDEN
        await self._send(message)
        self.bytes += len(message.get("body") or message.get("bytes") or message.get("text") or "")


def shown_address(scope: Scope) -> str:
    """Return the path and the query of a request without a token or a password."""
    path = quote(_path(scope), safe=_IN_PATHS)
    if scope["path"].startswith(TOKEN_PREFIX):
        path = f"{TOKEN_PREFIX}{_HIDDEN}{path}"
    query = scope.get("query_string", b"").decode("latin-1")
    shown = "&".join(map(_without_value, query.split("&")))
    return shortened(f"{path}?{shown}" if shown else path)


def shortened(text: str) -> str:
    """Return a text that a client sent, cut if it is very long."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}{_HIDDEN}"


def _path(scope: Scope) -> str:
    """Return the path of a request, after the token that it may begin with."""
    path: str = scope["path"]
    if not path.startswith(TOKEN_PREFIX):
        return path
    _, slash, rest = path.removeprefix(TOKEN_PREFIX).partition("/")
    return f"{slash}{rest}"


def _without_value(parameter: str) -> str:
    name, equals, _ = parameter.partition("=")
    return f"{name}={_HIDDEN}" if equals and _SECRET.search(unquote_plus(name)) else parameter
