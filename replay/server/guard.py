"""What every request must pass: Host, Origin, token, size; and the headers of every answer.

A page on the internet must not be able to read a log through a browser on this machine. So a
request is refused if its ``Host`` is a name that an attacker's DNS could point here (an IP address
or ``localhost`` cannot be), or if another site's page sent it.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.cookies import CookieError, SimpleCookie
from types import MappingProxyType
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from . import login
from .access_token import token_of
from .settings import ServerSettings

MOST_BYTES = 4 << 20
"""The largest body of a request."""

MOST_AT_ONCE = 96 << 20
"""The bytes of bodies that are in memory: of requests that are sent, wait, or are answered."""

_SMALL = 64 << 10
"""A body that is always read: there are not more of them than connections."""


class Bodies:
    """Counts the bytes of the bodies that are in memory; the event loop uses it."""

    def __init__(self) -> None:
        self._held = 0

    def check_room(self, length: int) -> None:
        """Refuse a large body while many of them are in memory.

        :raises BlockedRequest: they are.
        """
        if length > _SMALL and self._held + length > MOST_AT_ONCE:
            raise BlockedRequest(503, "the server reads many large requests: try again in a moment")

    @contextmanager
    def counted(self, receive: Receive) -> Iterator[Receive]:
        """Lend a channel that ends a request whose body is too long, alone or with all others."""
        # Bytes count until the request is answered: the application holds the body so long.
        received = 0

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            size = len(message.get("body", b""))
            received += size
            self._held += size
            if received > MOST_BYTES or (received > _SMALL and self._held > MOST_AT_ONCE):
                # A disconnect ends every reader of the body, at whichever door.
                return {"type": "http.disconnect"}
            return message

        try:
            yield counting
        finally:
            self._held -= received


GUESS_SECONDS = 1.0
"""How late the answer to a wrong token is."""

MOST_OF_ADDRESS, MOST_OF_ALL = 16, 256
"""Answers to wrong tokens that wait: to one address, and to all."""


class Guesses:
    """The answers to wrong tokens that wait; nothing is remembered of others.

    Few of one client wait at once, so an address makes at most some guesses a second. A right token
    is never slowed, unless so many guesses of the same address wait that none is compared: a client
    cannot tell from the time of an answer whether its token was compared.
    """

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()

    def may_guess(self, scope: Scope) -> bool:
        """Return whether the token of a request may be compared now."""
        here = self._waiting[_client(scope)] < MOST_OF_ADDRESS
        return here and self._waiting.total() < MOST_OF_ALL

    async def wait(self, scope: Scope) -> None:
        """Wait as long as the answer to a wrong token takes."""
        address = _client(scope)
        self._waiting[address] += 1
        try:
            await asyncio.sleep(GUESS_SECONDS)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


TOKEN_PREFIX = "/token/"  # noqa: S105 -- a path
"""A path may begin with the token: ``kubectl`` sends no token header over plain HTTP."""

SAFE_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
        # With no-referrer a browser says "Origin: null" for the forms of these pages.
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }
)
"""Headers of every answer that does not set them."""

_STARTS = frozenset({"http.response.start", "websocket.http.response.start"})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


_LATER: Mapping[str, str] = MappingProxyType({"Retry-After": "1"})
_AFTER_REFUSAL: Mapping[int, Mapping[str, str]] = MappingProxyType(
    {400: MappingProxyType({"Connection": "close"}), 429: _LATER, 503: _LATER}
)
"""Headers of refusals. After a length that is in doubt it is unclear where a request begins."""


class BlockedRequest(Exception):
    """A request that is not answered; never leaves this module.

    :param guessed: it showed a wrong token.
    """

    def __init__(self, status: int, text: str, *, guessed: bool = False) -> None:
        self.status, self.text, self.guessed = status, text, guessed
        super().__init__(text)

    def answer(self, scope: Scope) -> Response:
        """Return what the client reads: a page for the token, if a person needs one."""
        if self.status != 401:
            headers = _AFTER_REFUSAL.get(self.status, {})
            return PlainTextResponse(f"{self.text}\n", self.status, headers)
        if login.wants_page(Headers(scope=scope), scope):
            return login.form(scope["path"])
        return PlainTextResponse(f"{self.text}\n", self.status, {"WWW-Authenticate": "Bearer"})


class Guard:
    """ASGI middleware that refuses what could harm, before anything reads the log.

    :param names: names by which the server may be addressed, beside ``localhost`` and addresses.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings, names: Collection[str] = ()) -> None:
        self._app = app
        self._token = settings.token.encode()
        self._names = frozenset({"localhost", *(name.lower() for name in names)})
        self._origins = frozenset(settings.origins)
        self._guesses, self._bodies = Guesses(), Bodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it; half a request gets no answer."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        with suppress(ClientDisconnect):
            await self._guarded(scope, receive, send)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._bodies.check_room(_check_request(scope, self._names, self._origins))
            # The form of the login is sent without a token: it is what brings one.
            if self._token and scope["path"] == login.PATH and scope.get("method") == "POST":
                answer = await self._logged_in(scope, receive)
                await answer(scope, receive, _with_headers(send))
                return
            scope = self._with_token(scope)
        except BlockedRequest as fault:
            if fault.guessed:
                await self._guesses.wait(scope)
            await fault.answer(scope)(scope, receive, _with_headers(send))
            return
        with self._bodies.counted(receive) as bounded:
            await self._app(scope, bounded, _with_headers(send))

    async def _logged_in(self, scope: Scope, receive: Receive) -> Response:
        self._check_guesses(scope)
        answer = await login.logged_in(scope, receive, self._token)
        if answer.status_code == 401:
            await self._guesses.wait(scope)
        return answer

    def _check_guesses(self, scope: Scope) -> None:
        """Compare no token while many wrong ones of a client wait for their answers.

        :raises BlockedRequest: so many wait.
        """
        if not self._guesses.may_guess(scope):
            raise BlockedRequest(429, "too many wrong tokens: try again in a moment")

    def _with_token(self, scope: Scope) -> Scope:
        """Return a scope whose token is right, and without it in the path.

        :raises BlockedRequest: the token is missing or wrong.
        """
        path = scope["path"]
        in_path = path.startswith(TOKEN_PREFIX)
        if not self._token:
            return scope
        if in_path:
            shown, _, rest = path.removeprefix(TOKEN_PREFIX).partition("/")
        else:
            shown, rest = _shown(scope), path[1:]
        if shown:
            self._check_guesses(scope)
        if not hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), self._token):
            said = (
                "this is not the token of this server" if shown else "this server needs its token"
            )
            raise BlockedRequest(401, f"{said}: Authorization: Bearer …", guessed=bool(shown))
        if not in_path:
            return scope
        prefix = f"{TOKEN_PREFIX}{shown}"
        return {
            **scope,
            "path": f"/{rest}",
            "raw_path": scope.get("raw_path", b"").removeprefix(prefix.encode()),
            "plinian.prefix": prefix,
        }


