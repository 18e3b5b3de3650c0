"""Compressed streams, by their first bytes; every fault in them becomes an error of the input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import zstandard

from ...errors import InputDamaged, InputError, InputTruncated

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER = 2**18
"""Bytes that are read at a time."""

_CHUNK = 2**14
"""Compressed bytes that are expanded at a time; few, because one may expand to thousands."""


_ZSTD_WINDOW = 128 * 2**20
"""Bytes; the limit of ``zstd`` without ``--long``."""

_XZ_MEMORY = 192 * 2**20
"""Bytes; ``xz -9`` needs 65 MiB."""


class Source(io.RawIOBase):
    """A stream that is defined by ``readinto``, which returns the next bytes."""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def buffered(self) -> BinaryIO:
        """Return the stream with a buffer, which reads lines and full lengths."""
        return io.BufferedReader(self, BUFFER)


def moved(ready: memoryview, target: WriteableBuffer) -> tuple[int, memoryview]:
    """Fill a buffer with bytes that are ready; return how many it took, and the rest."""
    view = memoryview(target).cast("B")
    count = min(len(view), len(ready))
    view[:count] = ready[:count]
    return count, ready[count:]


class _Zstd(Source):
    """A zstd stream of any number of frames; unlike the library's reader it detects a cut."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._frame = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
        self._fed = False
        self._ready = memoryview(b"")

    def readinto(self, target: WriteableBuffer) -> int:
        """Fill a buffer with at most one piece; 0 at the end.

        :raises EOFError: the stream ends inside a frame.
        """
        while not self._ready and self._expand():
            pass
        count, self._ready = moved(self._ready, target)
        return count

    def _expand(self) -> bool:
        rest = b""
        # A stream may have several frames, as files that were joined have.
        if self._frame.eof:
            rest = self._frame.unused_data
            self._frame = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
            self._fed = False
        chunk = rest or self._stream.read(_CHUNK)
        if not chunk:
            # A frame has begun, and nothing more comes.
            if self._fed:
                raise EOFError
            return False
        self._fed = True
        self._ready = memoryview(self._frame.decompress(chunk))
        return True


class _Xz(Source):
    """An xz stream, or several one after the other, with a bound on the size of a dictionary."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        self._begun = False
        self._chunk = b""
        self._ready = memoryview(b"")

    def readinto(self, target: WriteableBuffer) -> int:
        """Fill a buffer with at most one piece; 0 at the end.

        :raises EOFError: the stream ends in the middle.
        """
        while not self._ready and self._expand():
            pass
        count, self._ready = moved(self._ready, target)
        return count

    def _expand(self) -> bool:
        decoder = self._decoder
        if decoder.eof:
            # Streams are padded with zeros to a multiple of four bytes.
            self._chunk = decoder.unused_data.lstrip(b"\0")
            while not self._chunk:
                piece = self._stream.read(_CHUNK)
                if not piece:
                    return False
                self._chunk = piece.lstrip(b"\0")
            decoder = self._decoder = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        elif decoder.needs_input and not self._chunk:
            self._chunk = self._stream.read(_CHUNK)
            if not self._chunk:
                if self._begun:
                    raise EOFError
                return False
        self._begun = True
        chunk, self._chunk = self._chunk, b""
        self._ready = memoryview(decoder.decompress(chunk, max_length=BUFFER))
        return True


class Guarded(Source):
    """A stream that raises faults as errors of the input, with its name."""

    def __init__(self, stream: BinaryIO, source: str) -> None:
        self._stream = cast("io.BufferedIOBase", stream)
        self._source = source

    def readinto(self, target: WriteableBuffer) -> int:
        """Fill a buffer by one read of the stream; 0 at the end.

        :raises InputTruncated: the compressed data ends too early.
        :raises InputDamaged: it is damaged. :raises InputError: it cannot be read.
        """
        try:
            return self._stream.readinto(target)
        except EOFError:
            raise InputTruncated(
                "the compressed data ends in the middle",
                where=self._source,
                now="fetch the file again, or unpack what there is of it and ingest that",
            ) from None
        except (zlib.error, lzma.LZMAError, zstandard.ZstdError, gzip.BadGzipFile) as fault:
            raise InputDamaged(
                f"the compressed data is damaged: {fault}",
                where=self._source,
                now="fetch the file again",
            ) from None
        except OSError as fault:
            raise InputError(
                f"cannot be read: {fault.strerror or fault}",
                where=self._source,
                now="check the disk and who may read it, then run the same command again",
            ) from None


def _gzip(stream: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream, mode="rb"))


def _xz(stream: BinaryIO) -> BinaryIO:
    return _Xz(stream).buffered()


def _bz2(stream: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", bz2.BZ2File(stream))


def _zstd(stream: BinaryIO) -> BinaryIO:
    return _Zstd(stream).buffered()


_MAGIC: Final = MappingProxyType(
    {
        b"\x1f\x8b": _gzip,
        b"\xfd7zXZ\x00": _xz,
        b"\x28\xb5\x2f\xfd": _zstd,
        b"BZh": _bz2,
    }
)


def decompressor(head: bytes) -> Callable[[BinaryIO], BinaryIO] | None:
    """Return what unpacks a stream that begins with ``head``; None if it is not compressed."""
    for magic, unpack in _MAGIC.items():
        if head.startswith(magic):
            return unpack
    return None
