"""What is served instead of the past if it can be changed: an interface."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import NamedTuple, Protocol

from starlette.responses import Response

from ....logs.log import Log
from ..read.cluster_state import ClusterState
from ..watch.channels import ClientWatch
from ..watch.watching import Opening
from ..wire.api_paths import ApiPath
from ..wire.api_resources import ApiResource
from ..wire.list_options import ListOptions

View = Callable[[Log], ClusterState]
"""Returns a state, for the thread of a log."""


class WriteRequest(NamedTuple):
    """A write as a client sent it.

    :param media: the content type of the body, without parameters.
    :param query: the parameters in the address. :param actor: who sent it.
    """

    method: str
    place: ApiPath
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

    async def write(self, asking: WriteRequest) -> Response:
        """Carry out a write.

        :raises StatusError: it is refused.
        """

    async def open(self, resource: ApiResource, asked: ListOptions) -> Opening:
        """Open a watch.

        :raises StatusError: it begins at a revision that does not exist yet, or no more.
        """

    def begin(self, opening: Opening) -> AsyncIterator[bytes]:
        """Yield what a watch begins with."""

    def drop(self, watcher: ClientWatch) -> None:
        """End a watch, soon."""
