"""What a server serves, and where it listens."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple

from ...engine.errors import UsageError
from ...engine.log import MAIN

DEFAULT_PORT = 8001
"""The port of ``kubectl proxy``."""

LOOPBACK = "127.0.0.1"


class Settings(NamedTuple):
    """What a server serves, and where it listens.

    :param place: the path or URL of the log.
    :param branch: the branch of points that do not name one.
    :param cluster: the cluster; None if the log holds only one.
    :param at: the point that is served where a request names none.
    :param release: the release of Volcano that answers are about, unless a request names one.
    :param address: the address to listen on. :param port: the port; 0 is any free one.
    :param token: what a request must show; empty if it needs none.
    :param play: how many times faster than it happened the moment moves on; 0 is not at all.
    """

    place: str
    branch: str = MAIN
    cluster: str | None = None
    at: str = "end"
    release: str = "v1.12.1"
    address: str = LOOPBACK
    port: int = DEFAULT_PORT
    token: str = ""
    play: float = 0

    @property
    def origin(self) -> str:
        """Return how a browser on this machine names the server."""
        address = self.address
        if address in {"0.0.0.0", "::"}:  # noqa: S104 -- compared, not bound
            address = LOOPBACK
        return f"http://{f'[{address}]' if ':' in address else address}:{self.port}"


def is_loopback(address: str) -> bool:
    """Return whether only this machine reaches an address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def checked(settings: Settings) -> Settings:
    """Return settings that are safe to serve with.

    :raises UsageError: other machines reach the address, and no token protects it.
    """
    if is_loopback(settings.address) or settings.token:
        return settings
    raise UsageError(
        f"other machines can reach {settings.address}, and no token protects the log",
        now="give a token of your own with --token-file FILE, or listen on 127.0.0.1",
    )
