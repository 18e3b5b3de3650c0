"""Payloads by position: reads blocks of many payloads, and decompresses each once."""

# ruff: noqa: S608 -- SQL is put together from our own constants; values are always bound
from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import itemgetter

import msgspec

from ..errors import LogCorrupt
from .database import Database, Row
from .event_packing import BLOCK_BYTES, BLOCK_EVENTS, Block, Packer

AT_ONCE = 1000
"""Payloads whose compressed blocks are in memory at a time."""

_KEPT = 16
"""Blocks that stay decompressed for reads of one payload after the other: 4 MiB."""

COLUMNS = "p.first, p.last, p.codec, p.dictionary_id, p.sizes, p.data"
"""Columns of ``payload_block p`` for :func:`block_of`."""


def block_of(row: Row) -> Block:
    """Return a row as a block.

    :raises ValueError: its values are of other types.
    """
    return msgspec.convert(row, Block)


class Opened(msgspec.Struct, frozen=True, gc=False):
    """A decompressed block: its payload *i* is from ``starts[i]`` to ``starts[i + 1]``."""

    first: int
    last: int
    starts: list[int]
    payloads: bytes

    def payload(self, position: int) -> bytes:
        """Return the payload of a position in the block."""
        index = position - self.first
        return self.payloads[self.starts[index] : self.starts[index + 1]]


_NONE = Opened(1, 0, [], b"")


class Payloads:
    """Reads the payloads of one log."""

    def __init__(self, database: Database, packer: Packer) -> None:
        self._database = database
        self._packer = packer
        self._kept: OrderedDict[tuple[int, int], Opened] = OrderedDict()

    def one(self, branch_id: int, position: int) -> bytes:
        """Return one payload of a branch's own events; the last few blocks are cached.

        :raises LogCorrupt: it is missing or cannot be read.
        """
        for (branch, first), block in self._kept.items():
            if branch == branch_id and first <= position <= block.last:
                self._kept.move_to_end((branch, first))
                return block.payload(position)
        block = self.opened(self.blocks(branch_id, [position]), position)
        # A block of one large payload would keep too much memory.
        if len(block.payloads) <= 2 * BLOCK_BYTES:
            self._kept[branch_id, block.first] = block
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return block.payload(position)

    def at(self, branch_id: int, positions: Sequence[int]) -> PayloadsAt:
        """Return a loader of the payloads of these positions, in rising or falling order."""
        return PayloadsAt(self, branch_id, positions)

    def opened(self, rows: Sequence[Row], position: int) -> Opened:
        """Return the block that holds a position, out of rows with rising positions.

        :raises LogCorrupt: it is missing or cannot be read.
        """
        index = bisect_right(rows, position, key=itemgetter(0)) - 1
        if index < 0 or rows[index][1] < position:
            raise _damage("the payload is missing", position)
        try:
            block = block_of(rows[index])
            sizes, payloads = self._packer.unpack(block)
        except ValueError as fault:
            raise _damage(str(fault), position) from fault
        return Opened(block.first, block.last, list(accumulate(sizes, initial=0)), payloads)

    def blocks(self, branch_id: int, positions: Sequence[int]) -> list[Row]:
        """Return the blocks that hold some positions, given in rising order."""
        low, high = positions[0], positions[-1]
        begin = "(SELECT max(b.first) FROM payload_block b WHERE b.branch_id = ? AND b.first <= {})"
        # If most blocks in between are needed, one scan is cheaper than a search for each.
        if high - low < 2 * BLOCK_EVENTS * len(positions):
            return self._database.rows(
                f"SELECT {COLUMNS} FROM payload_block p WHERE p.branch_id = ?"
                f" AND p.first >= {begin.format('?')} AND p.first <= ? ORDER BY p.first",
                (branch_id, branch_id, low, high),
            )
        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM (SELECT DISTINCT {begin.format('k.value')} AS first"
            f" FROM {self._database.table_of('k')}) AS w"
            " JOIN payload_block p ON p.branch_id = ? AND p.first = w.first",
            (branch_id, self._database.listed(positions), branch_id),
        )
        return sorted(rows, key=itemgetter(0))  # The database would carry all of a row about.


class PayloadsAt:
    """Loads payloads of some positions of a branch's own events.

    Blocks are read for many positions at a time; one of them stays decompressed, so that reading
    positions in order decompresses each block once.
    """

    def __init__(self, payloads: Payloads, branch_id: int, positions: Sequence[int]) -> None:
        self._payloads = payloads
        self._branch_id = branch_id
        self._positions = positions
        self._page = -1
        self._rows: list[Row] = []
        self._open = _NONE

    def __call__(self, index: int) -> bytes:
        """Return the payload of one of the positions.

        :raises LogCorrupt: it is missing or cannot be read.
        """
        position = self._positions[index]
        if not self._open.first <= position <= self._open.last:
            page = index // AT_ONCE
            if page != self._page:
                page_positions = sorted(self._positions[page * AT_ONCE : (page + 1) * AT_ONCE])
                self._page, self._rows = (
                    page,
                    self._payloads.blocks(self._branch_id, page_positions),
                )
            self._open = self._payloads.opened(self._rows, position)
        return self._open.payload(position)

    def __iter__(self) -> Iterator[bytes]:
        for index, position in enumerate(self._positions):
            block = self._open
            if block.first <= position <= block.last:
                yield block.payload(position)
            else:
                yield self(index)


def _damage(what: str, position: int) -> LogCorrupt:
    now = "restore a copy, or ingest the inputs again into a new log"
    return LogCorrupt(what, position=position, now=now)
