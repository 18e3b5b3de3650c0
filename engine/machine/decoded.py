"""Objects decoded from documents that have numbers, each once: searches restore caches often."""

from __future__ import annotations

import msgspec

from ..kubernetes.object_table import ObjectTable
from ..kubernetes.objects import Object, decode_known


class DecodedObjects:
    """The objects that the documents of a table are.

    :ivar table: numbers the documents.
    """

    def __init__(self, table: ObjectTable) -> None:
        self.table = table
        self._known: dict[int, Object] = {}

    def get(self, kind: type[Object], number: int) -> Object:
        """Return the object of a kind that the document with a number is."""
        known = self._known.get(number)
        if known is None:
            payload = msgspec.json.encode(self.table.document(number))
            known = self._known[number] = decode_known(kind, payload)
        return known
