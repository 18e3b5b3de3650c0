"""Events in columns: the input of a fold, from the log or from the fact sidecar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import zstandard

from ..errors import LogCorrupt
from . import facts

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]

NO_ORIGIN = -1
"""The fact of this row is not in a block; it must come from the event's payload."""

_ROW_BITS = 24
_ROW_MASK = (1 << _ROW_BITS) - 1

_FIELDS = ("positions", "effects", "objects", "revisions")
_TIMES = ("earliest", "latest", "created", "marks", "sources")


class EventColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of events with an effect on truth; all arrays have one length.

    :param revisions: -1 if there is none.
    :param origins: where each row's fact is: block number and row in it, or NO_ORIGIN.
    """

    positions: Int64s
    effects: Int64s
    objects: Int64s
    revisions: Int64s
    origins: Int64s

    def __len__(self) -> int:
        return len(self.positions)

    def select(self, rows: npt.NDArray[np.bool_] | Int64s) -> EventColumns:
        """Return the rows chosen by a mask or by indices, in that order."""
        return EventColumns(
            positions=self.positions[rows],
            effects=self.effects[rows],
            objects=self.objects[rows],
            revisions=self.revisions[rows],
            origins=self.origins[rows],
        )

    def without(self, positions: Sequence[int]) -> EventColumns:
        """Return the rows except those at some positions."""
        return self.select(~np.isin(self.positions, positions))


def concatenate(parts: Sequence[EventColumns]) -> EventColumns:
    """Return all rows of several columns, one part after the other."""
    if not parts:
        empty = np.empty(0, np.int64)
        return EventColumns(
            positions=empty, effects=empty, objects=empty, revisions=empty, origins=empty
        )
    return EventColumns(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS},
        origins=np.concatenate([part.origins for part in parts]),
    )


class EventTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The times of the same rows: evidence for the clock (:mod:`.clock`).

    :param earliest: and ``latest``: microseconds, ``NO_TIME`` where unknown.
    :param created: a version's creationTimestamp.
    :param marks: what a version shows, or the type of a request: bits of :class:`.marks.Mark`.
    :param sources: the store's ids of the inputs.
    """

    earliest: Int64s
    latest: Int64s
    created: Int64s
    marks: Int64s
    sources: Int64s

    def __len__(self) -> int:
        return len(self.earliest)

    def select(self, rows: npt.NDArray[np.bool_] | Int64s) -> EventTimes:
        """Return the rows chosen by a mask or by indices, in that order."""
        return EventTimes(**{name: getattr(self, name)[rows] for name in _TIMES})


def no_times() -> EventTimes:
    """Return a table of no rows."""
    return EventTimes(**{name: np.empty(0, np.int64) for name in _TIMES})


_COMPACT: Mapping[str, type[np.signedinteger[Any]]] = MappingProxyType(
    {
        "effects": np.int8,
        "objects": np.int32,
        "marks": np.int16,
        "sources": np.int32,
    }
)
"""Types of the columns of a whole log; small numbers need less memory."""


class Gathered:
    """Columns and times of a whole log while they are read, in little memory."""

    def __init__(self) -> None:
        # A bytearray grows in place; joining arrays at the end would need twice the memory.
        self._bytes = {name: bytearray() for name in (*_FIELDS, *_TIMES)}

    def add(self, columns: EventColumns, times: EventTimes) -> None:
        """Add rows."""
        assert len(columns) == len(times), "each row has its times"
        for holder, names in ((columns, _FIELDS), (times, _TIMES)):
            for name in names:
                values = np.ascontiguousarray(getattr(holder, name), _COMPACT.get(name, np.int64))
                self._bytes[name] += values.view(np.uint8).data

    def whole(self) -> tuple[EventColumns, EventTimes]:
        """Return all rows, without copying them. They have no origins."""
        arrays = {
            name: np.frombuffer(gathered, _COMPACT.get(name, np.int64))
            for name, gathered in self._bytes.items()
        }
        columns = {name: arrays[name] for name in _FIELDS}
        times = {name: arrays[name] for name in _TIMES}
        return EventColumns(**columns, origins=np.empty(0, np.int64)), EventTimes(**times)


def origin_of(block: int, rows: int) -> Int64s:
    """Return the origins of all rows of a block, the ``block``-th that a fold reads."""
    return (np.int64(block) << _ROW_BITS) | np.arange(rows, dtype=np.int64)


def split_origin(origin: int) -> tuple[int, int]:
    """Return block number and row of an origin."""
    return origin >> _ROW_BITS, origin & _ROW_MASK


class _Block(msgspec.Struct, array_like=True):
    rows: int
    columns: bytes
    times: bytes
    facts: bytes


_ENCODE = msgspec.msgpack.Encoder()
_DECODE_BLOCK = msgspec.msgpack.Decoder(_Block)
_DECODE_RAWS = msgspec.msgpack.Decoder(list[msgspec.Raw])
_DECODE_FACT: msgspec.msgpack.Decoder[facts.Fact] = msgspec.msgpack.Decoder(facts.Fact)


