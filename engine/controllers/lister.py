"""What a component knows of the objects of one kind: what its informer has delivered."""

from __future__ import annotations

from collections.abc import Mapping

from ..kubernetes.api_server import DELETED, Document, selects
from ..kubernetes.object_table import ObjectTable

UNLISTED = "UNLISTED"
"""An informer's list has lost an object, and its handler is not called yet.

An informer changes its list first and calls handlers later. Components take both as one step, but
for this verb, which a ``DELETED`` follows.
"""

TOMBSTONE = "TOMBSTONE"
"""An informer finds in a new list that an object is gone whose deletion it missed.

Handlers get the last version that was known, wrapped (``DeletedFinalStateUnknown``). For most of
them that is a deletion.
"""

Listed = tuple[tuple[str, int], ...]
"""Keys with the numbers of documents, by key."""


class Lister:
    """Objects by key, each in the version that was delivered last.

    Source: k8s.io/client-go/tools/cache store.go, listers.go.
    """

    def __init__(self, objects: ObjectTable) -> None:
        self._objects = objects
        self._documents: dict[str, Document] = {}

    def deliver(self, verb: str, key: str, document: Document) -> None:
        """Take a change in."""
        if verb in {DELETED, UNLISTED, TOMBSTONE}:
            self._documents.pop(key, None)
        else:
            self._documents[key] = document

    def get(self, key: str) -> Document | None:
        """Return an object, or None."""
        return self._documents.get(key)

    def list(
        self, namespace: str = "", selector: Mapping[str, str] | None = None
    ) -> list[Document]:
        """Return objects by key: of one namespace, with these labels.

        Go's listers have no order; here an object with a lower key comes first.
        """
        begin = f"{namespace}/" if namespace else ""
        in_namespace = (document for key, document in self.items() if key.startswith(begin))
        return [document for document in in_namespace if selects(selector or {}, document)]

    def items(self) -> tuple[tuple[str, Document], ...]:
        """Return keys and objects, by key."""
        return tuple((key, self._documents[key]) for key in sorted(self._documents))

    def kept(self) -> Listed:
        """Return all that is listed."""
        number = self._objects.number
        return tuple((key, number(document)) for key, document in self.items())

    def restore(self, kept: Listed) -> None:
        """List what another lister listed, and nothing else."""
        self._documents = {key: self._objects.document(number) for key, number in kept}
