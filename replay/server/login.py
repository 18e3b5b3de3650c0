"""How a browser shows the token: a form, and a cookie that no script and no other site can use.

The token is never in a link: those stay in histories, logs and the addresses of other sites.
"""

from __future__ import annotations

import hmac
from html import escape
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope

PATH = "/login"
COOKIE = "plinian-token"
MOST_BYTES = 4096

_FORM = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Plinian</title>
<meta name="viewport" content="width=device-width"></head>
<body><main><h1>Plinian</h1>
<form method="post" action="{path}"><p>{said}</p>
<p><label>Token <input name="token" type="password" autocomplete="current-password" required
autofocus></label> <input name="next" type="hidden" value="{after}"> <button>Open</button></p>
</form></main></body></html>
"""


def wants_page(headers: Headers, scope: Scope) -> bool:
    """Return whether a person looks at a page with a browser."""
    return scope.get("method") in {"GET", "HEAD"} and "text/html" in headers.get("accept", "")


def form(after: str, *, wrong: bool = False) -> Response:
    """Return the page that asks for the token.

    :param after: the path to go on to.
    """
    said = "This is not the token." if wrong else "This server needs its token."
    page = _FORM.format(path=PATH, said=said, after=escape(_local(after)))
    return HTMLResponse(page, status_code=401, headers={"Cache-Control": "no-store"})


async def logged_in(scope: Scope, receive: Receive, token: bytes) -> Response:
    """Return the answer to the form: a cookie with the token if that is right."""
    given = parse_qs((await _body(Request(scope, receive))).decode("utf-8", "replace"))
    shown, after = (given.get(name, [""])[-1] for name in ("token", "next"))
    if not hmac.compare_digest(shown.strip().encode(), token):
        return form(after, wrong=True)
    answer = RedirectResponse(_local(after), status_code=303)
    answer.set_cookie(
        COOKIE,
        shown.strip(),
        httponly=True,
        samesite="strict",
        secure=scope.get("scheme") == "https",
        path="/",
    )
    return answer


async def _body(request: Request) -> bytes:
    """Return the body of a form; empty if it is too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            return b""
    return body


def _local(path: str) -> str:
    """Return a path of this server; ``/`` for anything that a browser may take elsewhere."""
    if not path.isascii() or not path.isprintable() or "\\" in path or path == PATH:
        return "/"
    parts = urlsplit(path)
    own = not parts.scheme and not parts.netloc and path.startswith("/")
    return path if own and not path.startswith("//") else "/"
