"""The token of a server, from a file: arguments of a command are visible to all users."""

from __future__ import annotations

import string
from pathlib import Path

from ...engine.errors import UsageError

LEAST_LENGTH = 16
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
