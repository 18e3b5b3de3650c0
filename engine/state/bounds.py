"""Between which times each revision happened, from the evidence of all sources; pure.

The rules are explained in ``docs/clock.md``. In short: revisions are ordered, so each happened
after all before it. Sources whose clocks disagree are found and reported; the order of revisions
never changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
import numpy as np
import numpy.typing as npt

from ..events import NO_TIME
from ..kubernetes.units import SECOND_US, format_age
from .event_columns import Int32s, Int64s

Mask = npt.NDArray[np.bool_]

EVER = 2**63 - 1
"""In columns of times: there is no latest time."""

TOLERANCE_US = 2 * SECOND_US
"""Disagreements below this are not reported: stamps of Kubernetes are in whole seconds."""

_MINUTE_US = 60 * SECOND_US
_LONGEST_WRITE_US = 60 * SECOND_US
"""Timeout of requests in the API server."""

_MOST = 2
"""One of so many stamps may be later than all later evidence; if more are, the stamps are right."""

_PART_ROWS = 65_536

_FEW = 3
"""So many contradictions may be accidental; more mean that a clock is wrong."""


class TimeEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Pieces of evidence, sorted by ``places``.

    :param places: index of the revision of each. :param audited: both times come from the API
        server's audit log. :param created: it was the creation of an object; unlike an update, that
        always changes something.
    :param floors: the earliest time is of another event, which came before it.
    :param seen: the latest time is that of a list; the write may have been long before.
    """

    places: Int32s
    earliest: Int64s
    latest: Int64s
    audited: Mask
    created: Mask
    floors: Mask
    seen: Mask
    sources: Int64s


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """Clocks that disagree.

    :param source: id of the input. :param other: of the input that it disagrees with, -1 for all.
    :param amount: the greatest difference, microseconds. :param count: of contradictions.
    :param what: the correction: ``widened``, ``shifted``, ``ignored``.
    :param name: of the input, where the id is not known.
    """

    what: str
    source: int
    other: int = -1
    amount: int
    count: int
    name: str = ""

    def text(self, names: Mapping[int, str]) -> str:
        """Return the remark as a sentence.

        :param names: of sources, by id.
        """
        name = self.name or names.get(self.source, "an input")
        by = format_age(self.amount)
        match self.what:
            case "widened":
                other = names.get(self.other, "an input")
                who = (
                    f"the clock of {name} steps" if name == other else f"{name} and {other}: clocks"
                )
                verb = "" if name == other else " differ"
                return f"{who}{verb} by up to {by}; all audited times are given with this tolerance"
            case "shifted":
                return (
                    f"{name}: the clock of the receiver is behind the API server by up to {by};"
                    " its times are given with this tolerance"
                )
            case _:
                times = (
                    "1 time contradicts" if self.count == 1 else f"{self.count} times contradict"
                )
                return f"{name}: {times} the other evidence, by up to {by}: not used"


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """For each revision, in order: bounds that never fall from one to the next.

    :param likely: its most likely time, by its own evidence; ``EVER`` if there is none.
    """

    earliest: Int64s
    latest: Int64s
    likely: Int64s
    remarks: tuple[Remark, ...] = ()


def bounds_of(count: int, evidence: TimeEvidence) -> Bounds:
    """Return the bounds of ``count`` revisions, from evidence about them."""
    weighing = _Weighing(count, evidence)
    weighing.widen_audits()
    weighing.drop_writes_without_effect()
    weighing.drop_impossible_stamps()
    earliest = weighing.lowers()
    weighing.mend_received_times(earliest)
    weighing.loosen_stamps(earliest)
    latest, likely = weighing.uppers(), weighing.likely()
    assert len(earliest) == len(latest) == len(likely) == count, "one of each for each revision"
    return Bounds(
        earliest=earliest,
        latest=latest,
        likely=likely,
        remarks=tuple(weighing.remarks),
    )


