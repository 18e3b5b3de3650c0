"""Which answers held, and since when, as frozen records."""

from __future__ import annotations

import msgspec

from ...engine.state.clock import TimeSpan
from ..moments.times import ends_of
from .dated import Dated
from .records import Evidence


class StageBegin(Dated, frozen=True, kw_only=True):
    """From when on the answer holds.

    :param at: as ``--at`` takes it. :param time: as tables print it; ``earliest``, ``latest`` and
        ``estimate`` in microseconds.
    :param not_at: the last moment that was checked at which it did not hold; empty if it holds
        since the object began to wait.
    :param exact: nothing that sessions see happened between the two.
    :param gap: the log does not know all that sessions need in between, so it was not looked at.
    :param or_earlier: earlier moments were not looked at.
    :param events: what happened in between and may have changed the answer; of many events the
        last ones, and ``more`` is how many were before them.
    """

    at: str
    not_at: str = ""
    exact: bool = True
    or_earlier: bool = False
    gap: bool = False
    events: tuple[Evidence, ...] = ()
    more: int = 0

    @property
    def begin(self) -> TimeSpan:
        """The bounds of its begin; there is no first one if earlier moments were not looked at."""
        last = self.estimate if self.latest is None else self.latest
        return TimeSpan(None, self.latest, last) if self.or_earlier else self.span

    @property
    def words(self) -> str:
        """From when on, as ``from TIME (MOMENT)``.

        If earlier moments were not looked at, only the last bound of the time counts.
        """
        last = ends_of(self.span).last
        if self.gap:
            when = f" ({self.when})" if self.when else ""
            return f"from between {self.not_at} and {self.at}, where the log has a gap{when}"
        if not self.exact:
            return f"from between {self.not_at} and {self.at}{f' (by {last})' if last else ''}"
        when = last if self.or_earlier else self.when
        where = f"{when} ({self.at})" if when and self.time != self.at else self.at
        return f"from {where}{' or earlier' if self.or_earlier else ''}"


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """A time during which one answer held.

    :param cause: as in :class:`Why`. :param since: from when on.
    :param sentence: the answer at that moment; its numbers may change while the cause stays.
    :param gaps: between which known revisions the log does not know all that sessions need: nothing
        says whether the answer held there, too.
    """

    cause: str
    sentence: str
    since: StageBegin
    gaps: tuple[tuple[int, int], ...] = ()

    @property
    def unsure(self) -> str:
        """Where it is not known whether the answer held, as words after those of its begin."""
        places = " and ".join(f"between rv:{first} and rv:{last}" for first, last in self.gaps)
        return f", not known {places}" if places else ""
