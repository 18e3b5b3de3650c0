"""A user with a script: writes that come in their order, at any time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..controllers.component import Client
from ..kubernetes.api_errors import AlreadyExists, NotFound
from ..kubernetes.api_server import DELETED, Document, merged, place_of

ACTS = "acts"


class UserAct(NamedTuple):
    """One write: ``ADDED``, ``MODIFIED`` or ``DELETED``, as scenarios name it, and the object."""

    verb: str
    document: Document


class UserComponent:
    """Makes one write after the other.

    An object that exists is changed, whatever is said; one that does not is created. What is
    deleted and does not exist leaves everything as it is.

    :ivar script: all writes, also those that were made.
    """

    kinds: tuple[str, ...] = ()

    def __init__(self, script: Sequence[UserAct]) -> None:
        self.script = script
        self._made = 0

    def deliver(self, *change: object) -> None:
        """See nothing: no informer delivers to a user."""
        raise AssertionError(f"a user watches nothing, but got {change}")

    def steps(self) -> Sequence[str]:
        """Return whether anything of the script is left."""
        return (ACTS,) if self._made < len(self.script) else ()

    def step(self, name: str, client: Client) -> None:
        """Make the next write."""
        assert name == ACTS
        verb, document = self.script[self._made]
        self._made += 1
        place = place_of(document)
        if verb == DELETED:
            try:
                client.delete(*place)
            except NotFound:
                return
            return
        try:
            client.create(document)
        except AlreadyExists:
            existing = client.get(*place)
            client.update(merged(existing, document))
            if document.get("status"):
                client.update(merged(client.get(*place), document), status=True)

    def due(self) -> int | None:
        """Return None: a user waits for no time."""

    def advance(self, by: int) -> None:
        """Let time pass."""

    def kept(self) -> int:
        """Return how many writes were made."""
        return self._made

    def restore(self, kept: int) -> None:
        """Be where another one was."""
        self._made = kept