def estimates_of(bounds: Bounds) -> Int64s:
    """Return one time for each revision, within its bounds, that never falls.

    It is the likely one, else the middle of the bounds, else the only known bound; before all
    evidence ``NO_TIME``.
    """
    estimates = np.empty(len(bounds.earliest), np.int64)
    for part in _parts(len(estimates)):
        low, high, likely = bounds.earliest[part], bounds.latest[part], bounds.likely[part]
        half = (np.where(high == EVER, low, high) - low) // 2
        # If only a person's word to the second is known, it is that second, not its end.
        as_written = np.where((high + 1) % SECOND_US == 0, high - (SECOND_US - 1), high)
        middle = np.where(low == NO_TIME, as_written, low + half)
        middle = np.where(middle == EVER, NO_TIME, middle)
        within = np.maximum(np.minimum(likely, high), low)
        # A stamp before the lower bound is of an earlier write.
        of_another = (likely == EVER) | (likely < low - SECOND_US)
        estimates[part] = np.where(of_another, middle, within)
    return np.maximum.accumulate(estimates, out=estimates)


def _parts(rows: int) -> Iterator[slice]:
    """Split rows into parts, so that intermediate results need little memory."""
    return (slice(start, start + _PART_ROWS) for start in range(0, rows, _PART_ROWS))


