"""What is served instead of the past if it can be changed: an interface."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import NamedTuple, Protocol

from starlette.responses import Response

from ....logs.log import Log
from ..read.cluster_state import State
from ..watch.channels import Watcher
from ..watch.watching import Opening
from ..wire.api_paths import Place
from ..wire.list_options import Asked
from ..wire.resources import Resource

View = Callable[[Log], State]
"""Returns a state, for the thread of a log."""


class Asking(NamedTuple):
    """A write as a client sent it.

    :param media: the content type of the body, without parameters.
    :param query: the parameters in the address. :param actor: who sent it.
    """

    method: str
    place: Place
    body: bytes
    media: str
    query: dict[str, str]
    actor: str


class Changing(Protocol):
    """Objects that are served, and change by writes."""

    @property
    def revision(self) -> int:
        """Up to where all watches have seen everything."""

    def view(self) -> View:
        """Return the state of now, for any thread."""

    async def write(self, asking: Asking) -> Response:
        """Carry out a write.

        :raises StatusError: it is refused.
        """

    async def open(self, resource: Resource, asked: Asked) -> Opening:
        """Open a watch.

        :raises StatusError: it begins at a revision that does not exist yet, or no more.
        """

    def begin(self, opening: Opening) -> AsyncIterator[bytes]:
        """Yield what a watch begins with."""

    def drop(self, watcher: Watcher) -> None:
        """End a watch, soon."""
