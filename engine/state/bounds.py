"""Between which times each revision happened, from what all sources say; pure.

The rules are explained in ``docs/clock.md``. In short: revisions are ordered, so what happened at
one of them happened after everything before it. Sources whose clocks disagree are found and
reported; the order of revisions never changes.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
import numpy.typing as npt

from ..events import NO_TIME
from ..units import SECOND_US, format_age
from .columns import Int64s

Mask = npt.NDArray[np.bool_]

EVER = 2**63 - 1
"""In columns of times: nothing says by when it had happened."""

TOLERANCE_US = 2 * SECOND_US
"""Disagreements below this are not reported: stamps of Kubernetes are in whole seconds."""

_MINUTE_US = 60 * SECOND_US
_LONGEST_WRITE_US = 60 * SECOND_US
"""The API server gives up on requests that take longer."""

_MOST = 2
"""Of so many stamps one may be beyond all that is later; if more are, they are not the fault."""

_FEW = 3
"""So many contradictions are chance; more are a clock that is wrong."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Pieces of evidence, sorted by ``places``.

    :param places: index of the revision that each is about. :param audited: the API server's audit
        log told both times. :param created: and it was the creation of an object, which unlike an
        update cannot have changed nothing.
    """

    places: Int64s
    earliest: Int64s
    latest: Int64s
    audited: Mask
    created: Mask
    sources: Int64s


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """Clocks that disagree.

    :param source: id of the input. :param other: of the input that it disagrees with, -1 for all.
    :param amount: by how much at most, microseconds. :param count: in how many places.
    :param what: what was done about it: ``widened``, ``shifted``, ``ignored``.
    """

    what: str
    source: int
    other: int = -1
    amount: int
    count: int

    def text(self, names: Mapping[int, str]) -> str:
        """Return the remark as a sentence.

        :param names: of sources, by id.
        """
        name, by = names.get(self.source, "an input"), format_age(self.amount)
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
                    f"{name}: the clock that received is behind the API server by up to {by};"
                    " its times are given with this tolerance"
                )
            case _:
                times = (
                    "1 time contradicts" if self.count == 1 else f"{self.count} times contradict"
                )
                return f"{name}: {times} the other evidence, by up to {by}: not used"


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """For each revision, in order: bounds that never fall from one to the next.

    :param likely: when it most likely was, by its own evidence; ``EVER`` where there is none.
    """

    earliest: Int64s
    latest: Int64s
    likely: Int64s
    remarks: tuple[Remark, ...] = ()


def bounds_of(count: int, evidence: Evidence) -> Bounds:
    """Return the bounds of ``count`` revisions, from evidence about them."""
    weighing = _Weighing(count, evidence)
    weighing.widen_audits()
    weighing.drop_writes_without_effect()
    weighing.drop_impossible_stamps()
    earliest = weighing.lowers()
    weighing.mend_received_times(earliest)
    weighing.loosen_stamps(earliest)
    return Bounds(
        earliest=earliest,
        latest=weighing.uppers(np.ones(len(evidence.places), np.bool_)),
        likely=weighing.likely(),
        remarks=tuple(weighing.remarks),
    )


def estimates_of(bounds: Bounds) -> Int64s:
    """Return one time for each revision, within its bounds, that never falls.

    It is the likely one, else the middle, else the one bound that is known; ``NO_TIME`` before all
    evidence.
    """
    low, high = bounds.earliest, bounds.latest
    middle = np.where(low == NO_TIME, high, low + (np.where(high == EVER, low, high) - low) // 2)
    middle = np.where(middle == EVER, NO_TIME, middle)
    likely = np.maximum(np.minimum(bounds.likely, high), low)
    middle = np.where(bounds.likely == EVER, middle, likely)
    return np.maximum.accumulate(middle) if len(middle) else middle


class _Weighing:
    """Evidence, while it is held against itself."""

    def __init__(self, count: int, evidence: Evidence) -> None:
        self.remarks: list[Remark] = []
        self._count = count
        self._evidence = evidence
        self._earliest = evidence.earliest.copy()
        self._latest = np.where(evidence.latest == NO_TIME, EVER, evidence.latest)
        self._told = (self._latest != EVER) & ~self._stamped()
        self._within = np.where(self._soft() & ~self._told, self._latest, EVER)
        self._places = evidence.places
        first = np.ones(len(self._places), np.bool_)
        first[1:] = self._places[1:] != self._places[:-1]
        self._starts = np.flatnonzero(first)

    def widen_audits(self) -> None:
        """Give audited times the tolerance by which the clocks of API servers disagree.

        Of two audited creations the one with the lower revision cannot have been asked for after
        the other was answered.
        """
        created = self._evidence.audited & self._evidence.created
        limits = self.uppers(created)[self._places]
        gaps = np.where(created & (self._earliest > limits), self._earliest - limits, 0)
        widest = int(gaps.max(initial=0))
        if not widest:
            return
        row = int(gaps.argmax())
        later = created & (self._places >= self._places[row]) & (self._latest == limits[row])
        self.remarks.append(
            Remark(
                what="widened",
                source=int(self._evidence.sources[row]),
                other=int(self._evidence.sources[np.flatnonzero(later)[0]]),
                amount=widest,
                count=int((gaps > 0).sum()),
            )
        )
        audited = self._evidence.audited
        self._earliest[audited & (self._earliest != NO_TIME)] -= widest
        self._latest[audited & (self._latest != EVER)] += widest

    def drop_writes_without_effect(self) -> None:
        """Forget when writes were asked for that changed nothing.

        They are answered with the version that was there already, which is older.
        """
        limits = self.uppers(self._evidence.audited)[self._places]
        self._earliest[self._evidence.audited & (self._earliest > limits)] = NO_TIME

    def drop_impossible_stamps(self) -> None:
        """Forget stamps that audited times, or all later evidence, contradict."""
        stamps = ~self._evidence.audited & (self._earliest != NO_TIME)
        limits = self.uppers(self._evidence.audited)[self._places]
        wrong = stamps & (self._earliest > limits)
        amounts = np.where(wrong, self._earliest - limits, 0)
        furthest, later = self._furthest_after()
        known = stamps & ~wrong & (later >= _FEW)
        beyond = known & (self._earliest - TOLERANCE_US > furthest)
        if beyond.sum() * _MOST > known.sum():  # Not these are wrong, but who received them.
            beyond[:] = False
        amounts[beyond] = self._earliest[beyond] - furthest[beyond]
        self._ignore(wrong | beyond, amounts)
        self._earliest[wrong | beyond] = NO_TIME

    def _furthest_after(self) -> tuple[Int64s, Int64s]:
        """Return of each piece the furthest upper bound at later revisions, and how many follow."""
        known = self._latest != EVER
        furthest = np.full(self._count + 1, NO_TIME, np.int64)
        if len(self._starts):
            best = np.maximum.reduceat(np.where(known, self._latest, NO_TIME), self._starts)
            furthest[self._places[self._starts]] = best
        furthest = np.maximum.accumulate(furthest[::-1])[::-1]
        numbers = np.bincount(self._places[known], minlength=self._count + 1)
        after = np.cumsum(numbers[::-1])[::-1]
        return furthest[self._places + 1], after[self._places + 1]

    def mend_received_times(self, earliest: Int64s) -> None:
        """Shift the upper bounds of inputs whose clock is behind; forget single wrong ones.

        :param earliest: the lower bounds, which are the harder evidence.
        """
        received = self._soft() & ~self._stamped()
        floor = earliest[self._places]
        wrong = received & (self._latest < floor)
        amounts = np.where(wrong, floor - self._latest, 0)
        for source in np.unique(self._evidence.sources[wrong & (amounts > TOLERANCE_US)]).tolist():
            mine = received & (self._evidence.sources == source)
            count = int((wrong & mine).sum())
            if count < _FEW or count * 100 < int(mine.sum()):
                continue
            amount = int(amounts[mine].max())
            self._latest[mine] += amount
            self.remarks.append(Remark(what="shifted", source=source, amount=amount, count=count))
        wrong = received & (self._latest < floor)
        self._ignore(wrong, np.where(wrong, floor - self._latest, 0))
        self._latest[wrong] = EVER

    def loosen_stamps(self, earliest: Int64s) -> None:
        """Give stamps more than their second where writes took effect later than they were stamped.

        An API server stamps a write when it begins to handle it. Where lower bounds show that some
        took longer, all that were stamped within a minute of these may have, up to the longest.
        """
        stamped = self._soft() & self._stamped()
        floor = earliest[self._places]
        wrong = stamped & (self._latest < floor)
        if not wrong.any():
            return
        longest = np.where(wrong, floor - self._latest, 0)
        absurd = longest > _LONGEST_WRITE_US
        self._ignore(absurd, longest)
        self._latest[absurd] = EVER
        wrong, stamped = wrong & ~absurd, stamped & ~absurd
        minutes = np.where(stamped, self._latest, 0) // _MINUTE_US
        slow, inverse = np.unique(minutes[wrong], return_inverse=True)
        slack = np.zeros(len(slow) + 1, np.int64)
        np.maximum.at(slack, inverse, longest[wrong] + SECOND_US)
        more = np.zeros(len(minutes), np.int64)
        for beside in (-1, 0, 1):
            place = np.searchsorted(slow, minutes + beside)
            found = np.append(slow, NO_TIME)[place] == minutes + beside
            more = np.maximum(more, np.where(found, slack[place], 0))
        self._latest[stamped] += more[stamped]

    def _soft(self) -> Mask:
        found: Mask = ~self._evidence.audited & (self._latest != EVER)
        return found

    def _stamped(self) -> Mask:
        """Say which upper bounds follow from stamps: they end a second."""
        found: Mask = (self._latest + 1) % SECOND_US == 0
        return found

    def _ignore(self, rows: Mask, amounts: Int64s) -> None:
        """Report what is not used, of each source, if it is more than whole seconds explain."""
        worst = rows & (amounts > TOLERANCE_US)
        for source in np.unique(self._evidence.sources[worst]).tolist():
            mine = worst & (self._evidence.sources == source)
            self.remarks.append(
                Remark(
                    what="ignored",
                    source=source,
                    amount=int(amounts[mine].max()),
                    count=int(mine.sum()),
                )
            )

    def lowers(self) -> Int64s:
        """Return for each revision the greatest lower bound at it or before."""
        found = np.full(self._count, NO_TIME, np.int64)
        if len(self._starts):
            best = np.maximum.reduceat(self._earliest, self._starts)
            found[self._places[self._starts]] = best
        return np.maximum.accumulate(found) if self._count else found

    def likely(self) -> Int64s:
        """Return for each revision when it most likely was, by its own evidence; else ``EVER``.

        That is the first time at which a watch had it, else the middle of the second it was
        stamped in.
        """
        found = self._least(np.where(self._soft() & self._told, self._latest, EVER))
        stamps = np.where(self._within == EVER, EVER, self._within - SECOND_US // 2)
        return np.where(found == EVER, self._least(stamps), found)

    def _least(self, times: Int64s) -> Int64s:
        found = np.full(self._count, EVER, np.int64)
        if len(self._starts):
            found[self._places[self._starts]] = np.minimum.reduceat(times, self._starts)
        return found

    def uppers(self, rows: Mask) -> Int64s:
        """Return for each revision the least upper bound at it or later, of some evidence."""
        found = self._least(np.where(rows, self._latest, EVER))
        return np.minimum.accumulate(found[::-1])[::-1] if self._count else found
