"""Wrong tokens: their answers come late, and few of one client wait at once.

So an address makes at most some guesses a second. A right token is never slowed, unless so many
guesses of the same address wait that none is compared: a client cannot tell from the time of an
answer whether its token was compared.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from starlette.types import Scope

SECONDS = 1.0
"""How late the answer to a wrong token is."""

MOST_OF_ADDRESS, MOST_OF_ALL = 16, 256
"""Answers to wrong tokens that wait: to one address, and to all."""


class Guesses:
    """The answers to wrong tokens that wait; nothing is remembered of others."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()

    def may_guess(self, scope: Scope) -> bool:
        """Return whether the token of a request may be compared now."""
        here = self._waiting[_address(scope)] < MOST_OF_ADDRESS
        return here and self._waiting.total() < MOST_OF_ALL

    async def wait(self, scope: Scope) -> None:
        """Wait as long as the answer to a wrong token takes."""
        address = _address(scope)
        self._waiting[address] += 1
        try:
            await asyncio.sleep(SECONDS)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""
