"""Numbers for documents, so that values which refer to documents can be compared and hashed."""

from __future__ import annotations

from typing import Any

import msgspec

Document = dict[str, Any]


class ObjectTable:
    """Gives equal documents equal numbers, in the order in which they are first met.

    Documents may not be changed once they have a number.
    """

    def __init__(self) -> None:
        self._documents: list[Document] = []
        self._by_bytes: dict[bytes, int] = {}
        self._met: dict[int, tuple[Document, int]] = {}
        """By identity; each is held, so that no other document can get its identity."""

    def number(self, document: Document) -> int:
        """Return the number of a document: from 0, one for each content."""
        met = self._met.get(id(document))
        if met is None:
            met = self._met[id(document)] = (document, self._number(document))
        return met[1]

    def document(self, number: int) -> Document:
        """Return the first document that got a number.

        :raises IndexError: none did.
        """
        return self._documents[number]

    def _number(self, document: Document) -> int:
        # Sorted, so that equal documents have equal bytes.
        content = msgspec.json.encode(document, order="sorted")
        number = self._by_bytes.setdefault(content, len(self._documents))
        if number == len(self._documents):
            self._documents.append(document)
        return number
