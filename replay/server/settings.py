"""What a server serves, and where it listens."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

from ...engine.errors import UsageError
from ...engine.log import MAIN
from ..questions.defaults import DEFAULT_RELEASE

DEFAULT_PORT = 8001
"""The port of ``kubectl proxy``."""

LOOPBACK = "127.0.0.1"

_ORIGIN = re.compile(r"https?://[^/?#@\s]+")


class Tls(NamedTuple):
    """Files with which connections are encrypted.

    :param certificate: of the server, and ``key``: its key. :param clients: certificates of those
        who sign the certificates of clients; empty if clients need none.
    """

    certificate: str
    key: str
    clients: str = ""


class ServerSettings(NamedTuple):
    """What a server serves, and where it listens.

    :param place: the path or URL of the log.
    :param branch: the branch of points that do not name one.
    :param cluster: the cluster; None if the log holds only one.
    :param at: the point that is served where a request names none.
    :param release: the release of Volcano that answers are about, unless a request names one;
        None if neither a person nor the log names one.
    :param address: the address to listen on. :param port: the port; 0 is any free one.
    :param token: what a request must show; empty if it needs none.
    :param tls: how connections are encrypted; None if they are not.
    :param play: how many times faster than it happened the moment moves on; 0 is not at all.
    :param shift_to: the time, in microseconds, as which the Kubernetes API shows its moment; None
        is the time that it was.
    :param origins: sites whose pages may ask, beside the own, as browsers name them.
    :param writable: the Kubernetes API accepts writes, which are appended to the branch.
    :param grows: a recorder in this process appends to the log.
    """

    place: str
    branch: str = MAIN
    cluster: str | None = None
    at: str = "end"
    release: str | None = None
    address: str = LOOPBACK
    port: int = DEFAULT_PORT
    token: str = ""
    tls: Tls | None = None
    play: float = 0
    shift_to: int | None = None
    origins: tuple[str, ...] = ()
    writable: bool = False
    grows: bool = False

    @property
    def used_release(self) -> str:
        """Return the release that answers are about: the default is assumed if none is named."""
        return self.release or DEFAULT_RELEASE

    @property
    def origin(self) -> str:
        """Return how a browser on this machine names the server."""
        address = self.address
        if address in {"0.0.0.0", "::"}:  # noqa: S104 -- compared, not bound
            address = LOOPBACK
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://{f'[{address}]' if ':' in address else address}:{self.port}"

    @property
    def is_protected(self) -> bool:
        """Return whether only those who show a token or a certificate are answered."""
        return bool(self.token) or (self.tls is not None and bool(self.tls.clients))


def is_loopback(address: str) -> bool:
    """Return whether only this machine reaches an address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def origin_of(text: str) -> str:
    """Return an origin as browsers send it.

    :raises UsageError: it is none.
    """
    origin = text.rstrip("/").lower()
    if _ORIGIN.fullmatch(origin) is None:
        raise UsageError(f"{text!r} is no origin", now="write it as in http://localhost:4466")
    return origin


def checked(settings: ServerSettings) -> ServerSettings:
    """Return settings that are safe to serve with.

    :raises UsageError: other machines reach the address, and neither a token nor certificates of
        clients protect it; or the address has a port; or what is to be written is no branch, or
        its past.
    """
    if settings.writable:
        _check_writable(settings)
    _check_address(settings.address)
    # Without a token any program on this machine may ask, but none of another.
    if is_loopback(settings.address) or settings.is_protected:
        return settings
    raise UsageError(
        f"other machines can reach {settings.address}, and no token protects the log",
        now="give a token with --token-file FILE, or accept only clients with a certificate by "
        "--tls-client-ca FILE, or listen on 127.0.0.1",
    )


def _check_address(address: str) -> None:
    host, _, port = address.rpartition(":")
    # An address of IPv6 has colons itself, and brackets where a port follows.
    if port.isdecimal() and (host.endswith("]") or (host and ":" not in host)):
        raise UsageError(
            f"{address} is an address with a port",
            now=f"give the port apart: --listen {host.strip('[]')} --port {port}",
        )


def _check_writable(settings: ServerSettings) -> None:
    if settings.branch == MAIN:
        raise UsageError(
            f"only a branch can be written: {MAIN} is what was observed",
            now="make one with plinian branch create NAME, and give --branch NAME --writable",
        )
    if settings.at != "end" or settings.play:
        option = "--play" if settings.play else "--at"
        raise UsageError(
            f"a branch is written at its end, so --writable and {option} exclude each other",
            now="make a branch that begins there: plinian branch create NAME --at POINT",
        )
    if settings.shift_to is not None:
        raise UsageError(
            "--writable and --shift-times exclude each other: what clients write back would be "
            "stored with moved times",
            now="leave one of them out",
        )


def warnings(settings: ServerSettings) -> list[str]:
    """Return what the person who starts a server must know, one line each."""
    if is_loopback(settings.address):
        return []
    sentences = [f"other machines can reach {settings.address}:{settings.port}, and read this log"]
    if settings.tls is None:
        sentences.append("nothing is encrypted, not even the token: use --tls-cert and --tls-key")
    return sentences
