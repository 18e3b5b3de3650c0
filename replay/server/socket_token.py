"""The token of a WebSocket: a browser can send it in no header but as a subprotocol.

Source: k8s.io/apiserver pkg/authentication/request/websocket/protocol.go.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable

_PREFIX = "base64url.bearer.authorization.k8s.io."


def is_token(subprotocol: str) -> bool:
    """Return whether a subprotocol is a token."""
    return subprotocol.startswith(_PREFIX)


def token_of(subprotocols: Iterable[str]) -> str:
    """Return the token among the subprotocols that are offered; empty if there is none."""
    for one in subprotocols:
        if is_token(one):
            return _decoded(one.removeprefix(_PREFIX))
    return ""


def _decoded(text: str) -> str:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""
