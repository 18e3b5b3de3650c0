"""Stored payloads: blocks of several, raw or as zstd with the log's dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from threading import Lock

import msgspec
import zstandard

from ..errors import LogCorrupt

RAW = 0
"""Codec: the payloads as they are."""

ZSTD = 1
"""Codec: one zstd frame, with the dictionary of the row's ``dictionary_id`` (none if null)."""

BLOCK_EVENTS = 16
"""Payloads in a block at most: what a read of one payload decompresses."""

BLOCK_BYTES = 1 << 18
"""A block ends with the payload at which it reaches this size."""

LEVEL = 1
LARGEST = 1 << 30
"""A block or dictionary with a larger stated size is damaged."""

_SIZES = msgspec.msgpack.Encoder()
_SIZES_OF = msgspec.msgpack.Decoder(list[int])


class Block(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A row of ``payload_block``: the payloads of positions ``first`` to ``last``, inclusive."""

    first: int
    last: int
    codec: int
    dictionary_id: int | None
    sizes: bytes
    data: bytes


def block_ends(sizes: Sequence[int]) -> list[int]:
    """Return where the blocks of a batch end, as indices after their last payloads.

    :param sizes: bytes of each payload of the batch.
    """
    ends: list[int] = []
    events = total = 0
    for index, size in enumerate(sizes, 1):
        events += 1
        total += size
        if events == BLOCK_EVENTS or total >= BLOCK_BYTES:
            ends.append(index)
            events = total = 0
    if events:
        ends.append(len(sizes))
    return ends


def packed_dictionary() -> bytes:
    """Return the dictionary that new logs start with, trained on real Kubernetes objects.

    It is in the stored form: a zstd frame.
    """
    from importlib.resources import files  # noqa: PLC0415 -- only new logs need it

    return (files(__package__) / "kubernetes.zdict.zst").read_bytes()


def _unpacked_dictionary(number: int, data: bytes) -> zstandard.ZstdCompressionDict:
    try:
        plain = zstandard.ZstdDecompressor().decompress(data, max_output_size=LARGEST)
    except zstandard.ZstdError as fault:
        raise LogCorrupt(
            f"dictionary {number} cannot be read ({fault})",
            position=1,
            where="table dictionary",
            now="restore a copy of the log, or ingest the inputs again into a new one",
        ) from fault
    return zstandard.ZstdCompressionDict(plain)


class Packer:
    """Compresses with one dictionary, decompresses with any of the log's."""

    def __init__(self, dictionaries: Mapping[int, bytes]) -> None:
        prepared = {
            number: _unpacked_dictionary(number, data) for number, data in dictionaries.items()
        }
        self.newest: int | None = max(prepared, default=None)
        """Id of the dictionary for compression."""
        newest = prepared.get(self.newest) if self.newest is not None else None
        if newest is not None:
            newest.precompute_compress(level=LEVEL)
        self._compressor = zstandard.ZstdCompressor(
            level=LEVEL, dict_data=newest, write_dict_id=False
        )
        self._decompressors: dict[int | None, zstandard.ZstdDecompressor] = {
            number: zstandard.ZstdDecompressor(dict_data=data) for number, data in prepared.items()
        }
        self._decompressors[None] = zstandard.ZstdDecompressor()
        self._turns = Lock()

    def pack(self, first: int, sizes: Sequence[int], payloads: bytes) -> Block:
        """Return the block of payloads that begin at a position.

        :param payloads: all of them, joined; compressed only where that makes them shorter.
        """
        packed = self._compressor.compress(payloads)
        last = first + len(sizes) - 1
        if len(packed) < len(payloads):
            return Block(first, last, ZSTD, self.newest, _SIZES.encode(sizes), packed)
        return Block(first, last, RAW, None, _SIZES.encode(sizes), payloads)

    def unpack(self, block: Block) -> tuple[list[int], bytes]:
        """Return the size of each payload of a block, and all of them, joined.

        :raises ValueError: the codec or dictionary is unknown, or the bytes are damaged.
        """
        try:
            sizes = _SIZES_OF.decode(block.sizes)
        except (msgspec.DecodeError, msgspec.ValidationError) as fault:
            raise ValueError(f"the sizes of the payloads cannot be read: {fault}") from fault
        whole = sum(sizes)
        if len(sizes) != block.last - block.first + 1 or min(sizes) < 0 or whole > LARGEST:
            raise ValueError("the payloads do not have the stored sizes")
        payloads = self._plain(block, whole)
        if len(payloads) != whole:
            raise ValueError("the payloads do not have the stored sizes")
        return sizes, payloads

    def _plain(self, block: Block, whole: int) -> bytes:
        if block.codec == RAW:
            return block.data
        if block.codec != ZSTD:
            raise ValueError(f"codec {block.codec} is unknown")
        try:
            # The frame states its size, and damage must not make it allocate all memory.
            if zstandard.frame_content_size(block.data) != whole:
                raise ValueError("the payloads do not have the stored sizes")
            with self._turns:  # Threads may share a log, but not a decompressor.
                return self._decompressors[block.dictionary_id].decompress(block.data)
        except KeyError:
            raise ValueError(f"dictionary {block.dictionary_id} is not in the log") from None
        except zstandard.ZstdError as fault:
            raise ValueError(f"the payloads cannot be decompressed: {fault}") from fault


def cut(sizes: Sequence[int], payloads: bytes) -> list[bytes]:
    """Return the payloads of a block one by one."""
    ends = list(accumulate(sizes))
    return [payloads[end - size : end] for size, end in zip(sizes, ends, strict=True)]