def encode_block(
    columns: EventColumns, times: EventTimes, block_facts: Sequence[facts.Fact | None]
) -> bytes:
    """Return the bytes of a sidecar block: columns, times, and a fact (or nil) for each row.

    Integers are little-endian differences from row to row, which compress to almost nothing.
    """
    assert len(columns) == len(times) == len(block_facts) <= _ROW_MASK, (
        "each row has its times and its fact, and its number fits into an origin"
    )
    block = _Block(
        len(columns),
        pack_table([getattr(columns, name) for name in _FIELDS]),
        pack_table([getattr(times, name) for name in _TIMES]),
        zstandard.ZstdCompressor(level=3).compress(_ENCODE.encode(list(block_facts))),
    )
    return _ENCODE.encode(block)


def decode_times(data: bytes) -> tuple[EventColumns, EventTimes]:
    """Return the columns and the times of a sidecar block, without its facts.

    :raises LogCorrupt: the bytes are not a block; the sidecar must be dropped and rebuilt.
    """
    block = _decoded(data)
    table = _table(block.columns, len(_FIELDS), block.rows)
    times = _table(block.times, len(_TIMES), block.rows)
    origins = np.full(block.rows, NO_ORIGIN, np.int64)
    return (
        EventColumns(**dict(zip(_FIELDS, table, strict=True)), origins=origins),
        EventTimes(**dict(zip(_TIMES, times, strict=True))),
    )


def pack_table(columns: Sequence[Int64s]) -> bytes:
    """Return columns of equal length as compressed differences from row to row."""
    packed = b"".join(
        np.diff(column, prepend=np.int64(0)).astype("<i8").tobytes() for column in columns
    )
    return zstandard.ZstdCompressor(level=3).compress(packed)


def unpack_table(data: bytes, columns: int) -> Int64s:
    """Return the table that :func:`pack_table` packed: an array of ``columns`` rows.

    :raises ValueError: the bytes are not such a table. :raises zstandard.ZstdError: likewise.
    """
    packed = zstandard.ZstdDecompressor().decompress(data)
    table = np.frombuffer(packed, "<i8").astype(np.int64).reshape(columns, -1)
    return np.cumsum(table, axis=1)


def _table(data: bytes, columns: int, rows: int) -> Int64s:
    try:
        table = unpack_table(data, columns)
    except (zstandard.ZstdError, ValueError) as fault:
        raise _damaged(fault) from fault
    if table.shape[1] != rows:
        raise _damaged(ValueError(f"{table.shape[1]} rows instead of {rows}"))
    return table


def _decoded(data: bytes) -> _Block:
    try:
        return _DECODE_BLOCK.decode(data)
    except msgspec.DecodeError as fault:
        raise _damaged(fault) from fault


class BlockReader:
    """The sidecar blocks that one fold has read; decodes the facts of a block on demand."""

    def __init__(self) -> None:
        self._facts: list[bytes] = []

    def add(self, data: bytes) -> EventColumns:
        """Add a block and return its columns, with origins that point to it.

        :raises LogCorrupt: the bytes are not a block; the sidecar must be dropped and rebuilt.
        """
        block = _decoded(data)
        table = _table(block.columns, len(_FIELDS), block.rows)
        number = len(self._facts)
        self._facts.append(block.facts)
        return EventColumns(
            **dict(zip(_FIELDS, table, strict=True)), origins=origin_of(number, block.rows)
        )

    def raw_facts(self, origins: Sequence[int]) -> list[bytes]:
        """Return the facts at some origins, still encoded, in their order.

        Every block is decompressed once, in any order of origins.
        """
        raws = [b""] * len(origins)
        rows: Sequence[msgspec.Raw] = ()
        opened = -1
        for index in sorted(range(len(origins)), key=origins.__getitem__):
            number, row = split_origin(origins[index])
            if number != opened:
                rows, opened = self._open(number), number
            raws[index] = bytes(rows[row])
        return raws

    def _open(self, number: int) -> list[msgspec.Raw]:
        try:
            return _DECODE_RAWS.decode(zstandard.ZstdDecompressor().decompress(self._facts[number]))
        except (msgspec.DecodeError, zstandard.ZstdError) as fault:
            raise _damaged(fault) from fault


def _damaged(fault: Exception) -> LogCorrupt:
    return LogCorrupt(
        f"a block of the fact sidecar cannot be read ({fault})",
        position=0,
        where="table fact_block",
        now="the log itself is not damaged: plinian checkpoint drop, then build",
    )


def decode_fact(raw: bytes) -> facts.Fact:
    """Return a fact from its msgpack bytes."""
    return _DECODE_FACT.decode(raw)


def encode_fact(fact: facts.Fact) -> bytes:
    """Return a fact's msgpack bytes."""
    return _ENCODE.encode(fact)


def distinct(numbers: Int64s) -> Int64s:
    """Return sorted numbers without repetitions, as np.unique, which loads much that is not needed.

    That is ``numpy.ma``, a tenth of the start of a command.
    """
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]
