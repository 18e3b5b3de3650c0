"""Payload bytes as they are stored: zstd with the log's dictionary, or raw where shorter."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import zstandard

from ..errors import LogCorrupt

RAW = 0
"""Codec: the payload as it is."""

ZSTD = 1
"""Codec: one zstd frame, with the dictionary of the row's ``dictionary_id`` (none if null)."""

LEVEL = 3
LARGEST = 1 << 30
"""A payload that claims to be larger than this when decompressed is damage, not data."""


def shipped_dictionary() -> bytes:
    """Return the dictionary that new logs start with, trained on real Kubernetes objects."""
    return (files(__package__) / "kubernetes.zdict").read_bytes()


def packed_dictionary(dictionary: bytes) -> bytes:
    """Return a dictionary as a log keeps it: in a zstd frame, a seventh of its size."""
    return zstandard.ZstdCompressor(level=19, write_checksum=True).compress(dictionary)


def _unpacked_dictionary(number: int, data: bytes) -> zstandard.ZstdCompressionDict:
    """Return a dictionary of a log; it is in a frame, or plain as logs first kept it."""
    if data.startswith(zstandard.FRAME_HEADER):
        try:
            data = zstandard.ZstdDecompressor().decompress(data, max_output_size=LARGEST)
        except zstandard.ZstdError as fault:
            raise LogCorrupt(
                f"dictionary {number} cannot be read ({fault})",
                position=1,
                where="table dictionary",
                now="restore a copy of the log, or ingest the inputs again into a new one",
            ) from fault
    return zstandard.ZstdCompressionDict(data)


class Packer:
    """Compresses with one dictionary, decompresses with any of the log's."""

    def __init__(self, dictionaries: Mapping[int, bytes]) -> None:
        prepared = {
            number: _unpacked_dictionary(number, data) for number, data in dictionaries.items()
        }
        self.newest: int | None = max(prepared, default=None)
        """Id of the dictionary that is compressed with."""
        newest = prepared.get(self.newest) if self.newest is not None else None
        if newest is not None:
            newest.precompute_compress(level=LEVEL)
        self._compressor = zstandard.ZstdCompressor(
            level=LEVEL, dict_data=newest, write_dict_id=False
        )
        self._decompressors = {
            number: zstandard.ZstdDecompressor(dict_data=data) for number, data in prepared.items()
        }
        self._plain = zstandard.ZstdDecompressor()

    def pack(self, payload: bytes) -> tuple[int, int | None, bytes]:
        """Return (codec, dictionary id, stored bytes) of a payload."""
        packed = self._compressor.compress(payload)
        if len(packed) < len(payload):
            return ZSTD, self.newest, packed
        return RAW, None, payload

    def unpack(self, codec: int, dictionary_id: int | None, stored: bytes) -> bytes:
        """Return the payload of a row.

        :raises ValueError: the codec or dictionary is unknown, or the bytes are damaged.
        """
        if codec == RAW:
            return stored
        if codec != ZSTD:
            raise ValueError(f"codec {codec} is unknown")
        try:
            if dictionary_id is None:
                return self._plain.decompress(stored)
            return self._decompressors[dictionary_id].decompress(stored)
        except KeyError:
            raise ValueError(f"dictionary {dictionary_id} is not in the log") from None
        except zstandard.ZstdError as fault:
            raise ValueError(f"the payload cannot be decompressed: {fault}") from fault
