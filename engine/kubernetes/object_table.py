"""Documents as numbers: equal documents get the same one, whatever made them."""

from __future__ import annotations

from typing import Any

import msgspec

Document = dict[str, Any]

_ENCODE = msgspec.json.Encoder(order="deterministic").encode


class ObjectTable:
    """Numbers documents in the order in which they come; they must not be changed afterwards."""

    def __init__(self) -> None:
        self._number: dict[bytes, int] = {}
        self._documents: list[Document] = []
        self._by_id: dict[int, tuple[Document, int]] = {}

    def number(self, document: Document) -> int:
        """Return the number of a document."""
        seen = self._by_id.get(id(document))
        if seen is not None and seen[0] is document:
            return seen[1]
        code = _ENCODE(document)
        number = self._number.get(code)
        if number is None:
            number = self._number[code] = len(self._documents)
            self._documents.append(document)
        # The document is kept: no other one may get its id.
        self._by_id[id(document)] = (document, number)
        return number

    def document(self, number: int) -> Document:
        """Return a document by its number."""
        return self._documents[number]