class _Weighing:
    """Compares pieces of evidence with each other.

    The columns are as long as the log, and each takes some percent of the memory for building a
    clock. So wrong rows are stored as indices, and calculations are done in parts.
    """

    def __init__(self, count: int, evidence: TimeEvidence) -> None:
        self.remarks: list[Remark] = []
        self._count = count
        self._evidence = evidence
        self._places = evidence.places
        self._earliest = evidence.earliest.copy()
        self._latest = evidence.latest.copy()
        self._latest[self._latest == NO_TIME] = EVER
        self._stamped, self._received = self._sorts()
        first = np.ones(len(self._places), np.bool_)
        first[1:] = self._places[1:] != self._places[:-1]
        # None: each revision has exactly one piece, so columns need no grouping.
        self._starts = None if len(first) == count and first.all() else np.flatnonzero(first)

    def _sorts(self) -> tuple[Mask, Mask]:
        """Decide which upper bounds are ends of a stamp's second, and which are from receivers."""
        stamped = np.empty(len(self._places), np.bool_)
        received = np.empty(len(self._places), np.bool_)
        for part in _parts(len(self._places)):
            soft = ~self._evidence.audited[part] & (self._latest[part] != EVER)
            written = soft & ~self._evidence.seen[part]
            stamped[part] = written & ((self._latest[part] + 1) % SECOND_US == 0)
            received[part] = soft & ~stamped[part]
        return stamped, received

    def widen_audits(self) -> None:
        """Give audited times the tolerance by which the clocks of API servers disagree.

        Of two audited creations, the request of the one with the lower revision cannot have come
        after the answer to the other.
        """
        created = self._evidence.audited & self._evidence.created
        limits = self.uppers(created)
        rows = self._above(created, limits)
        if not len(rows):
            return
        gaps = self._earliest[rows] - limits[self._places[rows]]
        widest, row = int(gaps.max()), int(rows[gaps.argmax()])
        limit = limits[self._places[row]]
        later = created & (self._places >= self._places[row]) & (self._latest == limit)
        self.remarks.append(
            Remark(
                what="widened",
                source=int(self._evidence.sources[row]),
                other=int(self._evidence.sources[np.flatnonzero(later)[0]]),
                amount=widest,
                count=len(rows),
            )
        )
        audited = self._evidence.audited
        self._earliest[audited & (self._earliest != NO_TIME)] -= widest
        self._latest[audited & (self._latest != EVER)] += widest

    def drop_writes_without_effect(self) -> None:
        """Ignore the request times of writes that changed nothing.

        Their answer is the version that existed before, which is older.
        """
        audited = self._evidence.audited
        self._earliest[self._above(audited, self.uppers(audited))] = NO_TIME

    def drop_impossible_stamps(self) -> None:
        """Ignore stamps that audited times, or all later evidence, contradict."""
        stamps = ~self._evidence.audited & (self._earliest != NO_TIME)
        limits = self.uppers(self._evidence.audited)
        wrong = self._above(stamps, limits)
        self._ignore(wrong, self._earliest[wrong] - limits[self._places[wrong]])
        stamps[wrong] = False
        self._earliest[wrong] = NO_TIME
        del limits
        known = np.flatnonzero(self._latest != EVER)
        # Too little evidence to call a stamp wrong.
        if len(known) < _FEW:
            return
        # The last stamps have too little evidence after them that could contradict them.
        stamps &= self._places < self._places[known[-_FEW]]
        del known
        furthest = self._furthest()
        beyond = self._above(stamps, furthest, shift=1, slack=TOLERANCE_US)
        if len(beyond) * _MOST > stamps.sum():  # Not these stamps are wrong, but the receiver.
            return
        self._ignore(beyond, self._earliest[beyond] - furthest[self._places[beyond] + 1])
        self._earliest[beyond] = NO_TIME

    def _furthest(self) -> Int64s:
        """Return the greatest upper bound at each revision or later; one row more at the end."""
        furthest = np.full(self._count + 1, NO_TIME, np.int64)
        times = np.where(self._latest == EVER, NO_TIME, self._latest)
        furthest[:-1] = self._of_each(np.maximum, times, NO_TIME)
        return np.maximum.accumulate(furthest[::-1])[::-1]

    def mend_received_times(self, earliest: Int64s) -> None:
        """Shift the upper bounds of inputs whose clock is behind; ignore single wrong ones.

        :param earliest: the lower bounds, which are more reliable.
        """
        wrong = self._below(self._received, earliest)
        amounts = earliest[self._places[wrong]] - self._latest[wrong]
        sources = self._evidence.sources[wrong]
        for source in np.unique(sources[amounts > TOLERANCE_US]).tolist():
            mine = self._received & (self._evidence.sources == source)
            count = int((sources == source).sum())
            # So few contradictions do not show that a clock is wrong; below, they are dropped one
            # by one.
            if count < _FEW or count * 100 < int(mine.sum()):
                continue
            amount = int(amounts[sources == source].max())
            np.add(self._latest, amount, out=self._latest, where=mine)
            self.remarks.append(Remark(what="shifted", source=source, amount=amount, count=count))
        wrong = self._below(self._received, earliest)
        self._ignore(wrong, earliest[self._places[wrong]] - self._latest[wrong])
        self._latest[wrong] = EVER

    def loosen_stamps(self, earliest: Int64s) -> None:
        """Widen the second of stamps if writes took effect later than they were stamped.

        An API server stamps a write when it begins to handle it. If lower bounds show that some
        took longer, all writes stamped within a minute of these may have, up to the longest.
        """
        wrong = self._below(self._stamped, earliest)
        longest = earliest[self._places[wrong]] - self._latest[wrong]
        absurd = longest > _LONGEST_WRITE_US
        self._ignore(wrong[absurd], longest[absurd])
        minutes = self._latest[wrong[~absurd]] // _MINUTE_US
        self._latest[wrong[absurd]] = EVER
        slow, inverse = np.unique(minutes, return_inverse=True)
        slack = np.zeros(len(slow) + 1, np.int64)
        np.maximum.at(slack, inverse, longest[~absurd] + SECOND_US)
        if len(slow):
            self._give_slack(np.append(slow, NO_TIME), slack)

    def _give_slack(self, slow: Int64s, slack: Int64s) -> None:
        """Widen the bounds of stamps in some minutes, and in the minutes before and after.

        :param slow: the minutes, with a sentinel at the end. :param slack: of each, microseconds.
        """
        for part in _parts(len(self._places)):
            stamped = self._stamped[part] & (self._latest[part] != EVER)
            minutes = np.where(stamped, self._latest[part], 0) // _MINUTE_US
            more = np.zeros(len(minutes), np.int64)
            # A write near the border of a minute may be stamped in the one and slow in the other.
            for beside in (-1, 0, 1):
                place = np.searchsorted(slow[:-1], minutes + beside)
                is_slow = slow[place] == minutes + beside
                more = np.maximum(more, np.where(is_slow, slack[place], 0))
            self._latest[part][stamped] += more[stamped]

    def _above(self, rows: Mask, limits: Int64s, *, shift: int = 0, slack: int = 0) -> Int64s:
        """Return which of some pieces have a lower bound above a limit.

        :param limits: of each revision. :param shift: use the limit of so many revisions later.
        :param slack: count only those that exceed it by more, microseconds.
        """
        rows_above = [np.empty(0, np.int64)]
        for part in _parts(len(self._places)):
            limit = limits[self._places[part] + shift]
            hits = np.flatnonzero(rows[part] & (self._earliest[part] - slack > limit))
            rows_above.append(hits + part.start)
        return np.concatenate(rows_above)

    def _below(self, rows: Mask, limits: Int64s) -> Int64s:
        """Return which of some pieces have an upper bound below the limit of their revision."""
        rows_below = [np.empty(0, np.int64)]
        for part in _parts(len(self._places)):
            hits = np.flatnonzero(rows[part] & (self._latest[part] < limits[self._places[part]]))
            rows_below.append(hits + part.start)
        return np.concatenate(rows_below)

    def _ignore(self, rows: Int64s, amounts: Int64s) -> None:
        """Report ignored evidence by source, if whole seconds do not explain it."""
        worst = amounts > TOLERANCE_US
        sources, amounts = self._evidence.sources[rows[worst]], amounts[worst]
        for source in np.unique(sources).tolist():
            mine = amounts[sources == source]
            self.remarks.append(
                Remark(what="ignored", source=source, amount=int(mine.max()), count=len(mine))
            )

    def lowers(self) -> Int64s:
        """Return for each revision the greatest lower bound at it or before."""
        lowers = self._of_each(np.maximum, self._earliest, NO_TIME)
        return np.maximum.accumulate(lowers)

    def likely(self) -> Int64s:
        """Return for each revision its most likely time, by its own evidence; else ``EVER``.

        That is the first time at which a watch received it, else the middle of the second of its
        stamp. The stamp may be of an earlier write, but it is better than none: most writes leave
        one.
        """
        times = self._of_each(np.maximum, self._times_of_stamps(), NO_TIME)
        likely = np.where(times == NO_TIME, EVER, times + SECOND_US // 2)
        times = np.where(self._stamped, self._evidence.latest - SECOND_US // 2, EVER)
        own = self._of_each(np.minimum, times, EVER)
        np.copyto(likely, own, where=own != EVER)
        times = np.where(self._received & ~self._evidence.seen, self._latest, EVER)
        own = self._of_each(np.minimum, times, EVER)
        np.copyto(likely, own, where=own != EVER)
        return likely

    def _times_of_stamps(self) -> Int64s:
        """Return the stamps of each piece, ``NO_TIME`` if it has none."""
        no_stamp = self._evidence.audited | self._evidence.floors
        return np.where(no_stamp, NO_TIME, self._earliest)

    def _of_each(self, combine: np.ufunc, times: Int64s, none: int) -> Int64s:
        """Return for each revision the greatest or the least of its times; ``none`` without any."""
        if self._starts is None:
            return times
        result = np.full(self._count, none, np.int64)
        if len(self._starts):
            result[self._places[self._starts]] = combine.reduceat(times, self._starts)
        return result

    def uppers(self, rows: Mask | None = None) -> Int64s:
        """Return for each revision the least upper bound at it or later, of some evidence.

        :param rows: which; None is all.
        """
        times = self._latest if rows is None else np.where(rows, self._latest, EVER)
        uppers = self._of_each(np.minimum, times, EVER)
        return np.minimum.accumulate(uppers[::-1])[::-1]
