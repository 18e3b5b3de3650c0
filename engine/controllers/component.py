"""What every component of a cluster is: informers deliver to it, and its workers take items.

A component does nothing by itself. Each call is one step, and a step that writes sends its requests
to the API server at once. Between steps all that a component holds is in :meth:`Component.kept`, so
that a search can go back to any step and go on another way.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..kubernetes.api_server import MERGE, Document
from ..kubernetes.json_patch import Operation


class Client(Protocol):
    """The requests that a component may send; an API server carries them out, or refuses them.

    Keys are ``namespace/name``, or the name. Kinds are named as in :class:`~.api_server.Place`:
    ``Job`` is Volcano's. See :class:`~.api_server.ApiServer` for the errors.
    """

    def find(self, kind: str, key: str) -> Document | None:
        """Return an object, or None."""

    def get(self, kind: str, key: str) -> Document:
        """Return an object."""

    def list(
        self, kind: str, namespace: str = "", selector: Mapping[str, str] | None = None
    ) -> Iterable[Document]:
        """Return objects of a kind by key: of one namespace, or with these labels."""

    def create(self, given: Document) -> Document:
        """Store a new object."""

    def update(self, given: Document, *, status: bool = False) -> Document:
        """Replace an object, but for its status; or its status alone."""

    def patch(
        self,
        kind: str,
        key: str,
        part: Document | Sequence[Operation],
        *,
        how: str = MERGE,
        status: bool = False,
    ) -> Document:
        """Change parts of an object, or of its status.

        :param part: the operations of a JSON patch; else what is merged into the object.
        :param how: the content type; lists are replaced by all that merge.
        """

    def bind(self, key: str, node: str, uid: str | None = None) -> None:
        """Give a pod a node."""

    def delete(
        self,
        kind: str,
        key: str,
        *,
        uid: str | None = None,
        version: str | None = None,
        grace: int | None = None,
    ) -> None:
        """Delete an object, or begin to."""

    def emit(self, about: Document, reason: str, message: str) -> None:
        """Create an event about an object."""


class Actor(Protocol):
    """What acts on a cluster, step by step.

    :cvar kinds: the kinds that its informers watch, each in a separate channel.
    """

    kinds: tuple[str, ...]

    def deliver(self, verb: str, kind: str, key: str, document: Document, client: Client) -> None:
        """Let an informer deliver a change: the lister has it, then the handler is called."""

    def steps(self) -> Sequence[str]:
        """Return what the component could do now by itself, each as a word."""

    def step(self, name: str, client: Client) -> None:
        """Do one of :meth:`steps`."""

    def due(self) -> int | None:
        """Return in how many microseconds something is due; None if nothing is."""

    def advance(self, by: int) -> None:
        """Let so many microseconds pass."""


class Component(Actor, Protocol):
    """A component of a cluster, which a search can take back to any earlier situation."""

    def kept(self) -> Hashable:
        """Return all that the component holds; equal situations give equal values."""

    def restore(self, kept: Any) -> None:
        """Hold what another one held, as :meth:`kept` returned it, and nothing else."""
