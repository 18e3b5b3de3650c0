"""Streams of text in UTF-16, read as UTF-8."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, BinaryIO

from .compression import Source, moved

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PIECE = 2**16


class Narrowed(Source):
    """A stream of text in UTF-16, as UTF-8 without a byte order mark.

    What is no character becomes the replacement character.
    """

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._begun = False
        self._ended = False
        self._ready = memoryview(b"")

    def readinto(self, target: WriteableBuffer) -> int:
        """Fill a buffer with at most one piece; 0 at the end."""
        while not self._ready and not self._ended:
            piece = self._stream.read(_PIECE)
            self._ended = not piece
            text = self._decoder.decode(piece, final=self._ended)
            # Only the first one is a mark; later it is a character.
            if not self._begun:
                text = text.removeprefix("\ufeff")
            self._begun = True
            self._ready = memoryview(text.encode())
        count, self._ready = moved(self._ready, target)
        return count
