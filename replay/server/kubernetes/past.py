"""The log of a server as a cluster: its state at the moment that is served, or at another."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...moments.log import Log
from ...moments.moment import Moment
from ..readers import Readers
from ..settings import Settings
from .parts import Parts
from .shift import NONE, Shift, shift_to
from .state import Kept, LoggedState

T = TypeVar("T")


class Past:
    """The states of a log.

    :param settings: what the server serves. :param readers: the threads that read the log.
    """

    def __init__(self, settings: Settings, readers: Readers) -> None:
        self.settings, self._readers = settings, readers
        self.kept, self.parts = Kept(), Parts()

    async def moment(self, point: str) -> Moment:
        """Return the moment that a point names.

        :raises PointUnknown: the log has no such moment.
        """
        return await self._readers.ask(lambda log: log.moment(point))

    async def ask(
        self, moment: Moment, question: Callable[[LoggedState], T], shift: Shift = NONE
    ) -> T:
        """Return what a question about the state at a moment answers."""
        return await self._readers.ask(lambda log: question(self.state(log, moment, shift)))

    def state(self, log: Log, moment: Moment, shift: Shift = NONE) -> LoggedState:
        """Return the state at a moment, for the thread of a log."""
        return LoggedState(log, moment, self.kept, shift)

    async def shift(self, moment: Moment) -> Shift:
        """Return the shift that shows a moment at the time that the settings name."""
        target = self.settings.shift_to
        if target is None:
            return NONE
        return shift_to(target, await self.ask(moment, lambda state: state.time))
