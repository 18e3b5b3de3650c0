"""The token of a server: in a file, and as the subprotocol of a WebSocket.

Arguments of a command are visible to all users. A browser can send it in no header of a WebSocket
but as a subprotocol.

Source: k8s.io/apiserver pkg/authentication/request/websocket/protocol.go.
"""

from __future__ import annotations

import base64
import binascii
import string
from collections.abc import Iterable
from pathlib import Path

from ...engine.errors import UsageError

LEAST_LENGTH = 16
_SUBPROTOCOL = "base64url.bearer.authorization.k8s.io."
_ALLOWED = frozenset(string.ascii_letters + string.digits + "-._~")


def token_in(file: Path) -> str:
    """Return the token in a file.

    :raises UsageError: the file cannot be read, or the token is too short to be safe, or has
        characters that do not fit into a path.
    """
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise UsageError(
            "the token cannot be read", where=str(file), now="check the file"
        ) from fault
    if len(token) < LEAST_LENGTH or not _ALLOWED.issuperset(token):
        raise UsageError(
            f"a token has at least {LEAST_LENGTH} characters: letters, digits and -._~",
            where=str(file),
            now="make one: python3 -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    return token


def is_token(subprotocol: str) -> bool:
    """Return whether a subprotocol is a token."""
    return subprotocol.startswith(_SUBPROTOCOL)


def token_of(subprotocols: Iterable[str]) -> str:
    """Return the token among the subprotocols that are offered; empty if there is none."""
    text = next(filter(is_token, subprotocols), "").removeprefix(_SUBPROTOCOL)
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""
