"""Kubeconfigs for a server: two contexts for each moment, as it was and as if it were now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...guard import TOKEN_PREFIX
from ..wire.shifted_times import NOW


def kubeconfig(server: str, log: str, points: Sequence[str], token: str = "") -> dict[str, Any]:
    """Return a kubeconfig whose contexts are named ``log@point``; the first one is in use.

    A second context of each moment, ``log@point-now``, shows its times as if it were now.

    :param server: the server's address. :param log: the name of the log.
    :param points: the moments; without any, the one that the server serves.
    :param token: the server's. Over plain HTTP clients send no token, so it is in the address.
    """
    base = server.rstrip("/")
    if token:
        base += f"{TOKEN_PREFIX}{token}"
    name = Path(log.partition("?")[0].rstrip("/")).stem or "log"
    paths = [
        (f"{name}@{point.removeprefix('@')}", f"/at/{quote(point, safe='@:')}") for point in points
    ] or [(name, "")]
    places = [
        *((place, f"{base}{path}") for place, path in paths),
        *((f"{place}-{NOW}", f"{base}/{NOW}{path}") for place, path in paths),
    ]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": places[0][0],
        "clusters": [{"name": place, "cluster": _cluster(address)} for place, address in places],
        "contexts": [
            {
                "name": place,
                "context": {"cluster": place, "namespace": "default", "user": "reader"},
            }
            for place, _ in places
        ],
        "users": [{"name": "reader", "user": {"token": token} if token else {}}],
    }


def _cluster(address: str) -> dict[str, Any]:
    if address.startswith("https:"):
        return {"server": address}
    # The JavaScript client refuses plain HTTP without it.
    return {"server": address, "insecure-skip-tls-verify": True}
