"""What keeps a server from answering, in plain words: the one place that reads urllib3's errors."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from typing import NamedTuple

_ADDRESS = "check the address of the server in the kubeconfig"
_RUNS = "check that the server runs, and its address in the kubeconfig"
_CREDENTIALS = "check the credentials: try kubectl with this context"
_MAY = "let the user list and watch it"
_UNAUTHORIZED, _FORBIDDEN = 401, 403
_NOT_TLS = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE"}
)
"""What OpenSSL says of an answer that is not of TLS."""


class PlainFault(NamedTuple):
    """A fault in a few words. :param now: what to do about it; empty if it passes by itself."""

    what: str
    now: str = ""


def plain_fault(fault: BaseException, *, connect: float, quiet: float) -> PlainFault:
    """Return why there is no answer.

    :param connect: seconds that a connection may take. :param quiet: those without any byte.
    """
    from urllib3.exceptions import ProxyError  # noqa: PLC0415 -- of the extra

    chain = list(_chain(fault))
    said = _timed(chain, connect, quiet) or _by_tls(chain) or _by_network(chain)
    if said is None:
        said = PlainFault(" ".join(own_words(fault).split()))
    if any(isinstance(each, ProxyError) for each in chain):
        return PlainFault(f"the proxy: {said.what}", "check proxy-url in the kubeconfig")
    return said


def own_words(fault: BaseException) -> str:
    """Return what a fault of a library says of itself."""
    return str(getattr(fault, "reason", None) or fault) or type(fault).__name__


def plain_refusal(code: int, message: str) -> PlainFault:
    """Return what an answer means that is an error. :param message: the server's own words."""
    if code == _UNAUTHORIZED:
        words = f": {message}" if message else ""
        return PlainFault(f"the server does not accept the credentials (401{words})", _CREDENTIALS)
    if code == _FORBIDDEN:
        return PlainFault(message or "the server answered 403: it is forbidden", _MAY)
    return PlainFault(message or f"the server answered {code}")


def _chain(fault: BaseException | None) -> Iterator[BaseException]:
    """Yield a fault, and those that it was made of."""
    seen: set[int] = set()
    waiting = [fault]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
        waiting += [each for each in inner if isinstance(each, BaseException)]


def _timed(chain: list[BaseException], connect: float, quiet: float) -> PlainFault | None:
    from urllib3.exceptions import (  # noqa: PLC0415
        ConnectTimeoutError,
        NewConnectionError,
        ReadTimeoutError,
    )

    for one in chain:
        # A connection that is refused is one of those, too.
        if isinstance(one, ConnectTimeoutError) and not isinstance(one, NewConnectionError):
            return PlainFault(f"no answer within {connect:.0f} s", _RUNS)
        if isinstance(one, ReadTimeoutError):
            return PlainFault(f"no answer within {quiet:.0f} s", _RUNS)
    return None


def _by_tls(chain: list[BaseException]) -> PlainFault | None:
    for one in chain:
        if isinstance(one, ssl.SSLCertVerificationError):
            return PlainFault(
                f"the certificate of the server is not trusted: {one.verify_message}",
                "check certificate-authority in the kubeconfig",
            )
        if isinstance(one, ssl.SSLError):
            if one.reason in _NOT_TLS:
                return PlainFault("it is not an HTTPS server", "is this an https port?")
            words = (one.reason or "it broke off").lower().replace("_", " ")
            return PlainFault(f"no TLS with the server: {words}", _CREDENTIALS)
    return None


def _by_network(chain: list[BaseException]) -> PlainFault | None:
    for one in chain:
        if isinstance(one, socket.gaierror):
            return PlainFault("the name of the server is not known", _ADDRESS)
        if isinstance(one, ConnectionRefusedError):
            return PlainFault("connection refused", _RUNS)
        if isinstance(one, RemoteDisconnected):
            return PlainFault("it closed the connection without an answer")
        if isinstance(one, IncompleteRead):
            return PlainFault("its answer broke off")
        if isinstance(one, HTTPException):
            return PlainFault("it is not an HTTP server", _ADDRESS)
        if isinstance(one, OSError) and one.strerror:
            return PlainFault(one.strerror.lower())
    return None
