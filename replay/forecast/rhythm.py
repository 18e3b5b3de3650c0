"""When sessions run: as often as the log shows, after the last one that it shows."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from ...engine.kubernetes.units import SECOND_US
from ...engine.machine.live import Rhythm
from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.recorded_sessions import HowKnown
from ..moments.session_list import ListedSession, listed_sessions

PERIOD_US = SECOND_US
"""The default of the scheduler's flag ``--schedule-period``."""

_FEWEST = 5
"""So many sessions show a period."""


class Found(NamedTuple):
    """When sessions run. :param text: a sentence that says why."""

    rhythm: Rhythm
    text: str


def rhythm_of(log: Log, moment: Moment, begin: int, period: int | None = None) -> Found:
    """Return when sessions run from a time on.

    :param begin: microseconds since 1970. :param period: as given, in microseconds; None is that
        of the sessions that the scheduler's log has, or Volcano's default.
    """
    known = [one for one in listed_sessions(log.store, moment) if one.how is HowKnown.LOGGED]
    gaps = [b.opened - a.opened for a, b in zip(known, known[1:], strict=False)]
    if period is not None:
        every, why = period, "as given"
    elif len(gaps) >= _FEWEST and median(gaps) > 0:
        every, why = round(median(gaps)), f"the median of {len(gaps)} recorded pauses"
    else:
        every, why = PERIOD_US, "Volcano's default"
    text = f"A session runs every {every / SECOND_US:.3g} s ({why})."
    return Found(Rhythm(_first(known, begin, every), every), text)


def _first(known: list[ListedSession], begin: int, period: int) -> int:
    """Return when the first session runs: a period after the last one, or at once."""
    last = max((one.opened for one in known if one.opened <= begin), default=begin - period)
    return begin if last + period < begin else last + period
