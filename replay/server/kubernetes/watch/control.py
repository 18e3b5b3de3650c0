"""Asks a running server where its moment is, and moves it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from .....engine.errors import PlinianError, UsageError

_SECONDS = 60


class ServerSilent(PlinianError):
    """No server answers at an address, or it is no server of ours."""


def asked(server: str, token: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return where a server is, after it did what a body says.

    :param body: None only asks.
    :raises ServerSilent: there is no such server. :raises UsageError: it refuses.
    """
    if urlsplit(server).scheme not in {"http", "https"}:
        raise UsageError(f"{server!r} is no address", now="write --server http://127.0.0.1:8001")
    address = f"{server.rstrip('/')}/plinian/v1/play"
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = Request(address, data=data, headers=headers)  # noqa: S310 -- checked above
    try:
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            position: dict[str, Any] = json.load(answer)
    except HTTPError as fault:
        raise _refused(fault, server) from fault
    except (URLError, HTTPException, OSError, ValueError) as fault:
        raise ServerSilent(
            "no plinian serve answers here",
            where=server,
            now="start one, or give its address with --server",
        ) from fault
    return position


def _refused(fault: HTTPError, server: str) -> PlinianError:
    text = fault.read().decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        return UsageError(error["what"], now=error["now"])
    except (ValueError, KeyError, TypeError):
        return ServerSilent(text.strip() or fault.reason, where=server, now="check --token-file")


def said(found: Mapping[str, Any]) -> str:
    """Return where a server is, for people."""
    how = f"playing at {found['speed']:g}x" if found["playing"] else "standing still"
    time = f" ({found['time']})" if found["time"] else ""
    return f"rv:{found['revision']}{time}, {how}"
