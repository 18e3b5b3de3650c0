"""The clock: when each revision happened, and what happened by a time; read block by block.

:mod:`.clock_build` builds the tables. This module splits them into blocks, which are stored in the
log and may be dropped and rebuilt. A query reads only the blocks that it needs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

import msgspec
import numpy as np
import zstandard

from ..errors import LogCorrupt
from ..events import NO_TIME
from ..kubernetes.units import SECOND_US
from .bounds import EVER, Remark
from .clock_build import END_KEY, ClockTables
from .event_columns import Int64s, distinct, pack_table, unpack_table

CLOCK_VERSION = 9
"""Version of the rules for building clocks; stored clocks of another version are not read."""

BLOCK_ROWS = 32_768

_INDEX, _REVISIONS, _LOOSE = 0, 1, 2
_DATED = ("revisions", "earliest", "latest", "estimates")
_UNDATED = ("keys", "positions", "loose_earliest", "loose_latest", "loose_estimates", "partners")

Load = Callable[[int, int], bytes]
"""Gives the bytes of a block by its part and number."""


class Unsure(msgspec.Struct, frozen=True):
    """Changes that may have come before or after a time: how many, and between which revisions."""

    count: int
    first: int
    last: int


class TimeSpan(msgspec.Struct, frozen=True):
    """Between which times something happened, and the best estimate; None if unknown."""

    earliest: int | None
    latest: int | None
    estimate: int | None


UNDATED = TimeSpan(None, None, None)
"""Nothing says when."""


def span_at(time: int) -> TimeSpan:
    """Return the bounds of a time that is known."""
    return TimeSpan(time, time, time)


def span_of_read(time: int) -> TimeSpan:
    """Return when an input was read or answered: the end of a second stands for the second."""
    whole = time % SECOND_US == SECOND_US - 1
    return TimeSpan(time + 1 - SECOND_US if whole else time, time, time)


class Figures(msgspec.Struct, frozen=True):
    """How exactly times are known.

    :param bounded: how many of the ``revisions`` have two bounds. :param median: the median of
        the distance between these, microseconds; None if there are none.
    """

    revisions: int
    bounded: int
    median: int | None


class Loose(msgspec.Struct, frozen=True, kw_only=True):
    """Events without revision, by their place among the revisions.

    :param keys: twice a revision, less one: just before it. :param partners: positions of the
        versions that they made, 0 if unknown.
    """

    keys: Int64s
    positions: Int64s
    estimates: Int64s
    partners: Int64s


class _Block(msgspec.Struct, array_like=True):
    """One block in the index: its rows, and first and last value of each rising column."""

    rows: int
    first: list[int]
    last: list[int]
    mark: int = 0


class _Index(msgspec.Struct, array_like=True):
    known: int
    dated: list[_Block]
    undated: list[_Block]
    remarks: list[Remark]
    vouched: int
    open_writes: int
    misread: tuple[int, ...] = ()


_ENCODE = msgspec.msgpack.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(_Index).decode


def encode_clock(
    tables: ClockTables, known: int, vouched: int = NO_TIME
) -> list[tuple[int, int, bytes]]:
    """Return the blocks of a clock: part, number and bytes of each.

    :param known: the position up to which the log was known. :param vouched: the latest time that
        any input reaches, also one that changes nothing.
    """
    dated = [getattr(tables, name) for name in _DATED]
    undated = [getattr(tables, name) for name in _UNDATED]
    remarks = list(tables.remarks)
    index = _Index(known, [], [], remarks, vouched, tables.open_writes, tables.misread)
    blocks: list[tuple[int, int, bytes]] = []
    sums = np.concatenate(([0], np.cumsum(_mixed(tables.keys, tables.positions, tables.partners))))
    for part, table, entries in (
        (_REVISIONS, dated, index.dated),
        (_LOOSE, undated, index.undated),
    ):
        for number, start in enumerate(range(0, len(table[0]), BLOCK_ROWS)):
            rows = np.array([column[start : start + BLOCK_ROWS] for column in table])
            rising = rows[: len(_DATED)] if part == _REVISIONS else rows[:1]
            assert (rising[:, 1:] >= rising[:, :-1]).all(), "a search needs columns that rise"
            blocks.append((part, number, pack_table(list(rows))))
            first, last = rows[:, 0].tolist(), rows[:, -1].tolist()
            mark = 0
            # Only the first column of these rises, so the others have least and greatest values
            # instead.
            if part == _LOOSE:
                first[1], last[1] = int(rows[1].min()), int(rows[1].max())
                versions = rows[5][rows[5] > 0]
                first[5], last[5] = int(versions.min(initial=EVER)), int(versions.max(initial=0))
                times = rows[4][rows[4] != NO_TIME]
                first[4] = int(times.min(initial=EVER))
                last[4] = int(times.max(initial=NO_TIME))
                mark = int(sums[start])
            entries.append(_Block(rows.shape[1], first, last, mark))
    return [(_INDEX, 0, _ENCODE(index)), *blocks]


def _mixed(keys: Int64s, positions: Int64s, partners: Int64s) -> Int64s:
    """Return hashes of places and partners; equal sums mean equal rows, almost certainly."""
    with np.errstate(over="ignore"):
        mixed = (keys * np.int64(0x9E3779B97F4A7C1)) ^ (positions * np.int64(0x2545F4914F6CDD1D))
        mixed ^= partners * np.int64(0x5851F42D4C957F2D)
        return np.asarray((mixed ^ (mixed >> np.int64(29))) * np.int64(0xBF58476D1CE4E5B))


class Clock:
    """A clock of one cluster on one branch.

    :param load: gives the bytes of a block.
    """

    def __init__(self, load: Load) -> None:
        try:
            self._index = _DECODE(load(_INDEX, 0))
        except msgspec.DecodeError as fault:
            raise _damaged(fault) from fault
        self._load = load
        self._table = lru_cache(maxsize=8)(self._read)
        dated = self._index.dated
        self._firsts = [[block.first[column] for block in dated] for column in range(len(_DATED))]
        self._before = list(accumulate((block.rows for block in dated), initial=0))

    @property
    def known(self) -> int:
        """The position up to which the log was known when the clock was built."""
        return self._index.known

    @property
    def remarks(self) -> Sequence[Remark]:
        """Clocks that disagree."""
        return self._index.remarks

    def first(self) -> int | None:
        """Return the first time of any evidence, microseconds; None if there is none."""
        times = [block.first[3] for block in self._index.dated if block.last[3] != NO_TIME]
        # The block begins before all evidence; its first time is further inside.
        if times and times[0] == NO_TIME:
            estimates = self._table(_REVISIONS, self._block_at(3, NO_TIME))[3]
            known = estimates[estimates != NO_TIME]
            times = [int(known[0])] if len(known) else []
        times = times[:1]
        times += [block.first[4] for block in self._index.undated if block.first[4] != EVER]
        return min(times, default=None)

    def span_of_first(self) -> TimeSpan:
        """Return between which times the event of :meth:`first` happened."""
        first = self.first()
        row = self._rows_until(3, NO_TIME)
        if row < self._before[-1]:
            span = _span(*self._dated(row)[1:])
            # An event without a revision may be the first: its time is known as one time only.
            if span.estimate == first:
                return span
        return UNDATED if first is None else span_at(first)

    def begins(self) -> int | None:
        """Return the earliest possible time of the first known event, microseconds.

        It is not later than :meth:`first`; None if no evidence has a time.
        """
        first = self.first()
        lows = [block.first[1] for block in self._index.dated[:1] if block.first[1] != NO_TIME]
        return None if first is None else min([first, *lows])

    def last(self) -> int | None:
        """Return the end of the log: the latest time that an input vouches for, microseconds.

        A list that shows nothing new, a read request or a line of a scheduler's log shows that the
        log goes on. None if there is no evidence of any change.
        """
        times = [block.last[3] for block in self._index.dated[-1:] if block.last[3] != NO_TIME]
        times += [block.last[4] for block in self._index.undated if block.last[4] != NO_TIME]
        return max(*times, self._index.vouched) if times else None

    def vouched(self) -> int | None:
        """Return the latest time at which an input was read, answered or written; None if unknown.

        Other than :meth:`last` it is never a stamp of an object.
        """
        return None if self._index.vouched == NO_TIME else self._index.vouched

    @property
    def open_writes(self) -> int:
        """How many accepted writes made no version that is known; some changed nothing."""
        return self._index.open_writes

    @property
    def misread(self) -> tuple[int, ...]:
        """The positions of versions of which tables read a field that cannot be decoded."""
        return self._index.misread

    def revision_at(self, time: int) -> int:
        """Return the last revision that had happened by a time, by the estimates; -1 if none had.

        The first revision counts if it may have happened: the log has nothing before it.

        :param time: microseconds since 1970 UTC.
        """
        row = self._rows_until(3, time)
        if not row and self._rows_until(1, time):
            row = 1  # The first may have happened by then; nothing is known before it.
        return self._dated(row - 1)[0] if row else -1

    def next_revision(self, revision: int) -> int | None:
        """Return the first revision after another; None if there is none."""
        row = self._rows_until(0, revision)
        return self._dated(row)[0] if row < self._before[-1] else None

    def unsure_at(self, time: int) -> Unsure | None:
        """Return the changes that may have come before or after a time; None if there are none.

        A list that was taken in a whole second shows all that it has at that second.
        """
        begun, over = self._rows_until(1, time), self._rows_until(2, time)
        if time % SECOND_US == 0:
            # What was written within that second, by its stamp, did not begin before it.
            taken = min(self._rows_until(1, time - 1), self._rows_until(2, time + SECOND_US - 1))
            over = max(over, taken)
        if begun <= over:
            return None
        return Unsure(begun - over, self._dated(over)[0], self._dated(begun - 1)[0])

    def spans(self, revisions: Sequence[int]) -> list[TimeSpan]:
        """Return between which times some revisions happened."""
        return [self._span(revision) for revision in revisions]

    def time_of(self, revision: int | None) -> int | None:
        """Return the estimate of a revision, or of the one before it; None is the last of all."""
        if revision is None:
            return self.last()
        row = self._rows_until(0, revision)
        estimate = self._dated(row - 1)[3] if row else NO_TIME
        return None if estimate == NO_TIME else estimate

    def span_of(self, revision: int | None) -> TimeSpan:
        """Return between which times a revision happened, or the one before it that is known.

        None is the last of all.
        """
        row = self._rows_until(0, EVER if revision is None else revision)
        return _span(*self._dated(row - 1)[1:]) if row else UNDATED

    def rising(self) -> Callable[[int], int | None]:
        """Return :meth:`time_of` for many revisions, most of them in ascending order: quicker."""
        number, revisions, estimates = -1, list[int](), list[int]()

        def time_of(revision: int) -> int | None:
            nonlocal number, revisions, estimates
            block = self._block_at(0, revision)
            if block < 0:
                return None
            if block != number:
                table = self._table(_REVISIONS, block)
                number, revisions, estimates = block, table[0].tolist(), table[3].tolist()
            estimate = estimates[bisect_right(revisions, revision) - 1]
            return None if estimate == NO_TIME else estimate

        return time_of

    def times_of(self, revisions: Sequence[int]) -> list[int | None]:
        """Return the estimates of revisions in any order, as :meth:`time_of` has them.

        They are looked for in ascending order, so that each block is read once.
        """
        times: list[int | None] = [None] * len(revisions)
        for place in sorted(range(len(revisions)), key=revisions.__getitem__):
            times[place] = self.time_of(revisions[place])
        return times

    def loose(self, after: int, until: int) -> Loose:
        """Return the events without revision that have keys in ``(after, until]``, in order."""
        parts = [
            self._table(_LOOSE, number)
            for number, block in enumerate(self._index.undated)
            if block.last[0] > after and block.first[0] <= until
        ]
        table = np.concatenate([np.empty((len(_UNDATED), 0), np.int64), *parts], axis=1)
        keep = (table[0] > after) & (table[0] <= until)
        return Loose(
            keys=table[0][keep],
            positions=table[1][keep],
            estimates=table[4][keep],
            partners=table[5][keep],
        )

    def loose_spans(self, positions: Sequence[int]) -> dict[int, tuple[TimeSpan, int]]:
        """Return the times of events without revision, and the position of the version they made.

        The position is 0 if unknown. Events with a revision are left out.
        """
        return {
            position: (_span(low, EVER if high == NO_TIME else high, own), partner)
            for _, position, low, high, own, partner in self._loose_rows(positions)
        }

    def loose_keys(self, positions: Sequence[int]) -> dict[int, int]:
        """Return the places of events without revision among twice the revisions.

        Events with a revision, and those that the fold does not count, are left out.
        """
        return {position: key for key, position, *_ in self._loose_rows(positions)}

    def _loose_rows(self, positions: Sequence[int]) -> Iterator[list[int]]:
        """Yield the rows of some events without revision."""
        wanted = distinct(np.array(positions, np.int64))
        for number, block in enumerate(self._index.undated):
            if not len(wanted) or block.last[1] < wanted[0] or block.first[1] > wanted[-1]:
                continue
            table = self._table(_LOOSE, number)
            for row in np.flatnonzero(np.isin(table[1], wanted)).tolist():
                yield table[:, row].tolist()

    def figures(self) -> Figures:
        """Return how exactly the times of all revisions are known."""
        rows = sum(block.rows for block in self._index.dated)
        widths, count = np.empty(rows, np.int64), 0  # One array: a log may have millions.
        for number in range(len(self._index.dated)):
            _, low, high, _ = self._table(_REVISIONS, number)
            both = (low != NO_TIME) & (high != EVER)
            spread = high[both] - low[both]
            widths[count : count + len(spread)] = spread
            count += len(spread)
        median = int(np.median(widths[:count], overwrite_input=True)) if count else None
        return Figures(rows, count, median)

    def requests_of(self, positions: Sequence[int]) -> dict[int, int]:
        """Return the positions of the requests that made some versions, by those of the versions.

        Versions without a known request are left out.
        """
        wanted = distinct(np.array(positions, np.int64))
        requests: dict[int, int] = {}
        for number, block in enumerate(self._index.undated):
            if not len(wanted) or block.last[5] < wanted[0] or block.first[5] > wanted[-1]:
                continue
            table = self._table(_LOOSE, number)
            rows = np.flatnonzero(np.isin(table[5], wanted))
            requests |= zip(table[5][rows].tolist(), table[1][rows].tolist(), strict=True)
        return requests

    def mark(self, until: int) -> int:
        """Return a hash of the places of all events with keys up to ``until``.

        Two clocks that place them equally give the same number.
        """
        number = bisect_right([block.first[0] for block in self._index.undated], until) - 1
        if number < 0:
            return 0
        table = self._table(_LOOSE, number)
        rows = table[:, : int(np.searchsorted(table[0], until, side="right"))]
        mixed = _mixed(rows[0], rows[1], rows[5])
        return (self._index.undated[number].mark + int(mixed.sum())) & (2**63 - 1)

    def _span(self, revision: int) -> TimeSpan:
        row = self._rows_until(0, revision)
        if not row:
            return UNDATED
        last, low, high, estimate = self._dated(row - 1)
        if last != revision:
            return UNDATED
        return _span(low, high, estimate)

    def _rows_until(self, column: int, value: int) -> int:
        """Return how many revisions have at most a value in a rising column."""
        number = self._block_at(column, value)
        if number < 0:
            return 0
        table = self._table(_REVISIONS, number)[column]
        return self._before[number] + int(np.searchsorted(table, value, side="right"))

    def _block_at(self, column: int, value: int) -> int:
        """Return the last block that begins with at most a value; -1 if none does."""
        return bisect_right(self._firsts[column], value) - 1

    def _dated(self, row: int) -> list[int]:
        number, row = divmod(row, BLOCK_ROWS)
        values: list[int] = self._table(_REVISIONS, number)[:, row].tolist()
        return values

    def _read(self, part: int, number: int) -> Int64s:
        try:
            return unpack_table(
                self._load(part, number), len(_DATED if part == _REVISIONS else _UNDATED)
            )
        except (ValueError, zstandard.ZstdError) as fault:
            raise _damaged(fault) from fault


def _span(low: int, high: int, estimate: int) -> TimeSpan:
    return TimeSpan(
        None if low == NO_TIME else low,
        None if high == EVER else high,
        None if estimate == NO_TIME else estimate,
    )


def _damaged(fault: Exception) -> LogCorrupt:
    return LogCorrupt(
        f"a block of the clock cannot be read ({fault})",
        position=0,
        where="table clock_block",
        now="the log itself is not damaged: plinian checkpoint drop, then build",
    )


__all__ = [
    "BLOCK_ROWS",
    "CLOCK_VERSION",
    "END_KEY",
    "Clock",
    "Figures",
    "Loose",
    "TimeSpan",
    "Unsure",
]