def _check_request(scope: Scope, names: Collection[str], origins: Collection[str]) -> int:
    """Look at what each request must have, no matter who sends it; return its body's length.

    :param origins: sites whose pages may ask, too.
    :returns: the bytes that it announces; 0 if it announces none.
    :raises BlockedRequest: it may not be answered.
    """
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    if not _is_own(host, names):
        raise BlockedRequest(
            421,
            "this server answers only requests to localhost, an IP address, or --allow-host",
        )
    _check_site(headers, host, scope, origins)
    # A proxy before this server may read the other one, and then see other requests.
    if "transfer-encoding" in headers and "content-length" in headers:
        raise BlockedRequest(400, "a request has either a length or a transfer encoding")
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or len(length) > 18:
        raise BlockedRequest(400, "the length of the body is not a number")
    if int(length) > MOST_BYTES:
        raise BlockedRequest(413, f"the body of a request is at most {MOST_BYTES} bytes")
    return int(length)


def _is_own(host: str, names: Collection[str]) -> bool:
    name = (_address(f"//{host}").hostname or "").lower()
    if name in names:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _check_site(headers: Headers, host: str, scope: Scope, origins: Collection[str]) -> None:
    """Refuse what a page of another site sends, except that a person follows a link.

    :raises BlockedRequest: the request comes from such a page.
    """
    origin = headers.get("origin")
    if (
        origin is not None
        and _address(origin).netloc.lower() != host.lower()
        and origin.lower() not in origins
    ):
        raise BlockedRequest(403, "a page of another site may not ask this server")
    # Another port of this machine is the same site, and can be another program.
    if headers.get("sec-fetch-site") in {"cross-site", "same-site"}:
        follows = headers.get("sec-fetch-mode") == "navigate"
        if not (follows and scope.get("method") in _SAFE_METHODS):
            raise BlockedRequest(403, "a page of another site may not ask this server")


def _address(text: str) -> SplitResult:
    """Return an address in parts; they are empty if it is none."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def _shown(scope: Scope) -> str:
    """Return the token that a request shows: in a header, a cookie, or for a WebSocket."""
    headers = Headers(scope=scope)
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(login.COOKIE)
    except CookieError:
        cookie = None
    if cookie is not None:
        return cookie.value
    return token_of(scope.get("subprotocols", ()))


def _with_headers(send: Send) -> Send:
    """Return a channel that adds the safe headers to an answer."""

    async def sent(message: Message) -> None:
        if message["type"] in _STARTS:
            headers = MutableHeaders(scope=message)
            for name, value in SAFE_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
