"""When sessions run: when those of the log did, then as often."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ...engine.kubernetes.units import SECOND_US
from ...engine.machine.live import Rhythm
from ..logs.log import Log
from ..moments.moment import Moment
from ..recorded.recorded_sessions import HowKnown
from ..recorded.session_list import listed_sessions

PERIOD_US = SECOND_US
"""The default of the scheduler's flag ``--schedule-period``."""

_FEWEST = 5
"""So many sessions show a period."""


class SessionRhythm(NamedTuple):
    """When sessions run. :param text: a sentence that says why."""

    rhythm: Rhythm
    text: str


def rhythm_of(log: Log, moment: Moment, begin: int, period: int | None = None) -> SessionRhythm:
    """Return when sessions run from a time on.

    They run when the log's did, as far as the scheduler's log has them; a busy scheduler takes
    longer than its period. Then they run each median of these, else each default period.

    :param moment: the last position that counts. :param begin: microseconds since 1970.
    :param period: as given, in microseconds: then nothing else counts.
    """
    if period is not None:
        text = f"A session runs every {_seconds(period)} (as given)."
        return SessionRhythm(Rhythm(begin, period), text)
    listed = listed_sessions(log.store, moment)
    known = [one.begin for one in listed if one.how is HowKnown.LOGGED]
    pauses = [later - one for one, later in pairwise(known)]
    if len(pauses) < _FEWEST or not median(pauses):
        text = f"A session runs every {_seconds(PERIOD_US)} (Volcano's default)."
        return SessionRhythm(Rhythm(_first(known, begin, PERIOD_US), PERIOD_US), text)
    every = round(median(pauses))
    then = f"every {_seconds(every)} (the median of {len(pauses)} recorded pauses)"
    later = tuple(one for one in known if one >= begin)
    if not later:
        return SessionRhythm(Rhythm(_first(known, begin, every), every), f"A session runs {then}.")
    recorded = "the recorded one" if len(later) == 1 else f"the {len(later)} recorded ones"
    text = f"Sessions run when {recorded} did, then {then}."
    return SessionRhythm(Rhythm(later[-1] + every, every, later), text)


def _first(known: list[int], begin: int, period: int) -> int:
    """Return when the first session runs: a period after the last one, or at once."""
    last = max((opened for opened in known if opened <= begin), default=begin - period)
    return max(last + period, begin)


def _seconds(micros: int) -> str:
    return f"{micros / SECOND_US:.3g} s"
