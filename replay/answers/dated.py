"""Times in answers: as they are printed, and their bounds."""

from __future__ import annotations

import msgspec

from ...engine.state.clock import TimeSpan
from ..moments.times import UNKNOWN, span_words
from ..tabular.record_columns import Time


class Dated(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened at a time.

    :param time: as tables print it. :param earliest: and ``latest``: its bounds, in microseconds;
        None if not known. :param estimate: the best one.
    """

    time: str
    earliest: Time | None = None
    latest: Time | None = None
    estimate: Time | None = None

    @property
    def span(self) -> TimeSpan:
        """The bounds of its time."""
        return TimeSpan(self.earliest, self.latest, self.estimate)

    @property
    def when(self) -> str:
        """Its time as sentences have it; empty if nothing says when it was."""
        if self.earliest is None and self.latest is None:
            return "" if self.time == UNKNOWN else self.time
        return span_words(self.span)
