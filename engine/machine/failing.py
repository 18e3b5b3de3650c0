"""Requests that fail for a reason of the API server or the network, not of the object."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..kubernetes.api_errors import Refused
from ..kubernetes.api_server import ApiServer

WRITES = frozenset({"create", "update", "patch", "bind", "delete"})
"""The requests of a client that may fail: those that write."""

_FORM = re.compile(r"request (\d{1,4}) (is refused|is done but not answered)")


class Unavailable(Refused):
    """The API server did not answer, or answered that it cannot work now."""

    reason = "InternalError"


class Failing(NamedTuple):
    """A request that fails.

    :param number: of the writes of one step, from 1.
    :param done: the server carries it out, and only the answer is lost.
    """

    number: int
    done: bool

    def __str__(self) -> str:
        how = "is done but not answered" if self.done else "is refused"
        return f"request {self.number} {how}"


def failing_of(text: str) -> Failing | None:
    """Return the request that a step's ``fault`` names, or None."""
    match = _FORM.fullmatch(text)
    return None if match is None else Failing(int(match[1]), "done" in match[2])


def ways_to_fail(writes: int) -> Iterator[Failing]:
    """Yield the failures of a step that writes so often."""
    for number in range(1, writes + 1):
        yield Failing(number, done=False)
        yield Failing(number, done=True)


class NotedClient:
    """A client that notes whether it was used: only then does a step depend on the API server.

    :param failing: the request that fails; None if none does.
    :ivar server: that of the requests; None if there were none. :ivar writes: how many were sent.
    """

    def __init__(self, server: Callable[[], ApiServer], failing: Failing | None = None) -> None:
        self._server = server
        self._failing = failing
        self.server: ApiServer | None = None
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        if self.server is None:
            self.server = self._server()
        request = getattr(self.server, name)
        if name not in WRITES:
            return request

        def send(*given: Any, **named: Any) -> Any:
            self.writes += 1
            failing = self._failing
            if failing is None or failing.number != self.writes:
                return request(*given, **named)
            if failing.done:
                request(*given, **named)
            raise Unavailable("the API server does not answer")

        return send
